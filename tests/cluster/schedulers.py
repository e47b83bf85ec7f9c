"""What the test bed must know of each scheduler: how it is configured, what its queues say, what is to be removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from tenancy.plan.values import ClusterPlan
from tests.cluster import manager, native, volcano
from tests.cluster.plane import Cluster


class Scheduler(Protocol):
    """A module of the test bed."""

    @property
    def WORK(self) -> tuple[str, ...]:
        """Paths of the work that people run in a namespace, beside pods and jobs, with `{}` for the namespace."""

    @property
    def RETRIES(self) -> int:
        """How often a wave of objects that is partly refused is applied again."""

    def install(self, cluster: Cluster, minor: str) -> None:
        """Put it on a new control plane."""

    def configuration(self, files: Mapping[str, str]) -> dict[str, Any]:
        """What a cluster's files in `out/`, by their path there, configure."""

    def configure(self, cluster: Cluster, configuration: dict[str, Any]) -> None:
        """Start it with a configuration, or start it anew where that differs."""

    def inactive(self, cluster: Cluster, plan: ClusterPlan) -> dict[str, str]:
        """What it says of each queue that is not as the plan has it."""

    def emptied(self, cluster: Cluster) -> bool:
        """Remove every object of its kinds outside namespaces, as far as that goes now; whether none is left."""


SCHEDULERS: Final[Mapping[str, Scheduler]] = {"kueue": manager, "volcano": volcano, "native": native}
"""By the `scheduler` of a cluster."""
