"""Whether a cluster needs a scheduler of its own: where Kubernetes alone would do, and where it no longer does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import amount_of, comparable, runs_jobs, units_in_words
from tenancy.diagnostics import Rule, Severity
from tenancy.model.hardware import GPUS, HOSTNAME, Hardware
from tenancy.model.organization import Node, Org, namespaces
from tenancy.model.reach import usable

A_DOZEN: Final = 12
"""From so many GPUs on people wait for each other often enough to want a queue."""

NATIVE_WOULD_DO: Final = Rule(
    "native-would-do",
    Severity.NOTE,
    "A scheduler that one team on one node does not need",
    "Nobody lends or borrows and a job fits onto one node, so quotas of Kubernetes keep every promise: a scheduler is "
    "one more component to install and to upgrade.",
)
NATIVE_OUTGROWN: Final = Rule(
    "native-outgrown",
    Severity.WARNING,
    "Teams that share GPUs without a scheduler",
    "Each has a fixed part: what one leaves idle the others cannot use, jobs above it are refused instead of queued, "
    "and jobs that want several nodes may start in part and wait for each other.",
)

RULES: Final = (NATIVE_WOULD_DO, NATIVE_OUTGROWN)


def would_do(org: Org) -> Iterator[Finding]:
    """One team that owns all of few GPUs and promises nothing that needs a queue."""
    if org.left_out or org.document.priorities or org.document.policy.gang is not None:
        return
    for name, cluster in org.document.clusters.items():
        flavors = [flavor for flavor in org.flavors.values() if flavor.cluster == name]
        if cluster.scheduler == "native" or len(flavors) != 1 or not _few(org, flavors[0]):
            continue
        units = [unit for unit in org.units if name in unit.clusters and runs_jobs(unit)]
        if len(units) == 1 and _alone(units[0], flavors[0]):
            gpus = amount_of(flavors[0].nodes * flavors[0].node[GPUS], GPUS)
            message = f"cluster `{name}` has {gpus} and one team, `{units[0].title}`, to which all of them belong"
            help_ = "write `scheduler: native`, where jobs above the quota are refused and tried again by Kubernetes"
            yield Finding(NATIVE_WOULD_DO, ("clusters", name), message, help_, at_key=True)


def _few(org: Org, flavor: Hardware) -> bool:
    """Whether it has GPUs, a few of them, and no racks."""
    few = 0 < flavor.nodes * flavor.node[GPUS] < A_DOZEN and set(flavor.levels) == {HOSTNAME}
    return few and flavor.name in comparable(org)


def _alone(unit: Node, flavor: Hardware) -> bool:
    """Whether it has all that it may use in one namespace, no more than a node has, and asks for no order."""
    quotas = {main: unit.entries[flavor.name].amounts[main].quota for main in flavor.mains}
    owned = any(quotas.values()) and all(usable(unit, flavor, main) == count for main, count in quotas.items())
    fits = quotas.get(flavor.names.get(GPUS, ""), 0) <= flavor.node[GPUS] * flavor.shares
    plain = unit.state == "active" and unit.rules.queueing != "strict"
    return owned and fits and plain and len(list(namespaces(unit))) == 1


def outgrown(org: Org) -> Iterator[Finding]:
    """Several teams that own GPUs of one flavor. One finding for each cluster."""
    for name, cluster in org.document.clusters.items():
        if cluster.scheduler != "native":
            continue
        for flavor in comparable(org).values():
            owners = [unit for unit in org.units if runs_jobs(unit) and unit.owns(flavor)]
            if flavor.cluster == name and flavor.gpu is not None and len(owners) > 1:
                yield Finding(
                    NATIVE_OUTGROWN,
                    ("clusters", name, "scheduler"),
                    f"{units_in_words(owners)} share flavor `{flavor.name}` in cluster `{name}` without a scheduler",
                    "write `scheduler: kueue`, with which each may use what the others leave idle",
                    (("the flavor", flavor.path),),
                )
                break


CHECKS: Final[tuple[Check, ...]] = (would_do, outgrown)
