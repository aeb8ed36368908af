"""The verbs of SciTrek's stages: `collections` groups articles, `questions` asks, `scores scitrek`, `baseline`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longtrek.options import config_option

PATH = click.Path(path_type=Path)

if TYPE_CHECKING:
    from longtrek.answers.completer import Completer
    from longtrek.config import Config, Scitrek
    from longtrek.scitrek.study import Study


@click.command()
@click.option("--articles", "articles_file", type=PATH, required=True, help="articles.parquet of the corpus.")
@click.option("--citations", "citations_file", type=PATH, required=True, help="citations.parquet of the corpus.")
@click.option("--out", type=PATH, required=True, help="collections.parquet to write.")
@click.option("--level", "levels", multiple=True, help="64K, 128K, 512K or 1M; may be repeated  [default: all four]")
@click.option("--strategy", "strategies", multiple=True, help="random, dfs or bfs; may be repeated  [default: all]")
@click.option("--single/--no-single", default=True, show_default=True, help="Also each article alone.")
@click.option("--seed", default=0, show_default=True, help="Root of all draws.")
@click.option("--fill", default=0.5, show_default=True, help="Least share of the length when the corpus is used up.")
@click.option("--most", multiple=True, metavar="STRATEGY=N", help="Keep at most N, such as random=40 or graph=20.")
def collections(
    articles_file: Path,
    citations_file: Path,
    out: Path,
    levels: tuple[str, ...],
    strategies: tuple[str, ...],
    single: bool,
    seed: int,
    fill: float,
    most: tuple[str, ...],
) -> None:
    """Group articles into collections of up to a level's tokens (K = 1,024).

    A collection starts at each article in turn and grows until the next article would pass the length: at random, or
    along references and citations depth-first (dfs) or breadth-first (bfs). It has four articles or more, and shares
    fewer than half of either's articles with any other of its level. The order inside is shuffled.
    """
    from longtrek.corpus.tables import read_columns
    from longtrek.errors import LongtrekError
    from longtrek.messages import tell
    from longtrek.scitrek import collections as scitrek

    rows = read_columns(articles_file, id=str, tokens=int)
    lengths = {row["id"]: row["tokens"] for row in rows}
    if len(lengths) < len(rows):
        raise LongtrekError(f"{articles_file}: an article stands there twice; expected each id once")
    pairs = [(row["citing"], row["cited"]) for row in read_columns(citations_file, citing=str, cited=str)]
    plan = scitrek.plan(
        lengths, pairs, levels or tuple(scitrek.LEVELS), seed, strategies or scitrek.STRATEGIES, single, fill
    )
    kept = scitrek.thin(plan.collections, _limits(most), seed)
    scitrek.write(kept, out)
    for shortfall in plan.shortfalls:
        tell(shortfall.sentence())
    tell(f"{out}: {len(kept)} collections of {len(lengths)} articles")


def _limits(most: tuple[str, ...]) -> dict[str, int]:
    limits = {}
    for item in most:
        name, _, number = item.partition("=")
        if not (number.isascii() and number.isdigit()):
            raise click.BadParameter(f"{item!r}; expected STRATEGY=N, such as random=40", param_hint="--most")
        limits[name] = int(number)
    return limits


@click.command()
@config_option()
@click.option(
    "--writer",
    type=click.Choice(["grammar", "model"]),
    help="Who says the queries in English  [default: the config's]. `model` beside the grammar only reports.",
)
def questions(config_file: Path, writer: str | None) -> None:
    """Write the questions of a run's collections.

    Templates are drawn for each collection and filled in with its values; the queries are executed, said in English,
    and read back: a question is kept when the query that was read back gives the same result. What the same result
    on perturbed copies of the database shows to be luck is counted.

    Writes results/questions/questions.parquet and drafts.jsonl (every draft with its verdict and tries). With
    --writer model where the config's writer is the grammar, only model_writer.jsonl is written. Where the config names
    the authors' released dataset, its questions are taken as they are.
    """
    from longtrek.files import write_jsonl
    from longtrek.scitrek.questions.splits import counts, split
    from longtrek.scitrek.study import write_questions

    config, study = _study(config_file)
    if study.settings.released:
        click.echo(_released(study.settings.released, config.results / "questions"))
        return
    beside = writer is not None and writer != study.settings.writer
    rows, records = _written(config, study, writer or study.settings.writer)
    folder = config.results / "questions"
    if beside:
        write_jsonl(folder / "model_writer.jsonl", records)
    else:
        splits = split(rows, study.collections.values(), study.settings.split, study.settings.seed)
        write_jsonl(folder / "drafts.jsonl", records)
        write_questions(folder / "questions.parquet", [row | {"split": splits[row["id"]]} for row in rows])
        click.echo(f"splits ({study.settings.split}): {counts(splits)}")
    click.echo(_told(records))


def _released(path: Path, folder: Path) -> str:
    from longtrek.files import write_jsonl
    from longtrek.scitrek.released import questions, read_rows
    from longtrek.scitrek.study import write_questions

    rows = [row | {"null": row["answer"] == "NULL"} for row in questions(read_rows(path))]
    write_jsonl(folder / "drafts.jsonl", [])
    write_questions(folder / "questions.parquet", rows)
    return f"{path}: {len(rows)} released questions, {sum(row['left_out'] is not None for row in rows)} left out"


def _written(config: "Config", study: "Study", writer: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    from longtrek.scitrek.questions import make as scitrek
    from longtrek.scitrek.questions.model_writer import ModelWriter
    from longtrek.scitrek.questions.round_trip import Engines
    from longtrek.scitrek.sql.sandbox import Sandbox

    settings = study.settings
    collections = list(study.collections.values())
    ours = Engines().run
    if writer == "grammar":
        grown = study.databases(collections)
        made = scitrek.write(
            grown, scitrek.GrammarWriter(), ours, settings.seed, settings.per_collection, settings.copies
        )
        return asyncio.run(made)
    by = settings.model_writer
    if by is None:
        raise click.UsageError(f"{config.path}: scitrek.questions.model_writer is null; name a model and its tries")
    with _completer(config, by.model, "model_writer", by.max_tokens) as complete, Sandbox() as sandbox:
        model = ModelWriter(complete, settings.seed, settings.prompts, by.questions, by.readings, by.temperature)
        grown = study.databases(collections[: by.collections])
        made = scitrek.write(
            grown, model, ours, settings.seed, settings.queries_by_model, settings.copies, read_back=sandbox.run
        )
        return asyncio.run(made)


def _told(records: Sequence[dict[str, Any]]) -> str:
    """How many drafts became questions, and how many of those only by luck."""
    kept = [record for record in records if record["text"] is not None]
    lucky = sum(record["verdict"] == "lucky" for record in kept)
    share = 100 * len(kept) / len(records) if records else 0.0
    return (
        f"{len(kept)} of {len(records)} queries became questions ({share:.1f} %; paper: 82.9 %), {lucky} only by luck"
    )


@click.command(name="scitrek")
@click.argument("model")
@config_option()
def scores(model: str, config_file: Path) -> None:
    """Score MODEL's answers to SciTrek, all its tiers, under both rules: a row a question, context and prompt."""
    from longtrek.answers.model import load_model
    from longtrek.answers.stored import read_stored
    from longtrek.scitrek.scores import score_rows, write_scores

    config, study = _study(config_file)
    entry = load_model(config.model_file(model))
    folder = config.results / "answers" / model / "scitrek"
    tiers = [one.tier for one in study.settings.settings_of(entry)]
    answers = [row for tier in tiers for row in read_stored(folder / f"{tier}.jsonl")]
    decided = {row["id"]: row.get("provenance", {}).get("window") for row in answers}
    windows = {name: window["action"] for name, window in decided.items() if window}
    asked = [pair for tier in tiers for pair in study.asked(entry, tier)]
    given = [row for row in answers if row["status"] != "missing"]
    rows = score_rows(entry.name, study.questions, asked, given, study.subjects, windows)
    written = write_scores(config.results / "scores" / model / "scitrek.parquet", rows)
    click.echo(f"{model}: {written} questions scored")


@click.command()
@config_option()
def baseline(config_file: Path) -> None:
    """Answer questions by execution: a model turns them into SQL, which runs on gold tables or on extracted ones.

    Extracted tables are built from titles, author lists, reference counts and citations that the model finds in
    chunks of the articles (Section 4). Writes results/answers/MODEL+SQL/scitrek.jsonl, the scores beside the models',
    and what went wrong to results/baseline/problems.jsonl.
    """
    from longtrek.files import write_jsonl
    from longtrek.scitrek.baseline import sandboxed
    from longtrek.scitrek.scores import score_rows, write_scores
    from longtrek.scitrek.sql.sandbox import Sandbox

    config, study = _study(config_file)
    settings = study.settings.baseline
    if settings is None:
        raise click.UsageError(f"{config.path}: scitrek.baseline is null; name a model and what is asked")
    with _completer(config, settings.model, "baseline", settings.max_tokens) as complete, Sandbox() as sandbox:
        answers, problems = asyncio.run(_executed(study, complete, sandboxed(sandbox)))
    name = f"{settings.model}+SQL"
    write_jsonl(config.results / "answers" / name / "scitrek.jsonl", answers)
    write_jsonl(config.results / "baseline" / "problems.jsonl", problems)
    asked = [(row["id"], row["sample"]) for row in answers]
    rows = score_rows(name, study.questions, asked, answers, study.subjects)
    write_scores(config.results / "scores" / name / "scitrek.parquet", rows)
    click.echo(f"{name}: {len(answers)} questions, {len(problems)} problems on the way")


async def _executed(study: "Study", complete: "Completer", execute: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    """Answers on gold tables (context `tables`) and on extracted ones (context `full_text`), and the problems."""
    from longtrek.scitrek.baseline import Extractor, answer_all
    from longtrek.scitrek.prompts import request_id
    from longtrek.transduction.tokens import count

    settings, prompts = study.settings.baseline, study.settings.prompts
    assert settings is not None
    extractor = Extractor(complete, count, prompts, settings.chunk_tokens, settings.extraction_tries)
    answers: list[dict[str, Any]] = []
    for context, wanted in (("tables", settings.gold), ("full_text", settings.extracted)):
        asked = [row for level, most in wanted.items() for row in study.selected(level, most)]
        members = [study.collections[name] for name in dict.fromkeys(row["collection"] for row in asked)]
        if context == "tables":
            databases = {row["id"]: one for row, one in study.databases(members)}
        else:
            databases = {
                row["id"]: await extractor.database(
                    [{"id": name, "markdown": study.markdown(name)} for name in row["articles"]]
                )
                for row in members
            }
        for made in await answer_all(asked, databases, complete, execute, prompts, settings.sql_tries):
            answers.append(made.row() | {"id": request_id(made.question, context, "direct")})
    return answers, [vars(problem) for problem in extractor.problems]


def _study(config_file: Path) -> "tuple[Config, Study]":
    from longtrek import config as run_config
    from longtrek.scitrek.study import Study

    config = run_config.load(config_file)
    return config, Study(scitrek_of(config), config.results)


def scitrek_of(config: "Config") -> "Scitrek":
    """The config's SciTrek part.

    Raises:
        LongtrekError: the run leaves SciTrek out.
    """
    from longtrek.errors import LongtrekError

    if config.scitrek is None:
        raise LongtrekError(f"{config.path}: scitrek is null, so this run leaves the paper out")
    return config.scitrek


def _completer(config: "Config", model: str, work: str, max_tokens: int) -> Any:
    from longtrek.answers.completer import completer
    from longtrek.answers.model import load_model
    from longtrek.answers.weights import weights_of
    from longtrek.messages import tell

    entry = load_model(config.model_file(model))
    return completer(
        entry,
        store=config.results / "store" / model / "scitrek" / f"{work}.jsonl",
        weights=weights_of(entry, config.results / "weights" / model),
        max_tokens=max_tokens,
        tell=tell,
    )
