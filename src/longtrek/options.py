"""What several verbs take on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from longtrek.paths import shipped

DEFAULT = "config/quick.yaml"


def config_option(help: str = "The run's config.") -> Callable[[Any], Any]:
    """The option `--config`, given to the command as `config_file`; the kit's quick run where it is left out."""
    return click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path),
        default=shipped(DEFAULT),
        help=f"{help}  [default: {DEFAULT}]",
    )
