"""Requests to an API server that runs the example organization's policies, each with the answer that is promised.

Every one was sent to a real kube-apiserver 1.36.3 with the example's out/, as a member of the team (group `vision`).
Those of BEFORE_136 were sent to the same server with the policy that the example would have on Kubernetes 1.35.
TrainJobs need a ClusterTrainingRuntime `torch-distributed`. There nvidia.com/gpu is h100's, behind `reserved=training`,
and the MIG profiles are a100-mig's, behind `reserved=sliced`. Of several rules that are broken the server names the
first.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

Object: TypeAlias = dict[str, Any]

NAMESPACE: Final = "research-vision-train"
KEY: Final = "gpu.acme.example/reserved"
TRAINING: Final = {"key": KEY, "operator": "Equal", "value": "training", "effect": "NoSchedule"}
SLICED: Final = {"key": KEY, "operator": "Equal", "value": "sliced", "effect": "NoSchedule"}
OTHER: Final = {"key": "example.com/other", "operator": "Exists", "effect": "NoSchedule"}
GPU: Final = "nvidia.com/gpu"
SLICE: Final = "nvidia.com/mig-1g.10gb"


class Request(NamedTuple):
    """A create request: what it sends, part of the message that refuses it, and the tolerations it is stored with."""

    name: str
    object: Object
    refused: str = ""
    """Empty where it is allowed."""
    tolerations: tuple[Object, ...] = ()
    """Of each pod spec that asks for GPUs; what Kubernetes adds to every pod itself is left out."""
    requests: Object | None = None
    """Of every container and init container (of a node of a TrainJob) as stored; None where they are not looked at."""


def container(limits: Object | None = None, *, requests: Object | None = None, name: str = "main") -> Object:
    """A container with its limits and with requests of its own."""
    written = {key: value for key, value in (("limits", limits), ("requests", requests)) if value}
    return {"name": name, "image": "registry.example/work:1", **({"resources": written} if written else {})}


def spec(*containers: Object, tolerations: tuple[Object, ...] = (), **more: Any) -> Object:
    """A pod spec."""
    given = {"tolerations": [dict(each) for each in tolerations]} if tolerations else {}
    return {"restartPolicy": "Never", "containers": [dict(each) for each in containers], **given, **more}


def _gpus(count: object = 1, resource: str = GPU) -> Object:
    return container({resource: count})


def _object(api: str, kind: str, name: str, body: Object) -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": body}


def pod(name: str, work: Object) -> Object:
    """A plain pod."""
    return _object("v1", "Pod", name, work)


def job(name: str, work: Object) -> Object:
    """A batch Job of one pod."""
    return _object("batch/v1", "Job", name, {"template": {"spec": work}})


def _always(work: Object) -> Object:
    return {**work, "restartPolicy": "Always"}


def _labelled(name: str, work: Object) -> Object:
    return {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": _always(work)},
    }


def _ray(head: Object, worker: Object) -> Object:
    group = {"groupName": "gpu", "replicas": 1, "minReplicas": 1, "maxReplicas": 1, "rayStartParams": {}}
    return {
        "headGroupSpec": {"rayStartParams": {}, "template": {"spec": head}},
        "workerGroupSpecs": [{**group, "template": {"spec": worker}}],
    }


def every_kind(prefix: str, work: Object) -> tuple[Object, ...]:
    """One object of each kind that keeps pod templates, all with the same pod spec at each place."""
    deployment, stateful = f"{prefix}-deployment", f"{prefix}-statefulset"
    twice = {"replicas": 1, "template": {"spec": {"template": {"spec": work}}}}
    leader_workers = {"leaderTemplate": {"spec": _always(work)}, "workerTemplate": {"spec": _always(work)}}
    lws = {"leaderWorkerTemplate": {"size": 2, **leader_workers}, "rolloutStrategy": {"type": "RollingUpdate"}}
    ray_job = {
        "entrypoint": "python",
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": _ray(work, work),
        "submitterPodTemplate": {"spec": work},
    }

    def training(kind: str, replicas: str, *roles: str, version: str = "v1") -> Object:
        specs = {role: {"replicas": 1, "restartPolicy": "Never", "template": {"spec": work}} for role in roles}
        return _object(f"kubeflow.org/{version}", kind, f"{prefix}-{kind.lower()}", {replicas: specs})

    return (
        pod(f"{prefix}-pod", work),
        job(f"{prefix}-job", work),
        _object("apps/v1", "Deployment", deployment, _labelled(deployment, work)),
        _object("apps/v1", "StatefulSet", stateful, {"serviceName": stateful, **_labelled(stateful, work)}),
        _object("batch/v1", "CronJob", f"{prefix}-cron", {"schedule": "0 0 29 2 *", "jobTemplate": twice["template"]}),
        _object(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            f"{prefix}-jobset",
            {"replicatedJobs": [{"name": "a", **twice}, {"name": "b", **twice}]},
        ),
        _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"{prefix}-lws", lws),
        training("MPIJob", "mpiReplicaSpecs", "Launcher", "Worker", version="v2beta1"),
        training("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker"),
        training("TFJob", "tfReplicaSpecs", "PS", "Worker"),
        training("JAXJob", "jaxReplicaSpecs", "Worker"),
        training("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker"),
        training("PaddleJob", "paddleReplicaSpecs", "Worker"),
        _object("ray.io/v1", "RayCluster", f"{prefix}-raycluster", _ray(work, work)),
        _object("ray.io/v1", "RayJob", f"{prefix}-rayjob", ray_job),
        _object("ray.io/v1", "RayService", f"{prefix}-rayservice", {"rayClusterConfig": _ray(work, work)}),
    )


def train_job(name: str, resources: Object) -> Object:
    """A TrainJob, which has the resources of its nodes beside no pod spec."""
    body = {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 2, "resourcesPerNode": resources}}
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", name, body)


_FENCED = f"may tolerate {KEY}=training:NoSchedule"
_FENCED_SLICES = f"may tolerate {KEY}=sliced:NoSchedule"
_KEYLESS = "write the key, the value and the effect that you mean"
"""Said by the policy on placement and by that on fences."""
_CPU = container(requests={"cpu": "1", "memory": "1Gi"})
_BARE = container()
_LIMITS = {"cpu": "10", "memory": "40Gi"}
_GPU_LIMITS = {**_LIMITS, GPU: "2"}
_LIMITED = container(_LIMITS)
_BEFORE = container(_LIMITS, name="before")


def _toleration(**fields: str) -> Object:
    return dict(fields)


REQUESTS: Final = (
    Request("cpu pod", pod("cpu-pod", spec(_CPU))),
    Request("cpu job", job("cpu-job", spec(_CPU))),
    Request("cpu job with a toleration of something else", job("cpu-other", spec(_CPU, tolerations=(OTHER,)))),
    Request(
        "cpu pod with the toleration of GPU nodes", pod("cpu-fence", spec(_CPU, tolerations=(OTHER, TRAINING))), _FENCED
    ),
    Request("job without any request, with the toleration", job("bare", spec(_BARE, tolerations=(TRAINING,))), _FENCED),
    Request("cpu job with the toleration of slices", job("cpu-mig", spec(_CPU, tolerations=(SLICED,))), _FENCED_SLICES),
    Request(
        "cpu pod that tolerates everything",
        pod("cpu-all", spec(_CPU, tolerations=(_toleration(operator="Exists"),))),
        _KEYLESS,
    ),
    Request(
        "cpu job that tolerates any value of the key",
        job("cpu-any", spec(_CPU, tolerations=(_toleration(key=KEY, operator="Exists"),))),
        _FENCED_SLICES,
    ),
    Request(
        "cpu job with the toleration for every effect, operator left out",
        job("cpu-effect", spec(_CPU, tolerations=(_toleration(key=KEY, value="training"),))),
        _FENCED,
    ),
    Request(
        "cpu job that tolerates another value of the key",
        job("cpu-value", spec(_CPU, tolerations=(_toleration(key=KEY, value="nothing", effect="NoSchedule"),))),
    ),
    Request(
        "cpu job that tolerates everything of another effect",
        job("cpu-execute", spec(_CPU, tolerations=(_toleration(operator="Exists", effect="NoExecute"),))),
        "A toleration without a key",
    ),
    Request(
        "cpu job that asks for zero GPUs",
        job("cpu-zero", spec(container({GPU: "0"}), tolerations=(TRAINING,))),
        _FENCED,
    ),
    Request(
        "job that asks for slices and tolerates the taint of whole GPUs",
        job("wrong-fence", spec(_gpus(1, SLICE), tolerations=(TRAINING,))),
        _FENCED,
    ),
    Request("GPU job without a toleration", job("gpu-job", spec(_gpus())), "", (TRAINING,)),
    Request("GPU pod without a toleration", pod("gpu-pod", spec(_gpus())), "", (TRAINING,)),
    Request(
        "GPU job with the toleration, which stays as it is",
        job("gpu-tolerates", spec(_gpus(), tolerations=(TRAINING,))),
        "",
        (TRAINING,),
    ),
    Request(
        "GPU job with another toleration, which it keeps",
        job("gpu-other", spec(_gpus(), tolerations=(OTHER,))),
        "",
        (OTHER, TRAINING),
    ),
    Request(
        "GPU job with requests beside limits",
        job("gpu-both", spec(container({GPU: 2}, requests={GPU: 2, "cpu": 1}))),
        "",
        (TRAINING,),
    ),
    Request("job of MIG slices", job("mig-job", spec(_gpus(2, SLICE))), "", (SLICED,)),
    Request(
        "GPU in a second container only",
        job("gpu-second", spec(_CPU, container({GPU: "1"}, name="second"))),
        "",
        (TRAINING,),
    ),
    Request(
        "GPU in an init container only",
        job("gpu-init", spec(_CPU, initContainers=[container({GPU: 1}, name="before")])),
        "",
        (TRAINING,),
    ),
    Request(
        "GPU job that goes around the scheduler", job("node-name", spec(_gpus(), nodeName="gpu-1")), "spec.nodeName"
    ),
    Request("cpu pod that goes around the scheduler", pod("pod-name", spec(_CPU, nodeName="gpu-1")), "spec.nodeName"),
    *(Request(f"{each['kind']} with GPUs", each, "", (TRAINING,)) for each in every_kind("gpu", spec(_gpus()))),
    *(
        Request(f"{each['kind']} without GPUs, with the toleration", each, _FENCED)
        for each in every_kind("fence", spec(_CPU, tolerations=(TRAINING,)))
    ),
    *(Request(f"{each['kind']} without GPUs", each) for each in every_kind("cpu", spec(_CPU))),
    Request("cpu job with limits only", job("limits", spec(_LIMITED)), requests=_LIMITS),
    Request(
        "limits of an init container and a sidecar",
        job(
            "limits-init", spec(_LIMITED, initContainers=[_BEFORE, {**_BEFORE, "name": "s", "restartPolicy": "Always"}])
        ),
        requests=_LIMITS,
    ),
    Request(
        "GPU job with limits only, which gets its toleration as well",
        job("limits-gpu", spec(container(_GPU_LIMITS))),
        "",
        (TRAINING,),
        _GPU_LIMITS,
    ),
    Request(
        "GPU limits beside a request of cpu: Kueue and Kubernetes complete the others alike",
        job("limits-mixed", spec(container(_GPU_LIMITS, requests={"cpu": "2"}))),
        "",
        (TRAINING,),
        {"cpu": "2", "memory": "40Gi"},
    ),
    Request(
        "requests below the limits, which stay as they are",
        job("limits-both", spec(container(_LIMITS, requests={"cpu": "1", "memory": "1Gi"}))),
        requests={"cpu": "1", "memory": "1Gi"},
    ),
    Request("job without any request or limit", job("limits-none", spec(_BARE)), requests={}),
    Request(
        "limits of something else than cpu and memory",
        job("limits-disk", spec(container({"ephemeral-storage": "1Gi"}))),
        requests={"ephemeral-storage": "1Gi"},
    ),
    Request("TrainJob with limits only", train_job("limits", {"limits": _GPU_LIMITS}), requests=_GPU_LIMITS),
    Request(
        "TrainJob with requests",
        train_job("both", {"limits": _LIMITS, "requests": {"cpu": "1"}}),
        requests={"cpu": "1", "memory": "40Gi"},
    ),
    *(
        Request(f"{each['kind']} with limits only", each, requests={} if each["kind"] == "Deployment" else _LIMITS)
        for each in every_kind("limits", spec(_LIMITED))
    ),
)

_CPU_REQUEST = "write resources.requests.cpu beside resources.limits.cpu"
_MEMORY_REQUEST = "write resources.requests.memory beside resources.limits.memory"

BEFORE_136: Final = (
    Request("cpu job with limits only", job("old-limits", spec(_LIMITED)), _CPU_REQUEST),
    Request(
        "cpu job that limits memory and requests cpu",
        job("old-memory", spec(container({"memory": "4Gi"}, requests={"cpu": "1"}))),
        _MEMORY_REQUEST,
    ),
    Request("limits of an init container", job("old-init", spec(_CPU, initContainers=[_BEFORE])), _CPU_REQUEST),
    Request("requests beside limits", job("old-both", spec(container(_LIMITS, requests=_LIMITS)))),
    Request("requests without limits", job("old-requests", spec(_CPU))),
    Request("GPU job that limits nothing else", job("old-gpu", spec(_gpus(), tolerations=(TRAINING,)))),
    Request("job without any request or limit", job("old-none", spec(_BARE))),
    Request("TrainJob with limits only", train_job("old-limits", {"limits": _LIMITS}), _CPU_REQUEST),
    *(
        Request(f"{each['kind']} with limits only", each, "" if each["kind"] in ("Pod", "Deployment") else _CPU_REQUEST)
        for each in every_kind("old", spec(_LIMITED))
    ),
)
