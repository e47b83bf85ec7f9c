"""Quotas without a batch scheduler: the API server refuses what is above them, kube-scheduler places the rest."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend.native.waiting import verdict
from tenancy.backend.waiting import Request
from tenancy.model.quantity import canonical, parse
from tests.cluster import again, deploy, native_jobs
from tests.cluster.client import Refused
from tests.cluster.native_jobs import Scene
from tests.cluster.plane import Cluster

pytestmark = pytest.mark.native

GPU, SLICE, LARGE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
VISION, NLP, LATER = "quotas/vision", "quotas/nlp", "quotas/later"
DAEMONS: Final = {"cpu": "2", "memory": "4Gi"}
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "alone",
    "clusters": {"main": {"guards": {"priorities": "warn"}}},  # so that the quota of the system's classes is seen
    "priorities": {"urgent": 1000},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"},
            "daemons": DAEMONS,
        },
        "mig": {
            "gpu": "A100-SXM4-80GB",
            "nodes": 1,
            "node": {"gpus": 8, "cpu": 114, "memory": "900Gi"},
            "daemons": DAEMONS,
            "mig": {"3g.40gb": 1, "1g.10gb": 4},
        },
    },
    "departments": {
        "quotas": {
            "budget": {"h100": 15, "mig": {"1g.10gb": 2}},
            "teams": {
                "vision": {"budget": {"h100": 10}},
                "nlp": {"budget": {"h100": 3, "mig": {"1g.10gb": 2}}, "projects": {"a": {}, "b": {}}},
                "later": {"budget": {"h100": 2}},
            },
        }
    },
}
SMALL: Final = {"cpu": "1", "memory": "1Gi"}


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Three teams on two nodes of eight GPUs and one that is cut into slices."""
    return native_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))


def gpus(count: int) -> dict[str, str]:
    """A pod of so many GPUs and little else."""
    return {GPU: str(count), **SMALL}


def test_applied_twice_nothing_changes(scene: Scene) -> None:
    """Every object is accepted as it is written, and a second application leaves it alone."""
    client = scene.cluster.client
    for item in scene.made.objects:
        assert item["kind"] != "ResourceQuota" or client.get(client.path(item))["spec"] == item["spec"]
    assert again.touched(scene.cluster, scene.made.objects) == []


def test_a_pod_within_the_quota_runs_and_one_above_is_refused(scene: Scene) -> None:
    """To the last GPU, with the name of the quota and the numbers."""
    scene.clear()
    scene.pod(VISION, gpus(8))
    scene.pod(VISION, gpus(2))
    assert len(scene.running(VISION, 2)) == 2
    with pytest.raises(Refused, match="exceeded quota: tenancy-compute") as refused:
        scene.pod(VISION, gpus(1))
    assert f"requested: requests.{GPU}=1, used: requests.{GPU}=10, limited: requests.{GPU}=10" in refused.value.message


def test_of_what_a_unit_does_not_own_it_gets_nothing(scene: Scene) -> None:
    """A profile of the cluster with a quota of 0 is refused; one that it owns is not."""
    scene.clear()
    for resource in (SLICE, LARGE):
        with pytest.raises(Refused, match="exceeded quota: tenancy-compute"):
            scene.pod(VISION, {resource: "1", **SMALL})
    scene.pod(NLP, {SLICE: "1", **SMALL})
    scene.running(NLP, 1)


def test_a_pod_without_requests_gets_the_defaults_and_counts(scene: Scene) -> None:
    """A hard quota of cpu refuses pods without requests, so the LimitRange gives them some."""
    scene.clear()
    scene.pod(VISION)
    scene.running(VISION, 1)
    defaults = scene.namespace(VISION).container
    used = scene.quota(VISION)["status"]["used"]
    assert {name: parse(used[f"requests.{name}"], name) for name in defaults} == defaults


def test_namespaces_of_one_team_divide_its_quota(scene: Scene) -> None:
    """Three GPUs are two and one; together they are all of it."""
    scene.clear()
    scene.pod(NLP, gpus(2), project="a")
    scene.pod(NLP, gpus(1), project="b")
    scene.running(NLP, 2)
    for project in "ab":
        with pytest.raises(Refused, match="exceeded quota"):
            scene.pod(NLP, gpus(1), project=project)


def test_nobody_has_the_priorities_of_the_system(scene: Scene) -> None:
    """They would evict everybody else's pods; priorities of the organization are for all."""
    scene.clear()
    for name in ("system-cluster-critical", "system-node-critical"):
        with pytest.raises(Refused, match="exceeded quota: tenancy-system-priorities"):
            scene.pod(VISION, SMALL, priorityClassName=name)
    scene.pod(VISION, SMALL, priorityClassName="urgent")
    scene.pod(VISION, SMALL)
    scene.running(VISION, 2)


def test_a_higher_priority_evicts_nobody(scene: Scene) -> None:
    """Where pods without any priority run on all GPUs, it waits for one of them to end."""
    scene.clear()
    fillers = [scene.foreign(f"filler-{index}", {GPU: "8"}) for index in range(2)]
    urgent = scene.pod(VISION, gpus(1), priorityClassName="urgent")
    scene.told(VISION, urgent, "preemption: not eligible due to preemptionPolicy=Never")
    assert all(scene.cluster.client.find(path) for path in fillers)
    scene.cluster.client.delete(fillers[0], gracePeriodSeconds="0")
    scene.running(VISION, 1)
    scene.cluster.client.delete(fillers[1], gracePeriodSeconds="0")


JOBS: Final = {
    "more than the namespace owns": (Request(pod={GPU: 11, "cpu": 1000}), "capacity"),
    "more cpu than the namespace owns": (Request(pod={GPU: 1, "cpu": 101_000}), "capacity"),
    "more pods than it owns GPUs for": (Request(pod={GPU: 4, "cpu": 1000, "memory": 1 << 30}, pods=3), "part"),
    "more GPUs than a node has": (Request(pod={GPU: 9, "cpu": 1000, "memory": 1 << 30}), "nodes"),
    "more cpu than a node has": (Request(pod={GPU: 1, "cpu": 90_000, "memory": 1 << 30}), "nodes"),
}


@pytest.mark.parametrize("case", JOBS)
def test_a_job_is_told_what_explain_says(scene: Scene, case: str) -> None:
    """The events of a job that cannot run hold the words that `tenancy explain` predicts, and as many pods run."""
    scene.clear()
    request, cause = JOBS[case]
    found = verdict(scene.made.plan, scene.queue(VISION).name, request)
    assert (found.outcome, found.cause) == ("never", cause)
    name = scene.job(VISION, request.pods, {key: canonical(count, key) for key, count in request.pod.items()})
    scene.told(VISION, name, found.message)
    scene.running(VISION, found.started)


def test_a_job_runs_where_explain_says(scene: Scene) -> None:
    """All that the namespace owns, on the flavor that has it."""
    scene.clear()
    request = Request(pod={GPU: 5, "cpu": 1000, "memory": 1 << 30}, pods=2)
    found = verdict(scene.made.plan, scene.queue(VISION).name, request)
    assert (found.outcome, found.flavor) == ("quota", "h100")
    scene.job(VISION, 2, {name: canonical(count, name) for name, count in request.pod.items()})
    assert all(host.startswith("h100-") for host in scene.running(VISION, 2))


def test_a_unit_that_is_held_starts_nothing_and_ends_nothing(scene: Scene) -> None:
    """What runs goes on; every new pod is refused with the reason, until the unit is active again."""
    scene.clear()
    scene.pod(LATER, gpus(1))
    scene.running(LATER, 1)
    active, stopped = scene.made, deploy.compiled_for(scene.cluster, _held(TREE, "later"))
    scene.change(stopped)
    found = verdict(stopped.plan, scene.queue(LATER).name, Request(pod={GPU: 1}))
    assert found.message.startswith("exceeded quota: tenancy-held, ")
    scene.wait(lambda: found.message in scene.refusal(LATER, gpus(1)), "the unit is held")
    assert len(scene.hosts(LATER)) == 1
    scene.change(active)
    scene.wait(lambda: scene.refusal(LATER, gpus(1)) == "", "the unit is active again")
    scene.pod(LATER, gpus(1))
    scene.running(LATER, 2)


def test_a_fence_keeps_pods_without_gpus_off_and_lets_the_others_in(scene: Scene) -> None:
    """The API server gives the toleration to those who ask for GPUs, and to nobody else."""
    scene.clear()
    active = scene.made
    scene.change(deploy.compiled_for(scene.cluster, _fenced(TREE)))
    _taint(scene, [{"key": "gpus", "value": "only", "effect": "NoSchedule"}])
    tolerations = [{"key": "gpus", "operator": "Exists", "effect": "NoSchedule"}]

    def refused() -> bool:
        return "may tolerate" in scene.refusal(VISION, SMALL, tolerations=tolerations)

    scene.wait(refused, "the fence is obeyed")
    scene.wait(lambda: scene.tolerated(VISION, gpus(1)) == ["gpus"], "tolerations are given")
    scene.pod(VISION, gpus(1))
    scene.running(VISION, 1)
    found = verdict(scene.made.plan, scene.queue(VISION).name, Request(pod={"cpu": 1000}, flavor="h100"))
    assert (found.cause, found.flavor) == ("taint", "h100")
    barred = scene.pod(VISION, SMALL, nodeSelector={"tenancy.internal/flavor": "h100"})
    scene.told(VISION, barred, found.message)
    scene.change(active)
    _taint(scene, None)


def _fenced(tree: dict[str, Any]) -> dict[str, Any]:
    h100 = {**tree["flavors"]["h100"], "taint": "gpus=only:NoSchedule"}
    return {**tree, "flavors": {**tree["flavors"], "h100": h100}}


def _taint(scene: Scene, taints: list[dict[str, str]] | None) -> None:
    for index in range(2):
        scene.cluster.client.patch(f"/api/v1/nodes/h100-{index}", {"spec": {"taints": taints}})


def _held(tree: dict[str, Any], team: str) -> dict[str, Any]:
    department = tree["departments"]["quotas"]
    teams = {**department["teams"], team: {**department["teams"][team], "state": "held"}}
    return {**tree, "departments": {"quotas": {**department, "teams": teams}}}
