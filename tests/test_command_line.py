"""Bad input at the command line: one message that says what and where, exit code 1 or 2, and never a stack trace."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl, write_jsonl
from small_documents import small_document

DOCUMENT = small_document("arithmetic", "ordered", 1)
ANSWER = {"id": DOCUMENT["id"], "text": DOCUMENT["expected"]}
ROW = json.dumps(DOCUMENT).encode() + b"\n"
ANSWER_ROW = json.dumps(ANSWER).encode() + b"\n"
CORRECT = [True] * DOCUMENT["records"]


def longtrek(*arguments: object, given: bytes = b"", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run the command line as a process of its own."""
    command = [sys.executable, "-m", "longtrek", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, env={**os.environ, **environment}, check=False)


def refused(done: "subprocess.CompletedProcess[bytes]") -> str:
    """The message of a command that must have failed with one."""
    message = done.stderr.decode()
    assert done.returncode in (1, 2)
    assert "Traceback" not in message and len(message) < 2000
    return message


def compressed(content: bytes) -> bytes:
    """One zstd frame."""
    return zstandard.ZstdCompressor().compress(content)


def score(folder: Path, documents: bytes, answers: bytes, name: str = "answers.jsonl") -> Any:
    """Score answers, given as bytes of two files, at the command line."""
    (folder / "documents.jsonl").write_bytes(documents)
    (folder / name).write_bytes(answers)
    return longtrek("score", "transduction", folder / "documents.jsonl", folder / name)


@pytest.mark.parametrize(
    ("documents", "answers"),
    [
        (b"\xef\xbb\xbf" + ROW, b"\xef\xbb\xbf" + ANSWER_ROW),
        (ROW.replace(b"\n", b"\r\n"), ANSWER_ROW.replace(b"\n", b"\r\n")),
        (b"\n" + ROW.rstrip(), b" \n" + ANSWER_ROW.rstrip()),
        (compressed(ROW), compressed(ANSWER_ROW)),
        (compressed(ROW[:50]) + compressed(ROW[50:]), ANSWER_ROW),
    ],
    ids=["byte order mark", "CRLF", "blank lines", "zstd under another name", "two frames"],
)
def test_lines_are_read_however_they_were_saved(tmp_path: Path, documents: bytes, answers: bytes) -> None:
    done = score(tmp_path, documents, answers)
    (line,) = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, line["status"]) == (0, "scored")
    assert line["paper"]["correct"] == line["strict"]["correct"] == CORRECT


@pytest.mark.parametrize("given", [ANSWER_ROW, compressed(ANSWER_ROW)], ids=["plain", "zstd"])
def test_answers_may_come_from_standard_input(tmp_path: Path, given: bytes) -> None:
    (tmp_path / "documents.jsonl").write_bytes(ROW)
    done = longtrek("score", "transduction", tmp_path / "documents.jsonl", "-", given=given)
    assert json.loads(done.stdout)["paper"]["correct"] == CORRECT
    assert "both" in refused(longtrek("score", "transduction", "-", "-", given=ROW))


@pytest.mark.parametrize(
    ("documents", "answers", "said"),
    [
        (ROW + b"null\n" + ROW, ANSWER_ROW, "row 1"),
        (b"null\n" + ROW, ANSWER_ROW, "row 0"),
        (b"7\n", ANSWER_ROW, "row 0"),
        (ROW + b"{\n", ANSWER_ROW, "line 2"),
        (ROW.decode().encode("utf-16"), ANSWER_ROW, "UTF-8"),
        (ROW, ANSWER_ROW.replace(b"[1]", b"\xff"), "line 1: not UTF-8"),
        (ROW, ANSWER_ROW.decode().encode("utf-16"), "UTF-8"),
        (ROW, b"[" * 50_000 + b"]" * 50_000, "line 1"),
        (ROW, b"null\n", "line 1"),
        (ROW, b'{"id": 1.0, "text": ""}\n', "line 1"),
        (ROW, json.dumps({"id": DOCUMENT["id"], "text": None}).encode(), "no text"),
        (ROW, json.dumps({"id": DOCUMENT["id"]}).encode(), "no text"),
        (ROW.replace(b'"ordered"', b'"sideways"'), ANSWER_ROW, "sideways"),
        (ROW.replace(b'"ordered"', b'"resolve"'), ANSWER_ROW, "resolve"),
    ],
)
def test_a_line_that_is_not_what_it_should_be_is_named(
    tmp_path: Path, documents: bytes, answers: bytes, said: str
) -> None:
    assert said in refused(score(tmp_path, documents, answers))


@pytest.mark.parametrize("kept", [0, 1, 20, -1])
def test_a_compressed_file_that_is_cut_short_is_an_error_and_not_a_shorter_file(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "rows.jsonl.zst"
    write_jsonl(path, [{"row": number} for number in range(2000)])
    assert len(list(read_jsonl(path))) == 2000
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(LongtrekError, match="too early"):
        list(read_jsonl(path))


def test_a_name_that_promises_compression_is_held_to_it(tmp_path: Path) -> None:
    assert "not zstd" in refused(score(tmp_path, ROW, ANSWER_ROW, "answers.jsonl.zst"))


@pytest.mark.parametrize("missing", ["nowhere.jsonl", "."])
def test_files_that_cannot_be_opened_are_named(tmp_path: Path, missing: str) -> None:
    (tmp_path / "documents.jsonl").write_bytes(ROW)
    for pair in (("documents.jsonl", missing), (missing, "documents.jsonl")):
        message = refused(longtrek("score", "transduction", *(tmp_path / name for name in pair)))
        assert str(tmp_path / missing) in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--family", "sums"], "uuid_sort"),
        (["--format", "resolve"], "no_ids"),
        (["--difficulty", "3"], "2, 4, 8, 16"),
        (["--difficulty", "1e400"], "number"),
        (["--difficulty", "nan"], "number"),
        (["--difficulty", "1/0"], "number"),
        (["--difficulty", ""], "number"),
        (["--horizon", "0"], "horizon"),
        (["--horizon", "100"], "237"),
        (["--horizon", "4K"], "integer"),
        (["--sample", "-1"], "sample"),
        (["--seed", "-1"], "seed"),
        (["--prompts", __file__], "test_command_line"),
        (["--prompts", "nowhere"], "nowhere"),
    ],
)
def test_a_document_that_cannot_be_is_refused(options: list[str], said: str) -> None:
    good = {"--family": "arithmetic", "--format": "ordered", "--difficulty": "2", "--horizon": "4096"}
    asked = good | {options[0]: options[1]}
    done = longtrek("document", *(word for pair in asked.items() for word in pair))
    assert said in refused(done)
    assert done.stdout == b""


def test_an_id_that_no_file_can_hold_is_printed_all_the_same(tmp_path: Path) -> None:
    row = json.dumps(DOCUMENT | {"id": "\ud800"}).encode()
    done = score(tmp_path, row, json.dumps({"id": "\ud800", "text": ""}).encode())
    assert (done.returncode, json.loads(done.stdout)["id"]) == (0, "\ud800")


def test_a_folder_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = longtrek("documents", "--horizon", 4096, "--samples", 1, "--cores", 1, "--out", blocked / "documents")
    assert str(blocked) in refused(done)


def test_a_full_disk_is_one_message_that_names_the_file_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "longtrek", "documents", "--horizon", "4096", "--samples", "1", "--cores", "1"]
    command = f"ulimit -f 16; exec {shlex.join([*words, '--out', str(tmp_path)])}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert str(tmp_path / "4096.jsonl.zst") in refused(done)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["table", "scitrek_table_7", "--results", "file"], "--results file: no such folder"),
        (["figure", "all", "--scores", "nowhere"], "--scores nowhere: no such folder"),
        (["sbom", "--out", "file"], "expected a folder, and a file stands there"),
        (["documents", "--samples", "1000000"], "1<=x<=100"),
        (["document", "--family", "lookup", "--format", "ordered", "--horizon", "1000000000"], "x<=1048576"),
        (["answers", "reference-solver", "transduction", "4096", "--documents", "file"], "file, row 0"),
    ],
)
def test_what_a_verb_cannot_take_is_told_in_a_message(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "file").write_text("5\n")
    command = [sys.executable, "-m", "longtrek", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2) and said in done.stderr and "Traceback" not in done.stderr
