"""How long SciTrek's collections and queries take: 2,612 collections of 662 articles, ten queries each, executed.

Run by hand: `python benchmarks/queries.py [PROCESSES]`. The promise is 90 seconds on 2 free cores. The articles'
lengths, titles, authors and citations are drawn; nothing is written.
"""

import concurrent.futures
import functools
import os
import platform
import sys
import time
from typing import Any

from longtrek.scitrek.collections import LEVELS, plan, thin
from longtrek.scitrek.questions.make import databases, drafts
from longtrek.scitrek.questions.round_trip import Engines
from longtrek.transduction.stream import bounded, draws

ARTICLES, LINKS = 662, 3000
MOST = {"random": 2027, "graph": 585}  # the paper's numbers
WORDS = [
    "deep",
    "sparse",
    "random",
    "models",
    "graphs",
    "markets",
    "proteins",
    "sorting",
    "learning",
    "fields",
    "waves",
    "of",
    "in",
    "for",
    "on",
]
NAMES = ["Ada", "Grace", "Emmy", "Alan", "Li", "Bo", "Mo", "Ines", "Omar", "Ravi"]


def synthetic(seed: int = 0) -> tuple[dict[str, dict[str, Any]], list[tuple[str, str]]]:
    """Articles of 5,000 to 33,000 tokens with drawn metadata, and citations among them."""
    draw = functools.partial(_drawn, seed)
    sizes, authors, references, title = (
        draw("sizes", 28_000),
        draw("authors", 9),
        draw("references", 120),
        draw("t", 12),
    )
    articles = {}
    for number in range(ARTICLES):
        name = f"a{number}"
        words = bounded(draws((seed, name, "title"), int(title[number]) + 3), len(WORDS))
        people = bounded(draws((seed, name, "authors"), 2 * (int(authors[number]) + 1)), len(NAMES))
        articles[name] = {
            "id": name,
            "title": " ".join(WORDS[place] for place in words),
            "authors": [f"{NAMES[a]} {NAMES[b]}son" for a, b in zip(people[::2], people[1::2], strict=True)],
            "reference_count": int(references[number]) + 5,
            "tokens": int(sizes[number]) + 5000,
        }
    ends = bounded(draws((seed, "links"), 2 * LINKS), ARTICLES)
    return articles, [(f"a{a}", f"a{b}") for a, b in zip(ends[::2], ends[1::2], strict=True) if a != b]


def _drawn(seed: int, what: str, below: int) -> Any:
    return bounded(draws((seed, what), ARTICLES), below)


def execute(collections: list[dict[str, Any]], part: int, parts: int) -> int:
    """Fill in and execute ten templates for every `parts`-th collection; how many queries were executed."""
    articles, citations = synthetic()
    run, executed = Engines().run, 0
    for collection, database in databases(collections[part::parts], articles, citations):
        for draft in drafts(collection, database, seed=0):
            assert run(database, draft.sql).answer
            executed += 1
    return executed


def main() -> None:
    """Grow, thin, fill in and execute; print seconds and machine."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else min(2, os.cpu_count() or 1)
    articles, citations = synthetic()
    started = time.perf_counter()
    lengths = {name: article["tokens"] for name, article in articles.items()}
    grown = plan(lengths, citations, list(LEVELS), 0, single=False).collections
    collections = [collection.row() for collection in thin(grown, MOST, 0)]
    growing = time.perf_counter() - started
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        work = functools.partial(execute, collections, parts=processes)
        executed = sum(pool.map(work, range(processes)))
    seconds = time.perf_counter() - started
    print(f"collections      {len(collections):,} of {len(grown):,} grown, {growing:.1f} s")
    print(f"queries          {executed:,} filled in and executed")
    print(f"seconds          {seconds:.1f} with {processes} processes; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"machine          {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
