"""The fast check of objects against the schemas of their kinds."""

from __future__ import annotations

import copy
import datetime
import functools
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenancy.render.conform import Checker, checker, schema_name
from tenancy.resources import data_path

SAMPLES = Path(__file__).parent / "samples"
VERSIONS = json.loads((data_path("schemas") / "versions.json").read_text(encoding="utf-8"))
CLUSTERS = [
    (kubernetes, scheduler, minor)
    for kubernetes in VERSIONS["kubernetes"]
    for scheduler in ("kueue", "volcano")
    for minor in VERSIONS[scheduler]
]


def samples(name: str) -> dict[str, dict[str, Any]]:
    """The objects of a sample file by kind; the kind of Flux that shares its name with another has the group before."""
    found = list(yaml.load_all((SAMPLES / name).read_text(encoding="utf-8"), yaml.CSafeLoader))
    return {f"flux/{obj['kind']}" if FLUX in obj["apiVersion"] else obj["kind"]: obj for obj in found}


FLUX = "toolkit.fluxcd.io"
COMMON = samples("kubernetes.yaml") | samples("nodes.yaml") | samples("engines.yaml") | samples("monitoring.yaml")
MUTATING = samples("kubernetes-1.36.yaml")
BROUGHT = {"kueue": samples("kueue.yaml"), "volcano": samples("volcano.yaml")}
"""By the scheduler that brings the kinds."""
NEWEST = COMMON | MUTATING | BROUGHT["kueue"] | BROUGHT["volcano"]
CASES = [(kind, *cluster) for cluster in CLUSTERS for kind in (*COMMON, *BROUGHT[cluster[1]])]


@functools.cache
def violations_of(kubernetes: str = "1.36", scheduler: str = "kueue", minor: str = "0.19") -> Checker:
    return checker(kubernetes=kubernetes, **{scheduler: minor})


def newest(kind: str) -> Checker:
    """The checker of the newest cluster that has the kind."""
    return violations_of("1.36", "volcano", "1.15") if kind in BROUGHT["volcano"] else violations_of()


def changed(kind: str, *path: str | int, to: Any) -> dict[str, Any]:
    """A sample with another value at `path`."""
    obj = copy.deepcopy(NEWEST[kind])
    target: Any = obj
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = to
    return obj


def without(kind: str, *path: str | int) -> dict[str, Any]:
    """A sample that lacks the value at `path`."""
    obj = copy.deepcopy(NEWEST[kind])
    target: Any = obj
    for step in path[:-1]:
        target = target[step]
    del target[path[-1]]
    return obj


def test_every_schema_has_a_sample() -> None:
    """The samples below cover every kind that has a schema, so that none goes untested."""
    files = {
        file.name for folder in (*VERSIONS, "kustomize") for file in (data_path("schemas") / folder).rglob("*.json")
    }
    assert files == {schema_name(obj["apiVersion"], obj["kind"]) for obj in NEWEST.values()}


@pytest.mark.parametrize(("kind", "kubernetes", "scheduler", "minor"), CASES)
def test_a_realistic_object_conforms(kind: str, kubernetes: str, scheduler: str, minor: str) -> None:
    """An object as the tool would write it has no violation under any pair of versions."""
    assert violations_of(kubernetes, scheduler, minor)(NEWEST[kind]) == []


@pytest.mark.parametrize("kubernetes", VERSIONS["kubernetes"])
@pytest.mark.parametrize("kind", MUTATING)
def test_mutating_policies_exist_from_1_36_on(kind: str, kubernetes: str) -> None:
    """A MutatingAdmissionPolicy conforms from Kubernetes 1.36 on, the first with it at v1, and has no schema before."""
    found = violations_of(kubernetes)(MUTATING[kind])
    expected = f"$: no schema for admissionregistration.k8s.io/v1 {kind} in Kubernetes {kubernetes} and Kueue 0.19"
    assert found == ([] if kubernetes == "1.36" else [expected])


@pytest.mark.parametrize(("kind", "kubernetes", "scheduler", "minor"), CASES)
def test_an_unknown_field_is_refused(kind: str, kubernetes: str, scheduler: str, minor: str) -> None:
    """A field that the kind does not have is a violation that names it, under every pair of versions."""
    [found] = violations_of(kubernetes, scheduler, minor)(changed(kind, "wrong", to=1))
    assert "'wrong'" in found


@pytest.mark.parametrize("kind", NEWEST)
def test_a_status_is_refused(kind: str) -> None:
    """Nobody but a controller writes a status."""
    [found] = newest(kind)(changed(kind, "status", to={}))
    assert "'status'" in found


@pytest.mark.parametrize("kind", [kind for kind in NEWEST if kind != "Kustomization"])
def test_metadata_is_an_object_meta_with_a_name(kind: str) -> None:
    """An object without metadata or without a name, or with a foreign or ill-typed field in metadata, is refused."""
    check = newest(kind)
    assert check(without(kind, "metadata")) == ['$: "metadata" is a required property']
    assert check(without(kind, "metadata", "name")) == ['$.metadata: "name" is a required property']
    assert check(changed(kind, "metadata", "label", to={}))
    assert check(changed(kind, "metadata", "labels", to={"n": 1})) == ['$.metadata.labels.n: 1 is not of type "string"']


@pytest.mark.parametrize(
    ("obj", "place"),
    [
        (
            changed("ClusterQueue", "spec", "preemption", "withinClusterQueue", to="Sometimes"),
            "$.spec.preemption.within",
        ),
        (changed("ClusterQueue", "spec", "stopPolicy", to="Pause"), "$.spec.stopPolicy"),
        (changed("ClusterQueue", "spec", "queueingStrategy", to="FIFO"), "$.spec.queueingStrategy"),
        (changed("LocalQueue", "spec", "stopPolicy", to="none"), "$.spec.stopPolicy"),
        (changed("Queue", "spec", "dequeueStrategy", to="strict"), "$.spec.dequeueStrategy"),
        (changed("HyperNode", "spec", "members", 0, "type", to="Rack"), "$.spec.members[0].type"),
        (changed("PodGroup", "spec", "networkTopology", "mode", to="Hard"), "$.spec.networkTopology.mode"),
    ],
)
def test_a_wrong_enum_is_refused(obj: dict[str, Any], place: str) -> None:
    """A value outside an enumeration is one violation, at its place."""
    [found] = newest(obj["kind"])(obj)
    assert found.startswith(place)


@pytest.mark.parametrize(
    ("obj", "found"),
    [
        (without("Topology", "spec", "levels"), '$.spec: "levels" is a required property'),
        (without("RoleBinding", "roleRef"), '$: "roleRef" is a required property'),
        (without("WorkloadPriorityClass", "value"), '$: "value" is a required property'),
        (
            without("FlowSchema", "spec", "priorityLevelConfiguration"),
            '$.spec: "priorityLevelConfiguration" is a required',
        ),
        (without("Role", "rules", 0, "verbs"), '$.rules[0]: "verbs" is a required property'),
        (without("Kustomization", "resources"), '$: "resources" is a required property'),
        (
            without("ClusterQueue", "spec", "resourceGroups", 0, "flavors", 0, "resources", 2, "nominalQuota"),
            '$.spec.resourceGroups[0].flavors[0].resources[2]: "nominalQuota" is a required property',
        ),
        (without("HyperNode", "spec", "tier"), '$.spec: "tier" is a required property'),
        (without("HyperNode", "spec", "members", 0, "type"), '$.spec.members[0]: "type" is a required property'),
    ],
)
def test_a_missing_field_is_refused(obj: dict[str, Any], found: str) -> None:
    """A required field that is not there is a violation at the object that lacks it."""
    [violation] = newest(obj["kind"])(obj)
    assert violation.startswith(found)


QUANTITIES = {
    "ClusterQueue": ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "nominalQuota"),
    "PodGroup": ("spec", "minResources", "cpu"),
    "Queue": ("spec", "guarantee", "resource", "cpu"),
    "ResourceQuota": ("spec", "hard", "pods"),
}


@pytest.mark.parametrize("kind", QUANTITIES)
@pytest.mark.parametrize("amount", ["24", 24, 0, "1500m", "2000Gi", "1.5Ti", "1e3", "-1"])
def test_quantities_are_text_or_numbers(amount: str | int, kind: str) -> None:
    """A quantity is an integer or text of the quantity grammar, in a built-in kind and in a custom resource."""
    assert newest(kind)(changed(kind, *QUANTITIES[kind], to=amount)) == []


@pytest.mark.parametrize("kind", QUANTITIES)
@pytest.mark.parametrize("amount", ["24 GPUs", "", "2000GiB", "Gi", True, None, ["1"]])
def test_what_is_no_quantity_is_refused(amount: Any, kind: str) -> None:
    """Text outside the quantity grammar and values of other types are refused, in both kinds of schema."""
    [found] = newest(kind)(changed(kind, *QUANTITIES[kind], to=amount))
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in QUANTITIES[kind])
    assert found.startswith(f"${place}: ")


@pytest.mark.parametrize("minor", VERSIONS["volcano"])
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("weight", 0, "0 is less than the minimum of 1"),
        ("weight", 65536, "65536 is greater than the maximum of 65535"),
        ("weight", "30", '"30" is not of type "integer"'),
        ("weight", 1.5, '1.5 is not of type "integer"'),
        ("priority", -1, "-1 is less than the minimum of 0"),
        ("parent", "", '"" does not match'),
        ("parent", "Research", '"Research" does not match'),
        ("parent", "a" * 254, f'"{"a" * 254}" is longer than 253 characters'),
        ("parent", None, 'null is not of type "string"'),
        ("reclaimable", "true", '"true" is not of type "boolean"'),
        ("deserved", ["cpu"], '["cpu"] is not of type "object"'),
        ("capability", "64", '"64" is not of type "object"'),
        ("state", "Closed", "Additional properties are not allowed ('state' was unexpected)"),
        ("guarantee", {"nvidia.com/gpu": 8}, "Additional properties are not allowed ('nvidia.com/gpu' was unexpected)"),
        (
            "affinity",
            {"nodeGroupAffinity": {"requiredDuringScheduling": ["h100"]}},
            "Additional properties are not allowed ('requiredDuringScheduling' was unexpected)",
        ),
    ],
)
def test_a_queue_of_volcano_is_what_its_crd_says(minor: str, field: str, value: Any, message: str) -> None:
    """A value out of its range, of another type or in a field that no queue has is one violation, at its place."""
    [found] = violations_of("1.34", "volcano", minor)(changed("Queue", "spec", field, to=value))
    place, _, said = found.partition(": ")
    assert place.startswith("$.spec")
    assert said.startswith(message)


SYSTEM = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        (SYSTEM, ""),
        (SYSTEM | {"scopeName": "Priority"}, "$.spec.scopeSelector.matchExpressions[0].scopeName"),
        (SYSTEM | {"operator": "Equals"}, "$.spec.scopeSelector.matchExpressions[0].operator"),
        (SYSTEM | {"values": "system-node-critical"}, "$.spec.scopeSelector.matchExpressions[0].values"),
        ({"scopeName": "PriorityClass"}, "$.spec.scopeSelector.matchExpressions[0]"),
    ],
)
def test_a_quota_may_be_for_a_priority(expression: dict[str, Any], place: str) -> None:
    """A ResourceQuota with a scope for priority classes conforms; an unknown scope or operator is refused."""
    spec = {"hard": {"pods": "0"}, "scopeSelector": {"matchExpressions": [expression]}}
    found = checker(kubernetes="1.36")(changed("ResourceQuota", "spec", to=spec))
    assert [violation.partition(": ")[0] for violation in found] == ([place] if place else [])


@pytest.mark.parametrize(
    ("obj", "accepted"),
    [
        (changed("NetworkPolicy", "spec", "egress", 0, "ports", 0, "port", to="dns"), True),
        (changed("NetworkPolicy", "spec", "egress", 0, "ports", 0, "port", to=5.5), False),
        (changed("PriorityClass", "value", to=2**31 - 1), True),
        (changed("PriorityClass", "value", to=2**31), False),
        (changed("WorkloadPriorityClass", "value", to=2**31), False),
        (changed("Namespace", "metadata", "finalizers", to=["a/b", "a/b"]), False),
        (changed("Namespace", "metadata", "annotations", to={"weight": None}), False),
        (changed("PriorityClass", "preemptionPolicy", to="Never"), True),
        (changed("PriorityClass", "preemptionPolicy", to="never"), False),
        (changed("Kustomization", "resources", to=["a", "a"]), False),
        (changed("ConfigMap", "data", to={"anything": "goes"}), True),
    ],
)
def test_types_of_single_fields(obj: dict[str, Any], accepted: bool) -> None:
    """Ports are numbers or names, an int32 has its range, sets do not repeat, and null is no text."""
    assert (violations_of()(obj) == []) is accepted


@pytest.mark.parametrize(
    ("obj", "found"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, "$: no schema for v1 Pod in Kubernetes 1.36 and Kueue 0.19"),
        ({"apiVersion": "v2", "kind": "Namespace"}, "$: no schema for v2 Namespace in Kubernetes 1.36 and Kueue 0.19"),
        ({"kind": "Namespace"}, "$: apiVersion and kind must both be given as text"),
        ({"apiVersion": "v1", "kind": ["Namespace"]}, "$: apiVersion and kind must both be given as text"),
        (
            changed("ClusterQueue", "apiVersion", to="kueue.example/v1beta2"),
            '$.apiVersion: "kueue.x-k8s.io/v1beta2" was',
        ),
        (changed("Namespace", "kind", to="namespace"), '$.kind: "Namespace" was expected'),
        (changed("Namespace", "metadata", to={"name": datetime.date(2027, 3, 31)}), "$: Unsupported type: 'date'"),
    ],
)
def test_what_is_not_one_of_our_kinds_is_a_violation(obj: dict[str, Any], found: str) -> None:
    """A kind or version without schema, a kind that is not named exactly and a value foreign to JSON are violations."""
    [violation] = violations_of()(obj)
    assert violation.startswith(found)


@pytest.mark.parametrize("kind", ["Cohort", "Queue"])
def test_a_cluster_without_a_scheduler_knows_none_of_its_kinds(kind: str) -> None:
    """Without Kueue and Volcano the built-in kinds are checked and a kind of either has no schema."""
    check, obj = checker(kubernetes="1.36"), NEWEST[kind]
    assert check(COMMON["Namespace"]) == []
    assert check(obj) == [f"$: no schema for {obj['apiVersion']} {kind} in Kubernetes 1.36"]


def test_a_cluster_with_one_scheduler_knows_no_kind_of_the_other() -> None:
    """A Volcano kind has no schema in a cluster with Kueue, nor a Kueue kind in one with Volcano."""
    missing = "$: no schema for {} in Kubernetes 1.36 and {}"
    found = violations_of()(NEWEST["Queue"])
    assert found == [missing.format("scheduling.volcano.sh/v1beta1 Queue", "Kueue 0.19")]
    found = violations_of("1.36", "volcano", "1.15")(NEWEST["Cohort"])
    assert found == [missing.format("kueue.x-k8s.io/v1beta2 Cohort", "Volcano 1.15")]


def test_every_violation_of_an_object_is_named() -> None:
    """Two mistakes in one object are two violations."""
    obj = changed("PriorityClass", "value", to="high") | {"wrong": 1}
    assert len(violations_of()(obj)) == 2


@pytest.mark.parametrize(("scheduler", "minor"), [("kueue", "0.19"), ("volcano", "1.15")])
def test_fast_enough_for_ten_thousand_teams(scheduler: str, minor: str) -> None:
    """Valid objects pass at 60,000 a second of processor time or faster, a bound that a busy machine keeps as well."""
    several = [*COMMON.values(), *MUTATING.values(), *BROUGHT[scheduler].values()]
    check, objects = (
        violations_of("1.36", scheduler, minor),
        [copy.deepcopy(obj) for _ in range(500) for obj in several],
    )
    assert not any(map(check, several))
    start = time.process_time()
    assert not any(map(check, objects))
    assert len(objects) / (time.process_time() - start) > 60_000
