"""A model's entry: one YAML file in config/models/, checked against schemas/model.yaml."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longtrek import schemas
from longtrek.errors import LongtrekError
from longtrek.paths import shipped


@dataclass(frozen=True)
class Sampling:
    """Decoding settings; None leaves a setting out of the request. Greedy is temperature 0 (section 3)."""

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    max_tokens: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class EndpointEntry:
    """A hosted server: its base URL and the name of the environment variable that holds the key."""

    url: str
    key_variable: str | None = None
    cap_field: str = "max_tokens"
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rates:
    """What the plan's hours assume of one job, in tokens a second; `answer` is the mean tokens of a SciTrek answer."""

    prefill: float
    stream: float
    decode: float
    answer: float | None = None


@dataclass(frozen=True)
class Model:
    """A model's entry as `schemas/model.yaml` describes it, defaults filled in."""

    name: str
    engine: str
    kind: str = "model"
    label: str = ""
    repository: str = ""
    revision: str = "main"
    gated: bool = False
    weights: dict[str, str] | None = None
    window: int | None = None
    dtype: str = "auto"
    tensor_parallel: int = 1
    gpus: int = 0
    gpu_memory_gb: float | None = None
    weights_gb: float | None = None
    max_concurrency: int = 32
    in_flight_tokens: int = 1_000_000
    kv_cache_gib: int = 1
    prefix_caching: bool | None = None
    template_args: dict[str, Any] = field(default_factory=dict)
    thinking: str = "none"
    prompt: str = "direct"
    rendering: str = "template"
    begin_of_text: int | None = None
    trust_remote_code: bool = False
    digits: str | None = None
    rates: Rates | None = None
    usd_per_million: dict[str, float] | None = None
    sampling: Sampling = Sampling()
    tiers: tuple[int, ...] | None = None
    contexts: tuple[str, ...] | None = None
    shards: dict[str, int] = field(default_factory=dict)
    endpoint: EndpointEntry | None = None
    engine_args: tuple[str, ...] = ()
    resource_args: tuple[str, ...] = ()
    start_limit_s: int = 600
    notes: str = ""

    @property
    def is_asked(self) -> bool:
        """Whether anybody is asked: not for a check's gold outputs, nor for answers that were made elsewhere."""
        return self.engine not in ("reference", "imported")

    @property
    def starts_engine(self) -> bool:
        """Whether a job of the model starts an engine of its own."""
        return self.engine in ("vllm", "vllm-cpu")


WITHOUT_EFFECT = frozenset(
    {
        "label",
        "notes",
        "gated",
        "contexts",
        "gpu_memory_gb",
        "weights_gb",
        "digits",
        "rates",
        "usd_per_million",
        "shards",
    }
)
"""Keys of an entry that no answer depends on: a change of theirs asks nothing again."""


def find_model(name: str, folder: Path | None = None) -> Model:
    """Load a model by its name in a folder of entries (the kit's own where none is given), or by its file's path."""
    given, folder = Path(name), folder or shipped("config/models")
    path = given if given.suffix in {".yaml", ".yml"} else folder / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml"))) or "none"
        raise LongtrekError(f"no model {name!r}: {path} is not a file; known models: {known}")
    return load_model(path)


def load_model(path: Path) -> Model:
    """Read one model's entry.

    Raises:
        LongtrekError: the file is not YAML, or not an entry; the message names file, key, what was found and
            what is allowed.
    """
    entry = schemas.read(path, "model")
    if entry["name"] != path.stem:
        raise LongtrekError(f"{path}, key name: found {entry['name']!r}; expected the file's name, {path.stem!r}")
    return _model(entry)


def _model(entry: dict[str, Any]) -> Model:
    values = dict(entry)
    values["sampling"] = Sampling(**entry.get("sampling", {}))
    values["rates"] = Rates(**entry["rates"]) if "rates" in entry else None
    values["endpoint"] = EndpointEntry(**entry["endpoint"]) if "endpoint" in entry else None
    for key in ("engine_args", "resource_args", "tiers", "contexts"):
        if key in values:
            values[key] = tuple(values[key])
    values.setdefault("label", entry["name"])
    return Model(**values)
