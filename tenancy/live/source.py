"""Objects from a file of `kubectl get … -o yaml` or `-o json`, and nodes. From an API server: `tenancy.live.client`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tenancy.live.nodes import LiveNode, live_node

STDIN: Final = "-"
"""The path that stands for standard input."""

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
NODES: Final = "kubectl get nodes -o yaml"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
"""What PowerShell writes first, where it redirects the output of kubectl."""


class Unreadable(Exception):
    """What runs could not be read; the message is for people and says where."""


def nodes_of_file(path: Path) -> list[LiveNode]:
    """The nodes in a file, or on standard input for `-`: a List, a NodeList, single Nodes, in one document or several.

    Raises `Unreadable` for anything else, because a node that is passed over would count as missing.
    """
    found: dict[str, LiveNode] = {}
    for where, obj in objects_of_file(path, NODES):
        node = checked(obj, where)
        if node.name in found:
            raise Unreadable(f"{where}: node {node.name!r} is there twice")
        found[node.name] = node
    return list(found.values())


def objects_of_file(path: Path, command: str) -> Iterator[tuple[str, Any]]:
    """Every object in a file, or on standard input for `-`, with its place: of Lists, single objects, or both.

    `command` is what prints such a file. Raises `Unreadable` where the text is anything else.
    """
    name = "standard input" if str(path) == STDIN else str(path)
    yield from _objects(_text(path, name), name, command)


def checked(obj: Any, where: str) -> LiveNode:
    """A Node object that came from outside; raises `Unreadable` where a part of it has not the form of one."""
    if not isinstance(obj, dict) or obj.get("kind", "Node") != "Node":
        raise Unreadable(f"{where}: {_kind(obj)} is not a Node")
    metadata, spec, status = (mapping(obj, key, where) for key in ("metadata", "spec", "status"))
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        raise Unreadable(f"{where}: a Node without metadata.name")
    for key in ("labels", "annotations"):
        for label, value in mapping(metadata, key, f"{where}: metadata").items():
            if not isinstance(label, str) or not isinstance(value, str):
                raise Unreadable(f"{where}: metadata.{key}: {label!r} has {value!r}, which is no text")
    for parent, key in ((metadata, "managedFields"), (spec, "taints"), (status, "conditions")):
        entries = parent.get(key) or []
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise Unreadable(f"{where}: {key} is no list of mappings")
    for key in ("allocatable", "capacity"):
        mapping(status, key, f"{where}: status")
    try:
        return live_node(obj)
    except (AttributeError, TypeError) as error:
        raise Unreadable(f"{where}: not in the form of a Node: {error}") from error


def _text(path: Path, name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if str(path) == STDIN else path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror or error}") from error
    try:
        return data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{name}: not UTF-8: {error.reason} at byte {error.start}") from error


def _objects(text: str, name: str, command: str) -> Iterator[tuple[str, Any]]:
    documents = [each for each in _documents(text, name) if each is not None]
    if not documents:
        raise Unreadable(f"{name}: empty; `{command}` prints at least a List")
    for index, document in enumerate(documents, 1):
        where = name if len(documents) == 1 else f"{name}: document {index}"
        if not isinstance(document, dict) or "kind" not in document:
            raise Unreadable(f"{where}: not an object of Kubernetes; `{command}` prints some")
        if not str(document["kind"]).endswith("List"):
            yield where, document
            continue
        items = document.get("items") or []
        if not isinstance(items, list):
            raise Unreadable(f"{where}: items is no list")
        yield from ((f"{where}: items[{place}]", item) for place, item in enumerate(items))


def _documents(text: str, name: str) -> list[Any]:
    """JSON is tried first: it reads fifty times faster, and the nodes of a large cluster are megabytes."""
    try:
        if text.lstrip().startswith("{"):
            return [json.loads(text)]
    except ValueError:
        pass  # YAML may begin so as well
    except RecursionError as error:
        raise Unreadable(f"{name}: nested too deeply") from error
    try:
        return list(yaml.load_all(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise Unreadable(f"{name}{place}: not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise Unreadable(f"{name}: not YAML: {reason}") from error


def mapping(parent: Mapping[str, Any], key: str, where: str) -> dict[Any, Any]:
    """A part of an object that has to be a mapping; empty where it is not there. Raises `Unreadable`."""
    found = parent.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unreadable(f"{where}: {key} is no mapping")
    return found


def _kind(obj: Any) -> str:
    kind = obj.get("kind") if isinstance(obj, dict) else None
    return f"a {kind}" if isinstance(kind, str) else "this"
