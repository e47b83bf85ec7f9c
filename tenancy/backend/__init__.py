"""Backends: functions from a cluster's plan to files of objects and documents, and back from objects to promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from tenancy.backend import kueue
from tenancy.backend.kueue import reading as kueue_reading
from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.backend.reading import UnitReading
from tenancy.plan.values import ClusterPlan

Backend: TypeAlias = Callable[[ClusterPlan], Iterator[Manifest | Page]]

BACKENDS: Final[Mapping[str, Backend]] = {"kueue": kueue.compile}
"""By the `scheduler` of a cluster."""

Reader: TypeAlias = Callable[[Iterable[Object]], list[UnitReading]]

READERS: Final[tuple[Reader, ...]] = (kueue_reading.units,)
"""Each reads the units of one cluster out of the objects of its own kinds and ignores all others."""


def units(objects: Iterable[Object]) -> list[UnitReading]:
    """The units that the objects of one cluster state, whichever backend wrote them, sorted by title."""
    every = list(objects)
    return sorted((unit for read in READERS for unit in read(every)), key=lambda unit: (unit.title, unit.shared))
