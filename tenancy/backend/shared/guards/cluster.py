"""The admission policy against objects by which the scheduler of the whole cluster would stop, whoever makes them.

Before Kubernetes 1.36 the API server takes a WorkloadPriorityClass above int32. Kueue's manager can then list none of
them, and after its next start no job of anybody gets a Workload, while it reports itself ready (run on 0.17.0 and
0.19.2). From 1.36 on the API server refuses such a number itself (run), as long as the kind says `format: int32`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import validating
from tenancy.backend.shared.pod_templates import PodTemplates
from tenancy.model.priorities import HIGHEST, LOWEST
from tenancy.plan.values import ClusterPlan

CLUSTER: Final = "tenancy-cluster-safety"

_CLASS: Final = PodTemplates("kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass", ())


def cluster(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding, for a cluster with Kueue. What belongs to no namespace is judged everywhere."""
    rule = (
        f"int(dyn(object).value) >= {LOWEST} && int(dyn(object).value) <= {HIGHEST}",
        f"Write a value from {LOWEST} to {HIGHEST}: Kueue's manager cannot read a larger one, and then none at all, "
        "and no job of anybody is let in",
    )
    yield from validating(plan, CLUSTER, {}, [rule], kinds=(_CLASS,), guard="cluster")
