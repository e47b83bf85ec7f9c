"""Changes that end something, and changes that cannot work, with Kueue under Argo CD."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.argocd.delivery import ASKS, Delivery, resources
from tests.cluster import nodes
from tests.cluster.argocd import APPLICATIONS
from tests.cluster.client import condition
from tests.cluster.jobs import Scene
from tests.cluster.manager import KUEUE
from tests.orgs import changed

pytestmark = pytest.mark.kueue("0.19")

Tree = dict[str, Any]

NODE: Final = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
TOPOLOGY: Final = ["cloud.example/rack", "kubernetes.io/hostname"]
OLD: Final = {"gpu": "H100-SXM-80GB", "nodes": 2, "node": NODE, "topology": TOPOLOGY}
NEW: Final = {"gpu": "H200-SXM-141GB", "nodes": 2, "node": NODE, "topology": TOPOLOGY}
ROOT: Final = "acme-main"
"""The Application that is applied by hand."""


def _unit(gpus: int, **more: Any) -> Tree:
    return {"budget": {"h100": gpus}, **more}


ORG: Final[Tree] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {"h100": OLD},
    "departments": {
        "research": _unit(12, teams={"vision": _unit(6), "nlp": _unit(6)}),
        "product": _unit(4, teams={"ads": _unit(4)}),
    },
}


@pytest.fixture(scope="module")
def opened(delivery: Delivery) -> Delivery:
    """The organization with its nodes, those of a flavor to come too."""
    made = delivery.compiled(ORG)
    nodes.make(delivery.cluster, delivery.compiled(changed(ORG, {"flavors.h200": NEW})))
    delivery.bootstrap(made)
    return delivery


@pytest.fixture
def scene(opened: Delivery) -> Iterator[Scene]:
    """The organization as it is above, and nobody works."""
    made = opened.compiled(ORG)
    opened.restore(made)
    found = Scene(opened.cluster, made)
    yield found
    found.clear()


def test_a_queue_that_is_held_stops_nothing(opened: Delivery, scene: Scene) -> None:
    """A team on hold is no failure, and what comes with it arrives."""
    held = {"departments.research.teams.vision.state": "held", "departments.research.teams.new": _unit(0)}
    opened.deliver(opened.compiled(changed(ORG, held)))
    client = scene.cluster.client
    active = condition(client.get(f"{KUEUE}/clusterqueues/research-vision"), "Active")
    assert active is not None
    assert (active["status"], active["reason"]) == ("False", "Stopped")
    assert client.find(f"{KUEUE}/namespaces/research-new/localqueues/default") is not None


@pytest.mark.parametrize("at_once", [False, True])
def test_a_flavor_is_replaced(opened: Delivery, scene: Scene, at_once: bool) -> None:
    """Nothing runs on the old one: the new one comes, the queues switch, and the old one goes, in one commit or two."""
    both = opened.compiled(changed(_on("h200"), {"flavors.h100": OLD}))
    new = opened.compiled(_on("h200"))
    if not at_once:
        opened.deliver(both)
    opened.deliver(new)
    names = [item["metadata"]["name"] for item in scene.cluster.client.list(f"{KUEUE}/resourceflavors")]
    assert names == ["h200"]
    again = Scene(opened.cluster, new)
    again.submit("research/vision", 4)
    again.running("research/vision", 1)
    again.clear()


def test_a_unit_that_goes_waits_for_a_person_and_then_for_its_work(opened: Delivery, scene: Scene) -> None:
    """Its job is not touched before somebody approves, nor after; when it has ended, all of the team goes."""
    scene.submit("research/vision", 4)
    (pod,) = scene.running("research/vision", 1)
    client, name = scene.cluster.client, opened.owner("ClusterQueue research-vision")
    path = f"{KUEUE}/clusterqueues/research-vision"
    opened.push(opened.compiled(changed(ORG, {"departments.research.teams.vision": None})))
    opened.wait(lambda: opened.says(name, ASKS), "somebody is asked")
    assert "deletionTimestamp" not in client.get(path)["metadata"]
    assert client.find(f"{KUEUE}/namespaces/research-vision/localqueues/default") is not None
    opened.confirm(name)
    opened.wait(lambda: "deletionTimestamp" in client.get(path)["metadata"], "the queue is to go")
    opened.wait(lambda: opened.says(name, "waiting for deletion of"), "the sync waits for it")
    assert client.get("/api/v1/namespaces/research-vision")["status"]["phase"] == "Active"
    assert scene.running("research/vision", 1) == [pod]
    scene.clear()
    opened.settled()
    for each in (path, "/api/v1/namespaces/research-vision"):
        opened.wait(lambda at=each: client.find(at) is None, f"{each} is gone")  # type: ignore[misc]


def test_a_department_goes_when_two_approvals_say_so(opened: Delivery, scene: Scene) -> None:
    """One is for its Application, one for the namespaces and queues that go with it; before that all of it stays."""
    client, name = scene.cluster.client, opened.owner("ClusterQueue product-ads")
    application = f"{APPLICATIONS}/{name}"
    mine = resources(client.get(application)).keys()
    paths = [client.path(item) for each, item in opened.live().items() if each in mine]
    assert paths
    opened.push(opened.compiled(changed(ORG, {"departments.product": None})))
    opened.wait(lambda: opened.says(ROOT, ASKS), "somebody is asked")
    assert all(client.find(path) is not None for path in (application, *paths))
    opened.confirm(ROOT)
    opened.wait(lambda: "deletionTimestamp" in client.get(application)["metadata"], "the Application is to go")
    opened.wait(lambda: opened.says(ROOT, "waiting for deletion of"), "the sync waits for it")
    assert all(client.find(path) is not None for path in paths)
    opened.confirm(name)
    opened.settled()
    assert [path for path in paths if client.find(path) is not None] == []


def test_a_commit_that_cannot_work_is_repaired_by_the_next(opened: Delivery, scene: Scene) -> None:
    """A queue that Kueue refuses stops the sync before there is a way into it; the commit that repairs it is taken up
    though the sync of the one before has not ended."""
    made = opened.compiled(changed(ORG, {"departments.research.teams.new": _unit(0)}))
    opened.push(made, broken=lambda text: _on_nowhere(text, "research-new"))
    client, gate = scene.cluster.client, f"{KUEUE}/namespaces/research-new/localqueues/default"
    queue = f"{KUEUE}/clusterqueues/research-new"
    opened.wait(lambda: client.find(queue) is not None, "the queue is there")
    name = opened.owner("ClusterQueue research-new")
    opened.wait(lambda: opened.operation(name).get("retryCount", 0) > 0, "the sync fails and is tried again")
    assert client.find(gate) is None
    opened.deliver(made)
    assert client.find(gate) is not None


def _on(flavor: str) -> Tree:
    """The organization on another flavor alone."""
    budgets: dict[str, Any] = {
        f"departments.{unit}.budget": {flavor: gpus}
        for unit, gpus in (
            ("research", 12),
            ("research.teams.vision", 6),
            ("research.teams.nlp", 6),
            ("product", 4),
            ("product.teams.ads", 4),
        )
    }
    return changed(ORG, {**budgets, "flavors": {flavor: NEW}})


def _on_nowhere(text: str, queue: str) -> str:
    """A file in which a ClusterQueue, if it has it, names a flavor that there is not."""
    documents = list(yaml.safe_load_all(text))
    for item in documents:
        if item and item.get("kind") == "ClusterQueue" and item["metadata"]["name"] == queue:
            for group in item["spec"]["resourceGroups"]:
                for each in group["flavors"]:
                    each["name"] = "nowhere"
            return yaml.safe_dump_all(documents)
    return text
