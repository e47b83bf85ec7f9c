"""Quota comes back pod by pod on Volcano: each pod of a gang takes its place from a pod that is evicted for it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.cluster import deploy, volcano_jobs
from tests.cluster.plane import Cluster
from tests.cluster.volcano_jobs import Scene

pytestmark = pytest.mark.volcano("1.15")

OWNER, GUEST = "home/owner", "away/guest"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "sizes",
    "clusters": {"main": {}},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"}},
    },
    "departments": {
        "home": {"budget": {"h100": 16}, "teams": {"owner": {"budget": {"h100": 16}}}},
        "away": {"budget": {"h100": 0}, "teams": {"guest": {"budget": {"h100": 0}}}},
    },
}


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """All sixteen GPUs belong to one team, and another one may borrow them."""
    return volcano_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))


def lend(scene: Scene, gpus: int) -> None:
    """Everything is lent to jobs of one pod with so many GPUs."""
    scene.clear()
    scene.gang(GUEST, 1, gpus, times=16 // gpus)
    scene.expect({GUEST: 16})


@pytest.mark.parametrize("lent", [8, 4, 1])
def test_a_gang_of_large_pods_gets_its_quota_back(scene: Scene, lent: int) -> None:
    """Whatever the size of the pods that it was lent to."""
    lend(scene, lent)
    scene.gang(OWNER, 2, 8)
    scene.expect({OWNER: 16})


def test_a_gang_of_many_small_pods_gets_nothing_from_few_large_ones(scene: Scene) -> None:
    """Four pods find two to evict: the gang waits for good, and nobody is evicted."""
    lend(scene, 8)
    with scene.watch() as seen:
        scene.gang(OWNER, 4, 4)
        scene.settle()
    assert scene.holders() == {GUEST: 16}
    assert seen.evicted(GUEST) == 0


def test_jobs_of_one_small_pod_get_everything_back(scene: Scene) -> None:
    """They are gangs of one, and use the room that was made for the first of them."""
    lend(scene, 8)
    scene.gang(OWNER, 1, 4, times=4)
    scene.expect({OWNER: 16})


def test_a_small_gang_evicts_more_than_it_needs(scene: Scene) -> None:
    """Two pods of one GPU evict two of eight; of what these leave, one can come back at most."""
    lend(scene, 8)
    with scene.watch() as seen:
        scene.gang(OWNER, 2, 1)
        scene.wait(lambda: scene.held(OWNER) == 2, "the gang has its two GPUs")
        scene.settle()
    assert scene.held(OWNER) == 2
    assert scene.held(GUEST) in (0, 8)
    assert seen.evicted(GUEST) == 2
