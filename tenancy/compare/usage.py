"""Who uses more than the new quota gives, or could: what the scheduler says of its queues against the new promises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tenancy.compare.effects import Side, mains
from tenancy.compare.tree import Tree, quota_of
from tenancy.model.hardware import CPU, MEMORY

Usage: TypeAlias = Mapping[tuple[str, str, str, str], int]
"""From cluster, unit, flavor and resource to what is used, in base units. Where it is known, what is not in it is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrun:
    """A unit that uses more than it will own (or, where usage is not known, could by its old quota or limit)."""

    cluster: str
    unit: str
    flavor: str
    resource: str
    used: int
    """What is used; without usage the old quota or, where that stays, the most that the unit could use."""
    quota: int
    limit: int
    """Of the new side, as far as it can be reached; both 0 where the unit goes."""
    certain: bool
    """Whether usage was given: it does use that, rather than could."""

    @property
    def stuck(self) -> bool:
        """Whether it is more than the unit may ever use: what runs above ends, or goes on without a right to."""
        return self.used > self.limit


def overruns(old: Mapping[str, Side], new: Mapping[str, Side], usage: Usage | None) -> tuple[Overrun, ...]:
    """Units whose promises get smaller than what they use or, without usage, may use now; worst first."""
    nobody = Side({})
    found = [
        overrun
        for cluster in sorted({*old, *new})
        for overrun in _overruns(cluster, old.get(cluster, nobody), new.get(cluster, nobody), usage)
    ]
    return tuple(sorted(found, key=_gravity))


def _overruns(cluster: str, old: Side, new: Side, usage: Usage | None) -> Iterator[Overrun]:
    was, now = Tree(old), Tree(new)
    for name, unit in was.working():
        kept = now.units.get(name)
        kept = None if kept is None or kept.inner else kept
        for flavor, resource in ((flavor, each) for flavor, names in mains(old, new).items() for each in names):
            quota, before = quota_of(kept, flavor, resource).quota, quota_of(unit, flavor, resource).quota
            limit = now.reach(kept, flavor, resource) if kept else 0
            most = was.reach(unit, flavor, resource)
            if quota >= before and limit >= most:
                continue
            could = before if quota < before else most
            used = could if usage is None else usage.get((cluster, name, flavor, resource), 0)
            if used > (quota if quota < before else limit):
                yield Overrun(
                    cluster=cluster,
                    unit=name,
                    flavor=flavor,
                    resource=resource,
                    used=used,
                    quota=quota,
                    limit=limit,
                    certain=usage is not None,
                )


def _gravity(overrun: Overrun) -> tuple[bool, bool, int, str, str, str, str]:
    """What is above the limit first, then devices, then by how much it is above the quota."""
    counted = overrun.resource in (CPU, MEMORY)
    above = overrun.used - overrun.quota
    return (not overrun.stuck, counted, -above, overrun.cluster, overrun.unit, overrun.flavor, overrun.resource)
