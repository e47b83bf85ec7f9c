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
from tenancy.backend.shared.admission import changed, mutates, mutating, templates, validating
from tenancy.backend.shared.cel import text
from tenancy.backend.shared.pod_templates import POD_TEMPLATES
from tenancy.plan.values import ClusterPlan

REQUESTS: Final = "tenancy-template-requests"

DEFAULTED: Final = ("cpu", "memory")
"""The resources for which a LimitRange of ours has default requests."""

COUNTED_AS_PODS: Final = ("Pod", "Deployment")
"""Kinds that Kueue counts by their pods, which the API server has completed before any policy sees them."""

_KINDS = tuple(kind for kind in POD_TEMPLATES if kind.kind not in COUNTED_AS_PODS)
_CONTAINERS = ("containers", "initContainers")


def requests(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding: it writes missing requests, and before Kubernetes 1.36 refuses to miss them.

    An update in which containers stay as they are is left alone: templates of jobs cannot change.
    """
    variables = {**templates(), **changed(_CONTAINERS), "limited": _LIMITED}
    if mutates(plan):
        # Open, it would be a way around quotas: an object so large that its expressions cost too much.
        yield from mutating(
            plan, REQUESTS, variables, _PATCHES, operations=("CREATE", "UPDATE"), kinds=_KINDS, failure="Fail"
        )
    else:
        yield from validating(plan, REQUESTS, variables, [_requested(each) for each in DEFAULTED], kinds=_KINDS)


_LIMITED: Final = (
    "!variables.changed ? [] : variables.templates[0].map(pod,\n"
    + " +\n".join(
        f"""\
  pod.spec.?{field}.orValue([]).transformList(at, each, each.?resources.?limits.orValue({{}}).size() > 0,
    {{"path": dyn(pod.path + "/{field}/" + string(at)), "resources": each.resources}})"""
        for field in _CONTAINERS
    )
    + "\n).flatten()"
)
"""CEL for the containers with limits in new or changed pod specs: their JSON pointers and their resources."""

_PATCHES: Final = """\
variables.limited.filter(it, !it.resources.?requests.hasValue()).map(it,
  JSONPatch{op: "add", path: it.path + "/resources/requests", value: it.resources.limits}) +
["cpu", "memory"].map(resource,
  variables.limited.filter(it, it.resources.?requests.hasValue() &&
    it.resources.limits[?resource].hasValue() && !it.resources.requests[?resource].hasValue()).map(it,
    JSONPatch{op: "add", path: it.path + "/resources/requests/" + resource, value: it.resources.limits[resource]})
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
