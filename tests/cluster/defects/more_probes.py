"""What people do under the further mistakes that get past admission, and what they then see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.cluster.client import Object, Refused
from tests.cluster.defects.probes import ADS, SMALL, SPEECH, VISION
from tests.cluster.defects.stage import Comes, Outcome, Probe, Stage
from tests.cluster.manager import KUEUE


def no_host_name(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 4, pods=2)
    assert stage.running(VISION, 2) == ["h100-0", "h100-1"]
    stage.scene.submit(SPEECH, 8)
    held = stage.holding(SPEECH, 8)
    stage.scene.wait(lambda: any(map(_unschedulable, stage.scene.pods(SPEECH))), "the scheduler finds no node")
    return Outcome(
        Comes.SILENT, f"a pod of 8 GPUs is admitted where two nodes have 4 each: it holds {held} and never runs"
    )


def _unschedulable(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(each.get("reason") == "Unschedulable" for each in conditions)


def named_by_jobs(name: str) -> Probe:
    """A job names a priority; where it can, it has it."""

    def probe(stage: Stage) -> Outcome:
        try:
            stage.scene.submit(VISION, 1, priority=name)
        except Refused as refused:
            words = refused.message.rpartition(": ")[2]
            return Outcome(Comes.SILENT, f"no job can name it: `{words}`")
        stage.holding(VISION, 1)
        (workload,) = stage.scene.workloads(VISION)
        return Outcome(Comes.HARMLESS, f"a job names it and has the priority {workload['spec']['priority']}")

    return probe


def in_kube_system(stage: Stage) -> Outcome:
    client, home = stage.cluster.client, "kube-system"
    client.create(_job(home, {"kueue.x-k8s.io/queue-name": "default"}))
    pods = f"/api/v1/namespaces/{home}/pods"

    def runs() -> bool:
        return any(
            pod["metadata"]["name"].startswith("probe") and pod["status"]["phase"] == "Running"
            for pod in client.list(pods)
        )

    stage.scene.wait(runs, "the job runs")
    count = len(client.list(f"{KUEUE}/namespaces/{home}/workloads"))
    client.delete(f"/apis/batch/v1/namespaces/{home}/jobs/probe", propagationPolicy="Background")
    return Outcome(Comes.SILENT, f"a job of the namespace runs at once, in no queue: it has {count} Workloads")


def without_a_label(stage: Stage) -> Outcome:
    client = stage.cluster.client
    client.create(_job("research-vision", {}))
    stage.scene.wait(lambda: len(stage.scene.workloads(VISION)) == 1, "a Workload")
    stage.scene.settle()
    assert stage.scene.pods(VISION) == []
    return Outcome(Comes.HARMLESS, "a job without a queue label is held like the others: Kueue manages those as well")


def _job(namespace: str, labels: Mapping[str, str]) -> Object:
    container = {"name": "main", "image": "none", "resources": {"requests": SMALL}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    metadata = {"name": "probe", "namespace": namespace, "labels": dict(labels)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


def counts_nothing(stage: Stage) -> Outcome:
    path = "/api/v1/namespaces/research-vision/resourcequotas/tenancy"

    def status() -> Any:
        return stage.cluster.client.get(path).get("status", {})

    stage.scene.wait(lambda: "count/job" in status().get("hard", {}), "the quota is counted")
    assert "count/job" not in status()["used"]
    return Outcome(Comes.SILENT, "it counts nothing, and bounds nothing")


def pods_refused(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 8, pods=2)
    pods, held = len(stage.running(VISION, 1)), stage.holding(VISION, 16)
    stage.scene.wait(lambda: any("exceeded quota" in event for event in stage.job_events(VISION)), "an event")
    return Outcome(Comes.SILENT, f"a job of two pods holds {held} GPUs with {pods} pod; an event of the job says so")


def no_workload(stage: Stage) -> Outcome:
    scene = stage.scene
    scene.submit(VISION, 1)
    scene.submit(ADS, 1)
    stage.holding(ADS, 1)
    assert scene.workloads(VISION) == []
    scene.asked -= 1
    scene.settle()
    assert scene.workloads(VISION) == []
    scene.wait(lambda: stage.job_events(VISION) != [], "an event")
    events = sorted(set(stage.job_events(VISION)))
    return Outcome(
        Comes.SILENT, f"a job gets no Workload and waits for ever; all that its events say is `{' '.join(events)}`"
    )


def may(user: str, *groups: str, told: Mapping[bool, str]) -> Probe:
    """Whether somebody may create jobs for the team, in the words for yes and no; neither is told to anybody."""
    return lambda stage: Outcome(Comes.SILENT, told[stage.allowed(user, *groups)])


def told(unit: str, what: str, pattern: str, **job: Any) -> Probe:
    """A job that waits, and what Kueue says to it."""

    def probe(stage: Stage) -> Outcome:
        stage.scene.submit(unit, 1, **job)
        return Outcome(Comes.WAITS, f"{what}: {stage.says(unit, pattern)}")

    return probe


def parent_stops(stage: Stage) -> Outcome:
    stage.scene.submit(SPEECH, 8, pods=7)
    held = stage.holding(SPEECH, 56)
    stage.scene.submit(SPEECH, 8)
    said = stage.says(SPEECH, r"insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed")
    return Outcome(Comes.WAITS, f"the team with a limit of 120 stops at {held}, with 64 GPUs idle: {said}")


def no_such_resource(stage: Stage) -> Outcome:
    try:
        stage.scene.submit(VISION, requests={"gpu": "1", **SMALL})
    except Refused as refused:
        words = refused.message.partition("[")[2].partition(", spec")[0]
        return Outcome(Comes.SILENT, f"no job can ask for it: `{words}`")
    raise AssertionError("the job was accepted")


def like_any_other(stage: Stage) -> Outcome:
    units = (SPEECH, VISION, ADS)
    for unit in units:
        stage.scene.submit(unit, requests=SMALL)
    for unit in units:
        stage.holding(unit, 1000, "cpu")
    return Outcome(Comes.HARMLESS, "jobs of three teams run as if nothing were wrong")


def privileged(stage: Stage) -> Outcome:
    # The API server reads the labels of namespaces from a cache.
    stage.scene.wait(lambda: _accepts_privileged(stage, "research-vision"), "a privileged pod is accepted")
    assert not _accepts_privileged(stage, "product-ads")
    return Outcome(Comes.SILENT, "a privileged pod is accepted, where another team's is refused")


def _accepts_privileged(stage: Stage, namespace: str) -> bool:
    container = {"name": "main", "image": "none", "securityContext": {"privileged": True}}
    metadata = {"name": "probe", "namespace": namespace}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    try:
        stage.cluster.client.create(pod, dry_run=True)
    except Refused:
        return False
    return True


def same_gpus_twice(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 8, pods=5)
    stage.running(VISION, 5)
    stage.scene.submit(SPEECH, 8, pods=12)
    said = stage.says(SPEECH, r"topology \"h100-twin\" allows to fit only 10 out of 12 pod\(s\)")
    return Outcome(Comes.WAITS, f"a job of 96 GPUs of the 120 of its quota waits while 80 are free: {said}")


def in_turns(stage: Stage) -> Outcome:
    scene = stage.scene
    scene.submit(VISION, 8, pods=3, times=5)
    scene.wait(lambda: scene.held(VISION) == 120, "one has everything")
    scene.submit(SPEECH, 8, pods=3, times=5)
    scene.wait(lambda: scene.evictions() > 0, "the other gets a part")
    scene.settle(6)
    assert min(scene.held(VISION), scene.held(SPEECH)) > 0
    return Outcome(Comes.HARMLESS, "both hold a part of what is lent, and the evictions come to an end")
