"""The admission policy that keeps a PodGroup as long as pods run in it: without it they are in no queue.

The scheduler ignores pods whose PodGroup is gone: nothing is charged for them, and nobody gets their GPUs back. Two
commands are enough: relabel the pods of a Deployment, which sets them free, and delete it. Its PodGroup goes and the
pods run on (run on 1.15.1). So the garbage collector has to wait and to try again until they have ended, and so has
Volcano's controller where a Deployment is scaled to zero. A Volcano job is let go: its controller deletes the PodGroup
of pods that it has just ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.volcano.pod_templates import POD_GROUP
from tenancy.backend.volcano.work import BATCH
from tenancy.plan.values import ClusterPlan

POD_GROUPS: Final = "tenancy-pod-groups"
COLLECTORS: Final = (
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:kube-controller-manager",
)


def pod_groups(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding."""
    variables = {
        "holds": 'oldObject.?status.?running.orValue(0) > 0 || oldObject.?status.?phase.orValue("") in '
        '["Running", "Unknown"]',
        "collected": f"request.userInfo.username in {texts(COLLECTORS)}",
        "job": 'oldObject.metadata.?ownerReferences.orValue([]).exists(it, it.kind == "Job" && '
        f"it.apiVersion.startsWith({text(BATCH + '/')}))",
    }
    expression = (
        "!variables.holds || namespaceObject.metadata.?deletionTimestamp.hasValue() ||\n"
        '  !request.userInfo.username.startsWith("system:") || (variables.job && !variables.collected)'
    )
    message = (
        "Pods of this PodGroup run, and without it they are in no queue: they end first, then it is deleted when its "
        "deletion is tried again"
    )
    yield from validating(
        plan,
        POD_GROUPS,
        variables,
        [(expression, message)],
        kinds=(POD_GROUP,),
        operations=("DELETE",),
        guard="queueing",
    )
