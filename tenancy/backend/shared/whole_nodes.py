"""Admission policies of flavors that are given out in whole nodes: a pod asks for all GPUs of a node, or for none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import changed, templates, validating
from tenancy.backend.shared.cel import text
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates
from tenancy.plan.values import ClusterPlan

WHOLE_NODES: Final = "tenancy-whole-nodes"


def whole_nodes(plan: ClusterPlan, kinds: Sequence[PodTemplates] = POD_TEMPLATES) -> Iterator[Object]:
    """For each GPU resource that queues can have in whole nodes only, the numbers of it that a pod may ask for.

    Namespaces are listed only where others get smaller parts of the same resource; a label on each namespace would say
    no more. A queue that reaches both kinds of flavor is left alone: no number is right for both, and
    `tenancy validate` says so.
    """
    for resource, found in sorted(_sizes(plan).items()):
        for sizes, namespaces in sorted(found.items()):
            if sizes and sizes != (1,):
                name = f"{WHOLE_NODES}-{resource.replace('/', '-').lower()}-{'-'.join(map(str, sizes))}"
                variables = {**templates(kinds), **changed(), "gpus": _COUNTS.replace("RESOURCE", text(resource))}
                where = namespaces if len(found) > 1 else ()
                rules = [_whole(resource, sizes)]
                yield from validating(plan, name, variables, rules, where, kinds, guard="whole_nodes")


def _sizes(plan: ClusterPlan) -> dict[str, dict[tuple[int, ...], list[str]]]:
    """From resource to GPUs of a node (of each kind; none where a queue also gets smaller parts) to namespaces."""
    found: dict[str, dict[tuple[int, ...], list[str]]] = {}
    for queue in plan.queues:
        flavors = [flavor for name in queue.flavors if (flavor := plan.flavors[name]).gpu]
        for resource in sorted({main for flavor in flavors for main in flavor.mains}):
            offers = [flavor for flavor in flavors if resource in flavor.mains]
            whole = all(flavor.whole_nodes for flavor in offers)
            sizes = tuple(sorted({flavor.steps[resource] for flavor in offers})) if whole else ()
            found.setdefault(resource, {}).setdefault(sizes, []).extend(queue.namespaces)
    return found


_COUNTS: Final = """\
variables.templates[0].map(pod, (
  [(pod.spec.?containers.orValue([]) + pod.spec.?initContainers.orValue([])
    .filter(container, container.?restartPolicy.orValue("") == "Always"))
    .map(container, quantity(string(dyn(container.?resources.?limits[?RESOURCE].orValue("0")))).asInteger()).sum()] +
  pod.spec.?initContainers.orValue([])
    .map(container, quantity(string(dyn(container.?resources.?limits[?RESOURCE].orValue("0")))).asInteger())).max())"""
"""CEL for a list of numbers: what each pod has of a resource. That is the sum of its containers and sidecars, or what
one init container asks for alone."""


def _whole(resource: str, sizes: tuple[int, ...]) -> tuple[str, str]:
    expression = f"!variables.changed || variables.gpus.all(count, count in {[0, *sizes]})"
    numbers = " or ".join(map(str, sizes))
    message = f"These GPUs are given out in whole nodes: let each pod ask for {numbers} {resource}, or for none"
    return expression, message
