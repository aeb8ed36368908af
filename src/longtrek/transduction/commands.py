"""The verbs of the documents stage: `longtrek document` prints one, `longtrek documents` writes whole tiers."""

import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longtrek.options import config_option

if TYPE_CHECKING:
    from longtrek.transduction.build import Tier

COLUMNS = {"horizon": 8, "documents": 9, "prompt mean": 12, "max": 7, "longest mean": 13, "output mean": 12, "fill": 7}
HORIZON = click.IntRange(max=1 << 20)  # as in schemas/config.yaml


@click.command()
@click.option("--family", required=True, help="arithmetic, uuid_sort, lookup or table.")
@click.option(
    "--format",
    "format_",
    required=True,
    help="ordered, shuffled or no_ids; of table: permute_homogeneous, permute_heterogeneous or resolve.",
)
@click.option("--difficulty", required=True, help="A number of the grid, such as 2, 256, 0.125 or 1/8.")
@click.option("--horizon", required=True, type=HORIZON, help="Nominal tokens, input and output together, such as 4096.")
@click.option("--sample", default=0, show_default=True, type=int, help="Which sample of the cell, from 0.")
@click.option("--seed", type=click.IntRange(0), help="Root seed  [default: the frozen documents']")
@click.option("--prompts", type=click.Path(path_type=Path), help="Folder of prompt files  [default: the kit's]")
def document(
    family: str,
    format_: str,
    difficulty: str,
    horizon: int,
    sample: int,
    seed: int | None,
    prompts: Path | None,
) -> None:
    """Print one Long-Transduction document as a JSON line.

    The line holds the prompt, the expected output, the input budget (half the horizon) and the output cap (1.5
    times the budget), all in cl100k_base tokens. It equals the document's line in results/documents/.
    """
    from longtrek.transduction.build import line_of
    from longtrek.transduction.documents import document as build_document
    from longtrek.transduction.frozen import root_seed
    from longtrek.transduction.grid import DocumentSpec, difficulty_of
    from longtrek.transduction.prompts import read_prompts

    spec = DocumentSpec(family, format_, difficulty_of(difficulty), horizon, sample)
    built = build_document(spec, root_seed() if seed is None else seed, read_prompts(prompts))
    sys.stdout.buffer.write(line_of(built))
    sys.stdout.flush()


@click.command()
@config_option("The run's config; the options below go before it.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder  [default: documents in the config's results]")
@click.option("--horizon", "horizons", multiple=True, type=HORIZON, help="A tier to write; may be repeated.")
@click.option("--samples", type=click.IntRange(1, 100), help="Samples a cell.")
@click.option("--seed", type=click.IntRange(0), help="Root seed.")
@click.option("--prompts", type=click.Path(path_type=Path), help="Folder of prompt files.")
@click.option("--cores", type=click.IntRange(1), help="Processes  [default: all cores]")
@click.option("--freeze", is_flag=True, help="Count every text whole and make these documents the frozen ones.")
def documents(
    config_file: Path,
    out: Path | None,
    horizons: tuple[int, ...],
    samples: int | None,
    seed: int | None,
    prompts: Path | None,
    cores: int | None,
    freeze: bool,
) -> None:
    """Write the documents of whole tiers: a file <horizon>.jsonl.zst a tier, and summary.csv.

    Prints for each tier its documents, prompt tokens (mean, largest), the mean of the longest format's prompt,
    required output tokens (mean), fill, and whether the documents are the frozen ones. With the frozen seed a
    difference is an error, and the tier is not written. Tokens are cl100k_base.

    The budget is set on the longest of the three formats of the same records, so that prompts without identifiers
    are shorter; fill is the longest format's mean by the input budget.

    Where the config names the authors' prepared documents (transduction.released), those are written instead.
    """
    from longtrek import config, files
    from longtrek.errors import LongtrekError
    from longtrek.transduction import frozen
    from longtrek.transduction.build import build, summary
    from longtrek.transduction.grid import grid
    from longtrek.transduction.prompts import read_prompts
    from longtrek.transduction.released import write_released

    run = config.load(config_file)
    plan = run.transduction
    if plan.released and (prompts or freeze or seed is not None or samples):
        raise LongtrekError(f"{config_file}: transduction.released names the authors' documents; none are generated")
    root = plan.seed if seed is None else seed
    texts = read_prompts(prompts or plan.prompts)
    folder = out or run.results / "documents"
    wanted = tuple(dict.fromkeys(horizons)) or plan.horizons
    if plan.released:
        made = write_released(plan.released, folder, wanted)
    else:
        tiers = [grid().specs(horizon, samples or plan.samples) for horizon in wanted]
        known = None if prompts or freeze else plan.frozen
        check = functools.partial(frozen.compare, known, root, texts) if known else _not_compared
        made = build(folder, tiers, root, texts, cores or os.cpu_count() or 1, freeze, check)
    published = _published_means(run.published)
    click.echo(" ".join(name.rjust(width) for name, width in COLUMNS.items()))
    built = []
    for tier in made:
        built.append(tier)
        click.echo(_line(tier))
        if tier.horizon in published:
            click.echo(_published_line(tier.horizon, *published[tier.horizon]))
    files.write_text(folder / "summary.csv", summary(built))
    if freeze:
        path = plan.frozen or frozen.frozen_file()
        frozen.freeze(path, root, texts, [tier.built for tier in built])
        click.echo(f"frozen: {path}")


def _line(tier: "Tier") -> str:
    return (
        f"{tier.horizon:>8} {tier.documents:>9} {tier.prompt_mean:>12,.1f} {tier.prompt_max:>7,} "
        f"{tier.longest_mean:>13,.1f} {tier.output_mean:>12,.1f} {tier.fill:>7.2%}  {tier.verdict}"
    )


def _published_line(horizon: int, prompt: float, output: float) -> str:
    """The paper's line under a tier's: its documents and mean tokens."""
    from longtrek.transduction.grid import grid

    return f"{'paper':>8} {len(grid().specs(horizon)):>9} {prompt:>12,.0f} {'':>21} {output:>12,.0f}"


def _published_means(folder: Path) -> dict[int, tuple[float, float]]:
    """The paper's mean prompt and required output tokens by horizon, where it prints both (Appendix D)."""
    from longtrek.analysis.published import read

    means: dict[str, dict[int, float]] = {}
    for value in read("transduction_text", folder):
        if value.place == "Appendix D" and value.row.startswith("mean ") and value.value is not None:
            means.setdefault(value.row, {})[int(value.setting["horizon"])] = value.value
    prompts, outputs = (means.get(f"mean {what} tokens", {}) for what in ("prompt", "required output"))
    return {horizon: (prompts[horizon], outputs[horizon]) for horizon in prompts if horizon in outputs}


def _not_compared(_: object) -> str:
    return "not compared"
