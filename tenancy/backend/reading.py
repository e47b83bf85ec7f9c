"""A unit as the objects of a backend state it: what a plan compares, whichever scheduler it is for.

And how the marks of ours on an object are read, without knowing the domain that the organization chose for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tenancy.backend.manifest import Object
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


def note(obj: Object, key: str) -> str:
    """An annotation of ours, such as `unit`; empty where the object has none."""
    return _ours(obj["metadata"].get("annotations"), key)


def label(obj: Object, key: str) -> str:
    """A label of ours, such as `team`; empty where the object has none."""
    return _ours(obj["metadata"].get("labels"), key)


def _ours(marks: Mapping[str, str] | None, key: str) -> str:
    return next((value for name, value in (marks or {}).items() if name.endswith(f"/{key}")), "")
