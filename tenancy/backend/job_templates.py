"""A job that lands in a unit, as a document: what its author would have to look up is filled in, the rest is marked.

The fields are those that the schedulers read (docs/kueue.md, docs/volcano.md); each document was submitted to them
(tests/cluster/test_job_templates.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenancy.backend.manifest import Page
from tenancy.backend.waiting import Request, Verdict, Waiting
from tenancy.model.hardware import Hardware, Taint
from tenancy.model.quantity import canonical
from tenancy.plan.values import ClusterPlan, Namespace, Topology

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "kueue": ("batch", "jobset", "pytorch", "rayjob"),
    "volcano": ("vcjob", "batch"),
    "native": ("batch",),
}
"""By the `scheduler` of a cluster: the kinds of jobs that it has a document for, by what `--job` calls them."""

EVERY: Final = tuple(dict.fromkeys(kind for kinds in KINDS.values() for kind in kinds))

_LONGEST_NAME: Final = 40
"""Of the part that is given: what controllers append, five random characters and a number for each level of objects,
must fit into the 63 of a label."""

_QUEUE: Final = "scheduling.volcano.sh/queue-name"
"""Annotation of pod templates."""
_MINIMUM: Final = "scheduling.volcano.sh/group-min-member"
"""Annotation of what owns the pods: without it Volcano starts them one by one (pg_controller_handler.go, 1.15.1)."""


def job_template(
    cluster: ClusterPlan,
    waiting: Waiting,
    kind: str,
    request: Request,
    verdict: Verdict,
    namespaces: tuple[Namespace, ...],
    topology: Topology | None,
) -> Page:
    """The document of a job that runs, by its verdict, for the first of the namespaces that it may be submitted to.

    `topology` is what its pods ask for by themselves; None where they get it, or there is none to get.
    """
    flavor, home = cluster.flavors[verdict.flavor], namespaces[0]
    scheduler = cluster.cluster.scheduler
    gang = request.pods > 1
    priority, others = _priority(cluster)
    asked = topology is not None and gang and waiting.asking is not None and flavor.name in topology.flavors
    values = {
        "scheduler": scheduler,
        "name": f"{home.queue[:_LONGEST_NAME].rstrip('-')}-",
        "namespace": home.name,
        "namespaces": [each.name for each in namespaces[1:]],
        "queue": verdict.queue,
        "priority": priority,
        "priorities": others,
        "annotations": {_MINIMUM: str(request.pods)} if scheduler == "volcano" and gang else {},
        "pod_annotations": {_QUEUE: verdict.queue} if scheduler == "volcano" else {},
        "topology": waiting.asking(cluster, topology, flavor.name) if asked and topology and waiting.asking else "",
        "pods": request.pods,
        "service_accounts": list(home.service_accounts),
        "pod": _pod(cluster, waiting, flavor, request),
        "resources": _resources(flavor, request),
        "claims": _claims(flavor, request),
    }
    return Page("", f"jobs/{kind}.yaml.j2", values)


def _priority(cluster: ClusterPlan) -> tuple[str, list[str]]:
    """A class for work that is like most, the lowest one that is not below the default of 0, and all others."""
    ordered = sorted(cluster.priorities, key=lambda name: (cluster.priorities[name] < 0, abs(cluster.priorities[name])))
    return (ordered[0], sorted(ordered[1:])) if ordered else ("", [])


def _pod(cluster: ClusterPlan, waiting: Waiting, flavor: Hardware, request: Request) -> dict[str, Any]:
    """What its pods say to get to the nodes of the flavor and past their taints.

    Kueue adds the labels of the flavor that it chooses, and a queue of Volcano has nodes of one flavor only. What Kueue
    or a policy would add as well is written all the same: a job that tolerates a flavor has chosen it.
    """
    pod: dict[str, Any] = {}
    if cluster.cluster.scheduler == "volcano":
        pod["schedulerName"] = "volcano"
    alone = not waiting.lends and len(cluster.flavors) > 1
    if alone or (request.flavor and cluster.cluster.scheduler != "volcano"):
        pod["nodeSelector"] = dict(sorted(flavor.labels.items()))
    barred = [taint for taint in flavor.taints if taint.keeps_out and (flavor.fenced or not waiting.injects)]
    if barred:
        pod["tolerations"] = [_toleration(taint) for taint in barred]
    if claims := _claims(flavor, request):
        pod["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": each["name"]} for each in claims]
    return pod


def _toleration(taint: Taint) -> dict[str, str]:
    how = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **how, "effect": taint.effect}


def _resources(flavor: Hardware, request: Request) -> dict[str, Any]:
    """Limits are for GPUs alone: cpu and memory that others leave idle on the node may be used. What is claimed is no
    resource of the container."""
    claimed = {device.resource for device in flavor.devices if device.device_class}
    asked = {name: count for name, count in sorted(request.pod.items()) if count}
    requests = {name: canonical(count, name) for name, count in asked.items() if name not in claimed}
    limits = {name: quantity for name, quantity in requests.items() if name in flavor.mains and flavor.gpu}
    claims = [{"name": "gpu"}] if claimed & asked.keys() else []
    return {
        **({"claims": claims} if claims else {}),
        **({"limits": limits} if limits else {}),
        "requests": requests,
    }


def _claims(flavor: Hardware, request: Request) -> list[dict[str, Any]]:
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
