"""A local server that answers as Semantic Scholar's graph API, arXiv and Unpaywall do, their failures included.

Real behaviour that it copies: batches of at most 500 ids with null for unknown ones; pages with `next`, refused from
offset + limit ≥ 10,000 on; `data: null` where a publisher had a list elided; entries whose paper has no id; 429 with
`Retry-After`, in seconds or as a date; 500 and 504; connections dropped; landing pages of HTML where a PDF should be.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PDF = b"%PDF-1.4\n%one page\n"
HTML = b"<!doctype html><title>Buy this article</title>"


def identifier(number: int) -> str:
    """A paper's id: 40 hex digits, as the API's are."""
    return f"{number:040x}"


class World:
    """Papers and links, what to do wrong and how often, and what was asked."""

    def __init__(self) -> None:
        self.papers: dict[str, dict[str, Any]] = {}
        self.references: dict[str, list[str | None] | None] = {}
        self.files: dict[str, tuple[int, str, bytes]] = {}
        self.unpaywall: dict[str, dict[str, Any]] = {}
        self.faults: dict[str, list[Any]] = {}  # path → statuses to give first: 429, (429, "date"), 500, "drop"
        self.asked: Counter[str] = Counter()
        self.keys: set[str | None] = set()
        self.key_wanted: str | None = None

    def add(self, number: int, cites: list[int | None] | None = None, **more: Any) -> str:
        """Add a paper that cites others by number; None as a link has no id; None as the list is elided."""
        paper = identifier(number)
        self.papers[paper] = {
            "paperId": paper,
            "title": f"Article {number}",
            "authors": [
                {"authorId": "1", "name": f"Author A{number}"},
                {"authorId": None, "name": "John W. Fisher, III"},
            ],
            "externalIds": {},
            "openAccessPdf": None,
            "referenceCount": len(cites or ()),
            "year": 2020,
            "url": f"paper/{number}",
            **more,
        }
        self.references[paper] = (
            None if cites is None else [None if other is None else identifier(other) for other in cites]
        )
        return paper

    def citations(self, paper: str) -> list[str]:
        """The papers that cite one."""
        return [citing for citing, cited in self.references.items() if cited and paper in cited]


def answer(world: World, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
    """Status and JSON (or a file) for a request."""
    parts = path.strip("/").split("/")
    if path == "/graph/v1/paper/batch" and method == "POST":
        if len(body["ids"]) > 500:
            return 400, {"error": "at most 500 ids"}
        return 200, [world.papers.get(paper) for paper in body["ids"]]
    if parts[:3] == ["graph", "v1", "paper"] and len(parts) == 5:
        return linked(world, parts[3], parts[4], int(query.get("offset", 0)), int(query.get("limit", 100)))
    if parts[0] == "unpaywall":
        doi = "/".join(parts[1:])
        return (200, world.unpaywall[doi]) if doi in world.unpaywall else (404, {"error": True})
    return 404, {"error": "no such thing"}


def linked(world: World, paper: str, kind: str, offset: int, limit: int) -> tuple[int, Any]:
    """A page of a paper's references or citations."""
    if paper not in world.papers:
        return 404, {"error": f"Paper with id {paper} not found"}
    if offset + limit >= 10_000 or limit > 1000:
        return 400, {"error": "offset + limit must be < 10000"}
    name = "citedPaper" if kind == "references" else "citingPaper"
    links = world.references[paper] if kind == "references" else world.citations(paper)
    if links is None:
        return 200, {"citingPaperInfo": {"openAccessPdf": {"disclaimer": "elided by the publisher"}}, "data": None}
    page = {"offset": offset, "data": [{name: {"paperId": link}} for link in links[offset : offset + limit]]}
    if offset + limit < len(links):
        page["next"] = offset + limit
    return 200, page


class Handler(BaseHTTPRequestHandler):
    """Serves a world."""

    world: World

    def do_GET(self) -> None:
        self.reply("GET", None)

    def do_POST(self) -> None:
        self.reply("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def reply(self, method: str, body: Any) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.world.asked[parts.path] += 1
        if parts.path.startswith("/graph/"):
            self.world.keys.add(self.headers.get("x-api-key"))
            if self.world.key_wanted and self.headers.get("x-api-key") != self.world.key_wanted:
                return self.send(403, "application/json", b'{"message": "Forbidden"}')
        faults = self.world.faults.get(parts.path)
        if faults:
            return self.fail(faults.pop(0))
        if parts.path in self.world.files:
            return self.send(*self.world.files[parts.path])
        status, content = answer(self.world, method, parts.path, query, body)
        return self.send(status, "application/json", json.dumps(content).encode())

    def fail(self, fault: Any) -> None:
        if fault == "drop":
            self.close_connection = True
            self.connection.close()
        elif fault == (429, "date"):
            self.send(429, "application/json", b"{}", {"Retry-After": self.date_time_string()})
        elif fault == 429:
            self.send(429, "application/json", b'{"code": "429"}', {"Retry-After": "7"})
        else:
            self.send(fault, "text/html", b"<h1>upstream</h1>")

    def send(self, status: int, kind: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(world: World) -> Iterator[str]:
    """Serve a world on a free loopback port, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"world": world}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
