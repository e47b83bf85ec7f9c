"""Ways past Kueue that its own webhooks leave open to whoever may write pods and jobs: each works without our policies.

That each is refused with them is in test_attacks.py. When one of these tests fails, a newer Kueue has closed the way.
"""

from __future__ import annotations

import itertools

import pytest

from tests.backend.kueue.attacks import KUEUE, QUEUE, container, job, owner, pod, spec
from tests.cluster import manager
from tests.cluster.attackers import (
    HERE,
    STOPPING,
    UNIT,
    acting,
    charge_of_a_group,
    create,
    end,
    known,
    named,
    owners,
    phase,
    pods,
    unguarded,
    unread_format,
)
from tests.cluster.client import Object, Refused, holds
from tests.cluster.jobs import Scene, usage
from tests.cluster.manager import KUEUE as API
from tests.cluster.plane import Cluster, until

pytestmark = pytest.mark.kueue("0.19")

SMALL = spec(container({"cpu": "2", "memory": "1Gi"}))


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization of the attacks without its policies."""
    return unguarded(cluster)


def started(scene: Scene, name: str, item: Object, before: dict[str, Object] | None = None) -> Object:
    """A member creates something, and it has a pod."""
    found = create(acting(scene.cluster), known(named(item, name), before or {}))
    until(lambda: any(each.partition("-")[0] == name for each in pods(scene)), f"{name} has a pod")
    return found


def uncounted(scene: Scene) -> set[str]:
    """What runs without a Workload that holds anything for it, by the first part of the pods' names."""
    running = {name.partition("-")[0] for name in pods(scene) if phase(scene, name) == "Running"}
    held = (item["metadata"].get("ownerReferences", ()) for item in scene.workloads(UNIT) if usage(item))
    return running - {each["name"].partition("-")[0] for each in itertools.chain(*held)}


def asked(scene: Scene, item: Object, stored: list[Object]) -> bool:
    """Whether the webhooks of a manager that has just begun let an object in; then it is stored."""
    try:
        stored.append(scene.cluster.client.create(item))
    except Refused as refused:
        if "failed calling webhook" not in refused.message:
            raise
    return bool(stored)


def test_what_says_that_it_is_a_running_jobs_runs(scene: Scene) -> None:
    """A pod and a job with a running job as their owner start at once, and are counted nowhere; nor are they the job's:
    Kubernetes lets the pod go."""
    scene.clear()
    before = {"runs": started(scene, "runs", job(SMALL))}
    until(lambda: uncounted(scene) == set(), "the job is counted")
    for name, item in {"mine": pod, "child": job}.items():
        started(scene, name, item(SMALL, owner("batch/v1", "Job", "runs")), before)
    until(lambda: uncounted(scene) == {"mine", "child"}, "both run, and nobody counts them")
    until(lambda: not pods(scene)["mine"]["metadata"].get("ownerReferences"), "the pod is on its own")
    end(scene, "mine")


def test_a_pod_opens_its_own_gate(scene: Scene) -> None:
    """A pod that is larger than its unit's quota runs when its gate and one label are removed."""
    scene.clear()
    path = acting(scene.cluster).path(started(scene, "opened", pod(spec(container({"cpu": "41", "memory": "1Gi"})))))
    change = {"metadata": {"labels": {f"{KUEUE}/managed": None}}, "spec": {"schedulingGates": None}}
    acting(scene.cluster).patch(path, change)
    until(lambda: uncounted(scene) == {"opened"}, "it runs")
    end(scene, "opened")


def test_pods_stay_when_their_job_goes(scene: Scene) -> None:
    """Those whose labels were changed, and those of a job that was deleted without them."""
    scene.clear()
    member = acting(scene.cluster)
    for name in ("relabelled", "left"):
        started(scene, name, job(SMALL))
    until(lambda: len([1 for name in pods(scene) if phase(scene, name) == "Running"]) == 2, "both run")
    relabelled, left = (next(name for name in pods(scene) if name.startswith(each)) for each in ("relabelled", "left"))
    keys = (f"{prefix}{key}" for prefix in ("", "batch.kubernetes.io/") for key in ("controller-uid", "job-name"))
    member.patch(f"/api/v1/namespaces/{HERE}/pods/{relabelled}", {"metadata": {"labels": dict.fromkeys(keys)}})
    until(lambda: not pods(scene)[relabelled]["metadata"].get("ownerReferences"), "its job has let it go")
    member.delete(f"/apis/batch/v1/namespaces/{HERE}/jobs/relabelled", propagationPolicy="Background")
    member.delete(f"/apis/batch/v1/namespaces/{HERE}/jobs/left", propagationPolicy="Orphan")
    until(lambda: uncounted(scene) == {"relabelled", "left"}, "their jobs are gone, and they run")
    end(scene, relabelled, left)
    for item in scene.workloads(UNIT):  # That of a job which left its pods is nobody's, and holds its quota for ever.
        scene.cluster.client.delete(f"{API}/namespaces/{HERE}/workloads/{item['metadata']['name']}")


def test_a_pod_that_is_not_managed_is_not_evicted(scene: Scene) -> None:
    """Its Workload is evicted and keeps its quota, and the pod runs on."""
    scene.clear()
    client = scene.cluster.client
    path = client.path(started(scene, "stays", pod(SMALL)))
    until(lambda: phase(scene, "stays") == "Running", "it runs")
    acting(scene.cluster).patch(path, {"metadata": {"labels": {f"{KUEUE}/managed": None}}})
    (own,) = scene.workloads(UNIT)
    address = f"{API}/namespaces/{HERE}/workloads/{own['metadata']['name']}"
    client.patch(address, {"spec": {"active": False}})
    until(lambda: holds(client.get(address), "Evicted"), "its Workload is evicted")
    scene.asked = 0
    # One that is managed is evicted meanwhile.
    other = client.path(started(scene, "goes", pod(SMALL)))
    until(lambda: phase(scene, "goes") == "Running", "another one runs")
    (next_,) = (item for item in scene.workloads(UNIT) if "goes" in item["metadata"]["name"])
    client.patch(f"{API}/namespaces/{HERE}/workloads/{next_['metadata']['name']}", {"spec": {"active": False}})
    until(lambda: client.find(other) is None, "the other one is evicted")
    assert phase(scene, "stays") == "Running"
    assert holds(client.get(address), "QuotaReserved")
    end(scene, "stays")


def test_a_large_pod_passes_for_a_small_one(scene: Scene) -> None:
    """Seven cpu of a group are counted as two."""
    scene.clear()
    assert charge_of_a_group(scene) == 2000


def test_one_priority_stops_kueue(scene: Scene) -> None:
    """With a priority above int32 a manager that starts can list no priorities, and no job gets a Workload, also one
    that names none; when it is deleted they do."""
    scene.clear()
    cluster = scene.cluster
    with unread_format(cluster):
        path = cluster.client.path(cluster.client.create(STOPPING))
        begun = manager.launch(cluster, cluster.configuration)
        unreadable = "cannot unmarshal number 3000000000"
        until(lambda: unreadable in cluster.processes.since("kueue", begun), "the manager cannot read it")
        stored: list[Object] = []
        waiting = named(job(SMALL, {"labels": {QUEUE: "default"}}, suspend=True), "nobodys")
        until(lambda: asked(scene, waiting, stored), "its webhooks answer")
        uid = stored[0]["metadata"]["uid"]
        again = cluster.processes.mark("kueue")
        until(lambda: unreadable in cluster.processes.since("kueue", again), "the manager has tried once more")
        assert uid not in owners(scene)
        cluster.client.delete(path)
        until(lambda: uid in owners(scene), "the job has a Workload")
