"""Turn a snapshot's full texts into Markdown: PDFs by Marker, one process each; JATS XML by a reader of our own.

Every article gets a record, kept beside its Markdown as soon as it is done, so that a run can be killed and go on. A
failure is a record with a reason, never an end of the run.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longtrek.corpus import jats, jats_markdown
from longtrek.corpus.snapshot import Snapshot
from longtrek.corpus.sources import Article, Progress
from longtrek.errors import LongtrekError
from longtrek.files import canonical_json, read_object, sha256_file, write_text

HERE = Path(__file__).resolve().parent
RUNNER = HERE / "marker_runner.py"
CONVERTER_CODE = ("marker_runner.py", "geometry.py", "accents.py")
JATS_CODE = ("jats.py", "jats_markdown.py")
PYTHON_VARIABLE = "LONGTREK_CONVERTER_PYTHON"
REFUSED = 3
OUT_OF_MEMORY = ("memoryerror", "bad_alloc", "cannot allocate memory", "failed to map segment")


@dataclass(frozen=True)
class Limits:
    """How PDFs are converted: the layout step, and seconds, pages and memory (GiB) at most for each.

    `inference_url` names a running server of Marker's vision model, for the layout `marker` on a GPU; without it
    Marker starts one.
    """

    layout: str = "geometry"
    seconds: float = 300
    pages: int = 200
    memory_gib: float = 8
    jobs: int = 1
    inference_url: str | None = None


def converter_python() -> Path:
    """The interpreter of the converter's environment.

    Raises:
        LongtrekError: it is not there.
    """
    python = Path(os.environ.get(PYTHON_VARIABLE, ".venv/converter/bin/python"))
    if not python.is_file():
        raise LongtrekError(
            f"{python}: no such file; expected the converter's Python with Marker, which `make reproduce` and "
            f"`make test` make; or name one with the variable {PYTHON_VARIABLE}"
        )
    return python.absolute()


def gpu_visible() -> bool:
    """Whether an NVIDIA GPU can be used from here."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1") or not shutil.which("nvidia-smi"):
        return False
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return listed.returncode == 0 and "GPU" in listed.stdout


def convert(snapshot: Snapshot, folder: Path, limits: Limits, progress: Progress) -> list[dict[str, Any]]:
    """Convert each article of a snapshot; what was done with the same input and settings is not done again.

    Args:
        snapshot: the articles and their files.
        folder: gets `<id>.md` and `<id>.json` for each article.
        limits: the layout step and the limits.
        progress: told each article's outcome, in a line.

    Returns:
        A record for each article, in the snapshot's order: id, status (`converted`, `failed`), reason, converter,
        version, layout, seconds, pages, sha256 of the Markdown, and the key that it was made under.
    """
    folder.mkdir(parents=True, exist_ok=True)
    python = converter_python() if any(article.kind == "pdf" for article in snapshot.articles) else None

    def one(article: Article) -> dict[str, Any]:
        file = snapshot.file(article)
        key = _key(article, sha256_file(file), limits)
        record = _finished(folder, article.id, key)
        if record is None:
            record = _convert_one(python, article, file, folder, limits)
            record = {"id": article.id, **record, "key": key}
            write_text(folder / f"{article.id}.json", json.dumps(record, ensure_ascii=False) + "\n")
            progress(_line(record))
        return record

    with ThreadPoolExecutor(max_workers=max(1, limits.jobs)) as pool:
        return list(pool.map(one, snapshot.articles))


def _key(article: Article, sha256: str, limits: Limits) -> str:
    """A hash of all that determines an article's Markdown: input, code, layout step, limits."""
    code = CONVERTER_CODE if article.kind == "pdf" else JATS_CODE
    chosen = {k: v for k, v in asdict(limits).items() if k not in ("jobs", "inference_url")}
    content = {
        "input": sha256,
        "code": [sha256_file(HERE / name) for name in code],
        "limits": chosen if article.kind == "pdf" else None,
    }
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()[:24]


def _finished(folder: Path, identifier: str, key: str) -> dict[str, Any] | None:
    record_file, markdown = folder / f"{identifier}.json", folder / f"{identifier}.md"
    if not record_file.is_file():
        return None
    record = read_object(record_file, {"key": str, "status": str}, f"remove {record_file}, and it is converted anew")
    if record["key"] != key:
        return None
    if record["status"] == "converted" and (not markdown.is_file() or sha256_file(markdown) != record.get("sha256")):
        return None
    return record


def _line(record: dict[str, Any]) -> str:
    if record["status"] == "failed":
        return f"failed {record['id']}: {record['reason']}"
    return f"converted {record['id']}: {record['pages'] or 'no'} pages in {record['seconds']} s"


def _convert_one(python: Path | None, article: Article, file: Path, folder: Path, limits: Limits) -> dict[str, Any]:
    started = time.monotonic()
    target = folder / f"{article.id}.md"
    if article.kind == "jats":
        write_text(target, jats_markdown.markdown(jats.parse(file.read_bytes(), article.id)))
        outcome: dict[str, Any] = {"converter": "jats", "version": None, "layout": None, "pages": None}
    else:
        assert python is not None
        outcome = {"converter": "marker", **run_marker(python, file, target, limits)}
    reason = outcome.pop("error", None)
    return {
        "status": "failed" if reason else "converted",
        "reason": reason,
        **outcome,
        "seconds": round(time.monotonic() - started, 2),
        "sha256": None if reason else sha256_file(target),
    }


def run_marker(python: Path, file: Path, target: Path, limits: Limits) -> dict[str, Any]:
    """Convert one PDF in a process of its own, in the converter's environment.

    Returns:
        version, layout and pages; and `error`, a reason in words, where there is no Markdown.
    """
    # Python runs without the current folder on its path, and the whole process group ends when the time is over.
    temporary = target.with_name(f".{target.name}.part")
    gpu = limits.layout == "marker" and gpu_visible()
    command = [str(python), "-I", str(RUNNER), str(file), str(temporary), "--layout", limits.layout]
    command += ["--pages", str(limits.pages), "--memory-gib", str(0 if gpu else limits.memory_gib)]
    outcome: dict[str, Any] = {"version": None, "layout": limits.layout, "pages": None}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=_environment(limits, gpu),
        start_new_session=True,
    )
    try:
        told, complaints = process.communicate(timeout=limits.seconds)
        outcome |= _outcome(process.returncode, told, complaints, 0 if gpu else limits.memory_gib)
    except subprocess.TimeoutExpired:
        outcome["error"] = f"time: not done within {limits.seconds:g} s"
    finally:
        _end_group(process)
    if "error" not in outcome:
        temporary.replace(target)
    temporary.unlink(missing_ok=True)
    return outcome


def _end_group(process: subprocess.Popen[str]) -> None:
    """End the converter and whatever it started, and wait for it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _environment(limits: Limits, gpu: bool) -> dict[str, str]:
    """The converter's environment: two threads at most each, no downloads without need, the GPU where there is one."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "HF_HUB_DISABLE_TELEMETRY": "1", "DISABLE_TQDM": "true"}
    if limits.layout == "geometry":
        environment |= {"HF_HUB_OFFLINE": "1", "TORCH_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    elif gpu:
        # One server of the vision model outlives the processes, so that each PDF does not load it again.
        environment |= {"TORCH_DEVICE": "cuda", "SURYA_INFERENCE_KEEP_ALIVE": "true"}
    if limits.inference_url:
        environment["SURYA_INFERENCE_URL"] = limits.inference_url
    return environment


def _outcome(code: int, told: str, complaints: str, memory_gib: float) -> dict[str, Any]:
    """What the script said in its last line; or, where it died, the reason that its end gives."""
    last = (told.strip().splitlines() or [""])[-1]
    if code in (0, REFUSED) and last.startswith("{"):
        said: dict[str, Any] = json.loads(last)
        return said
    if code < 0:
        name = signal.Signals(-code).name
        if name == "SIGKILL":
            return {"error": "the converter was ended by SIGKILL; the machine may be out of memory"}
        # A PDF library that gets no memory ends its process by one of these, without a word.
        hint = f"; most likely memory over the limit of {memory_gib:g} GiB" if memory_gib else ""
        return {"error": f"the converter was ended by {name}{hint}"}
    line = (complaints.strip().splitlines() or ["no message"])[-1]
    if any(sign in line.lower() for sign in OUT_OF_MEMORY):
        return {"error": f"memory over the limit of {memory_gib:g} GiB ({line[:200]})"}
    return {"error": f"the converter ended with code {code}: {line[:300]}"}


def summary(records: list[dict[str, Any]]) -> str:
    """One line about a conversion's records, and one for each failure."""
    failed = [record for record in records if record["status"] == "failed"]
    seconds = sum(record["seconds"] for record in records)
    done = len(records) - len(failed)
    head = f"{done} of {len(records)} articles converted ({seconds:.0f} s in all), {len(failed)} failed"
    return "\n".join([head, *(f"  {record['id']}: {record['reason']}" for record in failed)])
