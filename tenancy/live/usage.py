"""What units use now, as the scheduler says of its queues or Kubernetes of its quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from tenancy.backend.kueue.queues import API as KUEUE
from tenancy.backend.manifest import Object
from tenancy.backend.native.quotas import COMPUTE, keys
from tenancy.backend.reading import label, note
from tenancy.backend.volcano.names import holds_units
from tenancy.backend.volcano.queues import API as VOLCANO
from tenancy.compare.effects import Side
from tenancy.compare.usage import Usage
from tenancy.live.source import Unreadable, mapping, objects_of_file
from tenancy.model.quantity import QuantityError, parse
from tenancy.plan.values import ClusterPlan

COMMANDS: Final[Mapping[str, str]] = {
    "kueue": "kubectl get clusterqueues -o yaml",
    "volcano": "kubectl get queues.scheduling.volcano.sh -o yaml",
    "native": "kubectl get resourcequotas -A -o yaml",
}
"""By scheduler: what prints a file that tells the usage."""

COLLECTIONS: Final[Mapping[str, str]] = {
    "kueue": f"/apis/{KUEUE}/clusterqueues",
    "volcano": f"/apis/{VOLCANO}/queues",
    "native": "/api/v1/resourcequotas",
}
"""By scheduler: where the API server lists the same."""

KINDS: Final[Mapping[str, str]] = {"kueue": "ClusterQueue", "volcano": "Queue", "native": "ResourceQuota"}


class Server(Protocol):
    """What is asked of the API server; `tenancy.live.client.Api` is one."""

    server: str

    def objects(self, path: str, **query: str) -> list[Object]:
        """The objects of a collection."""


class Cell(NamedTuple):
    """What is used by one unit of one resource; the flavor is empty where the object does not tell flavors apart."""

    unit: str
    flavor: str
    resource: str
    amount: int


class Sides(NamedTuple):
    """The cluster before and after, as the comparison has it."""

    old: Side
    new: Side


def usage_of_file(path: Path, cluster: ClusterPlan, sides: Sides) -> Usage:
    """The usage in a file of `kubectl get clusterqueues,queues,resourcequotas -A -o yaml`, or of one of the kinds.

    Raises `Unreadable` for anything else, and where none of the units is in it: what is not in it counts as idle.
    """
    command = COMMANDS[cluster.cluster.scheduler]
    return _usage(objects_of_file(path, command), cluster, sides, f"{path}: as `{command}` prints it")


def usage_of_cluster(api: Server, cluster: ClusterPlan, sides: Sides) -> Usage:
    """The usage that a running cluster says. Raises `Unreadable`."""
    scheduler = cluster.cluster.scheduler
    found = [{**obj, "kind": KINDS[scheduler]} for obj in api.objects(COLLECTIONS[scheduler])]
    places = ((f"{api.server}: {KINDS[scheduler]}", obj) for obj in found)
    return _usage(places, cluster, sides, api.server)


def _usage(objects: Iterable[tuple[str, Any]], cluster: ClusterPlan, sides: Sides, source: str) -> Usage:
    scheduler, told = cluster.cluster.scheduler, 0
    cells: list[Cell] = []
    for where, obj in objects:
        if _judged(obj, where) != KINDS[scheduler] or label(obj, "organization") != cluster.organization:
            continue
        told += 1
        try:
            cells += READERS[scheduler](obj, cluster, sides)
        except (QuantityError, AttributeError, KeyError, TypeError) as error:
            raise Unreadable(f"{where}: {obj['metadata'].get('name')}: its status cannot be read: {error}") from error
    if not told and any(not unit.inner for unit in sides.old.units.values()):
        raise Unreadable(
            f"{source}: no {KINDS[scheduler]} of `{cluster.organization}`: nobody would seem to use anything"
        )
    return _summed(cluster.name, cells, sides)


def _judged(obj: Any, where: str) -> str:
    """The kind of an object that came from outside."""
    kind = obj.get("kind") if isinstance(obj, dict) else None
    if kind not in KINDS.values():
        known = ", ".join(KINDS.values())
        raise Unreadable(f"{where}: {f'a {kind}' if isinstance(kind, str) else 'this'} is none of {known}")
    metadata = mapping(obj, "metadata", where)
    if not isinstance(metadata.get("name"), str):
        raise Unreadable(f"{where}: a {kind} without metadata.name")
    for part in ("labels", "annotations"):
        if not all(isinstance(each, str) for pair in mapping(metadata, part, where).items() for each in pair):
            raise Unreadable(f"{where}: metadata.{part} has what is no text")
    mapping(obj, "status", where)
    return str(kind)


def _kueue(obj: Object, cluster: ClusterPlan, sides: Sides) -> Iterator[Cell]:
    """What is reserved, which is at least what is in use: a Workload that waits for a check already has its quota."""
    del cluster
    title, status = note(obj, "unit"), obj.get("status") or {}
    inner = any(side.units[title].inner for side in sides if title in side.units)
    most: dict[tuple[str, str], int] = {}
    for part in ("flavorsReservation", "flavorsUsage"):
        for flavor in status.get(part) or ():
            for resource in flavor.get("resources") or ():
                cell = flavor["name"], resource["name"]
                most[cell] = max(most.get(cell, 0), parse(resource.get("total", "0"), resource["name"]))
    for (name, counted), amount in most.items():
        yield Cell(f"{title} (shared)" if inner else title, name, counted, amount)


def _volcano(obj: Object, cluster: ClusterPlan, sides: Sides) -> Iterator[Cell]:
    """Of leaves only: the scheduler adds what they have to every queue above them."""
    del cluster, sides
    if not holds_units(obj):
        title = f"{note(obj, 'unit')} (shared)" if note(obj, "shared") else note(obj, "unit")
        for resource, amount in ((obj.get("status") or {}).get("allocated") or {}).items():
            yield Cell(title, note(obj, "flavor"), resource, parse(amount, resource))


def _native(obj: Object, cluster: ClusterPlan, sides: Sides) -> Iterator[Cell]:
    """Quotas of Kubernetes do not know flavors; what pods and what claims have of one device is counted once."""
    del sides
    if obj["metadata"]["name"] == COMPUTE:
        title = f"{note(obj, 'unit')} (shared)" if note(obj, "shared") else note(obj, "unit")
        used = (obj.get("status") or {}).get("used") or {}
        for resource in cluster.resources:
            amounts = [parse(used[key], resource) for key in keys(cluster, resource) if key in used]
            yield Cell(title, "", resource, max(amounts, default=0))


READERS: Final = {"kueue": _kueue, "volcano": _volcano, "native": _native}
"""By the `scheduler` of a cluster."""


def _summed(cluster: str, cells: Iterable[Cell], sides: Sides) -> Usage:
    """By unit, those above included; what names no flavor is given to flavors as far as the new quotas reach."""
    together: dict[tuple[str, str, str], int] = {}
    for unit, flavor, resource, amount in cells:
        together[unit, flavor, resource] = together.get((unit, flavor, resource), 0) + amount
    found: dict[tuple[str, str, str, str], int] = {}
    for (unit, flavor, resource), amount in together.items():
        for name, part in [(flavor, amount)] if flavor else _divided(unit, resource, amount, sides):
            for title in (unit, *_above(unit)):
                key = cluster, title, name, resource
                found[key] = found.get(key, 0) + part
    return found


def _above(unit: str) -> Iterator[str]:
    """The titles of the units that hold a unit, the organization last. A team holds what its projects share."""
    title = unit.removesuffix(" (shared)")
    if title != unit:
        yield title
    while title:
        title = title.rpartition("/")[0]
        yield title


def _divided(unit: str, resource: str, amount: int, sides: Sides) -> Iterator[tuple[str, int]]:
    """As favourable as can be: an overrun of one flavor is only told where all flavors together are overrun."""
    quotas = {
        flavor: amounts[resource].quota
        for side in reversed(sides)
        for flavor, amounts in (side.units[unit].quotas if unit in side.units else {}).items()
        if resource in amounts
    }
    after = sides.new.units[unit].quotas if unit in sides.new.units else {}
    left = amount
    for place, flavor in enumerate(sorted(quotas), 1):
        room = after[flavor][resource].quota if resource in after.get(flavor, {}) else 0
        part = left if place == len(quotas) else min(left, room)
        left -= part
        yield flavor, part
