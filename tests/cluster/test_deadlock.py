"""A gang of eight of which only seven can ever start, and another team that could use the seven GPUs.

Sixteen GPUs are promised, eight to each team; one node is cordoned and on the other somebody has taken a GPU. Pod by
pod, as Kubernetes alone starts them, seven pods hold seven GPUs for nothing and for ever.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from tests.cluster import deploy, jobs, native_jobs, volcano_jobs
from tests.cluster.client import Object
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE, limits

GANG, OTHER = "lab/gang", "lab/other"
GPU: Final = "nvidia.com/gpu"
RETRIES: Final = 1
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "deadlock",
    "clusters": {"main": {"placement": "plain"}},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"}},
    },
    "policy": {"borrowing": "none", "gang": {"startTimeout": "30s", "retries": RETRIES}},
    "departments": {
        "lab": {"budget": {"h100": 16}, "teams": {"gang": {"budget": {"h100": 8}}, "other": {"budget": {"h100": 8}}}}
    },
}


def _compiled(cluster: Cluster, placement: str = "plain") -> Compiled:
    """With `packed`, the default, Kueue looks for room on nodes before a job gets its quota."""
    return deploy.compiled_for(cluster, {**TREE, "clusters": {"main": {"placement": placement}}})


def _broken(cluster: Cluster) -> str:
    """Seven of sixteen GPUs are left; the path of the pod that has taken one of eight."""
    cluster.client.patch("/api/v1/nodes/h100-1", {"spec": {"unschedulable": True}})
    requests = {GPU: "1"}
    container = {"name": "main", "image": "none", "resources": {"requests": requests, "limits": limits(requests)}}
    taken: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "taken", "namespace": "kube-system"},
        "spec": {"nodeName": "h100-0", "containers": [container]},
    }
    cluster.client.create(taken)
    return cluster.client.path(taken)


# Kubernetes alone: what it is like.


@pytest.mark.native
def test_kubernetes_alone_holds_seven_gpus_for_nothing(cluster: Cluster) -> None:
    """Seven of eight pods are bound and stay so, the eighth never is, and the other team's pod of seven GPUs never
    starts though its quota is free; it starts when somebody deletes the gang."""
    scene = native_jobs.opened(cluster, _compiled(cluster))
    _broken(cluster)
    gang = scene.job(GANG, 8, scene.sizes(1))
    scene.wait(lambda: scene.holders() == {GANG: 7}, "seven pods are bound", PATIENCE)
    other = scene.job(OTHER, 1, scene.sizes(7))
    scene.told(OTHER, other, f"Insufficient {GPU}")
    scene.settle()
    assert scene.holders() == {GANG: 7}
    assert len(scene.pods(GANG)) == 8
    path = f"/apis/batch/v1/namespaces/{scene.namespace(GANG).name}/jobs/{gang}"
    cluster.client.delete(path, propagationPolicy="Background")
    scene.wait(lambda: scene.holders() == {OTHER: 7}, "the other team's pod is bound", PATIENCE)


# Kueue: room on nodes, and the timeout of the gang policy.


@pytest.mark.kueue("0.19", "0.17")
def test_on_kueue_a_gang_without_room_has_no_pods(cluster: Cluster) -> None:
    """Kueue knows the nodes: the gang waits for room without a pod, and the other team's job gets the seven GPUs."""
    scene = jobs.opened(cluster, _compiled(cluster, "packed"))
    _broken(cluster)
    scene.submit(GANG, 1, pods=8)
    scene.told(GANG, "allows to fit only 7 out of 8 pod(s)")
    scene.submit(OTHER, 7)
    scene.expect({OTHER: 7})
    scene.running(OTHER, 1)
    assert scene.pods(GANG) == []


def _impatient(made: Compiled, seconds: int) -> Compiled:
    """The same with so many seconds instead of a minute before a requeue, which org/ cannot say."""
    ready = made.configuration["waitForPodsReady"]
    strategy = {**ready["requeuingStrategy"], "backoffBaseSeconds": seconds}
    changed = {**made.configuration, "waitForPodsReady": {**ready, "requeuingStrategy": strategy}}
    return replace(made, configuration=changed)


@pytest.mark.kueue("0.19", "0.17")
def test_on_kueue_a_gang_that_cannot_start_gives_everything_back(cluster: Cluster) -> None:
    """With `placement: plain`, where Kueue knows no nodes, seven of its pods are bound; after `startTimeout` it is
    evicted, and the other team's job gets the seven GPUs. It is tried again `retries` times, in vain, is then put aside
    for good, and the other job has run all the time."""
    scene = jobs.opened(cluster, _impatient(_compiled(cluster), 10))
    _broken(cluster)
    scene.submit(GANG, 1, pods=8)
    scene.running(GANG, 7)
    scene.wait(lambda: scene.evictions(GANG, "PodsReadyTimeout") == 1, "the gang is evicted", PATIENCE)
    scene.submit(OTHER, 7)
    (host,) = scene.running(OTHER, 1)
    (uid,) = (pod["metadata"]["uid"] for pod in scene.pods(OTHER))
    scene.wait(lambda: scene.evictions(GANG, "Deactivated") == 1, "the gang is put aside", PATIENCE)
    scene.expect({OTHER: 7})
    (gang,) = scene.workloads(GANG)
    assert (scene.evictions(GANG, "PodsReadyTimeout"), gang["spec"]["active"]) == (RETRIES, False)
    assert scene.pods(GANG) == []
    assert scene.evictions(OTHER, "PodsReadyTimeout") == 0
    assert [(pod["metadata"]["uid"], pod["spec"]["nodeName"]) for pod in scene.pods(OTHER)] == [(uid, host)]


@pytest.mark.kueue("0.19")
def test_on_kueue_without_the_timeout_it_holds_them(cluster: Cluster) -> None:
    """Quota is not room: without waitForPodsReady, which our configuration has, and without knowing the nodes Kueue
    admits the gang, and seven pods hold seven GPUs."""
    made = _compiled(cluster)
    others = {key: value for key, value in made.configuration.items() if key != "waitForPodsReady"}
    scene = jobs.opened(cluster, replace(made, configuration=others))
    _broken(cluster)
    scene.submit(GANG, 1, pods=8)
    scene.running(GANG, 7)
    scene.submit(OTHER, 7)
    scene.expect({GANG: 8, OTHER: 7})
    assert (len(scene.hosts(GANG)), scene.hosts(OTHER)) == (7, [])


# Volcano: all or nothing, and what a policy of a job adds.


@pytest.fixture(scope="module")
def volcano(cluster: Cluster) -> volcano_jobs.Scene:
    """The organization on Volcano, all sixteen GPUs there."""
    return volcano_jobs.opened(cluster, _compiled(cluster))


@pytest.fixture
def broken(volcano: volcano_jobs.Scene) -> volcano_jobs.Scene:
    """Nobody works, and seven GPUs are left."""
    volcano.clear()
    volcano.cluster.client.delete("/api/v1/namespaces/kube-system/pods/taken", gracePeriodSeconds="0")
    volcano.wait(lambda: volcano.cluster.client.find("/api/v1/namespaces/kube-system/pods/taken") is None, "it is gone")
    _broken(volcano.cluster)
    return volcano


@pytest.mark.volcano("1.15")
def test_on_volcano_a_gang_that_cannot_start_holds_nothing(broken: volcano_jobs.Scene) -> None:
    """No pod of it is bound, and the other team's job gets the seven GPUs. It waits as long as it takes."""
    (gang,) = broken.gang(GANG, 8)
    broken.settle()
    assert broken.holders() == {}
    (other,) = broken.gang(OTHER, 1, 7)
    broken.expect({OTHER: 7})
    assert (broken.bound(gang), broken.bound(other)) == (0, 1)
    assert broken.phases(GANG) == {gang: "Pending"}


@pytest.mark.volcano("1.15")
def test_on_volcano_a_job_that_is_no_gang_holds_them(broken: volcano_jobs.Scene) -> None:
    """With a `minAvailable` of 1 seven pods are bound, and the other team gets nothing."""
    broken.gang(GANG, 8, minimum=1)
    broken.expect({GANG: 7})
    broken.gang(OTHER, 1, 7)
    broken.expect({GANG: 7})


def _with_sla(made: Compiled, *, before: bool) -> Compiled:
    """The same with the plugin `sla`, in a tier before all others or beside the plugin `gang`."""
    scheduler = yaml.safe_load(made.configuration["scheduler"])
    sla = {"name": "sla", "arguments": {"sla-waiting-time": "2s"}}
    first, *rest = scheduler["tiers"]
    tiers = [{"plugins": [sla]}, first, *rest] if before else [{"plugins": [*first["plugins"], sla]}, *rest]
    changed = yaml.safe_dump({**scheduler, "tiers": tiers})
    return replace(made, configuration={**made.configuration, "scheduler": changed})


@pytest.mark.volcano("1.15")
@pytest.mark.parametrize("before", [False, True], ids=["beside", "before"])
def test_on_volcano_sla_is_no_timeout(before: bool, broken: volcano_jobs.Scene) -> None:
    """Why our configuration does not have the plugin `sla`: beside `gang` it changes nothing, and before it a gang that
    has waited as long as it says keeps seven idle GPUs from all that come after it in its queue."""
    made = broken.made
    broken.change(_with_sla(made, before=before))
    (gang,) = broken.gang(GANG, 8)
    broken.settle()
    (small,) = broken.gang(GANG, 1)
    broken.expect({} if before else {GANG: 1})
    broken.change(made)
    broken.expect({GANG: 1})
    assert (broken.bound(gang), broken.bound(small)) == (0, 1)


@pytest.mark.volcano("1.15")
def test_on_volcano_a_timeout_of_pending_pods_ends_jobs_that_wait(broken: volcano_jobs.Scene) -> None:
    """Why no job template has `PodPending` with a timeout: its clock runs while the job waits in its queue, which is
    what a queue is for, and Kueue's only from when the job has its quota. A gang of eight was not even ended: each pod
    has a clock of its own, and all of them were made anew again and again."""
    late = {"event": "PodPending", "action": "AbortJob", "timeout": "3s"}
    (waits,) = broken.gang(GANG, 1, 8, job={"policies": [volcano_jobs.RESTART, late]})
    broken.asked -= 1
    broken.wait(lambda: broken.phases(GANG) == {waits: "Aborted"}, "the job is given up", PATIENCE)
    broken.expect({})


# A gang of which a pod has failed: the others wait for it.

ENDS: Final = {"exitCode": 1, "action": "TerminateJob"}
ON_ANY_FAILURE: Final = {"event": "PodFailed", "action": "TerminateJob"}
ERROR, KILLED = 1, 143
"""Exit codes of a program that has failed, and of one that was told to end."""


def _ran(scene: volcano_jobs.Scene, *policies: Object) -> str:
    """A gang of four that runs, with these policies beside that on evictions."""
    scene.clear()
    (name,) = scene.gang(GANG, 4, job={"policies": [volcano_jobs.RESTART, *policies]})
    scene.expect({GANG: 4})
    return name


def _end(scene: volcano_jobs.Scene, name: str, code: int, *, evicted: bool = False) -> None:
    """The first pod of a job ends with this exit code; kubelet says so of an evicted one as well, before it is gone."""
    client = scene.cluster.client
    (pod,) = (pod for pod in scene.pods(GANG) if pod["metadata"]["name"] == f"{name}-main-0")
    path = client.path({"apiVersion": "v1", "kind": "Pod", **pod})
    ended = {"name": "main", "state": {"terminated": {"exitCode": code}}, "image": "none", "imageID": "none"}
    status = {"phase": "Failed", "containerStatuses": [{**ended, "ready": False, "restartCount": 0}]}
    client.patch(f"{path}/status", {"status": status})
    if evicted:
        client.delete(path, gracePeriodSeconds="0")


@pytest.mark.volcano("1.15")
def test_on_volcano_a_gang_that_lost_a_pod_holds_the_rest(volcano: volcano_jobs.Scene) -> None:
    """Nothing ends a job of which one pod has failed: the three others hold their GPUs."""
    gang = _ran(volcano)
    _end(volcano, gang, ERROR)
    volcano.settle()
    running = [pod for pod in volcano.pods(GANG) if pod["status"]["phase"] == "Running"]
    assert (volcano.phases(GANG), len(running)) == ({gang: "Running"}, 3)


@pytest.mark.volcano("1.15")
def test_on_volcano_a_policy_ends_it(volcano: volcano_jobs.Scene) -> None:
    """With `exitCode: 1 → TerminateJob`, as in our job templates, all of them are ended."""
    gang = _ran(volcano, ENDS)
    volcano.asked -= 4
    _end(volcano, gang, ERROR)
    volcano.wait(lambda: volcano.phases(GANG) == {gang: "Terminated"}, "the job is ended", PATIENCE)
    volcano.wait(lambda: len(volcano.pods(GANG)) == 1, "the others are gone", PATIENCE)


@pytest.mark.volcano("1.15")
def test_on_volcano_that_policy_lets_evicted_gangs_restart(volcano: volcano_jobs.Scene) -> None:
    """A pod that is evicted ends with another code: its gang starts again as a whole."""
    gang = _ran(volcano, ENDS)
    before = {pod["metadata"]["uid"] for pod in volcano.pods(GANG)}
    _end(volcano, gang, KILLED, evicted=True)
    volcano.wait(lambda: not before & {pod["metadata"]["uid"] for pod in volcano.pods(GANG)}, "all are new", PATIENCE)
    volcano.expect({GANG: 4})
    assert volcano.phases(GANG) == {gang: "Running"}


@pytest.mark.volcano("1.15")
def test_on_volcano_a_policy_on_every_failure_ends_evicted_gangs(volcano: volcano_jobs.Scene) -> None:
    """Why our job templates do not say `PodFailed`: the eviction of one pod ends the job for good."""
    gang = _ran(volcano, ON_ANY_FAILURE)
    volcano.asked -= 4
    _end(volcano, gang, KILLED, evicted=True)
    volcano.wait(lambda: volcano.phases(GANG) == {gang: "Terminated"}, "the job is ended", PATIENCE)
    volcano.expect({})
