"""What Volcano's scheduler, controller and webhooks are told of a cluster, as values for its chart.

The scheduler's part was run on 1.15.1 (quota back from siblings and other departments, to single pods and to gangs). It
leaves out `enqueue` and `overcommit`, either of which stops lent quota from coming back to gangs; `configuration_rules`
has the reason for each other line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tenancy.backend.manifest import Nonconforming, Page
from tenancy.backend.volcano.configuration_chart import RELIED_ON, admission_violations, controller_violations
from tenancy.backend.volcano.configuration_schema import violations
from tenancy.backend.volcano.topology import discovery, highest
from tenancy.model.hardware import CPU, MEMORY
from tenancy.plan.values import ClusterPlan

ADMISSIONS: Final = ",".join((*RELIED_ON, "/cronjobs/validate"))
"""The webhooks that the chart enables as well; stated, because the chart writes a webhook for each of them only."""

_PACKING: Final = 10
"""binpack's weight. At its default, 1, nodeorder's preference for idle nodes cancels it out: 27 GPUs in pods of one to
four were spread over seven of eight nodes, with 10 they filled four (run on 1.15.1)."""


def scheduler(plan: ClusterPlan) -> dict[str, Any]:
    """The configuration of the scheduler."""
    first: list[dict[str, Any]] = [
        {"name": "priority"},
        {"name": "gang", "enablePreemptable": False, "enableReclaimable": False},
        {"name": "conformance"},
        {"name": "capacity", "enableHierarchy": True},
    ]
    if plan.volcano != "1.14":
        first[-1]["arguments"] = {"ancestorReclaimLevel": 1}
    second: list[dict[str, Any]] = [
        {"name": "predicates"},
        {"name": "nodegroup", "enableHierarchy": True},
        {"name": "nodeorder"},
    ]
    if plan.packed:
        second.append({"name": "binpack", "arguments": _packing(plan)})
    if highest(plan.flavors.values()):
        second.append({"name": "network-topology-aware"})
    return {"actions": "allocate, reclaim, backfill", "tiers": [{"plugins": first}, {"plugins": second}]}


def controller(plan: ClusterPlan) -> dict[str, Any]:
    """The configuration of the controller: the topologies that it discovers; empty where there are none."""
    return discovery(plan)


def pages(plan: ClusterPlan) -> Iterator[Page]:
    """The scheduler's configuration as a file, and the chart's values with the same text.

    Raises Nonconforming where Volcano would not do what they say.
    """
    of_scheduler, of_controller = scheduler(plan), controller(plan)
    found = [
        *violations(of_scheduler, plan.volcano),
        *controller_violations(of_controller),
        *admission_violations(ADMISSIONS),
    ]
    if found:
        raise Nonconforming(f"Volcano {plan.volcano} would not do what its configuration says: {'; '.join(found)}")
    values = {"scheduler": of_scheduler, "controller": of_controller, "admissions": ADMISSIONS}
    yield Page("platform/volcano-scheduler.conf", "volcano/scheduler.conf.j2", values)
    yield Page("platform/volcano-values.yaml", "volcano/values.yaml.j2", values)


def _packing(plan: ClusterPlan) -> dict[str, Any]:
    """GPUs and slices beside cpu and memory, which binpack looks at anyway."""
    devices = [resource for resource in plan.resources if resource not in (CPU, MEMORY)]
    named = {"binpack.resources": ", ".join(devices)} if devices else {}
    return {"binpack.weight": _PACKING, **named}
