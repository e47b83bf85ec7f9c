"""Where a forced defect is put on: the trial organization at work on its nodes, and the means to look closely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from tests.cluster import deploy
from tests.cluster.client import Object, Refused, condition
from tests.cluster.deploy import KUEUE, Compiled
from tests.cluster.jobs import Scene
from tests.cluster.plane import until


class Comes(Enum):
    """How a defect that got past admission comes out."""

    STATUS = "status"
    """A queue says so in its status, before anybody works."""
    WAITS = "waits"
    """A job waits, and its Workload says why."""
    SILENT = "silent"
    """Nothing says so: jobs run, or do not, and no condition names the cause."""
    HARMLESS = "harmless"
    """Nothing is wrong."""


class Outcome(NamedTuple):
    """How it came out, and what was seen, in a sentence with the figures of the run."""

    comes: Comes
    seen: str


@dataclass(slots=True)
class Stage:
    """The trial organization at work, in which a defect replaces what it edits."""

    scene: Scene
    healthy: Compiled
    refusals: list[tuple[Object, Refused]] = field(default_factory=list)
    """What was refused when the present objects were applied."""

    def put(self, made: Compiled) -> None:
        """Apply what is new or different, also twice where it is there twice, and prune what is gone."""
        cluster, before = self.scene.cluster, self.scene.made.objects
        there = {deploy.label(item): item for item in before}
        twice = _twice(before) | _twice(made.objects)
        self.refusals = []
        different = (item for item in made.objects if there.get(deploy.label(item)) != item or deploy.label(item) in twice)
        for item in deploy.in_waves(different):
            try:
                cluster.client.apply(item)
            except Refused as refused:
                self.refusals.append((item, refused))
        names = {deploy.label(item) for item in made.objects}
        for name, item in there.items():
            if name not in names:
                cluster.client.delete(cluster.client.path(item))
        self.scene.made = made
        until(self._seen, "Kueue has seen every queue")

    def restore(self) -> None:
        """Back to the organization without the defect, and nobody at work."""
        self.scene.clear()
        if self.scene.made is not self.healthy:
            self.put(self.healthy)
        assert self.refusals == []
        until(lambda: self.statuses() == {}, "every queue is active again")

    def statuses(self) -> dict[str, str]:
        """What queues that are not active say of themselves."""
        return deploy.inactive(self.scene.cluster, replace(self.scene.made.plan, queues=()))

    def _seen(self) -> bool:
        items = [item for kind in ("clusterqueues", "localqueues") for item in self.scene.cluster.client.list(f"{KUEUE}/{kind}")]
        found = [(item, condition(item, "Active")) for item in items]
        return all(
            active is not None and active.get("observedGeneration", 0) >= item["metadata"]["generation"]
            for item, active in found
        )


def _twice(items: Iterable[Object]) -> set[str]:
    return {name for name, count in Counter(map(deploy.label, items)).items() if count > 1}


Probe: TypeAlias = Callable[[Stage], Outcome]
