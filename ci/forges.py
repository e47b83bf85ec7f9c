"""Comments on a pull request of GitHub or a merge request of GitLab. Nothing but the standard library.

Only comments that our own account wrote are ever changed: anybody can write one that begins like ours, and would then
stay the author of what we put into it.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

MARKER: Final = "<!-- tenancy-plan"
"""What the first line of a plan begins with: `MARKER` of tenancy/compare/views/markdown.py."""

_SECONDS: Final = 30
_PAGE: Final = 100
"""Entries of a page: the most that either forge gives."""


class Refused(Exception):
    """The forge answered, and the answer is no: the token lacks a right."""


class Failed(Exception):
    """The forge did not answer, or with something else than it should."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that our account wrote."""

    id: str
    body: str


class Forge(Protocol):
    """The comments of one pull request."""

    def comments(self) -> Iterator[Comment]:
        """Our own comments, the oldest first."""
        ...

    def create(self, body: str) -> None:
        """Write a new comment."""
        ...

    def update(self, comment: Comment, body: str) -> None:
        """Write another text into a comment."""
        ...

    def delete(self, comment: Comment) -> None:
        """Remove a comment."""
        ...


def publish(forge: Forge, body: str, mark: str) -> str:
    """Leave one comment with `body`, or none where it is empty; what was done, in a word.

    A comment is the one to replace where its first line begins as a plan does and its second is `mark`.
    """
    ours = [comment for comment in forge.comments() if _belongs(comment.body, mark)]
    for surplus in ours[1:] if body else ours:  # two runs at once may have written two
        forge.delete(surplus)
    if not body:
        return "removed" if ours else "none"
    if not ours:
        forge.create(body)
        return "created"
    if ours[0].body.rstrip() == body.rstrip():  # forges cut white space at the end
        return "unchanged"
    forge.update(ours[0], body)
    return "updated"


def _belongs(body: str, mark: str) -> bool:
    first, _, rest = body.replace("\r\n", "\n").partition("\n")
    return first.startswith(MARKER) and rest.partition("\n")[0] == mark


_LIST: Final = """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      id
      comments(first: 100, after: $after) {
        nodes { id body viewerDidAuthor }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
"""
_CREATE: Final = (
    "mutation($on: ID!, $body: String!) { addComment(input: {subjectId: $on, body: $body}) { subject { id } } }"
)
_UPDATE: Final = """
mutation($id: ID!, $body: String!) { updateIssueComment(input: {id: $id, body: $body}) { issueComment { id } } }
"""
_DELETE: Final = "mutation($id: ID!) { deleteIssueComment(input: {id: $id}) { clientMutationId } }"


class GitHub:
    """GraphQL, because only there a token learns which comments are its own (`viewerDidAuthor`): a job's token may
    not ask who it is."""

    def __init__(self, url: str, token: str, repository: str, number: int) -> None:
        self._url, self._token, self._number = url, token, number
        self._owner, _, self._name = repository.partition("/")
        self._subject = ""

    def comments(self) -> Iterator[Comment]:
        """Our own comments, the oldest first."""
        after: str | None = None
        while True:
            asked = {"owner": self._owner, "name": self._name, "number": self._number, "after": after}
            pull = self._ask(_LIST, asked)["repository"]["pullRequest"]
            self._subject = pull["id"]
            for node in pull["comments"]["nodes"]:
                if node["viewerDidAuthor"]:
                    yield Comment(node["id"], node["body"])
            page = pull["comments"]["pageInfo"]
            if not page["hasNextPage"]:
                return
            after = page["endCursor"]

    def create(self, body: str) -> None:
        """Write a new comment; `comments` has been read before."""
        self._ask(_CREATE, {"on": self._subject, "body": body})

    def update(self, comment: Comment, body: str) -> None:
        """Write another text into a comment."""
        self._ask(_UPDATE, {"id": comment.id, "body": body})

    def delete(self, comment: Comment) -> None:
        """Remove a comment."""
        self._ask(_DELETE, {"id": comment.id})

    def _ask(self, query: str, variables: Mapping[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"}
        answer, _ = _request("POST", self._url, headers, {"query": query, "variables": variables})
        faults = answer.get("errors") if isinstance(answer, dict) else None
        if faults:
            said = "; ".join(str(fault.get("message")) for fault in faults)
            raise Refused(said) if any(fault.get("type") == "FORBIDDEN" for fault in faults) else Failed(said)
        return answer["data"]


class GitLab:
    """Notes of a merge request."""

    def __init__(self, url: str, token: str, project: str, number: int) -> None:
        self._api, self._headers = url, {"PRIVATE-TOKEN": token}
        self._notes = f"{url}/projects/{project}/merge_requests/{number}/notes"

    def comments(self) -> Iterator[Comment]:
        """Our own notes, the oldest first."""
        me, _ = _request("GET", f"{self._api}/user", self._headers)
        page = "1"
        while page:
            query = f"?sort=asc&order_by=created_at&per_page={_PAGE}&page={page}"
            notes, answered = _request("GET", f"{self._notes}{query}", self._headers)
            for note in notes:
                if note["author"]["id"] == me["id"] and not note["system"]:
                    yield Comment(str(note["id"]), note["body"])
            page = answered.get("x-next-page", "")

    def create(self, body: str) -> None:
        """Write a new note."""
        _request("POST", self._notes, self._headers, {"body": body})

    def update(self, comment: Comment, body: str) -> None:
        """Write another text into a note."""
        _request("PUT", f"{self._notes}/{comment.id}", self._headers, {"body": body})

    def delete(self, comment: Comment) -> None:
        """Remove a note."""
        _request("DELETE", f"{self._notes}/{comment.id}", self._headers)


def _request(method: str, url: str, headers: Mapping[str, str], content: Any = None) -> tuple[Any, dict[str, str]]:
    """The answer's content, and its headers with names in lower case."""
    data = None if content is None else json.dumps(content).encode()
    sent = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "tenancy", **headers}
    request = urllib.request.Request(url, data=data, headers=sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            text = answer.read()
            return json.loads(text) if text else None, {key.lower(): value for key, value in answer.headers.items()}
    except urllib.error.HTTPError as error:
        said = f"{method} {url}: {error.code} {error.reason}"
        raise Refused(said) if error.code in (401, 403, 404) else Failed(said) from error
    except (OSError, ValueError) as error:  # URLError is an OSError
        raise Failed(f"{method} {url}: {error}") from error
