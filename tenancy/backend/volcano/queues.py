"""Queues: a tree for each flavor, with reserved, quota and limit as guarantee, deserved and capability.

Volcano sums a resource name over all flavors of a tree and keeps a guarantee only below a queue with a finite
capability (run on 1.15.1): so each flavor has a tree of its own, below one queue that has all of its nodes. Every list
names every resource of the flavor, "0" included: an absent deserved or guarantee counts as zero, an absent capability
as no limit. Every default is stated, so that neither the webhook nor the controller has anything to fill in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import SYNC_OPTIONS, obj
from tenancy.backend.volcano.names import inner, leaf, reached, top
from tenancy.model.hardware import CPU, MEMORY, Hardware
from tenancy.model.organization import Quota
from tenancy.model.quantity import canonical
from tenancy.model.volcano import DEFAULT, ROOT, queue_weight
from tenancy.plan.values import ClusterPlan, Group, Queue

API: Final = "scheduling.volcano.sh/v1beta1"

_SMALLEST: Final = {CPU: 1, MEMORY: 1 << 20}
"""No pod of ours fits; 0 would mean no limit (run on 1.15.1)."""


def top_queue(plan: ClusterPlan, flavor: Hardware) -> Object:
    """The queue that holds all of a flavor and ties all queues below it to the nodes of the flavor.

    What may be promised is without spare nodes, what may be used is with them: Volcano evicts nobody for a pod that
    fits on a node, so a node that nobody may use would keep lent quota from coming back (run on 1.15.1).
    """
    amounts = {name: Quota(count, count, flavor.installed[name]) for name, count in flavor.capacity.items()}
    spec = _spec(ROOT, 1, _lists(amounts, flavor.resources))
    groups = {"requiredDuringSchedulingIgnoredDuringExecution": [flavor.name]}
    spec["affinity"] = {"nodeGroupAffinity": groups}
    return obj(API, "Queue", top(flavor.name), plan.labels, annotations={_flavor(plan): flavor.name}, spec=spec)


def default_queue(plan: ClusterPlan) -> Object:
    """The queue of work that names none, closed by its size: its state belongs to Volcano's controller, and a foreign
    one wedges it (run on 1.15.1). Volcano refuses to delete it, so it is never pruned."""
    closed = {name: canonical(_SMALLEST.get(name, 0), name) for name in plan.resources}
    kept = {SYNC_OPTIONS: "Prune=false"}
    return obj(API, "Queue", DEFAULT, plan.labels, annotations=kept, spec=_spec(ROOT, 1, {"capability": closed}))


def unit_queues(plan: ClusterPlan) -> dict[str, list[Object]]:
    """The queues of all units in all flavors that they reach, by the folder of their department, parents first."""
    parents = {group.name: group for group in plan.groups if group.parent is not None}
    folders: dict[str, list[Object]] = {}
    for group in parents.values():
        made = folders.setdefault(group.folder, [])
        made += [
            _unit_queue(plan, group, inner(group, flavor.name), flavor, parents) for flavor in reached(plan, group)
        ]
    for queue in plan.queues:
        made = folders.setdefault(queue.folder, [])
        made += [_unit_queue(plan, queue, leaf(queue, flavor.name), flavor, parents) for flavor in reached(plan, queue)]
    return folders


def _unit_queue(
    plan: ClusterPlan, unit: Group | Queue, name: str, flavor: Hardware, parents: Mapping[str, Group]
) -> Object:
    above = parents.get(unit.parent or "")
    parent = inner(above, flavor.name) if above is not None else top(flavor.name)
    notes = {f"{plan.domain}/unit": unit.title, _flavor(plan): flavor.name}
    if isinstance(unit, Queue):
        if unit.state != "active":
            notes[f"{plan.domain}/state"] = unit.state
        if unit.parent == unit.name:
            notes[f"{plan.domain}/shared"] = "true"
    spec = _spec(parent, unit.weight, _lists(_unbounded(unit.quotas[flavor.name], flavor), flavor.resources))
    return obj(API, "Queue", name, unit.labels, annotations=notes, spec=spec)


def _unbounded(amounts: Mapping[str, Quota], flavor: Hardware) -> Mapping[str, Quota]:
    """Where a limit is all that may be promised, it is no limit: then spare nodes may be used as well."""
    if flavor.installed == flavor.capacity:
        return amounts
    mains = {main: amounts[main].limit >= flavor.capacity[main] for main in flavor.mains}
    opened = {name for name, whole in mains.items() if whole}
    if all(mains.values()):
        opened |= {
            name
            for name in flavor.resources
            if name not in mains and amounts[name].limit >= _follow(amounts, flavor, name)
        }
    return {
        name: amount._replace(limit=flavor.installed[name]) if name in opened else amount
        for name, amount in amounts.items()
    }


def _follow(amounts: Mapping[str, Quota], flavor: Hardware, resource: str) -> int:
    """What of cpu or memory goes with the limit of the GPUs; less was written on purpose."""
    follow = sum(amounts[main].limit * flavor.follows[main][resource] for main in flavor.mains)
    return min(follow, flavor.capacity[resource])


def _flavor(plan: ClusterPlan) -> str:
    return f"{plan.domain}/flavor"


def _spec(parent: str, weight: float, lists: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "parent": parent,
        "weight": queue_weight(weight),
        "reclaimable": True,
        "priority": 0,
        "dequeueStrategy": "traverse",
        **lists,
    }


def _lists(amounts: Mapping[str, Quota], resources: tuple[str, ...]) -> dict[str, Any]:
    """The three numbers of each resource."""
    return {
        "capability": {name: canonical(amounts[name].limit, name) for name in resources},
        "deserved": {name: canonical(amounts[name].quota, name) for name in resources},
        "guarantee": {"resource": {name: canonical(amounts[name].reserved, name) for name in resources}},
    }
