"""How many pods the queue of a unit may admit."""

from __future__ import annotations

from collections.abc import Mapping

from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node


def queue_node(node: Node) -> Node:
    """The unit whose queue takes the jobs of `node`'s namespace: itself, or its team."""
    own_queue = node.kind == "team" or (node.parent is not None and node.parent.inner and _has_budget(node))
    return node if own_queue or node.parent is None else node.parent


def most_gpu_pods(queue: Node, flavors: Mapping[str, Hardware]) -> int:
    """How many pods of one GPU or MIG slice each the queue may admit at once."""
    return sum(
        queue.entries[flavor.name].amounts[main].limit
        for flavor in flavors.values()
        if not flavor.is_cpu and queue.reaches(flavor)
        for main in flavor.mains
    )


def _has_budget(node: Node) -> bool:
    return node.document is not None and bool(node.document.budget)
