"""A client of the API server that shows what it says: objects are plain dicts, a refusal has its message."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

import urllib3

Object: TypeAlias = dict[str, Any]

MANAGER: Final = "argocd-controller"
"""The field manager of Argo CD's server-side apply."""
INITIALIZING: Final = b"storage is (re)initializing"
"""Said of a kind whose definition has just changed, for a moment; every client comes again then."""
APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"


class Refused(Exception):
    """The API server, or an admission webhook behind it, refused a request."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Client:
    """Requests of one user, or of one who is impersonated. Paths are those of the API, without the server."""

    server: str
    pool: urllib3.PoolManager
    headers: Mapping[str, str]
    kinds: dict[tuple[str, str], tuple[str, bool] | None] = field(default_factory=dict)
    """From apiVersion and kind to the resource's name and whether it is namespaced: what discovery said."""

    def acting_as(self, user: str, groups: Iterable[str] = ()) -> Client:
        """The same server, as another user."""
        pairs = [("Impersonate-User", user), *(("Impersonate-Group", group) for group in groups)]
        headers = urllib3.HTTPHeaderDict(self.headers)
        for key, value in pairs:
            headers.add(key, value)
        return Client(self.server, self.pool, headers, self.kinds)

    def request(self, method: str, path: str, body: Any = None, kind: str = "application/json", **query: str) -> Object:
        """The answer as JSON. Raises Refused for every status that is not a success."""
        url = f"{self.server}{path}" + (("&" if "?" in path else "?") + urlencode(query) if query else "")
        headers = urllib3.HTTPHeaderDict(self.headers)
        headers["Content-Type"] = kind
        data = None if body is None else json.dumps(body).encode()
        response = self.pool.request(method, url, body=data, headers=headers)
        while response.status == 429 and INITIALIZING in response.data:
            time.sleep(0.2)
            response = self.pool.request(method, url, body=data, headers=headers)
        if response.status >= 300:
            raise _refusal(response)
        answer: Object = response.json() if response.data[:1] == b"{" else {"text": response.data.decode()}
        return answer

    def get(self, path: str) -> Object:
        """An object, a list, or any other JSON document."""
        return self.request("GET", path)

    def find(self, path: str) -> Object | None:
        """An object, or None where there is none."""
        try:
            return self.get(path)
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    def list(self, path: str, **query: str) -> list[Object]:
        """The items of a collection."""
        items: list[Object] = self.request("GET", path, **query)["items"]
        return items

    def apply(self, item: Object, *, dry_run: bool = False, manager: str = MANAGER, force: bool = True) -> Object:
        """Server-side apply, in the strict form that names unknown fields; the object as it is then stored."""
        query = {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Strict"}
        return self.request("PATCH", self.path(item), item, APPLY, **query, **_dry(dry_run))

    def create(self, item: Object, *, dry_run: bool = False) -> Object:
        """A plain create, as a user's kubectl does it."""
        return self.request("POST", self.path(item).rpartition("/")[0], item, **_dry(dry_run))

    def patch(self, path: str, change: Object) -> Object:
        """A merge patch."""
        return self.request("PATCH", path, change, MERGE)

    def delete(self, path: str, **query: str) -> None:
        """Delete an object or a collection; one that is not there is as good as deleted."""
        try:
            self.request("DELETE", path, **query)
        except Refused as refused:
            if refused.code != 404:
                raise

    def path(self, item: Object) -> str:
        """Where an object lives. Raises Refused where its kind is not served."""
        version, kind = item["apiVersion"], item["kind"]
        found = self._resource(version, kind)
        if found is None:
            raise Refused(404, "NoKind", f"no kind {kind} in {version}")
        plural, namespaced = found
        namespace = f"/namespaces/{item['metadata'].get('namespace', 'default')}" if namespaced else ""
        return f"{_root(version)}{namespace}/{plural}/{item['metadata']['name']}"

    def collection(self, version: str, kind: str) -> str:
        """Where all objects of a kind are listed, whatever their namespaces. Raises Refused where it is not served."""
        found = self._resource(version, kind)
        if found is None:
            raise Refused(404, "NoKind", f"no kind {kind} in {version}")
        return f"{_root(version)}/{found[0]}"

    def serves(self, version: str, kind: str) -> bool:
        """Whether the API server knows a kind."""
        return self._resource(version, kind) is not None

    def _resource(self, version: str, kind: str) -> tuple[str, bool] | None:
        if self.kinds.get((version, kind)) is None:
            for each in (self.find(_root(version)) or {}).get("resources", ()):
                if "/" not in each["name"]:
                    self.kinds[version, each["kind"]] = each["name"], each["namespaced"]
        return self.kinds.get((version, kind))


def connect(port: int, authority: Path, token: str) -> Client:
    """A client of the API server on a loopback port."""
    pool = urllib3.PoolManager(
        ca_certs=str(authority), maxsize=8, timeout=urllib3.Timeout(60), retries=urllib3.Retry(0, redirect=0)
    )
    return Client(f"https://127.0.0.1:{port}", pool, {"Authorization": f"Bearer {token}"})


def label(item: Object) -> str:
    """Kind, namespace and name, for messages."""
    namespace = item["metadata"].get("namespace")
    return f"{item['kind']} {namespace + '/' if namespace else ''}{item['metadata']['name']}"


def condition(item: Object, name: str) -> Object | None:
    """A condition of an object's status; None where its controller has not said anything of it yet."""
    conditions = item.get("status", {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == name), None)


def holds(item: Object, name: str) -> bool:
    """Whether a condition is True."""
    found = condition(item, name)
    return found is not None and found["status"] == "True"


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _dry(dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _refusal(response: urllib3.BaseHTTPResponse) -> Refused:
    try:
        status = response.json()
        return Refused(response.status, status.get("reason", ""), status.get("message", ""))
    except ValueError:
        return Refused(response.status, "", response.data.decode(errors="replace"))
