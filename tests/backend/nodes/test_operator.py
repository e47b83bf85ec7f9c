"""The values of the GPU operator's chart: our files by name, and tolerations that close over the taints of nodes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tenancy.backend.manifest import Nonconforming
from tenancy.backend.nodes import operator_rules
from tenancy.backend.nodes.operator import operator
from tenancy.backend.nodes.operator_rules import DEFAULTS, violations
from tenancy.backend.nodes.tolerations import STACK, flavor_tolerations, tolerations
from tenancy.plan.values import ClusterPlan
from tests.backend.nodes.support import A100, CPU, H100, L4, files, planned

AMD = {**L4, "gpu": {"name": "MI300X", "memory": "192Gi", "resource": "amd.com/gpu"}}
MIG = {**A100, "mig": {"1g.10gb": 7}}


def values(plan: ClusterPlan) -> dict[str, Any]:
    """What Helm reads; empty where there is no file."""
    return next((yaml.safe_load(text) for text in files(operator, plan).values()), {})


def given(key: str, effect: str) -> dict[str, str]:
    return {"key": key, "operator": "Exists", "effect": effect}


def test_a_cluster_that_needs_nothing_has_no_file() -> None:
    """The chart's own values do for whole GPUs on nodes without taints, or with the one that it knows."""
    assert files(operator, planned({"h100": H100, "cpu": CPU})) == {}
    assert (
        files(operator, planned({"h100": {**H100, "taint": "nvidia.com/gpu:NoSchedule", "labels": {"a": "b"}}})) == {}
    )


def test_without_the_operator_or_without_its_gpus_there_is_no_file() -> None:
    """A taint of nodes that it never runs on is not its concern."""
    tainted = {"taint": "acme.example/reserved:NoSchedule"}
    assert files(operator, planned({"h100": {**MIG, **tainted}}, {"gpuOperator": {"installed": False}})) == {}
    assert files(operator, planned({"amd": {**AMD, **tainted}, "cpu": {**CPU, **tainted}})) == {}


def test_the_manager_of_layouts_is_told_of_our_file() -> None:
    """By name, since the chart would otherwise make one."""
    found = values(planned({"a100": MIG}))
    assert found["mig"] == {"strategy": "mixed"}
    assert found["migManager"] == {"config": {"create": False, "name": "tenancy-mig-parted", "default": "all-disabled"}}
    assert "devicePlugin" not in found


def test_the_device_plugin_is_told_of_our_file() -> None:
    """With the configuration of nodes that have no label."""
    shared = {**L4, "sharing": {"mps": 4, "acrossDepartments": True}}
    found = values(planned({"l4": shared}, {"gpuOperator": {"migStrategy": "single"}}))
    assert found["mig"] == {"strategy": "single"}
    assert found["devicePlugin"] == {"config": {"create": False, "name": "tenancy-device-plugin", "default": "default"}}
    assert "migManager" not in found


def test_the_device_plugin_is_off_where_all_gpus_are_claimed() -> None:
    """It would hand out once more what the DRA driver hands out; beside other flavors it is needed."""
    claimed = {**H100, "allocation": "dra"}
    assert values(planned({"h100": claimed, "cpu": CPU}))["devicePlugin"] == {"enabled": False}
    assert "devicePlugin" not in values(planned({"h100": claimed, "l4": L4}))


def test_the_operator_tolerates_the_taints_of_its_nodes_and_its_own() -> None:
    """The list replaces the chart's; values do not matter, and taints of nodes without its GPUs neither."""
    plan = planned(
        {
            "a100": {**A100, "taints": ["team=a:NoSchedule", "acme.example/reserved=a:NoExecute"]},
            "h100": {**H100, "taints": ["team=b:NoSchedule", "nvidia.com/gpu:NoSchedule", "soft:PreferNoSchedule"]},
            "cpu": {**CPU, "taint": "acme.example/cpu:NoSchedule"},
            "amd": {**AMD, "taint": "amd.com/gpu:NoSchedule"},
        }
    )
    ours = [given("acme.example/reserved", "NoExecute"), given("team", "NoSchedule")]
    assert values(plan)["daemonsets"]["tolerations"] == [STACK, *ours]
    assert flavor_tolerations(plan) == [STACK, *ours]
    assert flavor_tolerations(plan, ()) == [ours[0], given("nvidia.com/gpu", "NoSchedule"), ours[1]]


def test_feature_discovery_looks_at_every_node() -> None:
    """It knows nodes of every flavor by their names, so that it tolerates the taints of all."""
    plan = planned({"h100": H100, "cpu": {**CPU, "taint": "acme.example/cpu:NoSchedule"}})
    worker = values(plan)["node-feature-discovery"]["worker"]["tolerations"]
    assert worker == [*DEFAULTS["node-feature-discovery.worker.tolerations"], given("acme.example/cpu", "NoSchedule")]
    assert "daemonsets" not in values(plan)


@pytest.mark.parametrize(
    ("flavor", "told"),
    [
        ({**H100, "taint": "acme.example/reserved:NoSchedule"}, True),
        ({**H100, "taint": "acme.example/reserved:PreferNoSchedule"}, True),
        ({**H100, "taint": "acme.example/reserved:NoExecute"}, False),
        ({**H100, "taint": "reserved:NoSchedule"}, False),
        ({**H100, "taint": "acme.example/reserved:NoSchedule", "autoscaling": "karpenter"}, False),
        (MIG, False),
    ],
    ids=["rule", "soft", "no-execute", "no-domain", "karpenter", "no-taint"],
)
def test_feature_discovery_sets_taints_only_where_a_rule_has_one(flavor: dict[str, Any], told: bool) -> None:
    """It refuses taints of rules until it is told to take them."""
    discovery = values(planned({"one": flavor})).get("node-feature-discovery", {})
    assert ("master" in discovery) is told
    assert not told or discovery["master"] == {"config": {"enableTaints": True}}


def test_a_taint_that_something_tolerates_already_is_not_repeated() -> None:
    """Only `Exists` covers every value, and only of its own effect."""
    flavor = planned({"h100": {**H100, "taints": ["a=1:NoSchedule", "b=1:NoSchedule"]}}).flavors["h100"]
    known = [given("a", "NoSchedule"), {"key": "b", "operator": "Equal", "value": "1", "effect": "NoSchedule"}]
    assert tolerations([flavor], known) == [*known, given("b", "NoSchedule")]
    assert tolerations([flavor], [given("a", "NoExecute")])[1:] == [given("a", "NoSchedule"), given("b", "NoSchedule")]


def test_what_the_chart_would_not_take_is_a_fault_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helm passes over it without a word."""
    known = {key: value for key, value in DEFAULTS.items() if key != "mig.strategy"}
    monkeypatch.setattr(operator_rules, "DEFAULTS", known)
    with pytest.raises(Nonconforming, match=r"mig\.strategy: is not a key of the chart"):
        files(operator, planned({"a100": MIG}))


def at(path: str, value: Any) -> dict[str, Any]:
    """Values with one at a path."""
    for key in reversed(path.split(".")):
        value = {key: value}
    found: dict[str, Any] = value
    return found


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (at("mig.stategy", "mixed"), "mig.stategy: is not a key of the chart that we know."),
        (at("devicePlugin.config", "name"), "devicePlugin.config: is not a key"),
        (at("migManager.config.create", "false"), "create: must be of the type of its default, bool."),
        (at("migManager.config.default", "all-balanced"), "takes all-disabled or nothing."),
        (at("mig.strategy", "both"), "mig.strategy: must be one of none, single, mixed."),
        (at("daemonsets.tolerations", STACK), "daemonsets.tolerations.key: is not a key"),
        (at("daemonsets.tolerations", "all"), "daemonsets.tolerations: must be a list of tolerations."),
        (at("daemonsets.tolerations", [given("a", "NoSchedule")]), "lacks its nvidia.com/gpu."),
        (at("daemonsets.tolerations", [STACK, given("a b", "NoSchedule")]), "[1].key: is not the key of a taint."),
        (at("daemonsets.tolerations", [STACK, given("a", "Never")]), "[1].effect: must be one of NoSchedule,"),
        (at("daemonsets.tolerations", [STACK, {**given("a", "NoSchedule"), "value": "b"}]), "[1].operator: must be"),
        (at("daemonsets.tolerations", [STACK, {**given("a", "NoSchedule"), "for": 1}]), "[1].for: is not a field"),
    ],
)
def test_each_mistake_is_named_where_it_stands(found: dict[str, Any], said: str) -> None:
    """A sentence that says the place."""
    assert any(said in each for each in violations(found))


def test_the_defaults_of_the_chart_have_no_violation() -> None:
    """Each of the keys, with the value that the chart has."""
    for path, value in DEFAULTS.items():
        assert violations(at(path, list(value) if isinstance(value, tuple) else value)) == []
