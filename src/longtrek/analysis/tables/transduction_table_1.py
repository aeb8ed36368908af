"""Table 1 of Long-Transduction: adjectives and as many nouns in use in the resolve tables."""

from longtrek.analysis import published
from longtrek.analysis.run import Run
from longtrek.analysis.style import horizon_name
from longtrek.analysis.typeset import Table

CAPTION = (
    "Adjectives in use, and as many nouns, in the tables whose cells are variables to resolve, by difficulty (share of "
    "the vocabulary in use) and nominal horizon. Computed from the generator."
)
READS = ()
SHARES = {0.125: "1/8", 0.25: "1/4", 0.5: "1/2", 1.0: "1"}


def make(run: Run) -> Table:
    """Count the active variables of every document's grid; a range where the samples differ."""
    from longtrek.transduction.documents import table_1
    from longtrek.transduction.prompts import read_prompts

    found = table_1(run.seed, read_prompts(run.prompts), run.tiers or None, run.samples)
    tiers = sorted({row["horizon"] for row in found})
    values = published.read("transduction_table_1", run.published)
    cells = {(float(row["share"]), row["horizon"]): _range(row["active"]) for row in found}
    rows = tuple(
        (
            SHARES.get(share, f"{share:g}"),
            *(cell for tier in tiers for cell in (cells[share, tier], _paper(values, share, tier))),
        )
        for share in sorted({share for share, _ in cells})
    )
    heads = [head for tier in tiers for head in (horizon_name(tier), f"{horizon_name(tier)} published")]
    return Table("transduction_table_1", CAPTION, ("share in use", *heads), rows, _notes(run, found))


def _range(active: list[int]) -> str:
    low, high = min(active), max(active)
    return str(low) if low == high else f"{low}–{high}"


def _paper(values: tuple[published.Published, ...], share: float, tier: int) -> str:
    setting = {"horizon": tier, "family": "table", "format": "resolve", "difficulty": f"{share:g}"}
    found = published.number(values, setting)
    return "lost" if found is None else f"{found:g}"


def _notes(run: Run, found: list[dict[str, object]]) -> tuple[str, ...]:
    grids = len({(row["horizon"], place) for row in found for place, _ in enumerate(_integers(row, "sizes"))})
    ranges = [row for row in found if len(set(_integers(row, "active"))) > 1]
    return (
        *(["A range where the samples of a horizon differ."] if ranges else []),
        "lost: the paper prints a number that its stored text does not hold.",
        f"Computed from {grids} grids with root seed {run.seed}; no model's answers enter. Run: {run.kind}.",
    )


def _integers(row: dict[str, object], column: str) -> list[int]:
    values = row[column]
    assert isinstance(values, list)
    return values
