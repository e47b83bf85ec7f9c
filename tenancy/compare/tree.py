"""The units of one cluster on one side as a tree: what is above and below each, and what it can come to use."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.reading import UnitReading
from tenancy.compare.effects import NOTHING, Side
from tenancy.model.organization import Quota


class Tree:
    """A side with what is worked out from its numbers, each once."""

    def __init__(self, side: Side) -> None:
        """Find the place of every unit."""
        self.units = side.units
        self._inner = {unit.queue: name for name, unit in side.units.items() if unit.inner}
        self._children: dict[str, list[UnitReading]] = {}
        for name, unit in side.units.items():
            if name:
                self._children.setdefault(unit.parent, []).append(unit)
        self._reserved: dict[tuple[str, str, str], int] = {}
        self._reaches: dict[tuple[str, str, str], int] = {}

    def above(self, unit: UnitReading) -> UnitReading | None:
        """The inner unit that it is in; None for the organization."""
        name = self._inner.get(unit.parent) if unit.title else None
        return None if name is None else self.units[name]

    def below(self, unit: UnitReading) -> list[UnitReading]:
        """The units right inside an inner one."""
        return self._children.get(unit.queue, []) if unit.inner else []

    def working(self) -> Iterator[tuple[str, UnitReading]]:
        """The units that run work, by name."""
        return ((name, unit) for name, unit in sorted(self.units.items()) if not unit.inner)

    def reach(self, unit: UnitReading, flavor: str, resource: str) -> int:
        """The most that it can use while all others stand idle: within its own limit, what those above can come to
        less what its siblings reserve, which nobody lends.

        Where all laws of budgets hold, this is `tenancy.backend.WAITING[…].reach` of every scheduler.
        """
        own, above = quota_of(unit, flavor, resource), self.above(unit)
        if above is None or not above.quotas:  # The objects of `native` say nothing of the organization.
            return own.limit
        left = self._reach_of(above, flavor, resource) - (self._kept(above, flavor, resource) - own.reserved)
        return max(own.quota, min(own.limit, left))

    def pool(self, unit: UnitReading, flavor: str, resource: str) -> int:
        """What an inner unit does not hand on."""
        handed = sum(quota_of(child, flavor, resource).quota for child in self.below(unit))
        return quota_of(unit, flavor, resource).quota - handed

    def _reach_of(self, unit: UnitReading, flavor: str, resource: str) -> int:
        key = (unit.queue, flavor, resource)
        if key not in self._reaches:
            self._reaches[key] = self.reach(unit, flavor, resource)
        return self._reaches[key]

    def _kept(self, unit: UnitReading, flavor: str, resource: str) -> int:
        """What the units right inside reserve together."""
        key = (unit.queue, flavor, resource)
        if key not in self._reserved:
            self._reserved[key] = sum(quota_of(child, flavor, resource).reserved for child in self.below(unit))
        return self._reserved[key]


def quota_of(unit: UnitReading | None, flavor: str, resource: str) -> Quota:
    """The promises of a unit; nothing where there is no such unit, or it has none."""
    return unit.quotas.get(flavor, {}).get(resource, NOTHING) if unit else NOTHING
