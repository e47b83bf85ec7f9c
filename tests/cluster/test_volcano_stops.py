"""What one member of one team does to a whole cluster with Volcano, without our policies and then with them.

A pod, a PodGroup or a pod template that names an inner queue or `root` stops the scheduling of everybody, in every
flavor's tree; an annotation of a pod keeps what was lent to it. Order matters: the policies come with the first test
that asks for `guarded`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from tests.backend.volcano.policy_requests import PREEMPTABLE
from tests.cluster import deploy, volcano_jobs
from tests.cluster.attackers import is_policy
from tests.cluster.client import Client, Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE
from tests.cluster.volcano import PODGROUPS
from tests.cluster.volcano_jobs import NAMES, QUEUE, Scene
from tests.cluster.volcano_trees import NODE

pytestmark = pytest.mark.volcano("1.15")

VISION, NLP, WEB = "research/vision", "research/nlp", "serving/web"
STILL: Final = 6
"""Cycles of the scheduler, each a second or more, in which a pod that can be bound is bound (it takes two)."""
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "stops",
    "clusters": {"main": {}},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 1, "node": NODE},
        "l4": {"gpu": "L4", "nodes": 1, "node": {"gpus": 4, "cpu": 34, "memory": "132Gi"}},
    },
    "departments": {
        "research": {
            "budget": {"h100": 8},
            "teams": {
                "vision": {"budget": {"h100": 4}, "access": {"members": ["user:ada"]}},
                "nlp": {"budget": {"h100": 4}, "access": {"members": ["user:ada"]}},
            },
        },
        "serving": {"budget": {"l4": 4}, "teams": {"web": {"budget": {"l4": 4}}}},
    },
}
INNER, TOP, ROOT = "research-h100", "h100", "root"
"""The queue of a department, that of a flavor, and Volcano's own above all."""
KINDS: Final = ("Pod", "Deployment", "PodGroup")
STOPS: Final = [(kind, queue) for kind in KINDS for queue in (INNER, TOP, ROOT)]


@pytest.fixture(scope="module")
def made(cluster: Cluster) -> Compiled:
    """The organization with its policies."""
    return deploy.compiled_for(cluster, TREE)


@pytest.fixture(scope="module")
def scene(cluster: Cluster, made: Compiled) -> Scene:
    """Two teams that share eight GPUs of one flavor, and another department with a flavor of its own; no policies."""
    return volcano_jobs.opened(cluster, replace(made, objects=tuple(i for i in made.objects if not is_policy(i))))


@pytest.fixture(scope="module")
def guarded(scene: Scene, made: Compiled) -> Scene:
    """The same with the policies."""
    deploy.apply(scene.cluster, deploy.in_waves(filter(is_policy, made.objects)))
    deploy.admission_settled(scene.cluster, made.plan.kubernetes)
    return scene


def _named(kind: str, queue: str, namespace: str) -> Object:
    """An object of a kind that names a queue; it asks for one core."""
    metadata = {"name": f"stops-{next(NAMES)}", "namespace": namespace}
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    spec = {"schedulerName": "volcano", "containers": [{"name": "main", "image": "none", "resources": resources}]}
    if kind == "PodGroup":
        api, body = "scheduling.volcano.sh/v1beta1", {"minMember": 1, "queue": queue}
        return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": body}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": {**metadata, "annotations": {QUEUE: queue}}, "spec": spec}
    labels = {"app": metadata["name"]}
    template = {"metadata": {"labels": labels, "annotations": {QUEUE: queue}}, "spec": spec}
    deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": deployment}


def _whose(scene: Scene, kind: str) -> Client:
    """A member; nobody but controllers and platform staff may make PodGroups."""
    return scene.cluster.client if kind == "PodGroup" else scene.cluster.client.acting_as("ada")


def _refusal(client: Client, item: Object) -> str:
    """Why a create is refused; empty where it is not."""
    try:
        client.create(item)
    except Refused as refused:
        return refused.message
    return ""


def _another(scene: Scene, *, waits: bool) -> str:
    """A job of the other department, on its own nodes; bound at once, or not at all while the scheduler tries."""
    (job,) = scene.gang(WEB, 1)
    if waits:
        step = scene.steps()
        scene.wait(lambda: scene.steps() > step + STILL, "the scheduler has tried", PATIENCE)
        assert scene.bound(job) == 0
    else:
        scene.wait(lambda: scene.bound(job) == 1, "the other department's job is bound", PATIENCE)
    return job


@pytest.mark.parametrize(("kind", "queue"), STOPS)
def test_without_the_policies_one_object_stops_the_cluster(kind: str, queue: str, scene: Scene) -> None:
    """Volcano's webhooks let it in, and nobody's pods are bound any more, not those of another department on nodes of
    another flavor either, until it is deleted."""
    scene.clear()
    _another(scene, waits=False)
    killer, whose = _named(kind, queue, scene.namespace(VISION).name), _whose(scene, kind)
    assert _refusal(whose, killer) == ""
    groups = f"{PODGROUPS}?fieldSelector=metadata.namespace={killer['metadata']['namespace']}"
    client = scene.cluster.client
    scene.wait(lambda: [each["spec"]["queue"] for each in client.list(groups)] == [queue], "its PodGroup is there")
    job = _another(scene, waits=True)
    whose.delete(whose.path(killer), propagationPolicy="Background", gracePeriodSeconds="0")
    scene.wait(lambda: scene.bound(job) == 1, "the other department's job is bound", PATIENCE)


def _borrows(scene: Scene, annotations: dict[str, str]) -> None:
    """A team fills the flavor, half of it with what its sibling has lent."""
    scene.clear()
    scene.bare(NLP, 8, annotations=annotations)
    scene.expect({NLP: 8})
    scene.bare(VISION, 4)


def test_without_the_policies_lent_quota_is_kept(scene: Scene) -> None:
    """Pods that say `volcano.sh/preemptable: "false"` are never evicted: their owner's quota does not come back, while
    from pods that do not say so it does."""
    _borrows(scene, {PREEMPTABLE: "false"})
    scene.settle()
    assert scene.holders() == {NLP: 8}
    assert len(scene.pods(VISION)) == 4
    _borrows(scene, {})
    scene.expect({NLP: 4, VISION: 4})


@pytest.mark.parametrize(("kind", "queue"), STOPS)
def test_with_the_policies_it_is_refused(kind: str, queue: str, guarded: Scene) -> None:
    """Its author is told which queues there are, and the other department's job is bound."""
    guarded.clear()
    killer = _named(kind, queue, guarded.namespace(VISION).name)
    assert f"queue {queue} is not a queue of namespace research-vision; its queues are: research-vision-h100" in (
        _refusal(_whose(guarded, kind), killer)
    )
    _another(guarded, waits=False)


def test_with_the_policies_lent_quota_comes_back(guarded: Scene) -> None:
    """Pods and pod templates that would keep it are refused, and what others have borrowed is taken back."""
    guarded.clear()
    for kind in ("Pod", "Deployment"):
        item = _named(kind, guarded.leaf(NLP), guarded.namespace(NLP).name)
        template = item if kind == "Pod" else item["spec"]["template"]
        template["metadata"]["annotations"][PREEMPTABLE] = "false"
        assert f"Remove {PREEMPTABLE} from annotations and labels" in _refusal(_whose(guarded, kind), item)
    _borrows(guarded, {})
    guarded.expect({NLP: 4, VISION: 4})
