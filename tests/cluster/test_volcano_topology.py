"""Racks and blocks on Volcano: they are discovered from labels, and a job that requires one is kept inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
import yaml

from tenancy.backend.volcano.configuration_chart import controller_violations
from tenancy.backend.volcano.topology import topologies
from tests.cluster import deploy, racks, volcano, volcano_jobs
from tests.cluster.plane import Cluster, until
from tests.cluster.volcano_jobs import Scene

pytestmark = pytest.mark.volcano("1.15")

VISION, SMALL = "research/vision", "research/small"
BLOCK, RACK, HOST = "cloud.example/block", "cloud.example/rack", "kubernetes.io/hostname"
NODE: Final = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "near",
    "clusters": {"main": {}},
    "flavors": {
        "a100": {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": NODE, "topology": [RACK, HOST]},
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 16, "node": NODE, "topology": [BLOCK, RACK, HOST]},
    },
    "departments": {
        "research": {
            "budget": {"h100": 128, "a100": 16},
            "teams": {"vision": {"budget": {"h100": 128}}, "small": {"budget": {"a100": 16}}},
        }
    },
}
"""Four racks of four nodes in two blocks, and a flavor with one rack; a pod of eight GPUs has a node for itself."""
FLAVORS: Final = {"a100", "h100"}


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization, with all HyperNodes of its racks and blocks."""
    made = volcano_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))
    racks.wait(cluster, RACK, BLOCK)
    return made


def hard(tier: int) -> Mapping[str, Any]:
    """A job that is to be kept within one HyperNode of this tier."""
    return {"networkTopology": {"mode": "hard", "highestTierAllowed": tier}}


def places(scene: Scene, unit: str, level: str) -> set[str]:
    """The values of a label on the nodes of a unit's pods."""
    labels = {
        item["metadata"]["name"]: item["metadata"]["labels"] for item in scene.cluster.client.list("/api/v1/nodes")
    }
    return {labels[host][level] for host in scene.hosts(unit)}


def test_racks_and_blocks_are_found_and_named(scene: Scene) -> None:
    """Those of all flavors belong to one topology, named by the flavor with most levels; the flavors stand above."""
    assert list(topologies(scene.made.plan.flavors.values())) == ["h100"]
    items = scene.cluster.client.list(volcano.HYPERNODES)
    names = {item["metadata"]["name"] for item in items}
    assert {name.rpartition("-")[0] for name in names - FLAVORS} == {"hypernode-h100-tier1", "hypernode-h100-tier2"}
    scene.wait(lambda: counted(scene) == {"a100": 2, "h100": 16}, "the nodes of flavors are counted")


def counted(scene: Scene) -> dict[str, int]:
    """The nodes that Volcano counts in the HyperNode of each flavor."""
    items = scene.cluster.client.list(volcano.HYPERNODES)
    mine = [item for item in items if item["metadata"]["name"] in FLAVORS]
    return {item["metadata"]["name"]: item.get("status", {}).get("nodeCount", 0) for item in mine}


@pytest.mark.parametrize(("tier", "level", "fits", "large"), [(1, RACK, 4, 5), (2, BLOCK, 8, 9)], ids=["rack", "block"])
def test_a_gang_is_kept_inside_what_it_requires(scene: Scene, tier: int, level: str, fits: int, large: int) -> None:
    """As large as the level it runs there alone; one pod more waits for ever, and holds nothing."""
    scene.clear()
    scene.gang(VISION, large, 8, flavor="h100", job=hard(tier))
    scene.settle()
    assert scene.held(VISION) == 0
    scene.gang(VISION, fits, 8, flavor="h100", job=hard(tier))
    scene.expect({VISION: fits * 8})
    scene.running(VISION, fits)
    assert len(places(scene, VISION, level)) == 1


def test_a_gang_may_be_as_large_as_its_flavor(scene: Scene) -> None:
    """The HyperNode of the flavor is above its blocks, and holds no node of another flavor."""
    scene.clear()
    scene.gang(VISION, 16, 8, flavor="h100", job=hard(3))
    scene.gang(SMALL, 2, 8, flavor="a100", job=hard(1))
    scene.expect({VISION: 128, SMALL: 16})
    scene.running(VISION, 16)
    scene.running(SMALL, 2)
    assert {host.partition("-")[0] for host in scene.hosts(VISION)} == {"h100"}
    assert {host.partition("-")[0] for host in scene.hosts(SMALL)} == {"a100"}


def test_pods_are_packed(scene: Scene) -> None:
    """Small jobs fill a node before they begin the next, so that large pods find whole nodes."""
    scene.clear()
    scene.gang(VISION, 1, 2, times=5, flavor="h100")
    scene.expect({VISION: 10})
    assert len(set(scene.running(VISION, 5))) == 2


def test_without_labels_a_gang_waits_because_of_its_flavor(scene: Scene) -> None:
    """Nothing is discovered then. With the HyperNode of the flavor a gang that requires a rack waits; had it been left
    out, the gang would be spread over racks."""
    scene.clear()
    client = scene.cluster.client
    labels = {item["metadata"]["name"]: item["metadata"]["labels"] for item in client.list("/api/v1/nodes")}
    kept = {name: {key: each.get(key) for key in (BLOCK, RACK)} for name, each in labels.items()}
    for name in kept:
        client.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {BLOCK: None, RACK: None}}})
    until(lambda: racks.discovered(scene.cluster) == {}, "racks and blocks are gone")
    scene.gang(VISION, 3, 8, flavor="h100", job=hard(1))
    scene.settle()
    assert scene.held(VISION) == 0
    for name in FLAVORS:
        client.delete(f"{volcano.HYPERNODES}/{name}")
    scene.expect({VISION: 24})
    for name, each in kept.items():
        client.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": each}})


def _labels(**types: list[str]) -> dict[str, Any]:
    levels = {name.replace("_", "-"): [{"nodeLabel": label} for label in labels] for name, labels in types.items()}
    source = {"source": "label", "enabled": True, "config": {"networkTopologyTypes": levels}}
    return {"networkTopologyDiscovery": [source]}


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        (yaml.safe_dump(_labels(h100=[RACK, HOST])), "failed to parse config"),
        (_labels(a_name_of_21_character=[RACK, HOST]), "The length of topologyTypeName exceeds 20"),
        (_labels(h100=[RACK, RACK, HOST]), "there are duplicate labels"),
        ({"networkTopologyDiscovery": [{"source": "roce", "enabled": True}]}, "unsupported discoverer type: roce"),
    ],
    ids=["text", "long-name", "label-twice", "source"],
)
def test_the_controller_leaves_out_what_we_refuse(cluster: Cluster, configuration: Any, words: str) -> None:
    """Also a text, which the chart's own example is: what the chart makes of it is a text in the file."""
    assert controller_violations(configuration)
    # A controller of its own: one that was told of several changes in a row once answered to none of them any more.
    cluster.processes.stop("volcano-controller-manager")
    volcano.configure(cluster, deploy.compiled_for(cluster, TREE).configuration)
    log = cluster.processes.log("volcano-controller-manager")
    before = log.stat().st_size
    # As `toYaml` in the chart's template does it.
    style = "|" if isinstance(configuration, str) else None
    written = yaml.safe_dump(configuration, default_style=style)
    cluster.client.patch(volcano.CONFIG_MAP, {"data": {volcano.CONFIGURATION: written}})
    try:
        until(lambda: words.encode() in log.read_bytes()[before:], "the controller complains")
    finally:  # Whoever comes next starts it anew, with the configuration of theirs.
        cluster.processes.stop("volcano-controller-manager")
