"""The verbs of the articles stage: `articles` fetches, `convert` makes Markdown, `tabulate` makes the tables.

Each writes only what its options name.
"""

from pathlib import Path
from typing import Any

import click

PATH = click.Path(path_type=Path)
CORPUS = click.option(
    "--corpus",
    "corpus_file",
    type=PATH,
    required=True,
    help="The corpus's file, such as config/corpora/vignettes.yaml.",
)


def read_corpus(path: Path) -> dict[str, Any]:
    """A corpus file's content, held to its schema."""
    from longtrek import schemas

    content: dict[str, Any] = schemas.read(path, "corpus")
    return content


def with_subset(settings: dict[str, Any], subset: str, path: Path) -> dict[str, Any]:
    """The settings with one named subset chosen.

    Raises:
        LongtrekError: the file names no such subset.
    """
    from longtrek.errors import LongtrekError

    if subset not in settings["subsets"]:
        raise LongtrekError(f"{path}: no subset {subset!r}; expected {', '.join(settings['subsets'])}")
    return {**settings, "subset": settings["subsets"][subset]}


@click.command()
@CORPUS
@click.option("--subset", default="all", show_default=True, help="A subset that the corpus file names.")
@click.option("--out", type=PATH, required=True, help="The snapshot's folder.")
@click.option("--mirror", help="Debian mirror for vignettes: a URL or a folder with pool/  [default: apt's own]")
@click.option("--wheel", type=PATH, help="The wheel for plos, if you have it  [default: pip downloads it]")
@click.option("--offline", is_flag=True, help="Never ask the network: check the snapshot that is there, or fail.")
def articles(corpus_file: Path, subset: str, out: Path, mirror: str | None, wheel: Path | None, offline: bool) -> None:
    """Fetch a corpus's articles and freeze them as a snapshot.

    The snapshot holds every article's PDF or XML, its metadata and the citations, with a SHA-256 for each file. Where
    a whole snapshot of the same settings lies in the folder, it is checked and nothing is fetched. A killed run goes
    on where it was. An article whose full text cannot be had is listed under "skipped" with the reason.
    """
    from longtrek.corpus import snapshot
    from longtrek.corpus.sources import source_of
    from longtrek.errors import LongtrekError
    from longtrek.messages import tell

    settings = with_subset(read_corpus(corpus_file), subset, corpus_file)
    name = f"{corpus_file.stem}-{subset}"
    if snapshot.exists(out):
        found = snapshot.read(out)
        if found.manifest["settings"] == snapshot.settings_key(settings):
            tell(f"{out}: {len(found.articles)} articles, every file as the snapshot says")
            return
    if offline:
        raise LongtrekError(
            f"{out}: no snapshot of {corpus_file} with these settings; run without --offline to make one"
        )
    settings |= {"mirror": mirror, "wheel": wheel}
    source = source_of(settings, corpus_file.parent, out / snapshot.FETCHED, tell)
    made = snapshot.freeze(source, name, settings, out, tell)
    skipped = len(made.manifest["skipped"])
    tell(f"{out}: {len(made.articles)} articles, {len(made.citations)} citations, {skipped} skipped")


@click.command()
@CORPUS
@click.option("--snapshot", "snapshot_folder", type=PATH, required=True, help="The snapshot's folder.")
@click.option("--out", type=PATH, required=True, help="Folder for <id>.md, <id>.json and conversion.jsonl.")
@click.option("--layout", type=click.Choice(["geometry", "marker"]), help="Layout step  [default: the corpus file's]")
@click.option("--jobs", type=click.IntRange(1), help="PDFs at a time  [default: the corpus file's]")
def convert(corpus_file: Path, snapshot_folder: Path, out: Path, layout: str | None, jobs: int | None) -> None:
    """Turn a snapshot's PDFs into Markdown with Marker, and its JATS XML with a reader of our own.

    One process a PDF, in the converter's environment (.venv/converter, or the variable LONGTREK_CONVERTER_PYTHON),
    with limits of time, pages and memory. A PDF that fails is listed with its reason and the rest goes on; what is
    done is not done again. The layout `geometry` needs no model weights: it goes by fonts and geometry, OCR off.
    """
    from dataclasses import replace

    from longtrek.corpus import conversion, snapshot
    from longtrek.files import write_jsonl
    from longtrek.messages import tell

    limits = conversion.Limits(**read_corpus(corpus_file).get("conversion", {}))
    limits = replace(limits, layout=layout or limits.layout, jobs=jobs or limits.jobs)
    records = conversion.convert(snapshot.read(snapshot_folder), out, limits, tell)
    write_jsonl(out / "conversion.jsonl", records)
    tell(conversion.summary(records))


@click.command()
@CORPUS
@click.option("--snapshot", "snapshot_folder", type=PATH, required=True, help="The snapshot's folder.")
@click.option("--converted", type=PATH, required=True, help="The folder that `longtrek convert` wrote.")
@click.option("--out", type=PATH, required=True, help="Folder for the tables, markdown/ and the reports.")
@click.option("--fewest", type=click.IntRange(0), help="Fewest tokens of an article  [default: the corpus file's]")
@click.option("--most", type=click.IntRange(1), help="Most tokens of an article  [default: the corpus file's]")
def tabulate(
    corpus_file: Path, snapshot_folder: Path, converted: Path, out: Path, fewest: int | None, most: int | None
) -> None:
    """Make the corpus's tables: articles.parquet, citations.parquet and markdown/<id>.md.

    Corrections of the metadata are applied last and recorded (corrections.jsonl); title, ordered authors and reference
    list are looked for in the text, and every disagreement is listed (disagreements.jsonl). Articles with fewer or
    more tokens than the corpus file says are dropped, and listed with the reason (dropped.jsonl).
    """
    from longtrek.corpus import snapshot, tables
    from longtrek.files import read_jsonl
    from longtrek.messages import tell

    settings = read_corpus(corpus_file)
    corrections = corpus_file.parent / settings["corrections"] if "corrections" in settings else None
    built = tables.build(
        snapshot.read(snapshot_folder),
        list(read_jsonl(converted / "conversion.jsonl")),
        converted,
        (
            settings["tokens"]["fewest"] if fewest is None else fewest,
            settings["tokens"]["most"] if most is None else most,
        ),
        corrections,
    )
    tables.write(built, out, converted)
    tell(tables.summary(built))
