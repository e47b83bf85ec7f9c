"""A Kueue manager about to start, and the rules of its feature gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenancy.backend.kueue.configuration_values import value_at

# Which gates each gate needs while it is on. A gate that a minor does not know is off there.
_NEEDS = {
    "ElasticJobsViaWorkloadSlicesWithTAS": ("ElasticJobsViaWorkloadSlices", "TopologyAwareScheduling"),
    "KueueDRAIntegrationConsumableCapacity": ("KueueDRAIntegration",),
    "KueueDRAIntegrationExtendedResource": ("KueueDRAIntegration",),
    "KueueDRAIntegrationPartitionableDevices": ("KueueDRAIntegration",),
    "TASBalancedPlacement": ("TopologyAwareScheduling",),
    "TASFailedNodeReplacement": ("TopologyAwareScheduling",),
    "TASFailedNodeReplacementFailFast": ("TopologyAwareScheduling", "TASFailedNodeReplacement"),
    "TASHandleOverlappingFlavors": ("TopologyAwareScheduling",),
    "TASMultiLayerTopology": ("TopologyAwareScheduling",),
    "TASProfileMixed": ("TopologyAwareScheduling",),
    "TASRecomputeAssignmentWithinSchedulingCycle": ("TopologyAwareScheduling",),
    "TASReplaceNodeDueToNotReadyOverFixedTime": ("TopologyAwareScheduling", "TASFailedNodeReplacement"),
    "TASReplaceNodeOnNodeTaints": ("TopologyAwareScheduling",),
    "TASReplaceNodeOnPodTermination": ("TopologyAwareScheduling", "TASFailedNodeReplacement"),
    "TASRespectNodeAffinityPreferred": ("TopologyAwareScheduling",),
    "UnadmittedWorkloadsExplicitStatus": ("UnadmittedWorkloadsObservability",),
}


@dataclass(frozen=True, slots=True)
class Gate:
    """A feature gate of one minor: `stage` is alpha, beta, GA or deprecated; a locked gate keeps its default."""

    default: bool
    locked: bool
    stage: str


@dataclass(frozen=True, slots=True)
class Start:
    """A manager about to start: its Configuration (v1beta2), its minor, and the gates it knows."""

    configuration: Mapping[str, Any]
    minor: str
    gates: Mapping[str, Gate]

    def at(self, path: str) -> Any:
        """The value at a dotted path, None where it or a section above it is absent."""
        return value_at(self.configuration, path)

    def enabled(self, name: str) -> bool:
        """Whether a gate is on; one that the minor does not know is off. AllAlpha and AllBeta move what is unset."""
        stated: Mapping[str, bool] = self.at("featureGates") or {}
        gate = self.gates.get(name)
        if name in stated or gate is None:
            return bool(stated.get(name))
        group = {"alpha": "AllAlpha", "beta": "AllBeta"}.get(gate.stage, "")
        return gate.default if gate.locked else bool(stated.get(group, gate.default))


def known_gates(start: Start) -> Iterator[str]:
    """Every stated gate is known, and a locked one has its default."""
    for name, value in (start.at("featureGates") or {}).items():
        gate = start.gates.get(name)
        if gate is None and name not in ("AllAlpha", "AllBeta"):
            yield f"featureGates.{name}: Kueue {start.minor} does not know this feature gate."
        elif gate is not None and gate.locked and bool(value) != gate.default:
            yield f"featureGates.{name}: is locked to {str(gate.default).lower()} in Kueue {start.minor}."


def gate_dependencies(start: Start) -> Iterator[str]:
    """Every gate that is on has the gates it needs."""
    if start.minor == "0.17":
        return  # 0.17.0 looks at the dependencies before it sets the gates, so that none of them can fail.
    for name, needed in _NEEDS.items():
        for other in needed:
            if start.enabled(name) and not start.enabled(other):
                yield f"featureGates.{name}: needs the gate {other}, which is off."
