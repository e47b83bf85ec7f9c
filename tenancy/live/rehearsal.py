"""What a sync would make of one live object: a server-side apply in dry run, and what it would change."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tenancy.backend.manifest import Object
from tenancy.compare.diff import ABSENT
from tenancy.live.client import Refused
from tenancy.live.objects import Kind, Server, key_of
from tenancy.live.ownership import Item, Step

TRACKING: Final[Mapping[str, tuple[str, ...]]] = {
    "annotations": ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id"),
    "labels": (
        "app.kubernetes.io/instance",
        "kustomize.toolkit.fluxcd.io/name",
        "kustomize.toolkit.fluxcd.io/namespace",
    ),
}
"""What Argo CD (common/common.go) and Flux (kustomize-controller) add to every object that they apply."""

SERVER_SIDE: Final = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Of the metadata, what the API server alone writes."""

_FORBIDDEN: Final = re.compile(
    r'^\S+ "[^"]*" is forbidden: (User ".*" cannot \w+ resource|user ".*" .*attempting to grant)'
)
"""How RBAC refuses, in rbac.authorization.k8s.io and in k8s.io/apiserver (NewForbidden), unlike admission."""
_NO_DRY_RUN: Final = "does not support dry run"


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What a dry run of one object came to."""

    after: Object | None
    """The object as it would be; None where it was refused or could not be tried."""
    refusal: str = ""
    """What the API server, or a webhook behind it, says against the object."""
    untried: str = ""
    """Why it could not be tried: a right that the user lacks, or a webhook without dry run."""


def rehearse(server: Server, kind: Kind, obj: Object, live: Object | None, manager: str) -> Rehearsed:
    """Apply an object in dry run, as the engine of GitOps would: with the marks by which it knows its own."""
    try:
        return Rehearsed(server.rehearse(kind.path(key_of(obj)), marked(obj, live), manager))
    except Refused as refused:
        said = " ".join(str(refused).split())
        if _NO_DRY_RUN in said or (refused.code == 403 and _FORBIDDEN.match(said)):
            return Rehearsed(None, untried=said)
        return Rehearsed(None, refusal=said)


def marked(obj: Object, live: Object | None) -> Object:
    """The object with the marks of the engine that the live one has."""
    metadata = dict(obj["metadata"])
    for part, keys in TRACKING.items():
        found = (live or {}).get("metadata", {}).get(part) or {}
        metadata[part] = {**(metadata.get(part) or {}), **{key: found[key] for key in keys if key in found}}
    return {**obj, "metadata": metadata}


def said(obj: Object) -> Object:
    """An object without its status and what the API server alone writes."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in SERVER_SIDE}
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": metadata}


def overlaid(live: Any, git: Any) -> Any:
    """What an apply would come to by the text alone, where none may be tried: what git says, the rest as it is."""
    if isinstance(live, dict) and isinstance(git, dict):
        return {**live, **{key: overlaid(live.get(key, ABSENT), value) for key, value in git.items()}}
    if isinstance(live, list) and isinstance(git, list) and len(live) == len(git):
        return [overlaid(one, other) for one, other in zip(live, git, strict=True)]
    return copy.deepcopy(git)


@dataclass(frozen=True, slots=True)
class Moved:
    """A field that a sync would change, or remove or add where one side is absent."""

    path: tuple[Step, ...]
    before: Any
    after: Any


def moved(live: Any, after: Any, path: tuple[Step, ...] = ()) -> Iterator[Moved]:
    """What differs between an object and what it would be, as deep as both have the same shape."""
    if isinstance(live, dict) and isinstance(after, dict):
        for key in [*live, *(key for key in after if key not in live)]:
            yield from _entry(live.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
    elif (pairs := _paired(live, after)) is not None:
        for item, one, other in pairs:
            yield from _entry(one, other, (*path, item))
    elif live != after or type(live) is not type(after):
        yield Moved(path, live, after)


def before(git: Any, live: Any, after: Any) -> Any:
    """The live value of what git says, and of what a sync would remove: defaults and fields of others do not show.

    Where a sync changes nothing it is what git says, so that two spellings of one quantity are no difference.
    """
    if live is ABSENT or after is ABSENT:
        return live
    if live == after and type(live) is type(after):
        return git
    if isinstance(live, dict) and isinstance(after, dict):
        known = git if isinstance(git, dict) else {}
        keys = [*known, *(key for key in [*live, *after] if key not in known)]
        values = {
            key: before(known.get(key, ABSENT), live.get(key, ABSENT), after.get(key, ABSENT))
            for key in dict.fromkeys(keys)
        }
        return {key: value for key, value in values.items() if value is not ABSENT}
    if (pairs := _paired(live, after)) is not None and isinstance(git, list):
        values_ = [before(_same(git, item), one, other) for item, one, other in pairs]
        return [value for value in values_ if value is not ABSENT]
    return live


def _entry(one: Any, other: Any, path: tuple[Step, ...]) -> Iterator[Moved]:
    if one is ABSENT or other is ABSENT:
        yield Moved(path, one, other)
    else:
        yield from moved(one, other, path)


def _paired(live: Any, after: Any) -> list[tuple[Item, Any, Any]] | None:
    """Items of two lists that belong together: by name where all have one, else by place in lists of one length."""
    if not isinstance(live, list) or not isinstance(after, list):
        return None
    names, later = _names(live), _names(after)
    if names is not None and later is not None:
        one, other = dict(zip(names, live, strict=True)), dict(zip(later, after, strict=True))
        order = [*names, *(name for name in later if name not in one)]
        if [name for name in order if name in other] != later:
            return None  # the order differs as well
        pairs = ((name, one.get(name, ABSENT), other.get(name, ABSENT)) for name in order)
        return [(Item(_present(a, b), i, name), a, b) for i, (name, a, b) in enumerate(pairs)]
    if len(live) == len(after) and all(isinstance(each, dict | list) for each in [*live, *after]):
        return [(Item(a, index), a, b) for index, (a, b) in enumerate(zip(live, after, strict=True))]
    return None


def _present(one: Any, other: Any) -> Any:
    return other if one is ABSENT else one


def _same(git: list[Any], item: Item) -> Any:
    """What git says of an item."""
    if item.name:
        return next((each for each in git if isinstance(each, dict) and each.get("name") == item.name), ABSENT)
    return git[item.place] if item.place < len(git) else ABSENT


def _names(values: list[Any]) -> list[str] | None:
    names = [value.get("name") for value in values if isinstance(value, dict)]
    texts = [name for name in names if isinstance(name, str)]
    return texts if texts and len(texts) == len(values) and len(set(texts)) == len(texts) else None
