"""The engine by itself, through its own batch entry point: run by the engine's Python, which has no Longtrek.

    python alone.py SETTINGS.json

Prints, for each batch of chats, its seconds and the tokens written, as JSON.
"""

import json
import sys
import time
from pathlib import Path

from vllm import LLM, SamplingParams


def main(settings: dict) -> None:
    """Load the model, warm up with one short chat, and time each batch."""
    engine = LLM(**settings["arguments"])
    engine.chat([settings["warm_up"]], SamplingParams(temperature=0, max_tokens=8), use_tqdm=False)
    decoding = SamplingParams(temperature=0, seed=0, max_tokens=settings["max_tokens"], ignore_eos=True)
    taken = []
    for chats in settings["batches"]:
        began = time.perf_counter()
        answers = engine.chat(chats, decoding, use_tqdm=False)
        seconds = time.perf_counter() - began
        taken.append({"seconds": seconds, "tokens": sum(len(one.outputs[0].token_ids) for one in answers)})
    print("taken:" + json.dumps(taken))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
