"""What a namespace may request of a cluster without a batch scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from tests.backend.native.support import CPU, GPU, H100, MIG, hard, objects, planned, quota

SLICES = ("nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb")


def divided(budget: Any, projects: int, flavor: dict[str, Any] | None = None) -> list[dict[str, str]]:
    """What each namespace of a team with so many projects may request."""
    names = [f"p{index}" for index in range(projects)]
    cluster = planned({"budget": {"f": budget}, "projects": {name: {} for name in names}}, {"f": flavor or H100})
    return [hard(cluster, f"research-vision-{name}") for name in names]


def test_a_namespace_has_the_quota_of_its_unit_on_all_flavors_together() -> None:
    """cpu and memory are summed over flavors; the quota counts, not what is reserved or could be borrowed."""
    budget = {"h100": {"reserved": 2, "quota": 8, "limit": 16}, "cpu": {"cpu": 20, "memory": "80Gi"}}
    cluster = planned({"budget": budget}, {"h100": H100, "cpu": CPU})
    assert hard(cluster) == {"cpu": "100", "memory": "880Gi", GPU: "8"}


def test_every_gpu_and_profile_of_the_cluster_is_named() -> None:
    """A unit that owns nothing of it has "0", so that no absent name means no limit."""
    cluster = planned({"budget": {"mig": {"1g.10gb": 2}}}, {"h100": H100, "mig": MIG})
    assert {name: hard(cluster)[name] for name in (GPU, *SLICES)} == {GPU: "0", SLICES[0]: "2", SLICES[1]: "0"}


def test_a_unit_without_any_quota_may_request_nothing() -> None:
    """Where nothing may be borrowed either, no pod fits: not even one with the default requests."""
    assert set(hard(planned({"budget": {"h100": 8}}), "research-other").values()) == {"0"}


def test_no_limits_are_counted() -> None:
    """A hard limit of cpu would refuse every container that does not limit itself."""
    keys = {key for obj in objects(planned({"budget": {"h100": 8}}), "ResourceQuota") for key in obj["spec"]["hard"]}
    assert [key for key in keys if key.startswith("limits.")] == []


@pytest.mark.parametrize(
    ("gpus", "projects", "parts"),
    [(8, 1, ["8"]), (8, 2, ["4", "4"]), (8, 3, ["3", "3", "2"]), (1, 3, ["1", "0", "0"]), (0, 2, ["0", "0"])],
)
def test_namespaces_divide_whole_gpus(gpus: int, projects: int, parts: list[str]) -> None:
    """Equally, what is left over goes one by one to the first; cpu and memory follow the GPUs of each."""
    found = divided(gpus, projects)
    assert [each[GPU] for each in found] == parts
    assert [each["cpu"] for each in found] == [str(int(part) * 10) for part in parts]
    assert [each["memory"] for each in found] == [f"{int(part) * 100}Gi" if int(part) else "0" for part in parts]


def test_cpu_of_its_own_goes_with_the_gpus() -> None:
    """Where it does not divide exactly, in whole cores and GiB, and nothing of it is lost."""
    found = divided({"gpus": 3, "cpu": 50, "memory": "100Gi"}, 2)
    assert [(each[GPU], each["cpu"], each["memory"]) for each in found] == [("2", "33", "67Gi"), ("1", "17", "33Gi")]


def test_cpu_without_gpus_is_divided_equally() -> None:
    """Whole cores, a part of one to the first."""
    found = divided({"cpu": "5500m", "memory": "20Gi"}, 2, CPU)
    assert [(each["cpu"], each["memory"]) for each in found] == [("3500m", "10Gi"), ("2", "10Gi")]


def test_whole_nodes_are_not_divided() -> None:
    """A namespace with half of a node could run nothing."""
    assert [each[GPU] for each in divided(24, 2, {**H100, "wholeNodes": True})] == ["16", "8"]


def test_projects_with_budgets_have_their_own() -> None:
    """The others share what is left of the team's."""
    budget = {"h100": 8}
    cluster = planned({"budget": budget, "projects": {"a": {"budget": {"h100": 5}}, "b": {}, "c": {}}})
    assert [hard(cluster, f"research-vision-{name}")[GPU] for name in "abc"] == ["5", "2", "1"]


@pytest.mark.parametrize("state", ["held", "draining"])
def test_a_stopped_unit_may_start_no_pod(state: str) -> None:
    """By a quota whose name says why, since the API server tells it to whoever is refused."""
    cluster = planned({"budget": {"h100": 8}, "state": state})
    assert quota(cluster, f"tenancy-{state}")["spec"] == {"hard": {"pods": "0"}}
    assert hard(cluster)[GPU] == "8"
    names = {obj["metadata"]["name"] for obj in objects(planned({"budget": {"h100": 8}}), "ResourceQuota")}
    assert names == {"tenancy", "tenancy-compute", "tenancy-system-priorities"}


def test_nobody_has_the_priorities_of_the_system() -> None:
    """Pods of these classes would evict everybody else's."""
    (scope,) = quota(planned({}), "tenancy-system-priorities")["spec"]["scopeSelector"]["matchExpressions"]
    assert (scope["operator"], scope["values"]) == ("In", ["system-cluster-critical", "system-node-critical"])


def test_priorities_never_preempt() -> None:
    """kube-scheduler would evict pods of other teams, which no promise allows."""
    found = objects(planned({}, priorities={"high": 100, "low": -5}), "PriorityClass")
    assert [(each["metadata"]["name"], each["value"], each["preemptionPolicy"]) for each in found] == [
        ("high", 100, "Never"),
        ("low", -5, "Never"),
    ]


def test_fences_and_whole_nodes_have_their_policies() -> None:
    """The same as under other schedulers; an organization without any has none."""
    fenced = {**H100, "taint": "gpu=yes:NoSchedule", "wholeNodes": True}
    found = {obj["metadata"]["name"] for obj in objects(planned({"budget": {"h100": 8}}, {"h100": fenced}))}
    assert {"tenancy-fenced-flavors", "tenancy-gpu-tolerations", "tenancy-whole-nodes-nvidia.com-gpu-8"} <= found
    without = {obj["metadata"]["name"] for obj in objects(planned({}))}
    assert [name for name in without if any(each in name for each in ("fenced", "tolerations", "whole-nodes"))] == []
