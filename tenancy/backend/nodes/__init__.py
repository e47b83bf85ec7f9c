"""What makes the nodes of a cluster what its flavors say: labels, taints, MIG layouts, shares, node pools, devices.

The same under every scheduler. What Kubernetes lets nobody declare (labels and taints of nodes that are there, outside
of Node Feature Discovery) is done by `tenancy nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from tenancy.backend.manifest import Manifest, Page
from tenancy.backend.nodes.devices import devices
from tenancy.backend.nodes.features import features
from tenancy.backend.nodes.mig import mig
from tenancy.backend.nodes.node_pools import node_pools
from tenancy.backend.nodes.operator import operator
from tenancy.backend.nodes.plugin import plugin
from tenancy.plan.values import ClusterPlan

Part: TypeAlias = Callable[[ClusterPlan], Iterator[Manifest | Page]]

PARTS: Final[tuple[Part, ...]] = (features, node_pools, devices, mig, plugin, operator)
"""Each yields its files where the cluster needs them, none elsewhere."""


def compile(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """The files of the nodes of a cluster; paths are relative to the cluster's folder."""
    for part in PARTS:
        yield from part(plan)
