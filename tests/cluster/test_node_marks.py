"""`tenancy nodes` against the API server: what it sets, and that what others have set outlives it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tenancy.cli import run
from tenancy.live.applying import NotApplied, apply
from tenancy.live.client import Api, Object, nodes_of_cluster
from tenancy.live.marking import wants
from tenancy.live.nodes import MANAGER
from tenancy.plan import plan
from tests.cluster.client import Client, Refused
from tests.cluster.plane import ADMIN, Cluster
from tests.orgs import organized

pytestmark = pytest.mark.native

MIG_CONFIG: Final = "nvidia.com/mig.config"
FLAVOR: Final = "tenancy.example/flavor"
DAEMONS: Final = {"cpu": "2", "memory": "4Gi"}
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "marks",
    "domain": "tenancy.example",
    "clusters": {"main": {"scheduler": "native"}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"},
            "daemons": DAEMONS,
            "taints": ["gpu-reserved=training:NoSchedule", "tenancy.example/drain:NoExecute"],
        },
        "mig": {
            "gpu": "A100-SXM4-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 114, "memory": "900Gi"},
            "daemons": DAEMONS,
            "mig": [{"nodes": 1, "1g.10gb": 7}, {"nodes": 1, "3g.40gb": 2}],
        },
    },
    "departments": {"research": {"budget": {"h100": 8}, "teams": {"vision": {"budget": {"h100": 8}}}}},
}
PRODUCTS: Final = {"big": "NVIDIA-H100-80GB-HBM3", "cut": "NVIDIA-A100-SXM4-80GB"}
THEIRS: Final = {"key": "theirs", "value": "x", "effect": "NoSchedule"}


class Marks:
    """The nodes of one test, and the command on them."""

    def __init__(self, cluster: Cluster, folder: Path, out: pytest.CaptureFixture[str]) -> None:
        self.cluster = cluster
        self.client: Client = cluster.client
        self.folder = folder
        self.out = out
        self.say(TREE)

    def say(self, tree: dict[str, Any]) -> None:
        """Make this the organization."""
        (self.folder / "org.yaml").write_text(json.dumps(tree), encoding="utf-8")

    def node(self, name: str) -> Object:
        """A node as it is."""
        return self.client.get(f"/api/v1/nodes/{name}")

    def taints(self, name: str) -> set[str]:
        """The taints of a node as people write them."""
        taints = self.node(name)["spec"].get("taints", ())
        return {f"{each['key']}={each.get('value', '')}:{each['effect']}" for each in taints}

    def marks(self) -> dict[str, tuple[Any, ...]]:
        """Labels, taints and all else that is written in nodes, with what the command wrote and when.

        Other fields move by themselves: kwok writes the status, a controller an annotation.
        """
        found = {}
        for node in self.client.list("/api/v1/nodes"):
            metadata = node["metadata"]
            writes = [each for each in metadata["managedFields"] if each["manager"] == MANAGER]
            found[metadata["name"]] = (metadata.get("labels"), node["spec"], writes)
        return found

    def run(self, *options: str, token: str = ADMIN) -> tuple[int, str]:
        """Status and output of the command; sentences that were wrapped are in one line again."""
        self.out.readouterr()
        status = run(["nodes", str(self.folder), "--kubeconfig", str(self.cluster.kubeconfig(token)), *options])
        shown = self.out.readouterr()
        return status, re.sub(r"\n  (?=\S)", " ", shown.out) + shown.err

    def label(self, name: str, manager: str, **labels: str) -> None:
        """Set labels under another field manager."""
        labels = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
        body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        self.client.apply(body, manager=manager)

    def pod(self, node: str, **spec: Any) -> str:
        """A pod with a GPU on a node; its path."""
        container = {"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        item = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"train-{node}", "namespace": "kube-system"},
            "spec": {"nodeName": node, "containers": [container], "tolerations": [{"operator": "Exists"}], **spec},
        }
        self.client.create(item)
        return self.client.path(item)


@pytest.fixture
def marks(cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Marks]:
    """Two nodes of each flavor, one that nobody claims, and a taint and a label of somebody else on each."""
    names = ("big-0", "big-1", "cut-0", "cut-1", "other")
    for name in names:
        product = PRODUCTS.get(name.partition("-")[0])
        labels = {"their": "label", **({"nvidia.com/gpu.product": product} if product else {})}
        cluster.client.create(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": labels},
                "spec": {"taints": [THEIRS]},
                "status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "80", "memory": "800Gi", "pods": "250"}},
            }
        )
    yield Marks(cluster, tmp_path, capsys)
    for name in names:
        cluster.client.delete(f"/api/v1/namespaces/kube-system/pods/train-{name}", gracePeriodSeconds="0")
        cluster.client.delete(f"/api/v1/nodes/{name}")


def test_without_apply_nothing_is_written(marks: Marks) -> None:
    """The command says what is to set, and every node stays as it is."""
    before = marks.marks()
    status, shown = marks.run()
    assert status == 1
    assert "set taint gpu-reserved=training:NoSchedule\n      on 2 nodes: big-0, big-1" in shown
    assert "no flavor claims them: 1 node: other" in shown
    assert marks.marks() == before


def test_apply_sets_what_flavors_say_and_leaves_the_rest(marks: Marks) -> None:
    """Labels, taints and one layout for each node; what others have set stays, and so does a node of no flavor."""
    before = marks.marks()
    kept = {name: marks.taints(name) for name in before}
    status, shown = marks.run("--apply")
    assert (status, shown.splitlines()[-1]) == (0, "Set on 4 nodes.")
    ours = {"gpu-reserved=training:NoSchedule", "tenancy.example/drain=:NoExecute"}
    for name in ("big-0", "big-1"):
        assert marks.node(name)["metadata"]["labels"][FLAVOR] == "h100"
        assert marks.taints(name) == kept[name] | ours
    layouts = [marks.node(name)["metadata"]["labels"][MIG_CONFIG] for name in ("cut-0", "cut-1")]
    assert layouts[0] != layouts[1]
    assert all(layout.startswith("mig-") for layout in layouts)
    assert all(marks.node(name)["metadata"]["labels"]["their"] == "label" for name in before)
    assert marks.marks()["other"] == before["other"]


def test_a_second_apply_writes_nothing(marks: Marks) -> None:
    """It says that there is nothing to do, and no field has been written again."""
    marks.run("--apply")
    before = marks.marks()
    status, shown = marks.run("--apply")
    assert (status, shown.splitlines()[-1]) == (0, "Nothing to do.")
    assert marks.marks() == before


def test_a_conflict_names_its_owner_and_leaves_the_node(marks: Marks) -> None:
    """What somebody else has set to another value is not taken, nor anything else of the node, unless forced."""
    marks.label("big-0", "their-tool", tenancy_example__flavor="theirs")
    before = marks.marks()["big-0"]
    status, shown = marks.run("--apply")
    assert status == 1
    assert f"conflict: label {FLAVOR} of big-0 is 'theirs', set by their-tool; it should be 'h100'" in shown
    assert marks.marks()["big-0"] == before
    assert marks.node("big-1")["metadata"]["labels"][FLAVOR] == "h100"
    assert marks.run("--apply", "--force-conflicts")[0] == 0
    assert marks.node("big-0")["metadata"]["labels"][FLAVOR] == "h100"
    assert "theirs=x:NoSchedule" in marks.taints("big-0")


def test_a_taint_with_another_value_is_a_conflict(marks: Marks) -> None:
    """A node has one taint of a key and an effect: a foreign value stays until it is forced away."""
    foreign = {"key": "gpu-reserved", "value": "somebody", "effect": "NoSchedule"}
    marks.client.patch("/api/v1/nodes/big-0", {"spec": {"taints": [THEIRS, foreign]}})
    status, shown = marks.run("--apply")
    assert status == 1
    assert "conflict: taint gpu-reserved:NoSchedule of big-0 is 'somebody'" in shown
    assert marks.taints("big-0") == {"theirs=x:NoSchedule", "gpu-reserved=somebody:NoSchedule"}
    marks.run("--apply", "--force-conflicts")
    assert {"theirs=x:NoSchedule", "gpu-reserved=training:NoSchedule"} <= marks.taints("big-0")


def test_what_the_gpu_operator_writes_by_default_gives_way(marks: Marks) -> None:
    """`all-disabled` is nobody's wish: a layout replaces it without force."""
    marks.label("cut-0", "gpu-operator", nvidia_com__mig_config="all-disabled")
    assert marks.run("--apply")[0] == 0
    assert marks.node("cut-0")["metadata"]["labels"][MIG_CONFIG].startswith("mig-")


def test_a_node_whose_gpus_are_in_use_keeps_its_layout(marks: Marks) -> None:
    """The pod is named, everything else is set, and --disruptive does the rest."""
    marks.pod("cut-0")
    status, shown = marks.run("--apply")
    assert status == 1
    assert "held back: nvidia.com/mig.config of cut-0, because kube-system/train-cut-0 runs there" in shown
    labels = marks.node("cut-0")["metadata"]["labels"]
    assert (labels[FLAVOR], MIG_CONFIG in labels) == ("mig", False)
    assert MIG_CONFIG in marks.node("cut-1")["metadata"]["labels"]
    assert marks.run("--apply", "--disruptive")[0] == 0
    assert MIG_CONFIG in marks.node("cut-0")["metadata"]["labels"]


def test_a_taint_that_ends_pods_waits_for_them(marks: Marks) -> None:
    """NoExecute ends the pods that do not tolerate it; the other taints are set."""
    marks.pod("big-0", tolerations=[{"key": "theirs", "operator": "Exists"}])
    status, shown = marks.run("--apply")
    assert status == 1
    assert "held back: tenancy.example/drain:NoExecute of big-0, because kube-system/train-big-0 runs there" in shown
    assert "gpu-reserved=training:NoSchedule" in marks.taints("big-0")
    assert "tenancy.example/drain=:NoExecute" not in marks.taints("big-0")
    assert "tenancy.example/drain=:NoExecute" in marks.taints("big-1")


def test_what_the_organization_no_longer_says_goes_and_only_that(marks: Marks) -> None:
    """Labels and taints that the command has set are removed again; an equal taint that somebody else had set stays."""
    drain = {"key": "tenancy.example/drain", "effect": "NoExecute"}
    marks.client.patch("/api/v1/nodes/big-0", {"spec": {"taints": [THEIRS, drain]}})
    marks.run("--apply")
    flavors = {**TREE["flavors"], "h100": {**TREE["flavors"]["h100"], "taints": ["gpu-reserved=other:NoSchedule"]}}
    flavors["mig"] = {key: value for key, value in flavors["mig"].items() if key != "mig"}
    marks.say({**TREE, "flavors": flavors})
    assert marks.run("--apply")[0] == 0
    assert marks.taints("big-0") == {
        "theirs=x:NoSchedule",
        "tenancy.example/drain=:NoExecute",
        "gpu-reserved=other:NoSchedule",
    }
    assert "tenancy.example/drain=:NoExecute" not in marks.taints("big-1")
    assert MIG_CONFIG not in marks.node("cut-0")["metadata"]["labels"]
    assert marks.node("cut-0")["metadata"]["labels"]["their"] == "label"
    assert marks.run()[0] == 0


class Meddled(Api):
    """An API server where somebody else acts right after a node was first read."""

    def __init__(self, marks: Marks, meddle: Any) -> None:
        super().__init__(marks.cluster.kubeconfig(ADMIN), None)
        self.meddle = meddle
        self.reads = 0

    def node(self, name: str) -> Object:
        """The node; then it changes."""
        found = super().node(name)
        self.reads += 1
        if self.reads == self.moment:
            self.meddle(name)
        return found

    moment = 1


def _apply(server: Meddled, name: str) -> bool:
    (cluster,) = plan(organized(TREE))
    live = next(node for node in server.nodes() if node.name == name)
    want = wants(cluster.nodes["h100"], [live], device="nvidia.com/gpu", record="tenancy.example/taints")[name]
    return apply(server, live, want)


@pytest.mark.parametrize("moment", [1, 2])
def test_a_taint_that_is_added_between_reading_and_writing_survives(marks: Marks, moment: int) -> None:
    """The list of taints is one field: the write is refused, and the next one has the new taint in it."""

    def meddle(name: str) -> None:
        late = {"key": "late", "value": "", "effect": "NoSchedule"}
        marks.client.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [THEIRS, late]}})

    server = Meddled(marks, meddle)
    server.moment = moment  # the first read is for the labels, the second for the taints
    assert _apply(server, "big-0")
    assert marks.taints("big-0") == {
        "theirs=x:NoSchedule",
        "late=:NoSchedule",
        "gpu-reserved=training:NoSchedule",
        "tenancy.example/drain=:NoExecute",
    }


def test_a_node_that_is_removed_meanwhile_stays_removed(marks: Marks) -> None:
    """Server-side apply would make it anew; the uid keeps it from that."""
    server = Meddled(marks, lambda name: marks.client.delete(f"/api/v1/nodes/{name}"))
    with pytest.raises(NotApplied, match="the node is gone"):
        _apply(server, "big-0")
    with pytest.raises(Refused, match="not found"):
        marks.node("big-0")


def test_a_conflict_that_begins_between_reading_and_writing_is_told(marks: Marks) -> None:
    """The API server names the manager; nothing is taken from it."""
    server = Meddled(marks, lambda name: marks.label(name, "their-tool", tenancy_example__flavor="theirs"))
    with pytest.raises(NotApplied) as refused:
        _apply(server, "big-0")
    assert [(each.what, each.owners) for each in refused.value.conflicts] == [(f"label {FLAVOR}", ("their-tool",))]
    assert marks.node("big-0")["metadata"]["labels"][FLAVOR] == "theirs"


def test_nodes_are_read_to_the_last_page(marks: Marks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, however many answers it takes."""
    monkeypatch.setattr("tenancy.live.client.PAGE", 2)
    found = [node.name for node in nodes_of_cluster(marks.cluster.kubeconfig(ADMIN), "test")]
    assert found == ["big-0", "big-1", "cut-0", "cut-1", "other"]


def test_who_may_not_write_is_told_and_who_may_not_read_is_status_3(marks: Marks) -> None:
    """The scheduler's user reads nodes and pods; a user without a token reads nothing."""
    status, shown = marks.run("--apply", token="scheduler")
    assert status == 1
    assert "not done: big-0:" in shown
    assert 'cannot patch resource "nodes"' in shown
    status, shown = marks.run(token="nobody")
    assert status == 3
    assert "the nodes cannot be read: Unauthorized" in shown
    assert [writes for _, _, writes in marks.marks().values() if writes] == []
