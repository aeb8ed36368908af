"""`longtrek plan`: what a run takes and what cannot fit, said before anything runs."""

import copy
import csv
import functools
import json
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Run
from longtrek.answers.model import Model, Rates, find_model
from longtrek.answers.preflight import Tokenizer, preflight
from longtrek.answers.studies import transduction_request
from longtrek.cli import LONGTREK
from longtrek.paths import ROOT
from longtrek.plan.commands import plan
from longtrek.plan.counting import SPLIT, digit_tokens, estimates, margin
from longtrek.plan.jobs import Job, need
from longtrek.transduction.documents import documents_of
from longtrek.transduction.grid import grid, groups
from longtrek.transduction.prompts import read_prompts
from longtrek.transduction.tokens import PATTERN, count, encoding_file, verified_ranks
from scitrek_run import build
from test_models import tokenizer_folder

COUNTS = Path(__file__).with_name("smollm2_tokens.csv")
SMALL = "SmolLM2-135M-Instruct"
SPLITS = {"engine": "vllm", "repository": "org/splits", "gpus": 1, "digits": "split"}
TEXTS = st.text(alphabet=st.characters(max_codepoint=126, min_codepoint=10), max_size=200)


def planned(config: Path, *options: str) -> str:
    """What `longtrek plan` prints."""
    done = CliRunner().invoke(plan, [str(config), "--cores", "1", *options], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def of_model(config: Path, name: str) -> Any:
    """One model's part of the plan's JSON."""
    (found,) = (one for one in json.loads(planned(config, "--json"))["models"] if one["name"] == name)
    return found


# Tokens


@functools.cache
def splitting() -> tiktoken.Encoding:
    """`cl100k_base`, but for its digits, of which each is a token."""
    pattern = PATTERN.replace(r"\p{N}{1,3}+", r"\p{N}")
    assert pattern != PATTERN
    return tiktoken.Encoding(
        "split", pat_str=pattern, mergeable_ranks=verified_ranks(encoding_file()), special_tokens={}
    )


@settings(deadline=None)
@given(TEXTS)
def test_only_digits_change_with_a_tokenizer_that_splits_them(text: str) -> None:
    assert estimates(text, count(text))[SPLIT] == len(splitting().encode(text))


@given(TEXTS)
def test_digits_are_counted_alone_and_by_threes(text: str) -> None:
    runs = [len(run) for run in re.findall("[0-9]+", text)]
    assert digit_tokens(text) == (sum(runs), sum(-(-run // 3) for run in runs))


def counted() -> dict[str, tuple[int, int]]:
    """What SmolLM2's own tokenizer counts of one document a cell: prompt and gold output."""
    with COUNTS.open(newline="") as lines:
        return {row["id"]: (int(row["prompt"]), int(row["gold"])) for row in csv.DictReader(lines)}


def tier_of(horizon: int) -> list[dict[str, Any]]:
    """One document of each cell of the frozen grid."""
    seed, prompts = 20260917, read_prompts()
    return [one for group in groups(grid().specs(horizon, 1)) for one in documents_of(group, seed, prompts)]


def test_estimates_are_within_their_margin_of_a_tokenizer_that_splits_digits() -> None:
    known = counted()
    for document in tier_of(8192):
        texts = ((document["prompt"], document["prompt_tokens"]), (document["expected"], document["expected_tokens"]))
        margins = margin(document["family"], document["format"])
        for (text, cl100k), true, most in zip(texts, known[document["id"]], margins, strict=True):
            estimate = estimates(text, cl100k)[SPLIT]
            assert abs(true - estimate) <= most * estimate, document["id"]
            assert abs(true - estimate) <= abs(true - cl100k), document["id"]


def test_the_known_counts_are_the_tokenizers_own() -> None:
    folder = ROOT / "results" / "weights" / SMALL
    if not (folder / "tokenizer.json").is_file():
        pytest.skip(f"{folder} has no tokenizer; `make reproduce` makes it")
    tokenizer = Tokenizer(find_model(SMALL), folder)
    documents = tier_of(8192)
    prompts = tokenizer.count([one["prompt"] for one in documents])
    golds = tokenizer.count([one["expected"] for one in documents])
    assert dict(zip((one["id"] for one in documents), zip(prompts, golds, strict=True), strict=True)) == counted()


# Documents


def test_the_papers_config_names_the_documents_whose_right_answer_cannot_fit(tmp_path: Path) -> None:
    config = papers(tmp_path, models=["Qwen3.5-35B-A3B", "Kimi-Linear-48B-A3B"], horizons=[131072])
    said = planned(config)
    cut = re.search(
        r"Documents that Qwen3\.5-35B-A3B cannot answer in full; estimate \(each digit a token\)\n(.*?)\n\n", said, re.S
    )
    assert cut is not None
    assert re.search(r"arithmetic-ordered-2 at 131072; up to [\d,]+ tokens to write, cap 98,304", cut[1])
    assert "Documents that Kimi-Linear-48B-A3B cannot answer in full" in said
    found = {one["id"]: one for one in of_model(config, "Qwen3.5-35B-A3B")["documents"]}
    worst = found["arithmetic-ordered-2-131072-0"]
    assert worst["outcome"] == "gold output over the cap" and worst["gold_tokens"] > worst["max_tokens"] == 98304
    assert "arithmetic-ordered-16-131072-0" not in found or found["arithmetic-ordered-16-131072-0"]["outcome"] == "fits"


def papers(folder: Path, models: list[str], horizons: list[int], scitrek: bool = False) -> Path:
    """The papers' config, for some models, tiers and one sample of each cell."""
    content = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    content["models"], content["published"] = str(ROOT / "config" / "models"), str(ROOT / "config" / "published")
    content["results"] = str(folder / "results")
    part = content["transduction"]
    part |= {"prompts": str(ROOT / "config" / part["prompts"]), "frozen": None, "models": models}
    part["ask"] |= {"horizons": horizons, "samples": [0]}
    part["samples"] = 1
    if scitrek:
        for key in ("corpus", "prompts"):
            content["scitrek"][key] = str(ROOT / "config" / content["scitrek"][key])
    else:
        content["scitrek"] = None
    path = folder / "papers.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize("window", [2048, 3500, 4500, 8192])
def test_a_tokenizer_at_hand_gives_the_preflights_own_verdicts(run: Run, tmp_path: Path, window: int) -> None:
    template = "{% for m in messages %}user {{ m.content }} {% endfor %}assistant"
    folder = tokenizer_folder(tmp_path / "tokenizer", template, begins=False)
    run.add_model("words", **(SPLITS | {"window": window, "weights": {"folder": str(folder)}}))
    found = of_model(run.config_file, "words")
    model = find_model("words", run.models)
    requests = [transduction_request(one, False) for one in asked_of(run)]
    prepared = preflight(model, requests, Tokenizer(model, folder))
    told = {one["id"]: (one["prompt_tokens"], one["gold_tokens"], one["max_tokens"]) for one in found["documents"]}
    assert told == {
        one.request.id: (one.prompt_tokens, one.gold_tokens, one.max_tokens) for one in prepared if not one.fits
    }
    (job,) = found["jobs"]
    kept = [one for one in prepared if one.refusal is None]
    assert (job["prompts"], job["not_asked"]) == (len(kept), len(prepared) - len(kept))
    assert job["tokens_in"] == sum(one.prompt_size for one in kept)
    assert job["tokens_most"] == sum(one.max_tokens for one in kept)
    assert found["counted_by"] == "its own tokenizer"


def asked_of(run: Run) -> list[dict[str, Any]]:
    """The documents that a small run asks: the easiest of each format, one sample."""
    prompts = read_prompts()
    built = [
        one
        for group in groups(grid().specs(4096, 1))
        for one in documents_of(group, run.config["transduction"]["seed"], prompts)
    ]
    easiest = {name: {form: ranks[0] for form, ranks in forms.items()} for name, forms in grid().families.items()}
    return [one for one in built if one["difficulty"] == easiest[one["family"]][one["format"]]]


def test_equal_plans_on_any_number_of_cores(run: Run) -> None:
    run.add_model("splits", **(SPLITS | {"window": 4096}))
    one = json.loads(planned(run.config_file, "--json"))
    two = CliRunner().invoke(plan, [str(run.config_file), "--cores", "2", "--json"], catch_exceptions=False)
    assert json.loads(two.output) == one


# Jobs, hours, devices


def job_of(**changes: Any) -> Job:
    content: dict[str, Any] = {"model": "m", "study": "transduction", "work": "4096", "prompts": 100, "not_asked": 0}
    content |= {"tokens_in": 360_000, "read": 180_000, "tokens_out": 72_000, "tokens_most": 144_000, "request": 5_000}
    return Job(**(content | {"estimated": False} | changes))


def test_hours_are_the_start_the_reading_and_the_writing_at_the_assumed_rates() -> None:
    model = Model("m", "vllm", gpus=2, max_concurrency=10, in_flight_tokens=50_000, rates=Rates(1000, 10, 80))
    # 180 s and 20 s of weights; 180 s to read; ten at once would write 100 tokens a second, the job writes 80 at most
    assert job_of().hours(model, 20e9, 72_000) == pytest.approx((200 + 180 + 900) / 3600)
    # four fit in flight together
    assert job_of(request=12_500).hours(model, 20e9, 72_000) == pytest.approx((200 + 180 + 1800) / 3600)
    assert job_of(prompts=0, read=0).hours(model, 20e9, 0) == 0
    total = need(model, [job_of(), job_of(request=12_500)], 20e9)
    assert total.hours is not None and total.gpu_hours == pytest.approx(2 * total.hours)
    assert total.longest == pytest.approx((200 + 180 + 1800) / 3600)


def test_shards_are_jobs_that_share_a_tiers_work(run: Run) -> None:
    rates = {"prefill": 1000, "stream": 10, "decode": 1000}
    run.add_model("whole", **(SPLITS | {"window": 8192, "rates": rates}))
    run.add_model("parted", **(SPLITS | {"window": 8192, "rates": rates, "shards": {"4096": 3}}))
    whole, parted = (one["need"] for one in json.loads(planned(run.config_file, "--json"))["models"][1:])
    assert (whole["jobs"], parted["jobs"]) == (1, 3)
    assert parted["tokens_in"] == whole["tokens_in"]
    assert parted["longest"] == pytest.approx(parted["hours"] / 3)
    assert whole["longest"] == whole["hours"] < parted["hours"]


def test_the_authors_own_documents_are_planned_as_they_are(run: Run) -> None:
    sums = [(f"{n % 9}+1", n % 9 + 1) for n in range(1, 40)]
    row = {
        "type": "streaming_sum",
        "question": "Solve these.\n" + "\n".join(f"[{n}]{one}" for n, (one, _) in enumerate(sums, 1)),
        "expressions": [{"expr": one, "answer": answer} for one, answer in sums],
        "max_operands": 2,
        "target_tokens": 2048,
        "responses_create_params": {"max_output_tokens": 100},
    }
    (run.folder / "prepared.jsonl").write_text(json.dumps(row) + "\n")
    run.config["transduction"]["released"] = "prepared.jsonl"
    run.add_model("splits", **(SPLITS | {"window": 8192}))
    found = of_model(run.config_file, "splits")
    (only,) = found["documents"]
    gold = "\n".join(f"[{n}]{one}={answer}" for n, (one, answer) in enumerate(sums, 1))
    assert only["gold_tokens"] == len(gold)  # nothing but digits and marks
    assert (only["outcome"], only["max_tokens"]) == ("gold output over the cap", 100)
    assert found["jobs"][0]["prompts"] == 1


def test_a_hosted_models_price_is_in_the_plan() -> None:
    model = Model("m", "endpoint", usd_per_million={"in": 2.0, "out": 8.0}, rates=Rates(1000, 10, 80))
    total = need(model, [job_of()], 0)
    assert (total.dollars, total.dollars_most) == pytest.approx((0.72 + 0.576, 0.72 + 1.152))
    assert total.gpu_hours == 0


def test_the_prefix_cache_is_counted_only_where_the_entry_has_it_on(run: Run) -> None:
    run.config["transduction"]["ask"]["difficulty_ranks"] = {name: [1, 2, 3, 4] for name in grid().families}
    for name, on in (("on", True), ("off", False)):
        run.add_model(name, **(SPLITS | {"window": 32768, "prefix_caching": on}))
    said = {one["name"]: one["need"] for one in json.loads(planned(run.config_file, "--json"))["models"]}
    assert said["on"]["tokens_in"] == said["off"]["tokens_in"] == said["off"]["read"]
    # of twelve cells two share their tables among four difficulties: about an eighth of the prompts
    assert 0.83 < said["on"]["read"] / said["on"]["tokens_in"] < 0.88


# What a reader does first


def test_what_is_missing_is_said_with_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "nothing"))
    monkeypatch.delenv("SOME_KEY", raising=False)
    sizes = {"window": 8192, "weights_gb": 200, "gpu_memory_gb": 80}
    run.add_model("licensed", **(SPLITS | sizes | {"gated": True, "revision": "abc"}))
    run.add_model("open", **(SPLITS | sizes | {"gpus": 4}))
    endpoint = {"url": "https://host/v1", "key_variable": "SOME_KEY"}
    run.add_model("hosted", engine="endpoint", repository="big", window=8192, endpoint=endpoint)
    said = planned(run.config_file)
    fetch, licence, pin, more, key, unrated = said.partition("Before you start\n")[2].splitlines()[:6]
    assert "licensed (200.0 GB), open (200.0 GB)" in fetch and "--download" in fetch
    assert "HF_TOKEN" in licence and licence.endswith("licensed (org/splits)")
    assert pin.endswith("entry of open") and "licensed" in more and "do not fit 1 × 80 GB" in more
    assert "SOME_KEY" in key and key.endswith("hosted") and unrated.endswith("licensed, open")


def test_no_network_and_no_engine_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the plan opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.chdir(tmp_path)
    said = planned(papers(tmp_path, ["Olmo-3.1-32B"], [4096], scitrek=True))
    assert not list(tmp_path.glob("results*"))
    assert "Nothing is started, fetched or written" in said


def test_the_config_is_an_argument_or_an_option(run: Run) -> None:
    command = LONGTREK.get_command(None, "plan")  # type: ignore[arg-type]
    assert command is plan
    optional = CliRunner().invoke(plan, ["--config", str(run.config_file), "--cores", "1"], catch_exceptions=False)
    assert optional.output == planned(run.config_file)


# SciTrek


def test_scitreks_part_is_an_estimate_before_its_questions_are_made(tmp_path: Path) -> None:
    config = papers(tmp_path, ["Olmo-3.1-32B"], [4096], scitrek=True)
    said = planned(config)
    assert "SciTrek (estimated: its questions are not made yet)" in said
    found = {one["name"]: one for one in json.loads(planned(config, "--json"))["models"]}
    asked = {job["work"]: job for job in found["GPT-4.1"]["jobs"]}
    # Table 5's test set has 2,121 questions; each is asked three times on two contexts
    total = sum(job["prompts"] + job["not_asked"] for job in asked.values())
    assert total / (2 * 3) == pytest.approx(2121, rel=0.05)
    assert asked["full_text-512K"]["prompts"] / 3 == pytest.approx(667, rel=0.05)
    # what Table 7 leaves empty cannot fit
    for name in ("Qwen3-4B-Instruct-2507", "Llama-3.3-70B-Instruct", "o4-mini"):
        jobs = {job["work"]: job for job in found[name]["jobs"]}
        assert [jobs[f"full_text-{level}"]["prompts"] for level in ("512K", "1M")] == [0, 0]
        assert jobs["full_text-64K"]["not_asked"] == 0
    # what it marks as too costly is not asked at all
    gemini = {job["work"] for job in found["Gemini-2.5-Pro"]["jobs"]}
    assert asked.keys() - gemini == {"full_text-512K", "full_text-1M"}
    works = {job["work"] for job in found["Qwen2.5-Coder-32B-Instruct"]["jobs"]}
    assert works == {"questions", "baseline"}


def test_scitreks_part_is_counted_where_its_questions_are_made(tmp_path: Path) -> None:
    results = build(tmp_path / "made", ("GPT-4.1",), level="64K")
    config = papers(tmp_path, ["Olmo-3.1-32B"], [4096], scitrek=True)
    content = yaml.safe_load(config.read_text())
    content["results"] = str(results)
    config.write_text(yaml.safe_dump(content))
    assert "(estimated" not in planned(config)
    questions = parquet(results / "questions" / "questions.parquet")
    tokens = {row["id"]: row["tokens"] for row in parquet(results / "collections" / "collections.parquet")}
    wanted = [row for row in questions if row["level"] == "64K" and row["split"] == "test" and not row["left_out"]]
    jobs = {job["work"]: job for job in of_model(config, "GPT-4.1")["jobs"]}
    job = jobs["full_text-64K"]
    assert (job["prompts"], job["estimated"]) == (3 * len(wanted), False)
    least = (
        3
        * sum(tokens[name] for name in {row["collection"] for row in wanted})
        / len({row["collection"] for row in wanted})
        * len(wanted)
    )
    assert least < job["tokens_in"] < least + 3 * len(wanted) * 1000


def parquet(path: Path) -> list[Mapping[str, Any]]:
    """The rows of a table."""
    from longtrek.corpus.tables import read_table

    return copy.copy(read_table(path))
