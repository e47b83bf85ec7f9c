"""What stops work on Volcano and what does not: units that are held or drain, closed Queues, no node group.

A state of a unit is an admission policy: Volcano closes a Queue by a Command only, and tenancy writes none.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import pytest

from tests.cluster import volcano, volcano_jobs
from tests.cluster.client import Client, Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE
from tests.cluster.volcano import QUEUES
from tests.cluster.volcano_jobs import NAMES, QUEUE, Scene
from tests.cluster.volcano_trees import compiled, flavor, reach
from tests.cluster.volcano_watch import Watch

pytestmark = pytest.mark.volcano("1.15")

CLOSED_BY_PARENT: Final = "volcano.sh/closed-by-parent"
NEW: Final = ("Pod", "Deployment", "Job")
"""Kinds of work that are tried, the last of Volcano's."""
STOPPED, BESIDE, FREE = "lab/stopped", "lab/beside", "others/free"


def organization(cluster: Cluster, state: str) -> Compiled:
    """Sixteen GPUs: eight of a department of two teams, of which one is in this state, and eight of another one."""
    half = {"budget": {"h100": 4}}
    departments: dict[str, Any] = {
        "lab": {"budget": {"h100": 8}, "teams": {"stopped": {**half, "state": state}, "beside": half}},
        "others": {"budget": {"h100": 8}, "teams": {"free": {"budget": {"h100": 8}}}},
    }
    return compiled(cluster, {"h100": flavor(2)}, [departments])


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Everybody is active."""
    return volcano_jobs.opened(cluster, organization(cluster, "active"))


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    """What is seen of a team that holds its 4 and has a job of 2 that waits, while it is held and then drains."""

    scene: Scene
    healed: int
    """What it holds after one of its pods was deleted."""
    started: int
    """And after others have made room for the job that waited."""
    drained: dict[str, int]
    seen: Watch
    """From when it is held to the end."""
    refused: dict[str, dict[str, str]]
    """By state and kind, the answers to new work."""
    again: dict[str, int]
    """Once it is active again and has asked for one more."""


@pytest.fixture(scope="module")
def story(scene: Scene) -> Story:
    """It is held, it drains, it is active again."""
    scene.clear()
    runs = scene.deployment(STOPPED, 4)
    scene.bare(BESIDE, 4)
    busy = scene.bare(FREE, 8)
    reach(scene, {STOPPED: 4, BESIDE: 4, FREE: 8})
    scene.gang(STOPPED, 2)
    scene.settle()
    refused = {}
    with scene.watch() as seen:
        scene.change(organization(scene.cluster, "held"))
        refused["held"] = _refusals(scene, "held")
        (lost, *_) = [pod for pod in scene.pods(STOPPED) if pod["metadata"]["name"].startswith(f"{runs}-")]
        scene.cluster.client.delete(scene.cluster.client.path({"apiVersion": "v1", "kind": "Pod", **lost}))
        scene.wait(lambda: lost["metadata"]["uid"] not in _uids(scene), "the pod is gone", PATIENCE)
        reach(scene, {STOPPED: 4})
        healed = scene.held(STOPPED)
        scene.finish(busy[:2])
        reach(scene, {STOPPED: 6, FREE: 6})
        started = scene.held(STOPPED)
        scene.change(organization(scene.cluster, "draining"))
        refused["draining"] = _refusals(scene, "draining")
        scene.settle()
        drained = scene.holders()
    scene.change(organization(scene.cluster, "active"))
    scene.wait(lambda: _answers(scene) == {}, "work is taken again", PATIENCE)
    scene.finish(busy[2:3])
    scene.gang(STOPPED, 1)
    reach(scene, {STOPPED: 7})
    return Story(scene, healed, started, drained, seen, refused, scene.holders())


def _uids(scene: Scene) -> list[str]:
    return [pod["metadata"]["uid"] for pod in scene.pods(STOPPED)]


def _refusals(scene: Scene, state: str) -> dict[str, str]:
    """What is said to new work once the API server obeys the policy of the state: it reads policies from a cache."""

    def obeyed() -> bool:
        answers = [*_answers(scene).values()]
        return len(answers) == len(NEW) and all(f"is {state}" in each for each in answers)

    scene.wait(obeyed, f"new work of every kind is refused, and told that its unit is {state}", PATIENCE)
    return _answers(scene)


def _answers(scene: Scene, unit: str = STOPPED) -> dict[str, str]:
    """What the API server says to new work of a team, by kind, where it refuses it."""
    namespace, queue = scene.namespace(unit).name, scene.leaf(unit)
    pod = {"schedulerName": "volcano", "containers": [{"name": "main", "image": "none"}]}
    labels = {"app": "new"}
    template = {"metadata": {"annotations": {QUEUE: queue}, "labels": labels}, "spec": pod}
    task = {"name": "main", "replicas": 1, "template": {**template, "spec": {**pod, "restartPolicy": "Never"}}}
    items: list[Object] = [
        {"apiVersion": "v1", "kind": "Pod", **template},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "spec": {"queue": queue, "schedulerName": "volcano", "minAvailable": 1, "tasks": [task]},
        },
    ]
    answers = {}
    for item in items:
        metadata = {**item.get("metadata", {}), "name": "new", "namespace": namespace}
        try:
            scene.cluster.client.create({**item, "metadata": metadata}, dry_run=True)
        except Refused as refused:
            answers[item["kind"]] = refused.message.rpartition("denied request: ")[2]
    return answers


@pytest.mark.parametrize("state", ["held", "draining"])
def test_new_work_is_refused(story: Story, state: str) -> None:
    """A unit that is held or drains takes no pod, no Deployment and no Volcano job, and says why."""
    assert sorted(story.refused[state]) == sorted(NEW)
    assert {*story.refused[state].values()} == {
        f"The unit of this namespace is {state}, so new work is refused; what runs goes on, and its controllers may "
        "restart it. Submit it again when the organization says `state: active`"
    }


def test_what_runs_heals(story: Story) -> None:
    """A pod that a held unit loses is made again by its controller and bound."""
    assert story.healed == 4


def test_what_waited_still_starts(story: Story) -> None:
    """A job from before the unit was held starts as soon as there is room. Kueue would let it wait."""
    assert story.started == 6


def test_draining_ends_nothing(story: Story) -> None:
    """What runs goes on: but for the pod that was deleted nobody loses one. Kueue would evict all of it."""
    assert story.drained == {STOPPED: 6, BESIDE: 4, FREE: 6}
    assert (story.seen.evicted(), story.seen.killed(STOPPED)) == (0, 1)


def test_active_units_take_work_again(story: Story) -> None:
    """Back to `active` the next job is taken and runs."""
    assert story.again == {STOPPED: 7, BESIDE: 4, FREE: 5}


def _command(scene: Scene, action: str, queue: str) -> None:
    """What closes and opens a Queue, as `vcctl queue operate` does it."""
    client = scene.cluster.client
    uid = client.get(f"{QUEUES}/{queue}")["metadata"]["uid"]
    command = {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"name": f"operate-{next(NAMES)}", "namespace": "default"},
        "action": action,
        "target": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "name": queue, "uid": uid},
    }
    client.create(command)


def _open(scene: Scene, queue: str) -> None:
    _command(scene, "OpenQueue", queue)
    scene.wait(lambda: _states(scene, queue) == ["Open"], f"{queue} is open", PATIENCE)


def _states(scene: Scene, *names: str) -> list[str]:
    return [scene.cluster.client.get(f"{QUEUES}/{name}").get("status", {}).get("state", "") for name in names]


def _closed_by_parent(scene: Scene, name: str) -> str:
    """What Volcano's controller marks a Queue with, before it closes it and after it has opened it."""
    found: str = scene.cluster.client.get(f"{QUEUES}/{name}")["metadata"]["annotations"][CLOSED_BY_PARENT]
    return found


def test_a_queue_that_is_closed(scene: Scene) -> None:
    """Closing a department's Queue closes those of its teams: what runs goes on, jobs are refused, and as long as a
    Queue is Closing the API server refuses to apply it as it is. Of what is in Git only an annotation is added."""
    scene.clear()
    inner, leaf = "lab-h100", scene.leaf(BESIDE)
    item = next(each for each in scene.made.objects if each["kind"] == "Queue" and each["metadata"]["name"] == leaf)
    names = scene.bare(BESIDE, 2)
    reach(scene, {BESIDE: 2})
    _command(scene, "CloseQueue", inner)
    scene.wait(lambda: _states(scene, inner, leaf) == ["Closed", "Closing"], "the Queues are closed", PATIENCE)
    # The webhook of jobs looks into a cache.
    refusal = "can only submit job to queue with state `Open`"
    scene.wait(lambda: refusal in _answers(scene, BESIDE).get("Job", ""), "jobs are refused", PATIENCE)
    with pytest.raises(Refused, match=r"queue state must be in \[Open Closed\]"):
        scene.cluster.client.apply(item)
    scene.settle()
    assert scene.holders() == {BESIDE: 2}
    live = scene.cluster.client.get(f"{QUEUES}/{leaf}")
    assert live["metadata"]["annotations"] == {**item["metadata"]["annotations"], CLOSED_BY_PARENT: "true"}
    assert live["spec"] == item["spec"]
    scene.finish(names)
    scene.wait(lambda: _states(scene, leaf) == ["Closed"], "the last pod is gone", PATIENCE)
    scene.cluster.client.apply(item)
    _open(scene, inner)
    _open(scene, leaf)
    scene.bare(BESIDE, 1)
    reach(scene, {BESIDE: 1})
    scene.wait(lambda: _closed_by_parent(scene, leaf) == "false", "nor is it marked as closed any more", PATIENCE)


def test_a_queue_without_a_node_group_runs_nothing(scene: Scene) -> None:
    """Not even on idle nodes; once it has one, its work is bound. A namespace beside the organization may name such a
    queue when its annotation does."""
    client = scene.cluster.client
    scene.clear()
    _may_name(scene, "loose")
    client.create(volcano.queue("loose", {"parent": "root", "capability": {"cpu": "8", "nvidia.com/gpu": "8"}}))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "loose", "annotations": {QUEUE: "loose"}},
        "spec": {
            "schedulerName": "volcano",
            "containers": [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "1"}}}],
        },
    }
    scene.wait(lambda: _taken(client, pod), "the namespace may name the queue", PATIENCE)
    path, step = client.path(pod), scene.steps()
    scene.wait(lambda: scene.steps() >= step + scene.STEPS, "the scheduler has looked", PATIENCE)
    before = client.get(path)["spec"].get("nodeName")
    group = {"requiredDuringSchedulingIgnoredDuringExecution": ["h100"]}
    client.patch(f"{QUEUES}/loose", {"spec": {"affinity": {"nodeGroupAffinity": group}}})
    scene.wait(lambda: "nodeName" in client.get(path)["spec"], "the pod is bound", PATIENCE)
    client.delete(path, gracePeriodSeconds="0")
    _may_name(scene, None)
    assert before is None


def _may_name(scene: Scene, queue: str | None) -> None:
    """The queue that work of the namespace `default` may name."""
    annotations = {f"{scene.made.plan.domain}/queues": queue}
    scene.cluster.client.patch("/api/v1/namespaces/default", {"metadata": {"annotations": annotations}})


def _taken(client: Client, item: Object) -> bool:
    """Whether an object is created; what a policy knows of a namespace comes from a cache."""
    try:
        client.create(item)
    except Refused:
        return False
    return True
