"""Amounts as people read them in a plan."""

from __future__ import annotations

from tenancy.model.hardware import CPU
from tenancy.model.quantity import human


def measure(resource: str) -> str:
    """What amounts of the resource count: `GPUs`, a MIG profile, `cores`, `memory`."""
    name = resource.rpartition("/")[2]
    return {"gpu": "GPUs", CPU: "cores"}.get(name, name.removeprefix("mig-"))


def shown(amount: int, resource: str) -> str:
    """An amount without what `measure` says already."""
    return human(amount, resource).removesuffix(" cores").removesuffix(" core")
