"""How a namespace says the default topology of its jobs: in annotations, which the admission policies read.

One policy serves all namespaces of a cluster, so that a unit's change touches its own file only.
"""

from __future__ import annotations

from typing import Final

from tenancy.backend.shared.admission import mutates
from tenancy.backend.shared.cel import text
from tenancy.plan.values import ClusterPlan, Topology

DEFAULT: Final = "default-topology"
"""The annotation with mode and level, as `required cloud.example/rack`; its whole key begins with the domain."""
NAME: Final = "tenancy-topology-defaults"
"""Of the policy."""


def said(plan: ClusterPlan, topology: Topology) -> dict[str, str]:
    """The annotation that people read, and that `tenancy diff` compares."""
    return {f"{plan.domain}/{DEFAULT}": f"{topology.mode} {topology.level}"}


def read(plan: ClusterPlan, key: str, separator: str = ",") -> str:
    """CEL for the parts of an annotation of the namespace; an empty list where it has none."""
    name = text(f"{plan.domain}/{key}")
    parts = f'namespaceObject.metadata.?annotations[?{name}].orValue("").split({text(separator)})'
    return f'{parts}.filter(it, it != "")'


def gives(plan: ClusterPlan) -> bool:
    """Whether a unit has a default and the API server can give it."""
    return mutates(plan) and any(namespace.topology for namespace in plan.namespaces)
