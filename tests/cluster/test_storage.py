"""Storage that units have is a bound on their claims, whatever class these name."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.cluster import deploy
from tests.cluster.client import Client, Object, Refused
from tests.cluster.plane import Cluster, until

pytestmark = pytest.mark.native

NAMESPACE: Final = "research-vision"
CLAIMS: Final = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"
KEY: Final = "{}.storageclass.storage.k8s.io/requests.storage"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {"scheduler": "native"}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 1, "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}},
    "departments": {
        "research": {
            "budget": {"h100": 8},
            "storage": {"fast": "20Gi", "bulk": "10Gi"},
            "teams": {
                "vision": {"storage": {"fast": "10Gi"}, "access": {"members": ["group:vision"]}},
                "nlp": {"storage": {"fast": "10Gi", "bulk": "10Gi"}},
            },
        }
    },
}


@pytest.fixture(scope="module")
def ada(cluster: Cluster) -> Client:
    """A member of the team, once its quota is in force."""
    deploy.deploy(cluster, deploy.compiled_for(cluster, TREE))
    quota = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/tenancy"
    until(lambda: KEY.format("fast") in cluster.client.get(quota).get("status", {}).get("used", {}), "quotas count")
    return cluster.client.acting_as("ada", ["vision"])


@pytest.fixture
def member(ada: Client, cluster: Cluster) -> Client:
    """The same, with a claim of 4Gi on `fast` and no other."""
    cluster.client.delete(CLAIMS)
    quota = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/tenancy"
    until(lambda: cluster.client.get(quota)["status"]["used"]["requests.storage"] == "0", "nothing is used")
    ada.create(claim("data", "4Gi", "fast"))
    return ada


def claim(name: str, size: str, storage_class: str | None) -> Object:
    """A claim on a class; None names no class, an empty one wants a volume that has none."""
    body: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    named = {} if storage_class is None else {"storageClassName": storage_class}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": {**body, **named}}


def refusal(client: Client, item: Object) -> str:
    """What the API server says to a create; empty where it is accepted."""
    try:
        client.create(item)
    except Refused as refused:
        return refused.message
    return ""


def test_claims_up_to_the_teams_part_are_made(member: Client) -> None:
    """The class is filled to the last byte."""
    assert refusal(member, claim("more", "6Gi", "fast")) == ""


def test_a_claim_beyond_the_teams_part_is_refused_with_the_numbers(member: Client) -> None:
    """Who reads it learns what was asked for, what is used and what there is."""
    said = refusal(member, claim("more", "7Gi", "fast"))
    for numbers in (f"requested: {KEY.format('fast')}=7Gi", f"used: {KEY.format('fast')}=4Gi", "fast", "=10Gi"):
        assert numbers in said


def test_a_class_that_only_others_have_is_refused(member: Client) -> None:
    """The team lists what it has, so a class that the organization gave to others is 0 for it."""
    said = refusal(member, claim("more", "1Gi", "bulk"))
    assert f"requested: {KEY.format('bulk')}=1Gi, used: {KEY.format('bulk')}=0, limited: {KEY.format('bulk')}=0" in said


@pytest.mark.parametrize("storage_class", ["archive", "", None], ids=["unknown", "none", "not-said"])
def test_what_no_class_bounds_is_bounded_by_the_sum(member: Client, storage_class: str | None) -> None:
    """No key can name a class that nobody listed: it takes from the team's storage, never more than that."""
    assert refusal(member, claim("within", "6Gi", storage_class)) == ""
    said = refusal(member, claim("beyond", "1Gi", storage_class))
    assert "requested: requests.storage=1Gi, used: requests.storage=10Gi, limited: requests.storage=10Gi" in said


def test_claims_that_a_stateful_set_makes_are_counted_too(member: Client, cluster: Cluster) -> None:
    """Its controller makes them for the team: the refusal is an event."""
    name = {"app": "store"}
    item = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "store", "namespace": NAMESPACE},
        "spec": {
            "serviceName": "store",
            "selector": {"matchLabels": name},
            "template": {
                "metadata": {"labels": name},
                "spec": {"containers": [{"name": "main", "image": "registry.example/store:1"}]},
            },
            "volumeClaimTemplates": [{"metadata": {"name": "disk"}, "spec": claim("", "7Gi", "fast")["spec"]}],
        },
    }
    member.create(item)

    def told() -> bool:
        events = cluster.client.list(f"/api/v1/namespaces/{NAMESPACE}/events")
        return any("exceeded quota" in each["message"] and "=7Gi" in each["message"] for each in events)

    until(told, "an event tells of the claim that was refused")
    assert [each["metadata"]["name"] for each in cluster.client.list(CLAIMS)] == ["data"]
