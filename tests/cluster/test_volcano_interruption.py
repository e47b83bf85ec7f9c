"""Work that others may interrupt is made for it on Volcano: what may be submitted where GPUs are borrowed, and what
follows. The organization is that of `test_interruption`, with a Kubernetes class for each priority."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from tenancy.backend.job_priority import Author
from tenancy.backend.job_request import Job
from tests.backend.kueue.interruptions import CHECKPOINT, GRACE, ORGANIZATION
from tests.cluster import deploy, volcano_jobs
from tests.cluster.client import Object, Refused
from tests.cluster.plane import Cluster
from tests.cluster.test_job_templates import written
from tests.cluster.volcano_jobs import Scene
from tests.cluster.volcano_watch import bound

pytestmark = pytest.mark.volcano("1.15")

VISION, NLP, SURE = "lab/vision", "lab/nlp", "lab/sure"
SAVED: Final[dict[str, Any]] = {
    "flavor": "h100",
    "priority": "research",
    "annotations": {CHECKPOINT: "s3://bucket/run"},
    "pod": {"terminationGracePeriodSeconds": GRACE},
}
"""Of work that saves its state."""
SPARE: Final[dict[str, Any]] = {"flavor": "h100", "priority": "scavenger"}
SLOW: Final = ("20s", "20s")
"""How long a pod here takes to end: long enough to look at it."""

NAMED: Final = "name a preemptible priority in priorityClassName of the pod template, not "
REFUSED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "no priority": ({"flavor": "h100"}, f"{NAMED}none; its own are: research, scavenger"),
    "not preemptible": ({**SAVED, "priority": "production"}, f"{NAMED}production"),
    "saves nothing": ({**SAVED, "annotations": {}}, f"say where in the annotation {CHECKPOINT}"),
    "Kubernetes' time": ({**SAVED, "pod": {}}, f"have {GRACE} seconds to save their state"),
    "too little time": (
        {**SAVED, "pod": {"terminationGracePeriodSeconds": GRACE - 1}},
        f"write terminationGracePeriodSeconds: {GRACE}, or more",
    ),
}
"""By name: how work is submitted, and the words of the refusal."""


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization at work."""
    found = volcano_jobs.opened(cluster, deploy.compiled_for(cluster, ORGANIZATION))
    deploy.admission_settled(cluster, found.made.plan.kubernetes)
    return found


def words(submit: Callable[[], object]) -> str:
    """Of the refusal."""
    with pytest.raises(Refused) as refused:
        submit()
    return refused.value.message


@pytest.mark.parametrize("name", REFUSED)
def test_other_work_is_told_what_to_write(scene: Scene, name: str) -> None:
    """A Volcano job, a pod and a Deployment that would lose their GPUs unprepared are refused alike."""
    how, said = REFUSED[name]
    assert said in words(lambda: scene.gang(VISION, 1, **how))
    assert said in words(lambda: scene.bare(VISION, 1, **how))
    assert said in words(lambda: scene.deployment(VISION, 1, **how))


def test_work_that_is_made_for_it_runs(scene: Scene) -> None:
    """What saves its state, what begins again, and what has the class of its Volcano job; and all of a unit that
    borrows nothing."""
    scene.clear()
    scene.gang(VISION, 2, **SAVED)
    scene.gang(VISION, 1, **{**SAVED, "priority": ""}, job={"priorityClassName": "research"})
    scene.bare(VISION, 1, **SPARE)
    scene.deployment(VISION, 1, **SPARE)
    scene.gang(SURE, 1, flavor="h100", priority="production")
    scene.expect({VISION: 5, SURE: 1})
    scene.clear()


@pytest.mark.parametrize("kind", ["vcjob", "plain"])
@pytest.mark.parametrize("priority", ["", "research", "scavenger"])
def test_the_jobs_that_are_written_for_people_pass(scene: Scene, kind: str, priority: str) -> None:
    """What `tenancy job` prints of each kind has what its priority asks for, also where none was asked for."""
    author = Author(priority=priority, name="mine", checkpoint="s3://bucket/run")
    for item in written(scene, Job(gpus=8, pods=2, flavor="h100"), kind, VISION, author=author):
        scene.cluster.client.create(item, dry_run=True)


def test_what_is_taken_back_has_its_time(scene: Scene) -> None:
    """The pod of a borrowed job that is reclaimed ends with the grace of its priority, and the owner's pod is bound to
    its node when it is gone; nobody else is evicted meanwhile."""
    scene.clear()
    scene.gang(VISION, 1, 8, times=3, **SAVED, dies=SLOW)
    scene.expect({VISION: 24})
    before = {pod["metadata"]["uid"]: pod["spec"]["nodeName"] for pod in scene.pods(VISION)}
    scene.gang(NLP, 1, 8, **SAVED)
    seen: dict[str, Object] = {}

    def owner_runs() -> bool:
        ending = [pod for pod in scene.pods(VISION) if "deletionTimestamp" in pod["metadata"]]
        seen.update({pod["metadata"]["uid"]: pod for pod in ending})
        running = any(bound(pod) for pod in scene.pods(NLP))
        assert not (running and ending)
        return running

    scene.wait(owner_runs, "the owner's job runs", 120)
    (victim,) = seen.values()
    assert victim["metadata"]["deletionGracePeriodSeconds"] == GRACE
    assert scene.running(NLP, 1) == [before[victim["metadata"]["uid"]]]
    scene.expect({VISION: 16, NLP: 8})
    assert {pod["metadata"]["uid"] for pod in scene.pods(VISION) if bound(pod)} == before.keys() - seen.keys()
    scene.clear()
