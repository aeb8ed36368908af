"""Models and what stands before an answer: entries, prompts rendered and counted, what is told on the way."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from conftest import EASIEST
from longtrek.analysis.published import read as read_published
from longtrek.answers.ask import ask
from longtrek.answers.engines import core_ranges, endpoint_door
from longtrek.answers.metrics import parse_metrics
from longtrek.answers.model import EndpointEntry, Model, Sampling, load_model
from longtrek.answers.preflight import Tokenizer, judge, preflight
from longtrek.answers.progress import Progress
from longtrek.answers.request import Request
from longtrek.answers.studies import Selection, transduction_requests
from longtrek.errors import LongtrekError
from longtrek.files import write_jsonl
from longtrek.paths import shipped
from longtrek.transduction.grid import grid

MODEL = Model("m", "vllm", repository="org/m", revision="abc", window=8192, dtype="bfloat16", gpus=1)
ASKED = Request("a", [{"role": "user", "content": "hello"}], 100)
PLAIN = "{% for m in messages %}user {{ m.content }} {% endfor %}assistant"
SWITCH = PLAIN + "{% if enable_thinking %} <think>{% else %} <think> </think>{% endif %}"


def tokenizer_folder(folder: Path, template: str, begins: bool = True) -> Path:
    """A tokenizer of whole words, as a model's repository holds one; `begins` adds begin-of-text to a text."""
    words = ["[UNK]", "<s>", "</s>", "user", "assistant", "hello", "<think>", "</think>", "1"]
    core = FastTokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.add_special_tokens(["<s>", "</s>"])
    if begins:
        core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    whole = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="[UNK]")
    whole.chat_template = template
    whole.save_pretrained(folder)
    return folder


# Prompts, rendered and counted


def test_prompts_are_counted_as_the_engine_will_see_them(tmp_path: Path) -> None:
    tokenizer = Tokenizer(MODEL, tokenizer_folder(tmp_path, "{{ bos_token }}" + PLAIN))
    asked = replace(ASKED, expected="1 1 1")
    (one,) = preflight(replace(MODEL, window=7), [asked], tokenizer)
    assert (one.prompt_tokens, one.gold_tokens, one.max_tokens, one.fits) == (4, 3, 3, True)
    (other,) = preflight(replace(MODEL, window=6), [asked], tokenizer)
    assert other.refusal is not None and "do not fit the window of 6" in other.refusal


@pytest.mark.parametrize(
    ("template", "begins", "stated", "said"),
    [
        ("{{ bos_token }}", True, None, None),
        ("", True, None, "starts with 0 begin-of-text"),
        ("", True, 0, None),
        ("", False, None, None),
        ("{{ bos_token }}{{ bos_token }}", True, None, "starts with 2 begin-of-text"),
        ("{{ bos_token }}{{ bos_token }}", False, None, "starts with 2 begin-of-text"),
        ("{{ bos_token }}", False, 0, "starts with 1 begin-of-text"),
    ],
)
def test_a_rendered_prompt_holds_exactly_one_begin_of_text(
    tmp_path: Path, template: str, begins: bool, stated: int | None, said: str | None
) -> None:
    model = replace(MODEL, begin_of_text=stated)
    tokenizer = Tokenizer(model, tokenizer_folder(tmp_path, template + PLAIN, begins))
    if said is None:
        tokenizer.check(ASKED.messages)
        return
    with pytest.raises(LongtrekError, match=said):
        tokenizer.check(ASKED.messages)


@pytest.mark.parametrize(
    ("template", "arguments", "said"),
    [
        (SWITCH, {"enable_thinking": False}, None),
        (SWITCH, {"thinking": False}, "ignores thinking"),
        (PLAIN, {"enable_thinking": False}, "ignores enable_thinking"),
        (SWITCH, {}, "names no switch"),
        (PLAIN + "{% if off %} <think>{% endif %}", {"off": True}, "open thought"),
    ],
)
def test_thinking_that_is_off_is_off_in_the_rendered_prompt(
    tmp_path: Path, template: str, arguments: dict[str, Any], said: str | None
) -> None:
    model = replace(MODEL, thinking="off", template_args=arguments)
    tokenizer = Tokenizer(model, tokenizer_folder(tmp_path, template, begins=False))
    if said is None:
        tokenizer.check(ASKED.messages)
        return
    with pytest.raises(LongtrekError, match=said):
        tokenizer.check(ASKED.messages)


@pytest.mark.parametrize(
    ("thinking", "template", "arguments", "said"),
    [
        ("on", SWITCH, {"enable_thinking": True}, None),
        ("on", PLAIN + " <think>", {}, None),  # a model that always thinks
        ("on", PLAIN, {"enable_thinking": True}, "ignores enable_thinking"),
        ("none", PLAIN, {}, None),
        ("none", PLAIN + " <think>", {}, "thinking is none, but the rendered prompt ends in an open thought"),
    ],
)
def test_a_rendered_prompt_thinks_as_the_entry_says(
    tmp_path: Path, thinking: str, template: str, arguments: dict[str, Any], said: str | None
) -> None:
    model = replace(MODEL, thinking=thinking, template_args=arguments)
    tokenizer = Tokenizer(model, tokenizer_folder(tmp_path, template, begins=False))
    if said is None:
        tokenizer.check(ASKED.messages)
        return
    with pytest.raises(LongtrekError, match=said):
        tokenizer.check(ASKED.messages)


def test_prompts_are_counted_a_few_at_a_time_and_equal_ones_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longtrek.answers.preflight.BATCH_CHARACTERS", 30)
    tokenizer = Tokenizer(MODEL, tokenizer_folder(tmp_path, PLAIN, begins=False))
    counted: list[list[str]] = []
    count = tokenizer.count
    monkeypatch.setattr(tokenizer, "count", lambda texts: counted.append(list(texts)) or count(texts))
    asked = [replace(ASKED, id=name, sample=n, messages=message(name)) for name in ("a", "bb") for n in range(2)]
    asked.append(replace(ASKED, id="long", messages=message("hello " * 20)))
    prepared = preflight(MODEL, asked, tokenizer)
    assert [one.request for one in prepared] == asked
    assert [one.prompt_tokens for one in prepared] == [3, 3, 3, 3, 22]
    prompts = [texts for texts in counted if texts and texts[0].startswith("user")]
    assert [len(texts) for texts in prompts] == [2, 1]  # the four samples hold two prompts; the long one is alone


def message(text: str) -> list[dict[str, str]]:
    """A user's message."""
    return [{"role": "user", "content": text}]


def test_without_a_tokenizer_only_what_can_never_fit_is_refused() -> None:
    model = Model("h", "endpoint", repository="big", window=1000, endpoint=EndpointEntry("https://example.org/v1"))
    fits, never = preflight(model, [replace(ASKED, messages=message("x" * n)) for n in (6000, 6001)], None)
    assert fits.refusal is None
    assert never.refusal is not None and "cannot fit, whatever the tokenizer" in never.refusal


def test_a_repository_without_a_template_needs_a_word_in_the_entry(tmp_path: Path) -> None:
    folder = tokenizer_folder(tmp_path, "")
    with pytest.raises(LongtrekError, match="has no chat template"):
        Tokenizer(MODEL, folder)
    model = replace(MODEL, rendering="engine")
    (one,) = preflight(model, [ASKED], Tokenizer(model, folder))
    assert one.prompt_tokens == 1 + 64  # and what the engine's own rendering may add


@pytest.mark.parametrize(
    ("prompt", "gold", "cap", "sent", "fits", "refused"),
    [
        (100, 200, 300, 300, True, False),  # all fits
        (700, 200, 400, 300, True, False),  # the cap does not, the gold does: a smaller cap
        (700, 350, 400, 400, False, True),  # neither does
        (100, 400, 300, 300, False, False),  # the gold is longer than the cap: asked, and known not to fit
        (800, 400, 300, 300, False, True),  # nor does the cap fit
        (1000, 1, 300, 300, False, True),  # the prompt fills the window
        (700, None, 300, 300, None, False),  # no gold is known
        (701, None, 300, 300, None, True),
    ],
)
def test_preflight_asks_what_leaves_room_for_the_right_answer(
    prompt: int, gold: int | None, cap: int, sent: int, fits: bool | None, refused: bool
) -> None:
    judged = judge(replace(MODEL, window=1000), replace(ASKED, max_tokens=cap), prompt, gold, "")
    assert (judged.max_tokens, judged.fits, judged.refusal is not None) == (sent, fits, refused)


def test_an_entrys_own_bound_on_output_is_kept() -> None:
    model = replace(MODEL, sampling=Sampling(max_tokens=50))
    judged = judge(model, ASKED, 10, 60, "")
    assert (judged.max_tokens, judged.fits) == (50, False)


# From documents to requests


def test_only_the_selected_documents_are_asked_and_a_grids_four_share_a_prefix(tmp_path: Path) -> None:
    axes = [
        (family, name, difficulty, sample)
        for family, formats in grid().families.items()
        for name, difficulties in formats.items()
        for difficulty in difficulties
        for sample in range(2)
    ]
    documents = [
        {"id": f"{family}-{name}-{difficulty:g}-{sample}", "family": family, "format": name, "difficulty": difficulty}
        | {"horizon": 4096, "sample": sample, "prompt": "p", "expected": "e", "records": 1, "cap": 3072}
        for family, name, difficulty, sample in axes
    ]
    path = tmp_path / "4096.jsonl.zst"
    write_jsonl(path, documents)
    requests = transduction_requests(path, Selection({family: [1, 3] for family in EASIEST}, [1]), early_stop=True)
    names = [request.id for request in requests]
    assert len(names) == 24 and names == [d["id"] for d in documents if d["id"] in names]
    assert {"arithmetic-ordered-2-1", "arithmetic-ordered-8-1", "table-resolve-0.5-1"} <= set(names)
    assert not any(name.endswith("-0") for name in names)
    prefixes = {request.id: request.prefix for request in requests}
    assert prefixes["table-permute_homogeneous-0.2-1"] == prefixes["table-permute_homogeneous-0.8-1"] != ""
    assert prefixes["table-resolve-0.125-1"] == prefixes["lookup-ordered-8-1"] == ""
    assert all(request.completion is not None for request in requests)
    plain = transduction_requests(path, Selection(EASIEST, [0]), early_stop=False)
    assert all(request.completion is None for request in plain)
    with pytest.raises(LongtrekError, match="no document is selected"):
        transduction_requests(path, Selection(EASIEST, [7]), early_stop=False)


# Entries, and what is told


@pytest.mark.parametrize("path", sorted(shipped("config/models").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_model_is_a_valid_entry(path: Path) -> None:
    model = load_model(path)
    assert model.thinking != "off" or model.template_args
    assert model.engine == "reference" or (model.repository and model.window)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("name: m\nengine: vlm\n", "engine: found"),
        ("name: m\nengine: reference\nkind: check\nwindw: 3\n", "did you mean 'window'"),
        ("name: m\nengine: vllm-cpu\nrepository: r\nwindow: many\n", "window: found"),
        ("name: m\nengine: endpoint\nrepository: r\nwindow: 4096\n", "missing endpoint"),
        ("name: m\nengine: reference\n", "missing kind"),
        ("name: other\nengine: reference\nkind: check\n", "expected the file's name"),
    ],
)
def test_a_bad_entry_is_an_error_that_names_file_and_key(tmp_path: Path, entry: str, said: str) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(entry)
    with pytest.raises(LongtrekError, match=r"m\.yaml") as caught:
        load_model(path)
    assert said in str(caught.value)


def test_a_hosted_models_key_is_named_never_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry = EndpointEntry("https://example.org/v1/", "EXAMPLE_KEY")
    model = Model("h", "endpoint", repository="big", window=9, endpoint=entry)
    monkeypatch.delenv("EXAMPLE_KEY", raising=False)
    with pytest.raises(LongtrekError, match="EXAMPLE_KEY is not set"):
        ask(model, [ASKED], store=tmp_path / "store.jsonl", out=tmp_path / "out.jsonl")
    assert not (tmp_path / "store.jsonl").exists()
    monkeypatch.setenv("EXAMPLE_KEY", "secret")
    assert endpoint_door(model).headers == {"Authorization": "Bearer secret"}


def test_every_model_of_the_papers_has_an_entry() -> None:
    names = {path.stem for path in shipped("config/models").glob("*.yaml")}
    named = {row.model for file in shipped("config/published").glob("*.csv") for row in read_published(file.stem)}
    assert len(named - {""}) > 20 and named - {"", "model"} <= names


@pytest.mark.parametrize("path", sorted(shipped("config/models").glob("*.yaml")), ids=lambda path: path.stem)
def test_an_entry_says_what_a_plan_needs_and_pins_its_revision(path: Path) -> None:
    model = load_model(path)
    if model.kind == "check":
        return
    assert model.digits and model.rates
    if model.engine == "vllm":
        assert len(model.revision) == 40 and set(model.revision) <= set("0123456789abcdef")
        assert model.weights_gb and model.gpu_memory_gb and model.tensor_parallel == model.gpus
        assert model.weights_gb < 0.9 * model.gpus * model.gpu_memory_gb
        assert model.gated == model.repository.startswith(("meta-llama/", "google/"))
        hybrid = "ybrid" in model.notes or "Mamba" in model.notes
        assert not hybrid or (model.prefix_caching is False and "Prefix caching is off" in model.notes)
    if model.engine == "endpoint":
        assert model.endpoint and model.endpoint.key_variable and model.usd_per_million


def test_progress_is_a_line_with_counts_speed_and_finish() -> None:
    now = 0.0
    progress = Progress("m", 4, 400, open(os.devnull, "w"), lambda: now)  # noqa: SIM115, PTH123
    now = 10.0
    progress.finished(0, 100, 100, False)
    progress.received(1, 50, 100)
    progress.finished(2, 0, 100, True)
    assert progress.line() == "m: 2/4 answers, 1 failed, 15 tokens/s, 10 s so far, about 6 s left"


def test_cores_are_written_as_ranges() -> None:
    assert [core_ranges(cores) for cores in ([0, 1], [0], [0, 2, 3, 4, 7])] == ["0-1", "0", "0,2-4,7"]


def test_prefix_cache_counts_are_read_from_the_metrics_page() -> None:
    page = (
        'vllm:prefix_cache_queries_total{engine="0",model_name="m"} 100.0\n'
        'vllm:prefix_cache_hits_total{engine="0",model_name="m"} 40.0\n'
        'vllm:cache_config_info{block_size="128",enable_prefix_caching="True",kv_cache_size_tokens="186368"} 1.0\n'
    )
    facts = parse_metrics(page)
    assert (facts.prefix_queries, facts.prefix_hits, facts.prefix_caching) == (100, 40, True)
    assert facts.kv_cache_tokens == 186368
