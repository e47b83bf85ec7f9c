"""What a unit can come to use, before and after: its own quota and what others may lend, read from both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tenancy.compare.effects import Side, mains
from tenancy.compare.tree import Tree
from tenancy.model.hardware import CPU, MEMORY


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachChange:
    """The most that a unit can use of a flavor while everybody else is idle, in base units; None where it is not."""

    cluster: str
    unit: str
    flavor: str
    resource: str
    before: int | None
    after: int | None

    @property
    def gain(self) -> int:
        """How much more it can use; negative where it is less."""
        return (self.after or 0) - (self.before or 0)


def reaches(old: Mapping[str, Side], new: Mapping[str, Side]) -> tuple[ReachChange, ...]:
    """Every unit that runs work and whose reach changes, worst loss first: devices before cpu and memory."""
    nobody = Side({})
    found = [
        change
        for cluster in sorted({*old, *new})
        for change in _changes(cluster, old.get(cluster, nobody), new.get(cluster, nobody))
    ]
    return tuple(sorted(found, key=_gravity))


def _changes(cluster: str, old: Side, new: Side) -> Iterator[ReachChange]:
    trees = Tree(old), Tree(new)
    names = sorted({name for tree in trees for name, _ in tree.working()})
    for flavor, resources in sorted(mains(old, new).items()):
        for resource in resources:
            for name in names:
                before, after = (_reach(tree, name, flavor, resource) for tree in trees)
                if (before or 0) != (after or 0):
                    yield ReachChange(
                        cluster=cluster, unit=name, flavor=flavor, resource=resource, before=before, after=after
                    )


def _reach(tree: Tree, name: str, flavor: str, resource: str) -> int | None:
    """None where no such unit runs work."""
    unit = tree.units.get(name)
    return None if unit is None or unit.inner else tree.reach(unit, flavor, resource)


def _gravity(change: ReachChange) -> tuple[bool, bool, int, str, str, str, str]:
    counted = change.resource in (CPU, MEMORY)
    return (change.gain > 0, counted, change.gain, change.cluster, change.unit, change.flavor, change.resource)
