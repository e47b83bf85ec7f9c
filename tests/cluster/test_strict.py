"""What a strict queue costs others where it may not take its quota back from everybody.

Found by test_random, and refused since (`strict-without-reclaim`). Kueue keeps free GPUs for a waiting job that needs
preemption and finds no victim, in every cycle in which it is tried: a best-effort queue sets such a job aside after
one, a strict queue tries it without end.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster import deploy, jobs
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster

pytestmark = pytest.mark.kueue("0.19", "0.17")
NODE = {"gpus": 8, "cpu": 192, "memory": "2000Gi"}
FLAVOR = {"gpu": "H100-SXM-80GB", "nodes": 1, "node": NODE, "daemons": {"cpu": 2, "memory": "4Gi"}}


def _tree(**policy: str) -> dict[str, Any]:
    """Eight GPUs: four of `exact`, whose team has the policy, and of `usual` two of `big` and two of `small`."""
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {"h100": FLAVOR},
        "departments": {
            "exact": {"budget": {"h100": 4}, "teams": {"queue": {"budget": {"h100": 4}, "policy": policy}}},
            "usual": {"budget": {"h100": 4}, "teams": {name: {"budget": {"h100": 2}} for name in ("big", "small")}},
        },
    }


def _compiled(cluster: Cluster, **policy: str) -> deploy.Compiled:
    return deploy.compiled_for(cluster, _tree(**policy))


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization, best-effort at first."""
    return jobs.opened(cluster, _compiled(cluster))


def _waiting(scene: Scene, **policy: str) -> list[str]:
    """`big` has borrowed six of eight GPUs, the queue waits for its four, then `small` asks for one of its two."""
    scene.clear()
    scene.change(_compiled(scene.cluster, **policy))
    scene.submit("usual/big", pods=6)
    scene.expect({"usual/big": 6})
    mine = scene.submit("exact/queue", pods=4)
    scene.settle()
    scene.submit("usual/small")
    scene.settle()
    return mine


@pytest.mark.parametrize("reclaim", ["lower-priority", "never"])
def test_a_strict_queue_that_may_not_reclaim_holds_others_off_their_own_quota(scene: Scene, reclaim: str) -> None:
    """Two GPUs are free and `small` is within its quota, yet it waits until the strict queue's job is withdrawn."""
    mine = _waiting(scene, queueing="strict", reclaim=reclaim)
    assert scene.holders() == {"usual/big": 6}
    scene.finish("exact/queue", mine)
    scene.wait(lambda: scene.holders() == {"usual/big": 6, "usual/small": 1}, "the other department has its GPU")


@pytest.mark.parametrize(
    ("policy", "held"),
    [
        ({"queueing": "strict", "reclaim": "any"}, {"exact/queue": 4, "usual/small": 1}),
        ({"queueing": "best-effort", "reclaim": "never"}, {"usual/big": 6, "usual/small": 1}),
    ],
    ids=["strict", "never"],
)
def test_either_alone_holds_nobody_off(scene: Scene, policy: dict[str, str], held: dict[str, int]) -> None:
    """A strict queue that takes its quota back does so, and a best-effort one that may not lets others pass."""
    _waiting(scene, **policy)
    scene.wait(lambda: scene.holders() == held, f"{held} are held")
