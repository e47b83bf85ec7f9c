"""HyperNodes: which nodes are near each other.

Racks and blocks are discovered by Volcano's controller from the labels of nodes, whose values no organization knows. A
static HyperNode above them holds all nodes of a flavor: while a cluster has none at all, before the discovery or with
nodes that lack their labels, a job with a hard topology is spread over the whole flavor (run on 1.15.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.model.hardware import Hardware
from tenancy.model.volcano import LONGEST_TOPOLOGY
from tenancy.plan.nodes import NODE_GROUP
from tenancy.plan.values import ClusterPlan

API: Final = "topology.volcano.sh/v1alpha1"


def hyper_nodes(plan: ClusterPlan, flavor: Hardware) -> Iterator[Object]:
    """The HyperNode with all nodes of a flavor that has levels above the host, above all that is discovered."""
    if len(flavor.levels) > 1:
        nodes = {"labelMatch": {"matchLabels": {NODE_GROUP: flavor.name}}}
        spec = {"tier": highest(plan.flavors.values()) + 1, "members": [{"type": "Node", "selector": nodes}]}
        yield obj(API, "HyperNode", flavor.name, plan.labels, spec=spec)


def tier(flavor: Hardware, level: str) -> int:
    """The tier of a level above the host: 1 for the narrowest. What `highestTierAllowed` of a job says."""
    return len(flavor.levels) - 1 - flavor.levels.index(level)


def highest(flavors: Iterable[Hardware]) -> int:
    """The tier of the widest level of any flavor; 0 where none has a level above the host."""
    return max((len(flavor.levels) - 1 for flavor in flavors), default=0)


def topologies(flavors: Iterable[Hardware]) -> Mapping[str, tuple[str, ...]]:
    """The topologies that are looked for, from a name to levels: each that is not the narrow end of another one.

    Every topology is looked for on every node, so that the flavors with the same levels share one, named by the first;
    the nodes of one with fewer levels lack the labels of the wider ones.
    """
    chains: dict[tuple[str, ...], str] = {}
    for flavor in flavors:
        if len(flavor.levels) > 1:
            chains.setdefault(flavor.levels, flavor.name)
    widest = {chain: name for chain, name in chains.items() if not any(_ends(other, chain) for other in chains)}
    return {_short(name, index): chain for index, (chain, name) in enumerate(widest.items())}


def discovery(plan: ClusterPlan) -> dict[str, Any]:
    """What the controller is to look for; nothing where no flavor has levels above the host."""
    types = {
        name: [{"nodeLabel": level} for level in levels] for name, levels in topologies(plan.flavors.values()).items()
    }
    if not types:
        return {}
    source = {"source": "label", "enabled": True, "config": {"networkTopologyTypes": types}}
    return {"networkTopologyDiscovery": [source]}


def _ends(longer: tuple[str, ...], chain: tuple[str, ...]) -> bool:
    return len(longer) > len(chain) and longer[-len(chain) :] == chain


def _short(name: str, index: int) -> str:
    """A longer name would be left out; the number keeps two that begin alike apart."""
    return name if len(name) <= LONGEST_TOPOLOGY else f"{name[: LONGEST_TOPOLOGY - 3].rstrip('-')}-{index}"
