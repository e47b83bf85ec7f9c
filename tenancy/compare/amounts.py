"""Amounts and lists of names as people read them in a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenancy.model.devices import SHARED
from tenancy.model.hardware import CPU
from tenancy.model.quantity import human

FEW: Final = 3
"""Names that a line lists before it counts the rest."""


def measure(resource: str) -> str:
    """What amounts of the resource count: `GPUs`, a MIG profile, `GPU shares`, `1g.10gb shares`, `cores`, `memory`."""
    name = resource.rpartition("/")[2]
    whole = name.removesuffix(SHARED)
    if whole != name:
        return f"{whole.upper() if whole == 'gpu' else whole.removeprefix('mig-')} shares"
    return {"gpu": "GPUs", CPU: "cores"}.get(name, name.removeprefix("mig-"))


def shown(amount: int, resource: str) -> str:
    """An amount without what `measure` says already."""
    return human(amount, resource).removesuffix(" cores").removesuffix(" core")


def few(names: Sequence[str], most: int = FEW, between: str = ", ") -> str:
    """The first names, and how many more there are; one more than `most` is shown, since counting it saves nothing."""
    if len(names) <= most + 1:
        return between.join(names)
    return f"{between.join(names[:most])} and {len(names) - most} more"
