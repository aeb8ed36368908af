"""Fetch files of a Debian pool by hash: from the mirrors that apt is configured with, or one that the user names."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import httpx

from longtrek.corpus.sources import Unavailable
from longtrek.errors import LongtrekError

APT_HELPER = Path("/usr/lib/apt/apt-helper")
TIMEOUT_S = 300


def mirrors(named: str | None) -> list[str]:
    """The mirrors to try, in order: the named one alone, or those that apt is configured with.

    Args:
        named: a URL, or a folder that holds `pool/`.

    Raises:
        LongtrekError: none is named and apt is not there or has none.
    """
    if named:
        return [named.rstrip("/") + "/"]
    if shutil.which("apt-get") and APT_HELPER.exists():
        command = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
        listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        if listed:
            return list(dict.fromkeys(listed))
    raise LongtrekError(
        "no Debian mirror: apt is not on this machine or has no mirror configured (`apt-get indextargets` lists none); "
        "name one with --mirror (a URL or a folder that holds pool/), or use a snapshot"
    )


def fetch(path: str, sha256: str, target: Path, named: str | None) -> None:
    """Fetch one pool file and check its SHA-256; nothing is left at `target` unless it is whole and right.

    Args:
        path: the file's path in the pool, `pool/main/…`.
        sha256: its hash, in hex.
        target: where to put it.
        named: the mirror that the user names, or None for apt's own.

    Raises:
        Unavailable: no mirror has it; a pool file can vanish with a point release of Debian.
    """
    tried = []
    target.parent.mkdir(parents=True, exist_ok=True)
    for mirror in mirrors(named):
        reason = _try(mirror, path, sha256, target, by_apt=named is None)
        if reason is None:
            return
        target.unlink(missing_ok=True)
        tried.append(f"{mirror}: {reason}")
    raise Unavailable(
        f"{path} is not to be had ({'; '.join(tried)}); a point release can remove a pool file: name a mirror that "
        "keeps it with --mirror, such as an archive of snapshots"
    )


def _try(mirror: str, path: str, sha256: str, target: Path, by_apt: bool) -> str | None:
    if by_apt:
        return _apt(mirror + path, sha256, target)
    if "://" not in mirror or mirror.startswith("file://"):
        local = Path(mirror.removeprefix("file://")) / path
        if not local.is_file():
            return "no such file"
        shutil.copyfile(local, target)
    else:
        try:
            response = httpx.get(mirror + path, follow_redirects=True, timeout=TIMEOUT_S)
        except httpx.HTTPError as error:
            return f"{type(error).__name__}: {error}"
        if response.status_code != 200:
            return f"HTTP {response.status_code}"
        target.write_bytes(response.content)
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    return None if found == sha256 else f"SHA-256 is {found}, expected {sha256}"


def _apt(url: str, sha256: str, target: Path) -> str | None:
    """Download with apt's own client, so that its proxy and certificate settings hold; it checks the hash."""
    command = [str(APT_HELPER), "download-file", url, str(target), f"SHA256:{sha256}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {TIMEOUT_S} s"
    if done.returncode == 0 and target.is_file():
        return None
    complaints = [line for line in (done.stderr + done.stdout).splitlines() if line.startswith(("E:", "Err"))]
    return " ".join(complaints[-1:]) or f"apt-helper ended with {done.returncode}"
