"""What the documents tell people to type and to open is there: verbs, options, targets, files."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from longtrek.cli import LONGTREK
from longtrek.paths import ROOT

DOCUMENTS = ("README.md", "ARTIFACT.md", "docs/cluster.md", "results/README.md")
PLACEHOLDER = re.compile(r"[A-Z_]{3,}|[<>*…{}$]|\.\.\.")
TOP = tuple(sorted(path.name for path in ROOT.iterdir() if not path.name.startswith(".")))


def texts(document: str) -> Iterator[str]:
    """Everything that a document sets as code: spans and lines of code blocks, without their comments."""
    inside = False
    whole = re.sub(r"\\\n\s*", " ", (ROOT / document).read_text(encoding="utf-8"))  # a command over several lines
    for line in whole.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside or line.startswith("    "):
            yield line.split(" # ")[0].strip()
        else:
            yield from re.findall(r"`([^`]+)`", line)


def commands(document: str, program: str) -> list[list[str]]:
    """The words of each command of one program, by name or with a path before it."""
    found = []
    for text in texts(document):
        for part in re.split(r" (?:&&|\|) ", text):
            words = shlex.split(part, comments=True) if part.count("'") % 2 == 0 else part.split()
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                words = words[1:]
            if words and words[0].rpartition("/")[2] == program and len(words) > 1:
                found.append(words[1:])
    return found


def verb(words: list[str]) -> tuple[click.Command | None, list[str]]:
    """The verb that a command names, and the words after it."""
    command: click.Command | None = LONGTREK
    context = click.Context(LONGTREK)
    while isinstance(command, click.Group) and words:
        command, words = command.get_command(context, words[0].rstrip(",")), words[1:]
    return command, words


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_verb_and_option_exists(document: str) -> None:
    for words in commands(document, "longtrek"):
        if words[0].startswith("-") or PLACEHOLDER.fullmatch(words[0]):
            continue
        command, rest = verb(words)
        assert command is not None, f"{document}: longtrek {' '.join(words)}"
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        used = {word.partition("=")[0] for word in rest if word.startswith("--")} - {"--help"}
        assert used <= known, f"{document}: longtrek {' '.join(words)}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_target_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for words in commands(document, "make"):
        asked = [word for word in words if not re.match(r"-|[A-Z]+=", word)]
        assert set(asked) <= targets, f"{document}: make {' '.join(words)}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_exists_or_is_one_that_a_run_makes(document: str) -> None:
    made = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    for text in texts(document):
        for word in text.split():
            path = word.strip("`'\"(),;:").removesuffix(".")
            if not path.startswith(tuple(f"{top}/" for top in TOP)) or PLACEHOLDER.search(path):
                continue
            if path.startswith("results/"):
                below = path.removeprefix("results/").split("/")[0]
                assert not below or below in made, f"{document}: {path} is not told of in results/README.md"
            else:
                assert (ROOT / path).exists(), f"{document}: {path}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (Path(ROOT / document).parent / target).exists(), f"{document}: {target}"


def test_every_verb_is_told_of_somewhere() -> None:
    told = {words[0] for document in DOCUMENTS for words in commands(document, "longtrek")}
    rules = "\n".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    assert {name for name in LONGTREK.verbs if name not in told and f"longtrek {name} " not in rules} == set()
