"""Admission checks of flavors whose nodes the cluster autoscaler adds: Kueue asks for them once a job has quota.

Until they are there the job holds its quota and has no pods, so a gang never runs in part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.plan.values import ClusterPlan, Queue

API: Final = "kueue.x-k8s.io/v1beta2"
CONTROLLER: Final = "kueue.x-k8s.io/provisioning-request"

RETRIES: Final[Mapping[str, int]] = {"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800}
"""Kueue's own defaults, stated: the API server fills them in. After the last try the job is deactivated."""

NODES_OF_A_REQUEST: Final[Mapping[str, Mapping[str, Any]]] = {
    "queued-provisioning.gke.io": {
        "nodeSelector": [
            {
                "key": "autoscaling.gke.io/provisioning-request",
                "valueFromProvisioningClassDetail": "ResizeRequestName",
            }
        ]
    }
}
"""By provisioning class: how pods find the nodes that were made for them, where others must not take these."""


def admission_checks(plan: ClusterPlan) -> Iterator[Object]:
    """A check with its configuration for each flavor whose nodes are asked for, both named after the flavor."""
    for name in _asked_for(plan):
        yield obj(API, "ProvisioningRequestConfig", name, plan.labels, spec=_configuration(plan, name))
        parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": name}
        yield obj(
            API, "AdmissionCheck", name, plan.labels, spec={"controllerName": CONTROLLER, "parameters": parameters}
        )


def strategy(plan: ClusterPlan, queue: Queue) -> dict[str, Any]:
    """What a ClusterQueue says of the checks of its flavors; empty without any, since Kueue refuses an empty list."""
    asked = _asked_for(plan)
    checks = [{"name": name, "onFlavors": [name]} for name in queue.flavors if name in asked]
    return {"admissionChecksStrategy": {"admissionChecks": checks}} if checks else {}


def _asked_for(plan: ClusterPlan) -> list[str]:
    return [name for name, nodes in plan.nodes.items() if nodes.provisioning_class]


def _configuration(plan: ClusterPlan, name: str) -> dict[str, Any]:
    """Jobs that ask for none of the flavor's resources wait for no node."""
    provisioning_class = plan.nodes[name].provisioning_class
    spec: dict[str, Any] = {
        "provisioningClassName": provisioning_class,
        "managedResources": sorted(plan.flavors[name].mains),
        "retryStrategy": dict(RETRIES),
    }
    if provisioning_class in NODES_OF_A_REQUEST:
        spec["podSetUpdates"] = NODES_OF_A_REQUEST[provisioning_class]
    return spec
