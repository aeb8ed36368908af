"""Long-Transduction's arithmetic: numbers that follow from others that the paper prints."""

from math import prod

from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.registry import computes
from longtrek.analysis.claims.spans import Span, exact, smallest, total
from longtrek.analysis.claims.spans import printed as span_of
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found, nothing
from longtrek.analysis.published import Published

TEXT = "transduction_text"
HEXADECIMAL_DIGITS_OF_A_UUID = 32
FULL_GRID_MODELS = 7


@computes
def product_of_factors(evidence: Evidence, asked: Asked) -> Found:
    """Documents a model, multiplied from the factors printed at the same place (Section 2, Appendix D)."""
    place = asked.need("place")
    factors = [
        value.value
        for value in evidence.printed.files[TEXT]
        if value.place == place and value.row == "documents per model" and value.column.startswith("factor")
    ]
    return Found(exact(prod(factor for factor in factors if factor is not None)), f"{len(factors)} factors")


@computes
def documents_by_horizons(evidence: Evidence, asked: Asked) -> Found:
    """Documents a horizon: those of a model by the number of horizons (Section 2)."""
    documents = evidence.printed.number(TEXT, "documents per model", "product", place="Section 2")
    return Found(exact(documents / evidence.printed.number(TEXT, "context budgets", "count")))


@computes
def complete_rate(evidence: Evidence, asked: Asked) -> Found:
    """A model's complete documents as a percentage of those that it was asked (Section 4)."""
    model = asked.need("model")
    count, of = (evidence.printed.number(TEXT, "complete documents", one, model=model) for one in ("count", "of"))
    return Found(exact(100 * count / of))


@computes
def families_falling_less_printed(evidence: Evidence, asked: Asked) -> Found:
    """Families for which a smaller decrease from IDs to none is printed than for one (Section 4)."""
    falls = {
        value.setting["family"]: value.value
        for value in evidence.printed.files[TEXT]
        if value.row == "relative decrease" and "family" in value.setting and value.value is not None
    }
    less = [family for family, fall in falls.items() if fall < falls[asked.need("than")]]
    return Found(exact(len(less)), ", ".join(f"{family}: {fall:g} %" for family, fall in falls.items()))


@computes
def full_grid_models(evidence: Evidence, asked: Asked) -> Found:
    """Checkpoints less those for which an earlier last horizon is printed (Section 3)."""
    early = {value.model for value in evidence.printed.files[TEXT] if value.row == "last horizon"}
    return Found(exact(evidence.printed.number(TEXT, "evaluated checkpoints", "count") - len(early)))


@computes
def half_of_horizon(evidence: Evidence, asked: Asked) -> Found:
    """The input half of a nominal horizon, in K tokens (Sections 2 and 3)."""
    return Found(exact(int(asked.need("horizon")) / 2 / 1024))


@computes
def horizons_up_to(evidence: Evidence, asked: Asked) -> Found:
    """Printed nominal horizons up to one (Appendix D: Olmo's full tiers)."""
    last = int(asked.need("horizon"))
    named = {int(value.setting["horizon"]) for value in evidence.printed.files[TEXT] if value.row == "nominal horizon"}
    return Found(exact(sum(horizon <= last for horizon in named)))


@computes
def output_by_input(evidence: Evidence, asked: Asked) -> Found:
    """Mean required output by mean prompt tokens at the largest horizon (Section 2: about one for one)."""
    output, prompt = (
        evidence.printed.span(TEXT, row, "largest tier", place="Section 2")
        for row in ("mean required output tokens", "mean prompt tokens")
    )
    return Found(output / prompt)


@computes
def mean_prompt_printed(evidence: Evidence, asked: Asked) -> Found:
    """The mean prompt that the paper prints for the largest horizon, in tokens (it must fit half the horizon)."""
    return Found(evidence.printed.span(TEXT, "mean prompt tokens", "largest tier", place="Section 2"))


@computes
def mean_decrease_left_open(evidence: Evidence, asked: Asked) -> Found:
    """The mean relative decrease from 4K to 128K over seven models, of which the text prints some (Section 4).

    The number is the mean of those with both ends printed; its bounds let the others lose nothing, or all.
    """
    ends = [_accuracies(evidence, model) for model in _models(evidence)]
    found = [exact(100.0) * (exact(1.0) - last / first) for first, last in ends if first and last]
    others = FULL_GRID_MODELS - len(found)
    added = total(found)
    bounds = Span(
        added.value / len(found), added.low / FULL_GRID_MODELS, (added.high + 100 * others) / FULL_GRID_MODELS
    )
    return Found(bounds, f"{len(found)} of {FULL_GRID_MODELS} models have both ends in the text")


@computes
def rises_printed(evidence: Evidence, asked: Asked) -> Found:
    """Models whose last printed accuracy is not below their first (Section 4: all fall)."""
    files = evidence.printed.having("transduction_figure_2")
    lines = {model: _line(files, model) for model in _models(evidence)}
    two = [line for line in lines.values() if len(line) > 1]
    return Found(exact(sum(line[-1] >= line[0] for line in two)), f"{len(two)} models with two numbers in the text")


@computes
def models_above_printed(evidence: Evidence, asked: Asked) -> Found:
    """Models with a printed accuracy above DeepSeek's at a horizon (Section 4: it leads throughout)."""
    horizon, leader = asked.need("horizon"), asked.need("leader")
    there = {
        value.model: value.value
        for value in evidence.printed.having("transduction_figure_2", horizon=horizon)
        if value.row == "accuracy" and value.value is not None
    }
    return Found(exact(sum(value > there[leader] for value in there.values())), f"{len(there)} models in the text")


@computes
def format_decrease_left_open(evidence: Evidence, asked: Asked) -> Found:
    """The decrease over input formats that the three printed ones of Section 4 allow.

    However families and models are weighed, their mean is between the smallest and the largest; the number is the
    plain mean.
    """
    found = [evidence.printed.span("transduction_figure_3", "relative decrease", "ordered to no_ids", family=family)
             for family in ("arithmetic", "uuid_sort", "lookup")]  # fmt: skip
    mean = total(found) / 3
    return Found(Span(mean.value, smallest(found).low, max(one.high for one in found)), "table formats not counted")


@computes
def digits_of_a_uuid(evidence: Evidence, asked: Asked) -> Found:
    """Hexadecimal digits of a whole UUID: its 36 characters count four hyphens (Appendix A)."""
    return Found(exact(HEXADECIMAL_DIGITS_OF_A_UUID))


@computes
def stated_elsewhere(evidence: Evidence, asked: Asked) -> Found:
    """What the paper says of the same quantity at another place; arguments `file`, `row`, `column` name it."""
    where = {key: asked.arguments[key] for key in ("place", "model") if key in asked.arguments}
    value = evidence.printed.one(asked.need("file"), asked.need("row"), asked.need("column"), **where)
    return nothing(f"marked {value.mark}") if value.value is None else Found(span_of(value), value.place)


def _models(evidence: Evidence) -> list[str]:
    return list(dict.fromkeys(value.model for value in evidence.printed.files["transduction_figure_2"]))


def _accuracies(evidence: Evidence, model: str) -> tuple[Span | None, Span | None]:
    ends = []
    for column in ("4K", "128K"):
        value = evidence.printed.one("transduction_figure_2", "accuracy", column, model=model)
        # Qwen-35B's number is itself derived from a difference, so that it adds nothing.
        ends.append(None if value.value is None or value.note.startswith("from ") else span_of(value))
    return ends[0], ends[1]


def _line(values: list[Published], model: str) -> list[float]:
    found = [
        (int(value.setting["horizon"]), value.value)
        for value in values
        if value.model == model and value.row == "accuracy" and value.value is not None
    ]
    return [number for _, number in sorted(found)]
