"""Human annotation: what is put to people holds no answer, and what they give fills Table 6."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Run
from filled_in_forms import database, filled_in, item, labelled
from longtrek.analysis.artifacts import write_table
from longtrek.analysis.scitrek_run import SciTrekRun, read
from longtrek.errors import LongtrekError
from longtrek.files import read_jsonl
from longtrek.scitrek import human
from longtrek.scitrek.annotation import commands, sample
from longtrek.scitrek.annotation.answers import Given, collected, summary
from longtrek.scitrek.annotation.sample import CONTROL
from scitrek_run import build


def questions(collections: int, each: int = 12) -> list[dict[str, Any]]:
    skills = ("aggregating", "sorting", "filtering", "relational_filtering")
    return [
        {"id": f"q{c}-{n}", "collection": f"c{c}", "skill": skills[n % 4], "text": f"Q {c} {n}?", "answer": str(n)}
        for c in range(collections)
        for n in range(each)
    ]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 4), st.integers(0, 99))
def test_each_skill_has_its_number_and_a_session_never_has_one_collection_twice(
    collections: int, per_skill: int, per_session: int, seed: int
) -> None:
    rows = questions(collections)
    drawn = sample.draw(rows, seed, per_skill, per_session)
    assert drawn == sample.draw(rows, seed, per_skill, per_session)
    assert set(Counter(one.skill for one in drawn).values()) == {min(per_skill, 3 * collections)}
    sessions: dict[int, list[str]] = defaultdict(list)
    for one in drawn:
        sessions[one.session].append(one.collection)
    assert list(sessions) == list(range(1, len(sessions) + 1))
    assert all(len(set(members)) == len(members) <= per_session for members in sessions.values())


def test_another_seed_draws_other_questions() -> None:
    rows = questions(12)
    assert {one.id for one in sample.draw(rows, 1, 5)} != {one.id for one in sample.draw(rows, 2, 5)}


def test_every_session_has_one_control_question_that_its_tables_answer() -> None:
    databases = {f"c{n}": database("One", "Two", "Three") for n in range(6)}
    items = sample.with_controls(sample.draw(questions(6), 1, 5), databases, 1)
    controls = [one for one in items if one.skill == CONTROL]
    assert [one.session for one in controls] == sorted({one.session for one in items})
    for one in controls:
        assert one.id.endswith("_testing")
        name = one.question.removeprefix("How many authors does the article with the identifier ").split(" ")[0]
        (count,) = [row[3] for row in databases[one.collection].articles if row[0] == name]
        assert one.gold == str(count)


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(LongtrekError, match="no question to annotate"):
        sample.draw([], 1)


def given_(number: int, annotator: str, answer: str | None, question: str = "How many?", where: str = "f") -> Given:
    return Given(where, annotator, f"q{number}", question, answer)


@pytest.mark.parametrize(
    ("given_answers", "said"),
    [
        ([given_(9, "Ann", "2", where="a.xlsx, row 4")], "a.xlsx, row 4: the id 'q9' is none of the sample's"),
        ([given_(1, "Ann", "2", "Which?")], "beside the id q1 stands 'Which\\?'"),
        (
            [given_(1, "Ann", "2", where="a.xlsx"), given_(1, " ann", "2", where="b.xlsx")],
            r"b.xlsx: ' ann' answers q1 a second time \(first: a.xlsx\)",
        ),
    ],
)
def test_edited_ids_and_an_annotator_who_answers_twice_are_errors(given_answers: list[Given], said: str) -> None:
    with pytest.raises(LongtrekError, match=said):
        collected([item(1), item(2)], given_answers)


def test_an_import_counts_agreement_alignment_and_control_questions() -> None:
    items = [item(1), item(2, gold="O'Hagan"), item(3, skill=CONTROL, id="session-1_testing", gold="4")]
    texts_ = {"Ann": ("2,3", "O'Hagan", "4"), "Bo": ("2, 3", "Ek", "5"), "Cy": ("3, 2", "ek", None)}
    answers = [
        Given("f", who, one.id, one.question, text)
        for who, row in texts_.items()
        for one, text in zip(items, row, strict=True)
    ]
    rows = collected(items, answers)
    assert [(row["id"], row["annotator"]) for row in rows][:4] == [
        ("q1", "Ann"),
        ("q1", "Bo"),
        ("q1", "Cy"),
        ("q2", "Ann"),
    ]
    assert len(rows) == 8, "what was left open is no answer"
    said = summary(items, rows)
    assert said[0].startswith("3 annotators, 6 answers to 2 of 2 questions; 2 have exactly 3")
    assert said[1:4] == [f"control questions of {who} right" for who in ("Ann: 1 of 1", "Bo: 0 of 1", "Cy: 0 of 0")]
    assert said[-1] == "all: agree 100.0 %, align 50.0 %"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder with questions and tables, and its config."""
    folder = tmp_path_factory.mktemp("run")
    run = Run(folder)
    run.add_model("solver-a")
    run.config["results"] = str(folder / "results")
    run.add_scitrek("solver-a")
    assert run.config_file.exists()
    build(folder / "results", models=(), count=21)
    return folder


def call(command: Any, *arguments: object) -> str:
    return str(
        CliRunner().invoke(command, [*map(str, arguments)], catch_exceptions=False, standalone_mode=False).output
    )


def test_three_annotators_fill_table_6(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    config = folder / "run.yaml"
    config.write_text(config.read_text().replace(str(finished), str(folder)))
    said = call(commands.export, "--config", config, "--per-skill", 4)
    made = folder / "results" / "annotations"
    assert "24 questions in" in said or "and the run has no more" in said
    assert sorted(path.name for path in made.iterdir()) == [
        "label_studio.json", "label_studio.xml", "questions.xlsx", "sample.jsonl",
    ]  # fmt: skip
    items = sample.read_sample(made / "sample.jsonl")
    shown = (made / "label_studio.json").read_text(encoding="utf-8")
    assert all(f'"{key}"' not in shown for key in ("gold", "answer", "skill"))
    right = {one.id: one.gold for one in items}
    half = {one.id: one.gold if place % 2 else "0, 0" for place, one in enumerate(items)}
    files = [
        filled_in(tmp_path / "ann.xlsx", made / "questions.xlsx", "Ann", right),
        filled_in(tmp_path / "bo.xlsx", made / "questions.xlsx", "Bo", half),
        tmp_path / "cy.json",
    ]
    tasks = json.loads(shown)
    files[2].write_text(json.dumps([labelled(task, 3, "never so") for task in tasks]), encoding="utf-8")
    said = call(commands.import_, *files, "--config", config)
    assert "3 annotators" in said and "control questions of 3: 0 of" in said
    rows = list(read_jsonl(made / "annotations.jsonl"))
    assert len(rows) == 3 * len(items)
    odd = [one for place, one in enumerate(items) if place % 2 and one.skill != CONTROL]
    whole = [one for one in items if one.skill != CONTROL]
    share = f"{100 * len(odd) / len(whole):.1f}"
    assert f"all: agree {share} %, align {share} %" in said
    run = SciTrekRun("quick", "paper", **read(folder / "results", {"annotations"}, ()))
    table = write_table("scitrek_table_6", run, tmp_path)[0].read_text(encoding="utf-8").splitlines()
    assert table[-1].split(",")[1:4] == [share, share, str(len(whole))]


def test_a_second_export_never_orphans_what_annotators_have(finished: Path, tmp_path: Path) -> None:
    arguments = ("--config", finished / "run.yaml", "--out", tmp_path)
    call(commands.export, *arguments)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    call(commands.export, *arguments)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(LongtrekError, match="another sample was exported before"):
        call(commands.export, *arguments, "--per-skill", 2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_cannot_be_imported_is_an_error_and_writes_nothing(finished: Path, tmp_path: Path) -> None:
    config = finished / "run.yaml"
    call(commands.export, "--config", config, "--out", tmp_path, "--per-skill", 2)
    items = sample.read_sample(tmp_path / "sample.jsonl")
    good = filled_in(tmp_path / "a.xlsx", tmp_path / "questions.xlsx", "Ann", {items[0].id: "1"})
    arguments = ("--config", config, "--sample", tmp_path / "sample.jsonl")
    with pytest.raises(LongtrekError, match="a second time"):
        call(commands.import_, good, shutil.copy(good, tmp_path / "b.xlsx"), *arguments)
    with pytest.raises(LongtrekError, match=r"neither .xlsx nor .json"):
        call(commands.import_, shutil.copy(good, tmp_path / "b.csv"), *arguments)
    with pytest.raises(LongtrekError, match="no question is answered"):
        call(commands.import_, filled_in(tmp_path / "b.xlsx", tmp_path / "questions.xlsx", "Ann", {}), *arguments)
    with pytest.raises(LongtrekError, match="expected the sample"):
        call(commands.import_, good, "--config", config)
    sample_file = tmp_path / "sample.jsonl"
    sample_file.write_text(sample_file.read_text().replace('"question":"', '"question":"Once: '))
    with pytest.raises(LongtrekError, match="written again since the export"):
        call(commands.import_, good, *arguments)
    sample_file.write_text('{"id": 1}\n')
    with pytest.raises(LongtrekError, match=r"line 1: .* is no question of a sample"):
        call(commands.import_, good, *arguments)
    assert not (finished / "results" / "annotations").exists()


def test_the_export_is_the_same_in_another_process_with_another_hash_seed(finished: Path, tmp_path: Path) -> None:
    arguments = ["annotation", "export", "--config", str(finished / "run.yaml"), "--per-skill", "3", "--out"]
    command = [sys.executable, "-m", "longtrek", *arguments, str(tmp_path / "there")]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "77"})
    call(commands.export, *arguments[2:], tmp_path / "here")
    assert len(list((tmp_path / "here").iterdir())) == 4
    for path in (tmp_path / "here").iterdir():
        assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes(), path.name


def annotation(instance: str, user: str, text: str) -> dict[str, Any]:
    meta = {"sql_type": "multi_ran_organizing", "question": "?", "answer": "2, 3"}
    return {"instance_id": instance, "user_id": user, "meta": meta, "label_annotations": {"answer": {"text_box": text}}}


def test_agreement_and_alignment_need_two_of_three() -> None:
    rows = [annotation("a", user, text) for user, text in zip("uvw", ("2,3", "2, 3", "9"), strict=True)]
    rows += [annotation("b", user, text) for user, text in zip("uvw", ("9", "9", "2, 3"), strict=True)]
    rows += [annotation("c", user, text) for user, text in zip("uvw", ("1", "2", "3"), strict=True)]
    rows += [annotation("d", "u", "2, 3"), annotation("e_testing", "u", "2, 3")]
    skill, everything = human.agreement(human.annotations(rows))
    assert (skill["skill"], everything["skill"]) == ("sorting", "all")
    assert (skill["questions"], skill["left_out"]) == (3, 1)
    assert (skill["agree"], skill["align"]) == (pytest.approx(200 / 3), pytest.approx(100 / 3))
