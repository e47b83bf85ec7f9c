"""An organization on Volcano under Argo CD: parents and sums are judged at each change, what is refused is retried."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend.volcano.order import steps
from tests.argocd.delivery import Delivery, resources
from tests.cluster import nodes
from tests.cluster.client import Object
from tests.cluster.deploy import Compiled
from tests.cluster.volcano import QUEUES
from tests.cluster.volcano_jobs import Scene
from tests.orgs import changed

pytestmark = pytest.mark.volcano("1.15")

Tree = dict[str, Any]

SILENCE: Final = 60
"""Seconds."""
LAB: Final = "research.departments.lab"
APPS: Final = "product.departments.apps"
TREE: Final = "acme-main-cluster"
"""The Application that has all Queues."""
NODE: Final = {"gpus": 8, "cpu": 66, "memory": "516Gi"}


def _unit(gpus: int, **more: Any) -> Tree:
    return {"budget": {"h100": {"reserved": gpus, "quota": gpus, "limit": gpus}}, **more}


ORG: Final[Tree] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": NODE}},
    "departments": {
        "research": _unit(24, departments={"lab": _unit(24, teams={"vision": _unit(20), "nlp": _unit(4)})}),
        "product": _unit(8, departments={"apps": _unit(8, teams={"ads": _unit(8)})}),
    },
}


def _shifted(gpus: int) -> Tree:
    """The organization with so many GPUs more in product, from the leaf to the top, and fewer in research."""
    sizes = {
        "research": 24 - gpus,
        LAB: 24 - gpus,
        f"{LAB}.teams.vision": 20 - gpus,
        "product": 8 + gpus,
        APPS: 8 + gpus,
        f"{APPS}.teams.ads": 8 + gpus,
    }
    return changed(ORG, {f"departments.{unit}.budget": _unit(size)["budget"] for unit, size in sizes.items()})


@pytest.fixture(scope="module")
def opened(delivery: Delivery) -> Delivery:
    """The organization with its nodes."""
    made = delivery.compiled(ORG)
    nodes.make(delivery.cluster, made)
    delivery.bootstrap(made)
    return delivery


@pytest.fixture
def synced(opened: Delivery) -> Delivery:
    """The organization as it is above."""
    opened.restore(opened.compiled(ORG))
    return opened


def test_every_queue_arrives_and_then_nothing_happens(synced: Delivery) -> None:
    """All is there, open, and left alone while work runs."""
    states = {item["metadata"]["name"]: item["status"]["state"] for item in synced.cluster.client.list(QUEUES)}
    assert set(states.values()) == {"Open"}
    assert synced.made is not None
    scene = Scene(synced.cluster, synced.made)
    scene.gang("research/lab/vision", 4)
    scene.expect({"research/lab/vision": 4})
    synced.silent(SILENCE)
    scene.clear()


def test_growth_here_and_cuts_there_arrive_together(synced: Delivery) -> None:
    """What is refused at first, since what it takes has not been given yet, is tried again and let in."""
    made, queues = synced.compiled(_shifted(8)), _queues(synced.made)
    passes = steps(queues, _queues(made)).passes
    assert passes > 1
    synced.deliver(made)
    assert "Queue product-apps-ads-h100" in resources(synced.applications()[TREE])
    assert synced.operation(TREE).get("retryCount", 0) <= passes
    assert _differing(synced) == []


def test_a_commit_takes_over_the_retries_of_the_one_before(synced: Delivery) -> None:
    """What is pushed while a sync is retried arrives too, though the retries are counted on."""
    synced.push(synced.compiled(_shifted(8)))
    synced.wait(lambda: synced.operation(TREE).get("retryCount", 0) > 1, "the sync has been retried")
    synced.deliver(synced.compiled(_shifted(4)))
    assert _differing(synced) == []


def test_a_queue_goes_beside_one_that_takes_its_room(synced: Delivery) -> None:
    """A team is removed and its GPUs are given to another in one commit: nobody is asked for the Queue, and the growth
    does not wait for the approval that the team's namespace needs."""
    tree = changed(
        ORG, {f"departments.{LAB}.teams.nlp": None, f"departments.{LAB}.teams.vision.budget": _unit(24)["budget"]}
    )
    made = synced.compiled(tree)
    synced.push(made)
    (grown,) = (item for item in _queues(made) if item["metadata"]["name"] == "research-lab-vision-h100")
    client = synced.cluster.client
    path = f"{QUEUES}/{grown['metadata']['name']}"
    synced.wait(lambda: client.get(path)["spec"]["deserved"] == grown["spec"]["deserved"], "the other has grown")
    assert client.get("/api/v1/namespaces/research-lab-nlp")["status"]["phase"] == "Active"
    synced.restore(made)
    synced.wait(lambda: client.find("/api/v1/namespaces/research-lab-nlp") is None, "the namespace is gone")


def _differing(delivery: Delivery) -> list[str]:
    """The Queues that are not as the last commit has them; what it leaves out may have a default."""
    stored = {item["metadata"]["name"]: item["spec"] for item in delivery.cluster.client.list(QUEUES)}
    wanted = {item["metadata"]["name"]: item["spec"] for item in _queues(delivery.made)}
    return [name for name, spec in wanted.items() if not stored.get(name, {}).items() >= spec.items()]


def _queues(made: Compiled | None) -> list[Object]:
    assert made is not None
    return [item for item in made.objects if item["kind"] == "Queue"]
