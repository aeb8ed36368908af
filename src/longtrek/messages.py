"""What verbs say while they work."""

import sys

RUN_FIRST = "`make reproduce` makes it (CONFIG=FILE: for another config)"
"""What to do where a run has not left a file yet."""
ELSEWHERE = f"{RUN_FIRST}; `--results FOLDER` reads a run that stands elsewhere"
"""The same, for verbs that read a folder of results."""


def tell(line: str) -> None:
    """Write a line of progress to standard error, which a job's log keeps."""
    print(line, file=sys.stderr, flush=True)
