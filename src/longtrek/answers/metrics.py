"""What a vLLM server says of itself: its version, its KV cache, and how often prompts were found there."""

import re
from dataclasses import dataclass

import httpx

from longtrek.answers.client import Door


@dataclass(frozen=True)
class EngineFacts:
    """Facts of a running engine; None where it does not say. Queries and hits are in tokens."""

    prefix_caching: bool | None = None
    kv_cache_tokens: int | None = None
    prefix_queries: int | None = None
    prefix_hits: int | None = None


def engine_facts(door: Door) -> EngineFacts:
    """Read a server's metrics page; a server without one (a hosted endpoint) has no facts."""
    page = door.url.removesuffix("/v1") + "/metrics"
    try:
        response = httpx.get(page, headers=door.headers, timeout=10, trust_env=False)
    except httpx.TransportError:
        return EngineFacts()
    return parse_metrics(response.text) if response.status_code == 200 else EngineFacts()


def parse_metrics(text: str) -> EngineFacts:
    """Take the facts from a metrics page in Prometheus text form."""
    caching = re.search(r'^vllm:cache_config_info\{.*\benable_prefix_caching="(\w+)"', text, re.MULTILINE)
    size = re.search(r'^vllm:cache_config_info\{.*\bkv_cache_size_tokens="(\d+)"', text, re.MULTILINE)
    return EngineFacts(
        prefix_caching=None if caching is None else caching[1] == "True",
        kv_cache_tokens=None if size is None else int(size[1]),
        prefix_queries=_counter(text, "vllm:prefix_cache_queries_total"),
        prefix_hits=_counter(text, "vllm:prefix_cache_hits_total"),
    )


def _counter(text: str, name: str) -> int | None:
    values = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE)
    return round(sum(float(value) for value in values)) if values else None
