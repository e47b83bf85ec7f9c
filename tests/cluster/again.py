"""What a second apply of the same objects changes, which must be nothing."""

from __future__ import annotations

from collections.abc import Iterable

from tests.cluster import deploy
from tests.cluster.client import Object, label
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


def _said(item: Object) -> Object:
    """An object without what controllers add to it."""
    whole = deploy.stripped(item)
    metadata = {key: value for key, value in whole["metadata"].items() if key != "finalizers"}
    return {**whole, "metadata": {**metadata, "generation": item["metadata"].get("generation")}}
