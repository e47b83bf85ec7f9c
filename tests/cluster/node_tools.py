"""What runs on every cluster besides its scheduler, as far as an API server sees it: the kinds of the tools of nodes,
and those of Prometheus' operator.

Node Feature Discovery, Karpenter, the cluster autoscaler and the operator are not run: their objects are checked by
their own CustomResourceDefinitions, and what they would do a test does in their place.
"""

from __future__ import annotations

import json
from typing import Final

from tests.cluster.build import node_kinds
from tests.cluster.client import Object, Refused
from tests.cluster.manager import install_crds
from tests.cluster.plane import Cluster, until

OPERATOR: Final = "gpu-operator"
"""The namespace that the GPU operator's chart makes, in which its configurations are written."""
MONITORING: Final = "monitoring"
"""The namespace of Prometheus, in which rules, scrape targets and dashboards are written."""


def install(cluster: Cluster) -> None:
    """Serve the kinds and make the namespaces, before the scheduler: at its start Kueue looks whom it can ask."""
    crds: list[Object] = json.loads(node_kinds().read_text(encoding="utf-8"))
    install_crds(cluster, crds)
    until(lambda: all(_listed(cluster, each) for each in crds), "the kinds of the tools of nodes are listed")
    for name in (OPERATOR, MONITORING):
        cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def _listed(cluster: Cluster, crd: Object) -> bool:
    """Whether the storage of an established kind is there, which it is a moment later."""
    spec = crd["spec"]
    try:
        for version in (each["name"] for each in spec["versions"] if each["served"]):
            cluster.client.list(f"/apis/{spec['group']}/{version}/{spec['names']['plural']}")
    except Refused:
        return False
    return True
