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
CLUSTERS = [(kubernetes, kueue) for kubernetes in VERSIONS["kubernetes"] for kueue in VERSIONS["kueue"]]


def samples(name: str) -> dict[str, dict[str, Any]]:
    """The objects of a sample file by kind."""
    return {obj["kind"]: obj for obj in yaml.safe_load_all((SAMPLES / name).read_text(encoding="utf-8"))}


COMMON = samples("kubernetes.yaml") | samples("kueue.yaml")
MUTATING = samples("kubernetes-1.36.yaml")
NEWEST = COMMON | MUTATING


@functools.cache
def violations_of(kubernetes: str = "1.36", kueue: str = "0.19") -> Checker:
    return checker(kubernetes=kubernetes, kueue=kueue)


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
        file.name
        for folder in ("kubernetes", "kueue", "kustomize")
        for file in (data_path("schemas") / folder).rglob("*.json")
    }
    assert files == {schema_name(obj["apiVersion"], kind) for kind, obj in NEWEST.items()}


@pytest.mark.parametrize(("kubernetes", "kueue"), CLUSTERS)
@pytest.mark.parametrize("kind", COMMON)
def test_a_realistic_object_conforms(kind: str, kubernetes: str, kueue: str) -> None:
    """An object as the tool would write it has no violation under any pair of versions."""
    assert violations_of(kubernetes, kueue)(COMMON[kind]) == []


@pytest.mark.parametrize("kubernetes", VERSIONS["kubernetes"])
@pytest.mark.parametrize("kind", MUTATING)
def test_mutating_policies_exist_from_1_36_on(kind: str, kubernetes: str) -> None:
    """A MutatingAdmissionPolicy conforms from Kubernetes 1.36 on, the first with it at v1, and has no schema before."""
    found = violations_of(kubernetes)(MUTATING[kind])
    expected = f"$: no schema for admissionregistration.k8s.io/v1 {kind} in Kubernetes {kubernetes} and Kueue 0.19"
    assert found == ([] if kubernetes == "1.36" else [expected])


@pytest.mark.parametrize(("kubernetes", "kueue"), CLUSTERS)
@pytest.mark.parametrize("kind", COMMON)
def test_an_unknown_field_is_refused(kind: str, kubernetes: str, kueue: str) -> None:
    """A field that the kind does not have is a violation that names it, under every pair of versions."""
    [found] = violations_of(kubernetes, kueue)(changed(kind, "wrong", to=1))
    assert "'wrong'" in found


@pytest.mark.parametrize("kind", NEWEST)
def test_a_status_is_refused(kind: str) -> None:
    """Nobody but a controller writes a status."""
    [found] = violations_of()(changed(kind, "status", to={}))
    assert "'status'" in found


@pytest.mark.parametrize("kind", [kind for kind in NEWEST if kind != "Kustomization"])
def test_metadata_is_an_object_meta_with_a_name(kind: str) -> None:
    """An object without metadata or without a name, or with a foreign or ill-typed field in metadata, is refused."""
    check = violations_of()
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
    ],
)
def test_a_wrong_enum_is_refused(obj: dict[str, Any], place: str) -> None:
    """A value outside an enumeration is one violation, at its place."""
    [found] = violations_of()(obj)
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
    ],
)
def test_a_missing_field_is_refused(obj: dict[str, Any], found: str) -> None:
    """A required field that is not there is a violation at the object that lacks it."""
    [violation] = violations_of()(obj)
    assert violation.startswith(found)


@pytest.mark.parametrize("amount", ["24", 24, 0, "1500m", "2000Gi", "1.5Ti", "1e3", "-1"])
def test_quantities_are_text_or_numbers(amount: str | int) -> None:
    """A quantity is an integer or text of the quantity grammar, in a built-in kind and in a custom resource."""
    quota = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "nominalQuota")
    assert violations_of()(changed("ResourceQuota", "spec", "hard", to={"cpu": amount})) == []
    assert violations_of()(changed("ClusterQueue", *quota, to=amount)) == []


@pytest.mark.parametrize("amount", ["24 GPUs", "", "2000GiB", "Gi", True, None, ["1"]])
def test_what_is_no_quantity_is_refused(amount: Any) -> None:
    """Text outside the quantity grammar and values of other types are refused, in both kinds of schema."""
    quota = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "nominalQuota")
    [found] = violations_of()(changed("ResourceQuota", "spec", "hard", to={"requests.nvidia.com/gpu": amount}))
    assert found.startswith("$.spec.hard['requests.nvidia.com/gpu']: ")
    [found] = violations_of()(changed("ClusterQueue", *quota, to=amount))
    assert found.startswith("$.spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: ")


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


def test_a_cluster_without_kueue_knows_no_kueue_kind() -> None:
    """Without a Kueue version the built-in kinds are checked and a Kueue kind has no schema."""
    check = checker(kubernetes="1.36")
    assert check(COMMON["Namespace"]) == []
    assert check(COMMON["Cohort"]) == ["$: no schema for kueue.x-k8s.io/v1beta2 Cohort in Kubernetes 1.36"]


def test_every_violation_of_an_object_is_named() -> None:
    """Two mistakes in one object are two violations."""
    obj = changed("PriorityClass", "value", to="high") | {"wrong": 1}
    assert len(violations_of()(obj)) == 2


def test_fast_enough_for_ten_thousand_teams() -> None:
    """Valid objects pass at 60,000 a second of processor time or faster, a bound that a busy machine keeps as well."""
    check, objects = violations_of(), [copy.deepcopy(obj) for _ in range(500) for obj in NEWEST.values()]
    assert not any(check(obj) for obj in NEWEST.values())
    start = time.process_time()
    assert not any(map(check, objects))
    assert len(objects) / (time.process_time() - start) > 60_000
