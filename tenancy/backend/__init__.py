"""Backends: functions from a cluster's plan to files of objects and documents, and back from objects to promises.

Adding one: a package with `compile`, `reading` and `parity`, and its line in each registry below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from tenancy.backend import kueue, native, volcano
from tenancy.backend.kueue import parity as kueue_parity
from tenancy.backend.kueue import reading as kueue_reading
from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.backend.native import parity as native_parity
from tenancy.backend.parity import Parity
from tenancy.backend.reading import UnitReading
from tenancy.backend.volcano import parity as volcano_parity
from tenancy.diagnostics import Rule
from tenancy.plan.values import ClusterPlan

Backend: TypeAlias = Callable[[ClusterPlan], Iterator[Manifest | Page]]

BACKENDS: Final[Mapping[str, Backend]] = {
    "kueue": kueue.compile,
    "volcano": volcano.compile,
    "native": native.compile,
}
"""By the `scheduler` of a cluster."""

PARITIES: Final[Mapping[str, Parity]] = {
    "kueue": kueue_parity.parity,
    "volcano": volcano_parity.parity,
    "native": native_parity.parity,
}
"""By the `scheduler` of a cluster: what becomes of each promise."""

LOSSES: Final[tuple[Rule, ...]] = (*kueue_parity.RULES, *volcano_parity.RULES, *native_parity.RULES)
"""What the schedulers do not keep, each with its code."""

Reader: TypeAlias = Callable[[Iterable[Object]], list[UnitReading]]

READERS: Final[tuple[Reader, ...]] = (kueue_reading.units,)
"""Each reads the units of one cluster out of the objects of its own kinds and ignores all others."""


def units(objects: Iterable[Object]) -> list[UnitReading]:
    """The units that the objects of one cluster state, whichever backend wrote them, sorted by title."""
    every = list(objects)
    return sorted((unit for read in READERS for unit in read(every)), key=lambda unit: (unit.title, unit.shared))
