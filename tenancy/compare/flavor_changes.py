"""Flavors that go, get another name, or carry labels of another domain: what runs on the old one is on no book.

Usage is counted under the name of a flavor, and stays where it is when queues get another one (run on Kueue 0.19.2:
the same quota was then handed out twice).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tenancy.backend.reading import label
from tenancy.compare.diff import Change, Delete, Update
from tenancy.compare.effects import Side, mains
from tenancy.compare.node_changes import IDLE, Sides
from tenancy.compare.procedures import Mark, Names, Procedure, about, redomained
from tenancy.compare.snapshot import Snapshot
from tenancy.model.hardware import Hardware

_REMOVED: Final = (
    "What still runs on a removed flavor is no longer counted by any queue.",
    "Drain the flavor before the merge: no quota and no running jobs on it.",
)

_RENAMED: Final = (
    "The same hardware comes under another name: what still runs on the old one is counted nowhere, so that its GPUs "
    "are handed out twice."
)
_NAMED: Final = (
    "After the sync run `tenancy nodes --apply`, which gives the nodes the label of the new name, and take the old one "
    "off them."
)

_DOMAIN: Final = (
    "The API server refuses to change the labels of a flavor that has a topology, and the one that our nodes get is in "
    "`domain`.",
    "Keep `domain`, or first merge `state: draining` for every department and wait until nothing runs; then give every "
    "flavor another name in the merge that changes it, run `tenancy nodes --apply` after the sync, and merge `state: "
    "active`.",
)
_PREFIXED: Final = (
    "All labels and annotations of ours get the prefix {new}: what others select by {old} is no longer found, and "
    "nodes keep their labels until somebody changes them.",
    "After the sync run `tenancy nodes --apply`, and write the new prefix into dashboards, policies and jobs of yours.",
)


def flavor_changes(changes: Iterable[Change], sides: Sides, named: Names) -> Iterator[Procedure]:
    """Everything to know of the flavors of every cluster before the merge; `named` says how an object is called."""
    listed = list(changes)
    yield from about(Mark.REPLACEMENT, [named(each.identity) for each in listed if _moved(each)], *_DOMAIN)
    yield from _prefixes(sides)
    renamed: set[tuple[str, str]] = set()
    for cluster in sorted(sides.old.clusters & sides.new.clusters):
        for old, new in _renames(cluster, sides).items():
            renamed.add((cluster, old))
            several = len(sides.old.clusters | sides.new.clusters) > 1
            pair = f"{cluster}: {old} → {new}" if several else f"{old} → {new}"
            idle = IDLE.get(sides.schedulers[cluster], IDLE[""])
            yield from about(Mark.MAINTENANCE, [pair], _RENAMED, f"{idle} {_NAMED}")
    removed = [
        named(each.identity)
        for each in listed
        if isinstance(each, Delete)
        and each.identity.kind == "ResourceFlavor"
        and (each.identity.cluster, each.identity.name) not in renamed
    ]
    yield from about(Mark.WARNING, removed, *_REMOVED, by_hand=True)


def _moved(change: Change) -> bool:
    return isinstance(change, Update) and "topologyName" in change.old.get("spec", {}) and redomained(change)


def _prefixes(sides: Sides) -> Iterator[Procedure]:
    """Another domain, once for all clusters."""
    was, now = _domain(sides.old), _domain(sides.new)
    if was and now and was != now:
        happens, do = _PREFIXED
        yield from about(
            Mark.WARNING, [f"domain {was} → {now}"], happens.format(old=f"`{was}`", new=f"`{now}`"), do, by_hand=True
        )


def _domain(snapshot: Snapshot) -> str:
    """The prefix of the label that every namespace of ours has."""
    for each, obj in snapshot.items.items():
        if each.kind == "Namespace" and label(obj, "organization"):
            keys = (key.partition("/") for key in obj["metadata"]["labels"])
            return next(str(domain) for domain, _, name in keys if name == "organization")
    return ""


def _renames(cluster: str, sides: Sides) -> dict[str, str]:
    """Flavors that seem to have got another name; only where exactly one can be meant on each side."""
    before, after = sides.before[cluster], sides.after[cluster]
    was, now = mains(before, Side({})), mains(after, Side({}))
    gone, come = was.keys() - now.keys(), now.keys() - was.keys()
    alike = {old: [new for new in sorted(come) if _same(old, new, before, after, sides)] for old in sorted(gone)}
    chosen = [names[0] for names in alike.values() if len(names) == 1]
    return {old: names[0] for old, names in alike.items() if len(names) == 1 and chosen.count(names[0]) == 1}


def _same(old: str, new: str, before: Side, after: Side, sides: Sides) -> bool:
    """The same nodes, as far as they are known; else the same amounts of the same resources."""
    if sides.old_flavors is not None:
        return old in sides.old_flavors and _nodes(sides.old_flavors, old) == _nodes(sides.flavors, new)
    one, other = (_whole(side, flavor) for side, flavor in ((before, old), (after, new)))
    return bool(one) and one == other


def _nodes(flavors: Mapping[str, Hardware], name: str) -> tuple[object, ...]:
    flavor = flavors[name]
    board = flavor.gpu.name if flavor.gpu else ""
    return (flavor.cluster, board, flavor.nodes, flavor.node, [each.profiles for each in flavor.layouts])


def _whole(side: Side, flavor: str) -> dict[str, int]:
    """What the organization has of a flavor; nothing where objects do not say."""
    amounts = side.root.quotas.get(flavor, {}) if side.root else {}
    return {resource: quota.quota for resource, quota in amounts.items() if quota.quota}
