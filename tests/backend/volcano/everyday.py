"""What people do every day on a cluster with Volcano, which nothing may be in the way of.

Every request is sent where `attacks` are.
"""

from __future__ import annotations

from typing import Final

from tests.backend.kueue.policy_requests import container, every_kind, job, pod, spec
from tests.backend.volcano.attempts import CLOSER, FOREIGN, Attempt, command, cron, in_task, named, standing
from tests.backend.volcano.policy_requests import (
    CPU,
    GPU_WORK,
    HELD,
    MINE,
    ONE_QUEUE,
    QUEUE,
    QUEUES,
    TOLERATIONS,
    WORK,
    annotated,
    at,
    every_volcano_kind,
    job_flow,
    queued,
    vcjob,
    with_metadata,
)

_POD, _DEPLOYMENT, _JOB = standing()
_POLICIES: Final = [{"event": "PodEvicted", "action": "RestartJob"}, {"exitCode": 1, "action": "TerminateJob"}]
_VOLUME: Final = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
_TOLERANT: Final = {**GPU_WORK, "tolerations": [TOLERATIONS["training"]]}

ORDINARY: Final = (
    Attempt("a pod", queued(pod("a", WORK))),
    Attempt("a pod that names no scheduler", annotated(pod("a", WORK), {QUEUE: CPU})),
    Attempt("a pod with a GPU", annotated(queued(pod("a", GPU_WORK)), {QUEUE: MINE})),
    Attempt("a pod with a GPU and the toleration", annotated(queued(pod("a", _TOLERANT)), {QUEUE: MINE})),
    Attempt("a pod that says nothing, where there is one queue", at(pod("a", _TOLERANT), ONE_QUEUE)),
    Attempt("a Job", queued(job("a", WORK))),
    Attempt(
        "a Job that waits", {**queued(job("a", WORK)), "spec": {**queued(job("a", WORK))["spec"], "suspend": True}}
    ),
    Attempt("a CronJob", queued(every_kind("a", WORK)[4])),
    Attempt("a Deployment", queued(every_kind("a", WORK)[2])),
    Attempt(
        "a Deployment of two that start together",
        with_metadata(queued(every_kind("a", WORK)[2]), annotations={"scheduling.volcano.sh/group-min-member": "2"}),
    ),
    Attempt("a StatefulSet", queued(every_kind("a", WORK)[3])),
    Attempt("a Volcano job that is a gang", vcjob("a", WORK, policies=_POLICIES, maxRetry=1000)),
    Attempt("a Volcano job that is elastic", vcjob("a", WORK, minAvailable=1)),
    Attempt("a Volcano job with GPUs", vcjob("a", _TOLERANT, MINE)),
    Attempt("a Volcano job without a queue, where there is one", at(vcjob("a", _TOLERANT, ""), ONE_QUEUE)),
    Attempt("a Volcano job whose tasks name its queue", in_task(CPU)),
    Attempt("a Volcano job that goes after a day", vcjob("a", WORK, ttlSecondsAfterFinished=86400)),
    Attempt("a Volcano CronJob", cron(vcjob("a", WORK))),
    Attempt("a JobTemplate", every_volcano_kind("a", WORK)[2]),
    Attempt("a JobFlow", job_flow("a")),
    Attempt("a plan for later where the unit is held", at(every_volcano_kind("a", WORK, QUEUES[HELD])[2], HELD)),
    Attempt(
        "a pod with two containers, and one before",
        queued(
            pod(
                "a",
                {
                    **spec(container(requests={"cpu": "1"}), container(name="side")),
                    "initContainers": [container(name="before")],
                },
            )
        ),
    ),
    Attempt("a pod with a volume of its own", queued(pod("a", WORK), volumes=[{"name": "scratch", "emptyDir": {}}])),
    Attempt(
        "a pod with labels and annotations",
        with_metadata(queued(pod("a", WORK)), labels={"run": "7"}, annotations={"note": "x", QUEUE: CPU}),
    ),
    Attempt("a claim for storage", named("PersistentVolumeClaim", "a", spec=_VOLUME)),
    Attempt("a ConfigMap", named("ConfigMap", "a", data={"a": "b"})),
    Attempt("a Service", named("Service", "a", spec={"selector": {"app": "a"}, "ports": [{"port": 80}]})),
    Attempt("a label on a running pod", _POD, "", "patch", {"metadata": {"labels": {"seen": "true"}}}),
    Attempt("another image", _DEPLOYMENT, "", "patch", {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}),
    Attempt("more of a Deployment", _DEPLOYMENT, "", "patch", {"spec": {"replicas": 3}}),
    Attempt("more by its scale", _DEPLOYMENT, "", "patch", {"spec": {"replicas": 3}}, "scale"),
    Attempt("none of it", _DEPLOYMENT, "", "patch", {"spec": {"replicas": 0}}),
    Attempt("the end of a pod", _POD, "", "delete"),
    Attempt("the end of a Deployment", _DEPLOYMENT, "", "delete"),
    Attempt("the end of a Volcano job", _JOB, "", "delete"),
    Attempt("a Command of platform staff", command("Queue", MINE), who="platform"),
    Attempt("a Command of platform staff, from anywhere", command("Queue", MINE, FOREIGN, "OpenQueue"), who="platform"),
    Attempt("a Command for a job elsewhere", command("Job", "a", FOREIGN, "AbortJob"), who=CLOSER),
    Attempt("a pod elsewhere that names no queue", at(pod("a", WORK), FOREIGN), who="root"),
    Attempt("a Volcano job elsewhere without a queue", at(vcjob("a", WORK, ""), FOREIGN), who="root"),
)
"""What people do every day."""
