"""Admission policies that keep the promise of a fence: jobs without GPUs stay off GPU nodes, and GPU jobs get there.

A fenced ResourceFlavor has a taint that it does not tolerate for its jobs. That needs two policies. A job that writes
the toleration itself would be admitted there (run on 0.19.2), so the toleration is allowed only to
pods that ask for the flavor's GPUs. And a GPU job must carry the toleration, so from Kubernetes 1.36 on it is given to
jobs that carry none.

A taint that Kueue itself tolerates for the jobs of some other flavor cannot be guarded: their pods carry the toleration
as well. `tenancy validate` says so (fence-open).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import changed, mutates, mutating, pods, templates, validating
from tenancy.backend.shared.cel import text, texts
from tenancy.model.hardware import Hardware, Taint, tolerated
from tenancy.plan.values import ClusterPlan

FENCE: Final = "tenancy-fenced-flavors"
TOLERATIONS: Final = "tenancy-gpu-tolerations"


@dataclass(frozen=True, slots=True)
class Fence:
    """A taint with the fenced flavors that have it and the GPU resources that let a pod past it."""

    taint: Taint
    flavors: tuple[str, ...]
    resources: tuple[str, ...]


def fences(plan: ClusterPlan) -> Iterator[Object]:
    """The policies of the cluster's fences, each with its binding; none without a fence."""
    found = _fences(plan)
    if guarded := [fence for fence in found if not _injected(plan, fence.taint)]:
        variables = {**templates(), **changed(), **_pods(guarded)}
        yield from validating(plan, FENCE, variables, [_NODE_NAME, *map(_only_with_gpus, guarded)])
    if found and mutates(plan):
        yield from _tolerations(plan, found)


def _fences(plan: ClusterPlan) -> list[Fence]:
    """The fences by taint."""
    found: dict[Taint, list[Hardware]] = {}
    for flavor in _fenced(plan):
        for taint in _hard(flavor):
            found.setdefault(taint, []).append(flavor)
    return [
        Fence(
            taint,
            tuple(each.name for each in flavors),
            tuple(sorted({main for each in flavors for main in each.mains})),
        )
        for taint, flavors in sorted(found.items(), key=lambda item: (item[0].key, item[0].value, item[0].effect))
    ]


def _fenced(plan: ClusterPlan) -> list[Hardware]:
    return [flavor for flavor in plan.flavors.values() if flavor.fenced and flavor.gpu and _hard(flavor)]


def _hard(flavor: Hardware) -> list[Taint]:
    return [taint for taint in flavor.taints if taint.keeps_out]


def _injected(plan: ClusterPlan, taint: Taint) -> bool:
    """Whether a flavor without a fence gives its jobs a toleration that tolerates this taint."""
    given = [each for flavor in plan.flavors.values() if not flavor.fenced for each in flavor.taints]
    return any(tolerated(taint, each) for each in given)


def _pods(fences: list[Fence]) -> dict[str, str]:
    return pods(sorted({name for fence in fences for name in fence.resources}), [fence.taint for fence in fences])


_NODE_NAME: Final = (
    'request.operation != "CREATE" || variables.templates[0].all(pod, pod.spec.?nodeName.orValue("") == "")',
    "spec.nodeName skips the scheduler, and with it taints and queues: remove it, or write a nodeSelector",
)
"""Run: with `placement: plain` the pod of a cpu job that names a node ran on a tainted GPU node."""


def _only_with_gpus(fence: Fence) -> tuple[str, str]:
    taint = fence.taint.text
    expression = (
        "!variables.changed || variables.pods.all(pod,\n"
        f"  !({text(taint)} in pod.tolerates) || {_offers(fence.resources)})"
    )
    return expression, (
        f"Only pods that ask for {' or '.join(fence.resources)} may tolerate {taint}, the taint of "
        f"{', '.join(fence.flavors)}: ask for GPUs in resources.limits, or remove the toleration "
        "(one without a key or a value tolerates it too: write the key, the value and the effect that you mean)"
    )


def _tolerations(plan: ClusterPlan, fences: list[Fence]) -> Iterator[Object]:
    """Tolerations of every fenced flavor that offers the GPUs asked for, where a pod tolerates none of these flavors.

    Kueue then picks the flavor by quota; a pod that tolerates one of them has chosen.
    """
    chosen = " ||\n".join(f"  {_admits(flavor)}" for flavor in _fenced(plan))
    added = " +\n".join(f"    {_missing(fence)}" for fence in fences)
    variables = {
        **templates(),
        **_pods(fences),
        "helpless": f"variables.pods.filter(pod, pod.gpus.size() > 0 && !(\n{chosen}))",
    }
    patches = (
        'variables.helpless.map(pod, JSONPatch{\n  op: "add",\n  path: pod.path + "/tolerations",\n'
        f"  value: pod.spec.?tolerations.orValue([]) +\n{added}\n}})"
    )
    yield from mutating(plan, TOLERATIONS, variables, patches)


def _offers(resources: Iterable[str]) -> str:
    return f"pod.gpus.exists(gpu, gpu in {texts(resources)})"


def _admits(flavor: Hardware) -> str:
    """CEL: whether the pod gets past every taint of a flavor that offers the GPUs that it asks for."""
    return " && ".join([_offers(flavor.mains), *(f"{text(taint.text)} in pod.tolerates" for taint in _hard(flavor))])


def _missing(fence: Fence) -> str:
    """CEL for a list: the toleration of the fence where the pod needs it and does not have it.

    For a taint without a value it tolerates any value, as that of a ResourceFlavor does.
    """
    taint = fence.taint
    how = f'"operator": "Equal", "value": {text(taint.value)}' if taint.value else '"operator": "Exists"'
    toleration = f'{{"key": {text(taint.key)}, {how}, "effect": {text(taint.effect)}}}'
    return f"({_offers(fence.resources)} && !({text(taint.text)} in pod.tolerates) ?\n      [{toleration}] : [])"
