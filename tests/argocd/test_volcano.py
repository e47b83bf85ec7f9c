"""An organization on Volcano under Argo CD: parents and sums are judged at each change, what is refused is retried."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend.volcano.order import steps
from tests.argocd.delivery import Delivery
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
TEAMS: Final = "departments.research.teams"
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
        "research": _unit(24, teams={"vision": _unit(20), "nlp": _unit(4)}),
        "product": _unit(8, teams={"ads": _unit(8)}),
    },
}


def _shifted(gpus: int) -> Tree:
    """The organization with so many GPUs more in product, from the leaf to the top, and fewer in research."""
    sizes = {
        "research": 24 - gpus,
        "research.teams.vision": 20 - gpus,
        "product": 8 + gpus,
        "product.teams.ads": 8 + gpus,
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
    scene.gang("research/vision", 4)
    scene.expect({"research/vision": 4})
    synced.silent(SILENCE)
    scene.clear()


def test_growth_here_and_cuts_there_arrive_together(synced: Delivery) -> None:
    """What is refused at first, since what it takes has not been given yet, is tried again and let in."""
    made, queues = synced.compiled(_shifted(8)), _queues(synced.made)
    passes = steps(queues, _queues(made)).passes
    assert passes > 1
    synced.deliver(made)
    name = synced.owner("Queue product-ads-h100")
    assert synced.operation(name).get("retryCount", 0) <= passes
    stored = {item["metadata"]["name"]: item["spec"] for item in synced.cluster.client.list(QUEUES)}
    assert all(stored[item["metadata"]["name"]].items() >= item["spec"].items() for item in _queues(made))


def test_a_queue_goes_beside_one_that_takes_its_room(synced: Delivery) -> None:
    """A team is removed and its GPUs are given to another in one commit: nobody is asked for the Queue, and the growth
    does not wait for the approval that the team's namespace needs."""
    tree = changed(ORG, {f"{TEAMS}.nlp": None, f"{TEAMS}.vision.budget": _unit(24)["budget"]})
    made = synced.compiled(tree)
    synced.push(made)
    (grown,) = (item for item in _queues(made) if item["metadata"]["name"] == "research-vision-h100")
    client = synced.cluster.client
    path = f"{QUEUES}/{grown['metadata']['name']}"
    synced.wait(lambda: client.get(path)["spec"]["deserved"] == grown["spec"]["deserved"], "the other has grown")
    assert client.get("/api/v1/namespaces/research-nlp")["status"]["phase"] == "Active"
    synced.restore(made)
    synced.wait(lambda: client.find("/api/v1/namespaces/research-nlp") is None, "the namespace is gone")


def _queues(made: Compiled | None) -> list[Object]:
    assert made is not None
    return [item for item in made.objects if item["kind"] == "Queue"]
