"""Records scored per second under both rules, and the peak memory of the scores stage, on one generated tier.

    python benchmarks/scores.py [HORIZON] [SAMPLES]

The default is the largest tier (64K input tokens), one sample: 48 documents, answered by their own gold output (fast
path of neither rule) and by the same output in bold (every line read the slow way).
"""

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longtrek.files import write_jsonl
from longtrek.transduction.documents import document
from longtrek.transduction.grid import grid
from longtrek.transduction.prompts import read_prompts
from longtrek.transduction.scores import write_scores


def tier(horizon: int, samples: int) -> Iterator[dict[str, Any]]:
    """The documents of a tier, one at a time."""
    prompts = read_prompts()
    return (document(spec, 0, prompts) for spec in grid().specs(horizon, samples))


def bold(text: str) -> str:
    """A text whose lines are emphasised, cell by cell in a table."""
    return "\n".join(f"**{line}**" for line in text.split("\n"))


def main(horizon: int = 131072, samples: int = 1) -> None:
    """Write a tier and two sets of answers, score each, and print a line for each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = folder / "documents.jsonl.zst"
        write_jsonl(documents, tier(horizon, samples))
        for label, change in (("as asked", str), ("in bold", bold)):
            answers = folder / "answers.jsonl"
            rows = ({"id": row["id"], "text": change(row["expected"])} for row in tier(horizon, samples))
            write_jsonl(answers, rows)
            begun = time.perf_counter()
            records = write_scores(
                [(documents, answers)], folder / "r.parquet", folder / "d.parquet", model="benchmark"
            )
            seconds = time.perf_counter() - begun
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{label:10} {records:9,} records {seconds:7.1f} s {records / seconds:10,.0f} records/s "
                f"{(folder / 'r.parquet').stat().st_size / records:6.2f} bytes a record, peak {peak:,.0f} MiB"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
