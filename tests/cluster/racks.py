"""The racks and blocks that Volcano's controller discovers from the labels of nodes, each as a HyperNode."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

from tests.cluster import volcano
from tests.cluster.client import Object
from tests.cluster.plane import Cluster, until

Place: TypeAlias = tuple[str, str]
"""A label and its value."""


def wait(cluster: Cluster, *levels: str) -> None:
    """Until each value that nodes have of these labels, the narrowest first, has one HyperNode with all its members.

    Two discoveries within some milliseconds make two HyperNodes of one rack: the second looks into a cache that has not
    heard of the first (`buildHyperNodeName` in 1.15.1). The next discovery removes one, and it may be long in coming:
    here the loss of a HyperNode brings it.
    """

    def found() -> bool:
        places = discovered(cluster)
        for twins in places.values():
            for each in twins[1:]:
                cluster.client.delete(f"{volcano.HYPERNODES}/{each['metadata']['name']}")
        return {place: len(items[0]["spec"]["members"]) for place, items in places.items()} == expected(
            cluster, *levels
        ) and all(len(items) == 1 for items in places.values())

    until(found, "racks and blocks are discovered")


def discovered(cluster: Cluster) -> dict[Place, list[Object]]:
    """The HyperNodes of each place, by name."""
    places = defaultdict(list)
    for item in cluster.client.list(volcano.HYPERNODES):
        label = item["spec"].get("tierName")
        if label is not None:
            places[label, item["metadata"]["labels"][label]].append(item)
    return dict(places)


def expected(cluster: Cluster, *levels: str) -> dict[Place, int]:
    """How many members each place has by the labels of nodes: a node counts as far as it has the levels below."""
    members: defaultdict[Place, set[str]] = defaultdict(set)
    for item in cluster.client.list("/api/v1/nodes"):
        inside, labels = item["metadata"]["name"], item["metadata"]["labels"]
        for label in levels:
            if label not in labels:
                break
            members[label, labels[label]].add(inside)
            inside = labels[label]
    return {place: len(names) for place, names in members.items()}
