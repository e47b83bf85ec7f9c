"""A unit as the objects of a backend state it: what a plan compares, whichever scheduler it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenancy.plan.values import Quotas


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitReading:
    """A unit with its promises, read back from out/."""

    title: str
    """The unit's path joined by `/`; empty for the organization."""
    queue: str
    parent: str
    """The name of the inner unit above; empty for the organization."""
    inner: bool
    shared: bool
    """Whether it is the queue of a team's projects without budgets, which bears the team's title."""
    quotas: Quotas
    """In base units, as far as the object says: a queue is silent about flavors that it never reaches."""
    weight: str
    state: str
    """`active`, `held` or `draining`; an inner unit is always active, since its state acts on the queues below."""
    rules: Mapping[str, str]
    """The policy in the words of the language; empty for an inner unit, which has none of its own."""
    namespaces: tuple[str, ...]
