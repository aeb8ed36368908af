"""The key of an answer: a hash of everything that determines it, and of nothing else.

In the key: the messages, the sample number, the cap that is really sent, the decoding settings, the template's
arguments, the model's repository, revision and weights, its tokenizer and chat template, the engine's kind,
version, number type and answer-changing arguments, and whether a settled stream is ended early.
Not in it: names for display, notes, where files lie, ports, batch sizes, memory shares, the number of devices.
Batching and prefix caching can change a greedy answer too, but no run can promise to repeat them; they are
recorded beside the answer instead.
"""

import hashlib
from typing import Any

from longtrek.answers.request import Request
from longtrek.files import canonical_json


def answer_key(request: Request, max_tokens: int, identity: dict[str, Any]) -> str:
    """Hash one request asked under `max_tokens` of the model and engine that `identity` describes, to hex SHA-256.

    `identity` is `longtrek.answers.provenance.identity(...)`. The reference solver's answer is its gold text, so
    there, and only there, the expected text is part of the key.
    """
    determined_by: dict[str, Any] = {
        "messages": request.messages,
        "sample": request.sample,
        "max_tokens": max_tokens,
        "early_stop": request.completion is not None,
        **identity,
    }
    if identity["engine"]["kind"] == "reference":
        determined_by["expected"] = request.expected
    return hashlib.sha256(canonical_json(determined_by).encode()).hexdigest()
