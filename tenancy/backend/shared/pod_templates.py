"""Where each kind of work keeps its pod templates, for admission policies, as data and as a CEL expression.

Paths are those of the published Go types: Kubernetes 1.36, JobSet 0.12, LeaderWorkerSet 0.9, Kubeflow training operator
1.9, MPI operator 0.8, KubeRay 1.6. Both of Kubeflow's operators bring an MPIJob of one name, and a cluster has v1 or
v2beta1. TrainJob and AppWrapper have none here: the one names a runtime, the other holds objects of any kind; what they
create is admitted under the rules of its own kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from tenancy.backend.shared.cel import text, texts


class PodTemplates(NamedTuple):
    """A kind with the paths of its pod specs; `[]` goes through a list, `{}` through a map, at most one in a path. An
    empty path is the object itself."""

    group: str
    version: str
    resource: str
    kind: str
    paths: tuple[str, ...]

    @property
    def owner(self) -> str:
        """`Kind.group`, by which guards know it as an owner."""
        return f"{self.kind}.{self.group}"


_MARKS: Final = ("[]", "{}")
"""Of lists and maps in a path, each like an empty one in CEL."""

_TEMPLATE = ("spec.template.spec",)
_MPI = ("spec.mpiReplicaSpecs{}.template.spec",)
_LEADER_WORKERS = ("spec.leaderWorkerTemplate.leaderTemplate.spec", "spec.leaderWorkerTemplate.workerTemplate.spec")
_RAY = ("headGroupSpec.template.spec", "workerGroupSpecs[].template.spec")
_RAY_JOB = (*(f"spec.rayClusterSpec.{path}" for path in _RAY), "spec.submitterPodTemplate.spec")

POD_TEMPLATES: Final = (
    PodTemplates("", "v1", "pods", "Pod", ("spec",)),
    PodTemplates("apps", "v1", "deployments", "Deployment", _TEMPLATE),
    PodTemplates("apps", "v1", "statefulsets", "StatefulSet", _TEMPLATE),
    PodTemplates("batch", "v1", "jobs", "Job", _TEMPLATE),
    PodTemplates("batch", "v1", "cronjobs", "CronJob", ("spec.jobTemplate.spec.template.spec",)),
    PodTemplates(
        "jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", ("spec.replicatedJobs[].template.spec.template.spec",)
    ),
    PodTemplates("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", _LEADER_WORKERS),
    PodTemplates("kubeflow.org", "v2beta1", "mpijobs", "MPIJob", _MPI),
    PodTemplates("kubeflow.org", "v1", "mpijobs", "MPIJob", _MPI),
    PodTemplates("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", ("spec.pytorchReplicaSpecs{}.template.spec",)),
    PodTemplates("kubeflow.org", "v1", "tfjobs", "TFJob", ("spec.tfReplicaSpecs{}.template.spec",)),
    PodTemplates("kubeflow.org", "v1", "jaxjobs", "JAXJob", ("spec.jaxReplicaSpecs{}.template.spec",)),
    PodTemplates("kubeflow.org", "v1", "xgboostjobs", "XGBoostJob", ("spec.xgbReplicaSpecs{}.template.spec",)),
    PodTemplates("kubeflow.org", "v1", "paddlejobs", "PaddleJob", ("spec.paddleReplicaSpecs{}.template.spec",)),
    PodTemplates("ray.io", "v1", "rayclusters", "RayCluster", tuple(f"spec.{path}" for path in _RAY)),
    PodTemplates("ray.io", "v1", "rayjobs", "RayJob", _RAY_JOB),
    PodTemplates("ray.io", "v1", "rayservices", "RayService", tuple(f"spec.rayClusterConfig.{path}" for path in _RAY)),
)


def whole(kinds: Sequence[PodTemplates]) -> list[PodTemplates]:
    """These kinds with the paths of whole templates, metadata included, in place of pod specs; that of a pod is the
    pod."""
    paths = (tuple(path.removesuffix("spec").removesuffix(".") for path in kind.paths) for kind in kinds)
    return [kind._replace(paths=each) for kind, each in zip(kinds, paths, strict=True)]


def sized(kinds: Sequence[PodTemplates]) -> list[PodTemplates]:
    """Those of these kinds that may have several templates, with the paths of what says how many pods each has: its
    entry of the list or map, or the object around the template."""
    several = (kind for kind in kinds if len(kind.paths) > 1 or any(mark in kind.paths[0] for mark in _MARKS))
    return [kind._replace(paths=tuple(map(_around, kind.paths))) for kind in several]


def _around(path: str) -> str:
    for mark in _MARKS:
        if mark in path:
            return path.partition(mark)[0] + mark
    return path.removesuffix(".spec").removesuffix(".template")


def resource_rules(operations: tuple[str, ...], kinds: Sequence[PodTemplates] = POD_TEMPLATES) -> list[dict[str, Any]]:
    """The rules that match these kinds, one for each API group and version, every default stated."""
    rules = groupby(kinds, key=lambda kind: (kind.group, kind.version))
    return [
        {
            "apiGroups": [group],
            "apiVersions": [version],
            "operations": list(operations),
            "resources": [kind.resource for kind in members],
            "scope": "*",
        }
        for (group, version), members in rules
    ]


def pod_templates(of: str, kinds: Sequence[PodTemplates] = POD_TEMPLATES, key: str = "spec") -> str:
    """CEL for the pod specs of the object in the variable `of`: a list of `{path: JSON pointer, spec: pod spec}`.

    With another `key` the paths of `kinds` are those of something else, which is found under it.
    A path whose parts are absent gives nothing, so kinds of one name in two API groups share their paths. The values
    are dynamic, so the controller manager's type check, which reads an expression once for each matched kind, has
    nothing to say about the fields of the others.
    """
    by_kind: dict[str, tuple[str, ...]] = {}
    for each in (kind for kind in kinds if kind.paths):
        by_kind[each.kind] = tuple(dict.fromkeys((*by_kind.get(each.kind, ()), *each.paths)))
    by_paths: dict[tuple[str, ...], list[str]] = {}
    for kind, paths in by_kind.items():
        by_paths.setdefault(paths, []).append(kind)
    cases = []
    for paths, names in by_paths.items():
        specs = " +\n  ".join(_specs(of, path, key) for path in paths)
        cases.append(f"{of}.kind in {texts(names)} ?\n  {specs} :\n")
    return "".join(cases) + "[]"


def _specs(of: str, path: str, key: str) -> str:
    if not path:
        return f'[{{"path": dyn(""), {text(key)}: {of}}}]'
    for mark in _MARKS:
        if mark in path:
            outer, _, inner = path.partition(mark)
            pointer = f"{text(_pointer(outer) + '/')} + string(at)"
            pointer += f" + {text(_pointer(inner[1:]))}" if inner else ""
            entry = f'{{"path": dyn({pointer}), {text(key)}: each{inner}}}'
            return f"{_optional(of, outer)}.orValue({mark}).transformList(at, each, {entry})"
    entry = f'{{"path": dyn({text(_pointer(path))}), {text(key)}: spec}}'
    return f"{_optional(of, path)}.optMap(spec, [{entry}]).orValue([])"


def _optional(of: str, path: str) -> str:
    return of + "".join(f".?{part}" for part in path.split("."))


def _pointer(path: str) -> str:
    return "".join(f"/{part}" for part in path.split("."))
