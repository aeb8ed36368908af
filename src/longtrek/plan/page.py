"""A plan as a page of text, for the person who decides whether to start the run."""

from collections.abc import Iterable, Iterator, Sequence

from longtrek.config import TITLES, Transduction
from longtrek.plan.jobs import START_S, WEIGHTS_PER_S, Job, Need, need
from longtrek.plan.make import ModelPlan, Plan
from longtrek.plan.scitrek import ARTICLE_TOKENS, WRITTEN, Fit
from longtrek.plan.transduction import CUT, NOT_ASKED, Verdict

HEADER = (
    "model",
    "jobs",
    "prompts",
    "not asked",
    "in",
    "read",
    "out",
    "out at most",
    "GPUs",
    "weights",
    "hours",
    "longest job",
    "GPU hours",
    "at most",
)

SUMMED = (
    "jobs",
    "prompts",
    "not_asked",
    "tokens_in",
    "tokens_out",
    "tokens_most",
    "gpu_hours",
    "gpu_hours_most",
    "dollars",
    "dollars_most",
)
ROUNDED = 1_000
EACH = ("job", "prompts", "not asked", "in", "read", "out", "out at most", "hours")


def page(plan: Plan, each_job: bool = False) -> str:
    """The whole page: what every model takes by study, the sum, what cannot fit, what to do first, what is assumed."""
    lines = [f"Plan of {plan.config.path} (run {plan.config.run}). Nothing is started, fetched or written."]
    for study, title in TITLES.items():
        rows = [(one, need(one.model, jobs, one.weights)) for one in plan.models if (jobs := _jobs(one, study))]
        if rows:
            known = study != "scitrek" or not plan.estimated_questions
            note = "" if known else " (estimated: its questions are not made yet)"
            lines += ["", title + note, *_table([HEADER, *(_row(one, total) for one, total in rows)])]
        if rows and each_job:
            lines += ["", *_table([EACH, *_each(plan, study)])]
    lines += ["", *_sum(plan), *_documents(plan), *_contexts(plan)]
    if plan.warnings:
        lines += ["", "Before you start", *(f"  {warning}" for warning in plan.warnings)]
    return "\n".join([*lines, "", *_assumed(plan)]) + "\n"


def _jobs(one: ModelPlan, study: str) -> list[Job]:
    return [job for job in one.jobs if job.study == study]


def _row(one: ModelPlan, total: Need) -> tuple[str, ...]:
    model = one.model
    asks = model.is_asked
    money = model.engine == "endpoint"
    return (
        model.name if asks else f"{model.name} ({model.engine})",
        f"{total.jobs}",
        f"{total.prompts:,}",
        f"{total.not_asked:,}",
        _tokens(total.tokens_in),
        _tokens(total.read) if asks else "–",
        _tokens(total.tokens_out),
        _tokens(total.tokens_most) if asks else "–",
        f"{model.gpus} × {model.gpu_memory_gb:g} GB" if model.gpus and model.gpu_memory_gb else f"{model.gpus}",
        f"{one.weights / 1e9:,.1f} GB" if one.weights else "–",
        _hours(total.hours),
        _hours(total.longest),
        f"${total.dollars:,.0f}" if money else _hours(total.gpu_hours) if model.gpus else "–",
        f"${total.dollars_most:,.0f}" if money else _hours(total.gpu_hours_most) if model.gpus else "–",
    )


def _each(plan: Plan, study: str) -> Iterator[tuple[str, ...]]:
    for one in plan.models:
        for job in _jobs(one, study):
            yield (
                f"{job.model} {job.work}",
                f"{job.prompts:,}",
                f"{job.not_asked:,}",
                _tokens(job.tokens_in),
                _tokens(job.read),
                _tokens(job.tokens_out),
                _tokens(job.tokens_most),
                _hours(job.hours(one.model, one.weights, job.tokens_out)),
            )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def _sum(plan: Plan) -> list[str]:
    needs = [one.need for one in plan.models]
    total = {name: sum(need.row()[name] for need in needs) for name in SUMMED}
    weights = [one for one in plan.models if one.jobs and one.weights]
    missing = sum(one.weights for one in weights if one.at_hand is False)
    lines = [
        f"Together: {total['jobs']:,} jobs, {total['prompts']:,} prompts ({total['not_asked']:,} more cannot be "
        f"asked), {_tokens(total['tokens_in'])} tokens in, {_tokens(total['tokens_out'])} out (at most "
        f"{_tokens(total['tokens_most'])}).",
        f"Weights: {sum(one.weights for one in weights) / 1e9:,.1f} GB, of which {missing / 1e9:,.1f} GB are not on "
        "this machine.",
    ]
    on_gpus = [one for one in plan.models if one.model.gpus]
    if on_gpus:
        longest = max(on_gpus, key=lambda one: one.need.longest or 0.0)
        lines.append(
            f"Devices: {total['gpu_hours']:,.0f} GPU hours (at most {total['gpu_hours_most']:,.0f}), up to "
            f"{max(one.model.gpus for one in on_gpus)} devices for one job; the longest job is one of "
            f"{longest.model.name}, {_hours(longest.need.longest)} hours on {longest.model.gpus}."
        )
    if any(one.model.usd_per_million for one in plan.models):
        lines.append(f"Hosted models: ${total['dollars']:,.0f} (at most ${total['dollars_most']:,.0f}).")
    return lines


def _documents(plan: Plan) -> list[str]:
    """The documents that cannot be answered in full, by the models that share a fate."""
    groups: dict[tuple[str, ...], list[ModelPlan]] = {}
    for one in plan.models:
        if one.verdicts:
            groups.setdefault(tuple(_fates(plan.config.transduction, one)), []).append(one)
    lines: list[str] = []
    for fates, members in groups.items():
        names = ", ".join(one.model.name for one in members)
        counted = members[0].counter
        by = "counted by its own tokenizer" if counted.exact else counted.why
        lines += [
            "",
            f"Documents that {names} cannot answer in full; {by}",
            *(f"  {line}" for line in fates or ["none"]),
        ]
    return lines


def _fates(settings: Transduction, one: ModelPlan) -> Iterator[str]:
    window = one.model.window
    for outcome, words in (
        (CUT, "are asked, but the right answer is longer than the cap"),
        (
            NOT_ASKED,
            f"are not asked: prompt and right answer do not fit the window of {window:,} together" if window else "",
        ),
    ):
        found = one.fate(outcome)
        if found:
            unsure = sum(not verdict.sure for verdict in found)
            doubt = f" ({unsure} of them by less than the estimate's error)" if unsure else ""
            yield f"{len(found)} of {len(one.verdicts)} {words}{doubt}:"
            yield from (f"  {line}" for line in _cells(settings, found))
    close = sum(not verdict.sure and verdict.outcome not in (CUT, NOT_ASKED) for verdict in one.verdicts)
    if close:
        yield f"{close} more fit by less than the estimate's error"


def _cells(settings: Transduction, found: Sequence[Verdict]) -> Iterator[str]:
    """One line a cell of family, format and difficulty: its horizons, samples where not all, and the tightest case."""
    cells: dict[str, dict[int, list[Verdict]]] = {}
    for one in found:
        spec = one.size.spec
        cell = f"{spec.family}-{spec.format}-{spec.difficulty:g}"
        cells.setdefault(cell, {}).setdefault(spec.horizon, []).append(one)
    every = len(settings.ask.samples)
    for cell, horizons in cells.items():
        parts = [
            f"{horizon}" + ("" if len(of) == every else f" (samples {_listed(v.size.spec.sample for v in of)})")
            for horizon, of in sorted(horizons.items())
        ]
        worst = max((v for of in horizons.values() for v in of), key=lambda v: v.prepared.gold_tokens or 0)
        gold, cap = worst.prepared.gold_tokens or 0, worst.size.cap
        yield f"{cell} at {', '.join(parts)}; up to {gold:,} tokens to write, cap {cap:,}"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))


def _contexts(plan: Plan) -> list[str]:
    """The contexts that do not fit, by the models that share a fate."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for one in plan.models:
        if one.fits:
            groups.setdefault(tuple(_unread(one.fits)), []).append(one.model.name)
    lines: list[str] = []
    for fates, names in groups.items():
        if fates:
            lines += ["", f"Contexts that {', '.join(names)} cannot read whole", *(f"  {line}" for line in fates)]
    return lines


def _unread(fits: Sequence[Fit]) -> Iterator[str]:
    """One line for the settings with an equal share of questions that are not asked."""
    shares: dict[str, list[Fit]] = {}
    for one in fits:
        if one.share < 1:
            about = "about " if one.tier.estimated and one.share > 0 else ""
            shares.setdefault(f"{about}{1 - one.share:.0%}", []).append(one)
    for share, alike in shares.items():
        tiers = ", ".join(one.tier.setting.tier for one in alike)
        limit = max(0, round(min(one.limit for one in alike) / ROUNDED) * ROUNDED)
        yield f"{tiers}: {share} of the questions are not asked (contexts of over {limit:,} cl100k tokens)"


def _assumed(plan: Plan) -> list[str]:
    lines = [
        "Assumed",
        "  out: every answer is as long as the gold output, of models that think as their entries say; at most: every",
        "    answer runs to its cap. in: all prompts; read: what of them the prefix cache does not serve.",
        f"  hours: {START_S['vllm']:g} s to start an engine, {WEIGHTS_PER_S / 1e9:g} GB of weights a second, and the",
        "    entries' rates, in tokens a second: read / written by one request / written by all in flight at most",
    ]
    rates = [(one.model.name, one.model.rates) for one in plan.models if one.model.rates and one.jobs]
    lines += [f"    {name}: {r.prefill:,.0f} / {r.stream:,.0f} / {r.decode:,.0f}" for name, r in rates]
    lines.append("  a run from nothing: what the results hold already is not taken off")
    if plan.estimated_questions:
        lines += [
            "  SciTrek: the config's bounds on collections, shared over levels as the paper's test set is (Table 5);",
            f"    {WRITTEN['model']:.1%} of queries become questions; articles of {ARTICLE_TOKENS:,} tokens on average",
        ]
    return lines


def _tokens(number: int) -> str:
    if number >= 1_000_000_000:
        return f"{number / 1e9:,.2f} G"
    return f"{number / 1e6:,.1f} M" if number >= 100_000 else f"{number / 1e3:,.1f} K"


def _hours(hours: float | None) -> str:
    return "?" if hours is None else f"{hours:,.1f}"
