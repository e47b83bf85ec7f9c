"""Whose GPU jobs are interrupted when GPUs are taken back, and with which notice."""

from __future__ import annotations

from tenancy.model.interruption import Interruption
from tenancy.model.organization import Node
from tenancy.model.priorities import preemptible
from tenancy.plan.values import ClusterPlan


def interruption(cluster: ClusterPlan, node: Node) -> Interruption | None:
    """Of a unit that runs jobs; None where no priority says `preemptible`, or nothing is lent."""
    inside, ways = f"{node.title}/", preemptible(cluster.priorities)
    homes = () if node.inner else tuple(each for each in cluster.namespaces if f"{each.title}/".startswith(inside))
    if not ways or not homes or cluster.cluster.scheduler == "native":
        return None
    return Interruption(
        borrows=any(each.borrows for each in homes),
        refused=cluster.cluster.guards.interruption == "deny",
        priorities={name: cluster.priorities[name].seconds for name in ways if name in node.priorities},
    )
