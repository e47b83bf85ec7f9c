"""The words of the behaviour tests on Volcano: teams ask for GPUs, the cluster settles, and somebody holds what.

Who holds what is read from bound pods alone; nothing is computed from the plan but names and sizes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from tenancy.backend.volcano.names import leaf, reached
from tenancy.backend.volcano.pod_templates import GROUP
from tests.cluster import scene, volcano
from tests.cluster.build import DIES_FROM, DIES_TO
from tests.cluster.client import Object
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.volcano import JOBS, PODGROUPS
from tests.cluster.volcano_watch import Watch, bound, gpus, watching

QUEUE: Final = "scheduling.volcano.sh/queue-name"
"""Annotation of pods and of pod templates."""
MINIMUM: Final = "scheduling.volcano.sh/group-min-member"
"""Annotation of a Deployment itself; on its pods it is not looked at (run on 1.15.1)."""
RETRIES: Final = 1000
"""Every eviction that restarts a job counts as a retry, and the default of 3 then ends it for good (run on 1.15.1)."""
NAMES: Final = itertools.count(1)
"""Never a name twice: a job created under the name of one just deleted may be ignored for ever (run on 1.15.1)."""
RESTART: Final = {"event": "PodEvicted", "action": "RestartJob"}
"""Without a timeout: with one, an eviction of eight pods restarted a job 157 times in two minutes (run on 1.15.1)."""
DYING: Final = ("500ms", "2500ms")
"""How long a pod takes to end, at least and at most, as on real nodes, where no two end at one moment. A job of which
all pods are evicted and do so may stay in Restarting for ever: its last pod ends before its PodGroup, and nothing looks
at it again (run on 1.15.1: after 5 of 37 reclaims from gangs of four whose pods ended at once)."""
EXCESS: Final = 3
"""Pods beyond a limit: enough to see that none of them is let in."""


@dataclass(slots=True)
class Scene(scene.Scene):
    """An organization at work on a cluster with Volcano. `asked` counts the pods of jobs and Deployments."""

    QUIET: ClassVar = 2.0
    STEPS: ClassVar = 4
    """Cycles of the scheduler, each a second or more: an eviction, the end of the pods, the restart of the job that
    lost them and the binding of those who wait take one or two each."""

    paths: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By name: where a job, pod or Deployment is, and for how many pods it counts in `asked`."""

    # What people do. Each verb takes `how`: `flavor`, `resource`, `requests` (in place of what follows from the GPUs),
    # `priority` (a PriorityClass), `project` (one of those that share the unit's queue), `pod` (further keys of the
    # pod's spec), `annotations` (of the pod), `queue` (another than the unit's own), `dies` (in place of DYING).

    def gang(
        self,
        unit: str,
        pods: int,
        gpus: int = 1,
        *,
        times: int = 1,
        minimum: int = 0,
        restart: bool | None = None,
        job: Mapping[str, Any] | None = None,
        **how: Any,
    ) -> list[str]:
        """`times` Volcano jobs of `pods` pods with `gpus` GPUs (or MIG slices); with a `minimum` below `pods` they
        are elastic. A gang is restarted when a pod of it is evicted, an elastic job is not, unless `restart` says
        otherwise. `job` has further keys of the job's spec. The jobs' names."""
        least = minimum or pods
        restarted = least == pods if restart is None else restart
        task = {"name": "main", "replicas": pods, "minAvailable": least, "template": self._template(unit, gpus, **how)}
        spec = {
            "schedulerName": "volcano",
            "queue": self._queue(unit, **how),
            "minAvailable": least,
            "maxRetry": RETRIES,
            "policies": [RESTART] if restarted else [],
            "tasks": [task],
            **({"priorityClassName": how["priority"]} if "priority" in how else {}),
            **(job or {}),
        }
        item = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": spec}
        return [self._submit(unit, item, pods, **how) for _ in range(times)]

    def bare(self, unit: str, times: int, gpus: int = 1, **how: Any) -> list[str]:
        """`times` pods without an owner, each its own PodGroup: one that is evicted is gone. Their names."""
        template = self._template(unit, gpus, **how)
        item = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"]}
        named = {**how, "annotations": template["metadata"]["annotations"]}
        return [self._submit(unit, item, 0, **named) for _ in range(times)]

    def deployment(self, unit: str, pods: int, gpus: int = 1, *, minimum: int = 0, **how: Any) -> str:
        """A Deployment of `pods` pods, of which it wants at least `minimum` together. Its name."""
        labels = {"test-bed/deployment": str(next(NAMES))}
        template = self._template(unit, gpus, **how)
        template["metadata"]["labels"] = labels
        template["spec"]["restartPolicy"] = "Always"
        item = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"replicas": pods, "selector": {"matchLabels": labels}, "template": template},
        }
        return self._submit(unit, item, pods, **{**how, "annotations": {MINIMUM: str(minimum)} if minimum else {}})

    def fill(self, unit: str, gpus: int = 1, *, pods: int = 1, **how: Any) -> int:
        """Jobs of a unit until it is refused: a few more than its limit lets in. What it then holds, in GPUs."""
        flavor = self.flavor(how.get("flavor", ""))
        limit = self.queue(unit).quotas[flavor.name][how.get("resource", "") or flavor.mains[0]].limit
        self.gang(unit, pods, gpus, times=limit // (gpus * pods) + EXCESS, **how)
        self.settle()
        return self.held(unit, flavor=flavor.name)

    def finish(self, names: list[str]) -> None:
        """Work ends, as if its pods had succeeded: it is gone, and so is what it held."""
        for name in names:
            path, pods = self.paths[name]
            self.cluster.client.delete(path, propagationPolicy="Background", gracePeriodSeconds="0")
            self.asked -= pods

    # What is seen.

    def watch(self) -> AbstractContextManager[Watch]:
        """`with scene.watch() as seen: …`; then `seen.evicted(unit)`, `seen.killed(unit)` and `seen.lowest(unit)`."""
        titles = {name: queue.title for queue in self.made.plan.queues for name in queue.namespaces}
        return watching(self.cluster.client, titles.get)

    def steps(self) -> int:
        """The cycles of the scheduler."""
        return volcano.cycles(self.cluster)

    def holders(self, resource: str = "", flavor: str = "") -> dict[str, int]:
        """Who has how many GPUs (or of another resource) in bound pods, on all nodes or those of a flavor."""
        found: dict[str, int] = {}
        for pod in self.pods():
            if bound(pod) and flavor in ("", pod["spec"]["nodeName"].rpartition("-")[0]):
                unit = self.title(pod["metadata"]["namespace"])
                found[unit] = found.get(unit, 0) + gpus(pod, resource)
        return {unit: count for unit, count in found.items() if count}

    def held(self, unit: str, resource: str = "", flavor: str = "") -> int:
        """GPUs (or of another resource) in bound pods of a unit, on all nodes or those of a flavor."""
        return self.holders(resource, flavor).get(unit, 0)

    def bound(self, name: str) -> int:
        """How many pods of a job, a Deployment or a bare pod are bound."""
        return sum(bound(pod) for pod in self.pods() if _belongs(pod, name))

    def phases(self, unit: str) -> dict[str, str]:
        """The phase of each job of a unit, by name."""
        return {
            item["metadata"]["name"]: item.get("status", {}).get("state", {}).get("phase", "")
            for item in self._tenants(f"{JOBS}/jobs", unit)
        }

    def why(self, unit: str) -> list[str]:
        """What Volcano says to those who wait, each message once."""
        waiting = [item for item in self._tenants(PODGROUPS, unit) if item["status"].get("phase") != "Running"]
        conditions = [each for item in waiting for each in item["status"].get("conditions") or ()]
        return sorted({each.get("message", "") for each in conditions if each["type"] == "Unschedulable"} - {""})

    def leaf(self, unit: str, flavor: str = "") -> str:
        """The Queue of a unit in the tree of a flavor; without one, of the usual flavor, or of the first it reaches."""
        queue, usual = self.queue(unit), flavor or self.flavor().name
        within = [each.name for each in reached(self.made.plan, queue)]
        return leaf(queue, usual if flavor or usual in within else within[0])

    def work(self) -> list[Object]:
        """Jobs, Deployments and PodGroups; and ReplicaSets, which make pods anew until the garbage collector has come
        from their Deployments to them."""
        kinds = (f"{JOBS}/jobs", "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets", PODGROUPS)
        return [item for kind in kinds for item in self._tenants(kind)]

    def picture(self) -> object:
        """Who is bound where. A job or Deployment that lacks pods, pods on their way out, and those that the scheduler
        does not know yet make every picture different."""
        pods = self.pods()
        owned = [pod for pod in pods if "ownerReferences" in pod["metadata"]]
        if len(owned) < self.asked or any("deletionTimestamp" in pod["metadata"] or _new(pod) for pod in pods):
            return time.monotonic()
        return sorted((pod["metadata"]["uid"], pod["spec"].get("nodeName"), pod["status"].get("phase")) for pod in pods)

    def _tenants(self, path: str, unit: str = "") -> list[Object]:
        names = self.homes(unit)
        return [item for item in self.cluster.client.list(path) if item["metadata"]["namespace"] in names]

    def _queue(self, unit: str, *, flavor: str = "", queue: str = "", **_: Any) -> str:
        return queue or self.leaf(unit, flavor)

    def _template(
        self,
        unit: str,
        gpus: int,
        *,
        flavor: str = "",
        resource: str = "",
        requests: Mapping[str, str] | None = None,
        priority: str = "",
        pod: Mapping[str, Any] | None = None,
        annotations: Mapping[str, str] | None = None,
        dies: tuple[str, str] = DYING,
        **how: Any,
    ) -> dict[str, Any]:
        wanted = dict(requests) if requests is not None else self.sizes(gpus, flavor, resource)
        resources = {"requests": wanted, "limits": scene.limits(wanted)}
        spec = {
            "schedulerName": "volcano",
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "none", "resources": resources}],
            **({"priorityClassName": priority} if priority else {}),
            **(pod or {}),
        }
        dying = dict(zip((DIES_FROM, DIES_TO), dies, strict=True))
        named = {QUEUE: self._queue(unit, flavor=flavor, **how), **dying, **(annotations or {})}
        return {"metadata": {"annotations": named}, "spec": spec}

    def _submit(
        self,
        unit: str,
        item: Object,
        pods: int,
        annotations: Mapping[str, str] | None = None,
        *,
        project: str = "",
        **_: Any,
    ) -> str:
        name = f"work-{next(NAMES)}"
        metadata = {
            "name": name,
            "namespace": self.namespace(unit, project).name,
            "annotations": dict(annotations or {}),
        }
        whole = {**item, "metadata": metadata}
        self.create(whole)
        self.paths[name] = self.cluster.client.path(whole), pods
        self.asked += pods
        return name


def opened(cluster: Cluster, made: Compiled, counts: dict[str, int] | None = None) -> Scene:
    """A scene on an empty cluster: the organization deployed and its nodes there."""
    scene.stage(cluster, made, counts)
    return Scene(cluster, made)


def _new(pod: Object) -> bool:
    """Whether a pod for Volcano's scheduler has no PodGroup yet, without which it is passed over."""
    unbound = pod["spec"]["schedulerName"] == "volcano" and "nodeName" not in pod["spec"]
    return unbound and GROUP not in pod["metadata"].get("annotations", {})


def _belongs(pod: Object, name: str) -> bool:
    """Whether a pod is of this name, or of a job or Deployment of this name: theirs begin with it."""
    found: str = pod["metadata"]["name"]
    return found == name or found.startswith(f"{name}-")
