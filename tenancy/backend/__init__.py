"""Backends: functions from a cluster's plan to files of objects and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from tenancy.backend import kueue
from tenancy.backend.manifest import Manifest, Page
from tenancy.plan.values import ClusterPlan

Backend: TypeAlias = Callable[[ClusterPlan], Iterator[Manifest | Page]]

BACKENDS: Final[Mapping[str, Backend]] = {"kueue": kueue.compile}
"""By the `scheduler` of a cluster."""
