"""Answers made elsewhere, kept in the store of a model whose entry says `engine: imported`.

Such an answer is foreign: its key hashes the file that it came in and its place there, never a model's settings, so
that it is never taken for one that an engine gave here, and its provenance says `foreign`.

What an import promises: all of a file or nothing. Every answer must belong to a request of the run, and where it says
what was asked, that must be the run's own prompt. The same answer again changes nothing. Another answer in the place
of one that stands is refused unless the caller asks for it; the one that stood stays in the file, below the new one.
A request without an answer is `missing`, and counted as such wherever scores are shown.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import longtrek
from longtrek.answers.imported_forms import COUNTS, Foreign, read_foreign
from longtrek.answers.model import Model
from longtrek.answers.preflight import Prepared, preflight
from longtrek.answers.request import Request
from longtrek.answers.store import Row, Store, open_store, read_rows
from longtrek.errors import LongtrekError
from longtrek.files import canonical_json, sha256_file, write_jsonl

TOLD = 8
"""So many faults of a file are listed; the rest are counted."""

Place = tuple[str, int]
"""What an answer is of: a request's id and sample."""

NOTHING_ASKED = (
    "is nothing that this run asks; the ids stand in results/documents/ and results/questions/questions.parquet, and "
    "the config says which of them are asked"
)


@dataclass(frozen=True)
class Imported:
    """What an import did to one tier, in answers; `missing` are the requests that have none now."""

    tier: str
    requests: int
    added: int
    replaced: int
    standing: int
    missing: int

    def line(self) -> str:
        """The counts in one line."""
        return (
            f"{self.tier}: {self.added} answers imported, {self.replaced} put in another's place, "
            f"{self.standing} there already; {self.requests - self.missing} of {self.requests} requests have one, "
            f"{self.missing} missing"
        )


def import_answers(
    model: Model,
    file: Path,
    tiers: Mapping[str, tuple[Sequence[Request], Path]],
    *,
    replacing: bool,
    say: Callable[[str], None],
) -> list[Imported]:
    """Take a file's answers into the stores of the tiers that they belong to.

    Args:
        model: its entry, with `engine: imported`.
        file: answers in one of the forms of `longtrek.answers.imported_forms`.
        tiers: of each tier the run's requests and the store's file.
        replacing: whether an answer may take the place of another that was imported before.
        say: takes a line for the log.

    Returns:
        a line of counts for each tier that the file holds answers to.

    Raises:
        LongtrekError: the entry names another engine; an answer belongs to no request, to more than one, or to another
            prompt; a request has two; or one would take another's place and may not. All are listed, and nothing is
            written.
    """
    check_imported(model)
    asked = _Asked(model, {tier: requests for tier, (requests, _) in tiers.items()})
    found: dict[str, dict[Place, Foreign]] = defaultdict(dict)
    for answer in read_foreign(file):
        asked.take(answer, found)
    if not found and not asked.faults:
        raise LongtrekError(f"{file}: holds no answers")
    standing = {tier: _standing(tiers[tier][1]) for tier in found}
    others = [
        f"line {answer.line}: {place[0]} (sample {place[1]}) has an answer from {_source(standing[tier][place])}"
        for tier, answers in found.items()
        for place, answer in answers.items()
        if place in standing[tier] and not _same(standing[tier][place], answer, asked.prepared[tier][place])
    ]
    if asked.faults:
        raise LongtrekError(_listed(f"{file}: nothing was imported", asked.faults))
    if others and not replacing:
        again = "give --replace to put this file's answers in their place (what stood stays in the store's file)"
        raise LongtrekError(_listed(f"{file}: nothing was imported: {again}", others))
    digest = sha256_file(file)
    done = []
    for tier, answers in found.items():
        with open_store(tiers[tier][1], say) as store:
            done.append(_Tier(model, tier, file.name, digest, asked.prepared[tier]).keep(store, answers))
    return done


def check_imported(model: Model) -> None:
    """Refuse a model that is asked here: its answers and foreign ones must never mix."""
    if model.engine != "imported":
        raise LongtrekError(
            f"model {model.name}: its entry says engine: {model.engine}, so its answers are asked here; answers made "
            "elsewhere need an entry of their own, with another name and `engine: imported`"
        )


@dataclass
class _Asked:
    """The run's requests, and which of them each foreign answer belongs to; what is wrong is collected in `faults`."""

    model: Model
    tiers: Mapping[str, Sequence[Request]]
    prepared: dict[str, dict[Place, Prepared]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _by_name: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    _by_prompt: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    _samples: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for tier, requests in self.tiers.items():
            held = [replace(request, completion=None) for request in requests]
            self.prepared[tier] = {}
            for one in preflight(self.model, held, None):
                self.prepared[tier][one.request.id, one.request.sample] = one
                self._samples[tier, one.request.id] += 1
                for name in _names(one.request.id):
                    self._by_name[name].add((tier, one.request.id))
                self._by_prompt[one.prompt_sha256].add((tier, one.request.id))

    def take(self, answer: Foreign, found: dict[str, dict[Place, Foreign]]) -> None:
        """Put an answer where it belongs, or note why it belongs nowhere."""
        where = f"line {answer.line}" + (f": {answer.id}" if answer.id else "")
        belongs = self._by_name.get(answer.id or "", set())
        if not belongs and answer.prompt is not None:
            belongs = self._by_prompt.get(_sha256(answer.prompt), set())
        if len(belongs) != 1:
            tiers = " and ".join(sorted({tier for tier, _ in belongs}))
            told = f"is asked in {tiers}; say which with --tier" if belongs else NOTHING_ASKED
            self.faults.append(f"{where}: {told}")
            return
        (tier, identity), *_ = belongs
        sample = answer.sample if answer.sample is not None else self._next(found[tier], identity)
        fault = self._fault(answer, tier, identity, sample, found[tier])
        if fault:
            self.faults.append(f"{where}: {fault}")
            return
        found[tier][identity, sample] = answer

    def _next(self, taken: Mapping[Place, Foreign], identity: str) -> int:
        return next(sample for sample in range(len(taken) + 1) if (identity, sample) not in taken)

    def _fault(
        self, answer: Foreign, tier: str, identity: str, sample: int, taken: Mapping[Place, Foreign]
    ) -> str | None:
        if (identity, sample) in taken:
            return f"sample {sample} is given twice, first in line {taken[identity, sample].line}"
        if (identity, sample) not in self.prepared[tier]:
            samples = self._samples[tier, identity]
            return f"sample {sample} is one too many: the run asks {samples} of {identity}, numbered from 0"
        one = self.prepared[tier][identity, sample]
        if answer.prompt is not None and _sha256(answer.prompt) != one.prompt_sha256:
            return "its prompt is not the one that this run asks; the documents are others, or their prompts"
        if answer.question is not None and answer.question not in one.request.messages[-1]["content"]:
            return f"its question is not the run's: {answer.question[:80]!r}"
        if answer.gold is not None and answer.gold != one.request.expected:
            return f"its right answer is {answer.gold[:80]!r}, the run's is {one.request.expected[:80]!r}"
        return None


def _names(identity: str) -> set[str]:
    """What an answer may call a request: its id, and for SciTrek the question's alone."""
    parts = identity.rsplit("/", 2)
    return {identity, parts[0]} if len(parts) == 3 else {identity}


@dataclass(frozen=True)
class _Tier:
    """One tier's part of an import: the file and the requests, from which rows are made."""

    model: Model
    tier: str
    file: str
    digest: str
    prepared: Mapping[Place, Prepared]

    def keep(self, store: Store, answers: Mapping[Place, Foreign]) -> Imported:
        """Append what is not there yet; the caller has made sure that what is replaced may be."""
        standing = _last(store.rows())
        counts: Counter[str] = Counter()
        for place, answer in answers.items():
            before = standing.get(place)
            if before is not None and _same(before, answer, self.prepared[place]):
                counts["standing"] += 1
                continue
            counts["added" if before is None else "replaced"] += 1
            store.append(self._row(place, answer, before))
        missing = len(self.prepared) - len((standing.keys() | answers.keys()) & self.prepared.keys())
        return Imported(self.tier, len(self.prepared), counts["added"], counts["replaced"], counts["standing"], missing)

    def _row(self, place: Place, answer: Foreign, before: Row | None) -> Row:
        one = self.prepared[place]
        source = {"file": self.file, "sha256": self.digest, "line": answer.line, "form": answer.form}
        determined_by = {
            "foreign": {name: source[name] for name in ("sha256", "line")},
            "id": place[0],
            "sample": place[1],
            "prompt_sha256": one.prompt_sha256,
            "replaces": before["key"] if before else None,  # the same file may take its place again
        }
        error = None
        if answer.error is not None:
            error = {"kind": "foreign", "message": answer.error[:2000], "http_status": None, "attempts": None}
        return {
            "key": _sha256(canonical_json(determined_by)),
            "id": place[0],
            "sample": place[1],
            "text": answer.text,
            "reasoning": answer.reasoning,
            "status": "failed" if error else "answered",
            "finish_reason": answer.finish_reason,
            "usage": _usage(answer),
            "fits": None,
            "error": error,
            "timings": {"started": None, "first_token_s": None, "total_s": None},
            "provenance": {**_provenance(self.model, one, answer.model), "source": source},
        }


def _usage(answer: Foreign) -> dict[str, Any]:
    said = answer.usage or {}
    counts = {name: said.get(name) for name in COUNTS}
    return {**counts, "counted_by": "elsewhere" if answer.usage else None}


def _provenance(model: Model, one: Prepared, stated: str | None) -> dict[str, Any]:
    """What is known of a foreign answer: how its model is called here and there, and what the run would have asked."""
    return {
        "foreign": True,
        "model": {"repository": model.repository or None, "revision": model.revision, "stated": stated},
        "engine": {"kind": "imported", "name": "imported", "version": None},
        "thinking": model.thinking,
        "kit": longtrek.__version__,
        **one.request.facts,
        "prompt_sha256": one.prompt_sha256,
        "cap": one.request.max_tokens,
        "early_stop": False,
    }


def _same(row: Row, answer: Foreign, one: Prepared) -> bool:
    """Whether a row that stands says what a foreign answer says, of the same prompt."""
    said = (row["text"], row["reasoning"], row["finish_reason"], (row["error"] or {}).get("message"))
    error = None if answer.error is None else answer.error[:2000]
    fresh = (answer.text, answer.reasoning, answer.finish_reason, error)
    return said == fresh and row["provenance"]["prompt_sha256"] == one.prompt_sha256


def _source(row: Row) -> str:
    source = row["provenance"]["source"]
    return f"{source['file']}, line {source['line']} (SHA-256 {source['sha256'][:12]}…)"


def _standing(store: Path) -> dict[Place, Row]:
    """The foreign answer that stands for each request, the last imported; none where no store is."""
    return _last(read_rows(store).values()) if store.is_file() else {}


def _last(rows: Iterable[Row]) -> dict[Place, Row]:
    return {(row["id"], row["sample"]): row for row in rows if row["provenance"].get("foreign")}


def _listed(head: str, faults: Sequence[str]) -> str:
    more = [f"… and {len(faults) - TOLD} more"] if len(faults) > TOLD else []
    return "\n  ".join([f"{head}; {len(faults)} answers", *faults[:TOLD], *more])


def take_imported(model: Model, requests: Sequence[Request], store: Path, out: Path, again: str) -> str:
    """Write a tier's imported answers, in the requests' order, as the answers of a model are; start no engine.

    A request without one is a row too, with the status `missing`. `again` is the command that imports, for messages.

    Returns:
        the counts in one line.

    Raises:
        LongtrekError: nothing was imported, or answers were imported for prompts that the run no longer asks.
    """
    standing = _standing(store)
    prepared = preflight(model, [replace(request, completion=None) for request in requests], None)
    found = [standing.get((one.request.id, one.request.sample)) for one in prepared]
    if not any(found):
        raise LongtrekError(
            f"model {model.name}: its entry says engine: imported, and no answers to these {len(requests)} requests "
            f"were imported into {store}; run `{again}`, or name what it was asked in the entry (`tiers`, `contexts`)"
        )
    stale = [
        f"{one.request.id} (sample {one.request.sample}), imported from {_source(row)}"
        for one, row in zip(prepared, found, strict=True)
        if row is not None and row["provenance"]["prompt_sha256"] != one.prompt_sha256
    ]
    if stale:
        head = f"model {model.name}: imported for other prompts than this run asks; run `{again} --replace`"
        raise LongtrekError(_listed(head, stale))
    rows = [row or _missing_row(model, one) for one, row in zip(prepared, found, strict=True)]
    write_jsonl(out, rows)
    counts = Counter(row["status"] for row in rows)
    return (
        f"{model.name}: {len(rows)} requests: {counts['answered']} answered elsewhere, {counts['failed']} failed "
        f"there, {counts['missing']} missing; none asked here"
    )


def _missing_row(model: Model, one: Prepared) -> Row:
    return {
        "key": None,
        "id": one.request.id,
        "sample": one.request.sample,
        "text": "",
        "reasoning": None,
        "status": "missing",
        "finish_reason": None,
        "usage": {**dict.fromkeys(COUNTS), "counted_by": None},
        "fits": None,
        "error": {"kind": "missing", "message": "no answer was imported", "http_status": None, "attempts": 0},
        "timings": {"started": None, "first_token_s": None, "total_s": None},
        "provenance": _provenance(model, one, None),
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
