"""What becomes of priorities that stay, and of the units that may have them, as the objects of both sides say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.reading import note
from tenancy.compare.snapshot import Snapshot

CLASSES: Final = ("WorkloadPriorityClass", "PriorityClass")
"""Kueue's own, and that of Kubernetes, which other schedulers read."""


def priority_changes(old: Snapshot, new: Snapshot, cluster: str) -> Iterator[tuple[str, str, str, str]]:
    """The key of a setting, before, after, and the priority or the unit that it is of."""
    was, now = (_classes(side, cluster) for side in (old, new))
    for name in sorted(was.keys() & now.keys()):
        for key, before in was[name].items():
            if before != now[name][key]:
                yield key, before, now[name][key], name
    yield from _lists(old, new, cluster)


def _classes(snapshot: Snapshot, cluster: str) -> dict[str, dict[str, str]]:
    return {
        obj["metadata"]["name"]: {
            "priority": str(obj.get("value", 0)),
            "preemptible": note(obj, "preemptible") or "no",
            "grace_period": note(obj, "grace-period") or "none",
        }
        for obj in snapshot.of(cluster, *CLASSES)
    }


def _lists(old: Snapshot, new: Snapshot, cluster: str) -> Iterator[tuple[str, str, str, str]]:
    """Units whose jobs may have others, as namespaces that stay say it. What is written for priorities alone changes
    with them, and is no news of the unit."""
    gone, come = (_names(one, cluster) - _names(other, cluster) for one, other in ((old, new), (new, old)))
    for each, obj in new.items.items():
        if each.cluster == cluster and each.kind == "Namespace" and each in old.items and _says(old.items[each]):
            before, after = set(_listed(old.items[each])), set(_listed(obj))
            if before - gone != after - come and (unit := note(obj, "unit")):
                yield "priorities", _shown(before), _shown(after), unit


def _names(snapshot: Snapshot, cluster: str) -> set[str]:
    return {obj["metadata"]["name"] for obj in snapshot.of(cluster, *CLASSES)}


def _says(namespace: Object) -> bool:
    """Whether it says what work in it may have at all, as those of earlier versions do not."""
    return bool(note(namespace, "priorities") or note(namespace, "flavors"))


def _listed(namespace: Object) -> list[str]:
    return [name for name in note(namespace, "priorities").split(",") if name]


def _shown(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
