"""Files of answers made elsewhere, as tests write them."""

import json
from pathlib import Path
from typing import Any


def written(path: Path, rows: list[Any]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rollout(prompt: str | None, text: str, **fields: Any) -> dict[str, Any]:
    """A rollout as NeMo Gym writes it: a document's fields, and a response with reasoning and two messages."""
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "content": None}
    half = len(text) // 2
    message = {"type": "message", "role": "assistant", "status": "completed"}
    pieces = [[{"type": "output_text", "text": part, "annotations": []}] for part in (text[:half], text[half:])]
    response = {
        "object": "response",
        "model": "their-model",
        "status": None,
        "incomplete_details": None,
        "error": None,
        "max_output_tokens": 9,
        "output": [thought, *(message | {"content": piece} for piece in pieces)],
        "usage": {
            "input_tokens": 7,
            "output_tokens": 5,
            "input_tokens_details": {"cached_tokens": 3},
            "output_tokens_details": {"reasoning_tokens": 2},
        },
    }
    asked_with = {"input": [{"role": "user", "content": prompt}], "max_output_tokens": 9}
    own = {"type": "streaming_sum", "question": prompt, "expected_output": None, "reward": 0.5}
    return {"responses_create_params": asked_with, **own, "response": response | fields}
