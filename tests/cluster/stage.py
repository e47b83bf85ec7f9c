"""A cluster on which one organization follows another within seconds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.cluster import deploy, manager, nodes
from tests.cluster.client import Object, label
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster, until


@dataclass(slots=True)
class Stage:
    """A cluster on which one organization follows another. Namespaces stay behind: their removal is slow."""

    cluster: Cluster
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    scene: Scene | None = None

    def opened(self, tree: dict[str, Any]) -> Scene:
        """The organization deployed in place of the one before, under department names that were never used."""
        made = deploy.compiled_for(self.cluster, renamed(tree, next(self.numbers)))
        if self.scene is not None:
            self._retire(self.scene, made)
        self.scene = Scene(self.cluster, made)
        nodes.make(self.cluster, made)
        deploy.deploy(self.cluster, made)
        return self.scene

    def _retire(self, scene: Scene, made: Compiled) -> None:
        """End all work, then remove what would still act: not what lies in namespaces, but for queues."""
        scene.clear()
        client, wanted = self.cluster.client, {label(item) for item in made.objects}
        olds = (item for item in reversed(deploy.in_waves(scene.made.objects)) if label(item) not in wanted)
        paths = [client.path(item) for item in olds if _acts(item)]

        def gone() -> bool:
            left = [path for path in paths if client.find(path) is not None]
            manager.remove(self.cluster, left)
            return left == []

        # All of it: what is still on its way out would take with it what a later organization applies by the same name.
        until(gone, "what acts is gone")
        deploy.remove_nodes(self.cluster)


def renamed(tree: dict[str, Any], number: int) -> dict[str, Any]:
    """Departments with a number in their names: a namespace of an earlier name may be in use or on its way out."""
    return {**tree, "departments": {f"{name}{number}": unit for name, unit in tree["departments"].items()}}


def plain(title: str) -> str:
    """The path of a unit without the number."""
    department, slash, below = title.partition("/")
    return department.rstrip("0123456789") + slash + below


def _acts(item: Object) -> bool:
    return item["kind"] == "LocalQueue" or ("namespace" not in item["metadata"] and item["kind"] != "Namespace")
