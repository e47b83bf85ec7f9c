"""The laws of the node layer, on random organizations: what is written for one tool agrees with what the others get.

The files are read as their readers read them: text out of `out/`, by the names that the tools look for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings

from tenancy.backend import items
from tenancy.model.hardware import Taint
from tenancy.pipeline import generate
from tenancy.plan import plan
from tenancy.plan.nodes import MIG_CONFIG, PLUGIN_CONFIG
from tenancy.plan.values import ClusterPlan
from tests.examples import often
from tests.node_strategies import node_organizations
from tests.orgs import organized

SETTINGS = settings(max_examples=often(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
STACK = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
"""What the charts tolerate by themselves."""


def _clusters(tree: dict[str, Any]) -> Iterator[tuple[ClusterPlan, dict[str, str]]]:
    """Each cluster with its files below `platform/`."""
    org = organized(tree)
    files = generate(org, {})
    for cluster in plan(org):
        prefix = f"{cluster.name}/platform/"
        yield cluster, {path.removeprefix(prefix): text for path, text in files.items() if path.startswith(prefix)}


def _objects(files: Mapping[str, str], name: str) -> list[dict[str, Any]]:
    return [each for each in yaml.load_all(files.get(name, ""), yaml.CSafeLoader) if each]


def _tolerated(taint: Taint, tolerations: list[dict[str, str]]) -> bool:
    """Kubernetes' own rule (core/v1 helper ToleratesTaint)."""
    return any(
        each.get("effect", taint.effect) == taint.effect
        and each.get("key", taint.key) == taint.key
        and (each.get("operator", "Equal") == "Exists" or each.get("value", "") == taint.value)
        for each in tolerations
    )


@SETTINGS
@given(node_organizations())
def test_tolerations_close_over_taints(tree: dict[str, Any]) -> None:
    """Every taint that keeps pods off a node with NVIDIA's GPUs is tolerated by all that must run there."""
    for cluster, files in _clusters(tree):
        (values,) = _objects(files, "gpu-operator-values.yaml") or [{}]
        daemons = values.get("daemonsets", {}).get("tolerations", [STACK])
        workers = values.get("node-feature-discovery", {}).get("worker", {}).get("tolerations", [STACK])
        for name, flavor in cluster.flavors.items():
            if flavor.gpu is not None:
                hard = [taint for taint in cluster.nodes[name].taints if taint.keeps_out]
                assert [taint for taint in hard if not _tolerated(taint, daemons)] == []
                assert [taint for taint in hard if not _tolerated(taint, workers)] == []


@SETTINGS
@given(node_organizations())
def test_labels_name_configurations_that_exist(tree: dict[str, Any]) -> None:
    """Every configuration that a node is to be labelled with is in the file that its reader is told to read."""
    for cluster, files in _clusters(tree):
        layouts, plugins = _layouts(files), _plugins(files)
        pools = {each["metadata"]["name"]: each for each in _objects(files, "node-pools.yaml")}
        for nodes in cluster.nodes.values():
            wanted = dict(nodes.uniform_labels)
            if nodes.karpenter is not None:
                wanted = pools[nodes.flavor]["spec"]["template"]["metadata"]["labels"]
            assert {config.name for config in nodes.mig} <= layouts.keys()
            assert {wanted[key] for key in (MIG_CONFIG,) if key in wanted} <= layouts.keys()
            assert {wanted[key] for key in (PLUGIN_CONFIG,) if key in wanted} <= plugins.keys()


@SETTINGS
@given(node_organizations())
def test_the_layouts_come_to_what_is_installed(tree: dict[str, Any]) -> None:
    """The instances of mig-parted's file, over all GPUs and nodes, are the slices that budgets are checked against."""
    for cluster, files in _clusters(tree):
        layouts = _layouts(files)
        single = cluster.cluster.gpu_operator.mig_strategy == "single"
        for name, flavor in cluster.flavors.items():
            found: dict[str, int] = {}
            for config in cluster.nodes[name].mig:
                for resource, count in _offered(layouts[config.name], flavor.node["gpus"], single=single).items():
                    found[resource] = found.get(resource, 0) + count * config.nodes
            if found:
                assert found == {main: flavor.installed[main] for main in flavor.mains}


@SETTINGS
@given(node_organizations())
def test_every_label_and_taint_has_a_hand_that_sets_it(tree: dict[str, Any]) -> None:
    """Rules and pools set only what the plan says; what they leave is what `tenancy nodes` is for."""
    for cluster, files in _clusters(tree):
        rules = {each["metadata"]["name"]: each["spec"]["rules"] for each in _objects(files, "node-features.yaml")}
        for name, nodes in cluster.nodes.items():
            wanted = {(taint.key, taint.value, taint.effect) for taint in nodes.taints}
            for rule in rules.get(name, ()):
                assert rule.get("labels", {}).items() <= nodes.labels.items()
                taints = [(each["key"], each.get("value", ""), each["effect"]) for each in rule.get("taints", ())]
                assert set(taints) <= wanted
                assert all("/" in key and not key.split("/")[0].endswith("kubernetes.io") for key, _, _ in taints)
                assert MIG_CONFIG not in rule.get("labels", {})


@SETTINGS
@given(node_organizations())
def test_no_two_things_of_a_flavor_share_a_name(tree: dict[str, Any]) -> None:
    """Each thing that budgets of a flavor count is another resource, and no file is written twice."""
    for cluster in plan(organized(tree)):
        for flavor in cluster.flavors.values():
            names = [device.resource for device in flavor.devices]
            assert len(names) == len(set(names))
        paths = [item.path for item in items(cluster)]
        assert len(paths) == len(set(paths))


def _layouts(files: Mapping[str, str]) -> dict[str, Any]:
    return dict(_data(files, "mig.yaml", "config.yaml").get("mig-configs", {}))


def _plugins(files: Mapping[str, str]) -> dict[str, Any]:
    objects = _objects(files, "device-plugin.yaml")
    return dict(objects[0]["data"]) if objects else {}


def _data(files: Mapping[str, str], name: str, key: str) -> dict[str, Any]:
    objects = _objects(files, name)
    return dict(yaml.load(objects[0]["data"][key], yaml.CSafeLoader)) if objects else {}


def _offered(entries: list[dict[str, Any]], gpus: int, *, single: bool) -> dict[str, int]:
    """What a node with this layout offers, as the device plugin names it."""
    found: dict[str, int] = {}
    for entry in entries:
        devices = gpus if entry["devices"] == "all" else len(entry["devices"])
        for profile, count in (entry["mig-devices"] if entry["mig-enabled"] else {"": 1}).items():
            whole = single or not profile
            resource = "nvidia.com/gpu" if whole else f"nvidia.com/mig-{profile.replace('+', '.')}"
            found[resource] = found.get(resource, 0) + devices * count
    return found
