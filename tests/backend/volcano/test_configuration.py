"""What the scheduler, the controller and the chart are told: what an organization says reaches them, in one text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tenancy.backend.manifest import Nonconforming
from tenancy.backend.volcano import configuration
from tenancy.backend.volcano.configuration import controller, pages, scheduler
from tenancy.backend.volcano.configuration_schema import MINORS, text_violations
from tenancy.backend.volcano.topology import hyper_nodes, tier
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.render.pages import page
from tenancy.render.pages import pages as environment
from tests.backend.volcano.mistakes import RUN
from tests.orgs import organized

HOST = "kubernetes.io/hostname"
BLOCKS = ["cloud.example/block", "cloud.example/rack", HOST]
RACKS = ["cloud.example/rack", HOST]


def _plan(
    minor: str = "1.15", topologies: Mapping[str, list[str]] | None = None, *, placement: str = "packed"
) -> ClusterPlan:
    """Two flavors of GPUs and one without, with these topologies."""
    node = {"gpus": 8, "cpu": 64, "memory": "512Gi"}
    flavors: dict[str, dict[str, Any]] = {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": node},
        "a100": {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": node, "mig": {"1g.10gb": 7}},
        "cpu": {"nodes": 2, "node": {"cpu": 8, "memory": "32Gi"}},
    }
    for name, levels in (topologies or {}).items():
        flavors[name]["topology"] = levels
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": "volcano", "versions": {"volcano": minor}, "placement": placement}},
        "flavors": flavors,
        "departments": {},
    }
    (cluster,) = plan(organized(tree))
    return cluster


def _files(cluster: ClusterPlan) -> dict[str, str]:
    return {each.path: page(environment(), each.template, each.values) for each in pages(cluster)}


def _plugins(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for each in value["tiers"] for entry in each["plugins"]}


def test_it_is_what_was_run() -> None:
    """Apart from how jobs are packed, and without levels, it is the configuration that the promises were run with."""
    value = scheduler(_plan())
    assert _plugins(value)["binpack"].pop("arguments")
    assert value == yaml.safe_load(RUN)


def test_protection_of_departments_came_with_1_15() -> None:
    """1.14 would pass over the argument."""
    assert "arguments" not in _plugins(scheduler(_plan("1.14")))["capacity"]
    assert _plugins(scheduler(_plan()))["capacity"]["arguments"] == {"ancestorReclaimLevel": 1}


def test_packing_counts_every_device() -> None:
    """GPUs and slices are named, since binpack looks at cpu and memory alone; plain placement packs nothing."""
    packed = _plugins(scheduler(_plan()))["binpack"]["arguments"]
    assert packed == {"binpack.weight": 10, "binpack.resources": "nvidia.com/gpu, nvidia.com/mig-1g.10gb"}
    assert "binpack" not in _plugins(scheduler(_plan(placement="plain")))


def test_topologies_are_looked_for_where_there_are_any() -> None:
    """Without a level above the host the scheduler has no plugin and the controller nothing to discover."""
    assert "network-topology-aware" not in _plugins(scheduler(_plan()))
    assert controller(_plan()) == {}
    assert "network-topology-aware" in _plugins(scheduler(_plan(topologies={"h100": RACKS})))
    (entry,) = controller(_plan(topologies={"h100": RACKS}))["networkTopologyDiscovery"]
    assert entry["config"] == {"networkTopologyTypes": {"h100": [{"nodeLabel": level} for level in RACKS]}}


def test_one_topology_holds_all_flavors_with_its_levels() -> None:
    """A topology is looked for on every node: two that share a level would name its HyperNodes in turn."""
    for topologies in ({"a100": BLOCKS, "h100": BLOCKS}, {"a100": BLOCKS, "h100": RACKS}):
        (entry,) = controller(_plan(topologies=topologies))["networkTopologyDiscovery"]
        assert list(entry["config"]["networkTopologyTypes"]) == ["a100"]


def test_a_long_name_of_a_flavor_is_cut() -> None:
    """The controller leaves out a topology whose name has more than twenty characters."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": "volcano"}},
        "flavors": {
            f"h100-with-infiniband-{name}": {
                "gpu": "H100-SXM-80GB",
                "nodes": 1,
                "node": {"gpus": 8, "cpu": 64, "memory": "512Gi"},
                "topology": [f"{name}/rack", HOST],
            }
            for name in ("one", "two")
        },
        "departments": {},
    }
    (cluster,) = plan(organized(tree))
    (entry,) = controller(cluster)["networkTopologyDiscovery"]
    assert list(entry["config"]["networkTopologyTypes"]) == ["h100-with-infinib-0", "h100-with-infinib-1"]
    assert _files(cluster)


def test_a_flavor_with_levels_is_a_hyper_node_above_them() -> None:
    """So that a hard topology is kept before anything is discovered; tiers count from the narrowest level."""
    cluster = _plan(topologies={"h100": BLOCKS, "a100": RACKS})
    (made,) = hyper_nodes(cluster, cluster.flavors["a100"])
    selector = {"labelMatch": {"matchLabels": {"volcano.sh/nodegroup-name": "a100"}}}
    assert made["spec"] == {"tier": 3, "members": [{"type": "Node", "selector": selector}]}
    assert [tier(cluster.flavors["h100"], level) for level in BLOCKS[:2]] == [2, 1]
    assert list(hyper_nodes(cluster, cluster.flavors["cpu"])) == []
    assert list(hyper_nodes(_plan(), _plan().flavors["h100"])) == []


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize(
    "topologies", [{}, {"h100": BLOCKS}, {"h100": RACKS, "a100": BLOCKS}], ids=["hosts", "blocks", "both"]
)
@pytest.mark.parametrize("placement", ["packed", "plain"])
def test_the_file_and_the_values_are_one_text(minor: str, topologies: dict[str, list[str]], placement: str) -> None:
    """The chart hands on, letter by letter, the file that is checked, and the file says what was meant."""
    cluster = _plan(minor, topologies, placement=placement)
    files = _files(cluster)
    text = files["platform/volcano-scheduler.conf"]
    custom = yaml.safe_load(files["platform/volcano-values.yaml"])["custom"]
    assert custom["scheduler_config_override"] == text
    assert yaml.safe_load(text) == scheduler(cluster)
    assert text_violations(text, minor) == []


def test_the_chart_gets_a_map_for_the_controller() -> None:
    """The chart puts a text into quotes, which the controller cannot read; without topologies nothing is said."""
    cluster = _plan(topologies={"h100": RACKS})
    custom = yaml.safe_load(_files(cluster)["platform/volcano-values.yaml"])["custom"]
    assert custom["controller_config_override"] == controller(cluster)
    assert "controller_config_override" not in yaml.safe_load(_files(_plan())["platform/volcano-values.yaml"])["custom"]


def test_webhooks_are_stated_and_there_are_two_of_each() -> None:
    """While none answers, every change of a Queue is refused."""
    custom = yaml.safe_load(_files(_plan())["platform/volcano-values.yaml"])["custom"]
    assert custom["admission_replicas"] == 2
    assert "/queues/validate" in custom["enabled_admissions"].split(",")


@pytest.mark.parametrize(
    ("name", "broken", "said"),
    [
        ("scheduler", lambda _: yaml.safe_load(RUN.replace("reclaim,", "enqueue,")), "enqueue"),
        ("controller", lambda _: {"networkTopology": []}, "networkTopology"),
        ("ADMISSIONS", "/queues/validate", "/queues/mutate is missing"),
    ],
)
def test_what_volcano_would_pass_over_is_never_written(
    monkeypatch: pytest.MonkeyPatch, name: str, broken: Any, said: str
) -> None:
    """A fault of ours ends the compilation instead of the promises."""
    monkeypatch.setattr(configuration, name, broken)
    with pytest.raises(Nonconforming, match=said):
        list(pages(_plan()))
