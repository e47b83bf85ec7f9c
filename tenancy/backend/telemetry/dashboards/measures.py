"""What a cluster's dashboards can show: the kinds of what units use, and the series that its scheduler allows.

What is not recorded gets no panel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tenancy.backend.telemetry.names import EVICTIONS, INACTIVE, PENDING, WAIT_BUCKET
from tenancy.backend.telemetry.rules import WAITING
from tenancy.model.hardware import CPU, MEMORY, Hardware
from tenancy.plan.values import ClusterPlan

_WORDS = {CPU: "cores", MEMORY: "memory", "gpus": "GPUs"}


class Kind(NamedTuple):
    """Something that budgets count, as it is called here and told apart in series."""

    title: str
    selector: str
    """Matchers of PromQL."""
    unit: str
    """Of Grafana."""


CHOSEN = Kind("${kind:text}", "${kind:raw}", "sishort")
"""The kind that is chosen in the variable `kind`."""


class Measured(NamedTuple):
    """What the scheduler of a cluster allows to say."""

    pending: bool
    waits: bool
    evictions: bool
    inactive: bool
    lends: bool


def measured(plan: ClusterPlan) -> Measured:
    """By what the rules of the cluster record."""
    names = {rule["record"] for rule in WAITING[plan.cluster.scheduler](plan)}
    lends = plan.cluster.scheduler != "native"
    return Measured(PENDING in names, WAIT_BUCKET in names, EVICTIONS in names, INACTIVE in names, lends)


def kinds(plan: ClusterPlan, flavors: Iterable[str]) -> tuple[Kind, ...]:
    """The kinds of these flavors, GPUs first. A quota of Kubernetes counts a resource, whatever flavor has it."""
    of_plan = [flavor for flavor in plan.flavors.values() if flavor.name in set(flavors)]
    ordered = sorted(of_plan, key=lambda flavor: flavor.is_cpu)
    if measured(plan).lends:
        return tuple(
            Kind(_title(flavor, resource), f'flavor="{flavor.name}",resource="{resource}"', _unit(resource))
            for flavor, resource in _mains(ordered)
        )
    by_resource: dict[str, list[str]] = {}
    for flavor, resource in _mains(ordered):
        title = _WORDS[resource] if flavor.is_cpu else _title(flavor, resource)
        by_resource.setdefault(resource, []).append(title)
    return tuple(
        Kind(" + ".join(dict.fromkeys(titles)), f'resource="{resource}"', _unit(resource))
        for resource, titles in by_resource.items()
    )


def _mains(flavors: Iterable[Hardware]) -> Iterator[tuple[Hardware, str]]:
    return ((flavor, resource) for flavor in flavors for resource in flavor.mains)


def _title(flavor: Hardware, resource: str) -> str:
    """The flavor, with the key of the budget where it has several."""
    if len(flavor.mains) == 1:
        return flavor.name
    key = next(key for key, name in flavor.names.items() if name == resource)
    return f"{flavor.name}: {_WORDS.get(key, key)}"


def _unit(resource: str) -> str:
    return "bytes" if resource == MEMORY else "none"
