"""The file of NVIDIA's MIG manager: how the GPUs of each flavor are divided.

A file of one's own replaces NVIDIA's, so that it repeats the two configurations that the operator itself asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tenancy.backend.manifest import Embedded, Manifest, Nonconforming
from tenancy.backend.nodes.mig_rules import VERSION, violations
from tenancy.backend.shared.metadata import obj
from tenancy.model.hardware import Hardware
from tenancy.plan.nodes import MigConfig
from tenancy.plan.values import ClusterPlan

MIG_PARTED: Final = "tenancy-mig-parted"
KEY: Final = "config.yaml"
"""Of its data: what the MIG manager's pod is told to read (gpu-operator, TransformMIGManager)."""
DISABLED: Final = "all-disabled"
"""The configuration that the operator sets on nodes without one."""
ENABLED: Final = "all-enabled"
MIG_NODES: Final = "mig-nodes"
"""The annotation."""
_VENDOR: Final = "10DE"


def mig(plan: ClusterPlan) -> Iterator[Manifest]:
    """The ConfigMap, where a flavor of the cluster is divided."""
    if not any(nodes.mig for nodes in plan.nodes.values()):
        return
    content = Embedded(_file(plan))
    config_map = obj(
        "v1",
        "ConfigMap",
        MIG_PARTED,
        plan.labels,
        namespace=plan.cluster.gpu_operator.namespace,
        annotations=_numbers(plan),
        data={KEY: content},
    )
    yield Manifest("platform/mig.yaml", (config_map,))


def _numbers(plan: ClusterPlan) -> dict[str, str]:
    """Of flavors with several layouts: on how many nodes each is. Only the plan of a change reads it."""
    split = (nodes.mig for nodes in plan.nodes.values() if len(nodes.mig) > 1)
    numbers = [f"{config.name}={config.nodes}" for configs in split for config in configs]
    return {f"{plan.domain}/{MIG_NODES}": ",".join(numbers)} if numbers else {}


def _file(plan: ClusterPlan) -> dict[str, Any]:
    """The content. Raises Nonconforming where mig-parted would not do what it says."""
    divided = {name: plan.flavors[name] for name, nodes in plan.nodes.items() if nodes.mig}
    several = len({flavor.gpu.name for flavor in divided.values() if flavor.gpu}) > 1
    configs: dict[str, Any] = {
        DISABLED: [{"devices": "all", "mig-enabled": False}],
        ENABLED: [{"devices": "all", "mig-enabled": True, "mig-devices": {}}],
    }
    for name, flavor in divided.items():
        ids = _ids(flavor) if several else []
        configs |= {config.name: _entries(config, ids) for config in plan.nodes[name].mig}
    file = {"version": VERSION, "mig-configs": configs}
    if found := violations(file):
        raise Nonconforming(f"mig-parted would not make the layouts of its file: {'; '.join(found)}")
    return file


def _ids(flavor: Hardware) -> list[str]:
    """The board as mig-parted tells it: then a label on the wrong node fails, and divides no GPU in a wrong way."""
    return [f"0x{each.upper()}{_VENDOR}" for each in (flavor.gpu.pci_ids if flavor.gpu else ())]


def _entries(config: MigConfig, ids: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "devices": list(entry.devices) or "all",
            **({"device-filter": ids} if ids else {}),
            "mig-enabled": bool(entry.profiles),
            "mig-devices": {profile: count for profile, count in entry.profiles.items() if count},
        }
        for entry in config.entries
    ]
