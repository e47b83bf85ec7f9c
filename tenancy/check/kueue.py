"""What Kueue can hold: the bounds of its kinds, computed on the objects that would be written.

A cluster's queues have one resource group each, with every flavor that the unit may use and all resources of these
flavors; its cohorts have all flavors and all resources of the cluster (docs/kueue.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.check.finding import Finding
from tenancy.diagnostics import Rule, Severity
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.versions import kueue_minor, patch

KUEUE_FLAVORS: Final = Rule(
    "kueue-flavors",
    Severity.ERROR,
    "More flavors than a queue can list",
    "A resource group of a ClusterQueue or a Cohort holds at most 64 flavors; the API server refuses more, and "
    "with it every queue of the cluster.",
)
KUEUE_RESOURCES: Final = Rule(
    "kueue-resources",
    Severity.ERROR,
    "More resources than a queue can count",
    "A resource group holds at most 64 resources, and each MIG profile is one; the API server refuses more, and "
    "with it every queue of the cluster.",
)
KUEUE_PAIRS: Final = Rule(
    "kueue-pairs",
    Severity.ERROR,
    "More pairs of flavor and resource than a queue can hold",
    "A ClusterQueue gives every flavor a quota of every resource, 512 pairs at most; Kueue's webhook refuses more.",
)
KUEUE_STATUS: Final = Rule(
    "kueue-status",
    Severity.WARNING,
    "More flavors than Kueue 0.17 can report",
    "Up to 0.17.4 the status of a LocalQueue holds 16 flavors: with more, Kueue cannot write it, and users see "
    "neither usage nor the reason why jobs wait (kueue#12082).",
)

MOST_FLAVORS: Final = 64
MOST_RESOURCES: Final = 64
MOST_PAIRS: Final = 512
MOST_IN_STATUS: Final = 16
STATUS_VERSION: Final = "0.17"
WIDE_STATUS_PATCH: Final = 5
"""Bounds: Kueue's CRDs and webhook (the first three), its LocalQueue status (wider from 0.17.5 on)."""


def sizes(org: Org) -> Iterator[Finding]:
    """The queues of every cluster are within Kueue's bounds."""
    for cluster, document in org.document.clusters.items():
        flavors = [found for name in org.document.flavors if (found := org.flavors[name]).cluster == cluster]
        if document.scheduler != "kueue":
            continue
        faults = [*_flavors(cluster, flavors), *_resources(cluster, flavors)]
        yield from faults or _pairs(org, cluster, flavors)
        if kueue_minor(document.versions) == STATUS_VERSION and len(flavors) > MOST_IN_STATUS:
            yield from _status(org, cluster, flavors)


def _flavors(cluster: str, flavors: Sequence[Hardware]) -> Iterator[Finding]:
    if len(flavors) > MOST_FLAVORS:
        message = f"cluster `{cluster}` has {len(flavors)} flavors, {len(flavors) - MOST_FLAVORS} too many"
        help_ = f"join flavors of one kind of node, or divide them among clusters: {MOST_FLAVORS} in each"
        yield Finding(KUEUE_FLAVORS, flavors[MOST_FLAVORS].path, message, help_, at_key=True)


def _resources(cluster: str, flavors: Sequence[Hardware]) -> Iterator[Finding]:
    seen: set[str] = set()
    crossing: Hardware | None = None
    for flavor in flavors:
        seen.update(flavor.resources)
        crossing = crossing or (flavor if len(seen) > MOST_RESOURCES else None)
    if crossing is not None:
        message = f"cluster `{cluster}` has {len(seen)} resources, {len(seen) - MOST_RESOURCES} too many"
        help_ = "use fewer different MIG profiles, or divide the boards among clusters"
        yield Finding(KUEUE_RESOURCES, crossing.path, message, help_, at_key=True)


def _pairs(org: Org, cluster: str, flavors: Sequence[Hardware]) -> Iterator[Finding]:
    """One finding for the cluster: all units that may borrow everywhere have the same pairs."""
    if len(flavors) * len(_all_resources(flavors)) <= MOST_PAIRS:
        return
    over = [(unit, *size) for unit, size in _queues(org, cluster, flavors) if size[0] * size[1] > MOST_PAIRS]
    if not over:
        return
    unit, reached, resources = max(over, key=lambda each: each[1] * each[2])
    others = f" ({len(over)} queues of cluster `{cluster}` are too large)" if len(over) > 1 else ""
    message = (
        f"the queue of `{unit.title}` would hold {reached} flavors x {resources} resources = {reached * resources} "
        f"pairs, {reached * resources - MOST_PAIRS} too many{others}"
    )
    help_ = (
        "let units that need few flavors not borrow the others (`policy: {borrowing: none}`), use fewer different MIG "
        "profiles, or divide the flavors among clusters"
    )
    yield Finding(KUEUE_PAIRS, ("flavors",), message, help_, (("the unit", unit.path),), at_key=True)


def _status(org: Org, cluster: str, flavors: Sequence[Hardware]) -> Iterator[Finding]:
    running = patch(org.document.clusters[cluster].versions.kueue or "")
    if running is not None and running >= WIDE_STATUS_PATCH:
        return
    over = [(unit, reached) for unit, (reached, _) in _queues(org, cluster, flavors) if reached > MOST_IN_STATUS]
    if over:
        unit, reached = max(over, key=lambda each: each[1])
        queues = "1 queue uses" if len(over) == 1 else f"{len(over)} queues use"
        message = f"{queues} more than {MOST_IN_STATUS} flavors of cluster `{cluster}`"
        help_ = (
            'write `kueue: "0.19"`, or `"0.17.5"` where that or a later patch runs, or let units not borrow every '
            "flavor"
        )
        path = ("clusters", cluster, "versions", "kueue")
        yield Finding(KUEUE_STATUS, path, message, help_, ((f"this unit uses {reached}", unit.path),))


def _queues(org: Org, cluster: str, flavors: Sequence[Hardware]) -> Iterator[tuple[Node, tuple[int, int]]]:
    """Units with a queue, and how many flavors and resources it would have."""
    for unit in org.units:
        queue = unit.kind == "team" or (unit.kind == "project" and unit.budget)
        if queue and cluster in unit.clusters:
            reached = [flavor for flavor in flavors if unit.reaches(flavor)]
            yield unit, (len(reached), len(_all_resources(reached)))


def _all_resources(flavors: Sequence[Hardware]) -> set[str]:
    return {resource for flavor in flavors for resource in flavor.resources}


CHECKS: Final = (sizes,)
RULES: Final = (
    KUEUE_FLAVORS,
    KUEUE_RESOURCES,
    KUEUE_PAIRS,
    KUEUE_STATUS,
)
