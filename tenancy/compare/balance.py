"""What the promises come to: installed, spare, promised and free per flavor, and what they cost per month.

What the old side could use is read from its objects, which hold the whole capacity. Installed nodes and prices are no
objects: they are known of the new organization, and of the old one where a comparison has it (`--against REV`). Without
it the old side is priced as the new organization has its flavors, and a difference is one of promises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tenancy.backend.reading import UnitReading
from tenancy.compare.effects import Side, mains
from tenancy.model.hardware import Hardware
from tenancy.plan.values import Quotas

HOURS: Final = 730
"""Hours of a month, a twelfth of a year, as cloud prices are quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """One resource of a flavor, in base units; None where a side does not have the flavor."""

    cluster: str
    flavor: str
    resource: str
    installed: int | None
    """Of the new organization, spare nodes included; None where it no longer has the flavor."""
    installed_before: int | None = None
    """Of the old organization; None where it is not known, or had no such flavor."""
    usable_before: int | None
    usable_after: int | None
    """Without spare nodes: what departments may be promised."""
    promised_before: int
    promised_after: int

    @property
    def spare(self) -> int | None:
        """What is installed and kept out of budgets."""
        if self.installed is None or self.usable_after is None:
            return None
        return self.installed - self.usable_after

    @property
    def spare_before(self) -> int | None:
        """What was installed and kept out of budgets."""
        if self.installed_before is None or self.usable_before is None:
            return None
        return self.installed_before - self.usable_before

    @property
    def margin_before(self) -> int | None:
        """What could fail before a promise was broken."""
        return None if self.installed_before is None else self.installed_before - self.promised_before

    @property
    def margin_after(self) -> int | None:
        """What may fail before a promise is broken."""
        return None if self.installed is None else self.installed - self.promised_after

    @property
    def free_before(self) -> int | None:
        """What no department had."""
        return None if self.usable_before is None else self.usable_before - self.promised_before

    @property
    def free_after(self) -> int | None:
        """What no department has."""
        return None if self.usable_after is None else self.usable_after - self.promised_after

    @property
    def changed(self) -> bool:
        """Whether a promise or what may be promised differs."""
        return (self.usable_before, self.promised_before) != (self.usable_after, self.promised_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The quota of a department of the first level for a month, each side at its own prices where they are known."""

    cluster: str
    unit: str
    before: Fraction
    after: Fraction


def balances(
    old: Mapping[str, Side],
    new: Mapping[str, Side],
    flavors: Mapping[str, Hardware],
    old_flavors: Mapping[str, Hardware] | None = None,
) -> tuple[Balance, ...]:
    """Every flavor and counted resource of every cluster."""
    known = old_flavors or {}
    return tuple(
        balance
        for cluster in sorted({*old, *new})
        for balance in _balances(cluster, old.get(cluster, Side({})), new.get(cluster, Side({})), flavors, known)
    )


def costs(
    old: Mapping[str, Side],
    new: Mapping[str, Side],
    flavors: Mapping[str, Hardware],
    old_flavors: Mapping[str, Hardware] | None = None,
) -> tuple[Cost, ...]:
    """The departments of the first level that cost something on either side; none where nothing has a price."""
    found: list[Cost] = []
    before = flavors if old_flavors is None else old_flavors
    for cluster in sorted({*old, *new}):
        was, now = _top(old.get(cluster)), _top(new.get(cluster))
        for unit in sorted({*was, *now}):
            cost = Cost(
                cluster=cluster,
                unit=unit,
                before=_cost(was.get(unit), cluster, before),
                after=_cost(now.get(unit), cluster, flavors),
            )
            if cost.before or cost.after:
                found.append(cost)
    return tuple(found)


def _top(side: Side | None) -> dict[str, UnitReading]:
    return {unit.title: unit for unit in side.top} if side else {}


def _balances(
    cluster: str, old: Side, new: Side, flavors: Mapping[str, Hardware], old_flavors: Mapping[str, Hardware]
) -> Iterator[Balance]:
    for flavor, resources in sorted(mains(old, new).items()):
        for resource in resources:
            yield Balance(
                cluster=cluster,
                flavor=flavor,
                resource=resource,
                installed=_installed(flavors.get(flavor), cluster, resource),
                installed_before=_installed(old_flavors.get(flavor), cluster, resource),
                usable_before=_usable(old, flavor, resource),
                usable_after=_usable(new, flavor, resource),
                promised_before=_promised(old, flavor, resource),
                promised_after=_promised(new, flavor, resource),
            )


def _installed(hardware: Hardware | None, cluster: str, resource: str) -> int | None:
    return hardware.installed.get(resource, 0) if hardware and hardware.cluster == cluster else None


def _usable(side: Side, flavor: str, resource: str) -> int | None:
    amounts = side.root.quotas.get(flavor) if side.root else None
    return amounts[resource].quota if amounts and resource in amounts else None


def _promised(side: Side, flavor: str, resource: str) -> int:
    found = (unit.quotas.get(flavor, {}).get(resource) for unit in side.top)
    return sum(quota.quota for quota in found if quota is not None)


def _cost(unit: UnitReading | None, cluster: str, flavors: Mapping[str, Hardware]) -> Fraction:
    here = (flavor for flavor in flavors.values() if flavor.cluster == cluster)
    return monthly(unit.quotas, here) if unit is not None else Fraction(0)


def monthly(quotas: Quotas, flavors: Iterable[Hardware]) -> Fraction:
    """What the quotas on these flavors cost in a month."""
    return HOURS * sum(
        (
            flavor.price * _hours(flavor, {key: each.quota for key, each in quotas.get(flavor.name, {}).items()})
            for flavor in flavors
            if flavor.price
        ),
        Fraction(0),
    )


def _hours(flavor: Hardware, quota: Mapping[str, int]) -> Fraction:
    """What the quota is worth in hours of what has the price.

    A GPU counts one, a MIG slice or a share its part of the GPU's memory; of a CPU flavor it is nodes, by the scarcer
    of cpu and memory.
    """
    if flavor.gpu is None:
        shares = [Fraction(quota.get(name, 0), flavor.node[name]) for name in flavor.mains if flavor.node.get(name)]
        return max(shares, default=Fraction(0))
    return sum((quota.get(device.resource, 0) * device.part for device in flavor.devices), Fraction(0))
