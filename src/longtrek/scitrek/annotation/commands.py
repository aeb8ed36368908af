"""`longtrek annotation export` and `longtrek annotation import`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longtrek.options import config_option

if TYPE_CHECKING:
    from longtrek.config import Config
    from longtrek.scitrek.annotation.answers import Given
    from longtrek.scitrek.study import Study

PATH = click.Path(path_type=Path)
SAMPLE = "sample.jsonl"


@click.command()
@config_option()
@click.option("--per-skill", default=20, show_default=True, type=click.IntRange(1), help="Questions of each skill.")
@click.option("--session", default=3, show_default=True, type=click.IntRange(1), help="Questions of a session.")
@click.option("--out", type=PATH, help="Folder to write to  [default: annotations/ in the run's results]")
def export(config_file: Path, per_skill: int, session: int, out: Path | None) -> None:
    """Export a sample of the run's questions, with their tables, for people to answer (SciTrek, Section 3.4).

    Questions of each skill are drawn with the config's seed and grouped in sessions over different collections, each
    with one control question. Written are questions.xlsx, to be filled in and sent back, and a Label Studio project of
    the same: label_studio.xml, its labelling interface, and label_studio.json, its tasks. The answers stay in
    sample.jsonl, which `longtrek annotation import` needs: give it to no annotator.
    """
    from longtrek.scitrek.analyses import SKILLS
    from longtrek.scitrek.annotation import label_studio, sample, workbook
    from longtrek.scitrek.prompts import question_prompt

    config, study = _study(config_file)
    seed = study.settings.seed
    drawn = sample.draw(study.selected("any", None), seed, per_skill, session)
    members = [study.collections[name] for name in dict.fromkeys(item.collection for item in drawn)]
    databases = {row["id"]: one for row, one in study.databases(members)}
    items = sample.with_controls(drawn, databases, seed)
    told = sample.instructions(question_prompt("direct", "tables", study.settings.prompts).text)
    folder = out or config.results / "annotations"
    sample.write_sample(folder / SAMPLE, items)
    workbook.write_workbook(folder / "questions.xlsx", items, databases, told)
    label_studio.write_project(folder, items, databases, told)
    click.echo(f"{folder}: {len(drawn)} questions in {items[-1].session} sessions, {len(items) - len(drawn)} controls")
    for skill in SKILLS:
        count = sum(item.skill == skill for item in drawn)
        if count < per_skill:
            click.echo(f"{skill}: {count} questions; {per_skill} were wanted, and the run has no more")


@click.command(name="import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=PATH)
@config_option()
@click.option("--sample", "sample_file", type=PATH, help="sample.jsonl of the export  [default: the run's]")
def import_(files: tuple[Path, ...], config_file: Path, sample_file: Path | None) -> None:
    """Import what people answered: spreadsheets that were filled in (.xlsx) and Label Studio's exports (.json).

    Name all files at once: what was imported before is replaced. Writes annotations/annotations.jsonl in the run's
    results, which SciTrek's Table 6 reads, and prints how often annotators agree with each other and with the queries'
    answers, and each one's control questions.
    """
    from longtrek.errors import LongtrekError
    from longtrek.files import write_jsonl
    from longtrek.scitrek.annotation import answers, sample

    config, study = _study(config_file)
    folder = config.results / "annotations"
    path = sample_file or folder / SAMPLE
    items = sample.read_sample(path)
    sample.still_asked(items, study.questions, path)
    rows = answers.collected(items, [one for file in files for one in _read(file)])
    if not rows:
        raise LongtrekError(
            f"{', '.join(map(str, files))}: no question is answered, so nothing was imported and what was imported "
            "before stays; expected forms that were filled in"
        )
    write_jsonl(folder / "annotations.jsonl", rows)
    click.echo("\n".join(answers.summary(items, rows)))


def _read(file: Path) -> "list[Given]":
    from longtrek.errors import LongtrekError
    from longtrek.scitrek.annotation.label_studio import read_export
    from longtrek.scitrek.annotation.workbook import read_workbook

    match file.suffix.lower():
        case ".xlsx":
            return list(read_workbook(file))
        case ".json":
            return list(read_export(file))
    raise LongtrekError(f"{file}: neither .xlsx nor .json; expected filled-in spreadsheets or Label Studio's exports")


def _study(config_file: Path) -> "tuple[Config, Study]":
    from longtrek import config as run_config
    from longtrek.errors import LongtrekError
    from longtrek.scitrek.commands import scitrek_of
    from longtrek.scitrek.study import Study

    config = run_config.load(config_file)
    settings = scitrek_of(config)
    if settings.released:
        raise LongtrekError(
            f"{config.path}: scitrek.released: released rows come without a corpus, so that there are no tables to "
            "show to people; expected a run with a corpus"
        )
    return config, Study(settings, config.results)
