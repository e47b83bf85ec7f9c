"""Limits of a namespace: object counts and the default requests of containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.check.wording import listed, nearest
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import CPU, MEMORY, amount
from tenancy.model.organization import Node, Org
from tenancy.model.quantity import canonical, human
from tenancy.model.reach import most_gpu_pods, queue_node
from tenancy.model.syntax import is_dns_label, is_dns_subdomain

OBJECT_KEY: Final = Rule(
    "object-key",
    Severity.ERROR,
    "An object count that ResourceQuota does not know",
    "The API server refuses the whole ResourceQuota, or counts nothing under the key: the namespace is without a "
    "bound.",
)
OBJECT_COMPUTE: Final = Rule(
    "object-compute",
    Severity.ERROR,
    "Compute among the object counts",
    "The queue decides about cpu, memory and GPUs. A ResourceQuota below it refuses the pods of jobs that were "
    "already admitted: they hold quota and never run. The refusal shows only as an event of the job.",
)
OBJECT_ZERO: Final = Rule(
    "object-zero",
    Severity.ERROR,
    "An object count that lets no job run",
    "Every job needs a Workload of Kueue or a PodGroup of Volcano, pods, and the certificate authority's ConfigMap in "
    "its pods: with none of them allowed nothing ever starts in the namespace.",
)
PODS_BELOW_QUEUE: Final = Rule(
    "pods-below-queue",
    Severity.ERROR,
    "Fewer pods than GPUs",
    "The queue admits jobs up to its limit. When the namespace may not hold their pods, admitted jobs keep GPUs "
    "that they cannot use; the refusal shows only as an event of the job.",
)
CONTAINER_RESOURCE: Final = Rule(
    "container-resource",
    Severity.ERROR,
    "A default request of something that queues do not count",
    "The default is added to every container. A pod that requests a resource which its queue does not cover is "
    "pending for ever, and a default GPU would be taken by every pod.",
)
CONTAINER_TOO_LARGE: Final = Rule(
    "container-too-large",
    Severity.WARNING,
    "A default request above what follows one GPU",
    "Jobs that say no requests take more of a node than their GPUs' part: the node is full before its last GPU is "
    "used, and that GPU stays idle.",
)

LEGACY: Final = (
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
)
"""Objects that ResourceQuota counts by their bare names (Kubernetes, resource quotas)."""
IGNORED: Final = ("count/events", "count/events.events.k8s.io")
"""Keys that the API server takes and never counts (pkg/quota/v1/install/registry.go of 1.36.3; run)."""
NEEDED: Final = ("configmaps", "count/configmaps", "count/jobs.batch", "count/pods", "pods")
"""Objects without which no plain job runs."""
NEEDED_BY: Final = {
    "kueue": ("count/workloads.kueue.x-k8s.io",),
    "volcano": ("count/podgroups.scheduling.volcano.sh",),
}
"""What each job needs beside them, by the scheduler of a cluster."""
_PODS = frozenset({"pods", "count/pods"})
_COMPUTE = re.compile(r"(requests|limits)\..+|cpu|memory|storage|ephemeral-storage|hugepages-.+|.*/requests\.storage")
_COUNT = re.compile(r"count/(?P<plural>[^.]+)(\.(?P<group>.+))?")


def objects(org: Org) -> Iterator[Finding]:
    """Object counts are ones that ResourceQuota knows, and let the queue's jobs run."""
    for unit in org.units:
        said = unit.document.limits.objects if unit.document is not None else {}
        path: KeyPath = (*unit.path, "limits", "objects")
        for key, value in said.items():
            if (fault := _key(unit, key, path)) is not None:
                yield fault
            else:
                yield from _count(org, unit, key, value, (*path, key))


def pods(org: Org) -> Iterator[Finding]:
    """No namespace may hold fewer pods than its queue admits GPUs; one finding where the number is written."""
    small: dict[KeyPath, list[tuple[int, int, Node]]] = {}
    said = {
        unit.path for unit in org.units if unit.document is not None and unit.document.limits.objects.keys() & _PODS
    }
    clusters = [
        {flavor.name: flavor for flavor in org.flavors.values() if flavor.cluster == name}
        for name in org.document.clusters
    ]
    for unit in org.units if said else ():
        if unit.kind == "department":
            continue
        saying = next((above for above in (unit, *unit.ancestors()) if above.path in said), None)
        queue = queue_node(unit)
        if saying is None or any(entry.broken for entry in queue.entries.values()):
            continue
        path, count = _pods(saying)
        most = max((most_gpu_pods(queue, each) for each in clusters), default=0)
        if count is not None and 0 < count < most:
            small.setdefault(path, []).append((most, count, unit))
    for path, units in small.items():
        most, count, unit = max(units, key=lambda each: each[0])
        message = f"`{unit.title}` may hold {count} pods, but its queue admits jobs on {most} GPUs"
        help_ = f"write {most} or more (jobs of one GPU have a pod for each), or remove it"
        yield Finding(PODS_BELOW_QUEUE, path, message, help_)


def containers(org: Org) -> Iterator[Finding]:
    """Default requests are of cpu and memory, and no more than what follows one GPU or slice."""
    for unit in org.units:
        said = unit.document.limits.container if unit.document is not None else {}
        path: KeyPath = (*unit.path, "limits", "container")
        for key, value in said.items():
            if key not in (CPU, MEMORY):
                message = f"`{unit.title}`: `{key}` cannot have a default request"
                help_ = f"{nearest(key, (CPU, MEMORY))}remove it: only `cpu` and `memory` can have a default request"
                yield Finding(CONTAINER_RESOURCE, (*path, key), message, help_, at_key=True)
            else:
                yield from _default(org, unit, key, value, (*path, key))


def _key(unit: Node, key: str, path: KeyPath) -> Finding | None:
    if _COMPUTE.fullmatch(key):
        message = f"`{unit.title}` has compute among its object counts: `{key}`"
        help_ = "set `budget` for cpu, memory and GPUs, and `storage` for disks"
        return Finding(OBJECT_COMPUTE, (*path, key), message, help_, at_key=True)
    if key in IGNORED:
        message = f"`{unit.title}`: ResourceQuota takes `{key}` and never counts it"
        help_ = "remove it: events end by themselves, after an hour by default"
        return Finding(OBJECT_KEY, (*path, key), message, help_, at_key=True)
    counted = _COUNT.fullmatch(key)
    known = key in LEGACY
    if counted is not None:
        known = is_dns_label(counted["plural"]) and (counted["group"] is None or is_dns_subdomain(counted["group"]))
    if known:
        return None
    message = f"`{unit.title}`: ResourceQuota does not count `{key}`"
    if key.partition("/")[0] != "count" and is_dns_subdomain(key) and "." in key and not nearest(key, LEGACY):
        edits = mending.renamed((*path, key), f"count/{key}")
        return Finding(OBJECT_KEY, (*path, key), message, f"did you mean `count/{key}`?", at_key=True, edits=edits)
    help_ = f"{nearest(key, LEGACY)}write `count/PLURAL.GROUP`, such as `count/jobs.batch`, or {listed(LEGACY, 'or')}"
    return Finding(OBJECT_KEY, (*path, key), message, help_, at_key=True)


def _count(org: Org, unit: Node, key: str, value: object, path: KeyPath) -> Iterator[Finding]:
    schedulers = {org.document.clusters[name].scheduler for name in unit.clusters if name in org.document.clusters}
    if amount(value, key) == 0 and any(key in (*NEEDED, *NEEDED_BY.get(each, ())) for each in schedulers or ("",)):
        message = f"`{unit.title}` may hold no `{key.removeprefix('count/')}`"
        help_ = "write a larger number; `state: held` or `state: draining` keeps new jobs out"
        yield Finding(OBJECT_ZERO, path, message, help_)


def _pods(unit: Node) -> tuple[KeyPath, int | None]:
    """The number of pods that the unit says, with its place."""
    said = unit.document.limits.objects if unit.document is not None else {}
    key = min(said.keys() & _PODS)
    return (*unit.path, "limits", "objects", key), amount(said[key], key)


def _default(org: Org, unit: Node, key: str, value: object, path: KeyPath) -> Iterator[Finding]:
    count = amount(value, key)
    queue = unit if unit.kind == "department" else queue_node(unit)
    least: tuple[int, str, str] | None = None
    for flavor in org.flavors.values():
        if flavor.is_cpu or not queue.reaches(flavor):
            continue
        for main, follows in flavor.follows.items():
            if follows[key] and (least is None or follows[key] < least[0]):
                least = (follows[key], main, flavor.name)
    if count is not None and least is not None and count > least[0]:
        what = "a GPU" if least[1].endswith("/gpu") else f"one `{least[1]}`"
        message = (
            f"`{unit.title}`: a default of {human(count, key)} is more than the {human(least[0], key)} "
            f"that follow {what} of flavor `{least[2]}`"
        )
        yield Finding(CONTAINER_TOO_LARGE, path, message, f"write `{key}: {canonical(least[0], key)}` or less")


CHECKS: Final = (objects, pods, containers)
RULES: Final = (
    OBJECT_KEY,
    OBJECT_COMPUTE,
    OBJECT_ZERO,
    PODS_BELOW_QUEUE,
    CONTAINER_RESOURCE,
    CONTAINER_TOO_LARGE,
)
