"""The only place that knows where things are.

What ships with the kit (`config/…`) is found from the kit's root; what a run makes is found from the
current folder, as Snakemake's `--directory` expects.
"""

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]


def shipped(path: str | Path) -> Path:
    """Resolve a path of a file that ships with the kit, given relative to the kit's root."""
    return ROOT / path


def source_digest(*parts: str) -> str:
    """Hash the source of parts of the package (`"transduction"`, `"answers/store.py"`) to 16 hex digits.

    Rules carry it as a parameter, so that a stage runs again when its code changes and not otherwise.
    """
    digest = hashlib.sha256()
    for part in parts:
        top = PACKAGE / part
        files = sorted(top.rglob("*")) if top.is_dir() else [top]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0")
                digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
