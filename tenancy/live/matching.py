"""Which flavor each node belongs to. A node that two flavors claim belongs to neither: nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tenancy.live.nodes import LiveNode
from tenancy.model.gpus import PRODUCT
from tenancy.model.hardware import Hardware
from tenancy.model.syntax import pattern_expression
from tenancy.plan.nodes import FlavorNodes
from tenancy.plan.values import ClusterPlan

_SUFFIX: Final = re.compile(r"(-MIG-.*?)?(-SHARED)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The nodes of a cluster by flavor, each part sorted by name."""

    flavors: Mapping[str, tuple[LiveNode, ...]]
    """Every flavor of the plan, those without a node too."""
    claimed: Mapping[str, tuple[str, ...]]
    """Nodes that several flavors claim, with the flavors."""
    strangers: tuple[LiveNode, ...]
    """Nodes of no flavor."""


def matched(cluster: ClusterPlan, nodes: Iterable[LiveNode]) -> Matched:
    """Match nodes with the flavors of a cluster.

    A flavor claims the nodes with one of its names, whatever they carry, so that a name can move a node to another
    flavor. Of the rest, those that already carry its labels; else, where it has no names, those with the labels that
    the organization wrote, or where no other flavor has the board, those with its product.
    """
    flavors, wanted = cluster.flavors, cluster.nodes
    found: dict[str, list[LiveNode]] = {name: [] for name in wanted}
    claimed: dict[str, tuple[str, ...]] = {}
    strangers = []
    for node in sorted(nodes, key=lambda node: node.name):
        owners = [name for name, each in wanted.items() if _named(each, node)]
        owners = owners or [name for name in wanted if _marked(flavors[name], node)]
        owners = owners or [name for name, each in wanted.items() if _claims(each, node)]
        if len(owners) == 1:
            found[owners[0]].append(node)
        elif owners:
            claimed[node.name] = tuple(owners)
        else:
            strangers.append(node)
    return Matched(
        flavors={name: tuple(nodes) for name, nodes in found.items()}, claimed=claimed, strangers=tuple(strangers)
    )


def product(node: LiveNode) -> str:
    """The board of a node as GPU feature discovery labels it, without what MIG and sharing append; else empty."""
    return _SUFFIX.sub("", node.labels.get(PRODUCT, ""))


def _marked(flavor: Hardware, node: LiveNode) -> bool:
    return bool(flavor.labels) and flavor.labels.items() <= node.labels.items()


def _named(wanted: FlavorNodes, node: LiveNode) -> bool:
    return any(re.fullmatch(pattern_expression(pattern), node.name) for pattern in wanted.match.names)


def _claims(wanted: FlavorNodes, node: LiveNode) -> bool:
    match = wanted.match
    if match.names:
        return False
    if match.labels:
        return match.labels.items() <= node.labels.items()
    return product(node) in match.products
