"""A polite client of the Semantic Scholar graph API: paging, batches, retries, and a cache on disk.

Answers lie in the cache under the hash of the request, so that nothing is asked twice and a killed run goes on.
"""

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from longtrek.answers.retry import retry_after_s
from longtrek.corpus.sources import Progress
from longtrek.errors import LongtrekError
from longtrek.files import canonical_json, read_object, write_text

RETRIED = {429, 500, 502, 503, 504}
LONGEST_WAIT_S = 300.0
FURTHEST = 10_000  # the API pages no further: offset + limit must stay below


class Client:
    """Asks a server with patience: a pause between requests, `Retry-After` honoured, backoff where there is none."""

    def __init__(
        self,
        per_second: float,
        retries: int,
        headers: dict[str, str] | None = None,
        timeout_s: float = 60,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Open a client; nothing is sent yet."""
        self.http = httpx.Client(headers=headers, timeout=timeout_s, follow_redirects=True)
        self.pause, self.retries, self.sleep = 1 / per_second, retries, sleep
        self.last = 0.0
        self.met: Counter[str] = Counter()

    def send(self, method: str, url: str, **arguments: Any) -> httpx.Response:
        """Send a request until it is answered with something that a retry would not change.

        Raises:
            LongtrekError: no such answer within the retries; the message gives the last status or fault.
        """
        fault = ""
        for attempt in range(self.retries + 1):
            wait = min(2.0**attempt, 60.0)
            self._keep_pace()
            try:
                response = self.http.request(method, url, **arguments)
            except httpx.TransportError as error:
                fault = f"{type(error).__name__}: {error}"
                self.met["transport_faults"] += 1
            else:
                if response.status_code not in RETRIED:
                    return response
                fault = f"HTTP {response.status_code}"
                self.met["rate_limited" if response.status_code == 429 else "server_errors"] += 1
                wait = retry_after(response.headers.get("Retry-After"), wait)
            if attempt < self.retries:
                self.sleep(wait)
        raise LongtrekError(
            f"{url}: no answer in {self.retries + 1} tries; the last: {fault}; run again to go on from here"
        )

    def _keep_pace(self) -> None:
        wait = self.last + self.pause - time.monotonic()
        if wait > 0:
            self.sleep(wait)
        self.last = time.monotonic()


def retry_after(value: str | None, otherwise: float) -> float:
    """Seconds to wait by a `Retry-After` header (seconds or a date), at most five minutes."""
    wait = retry_after_s(value)
    return otherwise if wait is None else min(wait, LONGEST_WAIT_S)


class ScholarApi:
    """The graph API: papers in batches, references and citations in pages."""

    def __init__(self, settings: dict[str, Any], cache: Path, progress: Progress) -> None:
        """Read the API's settings; the key comes from the environment variable that they name, if it is set."""
        self.url = settings["url"].rstrip("/")
        self.batch, self.page = int(settings["batch"]), int(settings["page"])
        key = os.environ.get(settings["key_variable"], "")
        headers = {"x-api-key": key} if key else None
        self.client = Client(float(settings["requests_per_second"]), int(settings["retries"]), headers)
        self.cache, self.progress = cache, progress

    def papers(self, ids: list[str], fields: str) -> dict[str, dict[str, Any] | None]:
        """Papers by id, asked in batches; None for an id that the API does not know."""
        found: dict[str, dict[str, Any] | None] = {}
        for start in range(0, len(ids), self.batch):
            part = ids[start : start + self.batch]
            answers = self._ask("POST", "/paper/batch", {"fields": fields}, {"ids": part})
            if not isinstance(answers, list) or len(answers) != len(part):
                raise LongtrekError(f"{self.url}/paper/batch: expected a list of {len(part)} papers; run again later")
            found.update(zip(part, answers, strict=True))
        return found

    def linked(self, paper: str, kind: str, fields: str) -> Iterator[dict[str, Any] | None] | None:
        """The papers linked to one: its `references`, or its `citations`.

        Returns:
            A paper for each entry, None for an entry without one; or None where the publisher had the list elided.
        """
        name = {"references": "citedPaper", "citations": "citingPaper"}[kind]
        entries: list[dict[str, Any] | None] = []
        offset: int | None = 0
        while offset is not None and offset < FURTHEST:
            limit = min(self.page, FURTHEST - 1 - offset)
            if limit < 1:
                break
            parameters = {"fields": fields, "offset": str(offset), "limit": str(limit)}
            answer = self._ask("GET", f"/paper/{paper}/{kind}", parameters, None)
            if answer is None or answer.get("data") is None:
                return None
            entries += [entry.get(name) for entry in answer["data"]]
            offset = answer.get("next")
        return iter(entries)

    def _ask(self, method: str, path: str, parameters: dict[str, str], body: Any) -> Any:
        """The API's answer, from the cache where it lies there; None for 404."""
        request = {"method": method, "path": path, "parameters": parameters, "body": body}
        name = hashlib.sha256(canonical_json(request).encode()).hexdigest()[:32]
        file = self.cache / f"{name}.json"
        if file.is_file():
            kept = read_object(file, {"answer": object}, f"remove {file}, and the API is asked again")
            return kept["answer"]
        self.progress(f"asking {path}")
        response = self.client.send(method, self.url + path, params=parameters, json=body)
        if response.status_code == 404:
            answer = None
        elif response.status_code == 200:
            try:
                answer = response.json()
            except ValueError:
                raise LongtrekError(
                    f"{self.url}{path}: answered what is not JSON; run again to go on from here"
                ) from None
        else:
            raise LongtrekError(
                f"{self.url}{path}: HTTP {response.status_code}: {response.text[:200]}; check the settings and the key"
            )
        write_text(file, json.dumps({"request": request, "answer": answer}, ensure_ascii=False))
        return answer
