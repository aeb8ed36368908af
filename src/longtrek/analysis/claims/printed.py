"""Every published number of both papers, found by the file, row and column in which it stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from longtrek.analysis import published
from longtrek.analysis.claims.spans import Span
from longtrek.analysis.claims.spans import printed as span_of
from longtrek.analysis.published import Published
from longtrek.errors import LongtrekError
from longtrek.paths import shipped


@dataclass(frozen=True)
class Printed:
    """The published values by file (`scitrek_table_7`), each in its file's order."""

    files: Mapping[str, tuple[Published, ...]]

    @cached_property
    def _places(self) -> dict[tuple[str, str, str], list[Published]]:
        found: dict[tuple[str, str, str], list[Published]] = {}
        for file, values in self.files.items():
            for value in values:
                found.setdefault((file, value.row, value.column), []).append(value)
        return found

    def one(self, file: str, row: str, column: str, **where: str) -> Published:
        """The one value in a row and column; `where` tells several apart by `place`, `model` or a setting.

        Raises:
            LongtrekError: there is none, or there are several.
        """
        there = self._places.get((file, row, column), [])
        found = [value for value in there if all(field(value, key) == wanted for key, wanted in where.items())]
        if len(found) != 1:
            raise LongtrekError(
                f"published values: {len(found)} stand in {file} | {row} | {column} {where or ''}; expected one. "
                f"Files: {', '.join(sorted(self.files))}"
            )
        return found[0]

    def span(self, file: str, row: str, column: str, **where: str) -> Span:
        """The number in a row and column, with what rounding leaves open.

        Raises:
            LongtrekError: as `one`, or a mark stands there.
        """
        value = self.one(file, row, column, **where)
        if value.value is None:
            raise LongtrekError(f"published values: {file} | {row} | {column} is marked {value.mark!r}, not a number")
        return span_of(value)

    def number(self, file: str, row: str, column: str, **where: str) -> float:
        """The number in a row and column, as it is printed."""
        return self.span(file, row, column, **where).value

    def having(self, file: str, **setting: str) -> list[Published]:
        """The numbers of a file whose settings hold these, marks left out, in the file's order."""
        return [
            value
            for value in self.files[file]
            if value.value is not None and all(value.setting.get(key) == wanted for key, wanted in setting.items())
        ]


def field(value: Published, key: str) -> str:
    """What a published value has under a key: its place, its model, or a setting (empty where it has none)."""
    if key in ("place", "model"):
        return str(getattr(value, key))
    return value.setting.get(key, "")


def read_all(folder: Path | None = None) -> Printed:
    """Read every file of published values of a folder (the kit's own where None)."""
    where = folder or shipped("config/published")
    return Printed({path.stem: published.read(path.stem, where) for path in sorted(where.glob("*.csv"))})
