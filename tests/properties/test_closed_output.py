"""Laws of any output: every reference resolves, nothing is given twice, every file is listed."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings

from tenancy.model.document import GpuOperator, Telemetry
from tenancy.pipeline import generate
from tests.examples import often
from tests.orgs import organized
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
Object = dict[str, Any]


def _files(tree: dict[str, Any]) -> dict[str, str]:
    return generate(organized(tree), {})


def _documents(text: str) -> Iterator[Object]:
    yield from yaml.load_all(text, Loader=yaml.CSafeLoader)


def _clusters(files: dict[str, str]) -> dict[str, list[Object]]:
    clusters: dict[str, list[Object]] = {}
    for path, text in files.items():
        if not path.endswith(("kustomization.yaml", "-values.yaml", ".conf")):
            clusters.setdefault(path.split("/")[0], []).extend(_documents(text))
    return clusters


def _names(objects: list[Object], kind: str) -> set[str]:
    return {obj["metadata"]["name"] for obj in objects if obj["kind"] == kind}


@SETTINGS
@given(organizations())
def test_no_object_is_given_twice_and_every_namespace_is_made(tree: dict[str, Any]) -> None:
    """Kind, namespace and name are unique in a cluster; nothing is put into a namespace that we do not make, except the
    files of the GPU operator and of Prometheus and Grafana."""
    for objects in _clusters(_files(tree)).values():
        keys = [(obj["kind"], obj["metadata"].get("namespace"), obj["metadata"]["name"]) for obj in objects]
        assert len(keys) == len(set(keys))
        made = {namespace for _, namespace, _ in keys if namespace} - {GpuOperator().namespace, Telemetry().namespace}
        assert made == _names(objects, "Namespace")


@SETTINGS
@given(organizations())
def test_every_reference_resolves(tree: dict[str, Any]) -> None:
    """Kueue accepts dangling names and then admits nothing; ours all exist."""
    for objects in _clusters(_files(tree)).values():
        cohorts, queues, flavors = (_names(objects, kind) for kind in ("Cohort", "ClusterQueue", "ResourceFlavor"))
        roles, topologies = _names(objects, "ClusterRole"), _names(objects, "Topology")
        for obj in objects:
            spec = obj.get("spec", {})
            match obj["kind"]:
                case "Cohort":
                    assert spec.get("parentName") in {*cohorts, None}
                case "ClusterQueue":
                    assert spec["cohortName"] in cohorts
                case "LocalQueue":
                    assert spec["clusterQueue"] in queues
                case "ResourceFlavor":
                    assert spec.get("topologyName") in {*topologies, None}
                case "RoleBinding" | "ClusterRoleBinding":
                    assert obj["roleRef"]["name"] in roles
            for group in spec.get("resourceGroups", []):
                assert {flavor["name"] for flavor in group["flavors"]} <= flavors


@SETTINGS
@given(organizations())
def test_a_queue_admits_exactly_the_namespaces_that_point_at_it(tree: dict[str, Any]) -> None:
    """A namespace outside the selector would wait for ever, one inside it without a LocalQueue would be a hole."""
    for objects in _clusters(_files(tree)).values():
        admitted = {
            obj["metadata"]["name"]: set(obj["spec"]["namespaceSelector"]["matchExpressions"][0]["values"])
            for obj in objects
            if obj["kind"] == "ClusterQueue"
        }
        pointing: dict[str, set[str]] = {name: set() for name in admitted}
        for obj in objects:
            if obj["kind"] == "LocalQueue":
                pointing[obj["spec"]["clusterQueue"]].add(obj["metadata"]["namespace"])
        assert admitted == pointing


@SETTINGS
@given(organizations())
def test_every_file_of_objects_is_listed_once(tree: dict[str, Any]) -> None:
    """From the kustomization of a cluster every file of objects is reached, and nothing that does not exist."""
    files = _files(tree)
    for cluster in _clusters(files):
        reached: list[str] = []
        pending = [cluster]
        while pending:
            folder = pending.pop()
            (listing,) = _documents(files[join(folder, "kustomization.yaml")])
            for name in listing["resources"]:
                path = join(folder, name)
                (reached if path in files else pending).append(path)
        objects = {path for path in files if path.startswith(f"{cluster}/") and not path.endswith("-values.yaml")}
        assert sorted(reached) == sorted(path for path in objects if not path.endswith("kustomization.yaml"))
        assert all(dirname(path) for path in reached)
