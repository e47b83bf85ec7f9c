"""What becomes of a job under Volcano: the queue that it names, and what it can come to there."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend.volcano.states import states
from tenancy.backend.volcano.waiting import WAITING, verdict
from tenancy.backend.waiting import WHOLE_NODES, Request
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized

GPU, GIB = "nvidia.com/gpu", 1 << 30
DAEMONS = {"cpu": 2, "memory": "4Gi"}
H100 = {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"}, "daemons": DAEMONS}
CPU = {"nodes": 1, "node": {"cpu": 66, "memory": "260Gi"}, "daemons": DAEMONS}
FLAVORS = {"h100": H100, "cpu": CPU}


def planned(vision: dict[str, Any] | None = None, flavors: dict[str, Any] | None = None) -> ClusterPlan:
    """`research/vision` reserves 2 of its 8 GPUs and may come to 24; its sibling reserves 4 of the department's 20."""
    budget = {"h100": {"reserved": 2, "quota": 8, "limit": 24}}
    teams = {"vision": {"budget": budget, **(vision or {})}, "nlp": {"budget": {"h100": {"reserved": 4, "quota": 8}}}}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": "volcano"}},
        "flavors": flavors or FLAVORS,
        "departments": {"research": {"budget": {"h100": {"quota": 20, "limit": 24}}, "teams": teams}},
    }
    (cluster,) = plan(organized(tree))
    return cluster


def gpus(count: int, pods: int = 1, **more: Any) -> Request:
    return Request(pod={GPU: count, "cpu": 1000, "memory": GIB}, pods=pods, **more)


@pytest.mark.parametrize(
    ("request_", "outcome", "cause"),
    [
        (gpus(1, 2), "reserved", ""),
        (gpus(8), "quota", ""),
        (gpus(4, 5), "borrows", ""),
        (gpus(4, 6), "never", "capacity"),
        (gpus(9), "never", "nodes"),
        (Request(pod={"cpu": 1000, "memory": GIB}, flavor="cpu"), "borrows", ""),
        (Request(pod={GPU: 1}, flavor="cpu"), "never", "resource"),
    ],
)
def test_jobs(request_: Request, outcome: str, cause: str) -> None:
    """By the weakest promise that they need; what siblings reserve is out of reach although the limit is higher."""
    found = verdict(planned(), "research-vision", request_)
    assert (found.outcome, found.cause) == (outcome, cause)


def test_a_job_must_name_the_queue_of_its_flavor() -> None:
    """The first that takes it, where it selects none; of one that no queue takes, that which comes nearest."""
    cluster = planned()
    assert verdict(cluster, "research-vision", gpus(8)).queue == "research-vision-h100"
    assert verdict(cluster, "research-vision", Request(pod={"cpu": 1000})).queue == "research-vision-cpu"
    assert verdict(cluster, "research-vision", gpus(9)).queue == "research-vision-h100"
    assert WAITING.queues(cluster, cluster.queues[1]) == ("research-vision-cpu", "research-vision-h100")


def test_a_flavor_without_a_queue_is_out_of_reach() -> None:
    """A unit has no queue in the tree of a flavor that it may never use."""
    cluster = planned({"budget": {"h100": 8, "cpu": {"limit": {"cpu": 0, "memory": 0}}}})
    found = verdict(cluster, "research-vision", Request(pod={"cpu": 1000}, flavor="cpu"))
    assert (found.cause, found.queue) == ("selector", "")


def test_a_gang_that_waits_says_how_many() -> None:
    """In the condition of its PodGroup; of a pod that could be scattered also what its event holds."""
    found = verdict(planned(), "research-vision", gpus(2, 3))
    assert found.waits == "tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable"
    assert found.fragmented == f"Insufficient {GPU}"
    assert verdict(planned(), "research-vision", gpus(1)).fragmented == ""


def test_a_fence_keeps_jobs_without_gpus_off() -> None:
    """They have a queue there all the same, as they may use the flavor with GPUs."""
    cluster = planned(flavors={**FLAVORS, "h100": {**H100, "taint": "gpu=yes:NoSchedule"}})
    assert verdict(cluster, "research-vision", Request(pod={"cpu": 1000}, flavor="h100")).cause == "taint"
    assert verdict(cluster, "research-vision", gpus(1, flavor="h100")).runs


@pytest.mark.parametrize("state", ["held", "draining"])
def test_a_stopped_unit_takes_nothing_new(state: str) -> None:
    """The admission policy refuses it in the words that are predicted."""
    cluster = planned({"state": state})
    found = verdict(cluster, "research-vision", gpus(1))
    assert found.cause == "stopped"
    messages = [rule["message"] for each in states(cluster) for rule in each["spec"].get("validations", ())]
    assert messages
    assert [message for message in messages if not message.startswith(found.message)] == []


def test_whole_nodes_are_not_taken_in_parts() -> None:
    """The admission policy refuses the pod."""
    cluster = planned(flavors={**FLAVORS, "h100": {**H100, "wholeNodes": True}})
    assert verdict(cluster, "research-vision", gpus(4)).message == WHOLE_NODES
