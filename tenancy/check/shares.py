"""Quotas that come from the weights: there must be something to split, and a weight to split it by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import amount_of, by_flavor, comparable, entry_text, largest_first, number_path
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org

SHARE_WITHOUT_QUOTA: Final = Rule(
    "share-without-quota",
    Severity.ERROR,
    "A share of a quota that the unit above does not have",
    "The share would silently be 0, and the queue would own nothing.",
)
SHARE_OF_NOTHING: Final = Rule(
    "share-of-nothing",
    Severity.WARNING,
    "A share that comes out as nothing",
    "The queue owns nothing of the flavor: it lives on what others lend, and they take it back.",
)
SHARE_WITHOUT_WEIGHT: Final = Rule(
    "share-without-weight",
    Severity.ERROR,
    "A share with a weight of 0",
    "A weight of 0 gets no part of what is split, so the share would always be 0.",
)


def shares(org: Org) -> Iterator[Finding]:
    """Every share comes out as something."""
    flavors = comparable(org)
    for parent in (org.root, *org.units):
        if not parent.children:
            continue
        for name, children in by_flavor(parent).items():
            flavor = flavors.get(name)
            sharers = [child for child in children if child.entries[name].share]
            if flavor is None or not sharers or any(each.entries[name].broken for each in (parent, *parent.children)):
                continue
            if not any(parent.entries[name].amounts[main].quota for main in flavor.mains):
                yield _without_quota(parent, flavor, sharers)
                continue
            for child in sharers:
                if child.document is not None and child.document.weight == 0:
                    yield _without_weight(child, flavor)
                elif not any(child.entries[name].amounts[main].quota for main in flavor.mains):
                    yield from _of_nothing(parent, child, flavor, children)


def _share_path(unit: Node, flavor: Hardware) -> KeyPath:
    return number_path(unit, flavor, "quota", flavor.mains[0]) if flavor.mains else unit.entries[flavor.name].path


def _without_quota(parent: Node, flavor: Hardware, sharers: list[Node]) -> Finding:
    first, *rest = sharers
    if parent.parent is None:
        message = (
            f"`{first.title}` wants a share of `{flavor.name}`, which has nothing to split without its spare nodes"
        )
        help_text, related = (
            f"add nodes to `{flavor.name}`, or remove the share",
            ("its nodes", (*flavor.path, "nodes")),
        )
    else:
        message = f"`{first.title}` wants a share of `{flavor.name}`, but `{parent.title}` has no quota of it"
        help_text = f"give `{parent.title}` a budget of `{flavor.name}`, or write a number instead of `share`"
        related = ("the unit above", number_path(parent, flavor, "quota", flavor.mains[0]))
    others = tuple((f"`{child.title}` as well", _share_path(child, flavor)) for child in rest[:3])
    return Finding(SHARE_WITHOUT_QUOTA, _share_path(first, flavor), message, help_text, (related, *others))


def _without_weight(unit: Node, flavor: Hardware) -> Finding:
    return Finding(
        SHARE_WITHOUT_WEIGHT,
        _share_path(unit, flavor),
        f"`{unit.title}` wants a share of `{flavor.name}`, but has the weight 0",
        f"give it a weight above 0, or write the quota as a number ({entry_text(flavor, flavor.mains[0], 0)} for none)",
        (("its weight", (*unit.path, "weight")),),
    )


def _of_nothing(parent: Node, unit: Node, flavor: Hardware, children: list[Node]) -> Iterator[Finding]:
    main = flavor.mains[0]
    fixed = [child for child in children if not child.entries[flavor.name].share]
    quota = parent.entries[flavor.name].amounts[main].quota
    taken = sum(child.entries[flavor.name].amounts[main].quota for child in fixed)
    if taken > quota:
        return
    whose = f"`{parent.title}`" if parent.title else f"flavor `{flavor.name}`"
    yield Finding(
        SHARE_OF_NOTHING,
        _share_path(unit, flavor),
        f"the share of `{unit.title}` on `{flavor.name}` is 0: fixed quotas take {amount_of(taken, main)} of the "
        f"{amount_of(quota, main)} of {whose}, and its siblings' weights or its own limit leave it nothing of the rest"
        if taken < quota
        else f"the share of `{unit.title}` on `{flavor.name}` is 0: fixed quotas take all {amount_of(quota, main)} of "
        f"{whose}",
        "lower a fixed quota, or write a number instead of `share`",
        largest_first(fixed, flavor, "quota", main),
    )


RULES: Final = (SHARE_WITHOUT_QUOTA, SHARE_OF_NOTHING, SHARE_WITHOUT_WEIGHT)
CHECKS: Final[tuple[Check, ...]] = (shares,)
