"""A server that answers as the API server does, as far as `tenancy diff` asks: discovery, lists, objects, dry runs."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

Object = dict[str, Any]

KINDS: Final = {
    "v1": {"Namespace": ("namespaces", False), "ConfigMap": ("configmaps", True), "Endpoints": ("endpoints", True)},
    "apps/v1": {"ReplicaSet": ("replicasets", True)},
    "example.org/v2": {"Widget": ("widgets", False)},
}
"""By version and kind: the plural, and whether it has a namespace."""


class Answer(Exception):
    """A status that is no success."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class FakeApi:
    """What the server holds and how it answers."""

    def __init__(self) -> None:
        self.kinds: dict[str, dict[str, tuple[str, bool]]] = {version: dict(each) for version, each in KINDS.items()}
        self.objects: dict[str, Object] = {}
        """By path."""
        self.refusals: dict[str, Answer] = {}
        """By the method and the beginning of a path, such as `PATCH /api/v1/namespaces`."""
        self.writes: list[tuple[str, Mapping[str, str], Object]] = []
        """Path, query and body of every request that is no GET."""

    def path(self, obj: Object) -> str:
        """Where an object lives."""
        version, metadata = obj["apiVersion"], obj["metadata"]
        plural, namespaced = self.kinds[version][obj["kind"]]
        inside = f"/namespaces/{metadata['namespace']}" if namespaced else ""
        return f"{_root(version)}{inside}/{plural}/{metadata['name']}"

    def add(self, *objects: Object, by: str = "argocd-controller", **metadata: Any) -> None:
        """Objects that are there, with every field set by one manager."""
        for obj in objects:
            entry = {"manager": by, "operation": "Apply", "time": "2026-11-30T07:00:00Z", "fieldsV1": _fields(obj)}
            known = {"uid": "7", "resourceVersion": "1", "managedFields": [entry]}
            whole = copy.deepcopy(obj)
            whole["metadata"] |= known | metadata
            self.objects[self.path(obj)] = whole

    def deploy(self, path: Path) -> None:
        """The objects in a file of out/, of whatever kinds."""
        for obj in yaml.load_all(path.read_text(), yaml.CSafeLoader):
            if "metadata" in obj:
                namespaced = "namespace" in obj["metadata"]
                self.kinds.setdefault(obj["apiVersion"], {})[obj["kind"]] = (f"{obj['kind'].lower()}s", namespaced)
                self.add(obj)

    def edit(self, obj: Object, by: str, *path: str, value: Any) -> None:
        """Somebody sets one field, which is theirs from then on; None removes it."""
        live = self.objects[self.path(obj)]
        inner = live
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        for entry in live["metadata"]["managedFields"]:
            _drop(entry["fieldsV1"], path)
        if value is None:
            inner.pop(path[-1])
            return
        inner[path[-1]] = value
        fields: Object = _fields(value)
        for key in reversed(path):
            fields = {f"f:{key}": fields}
        live["metadata"]["managedFields"].append(
            {"manager": by, "operation": "Update", "time": "2026-11-30T08:00:00Z", "fieldsV1": fields}
        )

    def answer(self, method: str, url: str, body: Object | None) -> Object:
        """What a request gets. Raises `Answer`."""
        parts = urlsplit(url)
        path, query = unquote(parts.path), {key: value[0] for key, value in parse_qs(parts.query).items()}
        for begin, refusal in self.refusals.items():
            if f"{method} {path}".startswith(begin):
                raise refusal
        if method != "GET":
            self.writes.append((path, query, body or {}))
            assert query.get("dryRun") == "All", "nothing is ever written"
            return self._applied(path, body or {})
        if path == "/apis":
            return {"groups": [_group(version) for version in self.kinds if "/" in version]}
        for version, kinds in self.kinds.items():
            if path == _root(version):
                return {"resources": list(_resources(kinds))}
            for kind, (plural, _) in kinds.items():
                if path == f"{_root(version)}/{plural}":
                    return self._list(version, kind, query)
        if path in self.objects:
            return self.objects[path]
        raise Answer(404, f'"{path}" not found')

    def _list(self, version: str, kind: str, query: Mapping[str, str]) -> Object:
        """In pages of one object, whatever the limit is."""
        key, _, value = query.get("labelSelector", "").partition("=")
        found = [
            {name: part for name, part in obj.items() if name not in ("apiVersion", "kind")}
            for obj in self.objects.values()
            if (obj["apiVersion"], obj["kind"]) == (version, kind)
            and (not key or (obj["metadata"].get("labels") or {}).get(key) == value)
        ]
        at = int(query.get("continue", "0"))
        more = {"continue": str(at + 1)} if at + 1 < len(found) else {}
        return {"kind": f"{kind}List", "metadata": more, "items": found[at : at + 1]}

    def _applied(self, path: str, body: Object) -> Object:
        """Server-side apply without what makes it hard: the body over the object, less what its manager left out."""
        live = copy.deepcopy(self.objects.get(path, {"metadata": {}}))
        for entry in live["metadata"].get("managedFields", ()):
            if entry["manager"] == "argocd-controller":
                _forget(live, entry["fieldsV1"], body)
        return dict(_merged(live, body))


@contextmanager
def serving(api: FakeApi, folder: Path) -> Iterator[Path]:
    """Serve it on loopback; the kubeconfig that leads there."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            try:
                code, said = 200, api.answer(self.command, self.path, body)
            except Answer as answer:
                code, said = answer.code, {"kind": "Status", "message": str(answer)}
            except AssertionError as error:
                code, said = 500, {"kind": "Status", "message": str(error)}
            data = json.dumps(said).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = _do

        def log_message(self, *_: Any) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield kubeconfig(folder, server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def kubeconfig(folder: Path, port: int) -> Path:
    """A kubeconfig for a port on loopback, with a token."""
    named = {"name": "fake"}
    path = folder / "kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "fake",
        "clusters": [{**named, "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{**named, "user": {"token": "x"}}],
        "contexts": [{**named, "context": {"cluster": "fake", "user": "fake"}}],
    }
    path.write_text(json.dumps(document))
    return path


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _group(version: str) -> Object:
    known = {"groupVersion": version}
    return {"name": version.partition("/")[0], "versions": [known], "preferredVersion": known}


def _resources(kinds: Mapping[str, tuple[str, bool]]) -> Iterator[Object]:
    verbs = ["create", "delete", "get", "list", "patch"]
    for kind, (plural, namespaced) in kinds.items():
        yield {"name": plural, "kind": kind, "namespaced": namespaced, "verbs": verbs}
        yield {"name": f"{plural}/status", "kind": kind, "namespaced": namespaced, "verbs": ["get", "patch"]}


def _fields(value: Any) -> Object:
    """The set of all fields of a value; lists are atomic."""
    if not isinstance(value, dict):
        return {}
    hidden = ("apiVersion", "kind", "name", "namespace")
    return {f"f:{key}": _fields(each) for key, each in value.items() if key not in hidden}


def _drop(fields: Object, path: tuple[str, ...]) -> None:
    if len(path) > 1:
        _drop(fields.get(f"f:{path[0]}", {}), path[1:])
    else:
        fields.pop(f"f:{path[0]}", None)


def _forget(live: Any, fields: Object, body: Any) -> None:
    for name, inner in fields.items():
        key = name.removeprefix("f:")
        if key in live and not (isinstance(body, dict) and key in body):
            del live[key]
        elif inner and key in live:
            _forget(live[key], inner, body[key])


def _merged(live: Any, body: Any) -> Any:
    if isinstance(live, dict) and isinstance(body, dict):
        return {**live, **{key: _merged(live.get(key), value) for key, value in body.items()}}
    return body
