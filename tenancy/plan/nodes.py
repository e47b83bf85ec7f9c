"""What the nodes of each flavor carry: how they are found, their labels and taints, and how their GPUs are divided.

One answer for everything that makes nodes so: NodeFeatureRules, NodePools, the MIG manager's file, the device plugin's
file, and `tenancy nodes`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tenancy.model.devices import SHARED
from tenancy.model.document import Autoscaling, Flavor, Organization
from tenancy.model.document_hardware import Karpenter, ProvisioningRequest
from tenancy.model.hardware import Hardware, Kind, Taint

MIG_CONFIG: Final = "nvidia.com/mig.config"
"""The node label that the MIG manager reads: the name of a configuration."""
PLUGIN_CONFIG: Final = "nvidia.com/device-plugin.config"
"""The node label that the device plugin reads: the name of a configuration."""
PLUGIN_DEPLOYED: Final = "nvidia.com/gpu.deploy.device-plugin"
"""The node label by which the GPU operator deploys the device plugin; it sets `true` only where there is none
(`addGPUStateLabels` in its controllers/state_manager.go)."""
NODE_GROUP: Final = "volcano.sh/nodegroup-name"
"""The node label that Volcano's plugin nodegroup reads: the flavor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How nodes of a flavor are told from others: by names, else by labels, else by the board.

    All empty: nothing tells them, until they carry the flavor's own label.
    """

    names: tuple[str, ...] = ()
    """Patterns with `*` for any text."""
    labels: Mapping[str, str]
    """Labels that the nodes have by themselves, as the organization wrote them; empty for the flavor's own."""
    products: tuple[str, ...] = ()
    """Values of `nvidia.com/gpu.product`, where no other flavor of the cluster has the board."""
    pci_ids: tuple[str, ...] = ()
    """PCI device ids of vendor 10DE, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigEntry:
    """GPUs of a node with one layout."""

    devices: tuple[int, ...]
    """Their indexes; empty for all."""
    profiles: Mapping[str, int]
    """Instances of each GPU by profile; empty for whole GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigConfig:
    """A configuration of mig-parted: the layouts of all GPUs of a node."""

    name: str
    """The value of the node label. It ends in a digest: the MIG manager acts on a new label only, not on a new file."""
    nodes: int
    """On how many nodes of the flavor."""
    entries: tuple[MigEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginConfig:
    """A configuration of NVIDIA's device plugin: GPUs in shares."""

    name: str
    """The value of the node label; it ends in a digest."""
    strategy: str
    """`timeSlicing` or `mps`."""
    replicas: int
    resources: tuple[str, ...]
    """The resources before sharing, such as `nvidia.com/gpu`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorNodes:
    """What each node of a flavor carries."""

    flavor: str
    match: Match
    labels: Mapping[str, str]
    """Labels to set on every node, without those that it has by itself and those of the configurations below."""
    taints: tuple[Taint, ...]
    mig: tuple[MigConfig, ...] = ()
    """One for all nodes, or one for each share of the nodes; empty without MIG."""
    plugin: PluginConfig | None = None
    karpenter: Karpenter | None = None
    """How Karpenter makes them; None where it does not."""
    provisioning_class: str = ""
    """Of the ProvisioningRequests by which Kueue asks for them; empty where it does not."""

    @property
    def uniform_labels(self) -> Mapping[str, str]:
        """Every label that all nodes of the flavor get alike."""
        mig = {MIG_CONFIG: self.mig[0].name} if len(self.mig) == 1 else {}
        plugin = {PLUGIN_CONFIG: self.plugin.name} if self.plugin else {}
        return {**self.labels, **mig, **plugin}


def flavor_nodes(document: Organization, cluster: str, flavors: Mapping[str, Hardware]) -> dict[str, FlavorNodes]:
    """The nodes of every flavor of a cluster, by flavor."""
    written = document.clusters[cluster]
    operated = written.gpu_operator.installed
    found = {}
    for name, flavor in flavors.items():
        source = document.flavors[name]
        own = {} if source.labels is not None else dict(flavor.labels)
        group = {NODE_GROUP: name} if written.scheduler == "volcano" else {}
        # Both would hand out the same GPUs.
        unplugged = {PLUGIN_DEPLOYED: "false"} if operated and flavor.claimed else {}
        found[name] = FlavorNodes(
            flavor=name,
            match=_match(source, flavor, flavors),
            labels={**own, **group, **unplugged},
            taints=flavor.taints,
            mig=_mig(flavor) if operated else (),
            plugin=_plugin(source, flavor, written.gpu_operator.mig_strategy) if operated else None,
            karpenter=_karpenter(source) if flavor.autoscaler == "karpenter" else None,
            provisioning_class=_provisioning_class(source) if flavor.autoscaler == "provisioning-request" else "",
        )
    return found


def _karpenter(source: Flavor) -> Karpenter:
    written = source.autoscaling.karpenter if isinstance(source.autoscaling, Autoscaling) else None
    return written or Karpenter()


def _provisioning_class(source: Flavor) -> str:
    written = source.autoscaling.provisioning_request if isinstance(source.autoscaling, Autoscaling) else None
    return (written or ProvisioningRequest()).provisioning_class


def _match(source: Flavor, flavor: Hardware, flavors: Mapping[str, Hardware]) -> Match:
    """The board tells nodes apart only where no other flavor has it."""
    alone = flavor.gpu is not None and sum(other.gpu == flavor.gpu for other in flavors.values()) == 1
    return Match(
        names=tuple(source.node_names or ()),
        labels=dict(source.labels or {}),
        products=flavor.gpu.products if flavor.gpu and alone else (),
        pci_ids=flavor.gpu.pci_ids if flavor.gpu and alone else (),
    )


def _mig(flavor: Hardware) -> tuple[MigConfig, ...]:
    """A configuration for each kind of nodes."""
    return tuple(_config(flavor, kind) for kind in flavor.kinds) if flavor.divided else ()


def _config(flavor: Hardware, kind: Kind) -> MigConfig:
    entries, first = [], 0
    for index in kind.layouts:
        layout = flavor.layouts[index]
        devices = () if len(kind.layouts) == 1 else tuple(range(first, first + layout.gpus))
        entries.append(MigEntry(devices=devices, profiles=dict(sorted(layout.profiles.items()))))
        first += layout.gpus
    digest = _digest([[entry.devices, entry.profiles] for entry in entries])
    return MigConfig(name=_named(flavor, digest), nodes=kind.nodes, entries=tuple(entries))


def _plugin(source: Flavor, flavor: Hardware, strategy: str) -> PluginConfig | None:
    if flavor.shares == 1 or source.sharing is None or flavor.gpu is None:
        return None
    how = "mps" if source.sharing.mps else "timeSlicing"
    resources = tuple(sorted({device.resource.removesuffix(SHARED) for device in flavor.devices}))
    digest = _digest([how, flavor.shares, resources, strategy])
    return PluginConfig(name=_named(flavor, digest), strategy=how, replicas=flavor.shares, resources=resources)


def stem(flavor: str) -> str:
    """What the names of a flavor's configurations begin with: the value of a label has at most 63 characters."""
    return flavor[:54].rstrip("-.")


def _named(flavor: Hardware, digest: str) -> str:
    return f"{stem(flavor.name)}-{digest}"


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
