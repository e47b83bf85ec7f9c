"""Where a forced defect is put on: the trial organization at work on its nodes, and the means to look closely."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from tests.cluster import deploy, manager
from tests.cluster.access import Person, Question, asked
from tests.cluster.client import Object, Refused, condition, label
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import Scene, opened
from tests.cluster.manager import KUEUE
from tests.cluster.plane import Cluster, until

NODES: Final = {"h100": 15}
"""Of 16: the spare node is lost."""
LABELS: Final = {
    "h100": {"acme.example/pool": "gpu"},
    "a100-mig": {"acme.example/pool": "gpu", "acme.example/board": "a100"},
}
"""What the administrators of the nodes have put on them, and some defects select by."""
RACK: Final = ("h100-0", "h100-1")
"""The nodes of one rack; no other node says in which it is."""


class Comes(Enum):
    """How a defect that got past admission comes out."""

    STATUS = "Kueue's status"
    """A queue says so, before anybody works."""
    WAITS = "the job that waits"
    """Its Workload says why."""
    SILENT = "nobody"
    """Jobs run that must not, or do not run, and no queue and no Workload has a word about it."""
    HARMLESS = "nobody, and nothing is wrong"


class Outcome(NamedTuple):
    """How it came out, and what was seen, in a sentence with the figures of the run."""

    comes: Comes
    seen: str


@dataclass(slots=True)
class Stage:
    """The trial organization at work, in which a defect replaces what it edits."""

    scene: Scene
    healthy: Compiled
    refusals: list[Refused] = field(default_factory=list)
    """What was refused when the present objects were applied."""

    @property
    def cluster(self) -> Cluster:
        return self.scene.cluster

    def put(self, made: Compiled) -> None:
        """Apply what is new or different, also twice where it is there twice, and prune what is gone."""
        client = self.cluster.client
        there = {label(item): item for item in self.scene.made.objects}
        names = {label(item) for item in made.objects}
        anew = twice(self.scene.made.objects) | twice(made.objects)
        manager.configure(self.cluster, made.configuration)
        self.refusals = []
        for item in deploy.in_waves(made.objects):
            if there.get(label(item)) != item or label(item) in anew:
                try:
                    if label(item) not in there:
                        deploy.make_room(self.cluster, item)
                    client.apply(item)
                except Refused as refused:
                    self.refusals.append(refused)
        for name in there.keys() - names:
            client.delete(client.path(there[name]))
        self.scene.made = made
        until(self._seen, "Kueue has seen every queue")
        deploy.counted(self.cluster)

    def restore(self) -> None:
        """Back to the organization without the defect, and nobody at work."""
        manager.configure(self.cluster, self.healthy.configuration)  # A defect may have ended it.
        self.scene.clear()
        if self.scene.made is not self.healthy:
            self.put(self.healthy)
        assert self.refusals == []
        until(lambda: self.statuses() == {}, "every queue is active again")

    def statuses(self) -> dict[str, str]:
        """What queues that are not active say of themselves."""
        return deploy.inactive(self.cluster, replace(self.scene.made.plan, queues=()))

    def told(self, queue: str) -> str:
        """What a queue says of itself as soon as it is not active."""
        unseen = (None, "no condition")
        self.scene.wait(lambda: self.statuses().get(queue) not in unseen, f"{queue} is not active")
        return self.statuses()[queue]

    def says(self, unit: str, pattern: str) -> str:
        """The words that Kueue has, or had, for a job of a unit that waits; they are waited for.

        With several flavors the message changes from cycle to cycle, so that the events count as well.
        """
        found: list[str] = []

        def said() -> bool:
            matches = (re.search(pattern, each) for each in [*self.scene.why(unit), *self._events(unit, "Workload")])
            found.extend(match.group() for match in matches if match)
            return found != []

        self.scene.wait(said, f"{unit} is told: {pattern}")
        return f"`{found[0]}`"

    def job_events(self, unit: str) -> list[str]:
        """What is said of a unit's jobs where only those look who describe the job."""
        return self._events(unit, "Job")

    def holding(self, unit: str, count: int, resource: str = "") -> int:
        """Wait until a unit holds so many GPUs, and answer with them."""
        self.scene.wait(lambda: self.scene.held(unit, resource) == count, f"{unit} holds {count}")
        return count

    def running(self, unit: str, count: int) -> list[str]:
        """Wait until so many pods of a unit run, and answer with their nodes."""
        return self.scene.running(unit, count)

    def allowed(self, user: str, *groups: str, namespace: str = "research-vision") -> bool:
        """Whether somebody may create jobs in a namespace, by every binding that is there."""
        self._authorized()
        question = Question("create", "jobs.batch", namespace)
        return asked(self.cluster.client, Person((), user, groups), question)

    def _events(self, unit: str, kind: str) -> list[str]:
        path = f"/api/v1/namespaces/{self.scene.namespace(unit).name}/events"
        there = {item["metadata"]["name"] for item in self._objects(unit, kind)}
        events = self.cluster.client.list(path)
        return [event["message"] for event in events if event["involvedObject"]["name"] in there]

    def _objects(self, unit: str, kind: str) -> list[Object]:
        if kind == "Workload":
            return self.scene.workloads(unit)
        return self.cluster.client.list(f"/apis/batch/v1/namespaces/{self.scene.namespace(unit).name}/jobs")

    def _authorized(self) -> None:
        """The authorizer reads bindings from a cache, in their order: wait until one of our own, the last, is there."""
        name, client = f"probe-{time.time_ns()}", self.cluster.client
        group = "rbac.authorization.k8s.io"
        binding = {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": name, "namespace": "default"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": name}],
        }
        client.create(binding)
        until(lambda: asked(client, Person((), name, ()), Question("get", "pods", "default")), "bindings are obeyed")
        client.delete(client.path(binding))

    def _seen(self) -> bool:
        queues = (self.cluster.client.list(f"{KUEUE}/{kind}") for kind in ("clusterqueues", "localqueues"))
        return all(
            (condition(item, "Active") or {}).get("observedGeneration", 0) >= item["metadata"]["generation"]
            for items in queues
            for item in items
        )


def staged(cluster: Cluster, healthy: Compiled) -> Stage:
    """The trial organization on an empty cluster, with the labels that its nodes have from elsewhere."""
    stage = Stage(opened(cluster, healthy, NODES), healthy)
    for node in cluster.client.list("/api/v1/nodes"):
        name = node["metadata"]["name"]
        labels: dict[str, Any] = dict(LABELS.get(name.rpartition("-")[0], {}))
        if name in RACK:
            labels["acme.example/rack"] = "a"
        cluster.client.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})
    return stage


def twice(items: Iterable[Object]) -> set[str]:
    """The objects that are there more than once."""
    return {name for name, count in Counter(map(label, items)).items() if count > 1}


Probe: TypeAlias = Callable[[Stage], Outcome]
