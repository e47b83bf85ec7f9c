"""The inverse of this backend: units with their promises, read back from the ResourceQuotas of their namespaces.

Only units that run jobs have objects. A unit above them has what these have together. What the organization has beside
is in no object, so its quotas are empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tenancy.backend.manifest import Object
from tenancy.backend.native.quotas import COMPUTE
from tenancy.backend.reading import UnitReading, label, note
from tenancy.model.organization import Quota
from tenancy.model.quantity import parse
from tenancy.plan.values import Quotas


class _Unit(NamedTuple):
    """What the quotas of one unit's namespaces have in common."""

    title: str
    shared: bool

    @property
    def above(self) -> str:
        """The title of the unit that holds it; its team's own where it is what projects share."""
        return self.title if self.shared else self.title.rpartition("/")[0]


def units(objects: Iterable[Object]) -> list[UnitReading]:
    """The units of one cluster, sorted by title; other objects are ignored.

    Every amount must be canonical, as `compile` writes it.
    """
    leaves: dict[_Unit, list[Object]] = {}
    inner: dict[str, list[Object]] = {}
    for obj in objects:
        if obj.get("kind") == "ResourceQuota" and obj["metadata"]["name"] == COMPUTE:
            unit = _Unit(note(obj, "unit"), bool(note(obj, "shared")))
            leaves.setdefault(unit, []).append(obj)
            for title in _upwards(unit.above):
                inner.setdefault(title, []).append(obj)
    readings = [_leaf(unit, found) for unit, found in leaves.items()]
    readings += [_inner(title, found) for title, found in inner.items()]
    return sorted(readings, key=lambda reading: (reading.title, reading.shared))


def _upwards(title: str) -> list[str]:
    """The unit and all that hold it, the organization last."""
    names = title.split("/") if title else []
    return ["/".join(names[:depth]) for depth in range(len(names), -1, -1)]


def _leaf(unit: _Unit, found: list[Object]) -> UnitReading:
    organization = label(found[0], "organization")
    return UnitReading(
        title=unit.title,
        queue=_joined(unit.title, organization),
        parent=_joined(unit.above, organization),
        inner=False,
        shared=unit.shared,
        quotas=_sum(found),
        weight="1",
        state=note(found[0], "state") or "active",
        rules={},
        namespaces=tuple(sorted(obj["metadata"]["namespace"] for obj in found)),
    )


def _inner(title: str, found: list[Object]) -> UnitReading:
    organization = label(found[0], "organization")
    return UnitReading(
        title=title,
        queue=_joined(title, organization),
        parent=_joined(title.rpartition("/")[0], organization) if title else "",
        inner=True,
        shared=False,
        quotas=_sum(found) if title else {},
        weight="1",
        state="active",
        rules={},
        namespaces=(),
    )


def _sum(found: Iterable[Object]) -> Quotas:
    """What namespaces have together. Nothing is lent or borrowed, so the three promises are one number."""
    total: dict[str, dict[str, int]] = {}
    for obj in found:
        for entry in filter(None, note(obj, "quotas").split(",")):
            cell, _, amount = entry.partition("=")
            flavor, _, resource = cell.partition("/")
            mine = total.setdefault(flavor, {})
            mine[resource] = mine.get(resource, 0) + parse(amount, resource)
    return {
        flavor: {resource: Quota(amount, amount, amount) for resource, amount in amounts.items()}
        for flavor, amounts in total.items()
    }


def _joined(title: str, organization: str) -> str:
    """The name of a unit's queue in the plan."""
    return title.replace("/", "-") or organization
