"""What members submit where GPUs are borrowed: work that is made to be interrupted, and work that is not.

Rows are for a real API server with the policies of ORGANIZATION and the kinds of every framework.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

Object: TypeAlias = dict[str, Any]

GPU: Final = "nvidia.com/gpu"
PRIORITY: Final = "kueue.x-k8s.io/priority-class"
CHECKPOINT: Final = "tenancy.internal/checkpoint"
GRACE: Final = 120
LONGEST: Final = 3600

ORGANIZATION: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "priorities": {
        "production": 1000,
        "research": {"value": 100, "preemptible": "checkpointed", "gracePeriod": "2m"},
        "scavenger": {"value": -100, "preemptible": "restartable"},
    },
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 3, "node": {"gpus": 8, "cpu": 128, "memory": "1024Gi"}},
        "cpu": {"nodes": 1, "node": {"cpu": 64, "memory": "256Gi"}},
    },
    "departments": {
        "lab": {
            "budget": {"h100": 24, "cpu": {"cpu": 30, "memory": "120Gi"}},
            "teams": {
                "vision": {"budget": {"h100": 8}, "access": {"members": ["group:vision"]}},
                "nlp": {"budget": {"h100": 8}, "access": {"members": ["group:nlp"]}},
                "sure": {
                    "budget": {"h100": 8},
                    "policy": {"borrowing": "none"},
                    "access": {"members": ["group:sure"]},
                },
            },
        }
    },
}
"""`vision` and `nlp` borrow what others leave idle; `sure` does not."""


class Case(NamedTuple):
    """Something that a member of a team submits."""

    name: str
    item: Object
    rule: str = ""
    """By which it is refused: `priority`, `checkpoint`, `grace` or `end`."""
    words: str = ""
    """Of the refusal."""
    team: str = "vision"


def template(gpus: int = 1, *, saved: str = "s3://bucket/run", grace: int | None = GRACE, **more: Any) -> Object:
    """A pod template that asks for GPUs, says where it saves its state, and has time to do so."""
    resources: Object = {"requests": {"cpu": "1", "memory": "1Gi"}}
    if gpus:
        resources = {"requests": {**resources["requests"], GPU: str(gpus)}, "limits": {GPU: str(gpus)}}
    timed = {"terminationGracePeriodSeconds": grace} if grace is not None else {}
    spec = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "none", "resources": resources}],
        **timed,
        **more,
    }
    return {"metadata": {"annotations": {CHECKPOINT: saved}} if saved else {}, "spec": spec}


def unprepared(gpus: int = 1, **more: Any) -> Object:
    """The same of work that saves nothing."""
    return template(gpus, saved="", grace=None, **more)


def work(api: str, kind: str, spec: Object, priority: str = "") -> Object:
    """An object of a priority, whose name and namespace it gets when it is submitted."""
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"labels": {PRIORITY: priority} if priority else {}},
        "spec": spec,
    }


def job(pods: Object | None = None, priority: str = "research") -> Object:
    """A Job."""
    return work("batch/v1", "Job", {"template": pods or unprepared()}, priority)


def pod(pods: Object, priority: str = "research") -> Object:
    """A plain pod."""
    made = work("v1", "Pod", pods["spec"], priority)
    return {**made, "metadata": {**made["metadata"], **pods["metadata"]}}


def cron(pods: Object, priority: str = "research") -> Object:
    """A CronJob whose Jobs have the priority."""
    made = {
        "schedule": "0 4 * * *",
        "jobTemplate": {"metadata": {"labels": {PRIORITY: priority}}, "spec": {"template": pods}},
    }
    return work("batch/v1", "CronJob", made)


def deployment(pods: Object, priority: str = "research") -> Object:
    """A Deployment."""
    labels, spec = {"app": "it"}, {**pods["spec"], "restartPolicy": "Always"}
    whole = {"metadata": {**pods["metadata"], "labels": labels}, "spec": spec}
    return work("apps/v1", "Deployment", {"selector": {"matchLabels": labels}, "template": whole}, priority)


def jobset(*pods: Object, priority: str = "research") -> Object:
    """A JobSet with these pods."""
    jobs = [
        {"name": f"part-{index}", "replicas": 1, "template": {"spec": {"template": each}}}
        for index, each in enumerate(pods)
    ]
    return work("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs}, priority)


def pytorch(pods: Object, priority: str = "research") -> Object:
    """A PyTorchJob."""
    replicas = {"Worker": {"replicas": 2, "restartPolicy": "Never", "template": pods}}
    return work("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas}, priority)


def train_job(priority: str, saved: str = "s3://bucket/run") -> Object:
    """A TrainJob, whose pods stand in a runtime."""
    trainer = {"numNodes": 1, "resourcesPerNode": {"requests": {GPU: "1"}, "limits": {GPU: "1"}}}
    made = work(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer},
        priority,
    )
    made["metadata"]["annotations"] = {CHECKPOINT: saved} if saved else {}
    return made


def wrapped(item: Object, priority: str) -> Object:
    """An AppWrapper of a priority around an object."""
    return work("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": [{"template": item}]}, priority)


ALLOWED: Final = (
    Case("a job that saves its state", job(template())),
    Case("one with more time", job(template(grace=600))),
    Case("one with as much as there is", job(template(grace=LONGEST))),
    Case("one that starts again", job(unprepared(), "scavenger")),
    Case("a pod", pod(template())),
    Case("a pod that starts again", pod(unprepared(), "scavenger")),
    Case("a CronJob", cron(template())),
    Case("a Deployment", deployment(template())),
    Case("a JobSet with a part without GPUs", jobset(template(), unprepared(0))),
    Case("a PyTorchJob", pytorch(template())),
    Case("a TrainJob", train_job("research")),
    Case("an AppWrapper", wrapped(job(template(), ""), "research")),
    Case("an AppWrapper without GPUs", wrapped(jobset(unprepared(0), priority=""), "")),
    Case("a job without GPUs", job(unprepared(0), "")),
    Case("a job without GPUs of any priority", job(unprepared(0), "production")),
    Case("a checkpointed job without GPUs", job(unprepared(0), "research")),
    Case("a job of a unit that borrows nothing", job(unprepared(), ""), team="sure"),
    Case("an important one of it", job(unprepared(), "production"), team="sure"),
    Case("one of it that ends whenever it likes", job(template(grace=LONGEST * 24)), team="sure"),
    Case("one of it that promises less than its priority", job(unprepared(), "research"), team="sure"),
)

_NAMED: Final = (
    "GPUs that namespace lab-vision borrows may be taken back while jobs run: name a preemptible priority in the label "
    f"{PRIORITY} of the job, not "
)
_WAYS: Final = (
    "; its own are: research, scavenger. For work that must not be interrupted, the unit needs `borrowing: none`"
)
_SAVED: Final = f"jobs of priority research save their state before they end: say where in the annotation {CHECKPOINT}"
_TIMED: Final = (
    "jobs of priority research have 120 seconds to save their state: write terminationGracePeriodSeconds: 120, or more"
)

_ENDS: Final = (
    "seconds to end keeps GPUs for so long that their owner has taken back: write terminationGracePeriodSeconds: "
    f"{LONGEST}, or less"
)

REFUSED: Final = (
    Case("a job without a priority", job(template(), ""), "priority", f"{_NAMED}none{_WAYS}"),
    Case("a job that is not preemptible", job(template(), "production"), "priority", f"{_NAMED}production{_WAYS}"),
    Case("a pod without a priority", pod(template(), ""), "priority", f"{_NAMED}none"),
    Case("a CronJob of another priority", cron(template(), "production"), "priority", f"{_NAMED}production"),
    Case("a Deployment without a priority", deployment(unprepared(), ""), "priority", f"{_NAMED}none"),
    Case("a JobSet without a priority", jobset(unprepared(0), template(), priority=""), "priority", f"{_NAMED}none"),
    Case("a PyTorchJob without a priority", pytorch(template(), ""), "priority", f"{_NAMED}none"),
    Case("a TrainJob without a priority", train_job(""), "priority", f"{_NAMED}none"),
    Case(
        "an init container that asks for GPUs",
        job(unprepared(0, initContainers=[{**unprepared()["spec"]["containers"][0], "name": "first"}]), ""),
        "priority",
        f"{_NAMED}none",
    ),
    Case("a job that saves nothing", job(template(saved="")), "checkpoint", f"{_SAVED}, such as s3://bucket/run"),
    Case("a pod that saves nothing", pod(template(saved="")), "checkpoint", _SAVED),
    Case(
        "a JobSet of which one part saves nothing",
        jobset(template(), template(saved="")),
        "checkpoint",
        "at /spec/replicatedJobs/1/template/spec/template/metadata/annotations",
    ),
    Case("an AppWrapper without a priority", wrapped(job(template()), ""), "priority", f"{_NAMED}none"),
    Case(
        "an AppWrapper that saves nothing",
        wrapped(job(template(saved="")), "research"),
        "checkpoint",
        "at /spec/components/0/template/spec/template/metadata/annotations",
    ),
    Case("a TrainJob that saves nothing", train_job("research", ""), "checkpoint", _SAVED),
    Case("a job with too little time", job(template(grace=119)), "grace", f"{_TIMED}, at /spec/template/spec"),
    Case("a job with Kubernetes' time", job(template(grace=None)), "grace", _TIMED),
    Case("a PyTorchJob with Kubernetes' time", pytorch(template(grace=None)), "grace", _TIMED),
    Case("a CronJob with Kubernetes' time", cron(template(grace=None)), "grace", _TIMED),
    Case("a job that never ends", job(template(grace=LONGEST * 24)), "end", f"{_ENDS}, at /spec/template/spec"),
    Case("a pod that starts again when it likes", pod(template(grace=LONGEST + 1), "scavenger"), "end", _ENDS),
)
