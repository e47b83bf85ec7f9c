"""Requests to an API server that runs this organization's policies for Volcano, each with the answer it is to get.

Every one is sent to a real kube-apiserver with Volcano's webhooks (tests/cluster/test_volcano_admission.py), as a
member of the team (group `vision`) or, where only controllers and platform staff have the right, as an administrator.
Those of BEFORE_136 are sent to the same server with the policies that the organization would have on Kubernetes 1.35.
Of several rules that are broken the server names the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Final, NamedTuple, TypeAlias

from tests.backend.kueue.policy_requests import GPU, container, every_kind, job, pod, spec, train_job

Object: TypeAlias = dict[str, Any]

KEY: Final = "gpu.acme.example/reserved"
ORGANIZATION: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "domain": "gpu.acme.example",
    "clusters": {"main": {"scheduler": "volcano"}},
    "access": {"admins": ["group:platform"], "auditors": ["group:audit"]},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 2,
            "node": {"gpus": 8, "cpu": 64, "memory": "512Gi"},
            "taint": f"{KEY}=training:NoSchedule",
        },
        "l4": {
            "gpu": "L4",
            "nodes": 1,
            "node": {"gpus": 4, "cpu": 32, "memory": "128Gi"},
            "taint": f"{KEY}=inference:NoSchedule",
            "cpuJobs": "lend",
        },
        "cpu": {"nodes": 2, "node": {"cpu": 64, "memory": "256Gi"}, "taint": f"{KEY}=batch:NoSchedule"},
    },
    "policy": {"borrowing": "none"},
    "departments": {
        "research": {
            "access": {"admins": ["user:lead"]},
            "budget": {"h100": 16, "l4": 4, "cpu": {"cpu": 100, "memory": "400Gi"}},
            "teams": {
                "vision": {
                    "budget": {"h100": 8, "l4": 2, "cpu": {"cpu": 40, "memory": "160Gi"}},
                    "access": {"members": ["group:vision"], "viewers": ["user:eve"], "serviceAccounts": ["ci"]},
                    "projects": {"train": {}, "demo": {}},
                },
                "nlp": {"budget": {"h100": 8}, "access": {"members": ["group:vision"]}},
                "paused": {"budget": {"l4": 2}, "access": {"members": ["group:vision"]}, "state": "held"},
                "leaving": {
                    "budget": {"cpu": {"cpu": 20, "memory": "80Gi"}},
                    "access": {"members": ["group:vision"]},
                    "state": "draining",
                },
            },
        }
    },
}
"""Two teams at work, one held, one draining; a fenced flavor, a lent one, and one without GPUs, all of them tainted."""

NAMESPACE: Final = "research-vision-train"
ONE_QUEUE: Final = "research-nlp"
HELD: Final = "research-paused"
DRAINING: Final = "research-leaving"
MINE: Final = "research-vision-h100"
CPU: Final = "research-vision-cpu"
QUEUES: Final = {HELD: "research-paused-l4", DRAINING: "research-leaving-cpu", ONE_QUEUE: "research-nlp-h100"}
"""The only one of each namespace; in NAMESPACE there are three."""
INNER: Final = "research-h100"
QUEUE: Final = "scheduling.volcano.sh/queue-name"
GROUP: Final = "scheduling.k8s.io/group-name"
PREEMPTABLE: Final = "volcano.sh/preemptable"
POLITE: Final = "polite"
"""A PriorityClass that the platform has beside the organization's."""
TOLERATIONS: Final = {
    value: {"key": KEY, "operator": "Equal", "value": value, "effect": "NoSchedule"}
    for value in ("training", "inference", "batch")
}


class Request(NamedTuple):
    """A create request: what it sends, part of the message that refuses it, and how its pods are stored."""

    name: str
    object: Object
    refused: str = ""
    """Empty where it is allowed."""
    admin: bool = False
    """Whether an administrator sends it."""
    queue: str = ""
    """Of each pod template as stored, or of the job; not looked at where it is empty."""
    scheduler: str = ""
    """Of each pod spec as stored; not looked at where it is empty."""
    tolerations: tuple[str, ...] | None = None
    """By their names in TOLERATIONS, those of each pod spec as stored; what Kubernetes adds itself is left out."""


def templates(part: Any) -> list[Object]:
    """Every pod template in an object, and the object if it is a pod: what has a spec with containers."""
    if isinstance(part, list):
        return [each for item in part for each in templates(item)]
    if not isinstance(part, dict):
        return []
    mine = [part] if isinstance(part.get("spec"), dict) and "containers" in part["spec"] else []
    return mine + [each for item in part.values() for each in templates(item)]


def annotated(item: Object, annotations: Object, labels: Object | None = None, spec_: Object | None = None) -> Object:
    """The object with annotations, labels and keys of the spec in every pod template."""
    found = deepcopy(item)
    for template in templates(found):
        metadata = template.setdefault("metadata", {})
        metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
        if labels:
            metadata["labels"] = {**metadata.get("labels", {}), **labels}
        template["spec"].update(spec_ or {})
    return found


def queued(item: Object, **spec_: Any) -> Object:
    """The object with its queue and scheduler in every pod template, and more in their specs."""
    queue = QUEUES.get(item["metadata"]["namespace"], CPU)
    return annotated(item, {QUEUE: queue}, None, {"schedulerName": "volcano", **spec_})


def at(item: Object, namespace: str) -> Object:
    """The object in another namespace."""
    return {**item, "metadata": {**item["metadata"], "namespace": namespace}}


def with_metadata(item: Object, **metadata: Object) -> Object:
    """The object with annotations or labels of its own."""
    return {**item, "metadata": {**item["metadata"], **metadata}}


def _volcano(group: str, kind: str, name: str, body: Object) -> Object:
    version = "v1beta1" if group == "scheduling" else "v1alpha1"
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": f"{group}.volcano.sh/{version}", "kind": kind, "metadata": metadata, "spec": body}


def _job(work: Object, queue: str = CPU, **more: Any) -> Object:
    task = {"name": "main", "replicas": 2, "template": {"spec": work}}
    return {
        "minAvailable": 2,
        "schedulerName": "volcano",
        **({"queue": queue} if queue else {}),
        "tasks": [task],
        **more,
    }


def vcjob(name: str, work: Object, queue: str = CPU, **more: Any) -> Object:
    """A Volcano job of two pods in a queue (or in none), with more in its spec."""
    return _volcano("batch", "Job", name, _job(work, queue, **more))


def every_volcano_kind(prefix: str, work: Object, queue: str = CPU) -> tuple[Object, ...]:
    """A Volcano job, CronJob and JobTemplate."""
    cron = {"schedule": "0 4 * * *", "jobTemplate": {"spec": _job(work, queue)}}
    return (
        vcjob(f"{prefix}-vcjob", work, queue),
        _volcano("batch", "CronJob", f"{prefix}-vccron", cron),
        _volcano("flow", "JobTemplate", f"{prefix}-jobtemplate", _job(work, queue)),
    )


def pod_group(name: str, queue: str, **metadata: Object) -> Object:
    """A PodGroup, which only controllers and platform staff may create."""
    return with_metadata(_volcano("scheduling", "PodGroup", name, {"minMember": 1, "queue": queue}), **metadata)


def patching(metadata: Object) -> Object:
    """A TrainJob that patches the pods of its runtime."""
    found = train_job("train", {"requests": {"cpu": "1"}})
    replicated = {"name": "node", "template": {"spec": {"template": {"metadata": metadata}}}}
    runtime = {"template": {"spec": {"replicatedJobs": [replicated]}}}
    found["spec"]["runtimePatches"] = [{"manager": "example.com/vision", "trainingRuntimeSpec": runtime}]
    return found


def job_flow(name: str) -> Object:
    """A JobFlow of one step."""
    return _volcano("flow", "JobFlow", name, {"jobRetainPolicy": "retain", "flows": [{"name": "step"}]})


WORK: Final = spec(container(requests={"cpu": "1", "memory": "1Gi"}))
GPU_WORK: Final = spec(container({GPU: "1"}))
INTO_FENCE: Final = {**WORK, "tolerations": [TOLERATIONS["training"]]}
PLAIN: Final = ("Pod", "Deployment", "StatefulSet", "Job", "CronJob", "JobSet")
"""Kinds whose pods are as their templates are."""
PLANS: Final = ("CronJob", "JobTemplate")
"""Kinds that are no work yet."""


def _everywhere(prefix: str, namespace: str = NAMESPACE, **spec_: Any) -> tuple[Object, ...]:
    """Every kind in a queue of its namespace, with more in the specs of its pods."""
    return (
        *(queued(at(each, namespace), **spec_) for each in every_kind(prefix, WORK)),
        *(
            annotated(at(each, namespace), {}, None, spec_)
            for each in every_volcano_kind(prefix, WORK, QUEUES.get(namespace, CPU))
        ),
    )


def _plain(
    prefix: str, namespace: str = NAMESPACE, annotations: Object | None = None, **spec_: Any
) -> tuple[Object, ...]:
    """Every kind whose pods are as their templates are, without a queue."""
    found = (annotated(at(each, namespace), annotations or {}, None, spec_) for each in every_kind(prefix, WORK))
    return tuple(each for each in found if each["kind"] in PLAIN)


def _each(what: str, items: Iterable[Object], refused: str = "", **how: Any) -> Iterable[Request]:
    for each in items:
        whose = "Volcano " if ".volcano.sh/" in each["apiVersion"] else ""
        yield Request(f"{whose}{each['kind']} {what}", each, refused, **how)


def _not_a_queue(queue: str, namespace: str = NAMESPACE) -> str:
    return f"queue {queue} is not a queue of namespace {namespace}; its queues are: "


_LISTED: Final = f"{_not_a_queue(INNER)}research-vision-cpu, research-vision-h100, research-vision-l4"
_NO_QUEUE: Final = "a pod without a queue waits for ever"
_OTHER_SCHEDULER: Final = "another scheduler starts pods beside all queues"
_KEEPS: Final = f"Remove {PREEMPTABLE} from annotations and labels"
_SYSTEM: Final = "-critical is not for "
_NEVER: Final = "does not get its quota back"
_NODE: Final = "spec.nodeName skips the scheduler"
_JOINS: Final = "Only controllers put pods into a PodGroup"
_FENCED: Final = f"may tolerate {KEY}=training:NoSchedule"

_IN_QUEUES: Final = (
    *_each("in a queue of its namespace", _everywhere("mine")),
    *_each("whose pods name an inner queue", (annotated(i, {QUEUE: INNER}) for i in _everywhere("inner")), _LISTED),
    *_each("in an inner queue", every_volcano_kind("into", WORK, INNER), _LISTED),
    *(
        Request(f"pod in {queue}", annotated(queued(pod("p", WORK)), {QUEUE: queue}), _not_a_queue(queue))
        for queue in ("root", "h100", "default", "research-nlp-h100", "no-such")
    ),
    *(
        Request(f"Volcano job in {queue}", vcjob("v", WORK, queue), _not_a_queue(queue))
        for queue in ("root", "h100", "default", "research-nlp-h100", "no-such")
    ),
    Request("PodGroup of a queue of the namespace", pod_group("g", MINE), admin=True),
    *(
        Request(f"PodGroup in {queue}", pod_group("g", queue), _not_a_queue(queue), admin=True)
        for queue in (INNER, "root", "default")
    ),
    Request("JobFlow", job_flow("flow")),
    Request("TrainJob that names a queue", patching({"annotations": {QUEUE: CPU}})),
    Request("TrainJob that names an inner queue", patching({"annotations": {QUEUE: INNER}}), _LISTED),
)
_AROUND_QUEUES: Final = (
    *_each("of another scheduler", _everywhere("other", schedulerName="mine"), _OTHER_SCHEDULER),
    *_each("around the scheduler", _everywhere("node", nodeName="cpu-0"), _NODE),
    *_each("in somebody's PodGroup", (annotated(i, {GROUP: "x"}) for i in _everywhere("joins")), _JOINS),
    Request("TrainJob of pods in somebody's PodGroup", patching({"annotations": {GROUP: "x"}}), _JOINS),
    Request("pod in a PodGroup, of an administrator", annotated(queued(pod("p", WORK)), {GROUP: "g"}), admin=True),
)
_KEEPING: Final = (
    Request("TrainJob that keeps what was lent", patching({"labels": {PREEMPTABLE: "false"}}), _KEEPS),
    *_each(
        "with an annotation that keeps what was lent",
        (annotated(each, {PREEMPTABLE: "false"}) for each in _everywhere("keeps")),
        _KEEPS,
    ),
    *_each(
        "with a label that keeps what was lent",
        (annotated(each, {}, {PREEMPTABLE: ""}) for each in _everywhere("label")),
        _KEEPS,
    ),
    *(
        request
        for what in ("annotations", "labels")
        for request in _each(
            f"with the same among its own {what}",
            (with_metadata(i, **{what: {PREEMPTABLE: "x"}}) for i in _everywhere("own") if i["kind"] != "Pod"),
            _KEEPS,
        )
    ),
    Request("PodGroup with the same", pod_group("g", MINE, annotations={PREEMPTABLE: "0"}), _KEEPS, admin=True),
    *_each("of a system class", _everywhere("system", priorityClassName="system-node-critical"), _SYSTEM),
    Request("Volcano job of a system class", vcjob("v", WORK, priorityClassName="system-cluster-critical"), _SYSTEM),
    Request("template that never preempts", queued(job("j", WORK), preemptionPolicy="Never"), _NEVER),
)
_IN_STATES: Final = (
    *(
        request
        for state, namespace in (("held", HELD), ("draining", DRAINING))
        for request in _each(
            f"where the unit is {state}",
            (
                *(each for each in _everywhere(state, namespace) if each["kind"] not in PLANS),
                *(at(each, namespace) for each in (job_flow("flow"), patching({}))),
            ),
            f"The unit of this namespace is {state}, so new work is refused",
        )
    ),
    *_each("where the unit is held", (each for each in _everywhere("held", HELD) if each["kind"] in PLANS)),
)
_AT_FENCES: Final = (
    Request("cpu pod with the toleration of GPU nodes", queued(pod("p", INTO_FENCE)), _FENCED),
    *_each("with cpu tasks and the toleration of GPU nodes", every_volcano_kind("fence", INTO_FENCE), _FENCED),
)
ANYWHERE: Final = (*_IN_QUEUES, *_AROUND_QUEUES, *_KEEPING, *_IN_STATES, *_AT_FENCES)
"""The same whatever the version of Kubernetes."""

REQUESTS: Final = (
    *ANYWHERE,
    *_each("without a queue where there are more", _plain("none", schedulerName="volcano"), _NO_QUEUE),
    *_each("that names no scheduler", _plain("bare", annotations={QUEUE: CPU}), scheduler="volcano", queue=CPU),
    *_each("that says nothing, of one queue", _plain("one", ONE_QUEUE), scheduler="volcano", queue=QUEUES[ONE_QUEUE]),
    *_each(
        "without a queue, of one",
        (at(each, ONE_QUEUE) for each in every_volcano_kind("one", WORK, "")),
        queue=QUEUES[ONE_QUEUE],
    ),
    *_each("without a queue, of more", every_volcano_kind("more", WORK, "")[:2], _not_a_queue("default")),
    Request("GPU pod", queued(pod("p", GPU_WORK)), tolerations=("inference", "training")),
    Request(
        "GPU pod that tolerates one taint",
        queued(pod("p", {**GPU_WORK, "tolerations": [TOLERATIONS["training"]]})),
        tolerations=("training",),
    ),
    Request("cpu pod", queued(pod("p", WORK)), tolerations=("batch", "inference")),
    Request("Job of GPUs, whose pods are given theirs", queued(job("j", GPU_WORK)), tolerations=()),
)

BEFORE_136: Final = (
    *ANYWHERE,
    *_each("without a queue", _plain("none", schedulerName="volcano"), _NO_QUEUE),
    *_each("without a queue where there is one", _plain("one", ONE_QUEUE, schedulerName="volcano"), _NO_QUEUE),
    *_each("that names no scheduler", _plain("bare", annotations={QUEUE: CPU}), _OTHER_SCHEDULER),
    *_each("without a queue", every_volcano_kind("more", WORK, "")[:2], _not_a_queue("default")),
    Request("GPU pod", queued(pod("p", GPU_WORK)), tolerations=()),
    Request("cpu pod", queued(pod("p", WORK)), tolerations=()),
)
