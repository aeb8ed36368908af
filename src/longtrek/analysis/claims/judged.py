"""Every claim computed and judged, as rows of `claims.csv` and as a page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from longtrek.analysis.artifacts import csv_text
from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.numbers import readable, shown, with_unit
from longtrek.analysis.claims.registry import computations
from longtrek.analysis.claims.table import KINDS, PAPERS, Asked
from longtrek.analysis.claims.verdicts import VERDICTS, Found, Verdict, judge, nothing
from longtrek.analysis.published import Published, inconsistencies
from longtrek.analysis.typeset import piped
from longtrek.errors import LongtrekError
from longtrek.files import write_text

SAYS = {"=": "", ">=": "at least ", "<=": "at most "}
TITLES = {"long-transduction": "Long-Transduction", "scitrek": "SciTrek"}


@dataclass(frozen=True)
class Judged:
    """A claim with what was found and its verdict."""

    asked: Asked
    found: Found
    verdict: Verdict

    def row(self) -> dict[str, object]:
        """The claim as a row of `claims.csv`; a number that is not there is an empty cell."""
        claim, span = self.asked.claim, self.found.span
        bounded = span is not None and (span.low, span.high) != (span.value, span.value)
        mark = self.asked.value.mark if self.asked.value else None
        return {
            "id": claim.id,
            "paper": claim.paper,
            "claim": claim.claim,
            "place": claim.place,
            "published": mark or shown(self.asked.number),
            "unit": self.asked.unit,
            "computed_by": claim.computed_by,
            "recomputed": shown(span.value if span else None),
            "low": shown(span.low if span and bounded else None),
            "high": shown(span.high if span and bounded else None),
            "tolerance": shown(self.asked.tolerance),
            "reason": self.asked.reason,
            "verdict": self.verdict,
            "needs": self.needs,
            "relation": self.asked.relation,
            "kind": claim.kind,
            "remark": self.found.remark,
        }

    @property
    def needs(self) -> str:
        """What it would take to judge a claim that was not run; nothing for one that was."""
        return self.asked.needs if self.verdict == "not run" else ""


def judged(claims: Iterable[Asked], evidence: Evidence) -> list[Judged]:
    """Compute and judge each claim, in the table's order.

    Raises:
        LongtrekError: a claim names a computation that there is not, or one finds no such published value.
    """
    found = []
    for asked in claims:
        result = _compute(asked, evidence)
        verdict = judge(result, asked.number, asked.relation, asked.tolerance)
        if verdict == "not run" and not asked.needs:
            raise LongtrekError(
                f"config/claims.csv: {asked.claim.id} was not computed ({result.remark}), and names no needs; expected "
                "a name out of claims.yaml that says what it would take"
            )
        found.append(Judged(asked, result, verdict))
    return found


def _compute(asked: Asked, evidence: Evidence) -> Found:
    name = asked.claim.computed_by
    if not name and asked.claim.kind == "outside":
        return nothing("nothing in this kit computes it")
    if name not in computations():
        known = ", ".join(computations())
        raise LongtrekError(f"config/claims.csv: {asked.claim.id}: no computation {name!r}; there are: {known}")
    return computations()[name](evidence, asked)


def write(found: Sequence[Judged], evidence: Evidence, csv_path: Path, page_path: Path) -> None:
    """Write `claims.csv` and `claims.md`; the same findings give the same bytes."""
    write_text(csv_path, csv_text(one.row() for one in found))
    write_text(page_path, page(found, evidence))


def counts(found: Iterable[Judged]) -> str:
    """How many claims have each verdict, in one line."""
    counted = Counter(one.verdict for one in found)
    return ", ".join(f"{counted[verdict]} {'differ' if verdict == 'differs' else verdict}" for verdict in VERDICTS)


def page(found: Sequence[Judged], evidence: Evidence) -> str:
    """The claims in Markdown: the counts, the rule, what differs, what holds, and what was not run and why."""
    differing = [one for one in found if one.verdict == "differs"]
    held = [one for one in found if one.verdict in ("reproduced", "within noise")]
    lines = [
        "# The claims of the two papers",
        "",
        f"{len(found)} claims: {counts(found)}.",
        "",
        *_counted(found),
        "",
        "Reproduced: the recomputed number is within the tolerance of what is claimed. Within noise: it is not, but a "
        "number within its bounds is; bounds are a 95% interval of a run, or what rounding and numbers that are not "
        "printed leave open in a paper's arithmetic. Differs: neither. Not run: there is no number to compare. The "
        "scores of a check, and of a quick run, are never held against a paper. That a paper's arithmetic holds says "
        "nothing of its models. Numbers are rounded here; `claims.csv` has them in full, and why each tolerance is "
        "what it is.",
        "",
        "## What differs",
        "",
        *_tables(differing),
        "## Where the papers disagree with themselves",
        "",
        "Beside the arithmetic above that differs, as noted in `config/published/`:",
        "",
        *_noted(evidence),
        "",
        "## What holds",
        "",
        *_tables(held),
        "## What was not run, and what it takes",
        "",
        *_not_run([one for one in found if one.verdict == "not run"]),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _counted(found: Sequence[Judged]) -> list[str]:
    rows = [
        (told, *(str(sum(one.verdict == verdict for one in of)) for verdict in VERDICTS))
        for kind, told in KINDS.items()
        for of in [[one for one in found if one.asked.claim.kind == kind]]
    ]
    return [piped(("computed from", *VERDICTS)), piped((":--", *["--:"] * len(VERDICTS))), *map(piped, rows)]


def _tables(found: Sequence[Judged]) -> list[str]:
    lines = []
    for paper in PAPERS:
        mine = [one for one in found if one.asked.claim.paper == paper]
        if mine:
            head = ("claim", "place", "published", "recomputed", "±", "verdict", "computed by")
            rows = [_line(one) for one in mine]
            lines += [f"### {TITLES[paper]}", "", piped(head), piped([":--"] * len(head)), *map(piped, rows), ""]
    return lines or ["None.", ""]


def _line(one: Judged) -> tuple[str, ...]:
    row = {key: str(value) for key, value in one.row().items()}
    found, low, high = (readable(row[key], row["published"]) for key in ("recomputed", "low", "high"))
    bounds = f" [{low}, {high}]" if low else ""
    remark = f" ({row['remark']})" if row["remark"] else ""
    return (
        row["claim"],
        row["place"],
        _claimed(one),
        f"{found}{bounds}{remark}",
        readable(row["tolerance"]),
        row["verdict"],
        f"`{row['computed_by']}`",
    )


def _claimed(one: Judged) -> str:
    row = one.row()
    return SAYS[one.asked.relation] + with_unit(readable(str(row["published"])), str(row["unit"]))


def _noted(evidence: Evidence) -> list[str]:
    return [
        f"- {value.place}, {value.row}, {value.column} ({_printed(value)}): {told}"
        for values in evidence.printed.files.values()
        for value, told in inconsistencies(values)
    ]


def _printed(value: Published) -> str:
    """A published number with its unit, or what its mark means in words."""
    return value.mark.replace("_", " ") if value.mark else with_unit(readable(shown(value.value)), value.unit)


def _not_run(found: Sequence[Judged]) -> list[str]:
    """The claims that were not run, together by what they take and why there is no number here."""
    lines = []
    for needs, why in dict.fromkeys((one.needs, one.found.remark) for one in found):
        mine = [one for one in found if (one.needs, one.found.remark) == (needs, why)]
        lines += [f"### {len(mine)} claim{'s' if len(mine) > 1 else ''}", "", f"Here: {why}. It takes: {needs}", ""]
        lines += [
            f"- {one.asked.claim.claim} ({TITLES[one.asked.claim.paper]}, {one.asked.claim.place}): {_claimed(one)}"
            for one in mine
        ]
        lines.append("")
    return lines or ["None.", ""]
