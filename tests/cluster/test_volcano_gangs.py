"""Gangs on Volcano: all of a job or nothing, how much of it is fed by reclaim, and what restarts do to it.

Each case has a node of its own, of which an owner has the quota and a guest has everything. Several tests look at one
story.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from functools import partial
from typing import Final

import pytest

from tests.cluster import volcano_jobs
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster, until
from tests.cluster.scene import PATIENCE
from tests.cluster.volcano_jobs import MINIMUM, Scene
from tests.cluster.volcano_trees import Small, Whole, compiled, flavor, reach, small, whole
from tests.cluster.volcano_watch import Watch

pytestmark = pytest.mark.volcano("1.15")

OWNERS: Final[dict[str, tuple[Callable[[Scene, str], object], int]]] = {
    "one": (lambda scene, unit: scene.gang(unit, 8, minimum=1), 1),
    "four": (lambda scene, unit: scene.gang(unit, 8, minimum=4), 4),
    "eight": (lambda scene, unit: scene.gang(unit, 8), 8),
    "singles": (lambda scene, unit: scene.gang(unit, 1, times=8), 8),
    "deployment": (lambda scene, unit: scene.deployment(unit, 8), 1),
    "templated": (lambda scene, unit: scene.deployment(unit, 8, annotations={MINIMUM: "8"}), 1),
    "grouped": (lambda scene, unit: scene.deployment(unit, 8, minimum=8), 8),
}
"""What owners of 8 ask for when a guest has all of it, and how much of it they get back."""
PODS, JOB = Small("pods"), Small("job")
"""Of the guest a job of 8 is restarted pod by pod; or by and by a gang of 2."""
ROOM: Final = Whole("room")


def organization(cluster: Cluster) -> Compiled:
    """All copies."""
    copies = [*map(Small, OWNERS), PODS, JOB]
    return compiled(
        cluster,
        {**{copy.flavor: flavor(1) for copy in copies}, ROOM.flavor: flavor(4)},
        [*map(small, copies), whole(ROOM)],
    )


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """All copies on empty nodes."""
    return volcano_jobs.opened(cluster, organization(cluster))


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    """What is seen while owners get back what guests hold, pod by pod."""

    scene: Scene
    held: dict[str, int]
    seen: Watch
    broken: str
    """The job whose pods are restarted one by one."""


@pytest.fixture(scope="module")
def story(scene: Scene) -> Story:
    """All is lent, and owners ask."""
    for name in OWNERS:
        scene.bare(Small(name).guest, 8)
    restarts = {"maxRetry": 3, "policies": [{"event": "PodEvicted", "action": "RestartPod"}]}
    (broken,) = scene.gang(PODS.guest, 8, minimum=1, job=restarts)
    reach(scene, {**{Small(name).guest: 8 for name in OWNERS}, PODS.guest: 8})
    with scene.watch() as seen:
        for name, (ask, _) in OWNERS.items():
            ask(scene, Small(name).owner)
        scene.gang(PODS.owner, 4)
        # Its pods are gone for good.
        scene.asked -= 8
        reach(scene, {**{Small(name).owner: count for name, (_, count) in OWNERS.items()}, PODS.owner: 4})
        scene.wait(lambda: scene.phases(PODS.guest)[broken] == "Failed", "the job has failed")
        scene.wait(lambda: scene.bound(broken) == 0, "its pods are gone")
    return Story(scene, scene.holders(), seen, broken)


@pytest.mark.parametrize("name", OWNERS)
def test_reclaim_feeds_a_job_up_to_its_minimum(story: Story, name: str) -> None:
    """Of 8 GPUs that it may take back a job gets as many as it needs to start: 1, 4 or 8 of 8. A Deployment starts with
    one pod, unless an annotation of the Deployment itself says more; on its pods it says nothing."""
    copy, (_, count) = Small(name), OWNERS[name]
    assert (story.held[copy.owner], story.held.get(copy.guest, 0)) == (count, 8 - count)
    assert story.seen.evicted(copy.guest) == count


def test_restarting_evicted_pods_ends_the_job(story: Story) -> None:
    """Under `PodEvicted → RestartPod` each of four pods that are evicted at once is a retry: with the default of three
    the job has failed, and the pods that nobody wanted are gone as well."""
    assert story.scene.phases(PODS.guest) == {story.broken: "Failed"}
    assert story.scene.bound(story.broken) == 0
    assert story.seen.killed(PODS.guest) == 8


def test_every_restart_is_a_retry(scene: Scene) -> None:
    """A gang that loses a pod again and again has failed after three times at most with the default of three retries,
    and runs on with more."""
    few, many = (scene.gang(JOB.guest, 2, job={"maxRetry": count})[0] for count in (3, 100))
    reach(scene, {JOB.guest: 4})
    lost = 0
    while scene.phases(JOB.guest)[few] != "Failed":
        lost += 1
        before = {pod["metadata"]["uid"] for pod in scene.pods(JOB.guest)}
        for name in (few, many):
            (pod,) = (pod for pod in scene.pods(JOB.guest) if pod["metadata"]["name"] == f"{name}-main-0")
            scene.cluster.client.delete(scene.cluster.client.path({"apiVersion": "v1", "kind": "Pod", **pod}))
        for name in (few, many):
            until(partial(_over, scene, before, name), "it has failed, or its pods are new ones", PATIENCE)
    assert 2 <= lost <= 3
    scene.asked -= 2
    reach(scene, {JOB.guest: 2})
    scene.wait(lambda: scene.phases(JOB.guest) == {few: "Failed", many: "Running"}, "the other one runs")


def _over(scene: Scene, before: Collection[str], name: str) -> bool:
    """Whether a job has failed, or both of its pods are bound and neither is one of these."""
    uids = [pod["metadata"]["uid"] for pod in scene.pods(JOB.guest) if pod["metadata"]["name"].startswith(f"{name}-")]
    restarted = scene.bound(name) == 2 == len(uids) and not {*uids} & {*before}
    return restarted or scene.phases(JOB.guest)[name] == "Failed"


def test_a_gang_holds_all_or_nothing(scene: Scene) -> None:
    """A gang of 8 with room for 7 holds nothing and lets others pass, and runs whole as soon as there is room."""
    busy = scene.gang(ROOM.vision, 12)
    scene.bare(ROOM.nlp, 8)
    scene.bare(ROOM.search, 5)
    reach(scene, ROOM.holding(12, 8, 5))
    (gang,) = scene.gang(ROOM.search, 8)
    scene.settle()
    assert scene.bound(gang) == 0
    scene.bare(ROOM.nlp, 4)
    reach(scene, ROOM.holding(12, 12, 5))
    assert scene.bound(gang) == 0
    told = "pod group is not ready, 8 Pending, 8 minAvailable"
    scene.wait(lambda: told in " ".join(scene.why(ROOM.search)), f"it is told: {told}")
    scene.finish(busy)
    reach(scene, ROOM.holding(0, 12, 13))
    assert scene.bound(gang) == 8
