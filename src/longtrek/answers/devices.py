"""The GPUs of this host: which a job may take, and that no two jobs take the same.

What there is to choose from, the first that says it:

- `LONGTREK_DEVICES`, a list of names with commas, for a driver whose devices `nvidia-smi` does not list;
- `nvidia-smi -L`, which in a container answers only where the driver was let in (`--nv`).

Where `CUDA_VISIBLE_DEVICES` is set, as Slurm sets it for a job, only what it names is taken. A device is held by a
lock on a file of this host, named after the device itself and not after its number, since a cluster numbers each
job's devices from 0. Whoever inherits the open file holds the device too: it is free again once nothing of the
engine is left.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from longtrek import messages
from longtrek.answers.locks import claim, holder, wait_for
from longtrek.errors import LongtrekError

DEVICES = "LONGTREK_DEVICES"
LOCKS = "LONGTREK_LOCKS"
VISIBLE = "CUDA_VISIBLE_DEVICES"
# Not the temporary folder of the user or the job: jobs of one host must meet there, in containers or not.
LOCK_FOLDER = "/tmp/longtrek-devices"
LOOK_EVERY_S = 1.0
LONGEST_NAME = 200  # a device's name is the name of its lock's file
LISTED = re.compile(r"^GPU (\d+): .*\(UUID: (GPU-[0-9a-fA-F-]+)\)", re.MULTILINE)


@dataclass(frozen=True)
class Device:
    """A GPU: its name in `CUDA_VISIBLE_DEVICES`, and an identity that is the same for every job of the host."""

    name: str
    identity: str


@dataclass(frozen=True)
class Lease:
    """Devices held for an engine: the variables that tell it which, and the locks that its processes inherit."""

    environment: Mapping[str, str]
    handles: tuple[int, ...]


def devices_here() -> list[Device]:
    """The devices that this process may choose from, each once, free or not; none where no driver answers."""
    known = _known()
    visible = os.environ.get(VISIBLE)
    if visible is not None:
        named = [name.strip() for name in visible.split(",")]
        known = [device for name in named for device in known if name and _is(device, name)]
    # One that is named twice is still one: a job would wait for itself.
    return list(dict.fromkeys(known))


@contextlib.contextmanager
def no_lease() -> Iterator[Lease]:
    """What an engine without GPUs holds."""
    yield Lease({}, ())


@contextlib.contextmanager
def lease(count: int, say: Callable[[str], None] | None = None) -> Iterator[Lease]:
    """Hold `count` devices that no other job of this host holds, all at once, until the block ends.

    Waits, and says for whom, while too few are free; jobs that choose from the same devices are served in turn, so
    that a job that needs many is not overtaken for ever.

    Raises:
        LongtrekError: there are fewer than `count` devices to choose from; the message says what to do.
    """
    tell = say or messages.tell
    choice = devices_here()
    if len(choice) < count:
        raise LongtrekError(_too_few(count, choice))
    folder = _lock_folder()
    with _turn(folder, choice, tell):
        held = _wait(folder, choice, count, tell)
    try:
        names = ",".join(device.name for device in held)
        # CUDA would number devices by their speed, nvidia-smi and Slurm do by their place on the bus.
        yield Lease({VISIBLE: names, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, tuple(held.values()))
    finally:
        for handle in held.values():
            os.close(handle)


def _known() -> list[Device]:
    pretended = os.environ.get(DEVICES)
    if pretended is not None:
        named = [name.strip() for name in pretended.split(",") if name.strip()]
        for name in named:
            _check_name(name)
        return [Device(name, name) for name in named]
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    listed = subprocess.run([tool, "-L"], capture_output=True, text=True, check=False)
    return [Device(*found) for found in LISTED.findall(listed.stdout)] if listed.returncode == 0 else []


def _check_name(name: str) -> None:
    """Refuse what no lock can be named after, and the path of a file or folder, which this list does not take."""
    path = "/" in name and (Path(name).is_dir() or Path(name).is_file())
    if path or name in (".", "..") or len(quote(name, safe="")) > LONGEST_NAME:
        raise LongtrekError(
            f"{DEVICES}: {name[:80]!r} is no device's name; expected names with commas between them, such as "
            f"GPU-0,GPU-1 (the folder of their locks is {LOCKS})"
        )


def _is(device: Device, name: str) -> bool:
    """Whether a word of `CUDA_VISIBLE_DEVICES` means a device: its number, or the beginning of its identity."""
    return name == device.name or (name.startswith("GPU-") and device.identity.startswith(name))


def _too_few(count: int, choice: list[Device]) -> str:
    seen = f" ({', '.join(device.name for device in choice)})" if choice else ""
    return f"this job needs {count} GPUs and may use {len(choice)} here{seen}. {_remedy(count)}"


def _remedy(count: int) -> str:
    contained = "APPTAINER_CONTAINER" in os.environ or "SINGULARITY_CONTAINER" in os.environ
    if contained and DEVICES not in os.environ and shutil.which("nvidia-smi") is None:
        return (
            "The container was started without the host's driver: give Apptainer --nv, with `apptainer-args: "
            '"--nv"` in the profile (profiles/default has it) or --singularity-args="--nv" on the command line'
        )
    if "SLURM_JOB_ID" in os.environ:
        return (
            f"Slurm gave this job no more: it is asked for with the rule's `resources: gpu`, which must reach sbatch "
            f"as --gpus={count}; use `--profile profiles/slurm`, and a partition (slurm_partition) whose nodes have "
            "them"
        )
    if VISIBLE in os.environ:
        return f"{VISIBLE}={os.environ[VISIBLE]!r} leaves no more: unset it or name more devices there"
    return (
        "Run where they are (on a cluster with `--profile profiles/slurm`), or set gpus and tensor_parallel of the "
        f"model's entry to what is here, with `--resources gpu=N` for what all jobs may use; {DEVICES} names devices "
        "that nvidia-smi -L does not list"
    )


@contextlib.contextmanager
def _turn(folder: Path, choice: list[Device], tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the only place at the head of the queue for these devices."""
    among = hashlib.sha256(",".join(sorted(device.identity for device in choice)).encode()).hexdigest()[:16]
    handle = _open(folder / f"queue-{among}")
    try:
        if not claim(handle):
            tell(f"waiting for GPUs behind {holder(handle)}, which waits for some too")
            wait_for(handle)
        yield
    finally:
        os.close(handle)


def _wait(folder: Path, choice: list[Device], count: int, tell: Callable[[str], None]) -> dict[Device, int]:
    """Devices with their locks, once enough are free at the same time."""
    told = ""
    while True:
        held, others = _take(folder, choice, count)
        if len(held) == count:
            return held
        for handle in held.values():
            os.close(handle)
        line = f"waiting for {count} free GPUs of {len(choice)}; in use: {'; '.join(others)}"
        if line != told:
            tell(line)
            told = line
        time.sleep(LOOK_EVERY_S)


def _take(folder: Path, choice: list[Device], count: int) -> tuple[dict[Device, int], list[str]]:
    """What is free of a choice, at most `count` devices, and who holds the others."""
    held: dict[Device, int] = {}
    others: list[str] = []
    for device in choice:
        if len(held) == count:
            break
        handle = _open(folder / quote(device.identity, safe=""))
        if claim(handle):
            held[device] = handle
        else:
            others.append(f"{device.name} by {holder(handle)}")
            os.close(handle)
    return held, others


def _lock_folder() -> Path:
    """A folder of this host that every user may write to, since GPUs are the host's."""
    folder = Path(os.environ.get(LOCKS, LOCK_FOLDER))
    try:
        folder.mkdir(parents=True)
        folder.chmod(0o1777)
    except OSError as error:
        if not folder.is_dir():
            raise LongtrekError(_no_lock(folder, error)) from None
    return folder


def _no_lock(path: Path, error: OSError) -> str:
    named = f"{LOCKS} names it" if LOCKS in os.environ else f"{LOCKS} is not set"
    return (
        f"{path}: no lock on a GPU can be kept here ({error.strerror}; {named}); expected a folder of this host that "
        f"every job on it may write to, such as {LOCK_FOLDER}: mend it, or set {LOCKS} to another, the same for all"
    )


def _open(path: Path) -> int:
    try:
        return _opened(path)
    except OSError as error:
        raise LongtrekError(_no_lock(path, error)) from None


def _opened(path: Path) -> int:
    # First without creating: a folder with the sticky bit may refuse that for a file of another user.
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, os.O_RDWR)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    os.fchmod(handle, 0o666)
    return handle
