"""What Kueue says to a job that waits, against what `tenancy explain` says that it will say.

Two fenced nodes of 8 H100, one node of 8 L4 and a CPU node. `asker` may come to 16 H100, has cpu, and no L4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from tenancy.backend.kueue.waiting import verdict
from tenancy.backend.waiting import Cause, Request
from tests.cluster import deploy, jobs
from tests.cluster.client import Object, condition, holds
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster
from tests.kueue_model import amount

pytestmark = pytest.mark.kueue("0.19", "0.17")

ASKER: Final = "asking/asker"
HELD: Final = "asking/held"
BUSY: Final = "asking/busy"
SMALL: Final = {"cpu": "1", "memory": "1Gi"}
LABEL: Final = "tenancy.internal/flavor"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A job that never runs, and why."""

    cause: Cause
    pod: Mapping[str, str]
    pods: int = 1
    unit: str = ASKER
    selects: str = ""
    """The flavor whose label its pods select."""

    @property
    def request(self) -> Request:
        """The job as `explain` sees it."""
        pod = {name: amount(quantity, name) for name, quantity in self.pod.items()}
        return Request(pod=pod, pods=self.pods, flavor=self.selects)

    @property
    def spec(self) -> dict[str, Any]:
        """What its pods say beside their requests."""
        return {"nodeSelector": {LABEL: self.selects}} if self.selects else {}


def gpus(count: int) -> dict[str, str]:
    return {"nvidia.com/gpu": str(count), **SMALL}


REFUSALS: Final = {
    "above the limit": Refusal("capacity", gpus(5), pods=4),
    "above the limit of cpu": Refusal("capacity", {"cpu": "1000", "memory": "1Gi"}),
    "too big for a node": Refusal("topology", gpus(12)),
    "too few nodes": Refusal("topology", gpus(5), pods=3),
    "a flavor that the unit may not use": Refusal("selector", gpus(1), selects="l4"),
    "held": Refusal("stopped", gpus(1), unit=HELD),
    "a resource that the unit does not have": Refusal("resource", {"nvidia.com/mig-1g.10gb": "1", **SMALL}),
    "a cpu job on fenced nodes": Refusal("taint", SMALL, selects="h100"),
}
LEVEL: Final = "a topology level that the flavor does not have"
"""Of this `explain` says nothing yet."""


@dataclass(slots=True)
class Said:
    """By job: whether it holds quota, and what its Workload says."""

    admitted: dict[str, bool] = field(default_factory=dict)
    message: dict[str, str] = field(default_factory=dict)


def compiled(cluster: Cluster) -> Compiled:
    """The organization. `held` owns nothing and could borrow."""
    taint = "test.example/reserved=gpu:NoSchedule"
    node = {"gpus": 8, "cpu": 128, "memory": "1024Gi"}
    teams = {
        "asker": {
            "budget": {"h100": {"quota": 8, "limit": 16}, "cpu": {"cpu": 20, "memory": "100Gi"}, "l4": {"limit": 0}}
        },
        "busy": {"budget": {"h100": 8}},
        "held": {"state": "held"},
    }
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "waiting",
        "clusters": {"train": {"guards": {"placement": "off"}}},  # it would refuse the selector of another's flavor
        "flavors": {
            "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": node, "taint": taint},
            "l4": {"gpu": "L4", "nodes": 1, "node": node, "taint": taint},
            "cpu": {"nodes": 1, "node": {"cpu": 64, "memory": "256Gi"}},
        },
        "departments": {"asking": {"budget": {"h100": 16, "cpu": {"cpu": 40, "memory": "200Gi"}}, "teams": teams}},
    }
    return deploy.compiled_for(cluster, tree)


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization at work."""
    return jobs.opened(cluster, compiled(cluster))


@pytest.fixture(scope="module")
def said(scene: Scene) -> Said:
    """Every refusal at once, which is possible as none of them runs."""
    scene.clear()
    names = {
        scene.submit(each.unit, requests=each.pod, pods=each.pods, pod=each.spec)[0]: title
        for title, each in REFUSALS.items()
    }
    level = scene.submit(ASKER, topology={"required": "cloud.example/rack"})
    names[level[0]] = LEVEL
    scene.wait(lambda: sum(_message(item) != "" for item in scene.workloads()) == len(names), "every job is told why")
    scene.settle()
    result = Said()
    for item in scene.workloads():
        title = names[jobs.owner(item)]
        result.admitted[title], result.message[title] = holds(item, "QuotaReserved"), _message(item)
    return result


def _message(workload: Object) -> str:
    """What Kueue says of its quota."""
    return str((condition(workload, "QuotaReserved") or {}).get("message", ""))


@pytest.mark.parametrize("title", REFUSALS)
def test_a_job_that_never_runs_is_told_what_explain_says(scene: Scene, said: Said, title: str) -> None:
    """A job that `explain` says can never run is not admitted, for the reason and in the words that it predicts."""
    refusal = REFUSALS[title]
    predicted = verdict(scene.made.plan, scene.queue(refusal.unit).name, refusal.request)
    assert (predicted.outcome, predicted.cause) == ("never", refusal.cause)
    assert not said.admitted[title]
    assert predicted.message
    assert predicted.message in said.message[title]


def test_a_level_that_no_flavor_has_is_named(said: Said) -> None:
    """A job that requires a topology level which its flavors lack waits and is told so."""
    assert not said.admitted[LEVEL]
    assert 'Flavor "h100" does not contain the requested level' in said.message[LEVEL]


def test_a_job_that_waits_for_idle_gpus_is_told_what_explain_says(scene: Scene) -> None:
    """A job beyond what its unit owns waits while others use what is theirs, in the words that `explain` predicts, and
    runs when they end."""
    scene.clear()
    theirs = scene.submit(BUSY, 8)
    scene.submit(ASKER, 8)
    scene.expect({BUSY: 8, ASKER: 8})
    scene.submit(ASKER, 4)
    pod = {name: amount(quantity, name) for name, quantity in scene.sizes(4).items()}
    predicted = verdict(scene.made.plan, scene.queue(ASKER).name, Request(pod=pod))
    assert predicted.runs
    assert predicted.waits
    scene.told(ASKER, predicted.waits)
    scene.expect({BUSY: 8, ASKER: 8})
    scene.finish(BUSY, theirs)
    scene.expect({ASKER: 12})
    assert scene.evictions() == 0
