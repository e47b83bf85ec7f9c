"""Admission policies over the work of tenants, each with its binding, with every default stated.

The API server and the controller manager rewrite what is left out or empty at every apply (run against Argo CD).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.metadata import obj
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates, pod_templates, resource_rules
from tenancy.model.hardware import Taint
from tenancy.model.versions import MUTATING_SINCE, number
from tenancy.plan.values import ClusterPlan

API: Final = "admissionregistration.k8s.io/v1"

Guard: TypeAlias = Literal[
    "queueing", "placement", "priorities", "interruption", "security", "fences", "whole_nodes", "scaling", "cluster"
]
"""What a policy belongs to: a key of a cluster's `guards`."""

Rule: TypeAlias = tuple[str, str] | tuple[str, str, str]
"""CEL that holds for what is right, a message for what is not, and CEL for a better message."""

ACTIONS: Final[Mapping[str, str]] = {"deny": "Deny", "warn": "Warn", "audit": "Audit"}
"""From the level of a guard to what its policies do; at `off` there are none."""


def validating(
    plan: ClusterPlan,
    name: str,
    variables: Mapping[str, str],
    rules: Sequence[Rule],
    namespaces: Sequence[str] = (),
    kinds: Sequence[PodTemplates] = POD_TEMPLATES,
    operations: tuple[str, ...] = ("CREATE", "UPDATE"),
    *,
    guard: Guard | None = None,
    param: tuple[str, str] | None = None,
    selector: Mapping[str, Any] | None = None,
) -> Iterator[Object]:
    """A policy that refuses what breaks one of `rules`, in `namespaces`, in all of ours or in those that `selector`
    selects.

    A rule is CEL and a message; a third part is CEL for a better message, where the first stands for when it fails. The
    policy fails closed: work that it cannot judge is refused. `variables` may use each other in their order. The level
    of its `guard` says what the policy does in place of refusing; without one it always refuses. With `param`, an API
    version and a kind of the whole cluster, it judges once for each object of that kind, as `params`.
    """
    actions = _actions(plan, guard)
    if not actions:
        return
    parts = ("expression", "message", "messageExpression")
    spec = {
        "failurePolicy": "Fail",
        **({"paramKind": dict(zip(("apiVersion", "kind"), param, strict=True))} if param else {}),
        "matchConstraints": _constraints(plan, resource_rules(operations, kinds), namespaces, selector),
        **({"variables": _variables(variables)} if variables else {}),
        "validations": [dict(zip(parts, rule, strict=False)) for rule in rules],
    }
    yield obj(API, "ValidatingAdmissionPolicy", name, plan.labels, spec=spec)
    every = {"paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"}} if param else {}
    binding = {"policyName": name, **every, "validationActions": actions}
    yield obj(API, "ValidatingAdmissionPolicyBinding", name, plan.labels, spec=binding)


def level(plan: ClusterPlan, guard: Guard) -> str:
    """`deny`, `warn`, `audit` or `off`."""
    found: str = getattr(plan.cluster.guards, guard)
    return found


def _actions(plan: ClusterPlan, guard: Guard | None) -> list[str]:
    said = "deny" if guard is None else level(plan, guard)
    return [ACTIONS[said]] if said in ACTIONS else []


def mutates(plan: ClusterPlan) -> bool:
    """Whether the cluster's API server has mutating policies."""
    return number(plan.kubernetes) >= MUTATING_SINCE


def mutating(
    plan: ClusterPlan,
    name: str,
    variables: Mapping[str, str],
    patches: str,
    *,
    operations: tuple[str, ...] = ("CREATE",),
    kinds: Sequence[PodTemplates] = POD_TEMPLATES,
    failure: str = "Ignore",
    again: bool = True,
    guard: Guard | None = None,
) -> Iterator[Object]:
    """A policy that patches work in the organization's namespaces; `patches` is CEL for a list of JSON patches.

    It fails open where it is a convenience: work that it does not help says itself why it waits. It runs `again` when a
    later webhook has changed the object; then `patches` must be empty for what it has patched. There is none where its
    `guard` is off.
    """
    if not _actions(plan, guard):
        return
    spec = {
        "failurePolicy": failure,
        "reinvocationPolicy": "IfNeeded" if again else "Never",
        "matchConstraints": _constraints(plan, resource_rules(operations, kinds), ()),
        **({"variables": _variables(variables)} if variables else {}),
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patches}}],
    }
    yield obj(API, "MutatingAdmissionPolicy", name, plan.labels, spec=spec)
    yield obj(API, "MutatingAdmissionPolicyBinding", name, plan.labels, spec={"policyName": name})


def revisions() -> dict[str, str]:
    """The variable `revisions`: the new object and, in an update, the old one."""
    return {"revisions": 'request.operation == "UPDATE" ? [dyn(object), dyn(oldObject)] : [dyn(object)]'}


def templates(kinds: Sequence[PodTemplates] = POD_TEMPLATES, key: str = "spec") -> dict[str, str]:
    """The variable `templates`: for the new object, and in an update for the old one, the list of its pod specs, each
    with its `path` (a JSON pointer) and its `spec` (or what the paths of `kinds` lead to, by another `key`)."""
    return {
        **revisions(),
        "templates": f"variables.revisions.map(it,\n{_indented(pod_templates('it', kinds, key))}\n)",
    }


def changed() -> dict[str, str]:
    """The variable `changed`: false where an update leaves containers and tolerations as they are.

    Work that was there before the policy must still be suspended, finished and deleted. Reads `templates`.
    """
    return {"facts": _FACTS, "changed": "variables.facts.size() == 1 || variables.facts[0] != variables.facts[1]"}


def pods(resources: Iterable[str], taints: Iterable[Taint], claimed: Collection[str] = ()) -> dict[str, str]:
    """The variable `pods`: the new pod specs with `gpus` (which of `resources` their containers and init containers
    ask for) and `tolerates` (which of `taints` they tolerate, as `shown` writes them). Reads `templates`.

    Limits are enough: Kubernetes has no request of an extended resource without one. Tolerations match as in
    Kubernetes; an operator that is not known is taken to match. `taints` must not be empty (CEL's types). A pod with
    claims counts as asking for all of `claimed`: what it claims stands in a template, which no policy sees.
    """
    claims = {"claimed": texts(claimed)} if claimed else {}
    asks = _PODS.replace(_ASKS, f"{_CLAIMS} ||\n    {_ASKS}") if claimed else _PODS
    return {"resources": texts(resources), **claims, "taints": _taints(taints), "pods": asks}


def annotate(of: str, key: str, value: str) -> str:
    """CEL for the JSON patches that write an annotation into the whole templates in the list `of`; key and value are
    CEL as well."""
    return f"""\
{of}.map(it, !it.template.?metadata.hasValue() ?
  JSONPatch{{op: "add", path: it.path + "/metadata",
    value: {{"annotations": {{{key}: {value}}}}}}} :
  !it.template.?metadata.?annotations.hasValue() ?
  JSONPatch{{op: "add", path: it.path + "/metadata/annotations", value: {{{key}: {value}}}}} :
  JSONPatch{{op: "add", path: it.path + "/metadata/annotations/" + jsonpatch.escapeKey({key}),
    value: {value}}})"""


def _taints(taints: Iterable[Taint]) -> str:
    """A CEL list of maps from text to text."""
    entries = [
        f'{{"taint": {text(each.text)}, "key": {text(each.key)}, '
        f'"value": {text(each.value)}, "effect": {text(each.effect)}}}'
        for each in taints
    ]
    return "[" + ",\n".join(entries) + "]"


_FACTS: Final = """\
variables.templates.map(pods, pods.map(pod, [
  pod.spec.?containers.orValue([]),
  pod.spec.?initContainers.orValue([]),
  pod.spec.?tolerations.orValue([])
]))"""

_CLAIMS: Final = "resource in variables.claimed && pod.spec.?resourceClaims.orValue([]).size() > 0"
_ASKS: Final = "(pod.spec.?containers.orValue([]) + pod.spec.?initContainers.orValue([])).exists(container,"

_PODS: Final = f"""\
variables.templates[0].map(pod, {{
  "path": pod.path,
  "spec": pod.spec,
  "gpus": dyn(variables.resources.filter(resource,
    {_ASKS}
      quantity(string(dyn(container.?resources.?limits[?resource].orValue("0")))).isGreaterThan(quantity("0"))))),
  "tolerates": dyn(variables.taints.filter(taint,
    pod.spec.?tolerations.orValue([]).exists(it,
      it.?key.orValue("") in ["", taint.key] &&
      it.?effect.orValue("") in ["", taint.effect] &&
      (!(it.?operator.orValue("") in ["", "Equal"]) || it.?value.orValue("") == taint.value)))
    .map(taint, taint.taint))
}})"""


def _constraints(
    plan: ClusterPlan,
    rules: list[dict[str, Any]],
    namespaces: Sequence[str],
    selector: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    selected: dict[str, Any] = {"matchLabels": {f"{plan.domain}/organization": plan.organization}}
    if namespaces:
        name = "kubernetes.io/metadata.name"
        selected["matchExpressions"] = [{"key": name, "operator": "In", "values": sorted(namespaces)}]
    return {
        "matchPolicy": "Equivalent",
        "namespaceSelector": selected if selector is None else dict(selector),
        "objectSelector": {},
        "resourceRules": rules,
    }


def _variables(variables: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "expression": expression} for name, expression in variables.items()]


def _indented(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.splitlines())
