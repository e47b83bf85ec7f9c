"""What the pods of a job say: how they get to the nodes of their flavor, what they ask for, what is asked of them."""

from __future__ import annotations

from typing import Any, Final

from tenancy.backend.waiting import Request, Waiting
from tenancy.model.hardware import GPUS, Hardware, Taint
from tenancy.model.quantity import canonical
from tenancy.plan.values import ClusterPlan, Namespace

_RESTRICTED: Final = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
_RESTRICTED_CONTAINER: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""What the level `restricted` of the Pod Security Standards asks of every pod and container."""


def pods(cluster: ClusterPlan, waiting: Waiting, flavor: Hardware, request: Request, home: Namespace) -> dict[str, Any]:
    """What the specs of its pods and of their container have in common, `pod` and `container`."""
    return {
        "pod": {**_pod(cluster, waiting, flavor, request, home), **_secured(home, "pod")},
        "container": {**_secured(home, "container"), "resources": _resources(flavor, request)},
    }


def launcher(cluster: ClusterPlan, waiting: Waiting, home: Namespace, *, borrows: bool) -> dict[str, Any] | None:
    """The same of a pod without GPUs that starts a program on the others; None where no flavor without GPUs takes it,
    or by borrowing alone while the others do not borrow: they would be evicted with it.

    On nodes with GPUs it would need cpu and memory that follow the GPUs of others, and the toleration of a fence, which
    only pods with GPUs may have.
    """
    request = Request(pod=home.container, namespace=home.name)
    verdict = waiting.verdict(cluster, home.queue, request)
    if not verdict.runs or not cluster.flavors[verdict.flavor].is_cpu:
        return None
    if verdict.outcome == "borrows" and not borrows:
        return None
    return pods(cluster, waiting, cluster.flavors[verdict.flavor], request, home)


def processes(flavor: Hardware, request: Request) -> int:
    """How many processes use the GPUs of a pod: one for each whole GPU. One process uses one MIG slice and no more."""
    whole = flavor.names.get(GPUS, "") if flavor.shares == 1 else ""
    return max(1, request.pod.get(whole, 1))


def claims(flavor: Hardware, request: Request) -> list[dict[str, Any]]:
    """The templates of its claims: name, class and number of devices."""
    return [
        {
            "name": f"{device.device_class.split('.', 1)[0]}-{request.pod[device.resource]}",
            "device_class": device.device_class,
            "count": request.pod[device.resource],
        }
        for device in flavor.devices
        if device.device_class and request.pod.get(device.resource)
    ]


def _pod(cluster: ClusterPlan, waiting: Waiting, flavor: Hardware, request: Request, home: Namespace) -> dict[str, Any]:
    """What its pods say to get to the nodes of the flavor and past their taints.

    Kueue adds the labels of the flavor that it chooses, and a queue of Volcano has nodes of one flavor only. What Kueue
    or a policy would add as well is written all the same: a job that tolerates a flavor has chosen it. Nodes beyond the
    reach of the unit, to which Kubernetes alone may bring work without GPUs, nobody may select.
    """
    pod: dict[str, Any] = {}
    if cluster.cluster.scheduler == "volcano":
        pod["schedulerName"] = "volcano"
    alone = not waiting.lends and len(cluster.flavors) > 1 and flavor.name in cluster.flavors_of[home.queue]
    if alone or (request.flavor and cluster.cluster.scheduler != "volcano"):
        pod["nodeSelector"] = dict(sorted(flavor.labels.items()))
    barred = [taint for taint in flavor.taints if taint.keeps_out and (flavor.fenced or not waiting.injects)]
    if barred:
        pod["tolerations"] = [_toleration(taint) for taint in barred]
    if found := claims(flavor, request):
        pod["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": each["name"]} for each in found]
    return pod


def _toleration(taint: Taint) -> dict[str, str]:
    how = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **how, "effect": taint.effect}


def _secured(home: Namespace, of: str) -> dict[str, Any]:
    if home.pod_security != "restricted":
        return {}
    return {"securityContext": dict(_RESTRICTED if of == "pod" else _RESTRICTED_CONTAINER)}


def _resources(flavor: Hardware, request: Request) -> dict[str, Any]:
    """Limits are for GPUs alone: cpu and memory that others leave idle on the node may be used. What is claimed is no
    resource of the container."""
    claimed = {device.resource for device in flavor.devices if device.device_class}
    asked = {name: count for name, count in sorted(request.pod.items()) if count}
    requests = {name: canonical(count, name) for name, count in asked.items() if name not in claimed}
    limits = {name: quantity for name, quantity in requests.items() if name in flavor.mains and flavor.gpu}
    named = [{"name": "gpu"}] if claimed & asked.keys() else []
    return {
        **({"claims": named} if named else {}),
        **({"limits": limits} if limits else {}),
        "requests": requests,
    }
