"""A cluster at rest as the laws want it: read from Kueue's objects, from nodes and from pods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tenancy.plan.values import ClusterPlan
from tests.cluster.at_rest import Eviction, Flavor, Job, State, Unit, landing
from tests.cluster.client import Object
from tests.cluster.jobs import Scene, usage
from tests.cluster.manager import KUEUE
from tests.kueue_model import COHORT, QUEUE, Cell, Node, amount, build

PREEMPTED: Final = re.compile(r"\(UID: ([^,]+), .*preemptor path: \S*/(\S+); preemptee path: \S*/([^\s;]+)")


def units(plan: ClusterPlan) -> dict[Node, Unit]:
    """Every unit below the organization with what it is promised."""
    root = next(group.name for group in plan.groups if group.parent is None)

    def above(parent: str | None) -> Node | None:
        return None if parent in (None, root) else (COHORT, parent or "")

    found: dict[Node, Unit] = {
        (COHORT, group.name): Unit(title=group.title, parent=above(group.parent), quotas=group.quotas)
        for group in plan.groups
        if group.parent is not None
    }
    for queue in plan.queues:
        found[QUEUE, queue.name] = Unit(
            title=queue.title,
            parent=above(queue.parent),
            quotas=queue.quotas,
            active=queue.state == "active",
            strict=queue.rules.queueing == "strict",
            reclaims=queue.rules.reclaim == "any",
        )
    return found


def state(scene: Scene) -> State:
    """What the cluster says now. Its lists are read one after the other: look again before believing a surprise."""
    client = scene.cluster.client
    queues = client.list(f"{KUEUE}/clusterqueues")
    cohorts = client.list(f"{KUEUE}/cohorts")
    workloads, pods = scene.workloads(), client.list("/api/v1/pods")
    homes = {name: queue.name for queue in scene.made.plan.queues for name in queue.namespaces}
    return State(
        units=units(scene.made.plan),
        flavors=dict(_flavors(scene, client.list("/api/v1/nodes"), pods)),
        tree=build([*_of_kind(COHORT, cohorts), *_of_kind(QUEUE, queues)]),
        reserved={queue["metadata"]["name"]: _reserved(queue) for queue in queues},
        jobs=tuple(_job(workload, homes, pods) for workload in workloads),
    )


def evictions(scene: Scene, jobs: Iterable[Job], now: State, seen: set[str]) -> list[Eviction]:
    """Evictions for jobs that are known and that were not `seen` before; then they are."""
    known = {job.uid: job for job in jobs}
    found = []
    for event in scene.cluster.client.list("/api/v1/events", fieldSelector="reason=Preempted"):
        matched = PREEMPTED.search(event.get("message", ""))
        if matched and event["metadata"]["uid"] not in seen and matched[1] in known:
            found.append(
                Eviction(victim=matched[3], preemptor=matched[2], flavors=tuple(landing(now, known[matched[1]])))
            )
        seen.add(event["metadata"]["uid"])
    return found


def _of_kind(kind: str, items: Iterable[Object]) -> Iterator[Object]:
    """Items of a list do not say their kind."""
    return ({**item, "kind": kind} for item in items)


def _reserved(queue: Object) -> dict[Cell, int]:
    return {
        (flavor["name"], resource["name"]): amount(resource["total"], resource["name"])
        for flavor in queue.get("status", {}).get("flavorsReservation", ())
        for resource in flavor["resources"]
    }


def _flavors(scene: Scene, nodes: Iterable[Object], pods: Iterable[Object]) -> Iterator[tuple[str, Flavor]]:
    free = {node["metadata"]["name"]: _amounts(node["status"]["allocatable"]) for node in nodes}
    empty = {name: dict(amounts) for name, amounts in free.items()}
    for pod in pods:
        for into in _charged(pod, free, empty):
            for resource, count in _pod(pod["spec"]).items():
                into[resource] = into.get(resource, 0) - count
    for name, flavor in scene.made.plan.flavors.items():
        mine = sorted(node for node in free if node.rpartition("-")[0] == name)
        yield (
            name,
            Flavor(
                capacity=flavor.capacity,
                mains=frozenset(("cpu",) if flavor.is_cpu else flavor.mains),
                fenced=flavor.fenced,
                node=empty[mine[0]],
                free=tuple(free[node] for node in mine),
            ),
        )


def _charged(pod: Object, *books: dict[str, dict[str, int]]) -> Iterator[dict[str, int]]:
    """The books of a pod's node that it is on: only those of DaemonSets take from what jobs find empty."""
    free, empty = books
    node = pod["spec"].get("nodeName", "")
    if node in free and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
        yield free[node]
        if pod["metadata"]["namespace"] == "kube-system":
            yield empty[node]


def _job(workload: Object, homes: Mapping[str, str], pods: Iterable[Object]) -> Job:
    metadata, (podset,) = workload["metadata"], workload["spec"]["podSets"]
    owner = metadata["ownerReferences"][0]["uid"]
    flavor = next((flavor for flavor, _ in usage(workload)), "")
    return Job(
        uid=metadata["uid"],
        name=metadata["name"],
        queue=homes[metadata["namespace"]],
        pods=podset["count"],
        pod=_pod(podset["template"]["spec"]),
        flavor=flavor,
        bound=sum(_runs(pod, owner, flavor) for pod in pods),
    )


def _runs(pod: Object, owner: str, flavor: str) -> bool:
    mine = any(each["uid"] == owner for each in pod["metadata"].get("ownerReferences", ()))
    running = pod.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    return mine and running and pod["spec"].get("nodeName", "").rpartition("-")[0] == flavor


def _pod(spec: Object) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in spec["containers"]:
        for resource, quantity in container.get("resources", {}).get("requests", {}).items():
            total[resource] = total.get(resource, 0) + amount(quantity, resource)
    return total


def _amounts(quantities: Mapping[str, str]) -> dict[str, int]:
    return {name: amount(quantity, name) for name, quantity in quantities.items() if name != "pods"}
