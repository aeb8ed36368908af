"""The claims of both papers as their page shows them, each linked to what it rests on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from longtrek.analysis.claims import table
from longtrek.analysis.claims.judged import SAYS
from longtrek.analysis.claims.numbers import readable, unit_beside
from longtrek.csv_files import read_rows
from longtrek.errors import LongtrekError
from longtrek.paths import shipped
from longtrek.report.exhibits import place_of

VERDICTS = ("reproduced", "within noise", "differs", "not run")
PAPERS = {"long-transduction": "transduction", "scitrek": "scitrek"}
"""What a paper is called in the list of claims, and elsewhere in the kit."""
COLUMNS = (
    "id",
    "paper",
    "claim",
    "place",
    "published",
    "unit",
    "computed_by",
    "recomputed",
    "low",
    "high",
    "tolerance",
    "reason",
    "verdict",
    "needs",
    "relation",
    "kind",
    "remark",
)


@dataclass(frozen=True)
class Claim:
    """A row of `claims.csv`, every cell as it stands there; `exhibit` is the figure or table that its place names."""

    id: str
    paper: str
    claim: str
    place: str
    published: str
    unit: str
    computed_by: str
    recomputed: str
    low: str
    high: str
    tolerance: str
    reason: str
    verdict: str
    needs: str
    relation: str
    kind: str
    remark: str

    @property
    def claimed(self) -> str:
        """The published value as it is claimed: the value itself, or a bound."""
        return SAYS.get(self.relation, "") + readable(self.published) if self.published else ""

    @property
    def found(self) -> str:
        """The recomputed value."""
        return readable(self.recomputed, self.published)

    @property
    def bounds(self) -> str:
        """The bounds of the recomputed value in brackets; empty where it stands for itself alone."""
        ends = [readable(end, self.published) for end in (self.low, self.high)]
        return f"[{', '.join(ends)}]" if any(ends) else ""

    @property
    def unit_said(self) -> str:
        """The unit where it says something."""
        return unit_beside(self.published, self.unit)

    @property
    def exhibit(self) -> str | None:
        """The figure or table that the claim's place names."""
        return place_of(self.place, self.paper)


def read_claims(path: Path) -> list[Claim] | None:
    """Read `claims.csv`; None where it is not there.

    Raises:
        LongtrekError: as `read_rows`; some of the kit's claims are missing; or a verdict or paper is unknown.
    """
    if not path.exists():
        return None
    rows = [row for _, row in read_rows(path, COLUMNS)]
    _check_whole([row["id"] for row in rows], path)
    for row in rows:
        if row["verdict"] not in VERDICTS or row["paper"] not in PAPERS:
            raise LongtrekError(
                f"{path}: claim {row['id']}: verdict {row['verdict']!r}, paper {row['paper']!r}; expected one of "
                f"{', '.join(VERDICTS)}, and of {', '.join(PAPERS)}"
            )
    return [Claim(**row | {"paper": PAPERS[row["paper"]]}) for row in rows]


def _check_whole(ids: Sequence[str], path: Path) -> None:
    """Refuse a part of the kit's own list: a file that was cut between two claims is no shorter list of claims."""
    kits = [claim["id"] for _, claim in read_rows(shipped("config/claims.csv"), table.COLUMNS)]
    absent = [name for name in kits if name not in ids]
    if absent and set(ids) <= set(kits):
        raise LongtrekError(
            f"{path}: {len(absent)} of the kit's {len(kits)} claims are not there, first {absent[0]}; the file is cut: "
            "make it again with `longtrek claims`"
        )


def inconsistent(claims: Sequence[Claim]) -> int:
    """How many claims differ because numbers that a paper prints disagree with each other; no run can mend those."""
    return sum(claim.kind == "printed" and claim.verdict == "differs" for claim in claims)


def verdicts(claims: Sequence[Claim]) -> dict[str, Mapping[str, int]]:
    """How many claims of each paper have each verdict."""
    papers = dict.fromkeys(claim.paper for claim in claims)
    counted = {paper: Counter(claim.verdict for claim in claims if claim.paper == paper) for paper in papers}
    return {paper: {verdict: counts[verdict] for verdict in VERDICTS} for paper, counts in counted.items()}
