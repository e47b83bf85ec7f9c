"""Names of Volcano's Queues, in one place: the queues of all flavors, inner ones and leaves share one name space."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Object
from tenancy.backend.reading import label, note
from tenancy.model.hardware import Hardware
from tenancy.model.volcano import queue_name
from tenancy.plan.values import ClusterPlan, Group, Queue


def top(flavor: str) -> str:
    """The queue that holds all of a flavor."""
    return flavor


def inner(group: Group, flavor: str) -> str:
    """The queue of a department, or of a team whose projects have budgets."""
    return queue_name(group.name, flavor, of_projects=group.name != group.folder)


def leaf(queue: Queue, flavor: str) -> str:
    """The queue where the work of a team or of a project waits."""
    return queue_name(queue.name, flavor)


def leaves_of(plan: ClusterPlan, queue: Queue) -> tuple[str, ...]:
    """The leaves of a unit, sorted; one for each flavor that it reaches."""
    return tuple(sorted(leaf(queue, flavor.name) for flavor in reached(plan, queue)))


def reached(plan: ClusterPlan, unit: Group | Queue) -> Iterator[Hardware]:
    """The flavors of which the unit may ever use a part: in the trees of others it has no queue."""
    for name, amounts in unit.quotas.items():
        if any(amounts[main].limit > 0 for main in plan.flavors[name].mains):
            yield plan.flavors[name]


def holds_units(queue: Object) -> bool:
    """Whether a Queue of ours is a department's, or the one above a team's projects, though nothing may be below it
    yet. A department has no team, and a team's inner queue has a name that its leaf does not have."""
    if not label(queue, "organization"):
        return False
    unit, flavor = note(queue, "unit").replace("/", "-"), note(queue, "flavor")
    return not label(queue, "team") or queue["metadata"]["name"] == queue_name(unit, flavor, of_projects=True)
