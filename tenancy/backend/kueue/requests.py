"""An admission policy by which Kueue counts what pods get: requests that Kubernetes would take from limits are written.

The API server completes a pod: a container that limits cpu or memory without requesting it requests its limit. Kueue
0.17 to 0.19 lays the LimitRange's default requests over the template of a job first and looks at limits after that
(AdjustResources in pkg/workload/resources.go). Run on 0.19.2: a Job with limits of 10 cpu and 40Gi and no requests is
charged the default of 1 cpu and 4Gi, and its pod has 10 cpu and 40Gi; one with limits below the default is never
admitted. With requests in the template both count alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import mutates, mutating, templates, validating
from tenancy.backend.shared.cel import text
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates
from tenancy.plan.values import ClusterPlan

REQUESTS: Final = "tenancy-template-requests"

DEFAULTED: Final = ("cpu", "memory")
"""The resources for which a LimitRange of ours has default requests."""

COUNTED_AS_PODS: Final = ("Pod", "Deployment")
"""Kinds that Kueue counts by their pods, which the API server has completed before any policy sees them."""

TRAIN_JOB: Final = PodTemplates("trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob", ())
"""A kind without a pod template: its `spec.trainer.resourcesPerNode` replaces the resources in that of a runtime."""

_KINDS = (*(kind for kind in POD_TEMPLATES if kind.kind not in COUNTED_AS_PODS), TRAIN_JOB)


def requests(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding: it writes missing requests, and before Kubernetes 1.36 refuses to miss them.

    An update that leaves resources as they are is left alone, so that work from before the policy can still be started,
    suspended and deleted.
    """
    variables = {**templates(), "resources": _RESOURCES, "limited": _LIMITED}
    if mutates(plan):
        # Open, it would be a way around quotas: an object so large that its expressions cost too much.
        yield from mutating(
            *(plan, REQUESTS, variables, _PATCHES),
            operations=("CREATE", "UPDATE"),
            kinds=_KINDS,
            failure="Fail",
            guard="queueing",
        )
    else:
        rules = [_requested(each) for each in DEFAULTED]
        yield from validating(plan, REQUESTS, variables, rules, kinds=_KINDS, guard="queueing")


_RESOURCES: Final = """\
variables.revisions.transformList(at, it, it.kind == "TrainJob" ?
  it.?spec.?trainer.?resourcesPerNode.optMap(each,
    [{"path": dyn("/spec/trainer/resourcesPerNode"), "resources": each}]).orValue([]) :
  variables.templates[at].map(pod,
    pod.spec.?containers.orValue([]).transformList(index, each,
      {"path": dyn(pod.path + "/containers/" + string(index) + "/resources"),
       "resources": each.?resources.orValue({})}) +
    pod.spec.?initContainers.orValue([]).transformList(index, each,
      {"path": dyn(pod.path + "/initContainers/" + string(index) + "/resources"),
       "resources": each.?resources.orValue({})})
  ).flatten())"""
"""CEL for the resources of every container with their JSON pointers, of the new object and of the old one."""

_LIMITED: Final = """\
variables.resources.size() == 1 || variables.resources[0] != variables.resources[1] ?
  variables.resources[0].filter(it, it.resources.?limits.orValue({}).size() > 0) : []"""
"""CEL for those with limits, where the object is new or its resources change."""

_PATCHES: Final = """\
variables.limited.filter(it, !it.resources.?requests.hasValue()).map(it,
  JSONPatch{op: "add", path: it.path + "/requests", value: it.resources.limits}) +
["cpu", "memory"].map(resource,
  variables.limited.filter(it, it.resources.?requests.hasValue() &&
    it.resources.limits[?resource].hasValue() && !it.resources.requests[?resource].hasValue()).map(it,
    JSONPatch{op: "add", path: it.path + "/requests/" + resource, value: it.resources.limits[resource]})
).flatten()"""
"""Kubernetes takes every missing request from its limit; beside other requests only those with defaults need it."""


def _requested(resource: str) -> tuple[str, str]:
    name = text(resource)
    expression = (
        f"variables.limited.all(it, !it.resources.limits[?{name}].hasValue() ||\n"
        f"  it.resources.?requests[?{name}].hasValue())"
    )
    return expression, (
        f"A container limits {resource} and does not request it, so the queue would count the namespace's default "
        f"instead: write resources.requests.{resource} beside resources.limits.{resource}, with the same value or "
        "less, in every container and init container"
    )
