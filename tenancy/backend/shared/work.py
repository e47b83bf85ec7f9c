"""What differs between schedulers in what every backend emits: the kinds of work, and the rights to a scheduler's own.

Each backend states its own once, as the constant `WORK` of its `work.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

READ: Final = ("get", "list", "watch")
WRITE: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Framework(NamedTuple):
    """A kind of work: its name as integrations of Kueue are called, its API group and its resources."""

    name: str
    group: str
    resources: tuple[str, ...]


class Rule(NamedTuple):
    """Verbs on resources of one API group."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of a scheduler's tenants, with the rights that each level has beside those of every cluster."""

    frameworks: tuple[Framework, ...]
    """Kinds that tenants may create. A kind that the scheduler does not hold to the quotas is in no role."""
    viewer: tuple[Rule, ...] = ()
    """In namespaces; those of members and admins are the same: nobody of a team writes what governs it."""
    auditor: tuple[Rule, ...] = ()
    """In the whole cluster."""
    platform_admin: tuple[Rule, ...] = ()
    """In the whole cluster, beside those of auditors."""


PLAIN: Final = (
    Framework("batch/job", "batch", ("jobs",)),
    Framework("pod", "", ("pods",)),
    Framework("deployment", "apps", ("deployments", "deployments/scale")),
    Framework("statefulset", "apps", ("statefulsets",)),
)
"""Kinds of Kubernetes itself; CronJobs, whose Jobs are what counts, are in the roles of every scheduler."""

STATEFUL_SCALE: Final = Framework("statefulset/scale", "apps", ("statefulsets/scale",))
"""`kubectl scale` of a StatefulSet, where the scheduler counts its pods one by one."""

OPERATED: Final = (
    Framework("jobset.x-k8s.io/jobset", "jobset.x-k8s.io", ("jobsets",)),
    Framework("leaderworkerset.x-k8s.io/leaderworkerset", "leaderworkerset.x-k8s.io", ("leaderworkersets",)),
    Framework("kubeflow.org/mpijob", "kubeflow.org", ("mpijobs",)),
    Framework("kubeflow.org/pytorchjob", "kubeflow.org", ("pytorchjobs",)),
    Framework("kubeflow.org/tfjob", "kubeflow.org", ("tfjobs",)),
    Framework("kubeflow.org/jaxjob", "kubeflow.org", ("jaxjobs",)),
    Framework("kubeflow.org/xgboostjob", "kubeflow.org", ("xgboostjobs",)),
    Framework("kubeflow.org/paddlejob", "kubeflow.org", ("paddlejobs",)),
    Framework("trainer.kubeflow.org/trainjob", "trainer.kubeflow.org", ("trainjobs",)),
    Framework("ray.io/rayjob", "ray.io", ("rayjobs",)),
    Framework("ray.io/raycluster", "ray.io", ("rayclusters",)),
    Framework("ray.io/rayservice", "ray.io", ("rayservices",)),
)
"""Kinds of operators that a cluster may have."""
