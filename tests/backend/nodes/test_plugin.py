"""The device plugin's file: shares under names of their own, and whole GPUs everywhere else."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tenancy.backend.manifest import Nonconforming
from tenancy.backend.nodes import plugin_rules
from tenancy.backend.nodes.plugin import DEVICE_PLUGIN, plugin
from tenancy.backend.nodes.plugin_rules import violations
from tests.backend.nodes.support import A100, L4, config_map, files, planned

SHARED = {**L4, "sharing": {"timeSlicing": 4, "acrossDepartments": True}}
WHOLE: dict[str, Any] = {"version": "v1", "flags": {"migStrategy": "mixed"}}


def test_the_shares_of_a_flavor_are_under_the_name_of_its_label() -> None:
    """Nodes without the label hand out whole GPUs."""
    plan = planned({"l4": SHARED})
    config = plan.nodes["l4"].plugin
    assert config is not None
    found = config_map(plugin, plan)
    assert (found["metadata"]["name"], found["metadata"]["namespace"]) == (DEVICE_PLUGIN, "gpu-operator")
    assert found["data"] == {
        "default": WHOLE,
        config.name: {
            **WHOLE,
            "sharing": {
                "timeSlicing": {
                    "renameByDefault": True,
                    "failRequestsGreaterThanOne": True,
                    "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
                }
            },
        },
    }


def test_mps_and_time_slicing_are_configurations_beside_each_other() -> None:
    """Each flavor has its own way; a node has one label."""
    plan = planned({"l4": SHARED, "small": {**L4, "sharing": {"mps": 8, "acrossDepartments": True}}})
    ways = {key: list(config.get("sharing", {})) for key, config in config_map(plugin, plan)["data"].items()}
    names = {name: nodes.plugin.name for name, nodes in plan.nodes.items() if nodes.plugin}
    assert ways == {"default": [], names["l4"]: ["timeSlicing"], names["small"]: ["mps"]}


def test_the_slices_of_a_layout_are_shared_one_by_one() -> None:
    """In `mixed` every profile is a resource of its own."""
    flavor = {**A100, "mig": {"3g.40gb": 1, "1g.10gb": 4}, "sharing": SHARED["sharing"]}
    found = config_map(plugin, planned({"a100": flavor}))["data"]
    (sharing,) = (config["sharing"] for config in found.values() if "sharing" in config)
    names = [resource["name"] for resource in sharing["timeSlicing"]["resources"]]
    assert names == ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"]


def test_the_strategy_of_the_cluster_is_in_every_configuration() -> None:
    """The plugin takes it from its file where the operator leaves it to that."""
    found = config_map(plugin, planned({"l4": SHARED}, {"gpuOperator": {"migStrategy": "single"}}))["data"]
    assert {config["flags"]["migStrategy"] for config in found.values()} == {"single"}


@pytest.mark.parametrize("cluster", [{}, {"gpuOperator": {"installed": False}}])
def test_without_shares_or_without_the_operator_there_is_no_file(cluster: dict[str, Any]) -> None:
    """Nothing would read it, or it would say what holds anyway."""
    assert files(plugin, planned({"l4": SHARED if cluster else L4}, cluster)) == {}


def test_what_the_plugin_would_not_do_is_a_fault_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin passes over what it does not know, so that nobody else would notice."""
    monkeypatch.setattr(plugin_rules, "VERSION", "v2")
    with pytest.raises(Nonconforming, match=r"default\.version: must be v2"):
        files(plugin, planned({"l4": SHARED}))


def sharing(way: str = "timeSlicing", **given: Any) -> dict[str, Any]:
    """The configurations of a cluster, one of which says this, beside what is right."""
    right = {
        "renameByDefault": True,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
    }
    return one(sharing={way: {key: value for key, value in {**right, **given}.items() if value is not None}})


def one(**given: Any) -> dict[str, Any]:
    return {"default": WHOLE, "one": {**WHOLE, **given}}


def resources(*listed: Any) -> list[Any]:
    return [{"replicas": 4, **each} if isinstance(each, dict) else each for each in listed]


class Mistake(NamedTuple):
    """Configurations of a cluster and what is said of them."""

    name: str
    configs: dict[str, Any]
    said: str


MISTAKES = (
    Mistake("no default", {"one": WHOLE}, "default: is missing"),
    Mistake("no label value", {"default": WHOLE, "a+b": WHOLE}, "a+b: cannot be the value of a node label."),
    Mistake("no map", {"default": WHOLE, "one": "text"}, "one: must be a map."),
    Mistake("another version", one(version="v2"), "one.version: must be v1."),
    Mistake("another field", one(share={}), "one.share: is not a field that counts;"),
    Mistake("flags as a list", one(flags=[]), "one.flags: must be a map."),
    Mistake("renaming under flags", one(flags={"renameByDefault": True}), "one.flags.renameByDefault: is not a field"),
    Mistake("another strategy", one(flags={"migStrategy": "all"}), "one.flags.migStrategy: must be none, single"),
    Mistake("both ways", one(sharing={"mps": {}, "timeSlicing": {}}), "one.sharing: must be a map with one of"),
    Mistake("another way", one(sharing={"time-slicing": {}}), "one.sharing: must be a map with one of"),
    Mistake("a way that is no map", one(sharing={"mps": 4}), "one.sharing.mps: must be a map."),
    Mistake("under the old name", sharing(renameByDefault=False), "renameByDefault: must be true"),
    Mistake("not renamed", sharing(renameByDefault=None), "renameByDefault: must be true"),
    Mistake("two for one", sharing(failRequestsGreaterThanOne=None), "failRequestsGreaterThanOne: must be true"),
    Mistake("nothing to share", sharing(resources=None), "resources: must be a list with at least one resource."),
    Mistake("an empty list", sharing(resources=[]), "resources: must be a list with at least one resource."),
    Mistake("a name alone", sharing(resources=["nvidia.com/gpu"]), "resources[0]: must be a map."),
    Mistake("no name", sharing(resources=resources({})), "resources[0].name: None is no resource"),
    Mistake("of another vendor", sharing(resources=resources({"name": "amd.com/gpu"})), "amd.com/gpu is no resource"),
    Mistake(
        "shared already", sharing(resources=resources({"name": "nvidia.com/gpu.shared"})), "gpu.shared is no resource"
    ),
    Mistake(
        "twice",
        sharing(resources=resources({"name": "nvidia.com/gpu"}, {"name": "nvidia.com/gpu", "replicas": 2})),
        "resources[1].name: nvidia.com/gpu is there twice.",
    ),
    Mistake(
        "one share",
        sharing(resources=resources({"name": "nvidia.com/gpu", "replicas": 1})),
        "resources[0].replicas: must be a number of 2 or more.",
    ),
    Mistake(
        "more than MPS has clients",
        sharing("mps", resources=resources({"name": "nvidia.com/gpu", "replicas": 49})),
        "resources[0].replicas: an MPS server has 48 clients at most.",
    ),
    Mistake(
        "another name",
        sharing(resources=resources({"name": "nvidia.com/gpu", "rename": "nvidia.com/part"})),
        "resources[0].rename: is not a field that counts;",
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_is_named_where_it_stands(mistake: Mistake) -> None:
    """One sentence for each, which says the place."""
    (said,) = violations(mistake.configs)
    assert mistake.said in said


def test_what_is_right_has_no_violation() -> None:
    """The mistakes above differ from this in one point each."""
    assert violations(sharing()) == []
    assert violations(sharing("mps")) == []
