"""Makes one node as its flavor says, through the API server, without touching what others have set."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Protocol

from tenancy.live.client import Object, Refused
from tenancy.live.marking import Change, Conflict, Want, change
from tenancy.live.nodes import LiveNode
from tenancy.live.source import checked

ATTEMPTS: Final = 10
"""Reads of a node until nothing is left to do: one for each write, one more, and some for writes of others between."""

_LABELS: Final = ".metadata.labels."


class Server(Protocol):
    """What is asked of the API server; `tenancy.live.client.Api` is one."""

    def node(self, name: str) -> Object:
        """A node with every field."""

    def apply(self, node: Object, *, force: bool = False) -> None:
        """Server-side apply."""

    def merge(self, name: str, change: Object) -> None:
        """A merge patch."""


class NotApplied(Exception):
    """A node that is not as it should be now; the message says why."""

    def __init__(self, message: str, conflicts: tuple[Conflict, ...] = ()) -> None:
        super().__init__(message)
        self.conflicts = conflicts


def apply(server: Server, node: LiveNode, want: Want, held: Collection[str] = (), *, force: bool = False) -> bool:
    """Set labels, then taints; whether anything was written. A node with a conflict is left as it is, unless forced.

    Each write is of the node as it was read a moment before, and the last read finds nothing left to do. Raises
    `NotApplied`, and `Unreadable` where the server cannot be reached.
    """
    wrote = False
    for _ in range(ATTEMPTS):
        try:
            raw = server.node(node.name)
            live = checked(raw, node.name)
            if live.uid != node.uid:
                raise NotApplied("another node has its name by now")
            found = change(live, want, held)
            if found.conflicts and not force:
                raise NotApplied("others have set it to something else", found.conflicts)
            if not found:
                return wrote
            if found.labels or found.unlabel:
                server.apply(_labelled(raw, found), force=force or found.takes_over)
            else:
                server.merge(node.name, _tainted(raw, found))
            wrote = True
        except Refused as refused:
            if refused.code != 409 or refused.causes:
                raise _reason(refused, node, want) from refused
    raise NotApplied("something else keeps changing it back")


def _labelled(raw: Object, found: Change) -> Object:
    """The uid keeps the API server from making a node that was removed meanwhile. Where a label is taken from another
    manager, nothing else may have changed since it was read, because force is for all fields."""
    own = raw["metadata"]
    metadata: dict[str, Any] = {"name": found.node, "uid": own["uid"], "labels": dict(found.apply)}
    if found.takes_over:
        metadata["resourceVersion"] = own["resourceVersion"]
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}


def _tainted(raw: Object, found: Change) -> Object:
    """Not by server-side apply: spec.taints is an atomic list (`+listType=atomic` in k8s.io/api core/v1), so that
    applying some taints would remove all others, those of the node lifecycle controller too.

    The whole list is written back with ours, and the resourceVersion makes the API server refuse it where anybody has
    written the node since it was read.
    """
    replaced = {(taint.key, taint.effect) for taint in (*found.taints, *found.untaint)}
    others = [each for each in raw["spec"].get("taints") or () if (each["key"], each["effect"]) not in replaced]
    return {
        "metadata": {
            "resourceVersion": raw["metadata"]["resourceVersion"],
            "annotations": {found.want.record: found.record or None},
        },
        "spec": {"taints": [*others, *(taint.spec for taint in found.taints)]},
    }


def _reason(refused: Refused, node: LiveNode, want: Want) -> NotApplied:
    """A conflict that began between the reading and the writing names the field and, in its message, the manager."""
    if refused.code == 404:
        return NotApplied("the node is gone")
    conflicts = tuple(
        Conflict(
            what=f"label {key}",
            live=node.labels.get(key, ""),
            wanted=want.labels.get(key, ""),
            owners=tuple(cause.get("message", "").split('"')[1:2]),
        )
        for cause in refused.causes
        if (key := cause.get("field", "").removeprefix(_LABELS)) != cause.get("field", "")
    )
    return NotApplied("others have set it to something else" if conflicts else str(refused), conflicts)
