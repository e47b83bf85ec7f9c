"""A cluster without a scheduler of queues: nothing to configure, nothing of its own to remove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenancy.plan.values import ClusterPlan
from tests.cluster.plane import Cluster

WORK: Final[tuple[str, ...]] = ()
RETRIES: Final = 0


def install(cluster: Cluster, minor: str) -> None:
    """Everything is there."""
    del cluster, minor


def configuration(files: Mapping[str, str]) -> dict[str, Any]:
    """Nothing."""
    del files
    return {}


def configure(cluster: Cluster, configuration: dict[str, Any]) -> None:
    """Kubernetes runs as it is."""
    del cluster, configuration


def inactive(cluster: Cluster, plan: ClusterPlan) -> dict[str, str]:
    """There are no queues."""
    del cluster, plan
    return {}


def emptied(cluster: Cluster) -> bool:
    """It has no kinds."""
    del cluster
    return True
