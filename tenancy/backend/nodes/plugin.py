"""The file of NVIDIA's device plugin: which GPUs are handed out in shares, and in how many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tenancy.backend.manifest import Embedded, Manifest, Nonconforming
from tenancy.backend.nodes.plugin_rules import DEFAULT, VERSION, violations
from tenancy.backend.shared.metadata import obj
from tenancy.plan.nodes import PluginConfig
from tenancy.plan.values import ClusterPlan

DEVICE_PLUGIN: Final = "tenancy-device-plugin"


def plugin(plan: ClusterPlan) -> Iterator[Manifest]:
    """The ConfigMap, where a flavor of the cluster is shared: a key for each configuration, and one without sharing."""
    if not any(nodes.plugin for nodes in plan.nodes.values()):
        return
    data = {key: Embedded(config) for key, config in _configs(plan).items()}
    namespace = plan.cluster.gpu_operator.namespace
    yield Manifest(
        "platform/device-plugin.yaml",
        (obj("v1", "ConfigMap", DEVICE_PLUGIN, plan.labels, namespace=namespace, data=data),),
    )


def _configs(plan: ClusterPlan) -> dict[str, Any]:
    """By key. Raises Nonconforming where the plugin would not share as they say."""
    whole = {"version": VERSION, "flags": {"migStrategy": plan.cluster.gpu_operator.mig_strategy}}
    shared = [nodes.plugin for nodes in plan.nodes.values() if nodes.plugin]
    configs: dict[str, Any] = {DEFAULT: whole}
    configs |= {config.name: {**whole, "sharing": _sharing(config)} for config in shared}
    if found := violations(configs):
        raise Nonconforming(f"the device plugin would not share as its file says: {'; '.join(found)}")
    return configs


def _sharing(config: PluginConfig) -> dict[str, Any]:
    """Shares have a name of their own, and a pod takes one of them: two need not be of two GPUs."""
    resources = [{"name": name, "replicas": config.replicas} for name in config.resources]
    return {
        config.strategy: {
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": resources,
        }
    }
