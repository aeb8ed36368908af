"""The list of claims: `config/claims.csv`, with the tolerances and needs that `config/claims.yaml` names."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.analysis.claims.printed import Printed, field
from longtrek.analysis.claims.verdicts import RELATIONS, Relation
from longtrek.analysis.published import Published
from longtrek.csv_files import read_rows
from longtrek.errors import LongtrekError
from longtrek.paths import shipped

PAPERS = ("long-transduction", "scitrek")
KINDS = {
    "built": "computed from generators, templates and settings; no model",
    "printed": "arithmetic inside the paper, from the numbers it prints; no model",
    "scores": "computed from answers of the paper's models",
    "corpus": "computed from the paper's articles, collections and questions",
    "people": "computed from people's answers",
    "training": "computed from answers of models after post-training",
    "outside": "not computed here: it takes other benchmarks",
}
"""What a claim is computed from."""
BAR = " | "
PRINTED_PLACES = "printed"
"""The tolerance that is half a unit of the last place that the paper prints."""


@dataclass(frozen=True)
class Claim:
    """A row of `config/claims.csv`, as it stands there; every field is text."""

    id: str
    paper: str
    kind: str
    claim: str
    place: str
    published: str
    relation: str
    stated: str
    unit: str
    computed_by: str
    arguments: str
    tolerance: str
    needs: str


COLUMNS = tuple(column.name for column in fields(Claim))


@dataclass(frozen=True)
class Asked:
    """A claim made ready for its computation: the published value it stands on, its arguments, how it is judged."""

    claim: Claim
    value: Published | None
    """The row of `config/published/`; None where the paper states the number in words."""
    number: float | None
    """What is claimed; None where the paper's number is lost."""
    unit: str
    relation: Relation
    tolerance: float
    reason: str
    needs: str
    arguments: Mapping[str, str]

    def get(self, key: str) -> str:
        """An argument: the claim's own, else the published row's setting, model or place; empty where unknown."""
        if key in self.arguments:
            return self.arguments[key]
        return field(self.value, key) if self.value else ""

    def need(self, key: str) -> str:
        """An argument that must be there.

        Raises:
            LongtrekError: it is not.
        """
        found = self.get(key)
        if not found:
            raise LongtrekError(
                f"config/claims.csv: {self.claim.id}: {self.claim.computed_by} needs the argument {key}"
            )
        return found


def read(printed: Printed, folder: Path | None = None) -> tuple[Asked, ...]:
    """Read the claims in the table's order, each with its published value found.

    Args:
        printed: the published values.
        folder: where `claims.csv` and `claims.yaml` stand; the kit's own by default.

    Raises:
        LongtrekError: a column, kind, relation, tolerance, need or reference is unknown, or an id stands twice.
    """
    where = folder or shipped("config")
    words = schemas.read(where / "claims.yaml", "claims")
    path = where / "claims.csv"
    claims = [Claim(**row) for _, row in read_rows(path, COLUMNS)]
    ids = [claim.id for claim in claims]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise LongtrekError(f"{path}: {twice[0]} stands there twice; expected each id once")
    return tuple(_asked(claim, printed, words, path) for claim in claims)


def _asked(claim: Claim, printed: Printed, words: Mapping[str, Any], path: Path) -> Asked:
    for name, allowed in (
        ("paper", PAPERS),
        ("kind", KINDS),
        ("relation", RELATIONS),
        ("tolerance", words["tolerances"]),
        ("needs", ["", *words["needs"]]),
    ):
        if getattr(claim, name) not in allowed:
            found = getattr(claim, name)
            raise LongtrekError(f"{path}: {claim.id}: {name} is {found!r}; expected one of {', '.join(allowed)}")
    if bool(claim.published) == bool(claim.stated):
        raise LongtrekError(f"{path}: {claim.id}: expected either a published value or a stated number")
    value = _value(claim, printed, path) if claim.published else None
    tolerance = words["tolerances"][claim.tolerance]
    if claim.tolerance == PRINTED_PLACES:
        allowed_off = 0.5 * 10.0 ** -(value.digits if value else _digits(claim.stated))
    else:
        allowed_off = float(tolerance["value"])
    relation = next(one for one in RELATIONS if one == claim.relation)
    return Asked(
        claim=claim,
        value=value,
        number=value.value if value else float(claim.stated),
        unit=value.unit if value else claim.unit,
        relation=relation,
        tolerance=allowed_off,
        reason=tolerance["reason"],
        needs=words["needs"][claim.needs] if claim.needs else "",
        arguments=dict(part.split("=", 1) for part in claim.arguments.split(";") if part),
    )


def _value(claim: Claim, printed: Printed, path: Path) -> Published:
    file, row, column, *rest = claim.published.split(BAR)
    try:
        where = dict(part.split("=", 1) for one in rest for part in one.split(";"))
        return printed.one(file, row, column, **where)
    except (LongtrekError, ValueError) as fault:
        raise LongtrekError(f"{path}: {claim.id}: published is {claim.published!r}: {fault}") from None


def _digits(number: str) -> int:
    return len(number.partition(".")[2])
