"""ResourceQuotas of compute: a namespace has what its unit owns, and the API server refuses every pod beyond it.

Nothing is lent, so the quota is the limit, and what is reserved is kept. Every GPU and MIG resource of the cluster is
named, "0" where the unit owns none: an absent name means no limit. Requests alone are counted: they are what the
scheduler places by and what the budgets are in. Hard limits of cpu and memory would refuse every container that does
not limit itself, and GPUs are counted as requests only (`podEvaluator` in pkg/quota of Kubernetes), which equal their
limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.backend.shared.claims import devices_key, foreign_devices, implicit
from tenancy.backend.shared.metadata import obj
from tenancy.model.devices import SHARED
from tenancy.model.hardware import CPU, MEMORY, Hardware
from tenancy.model.organization import Quota
from tenancy.model.quantity import canonical
from tenancy.model.shares import split
from tenancy.plan.values import ClusterPlan, Namespace, Queue

COMPUTE: Final = "tenancy-compute"
SYSTEM_PRIORITIES: Final = "tenancy-system-priorities"
SYSTEM_CLASSES: Final = ("system-cluster-critical", "system-node-critical")
"""The priority classes that preempt every other pod. The API server lets any namespace use them (run, 1.36)."""

Part: TypeAlias = Mapping[str, Mapping[str, int]]
"""What a namespace has, from flavor to resource."""

_STEPS: Final = {CPU: 1000, MEMORY: 1 << 30}
"""Where cpu and memory do not follow GPUs exactly, they are divided in whole cores and GiB."""


def quotas(plan: ClusterPlan, namespace: Namespace, queue: Queue, part: Part) -> Iterator[Object]:
    """What a namespace of a unit has, as a quota; that of what nobody may use; and that which stops a unit."""
    yield _compute(plan, namespace, queue, part)
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": list(SYSTEM_CLASSES)}
    yield _quota(namespace, SYSTEM_PRIORITIES, {"hard": {"pods": "0"}, "scopeSelector": {"matchExpressions": [scope]}})
    if queue.state != "active":
        yield _quota(namespace, stopped(queue.state), {"hard": {"pods": "0"}})


def stopped(state: str) -> str:
    """The name of the quota that stops a unit, which its users read in every refusal.

    It refuses every new pod, those that would replace failed ones too, and never ends what runs.
    """
    return f"tenancy-{state}"


def parts(plan: ClusterPlan, queue: Queue) -> dict[str, Part]:
    """What each namespace of a unit has. A ResourceQuota counts one namespace, so several divide what the unit owns:
    equally, in whole units, the remainder to the first; cpu and memory go with the GPUs."""
    count = len(queue.namespaces)
    by_flavor = {name: _divided(plan.flavors[name], amounts, count) for name, amounts in queue.quotas.items()}
    return {
        namespace: {name: shares[index] for name, shares in by_flavor.items()}
        for index, namespace in enumerate(queue.namespaces)
    }


def hard(plan: ClusterPlan, part: Part) -> dict[str, int]:
    """What a namespace may request of every resource of the cluster, all flavors together."""
    return {resource: sum(amounts.get(resource, 0) for amounts in part.values()) for resource in sorted(plan.resources)}


def keys(plan: ClusterPlan, resource: str) -> tuple[str, ...]:
    """What a quota counts a resource by: what pods request, or what claims have of its DeviceClass.

    From Kubernetes 1.36 on a pod also gets devices of a class without a claim, by a resource that is called after the
    class. The scheduler makes the claim then, long after the pod has passed, so both are counted (`claimEvaluator` in
    pkg/quota counts a claim for the second key only as far as its pod is not).
    """
    name = plan.device_classes.get(resource)
    if name is None:
        return (f"requests.{resource}",)
    return devices_key(name), f"requests.{implicit(name)}"


def _compute(plan: ClusterPlan, namespace: Namespace, queue: Queue, part: Part) -> Object:
    """Its annotations say for `diff` what sums of all flavors and namespaces hide."""
    owned = [
        f"{flavor}/{resource}={canonical(amount, resource)}"
        for flavor, amounts in sorted(part.items())
        for resource, amount in sorted(amounts.items())
        if amount
    ]
    notes = {f"{plan.domain}/quotas": ",".join(owned), f"{plan.domain}/unit": queue.title}
    if queue.parent == queue.name:
        notes[f"{plan.domain}/shared"] = "true"
    if queue.state != "active":
        notes[f"{plan.domain}/state"] = queue.state
    counted = {key: canonical(amount, name) for name, amount in hard(plan, part).items() for key in keys(plan, name)}
    return _quota(namespace, COMPUTE, {"hard": _unshared(plan) | counted | foreign_devices(plan)}, notes)


def _unshared(plan: ClusterPlan) -> dict[str, str]:
    """None of what a node offers that has not been told to share its GPUs, or no longer: it would be in no quota."""
    return {f"requests.{name.removesuffix(SHARED)}": "0" for name in plan.resources if name.endswith(SHARED)}


def _quota(
    namespace: Namespace, name: str, spec: Mapping[str, Any], annotations: Mapping[str, str] | None = None
) -> Object:
    labels = namespace.labels
    return obj("v1", "ResourceQuota", name, labels, namespace=namespace.name, annotations=annotations, spec=spec)


def _divided(flavor: Hardware, amounts: Mapping[str, Quota], count: int) -> list[dict[str, int]]:
    """The quota of one flavor in `count` parts. Those before never have less of a main resource than those after."""
    divided = {main: _split(amounts[main].quota, [1] * count, flavor.steps[main]) for main in flavor.mains}
    for resource in flavor.resources:
        if resource not in divided:
            follow = [
                sum(divided[main][index] * flavor.follows[main][resource] for main in flavor.mains)
                for index in range(count)
            ]
            divided[resource] = _following(amounts[resource].quota, follow, _STEPS[resource])
    return [{resource: found[index] for resource, found in divided.items()} for index in range(count)]


def _following(total: int, follow: Sequence[int], step: int) -> list[int]:
    """cpu or memory in proportion to what follows the GPUs of each part; equally where there are none."""
    whole = sum(follow)
    if whole and all(total * each % whole == 0 for each in follow):
        return [total * each // whole for each in follow]
    return _split(total, follow if whole else [1] * len(follow), step)


def _split(total: int, weights: Sequence[int], step: int) -> list[int]:
    first, *others = split(total, [Fraction(weight) for weight in weights], [None] * len(weights), step)
    return [total - sum(others), *others] if total else [first, *others]
