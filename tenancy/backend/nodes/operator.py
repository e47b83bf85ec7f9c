"""Values for NVIDIA's GPU operator chart: which files its parts read, and which taints they tolerate.

The operator must not lock itself out of nodes that are reserved, and its parts are told of our files by name. All other
values are the platform's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenancy.backend.manifest import Nonconforming, Page
from tenancy.backend.nodes.features import sets
from tenancy.backend.nodes.mig import DISABLED, MIG_PARTED
from tenancy.backend.nodes.operator_rules import DEFAULTS, violations
from tenancy.backend.nodes.plugin import DEVICE_PLUGIN
from tenancy.backend.nodes.plugin_rules import DEFAULT
from tenancy.backend.nodes.tolerations import flavor_tolerations, tolerations
from tenancy.plan.values import ClusterPlan

_DAEMONS = "daemonsets.tolerations"
_DISCOVERY = "node-feature-discovery"
_WORKER = f"{_DISCOVERY}.worker.tolerations"


def operator(plan: ClusterPlan) -> Iterator[Page]:
    """The values, where the operator runs and those of its chart would not do.

    Raises Nonconforming where it would not take ours.
    """
    written = plan.cluster.gpu_operator
    if not written.installed or not any(flavor.nvidia for flavor in plan.flavors.values()):
        return
    parts = {**_files(plan), **_daemons(plan), **_discovery(plan)}
    if not parts:
        return
    values = {"mig": {"strategy": written.mig_strategy}, **parts}
    if found := violations(values):
        raise Nonconforming(f"the GPU operator would not take its values: {'; '.join(found)}")
    shown = {"values": values, "discovery": _DISCOVERY, "namespace": written.namespace}
    yield Page("platform/gpu-operator-values.yaml", "nodes/gpu-operator-values.yaml.j2", shown)


def _files(plan: ClusterPlan) -> dict[str, Any]:
    """The ConfigMaps that the MIG manager and the device plugin read; the chart must not make them.

    Without the device plugin, for claims, the validator does not wait for its resources (TransformValidatorComponent).
    """
    values: dict[str, Any] = {}
    if any(nodes.mig for nodes in plan.nodes.values()):
        values["migManager"] = {"config": {"create": False, "name": MIG_PARTED, "default": DISABLED}}
    if any(nodes.plugin for nodes in plan.nodes.values()):
        config = {"create": False, "name": DEVICE_PLUGIN, "default": DEFAULT}
        values["devicePlugin"] = {"config": config}
    elif all(flavor.claimed for flavor in plan.flavors.values() if flavor.nvidia):
        # It would hand out once more what pods get by claims.
        values["devicePlugin"] = {"enabled": False}
    return values


def _daemons(plan: ClusterPlan) -> dict[str, Any]:
    tolerated = flavor_tolerations(plan, DEFAULTS[_DAEMONS])
    return {"daemonsets": {"tolerations": tolerated}} if len(tolerated) > len(DEFAULTS[_DAEMONS]) else {}


def _discovery(plan: ClusterPlan) -> dict[str, Any]:
    """Node Feature Discovery looks at every node, whatever its flavor, and sets no taint unless it is told to."""
    tainting = any(sets(plan, name).taints for name in plan.flavors)
    master = {"master": {"config": {"enableTaints": True}}} if tainting else {}
    tolerated = tolerations(plan.flavors.values(), DEFAULTS[_WORKER])
    worker = {"worker": {"tolerations": tolerated}} if len(tolerated) > len(DEFAULTS[_WORKER]) else {}
    return {_DISCOVERY: {**master, **worker}} if master or worker else {}
