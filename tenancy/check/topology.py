"""Topologies of flavors: the node labels that tell blocks, racks and hosts apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import HOSTNAME
from tenancy.model.organization import Org
from tenancy.model.syntax import is_label_key

TOPOLOGY_LEVELS: Final = Rule(
    "topology-levels",
    Severity.ERROR,
    "Levels that a topology cannot have",
    "Kueue's Topology takes 1 to 16 different label keys and refuses anything else, and Volcano's discovery leaves out "
    "a topology with a label that is there twice; nodes that lack a level are not seen at all.",
)
TOPOLOGY_HOSTNAME: Final = Rule(
    "topology-hostname",
    Severity.ERROR,
    "A topology that does not end in the host name",
    "Only with `kubernetes.io/hostname` as the last level does Kueue look at single nodes: without it jobs are "
    "admitted that fit on no node, and a failed node is not replaced. Anywhere but last, Kueue refuses it. Volcano's "
    "discovery takes the last level for the host, whatever it says.",
)
TOPOLOGY_UNUSED: Final = Rule(
    "topology-unused",
    Severity.WARNING,
    "A topology in a cluster with plain placement",
    "`placement: plain` counts quota only: the levels have no effect, and jobs are spread over racks.",
)

MOST: Final = 16


def topologies(org: Org) -> Iterator[Finding]:
    """Levels are label keys, each once, from wide to narrow, the last one the host name."""
    for name, flavor in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "topology")
        if flavor.topology is None or (org.left_out and org.hides(path)):
            continue
        cluster = org.document.clusters.get(org.flavors[name].cluster)
        if cluster is not None and cluster.scheduler == "kueue" and cluster.placement == "plain":
            message = f"flavor `{name}` has a topology, but its cluster has `placement: plain`"
            related = (("the cluster", ("clusters", org.flavors[name].cluster, "placement")),)
            help_ = "remove `topology`, or write `placement: packed`"
            yield Finding(TOPOLOGY_UNUSED, path, message, help_, related, at_key=True)
            continue
        faults = list(_levels(name, flavor.topology, path))
        yield from faults or _hostname(name, flavor.topology, path)


def _levels(name: str, levels: list[str], path: KeyPath) -> Iterator[Finding]:
    if not 1 <= len(levels) <= MOST:
        message = f"flavor `{name}`: a topology has 1 to {MOST} levels, this one has {len(levels)}"
        help_ = (
            f"write `topology: [{HOSTNAME}]`, or leave it out" if not levels else "leave out levels between the ends"
        )
        yield Finding(TOPOLOGY_LEVELS, path, message, help_, at_key=True)
    for index, level in enumerate(levels):
        if not is_label_key(level):
            message = f"flavor `{name}`: `{level}` is not the key of a node label"
            help_ = "write the key alone, such as `topology.kubernetes.io/zone`, without a value"
            yield Finding(TOPOLOGY_LEVELS, (*path, index), message, help_)
        elif level in levels[:index]:
            message = f"flavor `{name}`: the level `{level}` is there twice"
            related = (("the first", (*path, levels.index(level))),)
            at = (*path, index)
            yield Finding(TOPOLOGY_LEVELS, at, message, "remove one", related, edits=mending.leave_out(at))


def _hostname(name: str, levels: list[str], path: KeyPath) -> Iterator[Finding]:
    if levels[-1] == HOSTNAME:
        return
    wider = [level for level in levels if level != HOSTNAME]
    help_ = f"write `topology: [{', '.join([*wider, HOSTNAME])}]`"
    if HOSTNAME in levels:
        message = f"flavor `{name}`: `{HOSTNAME}` is not the last level"
        at, edits = (*path, levels.index(HOSTNAME)), mending.write(path, [*wider, HOSTNAME])
        yield Finding(TOPOLOGY_HOSTNAME, at, message, help_, edits=edits)
    else:
        message = f"flavor `{name}`: the last level is `{levels[-1]}`, not `{HOSTNAME}`"
        at, edits = (*path, len(levels) - 1), mending.write((*path, len(levels)), HOSTNAME)
        yield Finding(TOPOLOGY_HOSTNAME, at, message, help_, edits=edits)


CHECKS: Final = (topologies,)
RULES: Final = (TOPOLOGY_LEVELS, TOPOLOGY_HOSTNAME, TOPOLOGY_UNUSED)
