"""A small OpenAI-style chat server that misbehaves as it is told: standard library only, run as its own process.

`python local_engine.py --port PORT --log FILE [--name NAME] [--delay S]`. A prompt's first line may hold
instructions `#name=value …`; every request is appended to the log file as one JSON line when it arrives.

- `tokens=N` how many tokens the answer has; `delay=S` seconds between two of them
- `fail=429x2` answer the first two requests of this prompt with status 429; `retry_after=S` goes with it
- `body=html|empty|error|context` what a failing or odd answer holds; `odd=1` status 200 with that body
- `cut=N` close the connection after N tokens; `hang=S` send nothing for S seconds; `close=1` close at once
- `die=1` end the whole server process; `die_at=FILE` the same, but only while that file does not exist
- `finish=REASON` another finish reason; `think=TEXT` reasoning first
- `strange=1` the answer holds line separators and quotes; `usage=none` no usage is sent; `poison=1` an error event
- `vary=N` the Nth and later answers to this prompt end in another word
- `event=JSON` one more event, as it stands, before the answer's own; `gzip=1` the stream claims to be gzip
"""

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

STRANGE = ['a"b', " c\u2028d", " e\u0085f", "\x1cg", "\r\nh", " \U0001f600"]
CONTEXT = (
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens. Please reduce the length."
)


class LocalEngine:
    """One server's settings and counts."""

    def __init__(self, log: Path, name: str, delay: float) -> None:
        self.log = log
        self.name = name
        self.delay = delay
        self.seen: Counter[str] = Counter()
        self.in_flight = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests until it closes."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._one(reader, writer):
                pass
        with contextlib.suppress(ConnectionError):
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if head.startswith("GET"):
            listed = {"data": [{"id": self.name}]} if "/models" in head.split(" ")[1] else {}
            _plain(writer, 200, json.dumps(listed), "application/json")
            await writer.drain()
            return True
        return await self._chat(json.loads(body), headers, writer)

    async def _chat(self, body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter) -> bool:
        prompt = body["messages"][-1]["content"]
        told = {}
        if prompt.startswith("#"):
            told = dict(part.split("=", 1) for part in prompt.split("\n")[0][1:].split())
        self.seen[prompt] += 1
        self.in_flight += 1
        self._note(body, headers)
        try:
            return await self._answer(body, told, self.seen[prompt], writer)
        finally:
            self.in_flight -= 1

    def _note(self, body: dict[str, Any], headers: dict[str, str]) -> None:
        line = {"body": body, "authorization": headers.get("authorization"), "in_flight": self.in_flight}
        line |= {"pid": os.getpid(), "devices": os.environ.get("CUDA_VISIBLE_DEVICES"), "time": time.time()}
        with self.log.open("a") as log:
            log.write(json.dumps(line) + "\n")

    async def _answer(
        self, body: dict[str, Any], told: dict[str, str], times: int, writer: asyncio.StreamWriter
    ) -> bool:
        if "die" in told:
            os._exit(3)
        if "die_at" in told and not Path(told["die_at"]).exists():
            Path(told["die_at"]).touch()
            os._exit(3)
        if "close" in told:
            return False
        if "hang" in told:
            await asyncio.sleep(float(told["hang"]))
        status, _, repeated = told.get("fail", "").partition("x")
        if status and times <= int(repeated or 1000):
            extra = f"Retry-After: {told['retry_after']}\r\n" if "retry_after" in told else ""
            _plain(writer, int(status), _odd_body(told.get("body", "error")), "application/json", extra)
        elif "odd" in told:
            _plain(writer, 200, _odd_body(told.get("body", "html")), "text/html")
        else:
            last = "other\n" if times >= int(told.get("vary", times + 1)) else None
            return await self._stream(body, told, writer, last)
        await writer.drain()
        return True

    async def _stream(
        self, body: dict[str, Any], told: dict[str, str], writer: asyncio.StreamWriter, last: str | None
    ) -> bool:
        claimed = b"Content-Encoding: gzip\r\n" if "gzip" in told else b""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + claimed + b"Connection: close\r\n\r\n")
        if told.get("body") == "empty":
            writer.write(b"data: [DONE]\n\n")
            await writer.drain()
            return False
        words = STRANGE if "strange" in told else [f"w{n}\n" for n in range(int(told.get("tokens", 5)))]
        words = [*words[:-1], last] if last else words
        words, whole = words[: body["max_tokens"]], len(words) <= body["max_tokens"]
        options = body.get("stream_options", {})
        if "think" in told:
            _event(writer, {"choices": [{"delta": {"reasoning_content": told["think"]}, "finish_reason": None}]})
        if "event" in told:
            writer.write(f"data: {told['event']}\n\n".encode())
        for number, word in enumerate(words, 1):
            await asyncio.sleep(float(told.get("delay", self.delay)))
            if int(told.get("cut", -1)) == number:
                return False
            if "poison" in told:
                _event(writer, {"error": {"message": "the engine is out of memory", "code": 500}})
                return False
            event: dict[str, Any] = {"choices": [{"delta": {"content": word}, "finish_reason": None}]}
            if options.get("continuous_usage_stats"):
                event["usage"] = {"prompt_tokens": 7, "completion_tokens": number}
            _event(writer, event)
            await writer.drain()
        finish = told.get("finish", "stop" if whole else "length")
        _event(writer, {"choices": [{"delta": {}, "finish_reason": finish}]})
        if options.get("include_usage") and told.get("usage") != "none":
            used = {"prompt_tokens": 7, "completion_tokens": len(words), "prompt_tokens_details": {"cached_tokens": 2}}
            _event(writer, {"choices": [], "usage": used})
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()
        return False


def _event(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    writer.write(b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n")


def _plain(writer: asyncio.StreamWriter, status: int, body: str, kind: str, extra: str = "") -> None:
    content = body.encode()
    head = f"HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\n{extra}Content-Length: {len(content)}\r\n\r\n"
    writer.write(head.encode() + content)


def _odd_body(kind: str) -> str:
    bodies = {
        "html": "<html>Bad gateway</html>",
        "empty": "",
        "error": '{"error": {"message": "no", "code": 0}}',
        "context": json.dumps({"error": {"message": CONTEXT, "code": 400}}),
    }
    return bodies[kind]


async def main() -> None:
    """Serve until killed; with --child, keep a child alive beside, as real engines do."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--name", default="local")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--child", choices=["plain", "stubborn"])
    arguments = parser.parse_args()
    if arguments.child:
        code = "import time; time.sleep(600)"
        if arguments.child == "stubborn":  # a child of its own session that does not listen to SIGTERM
            code = "import os, signal, time; os.setsid(); signal.signal(15, signal.SIG_IGN); time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", code])
        arguments.log.with_suffix(".pids").write_text(f"{os.getpid()} {child.pid}")
    engine = LocalEngine(arguments.log, arguments.name, arguments.delay)
    server = await asyncio.start_server(engine.serve, "127.0.0.1", arguments.port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
