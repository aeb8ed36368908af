"""The command line: one verb per rule of the workflow, and a few for people who want one piece.

A verb's code is imported only when it is called, so that `longtrek --help` and every job start fast.
"""

import importlib
import sys

import click

from longtrek import __version__
from longtrek.errors import LongtrekError

VERBS = {
    "document": "longtrek.transduction.commands:document",
    "documents": "longtrek.transduction.commands:documents",
    "answers": "longtrek.answers.commands:answers",
    "weights": "longtrek.answers.commands:weights",
    "score": "longtrek.scoring_commands:score",
    "scores": "longtrek.scoring_commands:scores",
    "show": "longtrek.analysis.commands:show",
    "figure": "longtrek.analysis.commands:figure",
    "table": "longtrek.analysis.commands:table",
}


class Verbs(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the workflow."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb's command, or None where there is no such verb."""
        if cmd_name not in VERBS:
            return None
        module, name = VERBS[cmd_name].split(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="longtrek")
def longtrek() -> None:
    """Rebuild Long-Transduction and SciTrek from frozen seeds, stage by stage."""


def main() -> None:
    """Run the command line; a fault that the user can mend is one message and exit code 1."""
    try:
        longtrek.main(standalone_mode=False)
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
