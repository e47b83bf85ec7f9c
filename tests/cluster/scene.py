"""What the behaviour tests of every scheduler share: an organization at work, who holds what, and when all is quiet."""

from __future__ import annotations

import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from tenancy.model.hardware import Hardware
from tenancy.plan.values import Namespace, Queue
from tests.cluster import deploy, nodes
from tests.cluster.client import Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster, until

SLOWNESS: Final = 20
"""A machine that takes long to show its picture takes long for everything else: the quiet time is at least so many
times as long, so that a loaded machine only makes a test last."""
PATIENCE: Final = 120.0


def patiently(create: Callable[[], Object]) -> Object:
    """Create something, again where the API server says Conflict, since it counts objects of a new namespace in a
    ResourceQuota that its controller writes at the same time, or does not know yet how many there are, since that
    controller looks for new kinds only now and then. Raises Refused."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return create()
        except Refused as refused:
            passing = refused.reason == "Conflict" or "status unknown for quota" in refused.message
            if not passing or time.monotonic() > end:
                raise
        time.sleep(0.4)


@dataclass(slots=True)
class Scene(ABC):
    """An organization at work on a cluster with fake nodes."""

    QUIET: ClassVar[float]
    """Seconds without a change after which the cluster counts as settled."""
    STEPS: ClassVar[int] = 0
    """Steps of the scheduler that must pass in that time."""

    cluster: Cluster
    made: Compiled
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    asked: int = 0
    """What was asked for and is there: jobs, or pods where the scheduler knows no jobs."""

    @abstractmethod
    def holders(self, resource: str = "") -> dict[str, int]:
        """Who holds how many GPUs (or of another resource), units without any left out."""

    @abstractmethod
    def work(self) -> list[Object]:
        """Everything that people have asked for and that is still there, pods left out."""

    @abstractmethod
    def picture(self) -> object:
        """All that is of interest, compared to see whether anything moves; never the same while something is due."""

    def steps(self) -> int:
        """How many steps the scheduler has made, where it counts them."""
        return 0

    # What people do.

    def create(self, item: Object) -> None:
        """Create an object, patiently. Raises Refused."""
        patiently(lambda: self.cluster.client.create(item))

    def clear(self) -> None:
        """Everybody ends everything."""
        for namespace in self.made.plan.namespaces:
            deploy.clear_namespace(self.cluster, namespace.name)
        self.asked = 0
        self.wait(lambda: self.work() == [] and self.pods() == [], "all work is gone")

    def change(self, made: Compiled) -> None:
        """The organization is edited: what is new or different is applied, what is gone is pruned."""
        before, self.made = self.made, made
        made.scheduler.configure(self.cluster, made.configuration)
        deploy.sync(self.cluster, before.objects, made.objects, made.scheduler.RETRIES)
        until(lambda: deploy.inactive(self.cluster, made.plan) == {}, "every queue is active")

    # What is seen.

    def settle(self, quiet: float = 0) -> None:
        """Wait until everything that is due is there and nothing has changed for a while."""
        quiet = quiet or self.QUIET
        end, since, step, last = time.monotonic() + PATIENCE, time.monotonic(), self.steps(), None
        while time.monotonic() - since < quiet or self.steps() < step + self.STEPS:
            asked = time.monotonic()
            now = self.picture()
            quiet = max(quiet, SLOWNESS * (time.monotonic() - asked))
            if now != last:
                since, step, last = time.monotonic(), self.steps(), now
            assert time.monotonic() < end, f"never settled: {self.holders()}"
            time.sleep(0.4)

    def wait(self, holds_now: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Wait for something that is known to come."""
        until(holds_now, what, seconds)

    def expect(self, holders: Mapping[str, int]) -> None:
        """Wait until exactly these units hold so many GPUs each, and it stays so. A slow machine only makes it last."""
        self.rest(lambda held: held == holders, str(dict(holders)))

    def rest(self, right: Callable[[dict[str, int]], bool], what: str) -> None:
        """The same where more than one outcome is right: of who holds how many GPUs."""
        end = time.monotonic() + PATIENCE

        def stays() -> bool:
            if right(self.holders()):
                self.settle()
                return right(self.holders())
            return False

        while not stays():
            assert time.monotonic() < end, f"expected {what}, but {self.holders()}"
            time.sleep(0.4)

    def held(self, unit: str, resource: str = "") -> int:
        """GPUs (or of another resource) that a unit holds."""
        return self.holders(resource).get(unit, 0)

    def pods(self, unit: str = "") -> list[Object]:
        """The pods of a unit, or of all tenants."""
        names = self.homes(unit)
        return [pod for pod in self.cluster.client.list("/api/v1/pods") if pod["metadata"]["namespace"] in names]

    def homes(self, unit: str = "") -> set[str]:
        """The namespaces of a unit, or of all tenants. Work of an earlier organization may lie in others yet."""
        return {each.name for each in self.made.plan.namespaces if unit in ("", self.title(each.name))}

    def hosts(self, unit: str) -> list[str]:
        """The nodes that a unit's pods run on, one for each pod, sorted."""
        running = [pod for pod in self.pods(unit) if pod.get("status", {}).get("phase") == "Running"]
        return sorted(pod["spec"]["nodeName"] for pod in running)

    def running(self, unit: str, pods: int) -> list[str]:
        """Wait until as many pods of a unit run, which is a moment after it holds the GPUs; their nodes, sorted."""
        found: list[str] = []

        def run() -> bool:
            found[:] = self.hosts(unit)
            return len(found) == pods

        self.wait(run, f"{pods} pods of {unit} run")
        return found

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

    def title(self, namespace: str) -> str:
        """The unit whose queue the work in a namespace goes to."""
        return next(each.title for each in self.made.plan.queues if namespace in each.namespaces)


def stage(cluster: Cluster, made: Compiled, counts: dict[str, int] | None = None) -> None:
    """An empty cluster with the organization deployed and its nodes there."""
    deploy.withdraw(cluster)
    nodes.make(cluster, made, counts)
    deploy.deploy(cluster, made)


def limits(requests: Mapping[str, str]) -> dict[str, str]:
    """An extended resource must be limited to what is requested."""
    return {name: count for name, count in requests.items() if "/" in name}
