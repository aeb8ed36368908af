"""Long-Transduction's claims about its grid, documents and settings, computed from what the kit generates."""

from collections.abc import Callable, Iterable
from statistics import fmean

from longtrek.analysis import statistics
from longtrek.analysis.claims.evidence import Document, Evidence
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.spans import Span, exact
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found, nothing
from longtrek.transduction.documents import document
from longtrek.transduction.gold import gold_of
from longtrek.transduction.grid import DocumentSpec, grid
from longtrek.transduction.prompts import ENDING, MARKER
from longtrek.transduction.readers import signed_sum
from longtrek.transduction.scoring import score

STREAM_FORMATS = {"ordered", "shuffled", "no_ids"}
K = 1024


@computes
def grid_count(evidence: Evidence, asked: Asked) -> Found:
    """Count an axis of the grid, or its documents, from the specs that the generator goes by (Section 2)."""
    found = grid()
    specs = [spec for horizon in found.horizons for spec in found.specs(horizon)]
    counted: dict[str, Iterable[object]] = {
        "families": {spec.family for spec in specs},
        "formats": {spec.format for spec in specs if spec.family == "table"},
        "difficulties": {spec.difficulty for spec in specs if spec.family == "lookup"},
        "horizons": {spec.horizon for spec in specs},
        "samples": {spec.sample for spec in specs},
        "variants": {(spec.family, spec.format) for spec in specs},
        "matched": [family for family, formats in found.families.items() if set(formats) == STREAM_FORMATS],
        "documents": specs,
        "documents a horizon": [spec for spec in specs if spec.horizon == found.horizons[-1]],
    }
    return Found(exact(len(list(counted[asked.need("count")]))))


@computes
def built_documents(evidence: Evidence, asked: Asked) -> Found:
    """Count the documents that the run's build wrote, at one horizon or at all (Section 2, Appendix D)."""
    built, horizon = evidence.built, asked.get("horizon")
    if not built.tiers:
        return nothing("the run has built no documents yet")
    if set(built.horizons) != set(grid().horizons) or built.samples != grid().samples:
        return nothing(f"this run builds {len(built.horizons)} of {len(grid().horizons)} horizons in part or whole")
    wanted = [int(horizon)] if horizon else list(built.tiers)
    return Found(exact(sum(int(built.tiers[one]["documents"]) for one in wanted)))


@computes
def nominal_horizon(evidence: Evidence, asked: Asked) -> Found:
    """The grid's horizon of a rank, 1 the smallest, in K tokens (Section 2)."""
    return Found(exact(grid().horizons[int(asked.need("rank")) - 1] / K))


@computes
def difficulty_measured(evidence: Evidence, asked: Asked) -> Found:
    """What a difficulty sets, measured on documents of the smallest horizon (Section 2, Appendix A).

    Arithmetic: the most operands of a sum. UUID sorting: the identifiers on a line. Lookup: the definitions in the
    pool. Permuted tables: the percentage of rows and columns that are moved, the mean of the two.
    """
    family, level = asked.need("family"), int(asked.need("level"))
    wanted = [
        one
        for one in evidence.built.smallest
        if one["family"] == family
        and one["format"] != "resolve"
        and one["difficulty"] == grid().families[family][one["format"]][level - 1]
    ]
    measure: Callable[[Document], float] = {
        "arithmetic": _operands,
        "uuid_sort": lambda one: max(map(len, gold_of(one).lists)),
        "lookup": _definitions,
        "table": _moved,
    }[family]
    found = [measure(one) for one in wanted]
    value = fmean(found) if family == "table" else max(found)
    return Found(exact(value), f"{len(found)} documents of {min(evidence.built.horizons)} tokens")


def _operands(one: Document) -> int:
    return max(sum(character.isdigit() for character in expression) for expression, _ in gold_of(one).sums)


def _definitions(one: Document) -> int:
    prompt: str = one["prompt"]
    return prompt.rpartition(ENDING.removesuffix(MARKER))[2].count("=")


def _moved(one: Document) -> float:
    gold = gold_of(one)
    places = [*enumerate(gold.rows), *enumerate(gold.columns)]
    moved = [int(label.strip("[RC]")) != place for place, label in places]
    return 100 * sum(moved) / len(moved)


@computes
def mean_tokens(evidence: Evidence, asked: Asked) -> Found:
    """Mean tokens of a horizon's documents in `cl100k_base`, from the run's own build (Section 2, Appendix D).

    Argument `of`: `prompt_mean` (every document), `longest_mean` (for each document the longest prompt of the formats
    that hold its records, on which the budget is set) or `output_mean`.
    """
    horizon = int(asked.need("horizon"))
    tier = evidence.built.tiers.get(horizon)
    if tier is None:
        return nothing(f"this run has not built the documents of {horizon} tokens")
    if int(tier["documents"]) != len(grid().specs(horizon)):
        return nothing(f"this run builds {tier['documents']} documents of {horizon} tokens, the paper more")
    value = float(tier[asked.need("of")])
    told = f"{tier['documents']} documents, budget {horizon // 2}"
    return Found(exact(value / K if asked.unit.startswith("K ") else value), told)


@computes
def largest_document(evidence: Evidence, asked: Asked) -> Found:
    """The most records that a document holds: sums of two digits at the largest horizon (Section 2)."""
    spec = DocumentSpec("arithmetic", "ordered", 2, max(evidence.built.horizons), 0)
    built = document(spec, evidence.built.seed, evidence.built.prompts)
    return Found(exact(built["records"]), built["id"])


@computes
def cap_per_budget(evidence: Evidence, asked: Asked) -> Found:
    """The output cap by the input budget, the same for every document (Appendix D)."""
    ratios = {one["cap"] / one["budget"] for one in evidence.built.smallest}
    return Found(Span(max(ratios), min(ratios), max(ratios)))


@computes
def cell_length(evidence: Evidence, asked: Asked) -> Found:
    """The shortest or longest cell of the permuted tables of the smallest horizon, in characters (Appendix A)."""
    wanted = [one for one in evidence.built.smallest if one["format"] == asked.need("format")]
    lengths = [len(cell) for one in wanted for row in gold_of(one).cells for cell in row]
    return Found(exact(min(lengths) if asked.need("end") == "shortest" else max(lengths)), f"{len(lengths)} cells")


@computes
def worked_sum(evidence: Evidence, asked: Asked) -> Found:
    """A worked sum of the paper, worked by the kit's reader of sums (Appendix A)."""
    assert asked.value is not None
    result = signed_sum(asked.value.column.partition("]")[2])
    return nothing("the kit reads no sum there") if result is None else Found(exact(result))


@computes
def unequal_vocabularies(evidence: Evidence, asked: Asked) -> Found:
    """Documents to resolve that use other numbers of adjectives and nouns (Table 1: as many of both)."""
    wanted = [one for one in evidence.built.smallest if one["format"] == "resolve"]
    return Found(exact(sum(_unequal(one) for one in wanted)), f"{len(wanted)} documents")


def _unequal(one: Document) -> bool:
    keys = {part for text in gold_of(one).inputs if text for part in text.split("+")}
    return sum(key.startswith("a") for key in keys) != sum(key.startswith("v") for key in keys)


@computes
def fewest_active_words(evidence: Evidence, asked: Asked) -> Found:
    """The smallest number of Table 1: adjectives, and as many nouns, of the easiest table at the smallest horizon."""
    return Found(exact(min(active for row in evidence.built.active_words for active in row["active"])))


@computes
def active_words_agreeing(evidence: Evidence, asked: Asked) -> Found:
    """Cells of Table 1 that the generator gives as the paper prints them."""
    values = evidence.printed.files["transduction_table_1"]
    known = [value for value in values if value.value is not None]
    if not known:
        return nothing(f"the {len(values)} cells as printed are lost; {len(evidence.built.active_words)} were computed")
    cells = {(str(row["horizon"]), f"{row['share']:g}"): row["active"] for row in evidence.built.active_words}
    there = [value for value in known if (value.setting["horizon"], value.setting["difficulty"]) in cells]
    agree = sum(value.value in cells[value.setting["horizon"], value.setting["difficulty"]] for value in there)
    return Found(exact(agree), f"{len(there)} cells compared")


@computes
def position_bins(evidence: Evidence, asked: Asked) -> Found:
    """Into how many equal parts position curves cut the required output (Appendix B)."""
    return Found(exact(statistics.BINS))


@computes
def prompts_forbidding_thought(evidence: Evidence, asked: Asked) -> Found:
    """Prompt templates that tell the model not to think (Section 3: every prompt)."""
    return Found(exact(sum("Do not think" in prompt.head for prompt in evidence.built.prompts.values())))


@computes
def models_asked(evidence: Evidence, asked: Asked) -> Found:
    """Models of the papers' run that are asked at the largest of the given horizons (Section 3)."""
    horizon, config = int(asked.need("reach")), evidence.papers.config.transduction
    models = [evidence.papers.models[name] for name in config.models]
    return Found(exact(sum(horizon in config.horizons_of(model) for model in models)))


@computes
def last_horizon_asked(evidence: Evidence, asked: Asked) -> Found:
    """The largest horizon that the papers' run asks of a model, or its input half, in K tokens (Section 3)."""
    horizons = evidence.papers.config.transduction.horizons_of(evidence.papers.models[asked.need("model")])
    return Found(exact(max(horizons) / K / (2 if asked.get("half") == "input" else 1)))


@computes
def tiers_asked(evidence: Evidence, asked: Asked) -> Found:
    """How many horizons the papers' run asks of a model (Appendix D)."""
    model = evidence.papers.models[asked.need("model")]
    return Found(exact(len(evidence.papers.config.transduction.horizons_of(model))))


@computes
def highest_temperature(evidence: Evidence, asked: Asked) -> Found:
    """The highest temperature at which the papers' run asks any model of Long-Transduction (Appendix D: greedy)."""
    names = evidence.papers.config.transduction.models
    return Found(exact(max(evidence.papers.models[name].sampling.temperature for name in names)))


@computes
def records_lost_by_omission(evidence: Evidence, asked: Asked) -> Found:
    """Records that an omission costs a right answer, at most, where lines have IDs (Appendix B)."""
    costs = [
        sum(not right for right in _without_line(document, len(document["expected"].split("\n")) // 2))
        for document in evidence.built.smallest
        if document["format"] in STREAM_FORMATS - {"no_ids"}
    ]
    return Found(exact(max(costs)), f"{len(costs)} documents without their middle line")


@computes
def records_kept_after_omission(evidence: Evidence, asked: Asked) -> Found:
    """Records that still count, at the fewest, when a right answer without IDs lacks its first line (Appendix B)."""
    kept = [sum(_without_line(document, 0)) for document in evidence.built.smallest if document["format"] == "no_ids"]
    return Found(exact(min(kept)), f"{len(kept)} documents without their first line, {max(kept)} at most")


def _without_line(document: Document, place: int) -> list[bool]:
    """What of a document's gold output counts as right under the paper's rule when one line is left out."""
    lines = document["expected"].split("\n")
    return score(document, "\n".join(lines[:place] + lines[place + 1 :])).paper.correct
