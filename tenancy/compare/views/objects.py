"""The objects of a comparison as lines: `-`, `~` with what differs, `+`.

What goes or comes together with its namespace is only counted there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from tenancy.compare.comparison import Comparison, named
from tenancy.compare.diff import ABSENT, Change, Create, Delete, Difference, Update
from tenancy.compare.snapshot import Value

_LONGEST: Final = 80
"""Characters of a value that a line shows."""


def object_lines(comparison: Comparison) -> list[str]:
    """Every change, deletions first."""
    lines: list[str] = []
    for change, title in titled(comparison):
        sign = {Delete: "-", Update: "~", Create: "+"}[type(change)]
        lines.append(f"  {sign} {title}")
        if isinstance(change, Update):
            lines += [f"      {line}" for line in _differences(change)]
    return lines


def titled(comparison: Comparison) -> Iterator[tuple[Change, str]]:
    """Every change that is not counted at its namespace, with what it is called, deletions first."""
    inside = _inside(comparison)
    for change in comparison.changes:
        if _folded(change, inside):
            continue
        count = inside.get(_namespace(change), 0) if change.identity.kind == "Namespace" else 0
        with_them = f" with {plural(count, 'object')}" if count else ""
        yield change, f"{named(change.identity, comparison.clusters)}{with_them}"


_Key = tuple[type, str, str]
"""Create or Delete, the cluster and the namespace."""


def _inside(comparison: Comparison) -> Counter[_Key]:
    """How many objects come or go in each namespace that comes or goes."""
    whole = {
        _namespace(change)
        for change in comparison.changes
        if change.identity.kind == "Namespace" and not isinstance(change, Update)
    }
    keys = ((type(each), each.identity.cluster, each.identity.namespace) for each in comparison.changes)
    return Counter(key for key in keys if key in whole)


def _namespace(change: Change) -> _Key:
    return (type(change), change.identity.cluster, change.identity.name)


def _folded(change: Change, inside: Counter[_Key]) -> bool:
    identity = change.identity
    return bool(identity.namespace) and (type(change), identity.cluster, identity.namespace) in inside


def _differences(update: Update) -> Iterator[str]:
    for difference in update.differences:
        yield from _difference(difference)


def _difference(difference: Difference) -> Iterator[str]:
    if difference.old is ABSENT:
        yield f"{difference.path}: + {_value(difference.new)}"
    elif difference.new is ABSENT:
        yield f"{difference.path}: - {_value(difference.old)}"
    else:
        yield f"{difference.path}: {_value(difference.old)} → {_value(difference.new)}"


def _value(value: Value) -> str:
    """The value in one line, cut where it is long."""
    line = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def plural(number: int, noun: str) -> str:
    """`1 object`, `2 objects`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
