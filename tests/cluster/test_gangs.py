"""Gangs on two racks, of four nodes and of two: all of their pods or none, and as near to each other as they asked."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.cluster import deploy, jobs
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE

pytestmark = pytest.mark.kueue("0.19", "0.17")

RACK: Final = "cloud.example/rack"
ORG: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 6,
            "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"},
            "topology": [RACK, "kubernetes.io/hostname"],
        }
    },
    "departments": {
        "gangs": {
            "budget": {"h100": 48},
            "teams": {"ants": {"budget": {"h100": 24}}, "bees": {"budget": {"h100": 24}}},
        }
    },
}
ANTS, BEES = "gangs/ants", "gangs/bees"


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Six nodes for two teams of 24 GPUs, which may lend each other everything."""
    made = deploy.compiled_for(cluster, ORG)
    return jobs.opened(cluster, made)


def racks(scene: Scene, unit: str) -> list[str]:
    """The racks that a unit's pods run in, one for each pod, sorted."""
    nodes = {node["metadata"]["name"]: node for node in scene.cluster.client.list("/api/v1/nodes")}
    return sorted(nodes[host]["metadata"]["labels"][RACK] for host in scene.hosts(unit))


def test_a_gang_holds_all_or_nothing(scene: Scene) -> None:
    """A gang of 8 with room for 7 holds nothing and lets a smaller job pass, and runs as soon as there is room."""
    scene.clear()
    scene.submit(BEES, 8, times=2)
    (busy,) = scene.submit(BEES, 3)
    scene.expect({BEES: 19})
    scene.submit(ANTS, 3, pods=8)
    scene.told(ANTS, 'topology "h100" allows to fit only 7 out of 8 pod(s)')
    scene.expect({BEES: 19})
    assert scene.pods(ANTS) == []
    scene.submit(ANTS, 2)
    scene.expect({BEES: 19, ANTS: 2})
    assert len(scene.running(ANTS, 1)) == 1
    scene.finish(BEES, [busy])
    scene.expect({BEES: 16, ANTS: 26})
    assert len(scene.running(ANTS, 9)) == 9
    assert scene.evictions() == 0


def test_two_gangs_never_hold_half_each(scene: Scene) -> None:
    """Of two gangs that fit alone and not together, one runs whole and the other holds nothing until it ends."""
    scene.clear()
    asked = {unit: scene.submit(unit, 8, pods=4) for unit in (ANTS, BEES)}
    scene.wait(lambda: scene.holders() != {}, "one of them is in", PATIENCE)
    (first,) = scene.holders()
    (second,) = {ANTS, BEES} - {first}
    scene.expect({first: 32})
    assert len(scene.running(first, 4)) == 4
    assert scene.pods(second) == []
    scene.finish(first, asked[first])
    scene.expect({second: 32})
    assert len(scene.running(second, 4)) == 4
    assert scene.evictions() == 0


@pytest.mark.kueue("0.19")
def test_a_required_rack_is_kept(scene: Scene) -> None:
    """A gang that requires one rack runs within one, and waits where no rack is large enough though nodes are free."""
    scene.clear()
    scene.submit(BEES, 8, pods=5, topology={"required": RACK})
    scene.told(BEES, 'topology "h100" allows to fit only 4 out of 5 pod(s)')
    scene.submit(ANTS, 8, pods=3, topology={"required": RACK})
    scene.expect({ANTS: 24})
    scene.running(ANTS, 3)
    assert racks(scene, ANTS) == ["h100-rack-0"] * 3
    assert scene.pods(BEES) == []


@pytest.mark.kueue("0.19")
def test_a_preferred_rack_is_given_up(scene: Scene) -> None:
    """A gang that prefers one rack runs in two where none is large enough."""
    scene.clear()
    scene.submit(BEES, 8, pods=5, topology={"preferred": RACK})
    scene.expect({BEES: 40})
    scene.running(BEES, 5)
    assert racks(scene, BEES) == ["h100-rack-0"] * 4 + ["h100-rack-1"]
