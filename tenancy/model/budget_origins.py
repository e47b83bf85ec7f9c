"""Where reserved, quota and limit of a unit come from: `tenancy.model.budgets` told step by step, beside it.

Each rule here stands for one step there; a test takes every number of random organizations back to its rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from tenancy.diagnostics import KeyPath
from tenancy.load.source import Sources
from tenancy.model.budgets import followers
from tenancy.model.document import TRIPLE, Triple
from tenancy.model.flavor_origins import brings, capacity
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Entry, Node, Org, Quota
from tenancy.model.origins import DEFAULT, Origin, derived, plain, written
from tenancy.model.quantity import human
from tenancy.model.reach import queue_node
from tenancy.model.unit_origins import rule

_NAMED: Final = 6
"""So many units are named in a sum; of more only the number is told."""


class Origins(NamedTuple):
    """Of the three promises of one resource."""

    reserved: Origin
    quota: Origin
    limit: Origin


@dataclass(frozen=True, slots=True)
class _Asked:
    """One resource of a flavor in the budget of a unit."""

    org: Org
    sources: Sources
    node: Node
    flavor: Hardware
    resource: str

    @property
    def entry(self) -> Entry:
        """What the unit has of the flavor."""
        return self.node.entries[self.flavor.name]

    @property
    def own(self) -> Quota:
        """Its promises."""
        return self.entry.amounts[self.resource]

    @property
    def above(self) -> Quota:
        """Those of the unit above."""
        assert self.node.parent is not None
        return self.node.parent.entries[self.flavor.name].amounts[self.resource]

    def path(self, number: str) -> KeyPath | None:
        """Where the number of the resource is written; None where it is not."""
        if self.resource not in self.entry.written.get(number, {}):
            return None
        said, path = self.node.budget[self.flavor.name], self.entry.path
        value = said
        if isinstance(said, Triple):
            path, value = (*path, number), getattr(said, number)
        if not isinstance(value, Mapping):
            return path
        return (*path, next(key for key in value if self.flavor.names.get(key) == self.resource))

    def shown(self, amount: int) -> str:
        """An amount for people."""
        return human(amount, self.resource)

    def title(self, node: Node) -> str:
        """What a unit is called."""
        return node.title or node.name

    def also(self, node: Node) -> _Asked:
        """The same of another unit."""
        return _Asked(self.org, self.sources, node, self.flavor, self.resource)


def origins(org: Org, sources: Sources, node: Node, flavor: Hardware, resource: str) -> Origins:
    """Where the promises come from that `explain` shows for a unit: its own, or those of the queue that it shares."""
    holder = node if node.inner else queue_node(node)
    asked = _Asked(org, sources, holder, flavor, resource)
    if holder.parent is None:
        whole = capacity(org, sources, flavor, resource)
        return Origins(Origin(DEFAULT, "the organization keeps nothing for itself"), whole, whole)
    found = Origins(_reserved(asked), _quota(asked), _limit(asked))
    return _left(asked, found) if holder is not node and holder.inner else found


def _reserved(asked: _Asked) -> Origin:
    if path := asked.path("reserved"):
        return written(asked.sources, path)
    first = followers(asked.flavor, asked.entry.written.get("reserved", {})).get(asked.resource, 0)
    parts = [(child.name, asked.also(child).own.reserved) for child in asked.node.children]
    if asked.own.reserved > min(first, asked.own.quota):
        return derived(asked.sources, "sum", f"what the units in it reserve: {_parts(asked, parts)}")
    if first > asked.own.quota:
        return derived(asked.sources, "cut", f"cut at its quota: {asked.shown(first)} would follow its reserved GPUs")
    if first:
        return _follows(asked, "reserved")
    return Origin(DEFAULT, "nothing is reserved")


def _parts(asked: _Asked, parts: list[tuple[str, int]]) -> str:
    """The units of a sum that add anything to it."""
    adding = [f"{name} {asked.shown(amount)}" for name, amount in parts if amount]
    more = len(adding) - _NAMED
    return ", ".join(adding) if more <= 0 else f"{', '.join(adding[:_NAMED])} and {more} more"


def _quota(asked: _Asked) -> Origin:
    if path := asked.path("quota"):
        return written(asked.sources, path)
    main = asked.resource in asked.flavor.mains
    if asked.entry.share:
        return _share(asked) if main else _cut(asked)
    if main and (path := asked.path("reserved")):
        return derived(asked.sources, "reserved", "as much as is reserved", [path])
    if not main and asked.own.quota:
        return _follows(asked, "quota")
    return Origin(DEFAULT, "no budget says any")


def _share(asked: _Asked) -> Origin:
    """By weight, of what the fixed quotas leave of the parent's."""
    assert asked.node.parent is not None
    found = [(child, asked.also(child)) for child in asked.node.parent.children]
    fixed = [each.own.quota for _, each in found if not each.entry.share]
    total = sum((_weight(child) for child, each in found if each.entry.share), Fraction(0))
    shares = f"{plain(float(_weight(asked.node)))} of {plain(float(total))} shares"
    detail = f"{shares} of {_left_over(asked, [*filter(None, fixed)])}"
    triple = isinstance(asked.node.budget[asked.flavor.name], Triple)
    paths = [(*asked.entry.path, "quota") if triple else asked.entry.path, (*asked.node.path, "weight")]
    if (path := asked.path("limit")) and asked.own.quota == asked.own.limit:
        return derived(asked.sources, "share", f"{detail}, no more than its limit", [*paths, path])
    return derived(asked.sources, "share", detail, paths)


def _left_over(asked: _Asked, fixed: list[int]) -> str:
    whole = asked.shown(asked.above.quota)
    if not fixed:
        return f"all {whole}"
    many = "1 fixed quota leaves" if len(fixed) == 1 else f"{len(fixed)} fixed quotas leave"
    return f"the {asked.shown(max(0, asked.above.quota - sum(fixed)))} that {many} of {whole}"


def _weight(node: Node) -> Fraction:
    return Fraction(str(node.document.weight)) if node.document else Fraction(0)


def _cut(asked: _Asked) -> Origin:
    """cpu and memory of a share follow its GPUs, no further than a limit that is written."""
    path = asked.path("limit")
    follow = followers(asked.flavor, _counts(asked, "quota"))[asked.resource]
    if path and asked.own.quota < follow:
        words = f"cut at its limit: {asked.shown(follow)} would follow its GPUs"
        return derived(asked.sources, "cut", words, [path])
    return _follows(asked, "quota")


def _counts(asked: _Asked, number: str) -> dict[str, int]:
    """How much of what budgets count the number has."""
    if number == "reserved":
        said = asked.entry.written.get(number, {})
        return {main: said[main] for main in asked.flavor.mains if main in said}
    return {main: getattr(asked.entry.amounts[main], number) for main in asked.flavor.mains}


def _follows(asked: _Asked, number: str) -> Origin:
    return brings(asked.org, asked.sources, asked.flavor, asked.resource, _counts(asked, number))


def _limit(asked: _Asked) -> Origin:
    if path := asked.path("limit"):
        return written(asked.sources, path)
    most, bound = _bound(asked)
    if asked.resource not in asked.flavor.mains:
        follow = followers(asked.flavor, _counts(asked, "limit"))[asked.resource]
        if follow <= most:
            most, bound = follow, _follows(asked, "limit")
    if asked.own.quota > most:
        return derived(asked.sources, "quota", "its quota, which is more than a limit would be")
    return bound


def _bound(asked: _Asked) -> tuple[int, Origin]:
    """The largest limit that the policy and the unit above allow, and which of them it is."""
    node, lender = asked.node, asked.node.lender
    assert node.parent is not None
    said, origin = rule(asked.org, asked.sources, node, "borrowing")
    limit = f"the limit of {asked.title(node.parent)}"
    if lender is None or (lender is not node and asked.above.limit < asked.also(lender).own.quota):
        return asked.above.limit, Origin("limit-above", f"{limit}, by `borrowing: {said}`", origin.places)
    whose = "its own quota" if lender is node else f"the quota of {lender.title}"
    return asked.also(lender).own.quota, Origin("policy", f"{whose}, by `borrowing: {said}`", origin.places)


def _left(asked: _Asked, team: Origins) -> Origins:
    """Of the queue that projects without a budget share: what the others leave of the team's."""
    others = [child for child in asked.node.children if child.budget]

    def rest(number: str, of: Origin) -> Origin:
        parts = [(child.name, getattr(asked.also(child).own, number)) for child in others]
        whole = f"{number} {asked.shown(getattr(asked.own, number))} of {asked.title(asked.node)}"
        detail = f"what projects with a budget leave of {whole}: {_parts(asked, parts) or 'they take nothing'}"
        return Origin("left", detail, of.places)

    quota = rest("quota", team.quota)
    alone = asked.node.rules.borrowing == "none"
    limit = Origin(
        "policy",
        "its own quota, by `borrowing: none`",
        rule(asked.org, asked.sources, asked.node, "borrowing")[1].places,
    )
    return Origins(rest("reserved", team.reserved), quota, limit if alone else team.limit)


def numbers(found: Origins) -> Iterator[tuple[str, Origin]]:
    """Each number by its key in the language."""
    yield from zip(TRIPLE, found, strict=True)
