"""The grid's axes in the words of the papers: families, formats, difficulties, horizons."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from longtrek.analysis.statistics import Document
from longtrek.analysis.style import horizon_name
from longtrek.transduction.grid import grid

FAMILIES = {
    "arithmetic": "Arithmetic",
    "uuid_sort": "UUID sorting",
    "lookup": "Variable lookup",
    "table": "Table transform",
}
STREAM_FORMATS = {"ordered": "ordered\n+ IDs", "shuffled": "shuffled\n+ IDs", "no_ids": "ordered,\nno IDs"}
TABLE_FORMATS = {
    "permute_homogeneous": "permute,\nhomogeneous",
    "permute_heterogeneous": "permute,\nheterogeneous",
    "resolve": "resolve\nvariables",
}
VARIANTS = {
    ("arithmetic", "ordered"): "Arithmetic: ordered + IDs",
    ("arithmetic", "shuffled"): "Arithmetic: shuffled + IDs",
    ("arithmetic", "no_ids"): "Arithmetic: no IDs",
    ("uuid_sort", "ordered"): "UUID sorting: ordered + IDs",
    ("uuid_sort", "shuffled"): "UUID sorting: shuffled + IDs",
    ("uuid_sort", "no_ids"): "UUID sorting: no IDs",
    ("lookup", "ordered"): "Lookup: ordered + IDs",
    ("lookup", "shuffled"): "Lookup: shuffled + IDs",
    ("lookup", "no_ids"): "Lookup: no IDs",
    ("table", "permute_homogeneous"): "Table: homogeneous permutation",
    ("table", "permute_heterogeneous"): "Table: heterogeneous permutation",
    ("table", "resolve"): "Table: KV resolution",
}
"""The twelve task variants in the order of Figures 6 to 8."""
PAPER_HORIZON = 131072
"""The horizon at which the paper shows Figures 2b to 4 and 6 to 9, and Table 2."""
DIFFICULTY = {
    "arithmetic": "operands, at most",
    "uuid_sort": "identifiers a record",
    "lookup": "definitions in the pool",
    "permute": "rows and columns moved",
    "resolve": "share of the words in use",
    "table": "moved / words in use",
}


@dataclass(frozen=True)
class Axis:
    """A horizontal axis: its label, its ticks, and the tick at which a document stands."""

    label: str
    ticks: tuple[str, ...]
    place: Callable[[Document], int]


def scale(family: str, form: str) -> str:
    """The scale that a variant's difficulty is read on: its family, or which of the two tables'."""
    if family != "table":
        return family
    return "resolve" if form == "resolve" else "permute"


def levels(name: str) -> tuple[float, ...]:
    """The four difficulties of a scale, easiest first."""
    formats = grid().families
    if name in formats and name != "table":
        return next(iter(formats[name].values()))
    return formats["table"]["resolve" if name == "resolve" else "permute_homogeneous"]


def rank(document: Document) -> int:
    """The place of a document's difficulty among the four of its variant, 0 the easiest."""
    return grid().families[document.family][document.format].index(document.difficulty)


def horizons(documents: Iterable[Document]) -> tuple[int, ...]:
    """The grid's horizons and those of the documents, ascending."""
    return tuple(sorted({*grid().horizons, *(document.horizon for document in documents)}))


def horizon_axis(tiers: tuple[int, ...]) -> Axis:
    """Nominal horizons, evenly spaced: each of the grid's is twice the one before (Figure 2a)."""
    ticks = tuple(map(horizon_name, tiers))
    label = "context horizon (nominal tokens, input + output)"
    return Axis(label, ticks, lambda document: tiers.index(document.horizon))


def family_axis() -> Axis:
    """The four families (Figure 2b)."""
    return Axis("", tuple(name.replace(" ", "\n") for name in FAMILIES.values()), _family_place)


def format_axis(family: str) -> Axis:
    """A family's three formats (Figures 3 and 9b)."""
    names = TABLE_FORMATS if family == "table" else STREAM_FORMATS
    return Axis("", tuple(names.values()), lambda document: list(names).index(document.format))


def difficulty_axis(family: str, form: str = "") -> Axis:
    """The four difficulties of a family or of one variant (Figures 4, 6 and 9a)."""
    name = scale(family, form) if form else family
    if name == "table":
        pairs = zip(levels("permute"), levels("resolve"), strict=True)
        ticks = tuple(f"{moved:.0%}\n/ {used * 100:g}%" for moved, used in pairs)
    elif name in ("permute", "resolve"):
        ticks = tuple(f"{level * 100:g}%" for level in levels(name))
    else:
        ticks = tuple(f"{level:g}" for level in levels(name))
    return Axis(DIFFICULTY[name], ticks, rank)


def _family_place(document: Document) -> int:
    return list(FAMILIES).index(document.family)
