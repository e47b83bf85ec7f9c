"""The words in which the behaviour tests speak: teams ask for GPUs, the cluster settles, and somebody holds what.

Everything is read from Kueue's own Workloads and from the pods; nothing is computed from the plan but names and sizes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from tests.cluster import scene
from tests.cluster.build import NEVER_READY
from tests.cluster.client import Object, condition, holds
from tests.cluster.deploy import Compiled
from tests.cluster.manager import KUEUE
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE
from tests.kueue_model import amount

EXCESS: Final = 3
"""Jobs beyond a limit: enough to see that none of them is let in."""
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL: Final = "kueue.x-k8s.io/priority-class"


@dataclass(slots=True)
class Scene(scene.Scene):
    """An organization at work on a cluster with Kueue."""

    QUIET: ClassVar = 2.0
    """Kueue's slowest step, one preemption and the admission after it, takes about a second."""

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
        marks: Mapping[str, str] | None = None,
        project: str = "",
    ) -> list[str]:
        """`times` jobs of a unit, each of `pods` pods with `gpus` GPUs (or MIG slices) and the cpu and memory that
        follow. `requests` replaces all of it; `topology` maps `required` or `preferred` to a level; `marks` are further
        annotations of the pods; `project` is one of those that share the unit's queue (by default the first). The jobs'
        names."""
        wanted = dict(requests) if requests is not None else self.sizes(gpus, flavor, resource)
        annotations = {f"kueue.x-k8s.io/podset-{how}-topology": level for how, level in (topology or {}).items()}
        annotations |= marks or {}
        if never_ready:
            annotations[NEVER_READY] = "true"
        namespace = self.namespace(unit, project).name
        names = [f"job-{next(self.numbers)}" for _ in range(times)]
        for name in names:
            labels = {QUEUE_LABEL: "default", **({PRIORITY_LABEL: priority} if priority else {})}
            self.create(_job(name, namespace, pods, labels, annotations, wanted, pod or {}))
        self.asked += times
        return names

    def finish(self, unit: str, names: list[str]) -> None:
        """The jobs end, as if their pods had succeeded: they are gone, and so is what they held."""
        for name in names:
            path = f"/apis/batch/v1/namespaces/{self.namespace(unit).name}/jobs/{name}"
            self.cluster.client.delete(path, propagationPolicy="Background")
        self.asked -= len(names)
        self.wait(lambda: all(owner(item) not in names for item in self.workloads(unit)), f"{names} are gone")

    # What is seen.

    def workloads(self, unit: str = "") -> list[Object]:
        """The Workloads of a unit, or of all."""
        names = self.homes(unit)
        return [
            item for item in self.cluster.client.list(f"{KUEUE}/workloads") if item["metadata"]["namespace"] in names
        ]

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
        return sorted(map(owner, holding))

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

    def work(self) -> list[Object]:
        """The Workloads."""
        return self.workloads()

    def _unit(self, workload: Object) -> str:
        return self.title(workload["metadata"]["namespace"])

    def picture(self) -> object:
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


def owner(workload: Object) -> str:
    """The name of the job that a Workload is made for."""
    return str(workload["metadata"]["ownerReferences"][0]["name"])


def opened(cluster: Cluster, made: Compiled, counts: dict[str, int] | None = None) -> Scene:
    """A scene on an empty cluster: the organization deployed and its nodes there."""
    scene.stage(cluster, made, counts)
    return Scene(cluster, made)


def _job(
    name: str,
    namespace: str,
    pods: int,
    labels: dict[str, str],
    annotations: dict[str, str],
    requests: dict[str, str],
    pod: Mapping[str, Any],
) -> Object:
    container = {"name": "main", "image": "none", "resources": {"requests": requests, "limits": scene.limits(requests)}}
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
