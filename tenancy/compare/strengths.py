"""Whose promise gets weaker or stronger by numbers and rules, of others or their own, beside what the numbers say.

Only what holds under the scheduler of the cluster: Volcano looks at neither weights nor rules of reclaim and
preemption, and lends out what is reserved; Kubernetes alone lends nothing (docs/parity.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tenancy.backend.reading import UnitReading
from tenancy.check.wording import amount_of
from tenancy.compare.amounts import few, shown
from tenancy.compare.balance import Balance
from tenancy.compare.effects import Mains, Side, mains
from tenancy.compare.tree import Tree, quota_of
from tenancy.model.hardware import MEMORY
from tenancy.model.organization import Quota


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthChange:
    """One promise of a unit that is worth more or less than before."""

    cluster: str
    unit: str
    """Empty for the organization."""
    flavor: str
    """Empty where it is about all flavors."""
    stronger: bool
    what: str
    """What changes for the people of the unit, a sentence without a period, numbers included."""


_RECLAIM: Final = {
    "never": "when the jobs end that borrow it",
    "lower-priority": "by evicting jobs of lower priority",
    "any": "by evicting whoever borrows it",
}
"""How what is lent comes back, the weakest first: run on Kueue 0.17.0 and 0.19.2 (docs/kueue.md)."""

_PREEMPTION: Final = {
    "never": "nobody",
    "lower-priority": "those of lower priority",
    "lower-or-newer-equal": "those of lower priority and newer ones of the same",
}
"""Whom a job evicts in its own queue, the weakest first."""

_Said: TypeAlias = tuple[bool, str] | None
"""Whether it is stronger, and what is to be said; None for nothing."""

_SHARING: Final = {
    "weighted": "what stands idle is divided by weights",
    "first-come": "what stands idle goes to who comes first, whatever the weights",
}


def strengths(
    old: Mapping[str, Side],
    new: Mapping[str, Side],
    balances: tuple[Balance, ...] = (),
    others: Iterable[StrengthChange] = (),
) -> tuple[StrengthChange, ...]:
    """Weaker ones first; `others` are those that no unit says."""
    found = [change for cluster in old.keys() & new.keys() for change in _changes(cluster, old[cluster], new[cluster])]
    found += filter(None, map(_spare, balances))
    found += others
    return tuple(sorted(found, key=_order))


def _order(change: StrengthChange) -> tuple[bool, str, str, str, str]:
    return (change.stronger, change.cluster, change.unit, change.flavor, change.what)


def _changes(cluster: str, old: Side, new: Side) -> Iterator[StrengthChange]:
    if not old.units or not new.units:
        return
    if old.scheduler != new.scheduler:
        words = f"the scheduler changes from {old.scheduler} to {new.scheduler}: `tenancy parity` says what it loses"
        yield StrengthChange(cluster=cluster, unit="", flavor="", stronger=False, what=words)
        return
    both = _Both(cluster, old, new)
    yield from _shared_otherwise(both)
    for name in sorted(old.units.keys() & new.units.keys()):
        one, other = old.units[name], new.units[name]
        if one.inner and other.inner:
            yield from both.pools(name)
        elif not one.inner and not other.inner:
            yield from both.reserves(name)
            yield from both.reclaims(name)
            yield from both.preemptions(name)
            yield from both.borrowed(name)
            yield from both.safe(name)
        yield from both.weights(name)


def _shared_otherwise(both: _Both) -> Iterator[StrengthChange]:
    """Weights count, or no longer do."""
    before, after = both.old.sharing, both.new.sharing
    if before and after and before != after:
        words = f"{_SHARING[after]}; before, {_SHARING[before]}"
        yield StrengthChange(cluster=both.cluster, unit="", flavor="", stronger=after == "weighted", what=words)


def _spare(balance: Balance) -> StrengthChange | None:
    """What may fail before a promise is broken, where another number of nodes is spare."""
    before, after = balance.margin_before, balance.margin_after
    if before is None or after is None or balance.spare_before == balance.spare or before == after:
        return None
    amounts = [amount_of(amount, balance.resource) for amount in (after, before)]
    words = f"{amounts[0]} may fail until a promise is broken, before {amounts[1]}"
    return StrengthChange(cluster=balance.cluster, unit="", flavor=balance.flavor, stronger=after > before, what=words)


class _Both:
    """A cluster on both sides, under one scheduler."""

    def __init__(self, cluster: str, old: Side, new: Side) -> None:
        self.cluster = cluster
        self.old, self.new = old, new
        self._trees = Tree(old), Tree(new)
        self._mains: Mains = mains(old, new)
        self._kueue = new.scheduler == "kueue"
        self._weighted = self._kueue and "first-come" not in (old.sharing, new.sharing)
        self._lent: dict[tuple[int, str, str, str], int] = {}
        self._weights: dict[tuple[int, str], float] = {}

    def pools(self, name: str) -> Iterator[StrengthChange]:
        """What a unit does not hand on is borrowed inside it, and no owner takes it back. That of the organization is
        in the balance of every plan."""
        if name and self.new.scheduler != "native":
            yield from self._each(name, self._pool)

    def _pool(self, name: str, flavor: str, resource: str) -> _Said:
        before, after = (tree.pool(tree.units[name], flavor, resource) for tree in self._trees)
        inside = (quota_of(unit, flavor, resource) for tree in self._trees for unit in tree.below(tree.units[name]))
        if before == after or all(quota.limit <= quota.quota for quota in inside):
            return None
        words = (
            f"its pool is {amount_of(after, resource)}, before {shown(before, resource)}: what its units borrow beyond "
            "that has owners"
        )
        return after > before, words

    def reserves(self, name: str) -> Iterator[StrengthChange]:
        """What is no longer reserved may be lent, and has to be taken back."""
        if self._kueue:
            yield from self._each(name, self._reserve)

    def _reserve(self, name: str, flavor: str, resource: str) -> _Said:
        was, now = self._quotas(name, flavor, resource)
        if now.reserved > was.reserved:
            return True, f"{amount_of(now.reserved - was.reserved, resource)} more are never lent"
        less = min(was.reserved, now.quota) - now.reserved
        rule = _RECLAIM.get(self.new.units[name].rules.get("reclaim", ""), "")
        words = f"{amount_of(less, resource)} that were never lent may be lent, and come back {rule}"
        return (False, words) if less > 0 else None

    def reclaims(self, name: str) -> Iterator[StrengthChange]:
        """Another way to get back what is lent."""
        before, after = (side.units[name].rules.get("reclaim", "") for side in (self.old, self.new))
        lent = self._said(name, lends=True)
        if before != after and before in _RECLAIM and after in _RECLAIM and lent:
            stronger = [*_RECLAIM].index(after) > [*_RECLAIM].index(before)
            words = f"what it lends ({lent}) comes back {_RECLAIM[after]}; before, {_RECLAIM[before]}"
            yield self._change(name, "", stronger, words)

    def preemptions(self, name: str) -> Iterator[StrengthChange]:
        """Other jobs that an urgent one may evict in its own queue."""
        before, after = (side.units[name].rules.get("preemption", "") for side in (self.old, self.new))
        if before != after and before in _PREEMPTION and after in _PREEMPTION:
            stronger = [*_PREEMPTION].index(after) > [*_PREEMPTION].index(before)
            own = self._said(name, lends=False)
            inside = f"inside its quota ({own})" if own else "in its queue"
            words = f"{inside} a job evicts {_PREEMPTION[after]}; before, {_PREEMPTION[before]}"
            yield self._change(name, "", stronger, words)

    def borrowed(self, name: str) -> Iterator[StrengthChange]:
        """How much of what it borrows may be taken back, where its own numbers are what they were."""
        yield from self._each(name, self._borrowed)

    def _borrowed(self, name: str, flavor: str, resource: str) -> _Said:
        was, now = self._quotas(name, flavor, resource)
        before, after = (self._revocable(index, name, flavor, resource) for index in (0, 1))
        if was != now or before == after:
            return None
        most = self._beyond(1, name, flavor, resource)
        words = (
            f"of {amount_of(most, resource)} that it can borrow, owners may take back {shown(after, resource)}, "
            f"before {shown(before, resource)}"
        )
        return after < before, words

    def safe(self, name: str) -> Iterator[StrengthChange]:
        """What a unit pays so that nobody takes GPUs back from it, or gets for letting others do so."""
        if self.new.scheduler != "native":
            yield from self._each(name, self._safe)

    def _safe(self, name: str, flavor: str, resource: str) -> _Said:
        before, after = (self._beyond(index, name, flavor, resource) for index in (0, 1))
        was, now = self._quotas(name, flavor, resource)
        if before and not after and now.quota:
            words = f"it gives up {amount_of(before, resource)} of reach; what it runs is never evicted for others"
            return True, words
        if after and not before and was.quota:
            words = f"it may borrow {amount_of(after, resource)}; jobs beyond its own may be evicted for others"
            return False, words
        return None

    def _beyond(self, index: int, name: str, flavor: str, resource: str) -> int:
        """What a unit can come to use beside its own."""
        tree = self._trees[index]
        unit = tree.units[name]
        return tree.reach(unit, flavor, resource) - quota_of(unit, flavor, resource).quota

    def weights(self, name: str) -> Iterator[StrengthChange]:
        """Its part of what stands idle, where siblings want it all. Fair sharing compares the units below one."""
        if not self._weighted or not name:
            return
        before, after = (self._part(index, name) for index in (0, 1))
        if before != after and None not in (before, after):
            words = f"its part of what its siblings all want is {after}%, before {before}%"
            yield self._change(name, "", (after or 0) > (before or 0), words)

    def _each(self, name: str, said: Callable[[str, str, str], _Said]) -> Iterator[StrengthChange]:
        """What is to be said of each flavor and resource; of cpu and memory that move alike only once."""
        told: set[tuple[str, bool]] = set()
        for flavor, resource in self._counted():
            if (found := said(name, flavor, resource)) is not None:
                stronger, words = found
                if resource != MEMORY or (flavor, stronger) not in told:
                    yield self._change(name, flavor, stronger, words)
                told.add((flavor, stronger))

    def _change(self, unit: str, flavor: str, stronger: bool, words: str) -> StrengthChange:
        return StrengthChange(cluster=self.cluster, unit=unit, flavor=flavor, stronger=stronger, what=words)

    def _counted(self) -> Iterator[tuple[str, str]]:
        return ((flavor, resource) for flavor, names in sorted(self._mains.items()) for resource in names)

    def _quotas(self, name: str, flavor: str, resource: str) -> tuple[Quota, Quota]:
        return (
            quota_of(self.old.units[name], flavor, resource),
            quota_of(self.new.units[name], flavor, resource),
        )

    def _said(self, name: str, *, lends: bool) -> str:
        """The new quota of a unit, or what of it may be lent."""
        found = []
        for flavor, resource in self._counted():
            quota = quota_of(self.new.units[name], flavor, resource)
            if amount := quota.quota - quota.reserved * lends:
                found.append(f"{amount_of(amount, resource)} on {flavor}")
        return few(found)

    def _revocable(self, index: int, name: str, flavor: str, resource: str) -> int:
        """The most of what a unit borrows that owners can take back: what units beside it lend and reclaim, on every
        level that its limit and those of the units above it let it borrow from."""
        tree = self._trees[index]
        at = tree.units[name]
        most, owned = self._beyond(index, name, flavor, resource), 0
        while (above := tree.above(at)) is not None and owned < most:
            own = quota_of(at, flavor, resource)
            if own.limit <= own.quota:
                break
            owned += self._inside(index, above, flavor, resource) - self._lends(index, at, flavor, resource)
            at = above
        return min(owned, most)

    def _lends(self, index: int, unit: UnitReading, flavor: str, resource: str) -> int:
        """What a unit lends to those beside it and takes back on demand."""
        own = quota_of(unit, flavor, resource)
        if not unit.inner:
            return 0 if unit.rules.get("reclaim") == "never" else own.quota - own.reserved
        inside = self._inside(index, unit, flavor, resource)
        pool = self._trees[index].pool(unit, flavor, resource) if inside else 0
        return min(own.quota - own.reserved, inside + pool)

    def _inside(self, index: int, unit: UnitReading, flavor: str, resource: str) -> int:
        """What the units right inside lend together."""
        key = (index, unit.queue, flavor, resource)
        if key not in self._lent:
            below = self._trees[index].below(unit)
            self._lent[key] = sum(self._lends(index, child, flavor, resource) for child in below)
        return self._lent[key]

    def _part(self, index: int, name: str) -> int | None:
        """In percent, of the weights of all siblings that may borrow; None for a unit that borrows nothing."""
        tree = self._trees[index]
        unit = tree.units[name]
        above = tree.above(unit)
        if above is None or not self._borrows(unit):
            return None
        if (key := (index, above.queue)) not in self._weights:
            self._weights[key] = sum(float(child.weight) for child in tree.below(above) if self._borrows(child))
        return round(100 * float(unit.weight) / self._weights[key]) if self._weights[key] else None

    def _borrows(self, unit: UnitReading) -> bool:
        quotas = (quota_of(unit, flavor, resource) for flavor, resource in self._counted())
        return any(quota.limit > quota.quota for quota in quotas)
