"""Leaves with work in them: the way of one into the queue of a team's projects, and why none ever gets a queue below.

A department of 16 GPUs that is full: each of two teams owns half of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest

from tenancy.backend.volcano.order import steps
from tests.cluster import deploy, volcano, volcano_jobs
from tests.cluster.client import Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster, until
from tests.cluster.volcano_jobs import Scene
from tests.cluster.volcano_sync import Sync

pytestmark = pytest.mark.volcano("1.15")

VISION: Final = "research/vision"
NLP: Final = "research/nlp"
TRAIN: Final = "research/vision/train"
LEAF: Final = "research-vision-h100"
ABOVE: Final = "research-vision-projects-h100"
BELOW: Final = "research-vision-train-h100"
KIND: Final = "queues.scheduling.volcano.sh"
PASSES: Final = 4
"""Of a sync that never ends."""


def _organization(cluster: Cluster, *, budget: bool) -> Compiled:
    """One of vision's projects has a budget, or none has."""
    train = {"train": {"budget": {"h100": 4}}} if budget else {}
    vision = {"budget": {"h100": 8}, "projects": {"lab": {}, **train}}
    research = {"budget": {"h100": 16}, "teams": {"vision": vision, "nlp": {"budget": {"h100": 8}}}}
    node = {"gpus": 8, "cpu": 64, "memory": "512Gi"}
    tree: dict[str, Any] = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"main": {}},
        "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": node}},
        "departments": {"research": research},
    }
    return deploy.compiled_for(cluster, tree)


@pytest.fixture
def scene(cluster: Cluster) -> Scene:
    """No project has a budget yet."""
    return volcano_jobs.opened(cluster, _organization(cluster, budget=False))


def test_the_first_budget_of_a_project_in_a_full_department_needs_a_hand(scene: Scene, random_seed: int) -> None:
    """A plain sync is refused for ever. With the leaf moved out of the way it ends; what runs in the leaf runs on all
    the time, and what comes while it is out of the way waits until it is back."""
    cluster, after = scene.cluster, _organization(scene.cluster, budget=True)
    sync, plan = Sync(cluster, Random(random_seed)), steps(_queues(scene.made), _queues(after))
    (commit,) = plan.commits
    assert [step.name for step in plan.parking] == [LEAF]
    assert [f"{step.action} {step.name}" for step in commit] == [f"create {ABOVE}", f"update {LEAF}", f"create {BELOW}"]
    scene.bare(VISION, 2)
    scene.expect({VISION: 2})
    running = _running(scene)
    for _ in range(PASSES):
        left = {each.step.name: each.why for each in sync.once(commit)}
        assert "exceeds parent's deserved limit" in left[ABOVE]
        assert all(f'"{ABOVE}" not found' in left[name] for name in (LEAF, BELOW))
    with scene.watch() as seen:
        cluster.kubectl("patch", KIND, LEAF, "--type", "merge", "-p", '{"spec": {"parent": "root"}}')
        scene.bare(VISION, 1)
        scene.bare(NLP, 1)
        scene.expect({VISION: 2, NLP: 1})
        sync.seen()
        sync.run(commit, plan.passes)
        scene.change(after)
        scene.bare(TRAIN, 1)
        scene.expect({VISION: 3, NLP: 1, TRAIN: 1})
    assert seen.killed() == 0
    assert _running(scene) >= running


def test_a_leaf_never_gets_a_queue_below(scene: Scene) -> None:
    """Running pods refuse it. Work that waits does not, and then nothing is scheduled in the whole cluster until the
    queue below is gone: why the queue above a team's projects has a name of its own."""
    client, below = scene.cluster.client, volcano.queue("below", {"parent": LEAF})
    one = scene.bare(VISION, 1)
    scene.expect({VISION: 1})

    def refusal() -> str:
        try:
            client.apply(below, dry_run=True)
        except Refused as refused:
            return refused.message
        return ""

    until(lambda: "cannot be the parent queue of queue below because it has allocated Pods: 1" in refusal(), "refused")
    scene.finish(one)
    until(lambda: refusal() == "", "the webhook knows that nothing runs there")
    scene.bare(VISION, 1, gpus=9)
    scene.expect({})
    client.apply(below)
    scene.bare(NLP, 1)
    scene.settle()
    assert scene.holders() == {}
    client.delete(client.path(below))
    scene.expect({NLP: 1})


def _queues(made: Compiled) -> Iterator[Object]:
    return (item for item in made.objects if item["kind"] == "Queue")


def _running(scene: Scene) -> set[str]:
    """The pods of vision that are bound, by uid."""
    return {pod["metadata"]["uid"] for pod in scene.pods(VISION) if pod["spec"].get("nodeName")}
