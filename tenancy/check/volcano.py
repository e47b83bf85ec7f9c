"""What Volcano can hold: names, depth, numbers and topologies, computed on the queues that would be written.

A unit has a queue in the tree of each flavor that it may use (docs/volcano.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import amount_of, comparable, key_of, units_in_words
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import CPU, MEMORY, Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.volcano import (
    DEFAULT,
    HEAVIEST,
    LEVELS,
    LIGHTEST,
    LONGEST,
    ROOT,
    queue_name,
    queue_weight,
)

VOLCANO_DEPTH: Final = Rule(
    "volcano-depth",
    Severity.ERROR,
    "A unit too deep for Volcano",
    "A tree has at most five levels, and the first is the queue of the flavor: Volcano's webhook refuses the queues of "
    "the sixth.",
)
VOLCANO_QUEUE_NAME: Final = Rule(
    "volcano-queue-name",
    Severity.ERROR,
    "A name that a queue of Volcano cannot have",
    "A queue is called like the unit and the flavor, and its pods carry the name as a label, whose value has at most "
    "63 characters; `root` and `default` are queues that Volcano makes itself.",
)
VOLCANO_NAME_CLASH: Final = Rule(
    "volcano-name-clash",
    Severity.ERROR,
    "Two queues of Volcano with one name",
    "All flavors and all levels share one name space: the two would be one object, and one unit would run on the "
    "other's quota, or on the other's nodes.",
)
VOLCANO_ZERO_LIMIT: Final = Rule(
    "volcano-zero-limit",
    Severity.ERROR,
    "A limit of 0 that Volcano takes for no limit",
    "A capability of 0 cpu or 0 memory counts as not set (run on 1.15.1): the queue could use all that the units above "
    "it may, instead of nothing.",
)
VOLCANO_WEIGHT: Final = Rule(
    "volcano-weight",
    Severity.WARNING,
    "A weight that a queue of Volcano cannot have",
    "A queue's weight is a whole number from 1 to 65535; others are refused by the API server, so this one is rounded.",
)
VOLCANO_TOPOLOGY_LEVELS: Final = Rule(
    "volcano-topology-levels",
    Severity.ERROR,
    "A label at two levels of Volcano's topology",
    "Discovery reads the levels of every flavor on the labels of every node. Two topologies that share a label without "
    "one being the narrow end of the other both make a HyperNode for it, or one with two parents, and jobs with a "
    "topology are placed by the wrong one or not at all (source of 1.15.1).",
)


def depth(org: Org) -> Iterator[Finding]:
    """No unit has more than four levels. One finding for the units that are too deep below one unit."""
    said: set[KeyPath] = set()
    for unit in _queued(org):
        parent = unit.parent
        if len(unit.names) != LEVELS + 1 or parent is None or parent.path in said:
            continue
        said.add(parent.path)
        shallower = (
            f"remove the budgets of the projects, which then share the queue of `{parent.title}`, or move "
            f"`{parent.title}` up by a level"
            if unit.kind == "project"
            else f"move `{parent.title}` or one of the units above it up by a level"
        )
        yield Finding(
            VOLCANO_DEPTH,
            unit.path,
            f"`{unit.title}` is at level {len(unit.names)}; under Volcano a unit is at level {LEVELS} at most",
            f"{shallower}, or choose `scheduler: kueue`",
            at_key=True,
        )


def names(org: Org) -> Iterator[Finding]:
    """Every queue has a name that Volcano takes."""
    flavors = _flavors(org)
    for flavor in flavors:
        if flavor.name in (ROOT, DEFAULT):
            message = f"flavor `{flavor.name}` has the name of a queue that Volcano makes itself"
            yield Finding(VOLCANO_QUEUE_NAME, flavor.path, message, "give it another name", at_key=True)
    refused: set[KeyPath] = set()
    for unit in _queued(org):
        if (unit.parent is not None and unit.parent.path in refused) or len(unit.queue) > LONGEST:
            refused.add(unit.path)  # Said at the unit above, or of the name of the unit alone.
            continue
        reached = [flavor for flavor in flavors if unit.reaches(flavor)]
        longest = max((name for flavor in reached for name in _names(unit, flavor)), key=len, default="")
        if len(longest) > LONGEST:
            refused.add(unit.path)
            over = len(longest) - LONGEST
            yield Finding(
                VOLCANO_QUEUE_NAME,
                unit.path,
                f"the name of a queue of `{unit.title}` comes to {len(longest)} characters: `{longest}`",
                f"shorten the names of the unit, of those above it or of the flavor by {over} together",
                at_key=True,
            )


def clashes(org: Org) -> Iterator[Finding]:
    """Different queues of a cluster have different names. One finding for a pair of units."""
    flavors = _flavors(org)
    first: dict[tuple[str, str], tuple[str, KeyPath, str]] = {
        (flavor.cluster, flavor.name): (f"flavor `{flavor.name}`", flavor.path, "") for flavor in flavors
    }
    said: set[tuple[KeyPath, KeyPath]] = set()
    for unit in _queued(org):
        for flavor in flavors:
            for name in _names(unit, flavor) if unit.reaches(flavor) else ():
                what, path, queue = first.setdefault((flavor.cluster, name), (f"`{unit.title}`", unit.path, unit.queue))
                # Units whose own names are the same have a finding of their own.
                if path == unit.path or queue == unit.queue or (path, unit.path) in said:
                    continue
                said.add((path, unit.path))
                yield Finding(
                    VOLCANO_NAME_CLASH,
                    unit.path,
                    f"{what} and `{unit.title}` both have a queue called `{name}` in cluster `{flavor.cluster}`",
                    f"rename `{unit.title}`, {what} or a flavor",
                    ((what, path),),
                    at_key=True,
                )


def zero_limits(org: Org) -> Iterator[Finding]:
    """The queue that projects without a budget share has some cpu and memory wherever it has anything."""
    readable = comparable(org)
    flavors = [flavor for flavor in _flavors(org) if flavor.name in readable]
    for team in _queued(org) if flavors else ():
        shares = team.kind == "team" and team.inner and any(not child.budget for child in team.children)
        if not shares or team.rules.borrowing != "none":
            continue
        for flavor in flavors:
            if team.reaches(flavor) and (found := _nothing_left(team, flavor)) is not None:
                yield found


def _nothing_left(team: Node, flavor: Hardware) -> Finding | None:
    """The finding where the team's budgeted projects leave the others GPUs, and no cpu or no memory."""
    parts = [child.entries[flavor.name] for child in team.children if child.budget]
    whole = team.entries[flavor.name]
    left = {
        resource: quota.quota - sum(part.amounts[resource].quota for part in parts)
        for resource, quota in whole.amounts.items()
    }
    has = next((main for main in flavor.mains if left[main] > 0), None)
    lacks = next((resource for resource in (CPU, MEMORY) if left[resource] <= 0), None)
    if has is None or lacks is None or whole.broken or any(part.broken for part in parts):
        return None
    return Finding(
        VOLCANO_ZERO_LIMIT,
        whole.path,
        f"the projects of `{team.title}` with budgets leave the others {amount_of(left[has], has)} on "
        f"`{flavor.name}`, but no {lacks}",
        f"raise the `{key_of(flavor, lacks)}` of `{team.title}`, or write less of it for its projects",
        at_key=True,
    )


def weights(org: Org) -> Iterator[Finding]:
    """Weights are whole numbers of the range. One finding for all, at the first."""
    rounded = [
        unit
        for unit in _queued(org)
        if unit.document is not None and queue_weight(unit.document.weight) != unit.document.weight
    ]
    if rounded and (document := rounded[0].document) is not None:
        verb = "has a weight" if len(rounded) == 1 else "have weights"
        yield Finding(
            VOLCANO_WEIGHT,
            (*rounded[0].path, "weight"),
            f"{units_in_words(rounded)} {verb} that Volcano cannot hold: `{document.weight:.10g}` becomes "
            f"`{queue_weight(document.weight)}`",
            f"write whole numbers from {LIGHTEST} to {HEAVIEST}",
        )


def topologies(org: Org) -> Iterator[Finding]:
    """Topologies of a cluster that share a label are one the narrow end of the other, as discovery needs it."""
    known: list[Hardware] = []
    for flavor in _flavors(org):
        if len(flavor.levels) < 2 or (org.left_out and org.hides((*flavor.path, "topology"))):
            continue
        for other in known:
            shared = next((level for level in flavor.levels[:-1] if level in other.levels[:-1]), None)
            if shared and flavor.cluster == other.cluster and not _one_ends_the_other(flavor.levels, other.levels):
                yield _two_places(flavor, shared, other)
                break
        known.append(flavor)


def _one_ends_the_other(levels: tuple[str, ...], others: tuple[str, ...]) -> bool:
    shorter = min(len(levels), len(others))
    return levels[-shorter:] == others[-shorter:]


def _two_places(flavor: Hardware, level: str, other: Hardware) -> Finding:
    return Finding(
        VOLCANO_TOPOLOGY_LEVELS,
        (*flavor.path, "topology", flavor.levels.index(level)),
        f"`{level}` stands at another place in the topology of `{flavor.name}` than in that of `{other.name}`",
        "write the same levels below it for both, or labels of its own for one of them",
        ((f"the topology of `{other.name}`", (*other.path, "topology")),),
    )


def _flavors(org: Org) -> list[Hardware]:
    """The flavors of clusters with Volcano, in the order in which they are written."""
    clusters = {name for name, cluster in org.document.clusters.items() if cluster.scheduler == "volcano"}
    return [flavor for name in org.document.flavors if (flavor := org.flavors[name]).cluster in clusters]


def _queued(org: Org) -> Iterator[Node]:
    """The units that have a queue in some cluster with Volcano."""
    clusters = {name for name, cluster in org.document.clusters.items() if cluster.scheduler == "volcano"}
    for unit in org.units if clusters else ():
        if (unit.kind != "project" or unit.budget) and not clusters.isdisjoint(unit.clusters):
            yield unit


def _names(unit: Node, flavor: Hardware) -> Iterator[str]:
    """The names of the queues of a unit in the tree of a flavor."""
    if unit.kind != "team" or not unit.inner:
        yield queue_name(unit.queue, flavor.name)
        return
    yield queue_name(unit.queue, flavor.name, of_projects=True)
    if any(not child.budget for child in unit.children):
        yield queue_name(unit.queue, flavor.name)


RULES: Final = (
    VOLCANO_DEPTH,
    VOLCANO_QUEUE_NAME,
    VOLCANO_NAME_CLASH,
    VOLCANO_ZERO_LIMIT,
    VOLCANO_WEIGHT,
    VOLCANO_TOPOLOGY_LEVELS,
)
CHECKS: Final[tuple[Check, ...]] = (depth, names, clashes, zero_limits, weights, topologies)
