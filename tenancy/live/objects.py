"""The objects of an organization in a cluster: those that are generated, and those of ours that no longer are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

from tenancy.backend.manifest import Object
from tenancy.backend.reading import label
from tenancy.live.client import CONNECTIONS, Refused
from tenancy.live.source import Unreadable

OURS: Final = "app.kubernetes.io/managed-by=tenancy"
"""Selects what carries our label. The organization's own has a domain that may have changed since."""

COPIES: Final = frozenset({("", "Endpoints")})
"""Group and kind of objects whose controller copies the labels of another one and names no owner."""

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class Key(NamedTuple):
    """What makes two objects of one cluster the same one, whatever their API versions."""

    group: str
    kind: str
    namespace: str
    name: str


class Server(Protocol):
    """What is asked of the API server; `tenancy.live.client.Api` is one."""

    def get(self, path: str, **query: str | int | None) -> Object:
        """Whatever lies at a path."""

    def objects(self, path: str, **query: str) -> list[Object]:
        """The objects of a collection."""

    def rehearse(self, path: str, obj: Object, manager: str) -> Object:
        """The object as a server-side apply would leave it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind as the API server serves it."""

    version: str
    """`v1`, or a group with its version."""
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    def collection(self) -> str:
        """Where all objects of the kind are listed, whatever their namespaces."""
        return f"{_root(self.version)}/{self.plural}"

    def path(self, key: Key) -> str:
        """Where one object lives."""
        inside = f"/namespaces/{key.namespace}" if self.namespaced else ""
        return f"{_root(self.version)}{inside}/{self.plural}/{key.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What of an organization is in a cluster."""

    kinds: Mapping[tuple[str, str], Kind]
    """By group and kind, as far as the API server serves them."""
    objects: Mapping[Key, Object]
    """Of those that are generated, what is there."""
    extra: Mapping[Key, Object]
    """With the labels of the organization, and not generated."""
    unlisted: tuple[str, ...]
    """Kinds that are not generated and may not be listed: objects of ours among them do not show."""


def key_of(obj: Object) -> Key:
    """The identity of an object."""
    metadata = obj["metadata"]
    return Key(_group(obj["apiVersion"]), obj["kind"], metadata.get("namespace") or "", metadata["name"])


def find(server: Server, wanted: Mapping[Key, Object], organization: str) -> Found:
    """Look for what is `wanted` by its name, and for everything else with the labels of the organization.

    Raises `Unreadable` where something that is wanted may not be read.
    """
    kinds = _kinds(server, {obj["apiVersion"]: key.group for key, obj in wanted.items()})
    needed = {(key.group, key.kind) for key in wanted}
    labelled, unlisted = _labelled(server, kinds, needed)
    there = {key: obj for key, obj in labelled.items() if key in wanted}
    missing = [key for key in wanted if key not in there and (key.group, key.kind) in kinds]
    there |= _named(server, kinds, [key for key in missing if not key.namespace])
    gone = {key.name for key in wanted if key.kind == "Namespace" and not key.group and key not in there}
    there |= _named(server, kinds, [key for key in missing if key.namespace and key.namespace not in gone])
    extra = {
        key: obj
        for key, obj in labelled.items()
        if key not in wanted
        and label(obj, "organization") == organization
        and not obj["metadata"].get("ownerReferences")  # what a controller has made of one of ours goes with it
    }
    return Found(kinds=kinds, objects=there, extra=extra, unlisted=unlisted)


def at_once(ask: Callable[[_Item], _Answer], items: Iterable[_Item]) -> list[_Answer]:
    """The answers in the order of the items; several are asked for at a time. What one raises is raised."""
    with ThreadPoolExecutor(CONNECTIONS) as workers:
        return list(workers.map(ask, items))


def _kinds(server: Server, versions: Mapping[str, str]) -> dict[tuple[str, str], Kind]:
    """Every kind that is served, in the versions that are given, else in the one that the API server prefers."""
    try:
        groups = server.get("/apis").get("groups") or ()
    except Refused as refused:
        raise Unreadable(f"the API server does not say what it serves: {refused}") from refused
    preferred = ["v1", *(each["preferredVersion"]["groupVersion"] for each in groups)]
    served = {"v1", *(version["groupVersion"] for each in groups for version in each["versions"])}
    chosen = list(dict.fromkeys([*preferred, *(version for version in versions if version in served)]))
    found: dict[tuple[str, str], Kind] = {}
    for version, listing in zip(chosen, at_once(partial(_resources, server, versions), chosen), strict=True):
        for each in listing:
            if "/" not in each["name"] and not each.get("version"):  # a part of a kind, or a type that it borrows
                verbs = frozenset(each.get("verbs") or ())
                kind = Kind(version, each["kind"], each["name"], bool(each["namespaced"]), verbs)
                found[_group(version), kind.kind] = kind
    return found


def _resources(server: Server, versions: Mapping[str, str], version: str) -> list[Object]:
    """What a group serves. One whose own server is down, such as that of metrics, only matters where it is needed."""
    try:
        return list(server.get(_root(version)).get("resources") or ())
    except Refused as refused:
        if version in versions:
            raise Unreadable(f"the API server does not say what {version} serves: {refused}") from refused
        return []


def _labelled(
    server: Server, kinds: Mapping[tuple[str, str], Kind], needed: set[tuple[str, str]]
) -> tuple[dict[Key, Object], tuple[str, ...]]:
    """Everything with our label; and the kinds that may not be listed, of those that can be deleted at all."""
    asked = [
        name
        for name, kind in sorted(kinds.items())
        if name in needed or ({"list", "delete"} <= kind.verbs and name not in COPIES)
    ]

    def ask(name: tuple[str, str]) -> list[Object] | None:
        kind = kinds[name]
        try:
            return [_whole(kind, item) for item in server.objects(kind.collection(), labelSelector=OURS)]
        except Unreadable:
            if name in needed:
                raise
            return None

    answers = at_once(ask, asked)
    found = {key_of(obj): obj for answer in answers for obj in answer or ()}
    return found, tuple(name[1] for name, answer in zip(asked, answers, strict=True) if answer is None)


def _named(server: Server, kinds: Mapping[tuple[str, str], Kind], keys: list[Key]) -> dict[Key, Object]:
    """Objects by their names: one that lost its label is still the one that a sync would write to."""

    def ask(key: Key) -> Object | None:
        kind = kinds[key.group, key.kind]
        try:
            return _whole(kind, server.get(kind.path(key)))
        except Refused as refused:
            if refused.code == 404:
                return None
            raise Unreadable(f"{key.kind} {key.name} cannot be read: {refused}") from refused

    answers = at_once(ask, keys)
    return {key: obj for key, obj in zip(keys, answers, strict=True) if obj is not None}


def _whole(kind: Kind, item: Object) -> Object:
    """The items of a list say neither their kind nor its version."""
    return {**item, "apiVersion": kind.version, "kind": kind.kind}


def _group(version: str) -> str:
    group, slash, _ = version.partition("/")
    return group if slash else ""


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"
