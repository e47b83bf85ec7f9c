"""What an object of a user's template must be, and what is added to it: the tool's labels, a namespace, a sync wave."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import GUARDS, OTHERS, SYNC_OPTIONS, WAVE, WAVES
from tenancy.diagnostics import KeyPath, Rule
from tenancy.model.syntax import is_dns_label, is_dns_subdomain, is_label_key, is_label_value
from tenancy.render import rules
from tenancy.render.conform import Checker, schema_name
from tenancy.render.context import Target

CLUSTER_SCOPED: Final = frozenset(
    {
        "APIService",
        "AdmissionCheck",
        "ClusterQueue",
        "ClusterRole",
        "ClusterRoleBinding",
        "Cohort",
        "CustomResourceDefinition",
        "FlowSchema",
        "HyperNode",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "Queue",
        "ResourceFlavor",
        "RuntimeClass",
        "StorageClass",
        "Topology",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "WorkloadPriorityClass",
    }
)
"""Kinds of Kubernetes, Kueue and Volcano without a namespace. A user's schema says it of its kind, as `"x-scope":
"Cluster"`."""

_LONGEST_MESSAGE: Final = 300
_PATH: Final = re.compile(r"\$((?:\.\w+|\[\d+\]|\['(?:[^'\\]|\\.)*'\])*): (.*)", re.DOTALL)
_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]")
_PATH_NAME: Final = re.compile(r"(?!\.\.?$)[^/%]{1,253}")
_RBAC: Final = "rbac.authorization.k8s.io"

Identity: TypeAlias = tuple[str, str, str, str]
"""API group, kind, namespace (empty where there is none) and name: what makes two objects one."""


class Fault(NamedTuple):
    """A rule that an object breaks, at a path inside it."""

    rule: Rule
    path: KeyPath
    message: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What objects of one cluster are judged by."""

    namespaces: Mapping[str, str]
    """The organization's namespaces in the cluster, with the unit that each belongs to."""
    built_in: frozenset[str]
    """Names of the schemas that come with the tool for the cluster's versions."""
    own: Mapping[str, tuple[Any, bool]]
    """Of the user's schemas by name: the compiled schema, and whether the kind has no namespace."""
    check: Checker


def identity(obj: Mapping[str, Any]) -> Identity:
    """The identity of an object that has passed `shape_faults`."""
    metadata = obj["metadata"]
    group = obj["apiVersion"].rpartition("/")[0]
    return group, obj["kind"], metadata.get("namespace") or "", metadata["name"]


def shape_faults(obj: Mapping[str, Any]) -> Iterator[Fault]:
    """What keeps a document from being an object at all."""
    for key in ("apiVersion", "kind"):
        if not isinstance(obj.get(key), str) or not obj[key]:
            yield Fault(rules.OBJECT, (key,), f"the object has no `{key}`", f"write `{key}:` at its top")
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str):
        yield Fault(rules.OBJECT, ("metadata", "name"), "the object has no name", "write `metadata: {name: …}`")
        return
    rbac = str(obj.get("apiVersion")).startswith(_RBAC)
    if not (_PATH_NAME.fullmatch(name) if rbac else is_dns_subdomain(name)):
        help_ = "use lower-case letters, digits, `-` and `.`, such as the `queue` of a unit"
        yield Fault(rules.OBJECT, ("metadata", "name"), f"`{name}` cannot be the name of an object", help_)
    namespace = metadata.get("namespace", "a")
    if not isinstance(namespace, str) or not is_dns_label(namespace):
        message = f"{_shown(namespace)} cannot be a namespace"
        yield Fault(rules.OBJECT, ("metadata", "namespace"), message, "use a namespace of the unit")
    yield from _map_faults(metadata)
    yield from _fractions(obj, ())


def _map_faults(metadata: Mapping[str, Any]) -> Iterator[Fault]:
    """Labels and annotations are texts; labels also have a syntax that no JSON Schema of Kubernetes states."""
    for key in ("labels", "annotations"):
        entries = metadata.get(key, {})
        if not isinstance(entries, dict):
            yield Fault(rules.OBJECT, ("metadata", key), f"`{key}` is not a mapping", "write `name: text` below it")
            continue
        for name, value in entries.items():
            path = ("metadata", key, name)
            if not isinstance(value, str):
                message = f"`{name}` must be text, not {_shown(value)}"
                yield Fault(rules.OBJECT, path, message, 'put it in quotes, or write `{{ "" ~ value }}`')
            elif not is_label_key(name):
                message = f"`{name}` is not the key of {'a label' if key == 'labels' else 'an annotation'}"
                yield Fault(rules.OBJECT, path, message, "write `name` or `domain/name`")
            elif key == "labels" and not is_label_value(value):
                help_ = "write at most 63 letters, digits, `-`, `_` and `.`; other texts go into annotations"
                yield Fault(rules.OBJECT, path, f"`{value}` is not the value of a label", help_)


def _shown(value: Any) -> str:
    """A value for messages, as YAML has it; of a list or mapping only what it is."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "a mapping"
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _fractions(value: Any, path: KeyPath) -> Iterator[Fault]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        if isinstance(item, float):
            help_ = "write a quantity as text, such as `500m`"
            yield Fault(rules.VALUE, (*path, key), f"the fraction `{item}` has no canonical form", help_)
        yield from _fractions(item, (*path, key))


def completed(obj: Mapping[str, Any], target: Target, scope: Scope) -> tuple[Object, list[Fault]]:
    """The object with what the tool adds, and what speaks against it. The object must have passed `shape_faults`."""
    metadata, kind = obj["metadata"], obj["kind"]
    faults: list[Fault] = []
    labels = dict(metadata.get("labels", {}))
    for key, value in target.labels.items():
        if labels.setdefault(key, value) != value:
            message = f"the label `{key}` is `{labels[key]}`, but the tool sets it to `{value}`"
            faults.append(Fault(rules.LABEL, ("metadata", "labels", key), message, "leave the label out"))
    annotations = {WAVE: str(WAVES.get(kind, OTHERS)), **metadata.get("annotations", {})}
    if kind in GUARDS:
        annotations.setdefault(SYNC_OPTIONS, GUARDS[kind])
    namespace, fault = _namespace(obj, target, scope)
    faults += [fault] if fault is not None else []
    full = {
        "name": metadata["name"],
        **({"namespace": namespace} if namespace else {}),
        "labels": dict(sorted(labels.items())),
        "annotations": dict(sorted(annotations.items())),
    }
    rest = {key: value for key, value in metadata.items() if key not in full}
    body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}
    return {"apiVersion": obj["apiVersion"], "kind": kind, "metadata": {**full, **rest}, **body}, faults


def _namespace(obj: Mapping[str, Any], target: Target, scope: Scope) -> tuple[str | None, Fault | None]:
    given, kind = obj["metadata"].get("namespace"), obj["kind"]
    path: KeyPath = ("metadata", "namespace")
    if kind in CLUSTER_SCOPED or scope.own.get(schema_name(obj["apiVersion"], kind), (None, False))[1]:
        message = f"the {kind} is in the namespace `{given}`, but objects of this kind have none"
        return None, Fault(rules.NAMESPACE, path, message, "leave `namespace` out") if given else None
    if given is None:
        if len(target.namespaces) == 1:
            return target.namespaces[0], None
        return None, Fault(rules.NAMESPACE, ("metadata", "name"), *_choice(kind, target))
    owner = scope.namespaces.get(given)
    if owner is not None and target.namespaces and given not in target.namespaces:
        own = "project.namespace" if target.level == "project" else f"{target.level}.namespaces"
        message, help_ = f"the namespace `{given}` belongs to `{owner}`", f"use a namespace of the unit: `{own}`"
        return given, Fault(rules.FOREIGN, path, message, help_)
    return given, None


def _choice(kind: str, target: Target) -> tuple[str, str]:
    if not target.namespaces:
        return f"the {kind} has no namespace", "write `metadata.namespace`"
    level = target.level
    message = f"the {kind} has no namespace, and the {level} has {len(target.namespaces)} of them"
    return message, f"write `namespace: {{{{ {level}.namespaces[0] }}}}`, or loop over `{level}.namespaces`"


def schema_faults(obj: Mapping[str, Any], scope: Scope) -> list[Fault]:
    """What the schema of the object's kind says: the tool's own, else the user's."""
    name = schema_name(obj["apiVersion"], obj["kind"])
    if name in scope.built_in:
        found = [_parsed(violation) for violation in scope.check(obj)]
    elif name in scope.own:
        found = [(tuple(error.instance_path), error.message) for error in scope.own[name][0].iter_errors(obj)]
    else:
        message = f"there is no schema of kind `{obj['kind']}` in `{obj['apiVersion']}`"
        return [Fault(rules.KIND, ("kind",), message, f"add its JSON Schema as `schemas/{name}` beside org.yaml")]
    return [Fault(rules.CONFORM, path, _message(path, message), "") for path, message in found]


def _message(path: KeyPath, message: str) -> str:
    cut = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
    where = f"`{'.'.join(map(str, path))}`" if path else "the object"
    return f"{where}: {rules.lowered(cut)}"


def _parsed(violation: str) -> tuple[KeyPath, str]:
    """The path and the words of a violation as `tenancy.render.conform` writes it."""
    match = _PATH.fullmatch(violation)
    if match is None:
        return (), violation
    steps = (
        int(index) if index else word or re.sub(r"\\(.)", r"\1", quoted)
        for word, index, quoted in _STEP.findall(match[1])
    )
    return tuple(steps), match[2]
