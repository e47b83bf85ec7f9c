"""What becomes of a job without a batch scheduler; the words were compared with real ones in tests/cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend.native.waiting import WAITING, verdict
from tenancy.backend.waiting import WHOLE_NODES, Request
from tenancy.plan.values import ClusterPlan, Group, Queue
from tests.backend.native.support import CPU, GPU, H100, MIG, planned

GIB = 1 << 30
TAINT = "gpu=yes:NoSchedule"


def gpus(count: int, pods: int = 1, **more: Any) -> Request:
    return Request(pod={GPU: count, "cpu": 1000, "memory": GIB}, pods=pods, **more)


@pytest.fixture
def cluster() -> ClusterPlan:
    """`research/vision` owns 12 of 32 GPUs and could borrow them all."""
    return planned(
        {"budget": {"h100": 12}}, departments=_departments({"vision": {"budget": {"h100": 12}}, "other": {}})
    )


def _departments(teams: dict[str, Any]) -> dict[str, Any]:
    return {"research": {"budget": {"h100": 32}, "teams": teams}}


CASES = {
    "a part of the quota": (gpus(8), "quota", "", 0),
    "all of it": (gpus(4, 3), "quota", "", 0),
    "one pod above it": (gpus(13), "never", "capacity", 0),
    "pods of which some fit": (gpus(5, 3), "never", "part", 2),
    "a pod that no node holds": (gpus(9), "never", "nodes", 0),
    "pods that no node holds, of which the quota lets some in": (gpus(9, 2), "never", "nodes", 0),
    "nothing at all": (Request(pod={GPU: 0}), "quota", "", 0),
}


@pytest.mark.parametrize("case", CASES)
def test_jobs(cluster: ClusterPlan, case: str) -> None:
    """The quota decides first, pod by pod, and then the nodes; nothing is borrowed."""
    request, outcome, cause, started = CASES[case]
    found = verdict(cluster, "research-vision", request)
    assert (found.outcome, found.cause, found.started) == (outcome, cause, started)
    assert bool(found.message) is not found.runs
    assert found.queue == ""


def test_a_refusal_names_what_there_is_too_little_of(cluster: ClusterPlan) -> None:
    """Resources in the order of the API server, amounts in canonical spelling."""
    found = verdict(cluster, "research-vision", Request(pod={GPU: 13, "cpu": 1000, "memory": 1201 * GIB}))
    assert (
        found.message == f"exceeded quota: tenancy-compute, requested: requests.memory=1201Gi,requests.{GPU}=13, used: "
    )


def test_the_scarcest_resource_of_a_node_is_named() -> None:
    """GPUs before cpu and memory where they are equally scarce."""
    cluster = planned({"budget": {"h100": 24}})
    for pod, scarce in (({GPU: 9}, GPU), ({GPU: 1, "cpu": 81_000}, "cpu"), ({GPU: 8, "cpu": 80_000}, GPU)):
        found = verdict(cluster, "research-vision", Request(pod=pod, pods=2))
        assert (found.message or found.fragmented) == f"Insufficient {scarce}"


def test_a_namespace_has_its_own_part() -> None:
    """A job that says where it runs has what is there; one that does not, the largest part."""
    cluster = planned({"budget": {"h100": 5}, "projects": {"a": {}, "b": {}}})
    parts = {
        name: verdict(cluster, "research-vision", gpus(3, namespace=name)).runs for name in ("", "research-vision-a")
    }
    assert parts == {"": True, "research-vision-a": True}
    assert not verdict(cluster, "research-vision", gpus(3, namespace="research-vision-b")).runs
    assert WAITING.parts is not None
    counts = {name: part[GPU] for name, part in WAITING.parts(cluster, cluster.queues[1]).items()}
    assert counts == {"research-vision-a": 3, "research-vision-b": 2}


def test_quotas_do_not_tell_flavors_apart() -> None:
    """A job that selects the nodes of another flavor with the same GPUs runs there."""
    cluster = planned({"budget": {"h100": 8}}, {"h100": H100, "h100-old": H100})
    assert verdict(cluster, "research-vision", gpus(8, flavor="h100-old")).flavor == "h100-old"
    assert verdict(cluster, "research-vision", gpus(8)).flavor == "h100"


def test_a_job_without_gpus_goes_to_nodes_without_a_fence() -> None:
    """Where it selects a fenced flavor it waits for ever, saying why."""
    flavors = {"h100": {**H100, "taint": TAINT}, "cpu": CPU}
    cluster = planned({"budget": {"h100": 8, "cpu": {"cpu": 4, "memory": "16Gi"}}}, flavors)
    job = {"cpu": 1000, "memory": GIB}
    assert verdict(cluster, "research-vision", Request(pod=job)).flavor == "cpu"
    found = verdict(cluster, "research-vision", Request(pod=job, flavor="h100"))
    assert (found.outcome, found.cause, found.message) == ("never", "taint", "untolerated taint")
    assert verdict(cluster, "research-vision", gpus(1)).flavor == "h100"


def test_slices_are_placed_by_layout() -> None:
    """A pod of more slices than a node has finds none."""
    cluster = planned({"budget": {"mig": {"3g.40gb": 8}}}, {"mig": MIG})
    large = "nvidia.com/mig-3g.40gb"
    assert verdict(cluster, "research-vision", Request(pod={large: 1, "cpu": 1000}, pods=8)).runs
    assert verdict(cluster, "research-vision", Request(pod={large: 9})).cause == "capacity"


@pytest.mark.parametrize("state", ["held", "draining"])
def test_a_stopped_unit_starts_nothing(state: str) -> None:
    """The quota that refuses it says in which state it is."""
    found = verdict(planned({"budget": {"h100": 8}, "state": state}), "research-vision", gpus(1))
    assert (found.outcome, found.cause) == ("never", "stopped")
    assert found.message.startswith(f"exceeded quota: tenancy-{state}, ")


def test_whole_nodes_are_not_taken_in_parts() -> None:
    """The admission policy refuses the pod before any quota does; whole ones cannot be scattered."""
    cluster = planned({"budget": {"h100": 8}}, {"h100": {**H100, "wholeNodes": True}})
    assert verdict(cluster, "research-vision", gpus(4)).message == WHOLE_NODES
    assert verdict(cluster, "research-vision", gpus(8)).fragmented == ""


def test_what_is_not_handed_on_is_out_of_reach(cluster: ClusterPlan) -> None:
    """A unit reaches its quota, whatever its limit; a department what its teams have."""
    units: list[Group | Queue] = [*cluster.groups, *cluster.queues]
    assert [WAITING.reach(cluster, each, "h100", GPU) for each in units] == [12, 12, 0, 12]
