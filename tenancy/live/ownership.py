"""Who has set a field of a live object, as `metadata.managedFields` says it.

The form of `fieldsV1` is that of sigs.k8s.io/structured-merge-diff: `f:` and the key of a mapping, `k:` and the keys of
an item of a list, `v:` and the value of an item of a set, `i:` and the index of an item; `.` is the container itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from tenancy.backend.manifest import Object

_DEEPEST: Final = 64


class Item(NamedTuple):
    """A step into a list: the item that is meant, its place from 0, and its name where it has one."""

    value: Any
    place: int
    name: str = ""


Step: TypeAlias = str | Item
"""The key of a mapping, or an item of a list."""


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """A field manager with the time of its last write."""

    manager: str
    time: str = ""

    def __str__(self) -> str:
        """As people read it."""
        when = self.time.replace("T", " ").removesuffix("Z")
        return f"{self.manager}, {when} UTC" if when else self.manager


@dataclass(frozen=True, slots=True)
class Owned:
    """A field with the one who has set it."""

    path: tuple[Step, ...]
    value: Any
    owner: Owner


def shown(path: tuple[Step, ...]) -> str:
    """A path as a plan writes it: `spec.resourceGroups[0].flavors[h100]`; keys with dots or slashes in brackets."""
    text = ""
    for step in path:
        if isinstance(step, Item):
            text += f"[{step.name or step.place}]"
        elif text and ("." in step or "/" in step):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def owners(live: Object, path: tuple[Step, ...]) -> tuple[Owner, ...]:
    """Who has set the field, the latest first. Who has set a list as a whole has set all that is in it."""
    found: list[tuple[int, Owner]] = []
    for owner, fields in _managers(live):
        depth = _depth(fields, path)
        if depth:
            found.append((depth, owner))
    deepest = max((depth for depth, _ in found), default=0)
    mine = {owner for depth, owner in found if depth == deepest}
    return tuple(sorted(mine, key=lambda owner: (owner.time, owner.manager), reverse=True))


def others(live: Object, manager: str) -> Iterator[Owned]:
    """Every field that somebody else than `manager` has set, apart from the status."""
    for owner, fields in _managers(live):
        if owner.manager != manager:
            yield from (Owned(path, value, owner) for path, value in _leaves(fields, live, ()))


def _managers(live: Object) -> Iterator[tuple[Owner, Mapping[str, Any]]]:
    """Those of a subresource write what nobody declares."""
    for entry in live["metadata"].get("managedFields") or ():
        if not entry.get("subresource"):
            yield Owner(str(entry.get("manager", "")), str(entry.get("time", ""))), entry.get("fieldsV1") or {}


def _depth(fields: Mapping[str, Any], path: tuple[Step, ...]) -> int:
    """How many steps of the path the set reaches; 0 where it has only something beside it.

    A set that ends before the path does holds all that is below; one that goes on elsewhere holds nothing of it.
    """
    for depth, step in enumerate(path):
        below = next((value for name, value in fields.items() if _matches(name, step)), None)
        if below is None:
            return 0 if fields else depth
        fields = below
    return len(path)


def _matches(name: str, step: Step) -> bool:
    sort, _, rest = name.partition(":")
    if not isinstance(step, Item):
        return sort == "f" and rest == step
    if sort == "i":
        return rest == str(step.place)
    if sort not in ("k", "v"):
        return False
    said = _read(rest)
    if sort == "v":
        return bool(said == step.value)
    return isinstance(step.value, dict) and isinstance(said, dict) and said.items() <= step.value.items()


def _leaves(fields: Mapping[str, Any], value: Any, path: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """The fields at the ends of a set, as far as the object still has them."""
    below = {name: inner for name, inner in fields.items() if name != "."}
    if not below or len(path) > _DEEPEST:
        yield path, value
        return
    for name, inner in below.items():
        step = _step(name, value)
        if step is not None:
            yield from _leaves(inner or {}, step.value if isinstance(step, Item) else value[step], (*path, step))


def _step(name: str, value: Any) -> Step | None:
    """The step that a name in a set stands for, or None where the object has nothing there."""
    sort, _, rest = name.partition(":")
    if sort == "f":
        return rest if isinstance(value, dict) and rest in value else None
    if not isinstance(value, list):
        return None
    for place, item in enumerate(value):
        step = Item(item, place, str(item.get("name", "")) if isinstance(item, dict) else "")
        if _matches(name, step):
            return step
    return None


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
