"""Edits of the numbers of a budget: a bare number is the quota, until another number joins it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenancy.diagnostics import Edit, KeyPath
from tenancy.edit.errors import Refused
from tenancy.edit.values import Written
from tenancy.load.source import Raw
from tenancy.model.budgets import SHARE
from tenancy.model.document import TRIPLE
from tenancy.model.hardware import GPUS

QUOTA: Final = "quota"


def entry_at(path: KeyPath) -> int | None:
    """How long the part of a path is that ends with a budget entry; None for other paths."""
    for index, step in enumerate(path[:-1]):
        if step == "budget" and index % 2 == 0:
            return index + 2
    return None


def set_number(said: Raw, path: KeyPath, inside: KeyPath, value: Raw | Written) -> Edit:
    """The edit that gives a number of the entry at `path`, which says `said` (None: nothing), a value.

    `inside` is what the number is called there: `quota`, `limit`, `quota.cpu`, or a resource alone, which is the
    quota's; empty for the quota as a whole.
    """
    number, resource = _split(inside)
    if number is None and not resource and isinstance(_plain(value), dict) and _is_triple(_plain(value)):
        return Edit("set", path, value)
    if _is_triple(said):
        return _set_amount(said.get(number or QUOTA), (*path, number or QUOTA), resource, value)
    if number in (None, QUOTA):
        return _set_amount(said, path, resource, value)
    meant = {resource: _plain(value)} if resource else _plain(value)
    if said is None:
        return Edit("set", (*path, number), meant if resource else value)
    pairs = {QUOTA: said, str(number): meant}
    return Edit("set", path, {key: pairs[key] for key in TRIPLE if key in pairs})


def unset_number(said: Raw, path: KeyPath, inside: KeyPath) -> Edit:
    """The edit that takes a number out of the entry at `path`."""
    number, resource = _split(inside)
    if _is_triple(said):
        path = (*path, number or QUOTA) if inside else path
    elif number not in (None, QUOTA):
        raise Refused(f"`{'.'.join(map(str, (*path, number)))}` is not written anywhere")
    return Edit("remove", (*path, resource) if resource else path)


def number_path(said: Raw, path: KeyPath, inside: KeyPath) -> KeyPath:
    """Where a number of an entry stands, whether it is said or not."""
    number, resource = _split(inside)
    where = (*path, number or QUOTA) if _is_triple(said) else path
    return (*where, resource) if resource else where


def _split(inside: KeyPath) -> tuple[str | None, str]:
    steps = [str(step) for step in inside]
    number = steps.pop(0) if steps and steps[0] in TRIPLE else None
    if len(steps) > 1:
        raise Refused(f"`{'.'.join(map(str, inside))}` is no number of a budget entry")
    return number, steps[0] if steps else ""


def _set_amount(said: Raw, path: KeyPath, resource: str, value: Raw | Written) -> Edit:
    """One resource of an amount, or the amount as a whole."""
    if not resource:
        return Edit("set", path, value)
    if said is None or isinstance(said, dict):
        return Edit("set", (*path, resource), value)
    if resource == GPUS:
        return Edit("set", path, value)
    if said == SHARE:
        raise Refused(f"`{'.'.join(map(str, path))}` is a share: {resource} follows from it and has no number")
    return Edit("set", path, {GPUS: said, resource: _plain(value)})


def _is_triple(said: Raw) -> bool:
    return isinstance(said, Mapping) and any(key in TRIPLE for key in said)


def _plain(value: Raw | Written) -> Raw:
    return value.value if isinstance(value, Written) else value
