"""The words in which the behaviour tests speak: teams ask for GPUs, the cluster settles, and somebody holds what.

Everything is read from Kueue's own Workloads and from the pods; nothing is computed from the plan but names and sizes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenancy.model.hardware import Hardware
from tenancy.plan.values import Namespace, Queue
from tests.cluster import deploy, manager, nodes
from tests.cluster.build import NEVER_READY
from tests.cluster.client import Object, Refused, condition, holds
from tests.cluster.deploy import KUEUE, Compiled
from tests.cluster.plane import Cluster, until
from tests.kueue_model import amount

QUIET: Final = 2.0
"""Seconds without a change of any Workload after which the cluster counts as settled: Kueue's slowest step, one
preemption and the admission after it, takes about one."""
SLOWNESS: Final = 20
"""A machine that takes long to list the Workloads takes long for everything else: the quiet time is at least so many
times as long, so that a loaded machine only makes a test last."""
PATIENCE: Final = 120.0
ATTEMPTS: Final = 5
EXCESS: Final = 3
"""Jobs beyond a limit: enough to see that none of them is let in."""
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL: Final = "kueue.x-k8s.io/priority-class"


@dataclass(slots=True)
class Scene:
    """An organization at work on a cluster with fake nodes."""

    cluster: Cluster
    made: Compiled
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    asked: int = 0
    """Jobs that are there."""

    # What people do.

    def submit(
        self,
        unit: str,
        gpus: int = 1,
        *,
        times: int = 1,
        pods: int = 1,
        flavor: str = "",
        resource: str = "",
        requests: Mapping[str, str] | None = None,
        priority: str = "",
        topology: Mapping[str, str] | None = None,
        pod: Mapping[str, Any] | None = None,
        never_ready: bool = False,
        project: str = "",
    ) -> list[str]:
        """`times` jobs of a unit, each of `pods` pods with `gpus` GPUs (or MIG slices) and the cpu and memory that
        follow. `requests` replaces all of it; `topology` maps `required` or `preferred` to a level; `project` is one of
        those that share the unit's queue (by default the first). The jobs' names."""
        wanted = dict(requests) if requests is not None else self.sizes(gpus, flavor, resource)
        annotations = {f"kueue.x-k8s.io/podset-{how}-topology": level for how, level in (topology or {}).items()}
        if never_ready:
            annotations[NEVER_READY] = "true"
        namespace = self.namespace(unit, project).name
        names = [f"job-{next(self.numbers)}" for _ in range(times)]
        for name in names:
            labels = {QUEUE_LABEL: "default", **({PRIORITY_LABEL: priority} if priority else {})}
            _create(self.cluster, _job(name, namespace, pods, labels, annotations, wanted, pod or {}))
        self.asked += times
        return names

    def fill(self, unit: str, gpus: int = 1, **how: Any) -> int:
        """Jobs of a unit until it is refused: a few more than its limit lets in. What it then holds, in GPUs."""
        flavor = self.flavor(how.get("flavor", ""))
        limit = self.queue(unit).quotas[flavor.name][how.get("resource", "") or flavor.mains[0]].limit
        self.submit(unit, gpus, times=limit // (gpus * how.get("pods", 1)) + EXCESS, **how)
        self.settle()
        return self.held(unit)

    def finish(self, unit: str, names: list[str]) -> None:
        """The jobs end, as if their pods had succeeded: they are gone, and so is what they held."""
        for name in names:
            path = f"/apis/batch/v1/namespaces/{self.namespace(unit).name}/jobs/{name}"
            self.cluster.client.delete(path, propagationPolicy="Background")
        self.asked -= len(names)

    def clear(self) -> None:
        """Everybody ends everything."""
        for namespace in self.made.plan.namespaces:
            deploy.clear_namespace(self.cluster, namespace.name)
        self.asked = 0
        until(lambda: self.workloads() == [] and self.pods() == [], "all work is gone", 60)

    def change(self, made: Compiled) -> None:
        """The organization is edited: what is new or different is applied, what is gone is pruned."""
        before = {deploy.label(item): item for item in self.made.objects}
        after = {deploy.label(item): item for item in made.objects}
        self.made = made
        manager.configure(self.cluster, made.configuration)
        deploy.apply(self.cluster, deploy.in_waves(item for key, item in after.items() if before.get(key) != item))
        for key in before.keys() - after.keys():
            self.cluster.client.delete(self.cluster.client.path(before[key]))
        until(lambda: deploy.inactive(self.cluster, made.plan) == {}, "every queue is active")

    # What is seen.

    def settle(self, quiet: float = QUIET) -> None:
        """Wait until every job has its Workload and none has changed for a while."""
        end, since, last = time.monotonic() + PATIENCE, time.monotonic(), None
        while time.monotonic() - since < quiet:
            asked = time.monotonic()
            now = self._picture()
            quiet = max(quiet, SLOWNESS * (time.monotonic() - asked))
            if now != last:
                since, last = time.monotonic(), now
            assert time.monotonic() < end, f"never settled: {self.holders()}"
            time.sleep(0.4)

    def wait(self, holds_now: Callable[[], bool], what: str, seconds: float = 30) -> None:
        """Wait for something that is known to come."""
        until(holds_now, what, seconds)

    def expect(self, holders: Mapping[str, int]) -> None:
        """Wait until exactly these units hold so many GPUs each, and it stays so. A slow machine only makes it last."""
        end = time.monotonic() + PATIENCE

        def stays() -> bool:
            if self.holders() == holders:
                self.settle()
                return self.holders() == holders
            return False

        while not stays():
            assert time.monotonic() < end, f"expected {dict(holders)}, but {self.holders()}"
            time.sleep(0.4)

    def workloads(self, unit: str = "") -> list[Object]:
        """The Workloads of a unit, or of all."""
        return [item for item in self.cluster.client.list(f"{KUEUE}/workloads") if unit in ("", self._unit(item))]

    def held(self, unit: str, resource: str = "") -> int:
        """GPUs (or of another resource) that a unit's admitted Workloads hold."""
        return self.holders(resource).get(unit, 0)

    def holders(self, resource: str = "") -> dict[str, int]:
        """Who holds how many GPUs, units without any left out."""
        found: dict[str, int] = {}
        for item in self.workloads():
            for (_, name), count in usage(item).items():
                if name == resource or (not resource and name not in ("cpu", "memory")):
                    found[self._unit(item)] = found.get(self._unit(item), 0) + count
        return {unit: count for unit, count in found.items() if count}

    def admitted(self, unit: str) -> list[str]:
        """The jobs of a unit that hold quota, by name, sorted."""
        holding = [item for item in self.workloads(unit) if holds(item, "QuotaReserved")]
        return sorted(item["metadata"]["ownerReferences"][0]["name"] for item in holding)

    def pending(self, unit: str) -> list[Object]:
        """The Workloads of a unit that wait."""
        return [item for item in self.workloads(unit) if not holds(item, "QuotaReserved")]

    def why(self, unit: str) -> list[str]:
        """What Kueue says to those who wait, each message once. Kueue 0.17 is silent about some."""
        messages = {(condition(item, "QuotaReserved") or {}).get("message", "") for item in self.pending(unit)}
        return sorted(messages - {""})

    def told(self, unit: str, words: str) -> None:
        """Wait until Kueue says these words to one who waits."""
        self.wait(lambda: any(words in message for message in self.why(unit)), f"{unit} is told: {words}", PATIENCE)

    def evictions(self, unit: str = "", reason: str = "Preempted") -> int:
        """How often Workloads of a unit, or of anybody, were evicted for a reason."""
        return sum(
            each["count"]
            for item in self.workloads(unit)
            for each in item.get("status", {}).get("schedulingStats", {}).get("evictions", ())
            if each["reason"] == reason
        )

    def pods(self, unit: str = "") -> list[Object]:
        """The pods of a unit, or of all tenants."""
        names = {each.name for each in self.made.plan.namespaces if unit in ("", self._title(each))}
        return [pod for pod in self.cluster.client.list("/api/v1/pods") if pod["metadata"]["namespace"] in names]

    def hosts(self, unit: str) -> list[str]:
        """The nodes that a unit's pods run on, one for each pod, sorted."""
        running = [pod for pod in self.pods(unit) if pod.get("status", {}).get("phase") == "Running"]
        return sorted(pod["spec"]["nodeName"] for pod in running)

    def running(self, unit: str, pods: int) -> list[str]:
        """Wait until as many pods of a unit run, which is a moment after it holds the GPUs; their nodes, sorted."""
        self.wait(lambda: len(self.hosts(unit)) == pods, f"{pods} pods of {unit} run", PATIENCE)
        return self.hosts(unit)

    # Names and sizes.

    def flavor(self, name: str = "") -> Hardware:
        """A flavor by name; without one, the first that has whole GPUs."""
        flavors = self.made.plan.flavors
        whole = (each for each in flavors.values() if each.gpu and each.gpu.resource in each.mains)
        return flavors[name] if name else next(whole)

    def sizes(self, gpus: int, flavor: str = "", resource: str = "") -> dict[str, str]:
        """What a pod of so many GPUs asks for."""
        chosen = self.flavor(flavor)
        main = resource or chosen.mains[0]
        follows = chosen.follows[main]
        return {main: str(gpus), "cpu": f"{follows['cpu'] * gpus}m", "memory": str(follows["memory"] * gpus)}

    def queue(self, unit: str) -> Queue:
        """The queue of a unit, by its path."""
        return next(each for each in self.made.plan.queues if each.title == unit)

    def namespace(self, unit: str, project: str = "") -> Namespace:
        """The first namespace of a unit, or that of one of its projects."""
        mine = (each for each in self.made.plan.namespaces if each.name in self.queue(unit).namespaces)
        return next(each for each in mine if each.title == f"{unit}/{project}" or not project)

    def _title(self, namespace: Namespace) -> str:
        return next(each.title for each in self.made.plan.queues if namespace.name in each.namespaces)

    def _unit(self, workload: Object) -> str:
        home = workload["metadata"]["namespace"]
        return next(each.title for each in self.made.plan.queues if home in each.namespaces)

    def _picture(self) -> object:
        """All that is of interest. A job without its Workload, and one that is evicted and still holds its quota until
        its pods are gone, make every picture different."""
        found = self.workloads()
        if len(found) < self.asked or any(usage(item) and holds(item, "Evicted") for item in found):
            return time.monotonic()
        return sorted(
            (
                item["metadata"]["uid"],
                bool(usage(item)),
                str(item.get("status", {}).get("schedulingStats")),
                item["spec"].get("active"),
            )
            for item in found
        )


def usage(workload: Object) -> dict[tuple[str, str], int]:
    """What an admitted Workload holds, by flavor and resource; cpu in milli, the rest in whole units."""
    if not holds(workload, "QuotaReserved"):
        return {}
    held: dict[tuple[str, str], int] = {}
    for podset in workload["status"].get("admission", {}).get("podSetAssignments", ()):
        for resource, quantity in podset.get("resourceUsage", {}).items():
            cell = podset["flavors"][resource], resource
            held[cell] = held.get(cell, 0) + amount(quantity, resource)
    return held


def opened(cluster: Cluster, made: Compiled, counts: dict[str, int] | None = None) -> Scene:
    """A scene on an empty cluster: the organization deployed and its nodes there."""
    deploy.withdraw(cluster)
    nodes.make(cluster, made, counts)
    deploy.deploy(cluster, made)
    return Scene(cluster, made)


def _create(cluster: Cluster, job: Object) -> None:
    """Create a job, again where the API server says Conflict: it counts objects of a new namespace in a ResourceQuota
    that its controller writes at the same time. Raises Refused."""
    for attempt in range(ATTEMPTS):
        try:
            cluster.client.create(job)
        except Refused as refused:
            if refused.reason != "Conflict" or attempt == ATTEMPTS - 1:
                raise
            time.sleep(0.4)
        else:
            return


def _job(
    name: str,
    namespace: str,
    pods: int,
    labels: dict[str, str],
    annotations: dict[str, str],
    requests: dict[str, str],
    pod: Mapping[str, Any],
) -> Object:
    container = {"name": "main", "image": "none", "resources": {"requests": requests, "limits": _limits(requests)}}
    spec = {"restartPolicy": "Never", "containers": [container], **pod}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "backoffLimit": 0,
            "template": {"metadata": {"annotations": annotations}, "spec": spec},
        },
    }


def _limits(requests: Mapping[str, str]) -> dict[str, str]:
    """An extended resource must be limited to what is requested."""
    return {name: count for name, count in requests.items() if "/" in name}
