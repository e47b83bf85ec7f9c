"""What changes between two snapshots, object by object: a sorted list of values that views only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias

from tenancy.compare.snapshot import Identity, Snapshot, Value


class Absent(Enum):
    """The side of a difference where nothing stands."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that differs inside an object; `path` as `spec.resourceGroups[0].flavors[h100]`."""

    path: str
    old: Value | Literal[Absent.ABSENT]
    new: Value | Literal[Absent.ABSENT]


@dataclass(frozen=True, slots=True)
class Delete:
    """An object that goes."""

    identity: Identity
    old: Value


@dataclass(frozen=True, slots=True)
class Update:
    """An object that stays and changes."""

    identity: Identity
    old: Value
    new: Value
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Create:
    """An object that comes."""

    identity: Identity
    new: Value


Change: TypeAlias = Delete | Update | Create


def diff(old: Snapshot, new: Snapshot) -> tuple[Change, ...]:
    """Every change: deletions, then updates, then creations, each by identity. A moved object is no change."""
    deletes = [Delete(each, value) for each, value in old.items.items() if each not in new.items]
    creates = [Create(each, value) for each, value in new.items.items() if each not in old.items]
    updates = [
        Update(each, value, other, differences)
        for each, value in old.items.items()
        if (other := new.items.get(each)) is not None
        and other is not value
        and (differences := tuple(compare(value, other)))
    ]
    parts: tuple[list[Change], ...] = ([*deletes], [*updates], [*creates])
    return tuple(change for part in parts for change in sorted(part, key=lambda change: change.identity))


def compare(old: Value, new: Value, path: str = "") -> Iterator[Difference]:
    """The differences between two values, as deep as both have the same shape."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _entry(old.get(key, ABSENT), new.get(key, ABSENT), _below(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, path)
    elif old != new or type(old) is not type(new):
        yield Difference(path, old, new)


def _entry(old: Value, new: Value, path: str) -> Iterator[Difference]:
    if old is ABSENT or new is ABSENT:
        yield Difference(path, old, new)
    else:
        yield from compare(old, new, path)


def _lists(old: list[Value], new: list[Value], path: str) -> Iterator[Difference]:
    """Entries match by `name` where all have one of their own, else by place in lists of one length, else by value."""
    names, new_names = _names(old), _names(new)
    if names is not None and new_names is not None:
        yield from _named(dict(zip(names, old, strict=True)), dict(zip(new_names, new, strict=True)), path)
    elif len(old) == len(new) and all(isinstance(each, dict | list) for each in [*old, *new]):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from compare(one, other, f"{path}[{index}]")
    else:
        yield from _sets(old, new, path)


def _names(values: list[Value]) -> list[str] | None:
    names = [value.get("name") for value in values if isinstance(value, dict)]
    texts = [name for name in names if isinstance(name, str)]
    return texts if len(texts) == len(values) and len(set(texts)) == len(texts) else None


def _named(old: dict[str, Value], new: dict[str, Value], path: str) -> Iterator[Difference]:
    for name in [*old, *(name for name in new if name not in old)]:
        yield from _entry(old.get(name, ABSENT), new.get(name, ABSENT), f"{path}[{name}]")
    kept, now = [name for name in old if name in new], [name for name in new if name in old]
    if kept != now:
        yield Difference(f"{path} (order)", kept, now)


def _sets(old: list[Value], new: list[Value], path: str) -> Iterator[Difference]:
    """What went and what came, each with its number of times; the whole lists where only the order differs."""
    gone, come = _without(old, new), _without(new, old)
    yield from (Difference(f"{path}[]", value, ABSENT) for value in gone)
    yield from (Difference(f"{path}[]", ABSENT, value) for value in come)
    if not gone and not come and old != new:
        yield Difference(f"{path} (order)", old, new)


def _without(values: list[Value], others: list[Value]) -> list[Value]:
    left = Counter(map(repr, others))
    found = []
    for value in values:
        left[repr(value)] -= 1
        if left[repr(value)] < 0:
            found.append(value)
    return found


def _below(path: str, key: str) -> str:
    """Keys that hold a dot or a slash, as labels do, stand in brackets."""
    if not path:
        return key
    return f"{path}[{key}]" if "." in key or "/" in key else f"{path}.{key}"
