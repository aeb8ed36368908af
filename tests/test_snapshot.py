"""Snapshots: a changed one is refused, and a rebuild from one needs no network."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longtrek.corpus import (
    snapshot,
)
from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl
from semantic_scholar_server import PDF
from small_corpora import little_debian, little_plos, run, whole_chain


@pytest.mark.parametrize("harm", ["change", "remove"])
def test_a_snapshot_that_was_changed_is_refused(tmp_path: Path, harm: str) -> None:
    corpus = little_debian(tmp_path)
    run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror")
    file = tmp_path / "s" / "files" / "p_two.pdf"
    file.unlink() if harm == "remove" else file.write_bytes(PDF)
    with pytest.raises(LongtrekError, match=r"p_two\.pdf: (SHA-256 is|missing)"):
        snapshot.read(tmp_path / "s")


@pytest.mark.parametrize(
    "manifest",
    [
        *("", "{", "[]", "null", "{}", "[" * 9_000, "\udcff", '{"format": 2}'),
        *('{"format": 1}', '{"format": 1, "files": []}', '{"format": 1, "files": {}, "skipped": [], "settings": "x"}'),
    ],
)
def test_a_damaged_manifest_is_refused_with_its_name(tmp_path: Path, manifest: str) -> None:
    (tmp_path / snapshot.MANIFEST).write_text(manifest, errors="surrogateescape")
    with pytest.raises(LongtrekError, match=snapshot.MANIFEST):
        snapshot.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("articles", {"id": 1}),
        ("articles", []),
        ("articles", {"id": "a", "x": 1}),
        ("citations", {"a": 1}),
        ("citations", 5),
    ],
)
def test_a_snapshots_row_of_another_shape_is_refused(tmp_path: Path, name: str, row: Any) -> None:
    for each in ("articles", "citations"):
        write_jsonl(tmp_path / f"{each}.jsonl", [row] if each == name else [])
    names = ("articles.jsonl", "citations.jsonl")
    hashes = {each: hashlib.sha256((tmp_path / each).read_bytes()).hexdigest() for each in names}
    manifest = {"format": 1, "files": hashes, "skipped": [], "settings": "x"}
    (tmp_path / snapshot.MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(LongtrekError, match="make the snapshot again"):
        snapshot.read(tmp_path)


def test_offline_never_fetches(tmp_path: Path) -> None:
    corpus = little_debian(tmp_path)
    with pytest.raises(LongtrekError, match="run without --offline"):
        run("articles", "--corpus", corpus, "--out", tmp_path / "s", "--mirror", tmp_path / "mirror", "--offline")


NO_ROUTE = """
import socket, sys
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
except OSError:
    pass
else:
    sys.exit("there is a route out")
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import small_corpora
small_corpora.whole_chain(Path(sys.argv[2]), Path(sys.argv[3]))
"""


def test_a_rebuild_from_a_snapshot_needs_no_network(tmp_path: Path) -> None:
    corpus, wheel = little_plos(tmp_path)
    whole_chain(corpus, tmp_path / "first", "--wheel", wheel)
    shutil.copytree(tmp_path / "first" / "s", tmp_path / "again" / "s")
    wheel.unlink()
    isolated = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*isolated, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets no one make a network namespace (unshare --net)")
    command = [
        *isolated,
        sys.executable,
        "-c",
        NO_ROUTE,
        str(Path(__file__).parent),
        str(corpus),
        str(tmp_path / "again"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("articles.parquet", "citations.parquet", "collections.parquet", "markdown/journal.a.md"):
        assert (tmp_path / "again" / "o" / name).read_bytes() == (tmp_path / "first" / "o" / name).read_bytes()
