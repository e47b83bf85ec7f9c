"""What happens to tenants' pods between two looks: who was evicted, who died with them, and how little was left."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Final

from tests.cluster.client import Client, Object, holds
from tests.kueue_model import amount

PODS: Final = "/api/v1/pods"
DONE: Final = ("Succeeded", "Failed")
ROUND: Final = "1"
"""Seconds of one request: the watch ends that long after its end was asked for."""


@dataclass(slots=True)
class Watch:
    """What was seen of bound pods. Read it when the watch is over."""

    unit: Callable[[str], str | None]
    """The unit of a namespace; None for a namespace that is not a tenant's."""
    bound: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By uid, the unit and the GPUs of each pod that is bound now."""
    least: dict[str, int] = field(default_factory=dict)
    ended: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """By unit and whether the scheduler evicted it: the pods that were bound and are no more."""

    def lowest(self, unit: str) -> int:
        """The fewest GPUs that a unit held at any moment."""
        return self.least.get(unit, 0)

    def evicted(self, unit: str = "") -> int:
        """Pods of a unit, or of anybody, that the scheduler evicted."""
        return sum(count for (each, by), count in self.ended.items() if by and unit in ("", each))

    def killed(self, unit: str = "") -> int:
        """Bound pods of a unit, or of anybody, that ended for whatever reason."""
        return sum(count for (each, _), count in self.ended.items() if unit in ("", each))

    def look(self, pods: list[Object]) -> None:
        """How things are when the watch begins."""
        for pod in pods:
            self.take("ADDED", pod)
        self.least = self._held()

    def take(self, kind: str, pod: Object) -> None:
        """What an event of the API server says."""
        uid, unit = pod["metadata"]["uid"], self.unit(pod["metadata"]["namespace"])
        if unit is None:
            return
        if kind != "DELETED" and bound(pod):
            self.bound[uid] = unit, gpus(pod)
        elif self.bound.pop(uid, None):
            self.ended[unit, holds(pod, "DisruptionTarget")] += 1
            self.least[unit] = min(self.lowest(unit), self._held().get(unit, 0))

    def _held(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        for unit, count in self.bound.values():
            found[unit] += count
        return found


@contextmanager
def watching(client: Client, unit: Callable[[str], str | None]) -> Iterator[Watch]:
    """Follow every pod until the block ends."""
    first, seen, over, errors = client.get(PODS), Watch(unit), Event(), list[str]()
    seen.look(first["items"])
    follower = Thread(target=_follow, args=(client, first["metadata"]["resourceVersion"], seen, over, errors))
    follower.start()
    try:
        yield seen
    finally:
        over.set()
        follower.join()
    assert errors == []


def bound(pod: Object) -> bool:
    """Whether a pod holds a place on a node."""
    return "nodeName" in pod["spec"] and pod.get("status", {}).get("phase") not in DONE


def gpus(pod: Object, resource: str = "") -> int:
    """What a pod asks for of a resource: without a name, of all but cpu and memory."""
    return sum(
        amount(quantity, name)
        for container in pod["spec"]["containers"]
        for name, quantity in container.get("resources", {}).get("requests", {}).items()
        if name == resource or (not resource and name not in ("cpu", "memory"))
    )


def _follow(client: Client, version: str, seen: Watch, over: Event, errors: list[str]) -> None:
    while not over.is_set() and not errors:
        query = {"watch": "true", "timeoutSeconds": ROUND, "resourceVersion": version}
        answer = client.pool.request(
            "GET", f"{client.server}{PODS}", fields=query, headers=client.headers, preload_content=False
        )
        for line in answer:
            event = json.loads(line)
            if event["type"] == "ERROR":
                errors.append(str(event["object"]))
                break
            version = event["object"]["metadata"]["resourceVersion"]
            seen.take(event["type"], event["object"])
        answer.release_conn()
