"""The manager's Configuration, which is global to a cluster: sharing, gangs, managed namespaces, claims, integrations.

The chart takes it as an unparsed text and checks nothing, and a wrong key stops the manager; `configuration_schema` is
the check. Values that Kueue would fill in differently by version are stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenancy.backend.kueue.work import WORK
from tenancy.model.duration import go_duration
from tenancy.plan.values import ClusterPlan

GATES: Final[Mapping[str, Mapping[str, bool]]] = {
    "0.19": {"UnadmittedWorkloadsExplicitStatus": True, "UnadmittedWorkloadsObservability": True},
}
"""Feature gates by Kueue minor: in 0.19 these two give every pending job a reason (run on 0.19.2). A gate
that a version does not know stops its manager, so each minor has its own list."""


def configuration(plan: ClusterPlan) -> dict[str, Any]:
    """The Configuration for the cluster's Kueue minor."""
    timeout = go_duration(plan.gang.start_timeout)
    result: dict[str, Any] = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "clientConnection": {"qps": 300, "burst": 500},
        "internalCertManagement": {"enable": True},
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {"matchLabels": {f"{plan.domain}/organization": plan.organization}},
        "waitForPodsReady": {
            "timeout": timeout,
            "recoveryTimeout": timeout,
            "blockAdmission": False,
            "requeuingStrategy": {
                "timestamp": "Eviction",
                "backoffLimitCount": plan.gang.retries,
                "backoffBaseSeconds": 60,
                "backoffMaxSeconds": 3600,
            },
        },
    }
    if plan.cluster.sharing == "weighted":
        strategies = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
        result["fairSharing"] = {"preemptionStrategies": strategies}
    result["integrations"] = {"frameworks": [framework.name for framework in WORK.frameworks]}
    if classes := plan.device_classes:
        # Counted from 0.18 on, without a gate of ours: KueueDRAIntegration is beta and on in 0.18 and 0.19.
        mappings = [{"name": resource, "deviceClassNames": [name]} for resource, name in classes.items()]
        result["resources"] = {"deviceClassMappings": mappings}
    if gates := GATES.get(plan.kueue):
        result["featureGates"] = dict(gates)
    return result
