"""The papers' own numbers, read from `config/published/`, one CSV a table or figure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from longtrek.csv_files import read_rows
from longtrek.errors import LongtrekError
from longtrek.paths import shipped

COLUMNS = ("paper", "place", "row", "column", "model", "setting", "value", "unit", "note")
MARKS = {"lost": "lost", "missing": "–", "does_not_fit": "too long", "too_costly": "⋆", "text": "text"}
"""What stands for a number, and how it is shown: `lost` with the paper's text, `missing` in the paper itself,
`does_not_fit` a model's window, `too_costly` for the authors to run, or `text`, which is no number."""
INCONSISTENT = "inconsistent: "
"""How a note begins that tells where a paper disagrees with itself."""


@dataclass(frozen=True)
class Published:
    """One number of a paper: where it is printed, what it holds for, and the number or the mark in its stead."""

    paper: str
    place: str
    row: str
    column: str
    model: str
    setting: Mapping[str, str]
    value: float | None
    mark: str | None
    unit: str
    note: str
    digits: int = 0
    """Places after the point as they are printed, from which rounding is told."""


def read(name: str, folder: Path | None = None) -> tuple[Published, ...]:
    """Read one file of published values, in its order; empty where nothing was published under that name.

    Args:
        name: a figure's or table's name (`transduction_figure_2`), or `transduction_text`.
        folder: where the CSVs stand; the ones that ship with the kit by default.

    Raises:
        LongtrekError: as `read_rows`; there are none; or a value is neither a number nor a mark.
    """
    path = (folder or shipped("config/published")) / f"{name}.csv"
    if not path.exists():
        return ()
    rows = read_rows(path, COLUMNS)
    if not rows:
        raise LongtrekError(f"{path}: no rows; expected the numbers of {name}: restore the file")
    return tuple(_published(row, f"{path}, line {line}") for line, row in rows)


def number(
    values: Iterable[Published], setting: Mapping[str, object], model: str = "", column: str | None = None
) -> float | None:
    """The one number that holds for a model and a setting, or None where none survived.

    Raises:
        LongtrekError: several numbers hold for it, so that none may be shown.
    """
    wanted = {key: str(value) for key, value in setting.items()}
    found = [
        value.value
        for value in values
        if value.model == model
        and value.value is not None
        and (column is None or value.column == column)
        and dict(value.setting) == wanted
    ]
    if len(found) > 1:
        raise LongtrekError(f"published values: {len(found)} hold for {model} {wanted}; expected one at most")
    return found[0] if found else None


def inconsistencies(values: Iterable[Published]) -> list[tuple[Published, str]]:
    """Where a paper's numbers disagree with each other or with its text, and how; in the file's order."""
    found = [(value, value.note.partition(INCONSISTENT)[2]) for value in values]
    return [(value, told) for value, told in found if told]


def _published(row: Mapping[str, str], where: str) -> Published:
    text = row["value"]
    mark = text if text in MARKS else None
    try:
        value = None if mark else float(text)
        setting = dict(part.split("=", 1) for part in row["setting"].split(";") if part)
    except (TypeError, ValueError):
        raise LongtrekError(
            f"{where}: value {text!r}, setting {row['setting']!r}; expected a number or one of {list(MARKS)}, "
            "and key=value pairs joined by ';'"
        ) from None
    rest = {key: row[key] for key in COLUMNS if key not in ("value", "setting")}
    digits = 0 if mark else len(text.partition(".")[2])
    return Published(**rest, setting=setting, value=value, mark=mark, digits=digits)
