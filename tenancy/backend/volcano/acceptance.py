"""Which changes of Queues Volcano's webhook accepts, whatever else of the same sync is already there.

A sync sends its objects in no promised order: Argo CD deletes first and then applies all objects of a kind at once
(pkg/sync of its gitops-engine), and it tries again what was refused. So a change is certain only where the webhook
accepts it with every other pending change done or not done. Certain changes make others certain; the rounds of that
are the most passes that a sync needs.

The webhook (pkg/webhooks/admission/queues/validate, 1.14.2 to 1.15.1) compares the queue that is sent with what is
stored: what siblings have together with what the parent has, and capabilities up and down the tree. A valid tree stays
valid under what it accepts, so only what a change makes worse has to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.model.hardware import CPU, MEMORY
from tenancy.model.quantity import parse
from tenancy.model.volcano import LEVELS, ROOT

_ABSENT: Final = -1
"""Of a resource that a guarantee or deserved does not name: less than a 0 that is named. Children may not name it."""

_UNLIMITED: Final = 1 << 64
"""Of a resource that a capability does not name: more than any amount."""

Amounts: TypeAlias = Mapping[str, int]


class Entry(NamedTuple):
    """What the webhook compares of a Queue."""

    parent: str
    summed: tuple[Amounts, Amounts]
    """guarantee and deserved: children have together at most what their parent has."""
    capability: Amounts
    """Each child has at most what the nearest queue above names; 0 counts as not named there."""

    @property
    def lists(self) -> tuple[Amounts, ...]:
        """All three."""
        return (*self.summed, self.capability)


State: TypeAlias = Mapping[str, Entry]
"""By the name of the Queue."""


class Change(NamedTuple):
    """How the lists of a queue differ."""

    grows: bool
    shrinks: bool


def entry(queue: Object) -> Entry:
    """What the webhook compares, read from the object."""
    spec = queue.get("spec") or {}
    lists = ((spec.get("guarantee") or {}).get("resource"), spec.get("deserved"), spec.get("capability"))
    guarantee, deserved, capability = (
        {name: parse(quantity, name) for name, quantity in (each or {}).items()} for each in lists
    )
    return Entry(spec.get("parent") or ROOT, (guarantee, deserved), capability)


def summed(amounts: Amounts, resource: str) -> int:
    """What a guarantee or deserved has; cpu and memory are always named."""
    return amounts.get(resource, 0 if resource in (CPU, MEMORY) else _ABSENT)


def capable(amounts: Amounts, resource: str) -> int:
    """What a capability allows."""
    return amounts.get(resource, _UNLIMITED)


def change(old: Entry, new: Entry) -> Change:
    """Whether something of the queue gets larger, and whether something gets smaller."""
    pairs = chain(
        (
            (summed(was, name), summed(now, name))
            for was, now in zip(old.summed, new.summed, strict=True)
            for name in was.keys() | now.keys()
        ),
        (
            (capable(old.capability, name), capable(new.capability, name))
            for name in old.capability.keys() | new.capability.keys()
        ),
    )
    moves = [now - was for was, now in pairs]
    return Change(max(moves, default=0) > 0, min(moves, default=0) < 0)


def rounds(old: State, new: State) -> tuple[list[list[str]], list[str]]:
    """The queues of `new` that are not as in `old`, by the pass in which each is accepted at the latest; and those of
    which that is not certain at all. `old` without the queues that go."""
    book = _Book(old, new)
    waiting = [name for name, now in new.items() if old.get(name) != now]
    found: list[list[str]] = []
    while certain := [name for name in waiting if book.certain(name)]:
        for name in certain:
            book.settle(name)
        found.append(certain)
        waiting = [name for name in waiting if name not in book.settled]
    return found, waiting


@dataclass(slots=True)
class _Book:
    """The most that may be stored at once while every change that is not settled may be done or not."""

    old: State
    new: State
    settled: set[str] = field(default_factory=set)
    children: dict[str, list[str]] = field(default_factory=dict)
    """By the parent before or after."""
    totals: dict[tuple[str, int, str], list[int]] = field(default_factory=dict)
    """By parent, list and resource: the amount that its children may have together, and how many may name it."""

    def __post_init__(self) -> None:
        for name, now in self.new.items():
            was = self.old.get(name)
            if was == now:
                self.settled.add(name)
            for parent in {now.parent, was.parent if was else now.parent}:
                self.children.setdefault(parent, []).append(name)
            for each in self._possible(name):
                self._count(*each, 1)

    def settle(self, name: str) -> None:
        """The change is done."""
        for each in self._possible(name):
            self._count(*each, -1)
        self.settled.add(name)
        for each in self._possible(name):
            self._count(*each, 1)

    def certain(self, name: str) -> bool:
        """Whether the webhook accepts the change as things may stand."""
        was, now = self.old.get(name), self.new[name]
        return self._fits_above(was, now) and (was is None or self._fits_below(name, was, now))

    def _possible(self, name: str) -> Iterator[tuple[str, tuple[Amounts, Amounts]]]:
        """What the queue may add below which parent."""
        was, now = self.old.get(name), self.new[name]
        if was is None or name in self.settled:
            yield now.parent, now.summed
        elif was.parent == now.parent:
            first, second = (_larger(one, other) for one, other in zip(was.summed, now.summed, strict=True))
            yield now.parent, (first, second)
        else:
            yield was.parent, was.summed
            yield now.parent, now.summed

    def _count(self, parent: str, lists: tuple[Amounts, Amounts], sign: int) -> None:
        for index, amounts in enumerate(lists):
            for name, amount in amounts.items():
                total = self.totals.setdefault((parent, index, name), [0, 0])
                total[0] += sign * amount
                total[1] += sign

    def _fits_above(self, was: Entry | None, now: Entry) -> bool:
        """Beside its siblings and below its ancestors, as far as it takes more there than before."""
        if now.parent == ROOT:
            return True
        moves = was is None or was.parent != now.parent
        more = [
            (index, name)
            for index, amounts in enumerate(now.summed)
            for name, amount in amounts.items()
            if moves or was is None or amount > summed(was.summed[index], name)
        ]
        higher = {
            name: amount
            for name, amount in now.capability.items()
            if amount and (moves or was is None or amount > was.capability.get(name, 0))
        }
        if not (moves or more or higher):
            return True
        above = self._above(now.parent)
        return (
            above is not None
            and all(
                self.totals[now.parent, index, name][0] <= self._least(now.parent, index, name) for index, name in more
            )
            and not any(0 < limit < amount for name, amount in higher.items() for limit in self._limits(above, name))
        )

    def _above(self, parent: str) -> list[str] | None:
        """The queue and its ancestors; None where one of them has still to come to its place."""
        found: list[str] = []
        while parent != ROOT:
            now, was = self.new.get(parent), self.old.get(parent)
            if now is None or (parent not in self.settled and (was is None or was.parent != now.parent)):
                return None
            found.append(parent)
            parent = now.parent
        return found

    def _entries(self, name: str) -> Iterator[Entry]:
        """What may be stored of the queue."""
        yield self.new[name]
        if name not in self.settled and name in self.old:
            yield self.old[name]

    def _least(self, parent: str, index: int, resource: str) -> int:
        return min(summed(each.summed[index], resource) for each in self._entries(parent))

    def _limits(self, names: list[str], resource: str) -> Iterator[int]:
        for name in names:
            yield from (each.capability.get(resource, 0) for each in self._entries(name))

    def _fits_below(self, name: str, was: Entry, now: Entry) -> bool:
        """Above its children, as far as it leaves them less than before."""
        for index, amounts in enumerate(was.summed):
            for resource, amount in amounts.items():
                left = summed(now.summed[index], resource)
                total, count = self.totals.get((name, index, resource), (0, 0))
                if left < amount and count and total > left:
                    return False
        return not any(
            amount and not 0 < was.capability.get(resource, 0) <= amount and self._most_below(name, resource) > amount
            for resource, amount in now.capability.items()
        )

    def _most_below(self, name: str, resource: str, levels: int = LEVELS) -> int:
        """The largest capability that may be named first on a path down from the queue."""
        most = 0
        for child in self.children.get(name, ()) if levels else ():
            named = [each.capability.get(resource, 0) for each in self._entries(child) if each.parent == name]
            most = max(most, *named, 0)
            if 0 in named:
                most = max(most, self._most_below(child, resource, levels - 1))
        return most


def _larger(one: Amounts, other: Amounts) -> Amounts:
    """The larger amount of each resource that either names."""
    if one == other:
        return one
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in one.keys() | other.keys()}
