"""The default topology of units on Volcano: jobs get the tier of the level in the flavor that their queue is of."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.cluster import deploy, racks, volcano_jobs
from tests.cluster.plane import Cluster
from tests.cluster.volcano_jobs import Scene

pytestmark = pytest.mark.volcano("1.15")

ANTS, BEES, WASPS = "near/ants", "near/bees", "free/wasps"
BLOCK, RACK, HOST = "cloud.example/block", "cloud.example/rack", "kubernetes.io/hostname"
NODE: Final = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {
        "a100": {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": NODE},
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 6, "node": NODE, "topology": [BLOCK, RACK, HOST]},
    },
    "departments": {
        "near": {
            "budget": {"h100": 40, "a100": 16},
            "topology": "required rack",
            "teams": {
                "ants": {"budget": {"h100": 32, "a100": 16}},
                "bees": {"budget": {"h100": 8}, "topology": "preferred rack"},
            },
        },
        "free": {"budget": {"h100": 8}, "teams": {"wasps": {"budget": {"h100": 8}}}},
    },
}
"""H100 nodes in a rack of four and one of two, in one block; A100 nodes without either."""


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Three teams of which two have a default, once the racks are discovered."""
    made = deploy.compiled_for(cluster, TREE)
    opened = volcano_jobs.opened(cluster, made)
    racks.wait(cluster, RACK, BLOCK)
    return opened


def racks_of(scene: Scene, unit: str, pods: int) -> list[str]:
    """The rack of each of so many pods of a unit once all run, sorted; none of a node that has no such label."""
    nodes = {
        item["metadata"]["name"]: item["metadata"]["labels"] for item in scene.cluster.client.list("/api/v1/nodes")
    }
    return sorted(nodes[host].get(RACK, "") for host in scene.running(unit, pods))


def topologies(scene: Scene, unit: str) -> list[Any]:
    """What the jobs of a unit say of a topology."""
    path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{scene.namespace(unit).name}/jobs"
    return [item["spec"].get("networkTopology") for item in scene.cluster.client.list(path)]


def test_a_gang_is_kept_in_the_rack_that_its_unit_requires(scene: Scene) -> None:
    """It says nothing of a topology: four pods run in one rack, and five wait though six nodes are free."""
    scene.clear()
    scene.gang(ANTS, 5, 8, flavor="h100")
    scene.settle()
    assert scene.held(ANTS) == 0
    scene.gang(ANTS, 4, 8, flavor="h100")
    scene.expect({ANTS: 32})
    assert racks_of(scene, ANTS, 4) == ["h100-rack-0"] * 4
    assert topologies(scene, ANTS) == [{"mode": "hard", "highestTierAllowed": 1}] * 2


def test_a_unit_without_a_default_is_spread(scene: Scene) -> None:
    """The gang of five, of a unit that says nothing, runs in two racks."""
    scene.clear()
    scene.gang(WASPS, 5, 8, flavor="h100")
    scene.expect({WASPS: 40})
    assert set(racks_of(scene, WASPS, 5)) == {"h100-rack-0", "h100-rack-1"}
    assert topologies(scene, WASPS) == [None]


def test_a_preference_is_given_up(scene: Scene) -> None:
    """Of a unit that prefers one rack, a gang of two runs in one, and one of five in two."""
    scene.clear()
    scene.gang(BEES, 2, 8, flavor="h100")
    scene.expect({BEES: 16})
    assert len(set(racks_of(scene, BEES, 2))) == 1
    scene.clear()
    scene.gang(BEES, 5, 8, flavor="h100")
    scene.expect({BEES: 40})
    assert set(racks_of(scene, BEES, 5)) == {"h100-rack-0", "h100-rack-1"}
    assert topologies(scene, BEES) == [{"mode": "soft"}]


def test_a_job_keeps_what_it_asks_for(scene: Scene) -> None:
    """One that may spread over a block, in a unit that requires a rack, runs in two racks."""
    scene.clear()
    own = {"mode": "hard", "highestTierAllowed": 2}
    scene.gang(ANTS, 5, 8, flavor="h100", job={"networkTopology": own})
    scene.expect({ANTS: 40})
    assert topologies(scene, ANTS) == [own]


def test_only_gangs_in_queues_of_flavors_with_the_level_get_it(scene: Scene) -> None:
    """A gang on the flavor without racks runs there with no topology, and so does a single pod."""
    scene.clear()
    scene.gang(ANTS, 2, 8, flavor="a100")
    scene.gang(ANTS, 1, 8, flavor="h100")
    scene.expect({ANTS: 24})
    assert topologies(scene, ANTS) == [None, None]


def test_quota_comes_back_to_a_gang_that_is_kept_in_a_rack(scene: Scene) -> None:
    """Lent to single pods all over the flavor, it is taken back until one rack has room for the gang; more of them may
    be evicted than its pods are."""
    scene.clear()
    scene.gang(WASPS, 1, 8, times=6, flavor="h100")
    scene.expect({WASPS: 48})
    scene.gang(ANTS, 4, 8, flavor="h100")
    scene.expect({ANTS: 32, WASPS: 16})
    assert racks_of(scene, ANTS, 4) == ["h100-rack-0"] * 4
