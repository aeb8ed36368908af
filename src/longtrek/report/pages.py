"""The report's pages, filled in from what was found of a run; their texts and looks are files beside this one."""

import shutil
from collections.abc import Mapping
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2

PAGES = {
    "index.html": "Overview",
    "exhibits.html": "Figures and tables",
    "claims.html": "Claims",
    "models.html": "Models",
    "answers.html": "Answers",
}
"""The pages in the order of the menu."""
ASSETS = "assets"
NOTHING = "–"


def write_pages(folder: Path, context: Mapping[str, Any]) -> None:
    """Write every page and what they share (styles, scripts) into the report's folder."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": count,
        "percent": percent,
        "score": score,
        "duration": duration,
        "moment": moment,
        "words": words,
        "query": query,
    }
    for name, title in PAGES.items():
        text = environment.get_template(name).render(context, page=name, title=title, pages=PAGES)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    (folder / ASSETS).mkdir()
    for source in sorted(resources.files(__package__).joinpath(ASSETS).iterdir(), key=lambda one: one.name):
        with resources.as_file(source) as path:
            shutil.copyfile(path, folder / ASSETS / source.name)


def count(number: float | None) -> str:
    """A whole number with its thousands apart."""
    return NOTHING if number is None else f"{number:,.0f}"


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return NOTHING if share is None else f"{100 * share:.1f} %"


def score(value: float | None) -> str:
    """A score from 0 to 1, three places."""
    return NOTHING if value is None else f"{value:.3f}"


def duration(seconds: float | None) -> str:
    """Seconds in the units that people say."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def moment(when: datetime | None) -> str:
    """A day and time, UTC, to the minute."""
    return NOTHING if when is None else f"{when:%Y-%m-%d %H:%M}"


def words(name: str | None) -> str:
    """A name of the data in words: `uuid_sort` is uuid sort."""
    return NOTHING if name is None else name.replace("_", " ")


def query(values: Mapping[str, Any]) -> str:
    """The hash of a link to the explorer, from the filters that are set."""
    return urlencode({name: value for name, value in values.items() if value not in (None, "")})
