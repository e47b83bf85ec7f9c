"""Admission policies that keep the promise of a fence: jobs without GPUs stay off GPU nodes, and GPU jobs get there.

A fenced flavor has a taint that its jobs must tolerate themselves. That needs two policies. A job without GPUs that
writes the toleration would run there (run on Kueue 0.19.2), so the toleration is allowed only to pods that ask for the
flavor's GPUs. And a GPU job must carry the toleration, so from Kubernetes 1.36 on it is given to jobs that carry none.

A taint that jobs of some other flavor tolerate as well cannot be guarded. `tenancy validate` says so (fence-open).
Kueue itself gives jobs the tolerations of flavors without a fence; where no scheduler does, the same policy gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import changed, mutates, mutating, pods, templates, validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.claims import asked, class_of
from tenancy.backend.shared.guards.marks import FLAVORS, read
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates
from tenancy.model.hardware import Hardware, Taint, tolerated
from tenancy.plan.values import ClusterPlan

FENCE: Final = "tenancy-fenced-flavors"
TOLERATIONS: Final = "tenancy-gpu-tolerations"


@dataclass(frozen=True, slots=True)
class Fence:
    """A taint with the flavors that have it and the pods that may get past it."""

    taint: Taint
    flavors: tuple[str, ...]
    resources: tuple[str, ...]
    """GPU resources that let a pod past."""
    opened: bool
    """Whether pods without GPUs may pass as well."""


def fences(plan: ClusterPlan, *, injects: bool, kinds: Sequence[PodTemplates] = POD_TEMPLATES) -> Iterator[Object]:
    """The policies of the cluster's fences, each with its binding; none without a fence.

    `injects`: whether the scheduler itself gives jobs the tolerations of flavors without a fence, and so must see those
    of the others in the job. Where it does not, pods get all of theirs when they are created.
    """
    found = _fences(_fenced(plan))
    if guarded := [fence for fence in found if not _shared(plan, fence.taint)]:
        variables = {**templates(kinds), **changed(), **_pods(guarded)}
        yield from validating(plan, FENCE, variables, [*map(_only_with_gpus, guarded)], kinds=kinds, guard="fences")
    if mutates(plan):
        helped = [flavor for flavor in plan.flavors.values() if _hard(flavor) and (not injects or _is_fence(flavor))]
        if helped:
            yield from _tolerations(plan, helped, POD_TEMPLATES if injects else POD_TEMPLATES[:1])


def _fences(flavors: list[Hardware]) -> list[Fence]:
    """The fences by taint."""
    found: dict[Taint, list[Hardware]] = {}
    for flavor in flavors:
        for taint in _hard(flavor):
            found.setdefault(taint, []).append(flavor)
    return [
        Fence(
            taint,
            tuple(each.name for each in having),
            tuple(sorted({name for each in having for name in asked(each)})),
            not all(each.fenced for each in having),
        )
        for taint, having in sorted(found.items(), key=lambda item: (item[0].key, item[0].value, item[0].effect))
    ]


def _fenced(plan: ClusterPlan) -> list[Hardware]:
    return [flavor for flavor in plan.flavors.values() if _is_fence(flavor)]


def _is_fence(flavor: Hardware) -> bool:
    return flavor.fenced and flavor.gpu is not None and bool(_hard(flavor))


def _hard(flavor: Hardware) -> list[Taint]:
    return [taint for taint in flavor.taints if taint.keeps_out]


def _shared(plan: ClusterPlan, taint: Taint) -> bool:
    """Whether jobs of a flavor without a fence get a toleration that tolerates this taint."""
    given = [each for flavor in plan.flavors.values() if not flavor.fenced for each in flavor.taints]
    return any(tolerated(taint, each) for each in given)


def _pods(fences: list[Fence], resources: Iterable[str] = ()) -> dict[str, str]:
    names = sorted({*resources, *(name for fence in fences for name in fence.resources)})
    return pods(names, [fence.taint for fence in fences], [name for name in names if class_of(name)])


def _only_with_gpus(fence: Fence) -> tuple[str, str]:
    taint = fence.taint.text
    ways = {"a claim in resourceClaims" if class_of(name) else "GPUs in resources.limits" for name in fence.resources}
    expression = (
        "!variables.changed || variables.pods.all(pod,\n"
        f"  !({text(taint)} in pod.tolerates) || {_may(fence.resources)})"
    )
    return expression, (
        f"Only pods that ask for {' or '.join(class_of(name) or name for name in fence.resources)} may tolerate "
        f"{taint}, the taint of {', '.join(fence.flavors)}: ask for {' or '.join(sorted(ways))}, or remove the "
        "toleration (one without a key or a value tolerates it too: write the key, the value and the effect that you "
        "mean)"
    )


def _tolerations(plan: ClusterPlan, flavors: list[Hardware], kinds: Sequence[PodTemplates]) -> Iterator[Object]:
    """Tolerations of every one of `flavors` that a pod may use, where it tolerates none of them: those within reach
    that offer the GPUs that it asks for, or without GPUs those that are not fenced.

    The scheduler then picks the flavor by quota or by queue; a pod that tolerates one of them has chosen.
    """
    fences = _fences(flavors)
    closed = [fence for fence in fences if not _everybodys(plan, fence)]
    chosen = " ||\n".join(f"  {_admits(flavor)}" for flavor in flavors)
    added = " +\n".join(f"    {_missing(fence, fence in closed)}" for fence in fences)
    every: tuple[str, ...] = ()
    concerned = "pod.gpus.size() > 0"
    if any(fence.opened for fence in fences):
        every = tuple(name for flavor in plan.flavors.values() for name in asked(flavor))
        concerned = f"({' || '.join(dict.fromkeys(_may(fence.resources, fence.opened) for fence in fences))})"
    variables = {
        **templates(kinds),
        **_pods(fences, every),
        **({"reach": read(plan, FLAVORS)} if closed else {}),
        "helpless": f"variables.pods.filter(pod, {concerned} && !(\n{chosen}))",
    }
    patches = (
        'variables.helpless.map(pod, JSONPatch{\n  op: "add",\n  path: pod.path + "/tolerations",\n'
        f"  value: pod.spec.?tolerations.orValue([]) +\n{added}\n}})"
    )
    yield from mutating(plan, TOLERATIONS, variables, patches, kinds=kinds)


def _may(resources: Sequence[str], opened: bool = False) -> str:
    """CEL: whether the pod asks for one of the GPU resources, or for none where it is `opened` to those as well."""
    found = [f"pod.gpus.exists(gpu, gpu in {texts(resources)})"] if resources else []
    found += ["pod.gpus.size() == 0"] if opened else []
    return found[0] if len(found) == 1 else f"({' || '.join(found)})"


def _admits(flavor: Hardware) -> str:
    """CEL: whether the pod gets past every taint of a flavor that it may use."""
    may = _may(asked(flavor), not flavor.fenced)
    return " && ".join([may, *(f"{text(taint.text)} in pod.tolerates" for taint in _hard(flavor))])


def _everybodys(plan: ClusterPlan, fence: Fence) -> bool:
    """Whether every unit may use one of the fence's flavors."""
    return all(set(fence.flavors) & set(queue.flavors) for queue in plan.queues)


def _missing(fence: Fence, closed: bool) -> str:
    """CEL for a list: the toleration of the fence where the pod needs it and does not have it. With one of a flavor
    that is not for its namespace (`closed`) it could run there where no queue picks the flavor.

    For a taint without a value it tolerates any value, as that of a ResourceFlavor does.
    """
    taint = fence.taint
    how = f'"operator": "Equal", "value": {text(taint.value)}' if taint.value else '"operator": "Exists"'
    toleration = f'{{"key": {text(taint.key)}, {how}, "effect": {text(taint.effect)}}}'
    needed = f"{_may(fence.resources, fence.opened)} && !({text(taint.text)} in pod.tolerates)"
    if closed:
        needed += f" && variables.reach.exists(name, name in {texts(fence.flavors)})"
    return f"({needed} ?\n      [{toleration}] : [])"
