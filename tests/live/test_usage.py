"""What units use: of each scheduler's own objects, from a file or an API server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenancy.backend import items
from tenancy.compare.effects import sides
from tenancy.compare.snapshot import snapshots
from tenancy.live.client import Api
from tenancy.live.source import Unreadable
from tenancy.live.usage import COLLECTIONS, Sides, usage_of_cluster, usage_of_file
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.render.conform import checker
from tenancy.render.files import render
from tests.live.api import FakeApi, serving
from tests.orgs import changed, organized, scheduled

GPU = "nvidia.com/gpu"
TREE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "domain": "acme.example",
    "clusters": {"main": {}},
    "flavors": {
        name: {
            "gpu": gpu,
            "nodes": 4,
            "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"},
            "daemons": {"cpu": 2, "memory": "4Gi"},
        }
        for name, gpu in (("h100", "H100-SXM-80GB"), ("l4", "L4"))
    },
    "departments": {
        "lab": {
            "budget": {"h100": 16, "l4": 16},
            "teams": {
                "dev": {"budget": {"h100": 8, "l4": 8}},
                "ops": {"budget": {"h100": 8}, "projects": {"a": {"budget": {"h100": 4}}, "b": {}}},
            },
        }
    },
}


class Made:
    """An organization before and after a change, with its objects of the first."""

    def __init__(self, scheduler: str, changes: dict[str, Any]) -> None:
        tree = scheduled(TREE, scheduler)
        if scheduler == "native":
            tree = {**tree, "policy": {"borrowing": "none"}}
        self.before, self.after = _planned(tree), _planned(changed(tree, changes))
        self.old, self.new = _files(self.before), _files(self.after)
        was, now = snapshots(self.old, self.new)
        self.sides = Sides(sides(was)["main"], sides(now)["main"])
        self.objects = [each for each in was.items.values() if "kind" in each]

    def status(self, kind: str, name: str, namespace: str = "", **status: Any) -> dict[str, Any]:
        """One of its objects with a status."""
        found = [
            each
            for each in self.objects
            if (each["kind"], each["metadata"]["name"], each["metadata"].get("namespace", ""))
            == (kind, name, namespace)
        ]
        assert len(found) == 1, (
            kind,
            name,
            [each["metadata"]["name"] for each in self.objects if each["kind"] == kind],
        )
        return {**found[0], "status": status}


def _planned(tree: dict[str, Any]) -> ClusterPlan:
    (made,) = plan(organized(tree))
    return made


def _files(made: ClusterPlan) -> dict[str, str]:
    return render(made.name, items(made), checker(kubernetes=made.kubernetes, kueue=made.kueue, volcano=made.volcano))


SHRUNK = {"departments.lab.teams.dev.budget.h100": 4}


def listed(folder: Path, *objects: Any) -> Path:
    """A file as kubectl writes it."""
    path = folder / "usage.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return path


def test_kueue_tells_what_is_reserved(tmp_path: Path) -> None:
    """The larger of what is reserved and what is in use; shared queues by their own name; sums of those above."""
    made = Made("kueue", SHRUNK)

    def told(amount: str) -> list[dict[str, Any]]:
        return [{"name": "h100", "resources": [{"name": GPU, "total": amount}, {"name": "cpu", "total": "500m"}]}]

    path = listed(
        tmp_path,
        made.status("ClusterQueue", "lab-dev", flavorsReservation=told("8"), flavorsUsage=told("4")),
        made.status("ClusterQueue", "lab-ops-a", flavorsReservation=told("2"), flavorsUsage=[]),
        made.status("ClusterQueue", "lab-ops", flavorsUsage=told("1")),
        {"kind": "ClusterQueue", "metadata": {"name": "foreign"}, "status": {"flavorsUsage": told("64")}},
    )
    found = usage_of_file(path, made.after, made.sides)
    assert {unit: amount for (_, unit, _, name), amount in found.items() if name == GPU} == {
        "lab/dev": 8,
        "lab/ops/a": 2,
        "lab/ops (shared)": 1,
        "lab/ops": 3,
        "lab": 11,
        "": 11,
    }
    assert found["main", "lab/dev", "h100", "cpu"] == 500


def test_volcano_tells_what_is_allocated_to_leaves(tmp_path: Path) -> None:
    """What stands at the queues above is the sum of the same."""
    made = Made("volcano", SHRUNK)
    path = listed(
        tmp_path,
        made.status("Queue", "lab-dev-h100", allocated={GPU: "6", "cpu": "12"}),
        made.status("Queue", "lab-dev-l4", allocated={GPU: "2"}),
        made.status("Queue", "lab-h100", allocated={GPU: "6", "cpu": "12"}),
        made.status("Queue", "h100", allocated={GPU: "6"}),
        {"kind": "Queue", "metadata": {"name": "root"}, "status": {"allocated": {GPU: "8"}}},
    )
    found = usage_of_file(path, made.after, made.sides)
    assert {(unit, flavor): amount for (_, unit, flavor, name), amount in found.items() if name == GPU} == {
        **{(unit, "h100"): 6 for unit in ("lab/dev", "lab", "")},
        **{(unit, "l4"): 2 for unit in ("lab/dev", "lab", "")},
    }
    assert found["main", "lab/dev", "h100", "cpu"] == 12_000


@pytest.mark.parametrize(("used", "expected"), [("12", (4, 8)), ("3", (3, 0)), ("14", (4, 10))])
def test_native_quotas_are_given_to_flavors_as_far_as_they_reach(
    tmp_path: Path, used: str, expected: tuple[int, int]
) -> None:
    """They count all GPUs together, so that only what is beyond both new quotas is certainly too much."""
    made = Made("native", SHRUNK)
    path = listed(
        tmp_path,
        made.status("ResourceQuota", "tenancy-compute", "lab-dev", used={f"requests.{GPU}": used}),
        {"kind": "ResourceQuota", "metadata": {"name": "theirs", "namespace": "lab-dev"}},
    )
    found = usage_of_file(path, made.after, made.sides)
    assert tuple(found["main", "lab/dev", flavor, GPU] for flavor in ("h100", "l4")) == expected


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([{"kind": "Pod"}], r"usage.json: items\[0\]: a Pod is none of ClusterQueue, Queue, ResourceQuota"),
        ([1], r"usage.json: items\[0\]: this is none of ClusterQueue"),
        ([{"kind": "Queue", "metadata": {}}], "a Queue without metadata.name"),
        ([{"kind": "Queue", "metadata": {"name": "a", "labels": {"b": 1}}}], "metadata.labels has what is no text"),
        ([{"kind": "Queue", "metadata": {"name": "a"}, "status": []}], "status is no mapping"),
        ([{"kind": "ClusterQueue", "metadata": {"name": "a"}}], "no ClusterQueue of `acme`: nobody would seem to use"),
        ([], "kubectl get clusterqueues -o yaml"),
    ],
)
def test_what_tells_no_usage_is_refused(tmp_path: Path, objects: list[Any], message: str) -> None:
    """Everything that is passed over would count as idle."""
    made = Made("kueue", SHRUNK)
    with pytest.raises(Unreadable, match=message):
        usage_of_file(listed(tmp_path, *objects), made.after, made.sides)


@pytest.mark.parametrize("part", ["x", [{"name": "h100", "resources": [{"name": GPU, "total": "half"}]}], [{}], [1]])
def test_a_status_of_another_form_is_refused(tmp_path: Path, part: Any) -> None:
    """With the name of the queue."""
    made = Made("kueue", SHRUNK)
    path = listed(tmp_path, made.status("ClusterQueue", "lab-dev", flavorsUsage=part))
    if part == [{}]:
        assert usage_of_file(path, made.after, made.sides) == {}
        return
    with pytest.raises(Unreadable, match=r"items\[0\]: lab-dev: its status cannot be read"):
        usage_of_file(path, made.after, made.sides)


def test_a_cluster_tells_the_same(tmp_path: Path) -> None:
    """Read from where the scheduler of the plan has its queues."""
    made, fake = Made("kueue", SHRUNK), FakeApi()
    fake.kinds["kueue.x-k8s.io/v1beta2"] = {"ClusterQueue": ("clusterqueues", False)}
    told = [{"name": "h100", "resources": [{"name": GPU, "total": "5"}]}]
    fake.add(made.status("ClusterQueue", "lab-dev", flavorsUsage=told))
    with serving(fake, tmp_path) as config:
        api = Api(config, None)
        assert usage_of_cluster(api, made.after, made.sides)["main", "lab/dev", "h100", GPU] == 5
        fake.objects.clear()
        with pytest.raises(Unreadable, match="no ClusterQueue of `acme`"):
            usage_of_cluster(api, made.after, made.sides)
        fake.kinds.clear()
        with pytest.raises(Unreadable, match="clusterqueues cannot be read"):
            usage_of_cluster(api, made.after, made.sides)
    assert COLLECTIONS["kueue"] == "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
