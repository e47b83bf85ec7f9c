"""The organization whose members attack it, what they have, and the words in which `attack_tables` says it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

Object: TypeAlias = dict[str, Any]

GPU: Final = "nvidia.com/gpu"
SHARE: Final = "nvidia.com/gpu.shared"
KUEUE: Final = "kueue.x-k8s.io"
DOMAIN: Final = "tenancy.internal"
QUEUE, PRIORITY = f"{KUEUE}/queue-name", f"{KUEUE}/priority-class"
CPU: Final = {"cpu": "1", "memory": "1Gi"}

_NODE: Final = {"gpus": 8, "cpu": 64, "memory": "512Gi"}
ORGANIZATION: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "priorities": {"production": 1000, "research": 100, "scavenger": -100},
    "policy": {"borrowing": "none"},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 1, "node": _NODE, "taint": f"{DOMAIN}/reserved=h100:NoSchedule"},
        "h200": {
            "gpu": "H200-SXM-141GB",
            "nodes": 1,
            "node": _NODE,
            "wholeNodes": True,
            "taint": f"{DOMAIN}/reserved=h200:NoSchedule",
        },
        "l4": {"gpu": "L4", "nodes": 1, "node": _NODE, "sharing": {"timeSlicing": 4}},
        "cpu": {"nodes": 2, "node": {"cpu": 64, "memory": "256Gi"}},
    },
    "departments": {
        "lab": {
            "budget": {"h100": 8, "l4": 16, "cpu": {"cpu": 48, "memory": "192Gi"}},
            "teams": {
                "vision": {
                    "budget": {"h100": 8, "l4": 8, "cpu": {"cpu": 24, "memory": "96Gi"}},
                    "priorities": ["research", "scavenger"],
                    "access": {"members": ["group:vision"]},
                },
                "late": {
                    "budget": {"l4": 8, "cpu": {"cpu": 8, "memory": "32Gi"}},
                    "priorities": ["scavenger"],
                    "access": {"members": ["group:late"]},
                },
                "strict": {
                    "budget": {"cpu": {"cpu": 8, "memory": "32Gi"}},
                    "podSecurity": {"level": "restricted"},
                    "access": {"members": ["group:strict"]},
                },
                "drivers": {
                    "budget": {"cpu": {"cpu": 8, "memory": "32Gi"}},
                    "podSecurity": {"level": "privileged", "reason": "loads kernel modules"},
                    "access": {"members": ["group:drivers"]},
                },
            },
        },
        "big": {
            "budget": {"h200": 8},
            "teams": {"whole": {"budget": {"h200": 8}, "access": {"members": ["group:whole"]}}},
        },
    },
}
"""Each team is something that the guards tell apart. Only `whole` reaches the h200 nodes, and nobody borrows."""

H100: Final = {"key": f"{DOMAIN}/reserved", "operator": "Equal", "value": "h100", "effect": "NoSchedule"}
H200: Final = {**H100, "value": "h200"}
OTHER: Final = {"key": "example.com/x", "operator": "Exists"}
EVERYTHING: Final = {"operator": "Exists"}


class Attempt(NamedTuple):
    """Something that a member of a team tries."""

    name: str
    rule: str
    """Words of the message of the rule that it is about."""
    item: Any
    """What is created, or how `of` is changed: a merge patch, or a list for a JSON patch."""
    told: str = ""
    """Words of the refusal; empty where it is allowed."""
    team: str = "vision"
    of: str = ""
    """The object of BEFORE that is changed, by its name; with `/pod` its first pod."""


def namespace(team: str) -> str:
    """Of one of the teams."""
    return f"big-{team}" if team == "whole" else f"lab-{team}"


def container(resources: Object | None = None, **more: Any) -> Object:
    """A container that asks for these, limited to what is no cpu and no memory."""
    asked = dict(resources or CPU)
    limits = {name: count for name, count in asked.items() if "/" in name}
    return {
        "name": "main",
        "image": "none",
        "resources": {"requests": asked, **({"limits": limits} if limits else {})},
        **more,
    }


def spec(*containers: Object, **more: Any) -> Object:
    """A pod spec; of one small container where none is given."""
    return {"restartPolicy": "Never", "containers": [*containers] or [container()], **more}


def meta(labels: Object | None = None, annotations: Object | None = None, **more: Any) -> Object:
    """Metadata without a name."""
    return {key: each for key, each in {"labels": labels, "annotations": annotations, **more}.items() if each}


def made(api: str, kind: str, body: Object, metadata: Object | None = None) -> Object:
    """An object, whose name and namespace it gets when it is tried."""
    return {"apiVersion": api, "kind": kind, "metadata": dict(metadata or {}), "spec": body}


def pod(work: Object | None = None, metadata: Object | None = None) -> Object:
    """A plain pod."""
    return made("v1", "Pod", work or spec(), metadata)


def job(
    work: Object | None = None, metadata: Object | None = None, template: Object | None = None, **more: Any
) -> Object:
    """A Job."""
    return made("batch/v1", "Job", {"template": {"metadata": template or {}, "spec": work or spec()}, **more}, metadata)


def cron(work: Object | None = None, metadata: Object | None = None, **more: Any) -> Object:
    """A CronJob, whose Jobs have this metadata."""
    inner = {"metadata": metadata or {}, "spec": {"template": {"spec": work or spec()}}}
    return made("batch/v1", "CronJob", {"schedule": "0 4 * * *", "jobTemplate": inner, **more})


def deployment(work: Object | None = None, metadata: Object | None = None, **more: Any) -> Object:
    """A Deployment."""
    given = {**(work or spec()), "restartPolicy": "Always"}
    template = {"metadata": {"labels": {"app": "it"}}, "spec": given}
    return made(
        "apps/v1", "Deployment", {"selector": {"matchLabels": {"app": "it"}}, "template": template, **more}, metadata
    )


def stateful(work: Object | None = None) -> Object:
    """A StatefulSet."""
    return {**deployment(work), "kind": "StatefulSet"}


def jobset(work: Object | None = None, metadata: Object | None = None, parts: int = 1) -> Object:
    """A JobSet of some parts of two pods each."""
    template = {"spec": {"template": {"spec": work or spec()}}}
    replicated = [{"name": f"a{index}", "replicas": 2, "template": template} for index in range(parts)]
    return made("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": replicated}, metadata)


def pytorch(work: Object | None = None, metadata: Object | None = None, **policy: Any) -> Object:
    """A PyTorchJob."""
    replicas = {"Master": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": work or spec()}}}
    body = {"pytorchReplicaSpecs": replicas, **({"runPolicy": policy} if policy else {})}
    return made("kubeflow.org/v1", "PyTorchJob", body, metadata)


def service(**more: Any) -> Object:
    """A Service."""
    return made("v1", "Service", {"selector": {"app": "it"}, "ports": [{"port": 80}], **more})


def labelled(key: str, value: str) -> Object:
    """Metadata with one label."""
    return meta({key: value})


def annotated(key: str, value: str) -> Object:
    """Metadata with one annotation."""
    return meta(None, {key: value})


def selecting(key: str, operator: str, *values: str, preferred: bool = False) -> Object:
    """Node affinity of one expression."""
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": [*values]}]}
    if preferred:
        found: Object = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
    else:
        found = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"nodeAffinity": found}


FLAVOR: Final = f"{DOMAIN}/flavor"
GPUS: Final = container({**CPU, GPU: "1"})
SAFE: Final = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}

BEFORE: Final[dict[str, Object]] = {
    "runs": job(spec(GPUS, tolerations=[EVERYTHING]), labelled(PRIORITY, "production")),
    "waits": job(spec(container({"cpu": "20", "memory": "1Gi"}), tolerations=[EVERYTHING]), parallelism=9),
    "alone": pod(spec(container({"cpu": "2", "memory": "1Gi"}), tolerations=[EVERYTHING])),
    "gated": pod(spec(container({"cpu": "40", "memory": "1Gi"}), schedulingGates=[{"name": "example.com/data"}])),
    "serves": deployment(spec(tolerations=[EVERYTHING])),
    "nightly": cron(spec(nodeName="cpu-0")),
    "set": jobset(spec(nodeSelector={FLAVOR: "h200"})),
    "trains": pytorch(spec(hostNetwork=True)),
    "answers": service(externalIPs=["192.0.2.1"]),
}
"""By name: what team `vision` has in the cluster before there are policies; all but one break some rule since."""


def owner(api: str, kind: str, name: str) -> Object:
    """Metadata with BEFORE's object of a name as the owner in control; the test writes its uid."""
    reference = {"apiVersion": api, "kind": kind, "name": name, "uid": "", "controller": True}
    return {"ownerReferences": [reference]}
