"""The changes that mend a finding, where its help leaves no choice (`tenancy fix` makes them)."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from tenancy.check.wording import number_path
from tenancy.diagnostics import Edit, KeyPath
from tenancy.model.hardware import GPUS, Hardware
from tenancy.model.organization import Node
from tenancy.model.quantity import canonical

_LONGEST_NAME = 253
_ONLY = re.compile(r"did you mean `([^`]+)`\?")


def write(path: KeyPath, value: Any) -> tuple[Edit, ...]:
    """Another value in this place."""
    return (Edit("set", path, value),)


def renamed(path: KeyPath, name: str) -> tuple[Edit, ...]:
    """Another name for this key."""
    return (Edit("rename", path, name),)


def offered(path: KeyPath, help_: str) -> tuple[Edit, ...]:
    """What a help offers, where it is one thing and nothing else: 1000 for `1,000`, `64Gi` for `64 GiB`."""
    only = _ONLY.fullmatch(help_)
    if only is None:
        return ()
    text = only[1]
    return (Edit("set", path, int(text) if text.isascii() and text.isdecimal() else text),)


def leave_out(path: KeyPath) -> tuple[Edit, ...]:
    """Without this key or item."""
    return (Edit("remove", path),)


def meant(path: KeyPath, text: str, known: Collection[str]) -> tuple[Edit, ...]:
    """The known name that is nearest to a value, if any is; the one that the help offers."""
    near = _near(text, known)
    return (Edit("set", path, near),) if near else ()


def meant_key(path: KeyPath, known: Collection[str], there: Collection[str]) -> tuple[Edit, ...]:
    """The known name that is nearest to a key, unless it is there as well: then one of the two must go, or both."""
    near = _near(str(path[-1]), known)
    return (Edit("rename", path, near),) if near and near not in there else ()


def amount(unit: Node, flavor: Hardware, number: str, resource: str, count: int) -> tuple[Edit, ...]:
    """Another amount for a number of a budget, where that is written for this very resource."""
    if resource not in unit.entries[flavor.name].written.get(number, {}):
        return ()
    return (Edit("set", number_path(unit, flavor, number, resource), quantity(count, resource)),)


def budget(unit: Node, flavor: Hardware, counts: dict[str, int]) -> tuple[Edit, ...]:
    """A first budget for a unit, with these amounts of the resources that budgets count."""
    names = {resource: key for key, resource in flavor.names.items()}
    said = {names[main]: quantity(counts[main], main) for main in flavor.mains if counts[main]}
    value = said[GPUS] if list(said) == [GPUS] else said
    return (Edit("set", (*unit.path, "budget", flavor.name), value),)


def quantity(count: int, resource: str) -> int | str:
    """An amount as it is written: a number where it needs no suffix."""
    text = canonical(count, resource)
    return int(text) if text.isdecimal() else text


def _near(text: str, known: Collection[str]) -> str:
    near = get_close_matches(text, known, 1, 0.6) if len(text) <= _LONGEST_NAME else []
    return near[0] if near else ""
