"""What a second apply of the same objects changes, which must be nothing."""

from __future__ import annotations

from collections.abc import Iterable

from tests.cluster import deploy
from tests.cluster.client import MANAGER, Object, label
from tests.cluster.plane import Cluster


def changed(cluster: Cluster, objects: Iterable[Object]) -> list[str]:
    """Objects, of those already applied, that the same apply, once more, changes."""
    client, items = cluster.client, deploy.in_waves(objects)
    before = [client.get(client.path(item)) for item in items]
    after = deploy.apply(cluster, items)
    return [
        f"a second apply changes {label(item)}"
        for item, old, new in zip(items, before, after, strict=True)
        if _said(old) != _said(new)
    ]


def touched(cluster: Cluster, objects: Iterable[Object]) -> list[str]:
    """Those that the same apply, once more, changes or writes anew: what we write into an object, be it the same, moves
    the time of our entry among its managers. Each is read just before, since controllers write whenever they come."""
    client, found = cluster.client, []
    for item in deploy.in_waves(objects):
        before = client.get(client.path(item))
        found += [label(item)] if _written(client.apply(item)) != _written(before) else []
    return found


def _written(item: Object) -> Object:
    return {**_said(item), "writes": [each for each in item["metadata"]["managedFields"] if each["manager"] == MANAGER]}


def _said(item: Object) -> Object:
    """An object without what controllers add to it."""
    whole = deploy.stripped(item)
    metadata = {key: value for key, value in whole["metadata"].items() if key != "finalizers"}
    return {**whole, "metadata": {**metadata, "generation": item["metadata"].get("generation")}}
