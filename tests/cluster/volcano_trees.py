"""Organizations for what Volcano's promises are worth, as often as wanted side by side.

Each copy has a flavor of its own, hence its own nodes and its own tree of Queues: nothing that happens in one is felt
in another, and many cases need the time of one. The whole tree has 32 GPUs, with reserved, quota and limit

    research 4/20/28 and product 0/12/20; vision 4/12/20, nlp 0/8/28, search 0/12/20

and a small one 8 GPUs that are the quota of a team in one department, and lent to a team of another that has none.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tests.cluster import deploy
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE
from tests.cluster.volcano_jobs import Scene

Tree = dict[str, Any]
NODE: Final = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
DAEMONS: Final = {"cpu": 2, "memory": "4Gi"}
"""What is left of a node is 8 cpu and 64Gi for each GPU."""


class Whole(NamedTuple):
    """A copy of the whole tree, by its flavor: the paths of its teams."""

    flavor: str

    @property
    def vision(self) -> str:
        """The team that reserves 4."""
        return f"{self.flavor}-research/vision"

    @property
    def nlp(self) -> str:
        """Its sibling."""
        return f"{self.flavor}-research/nlp"

    @property
    def search(self) -> str:
        """The team of the other department."""
        return f"{self.flavor}-product/search"

    def holding(self, vision: int, nlp: int, search: int) -> dict[str, int]:
        """Who holds so much; a team that holds nothing is left out."""
        held = {self.vision: vision, self.nlp: nlp, self.search: search}
        return {unit: count for unit, count in held.items() if count}


class Small(NamedTuple):
    """A copy of the small tree, by its flavor: the paths of its teams."""

    flavor: str

    @property
    def owner(self) -> str:
        """The team with the quota."""
        return f"{self.flavor}-home/owner"

    @property
    def guest(self) -> str:
        """The team without one."""
        return f"{self.flavor}-away/guest"


def flavor(nodes: int) -> Tree:
    """So many nodes of 8 GPUs."""
    return {"gpu": "H100-SXM-80GB", "nodes": nodes, "node": NODE, "daemons": DAEMONS}


def on(node: str) -> Tree:
    """Keys of the spec of a pod that runs on this node."""
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


def numbers(name: str, reserved: int, quota: int, limit: int) -> Tree:
    """A unit with a budget of a flavor."""
    return {"budget": {name: {"reserved": reserved, "quota": quota, "limit": limit}}}


def whole(copy: Whole, nlp: int = 8, **more: Tree) -> Tree:
    """The departments of a copy; with less for nlp its department keeps the rest for its teams. `more` departments."""
    name = copy.flavor
    return {
        f"{name}-research": {
            **numbers(name, 4, 20, 28),
            "teams": {"vision": numbers(name, 4, 12, 20), "nlp": numbers(name, 0, nlp, 28)},
        },
        f"{name}-product": {**numbers(name, 0, 12, 20), "teams": {"search": numbers(name, 0, 12, 20)}},
        **{f"{name}-{department}": tree for department, tree in more.items()},
    }


def small(copy: Small, quota: Any = 8, capacity: int = 8) -> Tree:
    """The departments of a copy, of which one owns so much, or an amount with its own cpu."""
    name = copy.flavor
    guest = numbers(name, 0, 0, capacity)
    return {
        f"{name}-home": {"budget": {name: quota}, "teams": {"owner": {"budget": {name: quota}}}},
        f"{name}-away": {**guest, "teams": {"guest": guest}},
    }


def compiled(cluster: Cluster, flavors: Mapping[str, Tree], departments: Iterable[Tree], **more: Any) -> Compiled:
    """An organization of these flavors and departments, for the versions that run."""
    tree: Tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"main": {}},
        "flavors": dict(flavors),
        "departments": {name: _alone(unit, flavors) for each in departments for name, unit in each.items()},
        **more,
    }
    return deploy.compiled_for(cluster, tree)


def reach(scene: Scene, held: Mapping[str, int]) -> None:
    """Wait until these units hold so much each, whatever others hold, and it stays so."""

    def missing() -> dict[str, int]:
        found = scene.holders()
        return {unit: found.get(unit, 0) for unit, count in held.items() if found.get(unit, 0) != count}

    end = time.monotonic() + PATIENCE
    # Every look lists all pods, and there may be hundreds.
    while wrong := missing():
        assert time.monotonic() < end, f"{ {unit: held[unit] for unit in wrong} } were to be held, but {wrong}"
        time.sleep(1)
    scene.settle()
    assert missing() == {}


def _alone(department: Tree, flavors: Mapping[str, Tree]) -> Tree:
    """The department without a way to the flavors of other copies."""
    return {
        **department,
        "budget": {**{name: _nothing(tree) for name, tree in flavors.items()}, **department["budget"]},
    }


def _nothing(flavor: Tree) -> Tree:
    """The budget of who may not use a flavor."""
    if "gpu" not in flavor:
        return {"limit": {"cpu": 0, "memory": 0}}
    return {"limit": dict.fromkeys(flavor["mig"], 0) if "mig" in flavor else 0}
