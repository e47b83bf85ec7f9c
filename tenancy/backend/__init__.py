"""Backends: functions from a cluster's plan to files of objects and documents, and back from objects to promises.

Adding one: a package with `compile`, `parity`, `waiting` and `reading`, and its line in each registry below. What makes
the nodes what the flavors say (`nodes/`), and fairness among clients of the API server, is the same under each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from tenancy.backend import kueue, losses, native, nodes, telemetry, volcano
from tenancy.backend.kueue import parity as kueue_parity
from tenancy.backend.kueue import reading as kueue_reading
from tenancy.backend.kueue import waiting as kueue_waiting
from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.backend.native import losses as native_losses
from tenancy.backend.native import parity as native_parity
from tenancy.backend.native import reading as native_reading
from tenancy.backend.native import waiting as native_waiting
from tenancy.backend.parity import Answers, Loss
from tenancy.backend.reading import UnitReading
from tenancy.backend.shared import fairness
from tenancy.backend.shared import losses as shared_losses
from tenancy.backend.volcano import losses as volcano_losses
from tenancy.backend.volcano import parity as volcano_parity
from tenancy.backend.volcano import reading as volcano_reading
from tenancy.backend.volcano import waiting as volcano_waiting
from tenancy.backend.waiting import Waiting
from tenancy.diagnostics import Rule
from tenancy.plan.values import ClusterPlan

Backend: TypeAlias = Callable[[ClusterPlan], Iterator[Manifest | Page]]

BACKENDS: Final[Mapping[str, Backend]] = {
    "kueue": kueue.compile,
    "volcano": volcano.compile,
    "native": native.compile,
}
"""By the `scheduler` of a cluster."""

PARITIES: Final[Mapping[str, Answers]] = {
    "kueue": kueue_parity.ANSWERS,
    "volcano": volcano_parity.ANSWERS,
    "native": native_parity.ANSWERS,
}
"""By the `scheduler` of a cluster: what becomes of each promise. Under Kueue, the reference, none is lost."""

LOSSES: Final[tuple[Loss, ...]] = (*shared_losses.RULES, *volcano_losses.RULES, *native_losses.RULES)
"""What the schedulers do not keep, each with its code."""

CODES: Final = tuple(loss.code for loss in LOSSES)

RULES: Final[tuple[Rule, ...]] = (*LOSSES, *losses.RULES)
"""The losses, and what is wrong with accepting them."""

WAITING: Final[Mapping[str, Waiting]] = {
    "kueue": kueue_waiting.WAITING,
    "volcano": volcano_waiting.WAITING,
    "native": native_waiting.WAITING,
}
"""By the `scheduler` of a cluster: what becomes of a job."""

Reader: TypeAlias = Callable[[Iterable[Object]], list[UnitReading]]

READERS: Final[tuple[Reader, ...]] = (kueue_reading.units, volcano_reading.units, native_reading.units)
"""Each reads the units of one cluster out of the objects of its own kinds and ignores all others."""

KINDS: Final = ("Cohort", "ClusterQueue", "Queue", "Namespace", "ResourceQuota")
"""The kinds that they read."""

_OWN_KINDS: Final[Mapping[str, str]] = {"ClusterQueue": "kueue", "Queue": "volcano"}
"""Kinds that show the scheduler; without one there are no queues."""


def items(plan: ClusterPlan) -> Iterator[Manifest | Page]:
    """All files of a cluster: its scheduler's, those of its nodes, that of its API server, and what is measured."""
    yield from BACKENDS[plan.cluster.scheduler](plan)
    yield from nodes.compile(plan)
    yield from fairness.manifests(plan)
    yield from telemetry.compile(plan)


def units(objects: Iterable[Object]) -> list[UnitReading]:
    """The units that the objects of one cluster state, whichever backend wrote them, sorted by title."""
    every = list(objects)
    return sorted((unit for read in READERS for unit in read(every)), key=lambda unit: (unit.title, unit.shared))


def scheduler(objects: Iterable[Object]) -> str:
    """The scheduler that the objects of one cluster are written for, by the kinds that it alone has."""
    kinds = {obj.get("kind") for obj in objects}
    return next((name for kind, name in _OWN_KINDS.items() if kind in kinds), "native")
