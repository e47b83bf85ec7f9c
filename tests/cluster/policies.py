"""The organization whose policies and states are tried: each of its teams says one thing differently.

Six nodes of 8 GPUs. Department `lending` has 16 of them and four teams that own 4 each; jobs of `lending/guest` borrow
what the others leave idle. Its teams inherit `reclaim: never`, and two override it. Department `walled` has 32 and four
teams of 8 that lend and borrow nothing, each with another policy inside its queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.cluster import deploy
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster

LENDING: Final[Mapping[str, Any]] = {
    "guest": {"budget": {"h100": 4}},
    "owner": {"budget": {"h100": 4}, "policy": {"reclaim": "any"}},
    "polite": {"budget": {"h100": 4}, "policy": {"reclaim": "lower-priority"}},
    "shy": {"budget": {"h100": 4}},
}
ALONE: Final = {"h100": {"reserved": 8, "quota": 8, "limit": 8}}
WALLED: Final[Mapping[str, Any]] = {
    "usual": {"budget": ALONE},
    "newest": {"budget": ALONE, "policy": {"preemption": "lower-or-newer-equal"}},
    "calm": {"budget": ALONE, "policy": {"preemption": "never"}},
    "strict": {"budget": ALONE, "policy": {"queueing": "strict"}},
}


def compiled(
    cluster: Cluster,
    teams: Mapping[str, Any] = LENDING,
    *,
    walled: Mapping[str, Any] | None = None,
    gang: Mapping[str, Any] | None = None,
    sharing: str = "weighted",
) -> Compiled:
    """The organization, with some of it changed."""
    node = {"gpus": 8, "cpu": 128, "memory": "1024Gi"}
    lending = {"budget": {"h100": 16}, "policy": {"reclaim": "never", "borrowing": "department"}, "teams": dict(teams)}
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "policies",
        "clusters": {"train": {"sharing": sharing}},
        "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 6, "node": node}},
        "priorities": {"high": 100, "low": -100},
        "policy": {"gang": dict(gang or {})},
        "departments": {
            "lending": lending,
            "walled": {"budget": {"h100": 32}, "teams": dict(WALLED), **(walled or {})},
        },
    }
    return deploy.compiled_for(cluster, tree)


def with_teams(*names: str, **said: Any) -> dict[str, Any]:
    """The teams of `lending`, some of them with more keys."""
    return {**LENDING, **{name: {**LENDING[name], **said} for name in names}}


def begin(scene: Scene, made: Compiled) -> None:
    """Nobody works, and the organization is this."""
    scene.clear()
    scene.change(made)
