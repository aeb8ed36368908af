"""The command line: one verb per rule of the workflow, and a few for people who want one piece.

A verb's code is imported only when it is called, so that `longtrek --help` and every job start fast.
"""

import errno
import importlib
import sys
from collections.abc import Mapping
from typing import Any

import click

from longtrek import __version__
from longtrek.errors import LongtrekError


class Verbs(click.Group):
    """A group whose commands are imported when they are asked for, each named as `module:command`."""

    def __init__(self, verbs: Mapping[str, "str | Verbs"], **attributes: Any) -> None:
        super().__init__(**attributes)
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the workflow."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb's command, or None where there is no such verb."""
        verb = self.verbs.get(cmd_name)
        if not isinstance(verb, str):
            return verb
        module, name = verb.split(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command


SCORE = Verbs(
    {
        "transduction": "longtrek.transduction.score_commands:score",
        "scitrek": "longtrek.scitrek.score_commands:score",
    },
    name="score",
    help="Score answers that were made elsewhere, under both rules, as JSON lines on standard output.",
)

SCORES = Verbs(
    {
        "transduction": "longtrek.transduction.score_commands:scores",
        "scitrek": "longtrek.scitrek.commands:scores",
    },
    name="scores",
    help="Score a model's answers of a run into Parquet.",
)

IMPORT = Verbs(
    {"answers": "longtrek.answers.imported_commands:import_answers"},
    name="import",
    help="Bring what was made elsewhere into a run.",
)

ANNOTATION = Verbs(
    {
        "export": "longtrek.scitrek.annotation.commands:export",
        "import": "longtrek.scitrek.annotation.commands:import_",
    },
    name="annotation",
    help="Put SciTrek's questions to people, and read their answers back for Table 6.",
)

LONGTREK = Verbs(
    {
        "plan": "longtrek.plan.commands:plan",
        "document": "longtrek.transduction.commands:document",
        "documents": "longtrek.transduction.commands:documents",
        "articles": "longtrek.corpus.commands:articles",
        "convert": "longtrek.corpus.commands:convert",
        "tabulate": "longtrek.corpus.commands:tabulate",
        "collections": "longtrek.scitrek.commands:collections",
        "questions": "longtrek.scitrek.commands:questions",
        "query": "longtrek.scitrek.sql.commands:query",
        "weights": "longtrek.answers.commands:weights",
        "answers": "longtrek.answers.commands:answers",
        "merge": "longtrek.answers.commands:merge",
        "import": IMPORT,
        "selftest": "longtrek.answers.selftest_commands:selftest",
        "baseline": "longtrek.scitrek.commands:baseline",
        "score": SCORE,
        "scores": SCORES,
        "annotation": ANNOTATION,
        "figure": "longtrek.analysis.commands:figure",
        "table": "longtrek.analysis.commands:table",
        "claims": "longtrek.analysis.claims.commands:claims",
        "show": "longtrek.analysis.commands:show",
        "report": "longtrek.report.commands:report",
        "sbom": "longtrek.provenance.commands:sbom",
        "crate": "longtrek.provenance.commands:crate",
        "checksums": "longtrek.provenance.commands:checksums",
        "verify": "longtrek.provenance.commands:verify",
        "images": "longtrek.images.commands:images",
    },
    name="longtrek",
    help="Rebuild Long-Transduction and SciTrek from frozen seeds, stage by stage.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, prog_name="longtrek")(LONGTREK)

REMEDIES = {
    errno.EEXIST: "expected a folder, and a file stands there: name another, or remove it",
    errno.ENOTDIR: "expected a folder, and a part of this path is a file: name another",
    errno.EISDIR: "expected a file, and a folder stands there: name another",
    errno.ENOENT: "it is not there: check the path, or run the stage that makes it",
    errno.EACCES: "give yourself the right to read and write it, or name another",
    errno.EROFS: "nothing can be written there: name another place",
    errno.ENOSPC: "free space and run the same command again",
    errno.EDQUOT: "free space and run the same command again",
}
"""What to do where the machine refuses."""


def main() -> None:
    """Run the command line; a fault that the user can mend is one message and exit code 1."""
    try:
        LONGTREK.main(prog_name="longtrek", standalone_mode=False)
    except LongtrekError as error:
        click.echo(f"longtrek: {error}", err=True)
        sys.exit(1)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("longtrek: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:  # a full disk, a folder that may not be written: the machine's, and the user's to mend
        remedy = REMEDIES.get(error.errno or 0)
        said = f"{error.strerror or error}" + (f"; {remedy}" if remedy else "")
        click.echo(f"longtrek: {error.filename or 'input or output'}: {said}", err=True)
        sys.exit(1)
