"""A tier asked by several jobs: which requests are whose, and one file of answers in the end.

Requests that share a prefix, and requests that say the same, stay in one shard: an engine's prefix cache serves
them, and no answer is asked for twice. Whose a request is depends on the requests alone. A shard has a store file of
its own, and reads those of the whole tier: another number of shards asks nothing again.
"""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.answers.request import Request
from longtrek.answers.stored import read_stored
from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl

PLACE = "place"


@dataclass(frozen=True)
class Shard:
    """One of `count` jobs that ask a tier, from 1; the only one where nothing else is said."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read a shard as it is written, `2of3`.

        Raises:
            LongtrekError: it is none.
        """
        found = re.fullmatch(r"(\d+)of(\d+)", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise LongtrekError(f"shard {text!r}: expected NUMBERofCOUNT, from 1of3 to 3of3 for three jobs")
        return cls(int(found[1]), int(found[2]))

    def file(self, path: Path) -> Path:
        """The store file of this shard of a tier whose store is `path`."""
        return path if self.count == 1 else path.with_suffix("") / f"{self.number}{path.suffix}"

    def __str__(self) -> str:
        return f"{self.number}of{self.count}"


WHOLE = Shard()


def store_files(path: Path) -> list[Path]:
    """The store files of a tier whose store is `path`: the tier's own and every shard's, as far as there are any."""
    shards = [file for file in path.with_suffix("").glob(f"*{path.suffix}") if file.stem.isdigit()]
    return [path] * path.exists() + sorted(shards, key=lambda file: int(file.stem))


def share(requests: Sequence[Request], shard: Shard) -> list[int]:
    """The places of a shard's requests among a tier's, in order; shards are as equal in size as their groups allow."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, request in enumerate(requests):
        alike = (request.prefix, "" if request.prefix else _text(request))
        groups.setdefault(alike, []).append(place)
    sizes = [(_size([requests[place] for place in places]), places) for places in groups.values()]
    shares: list[list[int]] = [[] for _ in range(shard.count)]
    filled = [0] * shard.count
    for size, places in sorted(sizes, key=lambda group: (-group[0], group[1])):
        least = filled.index(min(filled))
        filled[least] += size
        shares[least] += places
    return sorted(shares[shard.number - 1])


def merge(shards: Sequence[Path], out: Path) -> None:
    """Write the answers of all shards of a tier to `out`, as one job would have written them.

    Raises:
        LongtrekError: the shards do not make a whole, or a file is none of a shard; the message says where.
    """
    absent = _absent(shards)
    if absent:
        raise LongtrekError(f"{out}: without {', '.join(absent)}; expected all shards of a tier, each once")
    write_jsonl(out, _merged([_placed(path) for path in shards], out))


def _absent(shards: Sequence[Path]) -> list[str]:
    """The shards that the files' names speak of and that are not among them; a tier's last answers may be theirs."""
    found = [match for path in shards if (match := re.fullmatch(r"(\d+)of(\d+)", path.stem))]
    given = {(int(match[1]), int(match[2])) for match in found}
    counts = {count for _, count in given}
    wanted = ((number, count) for count in sorted(counts) for number in range(1, count + 1))
    return [f"{number}of{count}" for number, count in wanted if (number, count) not in given]


def _placed(path: Path) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(read_stored(path), 1):
        if PLACE not in row:
            raise LongtrekError(
                f"{path}, answer {number}: no `{PLACE}` in the tier; expected a file that "
                "`longtrek answers --shard` wrote"
            )
        yield row


def _merged(shards: Sequence[Iterable[dict[str, Any]]], out: Path) -> Iterator[dict[str, Any]]:
    for expected, row in enumerate(heapq.merge(*shards, key=lambda row: int(row[PLACE]))):
        if row[PLACE] != expected:
            raise LongtrekError(
                f"{out}: the answer in place {expected} of the tier is "
                f"{'there twice' if row[PLACE] < expected else 'missing'}; expected each in exactly one shard: remove "
                "the shards' files of answers (not the store) and run again"
            )
        yield {name: value for name, value in row.items() if name != PLACE}


def _size(group: Sequence[Request]) -> int:
    """Characters that an engine reads and should write for requests that share their prompts' beginning."""
    return max(len(_text(request)) for request in group) + sum(len(request.expected) for request in group)


def _text(request: Request) -> str:
    return "\n".join(message["content"] for message in request.messages)
