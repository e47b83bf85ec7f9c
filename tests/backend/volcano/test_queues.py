"""Queues of Volcano: what changes and what stays when an organization changes, and what priorities become."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend import volcano
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.volcano.names import leaves_of
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan, Namespace
from tests.orgs import organized

FLAVORS = {
    "h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"}},
    "cpu": {"nodes": 4, "node": {"cpu": 34, "memory": "132Gi"}},
}


def leaves(cluster: ClusterPlan, namespace: Namespace) -> tuple[str, ...]:
    """The queues of the unit that a namespace belongs to."""
    return leaves_of(cluster, next(queue for queue in cluster.queues if queue.name == namespace.queue))


def planned(team: dict[str, Any], **organization: Any) -> ClusterPlan:
    """The plan of an organization whose only team, `research/vision`, says `team`; its department has 24 GPUs."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": "volcano"}},
        "flavors": FLAVORS,
        "departments": {"research": {"budget": {"h100": 24}, "teams": {"vision": team}}},
        **organization,
    }
    (cluster,) = plan(organized(tree))
    return cluster


def objects(cluster: ClusterPlan, kind: str) -> dict[str, Object]:
    """The emitted objects of a kind by name."""
    items = [item for item in volcano.compile(cluster) if isinstance(item, Manifest)]
    return {obj["metadata"]["name"]: obj for item in items for obj in item.objects if obj["kind"] == kind}


def tree(cluster: ClusterPlan, flavor: str) -> dict[str, str]:
    """The parent of each queue of a flavor."""
    queues = objects(cluster, "Queue")
    return {
        name: queue["spec"]["parent"]
        for name, queue in queues.items()
        if queue["metadata"]["annotations"].get("tenancy.internal/flavor") == flavor
    }


def test_a_team_without_projects_is_a_leaf_below_its_department() -> None:
    """The flavor, the department and the team, in each flavor that the team reaches."""
    cluster = planned({"budget": {"h100": 8}})
    assert tree(cluster, "h100") == {
        "h100": "root",
        "research-h100": "h100",
        "research-vision-h100": "research-h100",
    }
    assert tree(cluster, "cpu").keys() == {"cpu", "research-cpu", "research-vision-cpu"}


def test_a_leaf_never_becomes_an_inner_queue() -> None:
    """With the first budget of a project the team's leaf moves below a new inner queue and has no queue below it."""
    projects: dict[str, Any] = {"train": {"budget": {"h100": 4}}, "demo": {}}
    before = tree(planned({"budget": {"h100": 8}, "projects": {key: {} for key in projects}}), "h100")
    after = tree(planned({"budget": {"h100": 8}, "projects": projects}), "h100")
    leaves_before = before.keys() - set(before.values())
    assert leaves_before == {"research-vision-h100"}
    assert not leaves_before & set(after.values())
    assert after == {
        **before,
        "research-vision-projects-h100": "research-h100",
        "research-vision-h100": "research-vision-projects-h100",
        "research-vision-train-h100": "research-vision-projects-h100",
    }


def test_a_team_all_of_whose_projects_have_budgets_has_no_leaf() -> None:
    """Nothing could run in it; the inner queue keeps its name for the day when there is one."""
    found = tree(planned({"budget": {"h100": 8}, "projects": {"train": {"budget": {"h100": 4}}}}), "h100")
    assert "research-vision-h100" not in found
    assert found["research-vision-train-h100"] == "research-vision-projects-h100"


def test_a_queue_that_may_use_nothing_of_a_flavor_is_not_there() -> None:
    """Where the projects with budgets have all and the others may not borrow, a queue of 0 would mean no limit."""
    team = {
        "budget": {"h100": 8},
        "policy": {"borrowing": "none"},
        "projects": {"train": {"budget": {"h100": 8}}, "demo": {}},
    }
    cluster = planned(team)
    assert "research-vision-h100" not in tree(cluster, "h100")
    (demo,) = [each for each in cluster.namespaces if each.title == "research/vision/demo"]
    assert leaves(cluster, demo) == ()
    assert objects(cluster, "Namespace")[demo.name]["metadata"]["annotations"]["tenancy.internal/queues"] == ""


def test_a_namespace_lists_the_leaves_of_its_unit() -> None:
    """Sorted, one for each flavor; those of a project with a budget are its own."""
    cluster = planned({"budget": {"h100": 8}, "projects": {"train": {"budget": {"h100": 4}}, "demo": {}}})
    found = {
        name: obj["metadata"]["annotations"]["tenancy.internal/queues"]
        for name, obj in objects(cluster, "Namespace").items()
    }
    assert found == {
        "research-vision-demo": "research-vision-cpu,research-vision-h100",
        "research-vision-train": "research-vision-train-cpu,research-vision-train-h100",
    }
    assert {each.name: ",".join(leaves(cluster, each)) for each in cluster.namespaces} == found


@pytest.mark.parametrize(
    ("weight", "written"), [(1, 1), (0, 1), (0.4, 1), (2.5, 3), (2.4, 2), (65535, 65535), (70000, 65535)]
)
def test_a_weight_is_rounded_into_the_range(weight: float, written: int) -> None:
    """Volcano's weights are whole numbers from 1 to 65535."""
    queues = objects(planned({"weight": weight, "budget": {"h100": 8}}), "Queue")
    assert queues["research-vision-h100"]["spec"]["weight"] == written


def test_queues_are_in_one_wave_and_go_unasked() -> None:
    """No fixed order serves both growing and shrinking, a question would hold back all others, and `default` stays."""
    queues = objects(planned({"budget": {"h100": 8}}), "Queue")
    marks = {name: queue["metadata"]["annotations"] for name, queue in queues.items()}
    assert {each["argocd.argoproj.io/sync-wave"] for each in marks.values()} == {"0"}
    options = {name: each.get("argocd.argoproj.io/sync-options") for name, each in marks.items()}
    assert options.pop("default") == "Prune=false"
    assert set(options.values()) == {None}


def test_priorities_are_priority_classes_that_preempt() -> None:
    """They stand before the queues, none is the default of pods, and a job of the class may reclaim."""
    found = objects(planned({"budget": {"h100": 8}}, priorities={"production": 1000, "low": -5}), "PriorityClass")
    assert {name: obj["value"] for name, obj in found.items()} == {"production": 1000, "low": -5}
    assert {obj["preemptionPolicy"] for obj in found.values()} == {"PreemptLowerPriority"}
    assert not any("globalDefault" in obj for obj in found.values())
    assert all(int(obj["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]) < 0 for obj in found.values())


def test_each_file_holds_what_its_name_says() -> None:
    """A file for each tree's top, one for `default`, one for each department."""
    paths = [item.path for item in volcano.compile(planned({"budget": {"h100": 8}})) if isinstance(item, Manifest)]
    assert [path for path in paths if path.startswith("queues/")] == [
        "queues/flavors/cpu.yaml",
        "queues/flavors/h100.yaml",
        "queues/default.yaml",
        "queues/departments/research.yaml",
    ]
