"""The admission policy that keeps work on the nodes of its unit, and with the scheduler of the cluster.

- `nodeName` skips the scheduler: with `placement: plain` the pod of a cpu job that names a node ran on a tainted GPU
  node (run on Kueue 0.19.2);
- another scheduler places pods where Kueue has not charged them;
- a toleration without a key tolerates every taint, also those of nodes that are ill or being emptied;
- one of a node's role lets pods onto the control plane, beside etcd, where nothing else keeps them to flavors;
- selectors, affinities and tolerations that name a flavor which the namespace's queue cannot reach: on Kueue such work
  waits for ever, and without a batch scheduler it runs on GPUs that are not its unit's, since a ResourceQuota counts
  GPUs of every flavor alike.

Which pods may tolerate the taints of flavors within reach is the fence's (`fences.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import Rule, templates, validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.guards.facts import fact, first, named, news, none
from tenancy.backend.shared.guards.marks import FLAVORS, read
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates
from tenancy.model.hardware import tolerated
from tenancy.plan.values import ClusterPlan

PLACEMENT: Final = "tenancy-placement"
SCHEDULERS: Final = ("", "default-scheduler")
ROLES: Final = "node-role.kubernetes.io/"
"""What the keys of taints begin with that keep pods off the control plane, and off other nodes of a role."""


def placement(
    plan: ClusterPlan, kinds: Sequence[PodTemplates] = POD_TEMPLATES, *, schedulers: Sequence[str] = SCHEDULERS
) -> Iterator[Object]:
    """The policy with its binding. Without `schedulers` it says nothing of nodes by name and of schedulers, where
    another policy does."""
    labels, taints = _labels(plan), _taints(plan)
    rules: list[Rule] = [*(_rules(schedulers) if schedulers else ()), _EVERYTHING, _ROLE]
    lists = {"reach": read(plan, FLAVORS)} if labels or taints else {}
    facts = _listed([*(_FACTS if schedulers else ()), _BLANKET, _role(plan)])
    if labels:
        lists |= {"labels": _listed(labels), "foreign": _FOREIGN}
        rules.append(_FLAVOR)
        facts += _NAMED
    if taints:
        lists |= {"taints": _listed(taints), "closed": _CLOSED}
        rules.append(_TAINT)
        facts += _TOLERATED
    variables = {**templates(kinds), **lists, **news(f"variables.templates[at].map(each, {facts}).flatten()")}
    yield from validating(plan, PLACEMENT, variables, rules, kinds=kinds, guard="placement")


def _closed(plan: ClusterPlan) -> bool:
    """Whether some unit cannot reach some flavor."""
    return any(set(plan.flavors) - set(queue.flavors) for queue in plan.queues)


def _labels(plan: ClusterPlan) -> list[str]:
    """CEL for every label of a flavor's nodes, with the flavors whose nodes have it."""
    if not _closed(plan):
        return []
    found: dict[tuple[str, str], list[str]] = {}
    for flavor in plan.flavors.values():
        for pair in sorted(flavor.labels.items()):
            found.setdefault(pair, []).append(flavor.name)
    return [
        f'{{"key": {text(key)}, "value": {text(value)}, "flavors": {text(", ".join(names))}}}'
        for (key, value), names in sorted(found.items())
    ]


def _taints(plan: ClusterPlan) -> list[str]:
    """CEL for every taint that keeps pods out, with the flavors whose jobs tolerate it.

    Jobs of a flavor whose taint has no value tolerate every value of its key.
    """
    if not _closed(plan):
        return []
    every = {taint for flavor in plan.flavors.values() for taint in flavor.taints if taint.keeps_out}
    found = []
    for taint in sorted(every, key=lambda each: each.text):
        names = [
            name for name, flavor in plan.flavors.items() if any(tolerated(taint, other) for other in flavor.taints)
        ]
        found.append(
            f'{{"taint": {text(taint.text)}, "key": {text(taint.key)}, "value": {text(taint.value)}, '
            f'"effect": {text(taint.effect)}, "flavors": {text(", ".join(names))}}}'
        )
    return found


def _role(plan: ClusterPlan) -> str:
    """CEL for the fact of the roles whose nodes a pod tolerates, but for those that are taints of flavors."""
    own = texts(sorted({taint.key for flavor in plan.flavors.values() for taint in flavor.taints}))
    known = f'it.?key.orValue("").startsWith({text(ROLES)}) && !(it.key in {own})'
    roles = f"each.spec.?tolerations.orValue([]).filter(it, {known}).map(it, string(it.key))"
    return fact("role", f'{roles}.join(", ")')


def _listed(entries: list[str]) -> str:
    return "[" + ",\n".join(entries) + "]"


_FOREIGN: Final = "variables.labels.filter(it, !it.flavors.split(', ').exists(name, name in variables.reach))"
_CLOSED: Final = _FOREIGN.replace("labels", "taints")

_FACTS: Final = (
    fact("node", 'each.spec.?nodeName.orValue("")'),
    fact("scheduler", 'each.spec.?schedulerName.orValue("")'),
)
_BLANKET: Final = fact(
    "everything",
    'each.spec.?tolerations.orValue([]).exists(it, it.?key.orValue("") == "") ? "yes" : ""',
)

_NAMED: Final = f""" +
  variables.foreign.filter(label, each.spec.?nodeSelector[?label.key].orValue("") == label.value ||
    (each.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([]) +
      each.spec.?affinity.?nodeAffinity.?preferredDuringSchedulingIgnoredDuringExecution.orValue([])
        .map(it, it.?preference.orValue({{}})))
    .exists(term, term.?matchExpressions.orValue([]).exists(it,
      it.key == label.key && it.operator == "In" && label.value in it.values)))
  .map(label, {fact("flavor", 'label.key + "=" + label.value + ", the label of " + label.flavors')})"""

_TOLERATED: Final = f""" +
  variables.closed.filter(taint, each.spec.?tolerations.orValue([]).exists(it,
    it.?key.orValue("") == taint.key && it.?effect.orValue("") in ["", taint.effect] &&
    (!(it.?operator.orValue("") in ["", "Equal"]) || it.?value.orValue("") == taint.value)))
  .map(taint, {fact("taint", 'taint.taint + ", the taint of " + taint.flavors')})"""


def _rules(schedulers: Sequence[str]) -> tuple[Rule, ...]:
    return (
        (
            none("node"),
            "spec.nodeName skips the scheduler, and with it taints and queues: remove it, or write a nodeSelector",
        ),
        (
            none("scheduler", f"!(it.value in {texts(schedulers)})"),
            "Another scheduler places pods where nobody has counted them: remove schedulerName, or write "
            f"{schedulers[-1]}",
        ),
    )


_EVERYTHING: Final = (
    none("everything"),
    "A toleration without a key tolerates every taint, also those of nodes that are ill or being emptied: write the "
    "key, the value and the effect that you mean",
)

_ROLE: Final = (
    none("role"),
    "Nodes of the control plane are no flavor, and what runs there may stop the cluster: remove tolerations whose key "
    f"begins with {ROLES}",
    f'"remove the toleration of " + {first("role")} + ": nodes of that role are no flavor, no quota counts what runs '
    'there, and on the control plane it may stop the cluster"',
)

_REACH: Final = named("reach")

_FLAVOR: Final = (
    none("flavor"),
    "Work may name only nodes of flavors that its unit has or may borrow",
    f'"no node with " + {first("flavor")} + ", is for namespace " + request.namespace + '
    f'": remove it from nodeSelector and nodeAffinity, or name one of the flavors within its reach: " + {_REACH}',
)

_TAINT: Final = (
    none("taint"),
    "Work may tolerate only taints of flavors that its unit has or may borrow",
    f'"a toleration lets pods past " + {first("taint")} + ", which is not for namespace " + request.namespace + '
    f'": remove it, or write the key and the value of a flavor within its reach: " + {_REACH}',
)
