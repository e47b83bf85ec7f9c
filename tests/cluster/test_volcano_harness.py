"""Volcano in the test bed: it runs with its own rights, refuses what it cannot use, and the scene sees what happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.cluster import deploy, versions, volcano, volcano_jobs
from tests.cluster.client import Refused
from tests.cluster.plane import Cluster
from tests.cluster.processes import NotReady
from tests.cluster.volcano_jobs import Scene

pytestmark = pytest.mark.volcano("1.15")

TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "lending",
    "clusters": {"main": {}},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 64, "memory": "512Gi"}},
        "h200": {"gpu": "H200-SXM-141GB", "nodes": 1, "node": {"gpus": 8, "cpu": 64, "memory": "512Gi"}},
    },
    "departments": {
        "research": {
            "budget": {"h100": 16, "h200": 8},
            "teams": {"vision": {"budget": {"h100": 8}}, "nlp": {"budget": {"h100": 8, "h200": 8}}},
        },
    },
}
VISION: Final = "research/vision"
NLP: Final = "research/nlp"


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """Two teams that own half of sixteen GPUs each."""
    return volcano_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))


@pytest.fixture
def configured(cluster: Cluster) -> Iterator[Cluster]:
    """A cluster that has its configuration back afterwards."""
    before = cluster.configuration
    yield cluster
    volcano.configure(cluster, before)


def test_single_jobs_give_back_as_many_pods_as_are_asked_for(scene: Scene) -> None:
    """The owner takes its quota back to the last GPU, and the borrower keeps its own at every moment."""
    scene.clear()
    scene.gang(NLP, 1, times=16)
    scene.expect({NLP: 16})
    with scene.watch() as seen:
        scene.gang(VISION, 8)
        scene.expect({VISION: 8, NLP: 8})
    assert (seen.evicted(NLP), seen.killed(NLP), seen.lowest(NLP)) == (8, 8, 8)
    assert (seen.evicted(VISION), seen.lowest(VISION)) == (0, 0)


def test_a_gang_that_lost_pods_comes_back_whole(scene: Scene) -> None:
    """What is left of a gang after an eviction is restarted, waits without a pod, and runs again when there is room."""
    scene.clear()
    borrowers = scene.gang(NLP, 8, times=2)
    scene.expect({NLP: 16})
    with scene.watch() as seen:
        (owner,) = scene.gang(VISION, 8)
        scene.expect({VISION: 8, NLP: 8})
    assert seen.evicted() == 8
    assert sorted(map(scene.bound, borrowers)) == [0, 8]
    scene.finish([owner])
    scene.expect({NLP: 16})
    scene.wait(lambda: set(scene.phases(NLP).values()) == {"Running"}, "both jobs run")


def test_every_kind_of_work_is_seen(scene: Scene) -> None:
    """Deployments, elastic jobs and bare pods hold GPUs of the flavor that they ask for; one that asks too much is told
    so."""
    scene.clear()
    deployment = scene.deployment(NLP, 4, minimum=4)
    (elastic,) = scene.gang(NLP, 16, minimum=1)
    scene.bare(NLP, 6, flavor="h200")
    scene.expect({NLP: 22})
    assert scene.bound(deployment) + scene.bound(elastic) == 16
    assert scene.held(NLP, flavor="h200") == 6
    assert {node.rpartition("-")[0] for node in scene.running(NLP, 22)} == {"h100", "h200"}
    scene.gang(NLP, 3, flavor="h200")
    scene.settle()
    assert scene.held(NLP, flavor="h200") == 6
    scene.wait(lambda: any("3 minAvailable" in message for message in scene.why(NLP)), "it is told so")


def test_the_programs_have_the_rights_of_their_installation_and_need_no_more(cluster: Cluster, scene: Scene) -> None:
    """After all of this none of the three was refused anything by the API server for lack of a right. Where namespaces
    end, their controllers may be refused what they make there, which is forbidden as well."""
    assert scene.made.objects
    for program in versions.volcano(cluster.volcano).programs:
        log = cluster.processes.log(f"volcano-{program}").read_text(encoding="utf-8")
        assert log
        assert re.search(r"forbidden: User", log) is None


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        ("actions: reclame\ntiers: []\n", "Invalid scheduler configuration"),
        ("actions: allocate\ntiers:\n- plugins:\n  - name: binpackk\n", "Failed to get plugin binpackk"),
        ("", "Invalid scheduler configuration"),
    ],
    ids=["action", "plugin", "empty"],
)
def test_a_configuration_that_the_scheduler_cannot_use_is_not_ready(
    configured: Cluster, scheduler: str, said: str
) -> None:
    """In production each of these runs on, with the built-in configuration or without the plugin."""
    with pytest.raises(NotReady, match=said):
        volcano.configure(configured, {**configured.configuration, "scheduler": scheduler})


def test_a_queue_whose_parent_is_missing_is_refused(cluster: Cluster) -> None:
    """The webhook judges what is applied, so that the tests of what is accepted can fail."""
    with pytest.raises(Refused, match="failed to get parent queue nobody"):
        cluster.client.apply(volcano.queue("orphan", {"parent": "nobody"}))


def test_withdrawn_it_leaves_the_queues_of_volcano_alone(cluster: Cluster, scene: Scene) -> None:
    """Only the queues that Volcano makes itself are left, and both are open."""
    scene.clear()
    deploy.withdraw(cluster)
    queues = cluster.client.list(volcano.QUEUES)
    assert {item["metadata"]["name"]: item["status"]["state"] for item in queues} == {"default": "Open", "root": "Open"}
