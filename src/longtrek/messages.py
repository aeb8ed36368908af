"""What verbs say while they work."""

import sys


def tell(line: str) -> None:
    """Write a line of progress to standard error, which a job's log keeps."""
    print(line, file=sys.stderr, flush=True)
