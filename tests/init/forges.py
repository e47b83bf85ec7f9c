"""What ci/check.py asks of GitHub and GitLab, served on loopback and remembered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token"
PAGE = 2
"""Comments on a page: fewer than asked for, which forges may do, so that there are several pages."""


@dataclass
class Discussion:
    """The comments of the only pull request of a forge, 7."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    readonly: bool = False
    """Whether the token may only read."""
    broken: bool = False
    """Whether the forge is out of order."""
    asked: list[str] = field(default_factory=list)
    """What was done to comments, in order."""
    url: str = ""

    def add(self, body: str, author: str = "us") -> None:
        """A comment that is there."""
        number = max((int(each["id"]) for each in self.comments), default=0) + 1
        self.comments.append({"id": str(number), "body": body, "author": author})

    def of(self, author: str) -> list[str]:
        """The texts of an author's comments."""
        return [each["body"] for each in self.comments if each["author"] == author]

    def change(self, verb: str, number: str = "", body: str = "") -> None:
        """Create, update or delete."""
        self.asked.append(verb)
        if verb == "create":
            self.add(body)
            return
        (found,) = [each for each in self.comments if each["id"] == number]
        if verb == "delete":
            self.comments.remove(found)
        else:
            found["body"] = body


class _Forge(BaseHTTPRequestHandler):
    discussion: Discussion

    def _serve(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        content = json.loads(self.rfile.read(size)) if size else None
        if self.discussion.broken:
            self._answer(502, {"message": "bad gateway"})
        else:
            self._route(content)

    do_GET = do_POST = do_PUT = do_DELETE = _serve

    def _route(self, content: Any) -> None:
        raise NotImplementedError

    def _answer(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        data = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests read what was asked."""


class GitHub(_Forge):
    """POST /graphql. The four queries were checked against GitHub's public schema when they were written."""

    def _route(self, content: Any) -> None:
        if self.path != "/graphql" or self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer(401, {"message": "Bad credentials"})
            return
        query, said = content["query"], content["variables"]
        if query.strip().startswith("query"):
            assert (said["owner"], said["name"], said["number"]) == ("acme", "gpus", 7)
            self._answer(200, {"data": self._list(int(said["after"] or 0))})
            return
        if self.discussion.readonly:
            fault = {"type": "FORBIDDEN", "message": "Resource not accessible by integration"}
            self._answer(200, {"data": None, "errors": [fault]})
            return
        if "addComment" in query:
            assert said["on"] == "the-pull-request"
            self.discussion.change("create", body=said["body"])
        else:
            verb = "update" if "updateIssueComment" in query else "delete"
            self.discussion.change(verb, said["id"], said.get("body", ""))
        self._answer(200, {"data": {}})

    def _list(self, start: int) -> dict[str, Any]:
        found = self.discussion.comments
        nodes = [
            {"id": each["id"], "body": each["body"], "viewerDidAuthor": each["author"] == "us"}
            for each in found[start : start + PAGE]
        ]
        more = start + PAGE < len(found)
        page = {"hasNextPage": more, "endCursor": str(start + PAGE) if more else None}
        pull = {"id": "the-pull-request", "comments": {"nodes": nodes, "pageInfo": page}}
        return {"repository": {"pullRequest": pull}}


class GitLab(_Forge):
    """The notes of a merge request."""

    def _route(self, content: Any) -> None:
        if self.headers["PRIVATE-TOKEN"] != TOKEN:
            self._answer(401, {"message": "401 Unauthorized"})
            return
        parts = urlsplit(self.path)
        if parts.path == "/api/v4/user":
            self._answer(200, {"id": 1})
            return
        notes = "/api/v4/projects/42/merge_requests/7/notes"
        assert parts.path.startswith(notes)
        if self.command == "GET":
            self._list(int(parse_qs(parts.query)["page"][0]))
        elif self.discussion.readonly:
            self._answer(403, {"message": "403 Forbidden"})
        else:
            verb = {"POST": "create", "PUT": "update", "DELETE": "delete"}[self.command]
            self.discussion.change(verb, parts.path[len(notes) + 1 :], (content or {}).get("body", ""))
            self._answer(204 if verb == "delete" else 200, None if verb == "delete" else {})

    def _list(self, page: int) -> None:
        found = self.discussion.comments
        shown = [
            {
                "id": int(each["id"]),
                "body": each["body"],
                "system": False,
                "author": {"id": int(each["author"] == "us")},
            }
            for each in found[(page - 1) * PAGE : page * PAGE]
        ]
        self._answer(200, shown, {"X-Next-Page": str(page + 1) if page * PAGE < len(found) else ""})


@contextmanager
def served(forge: type[_Forge]) -> Iterator[Discussion]:
    """A forge that answers until the end of the block."""
    discussion = Discussion()
    handler = type("Handler", (forge,), {"discussion": discussion})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    discussion.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield discussion
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
