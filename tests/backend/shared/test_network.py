"""Isolation by a small model of NetworkPolicy: what pods of a namespace may reach, from the objects alone."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from tenancy.backend.manifest import Object

from .support import objects, planned

NAME = "kubernetes.io/metadata.name"
SERVICES = {
    "models": {"namespace": "registry", "pods": {"app": "models"}, "ports": [443]},
    "lake": {"cidr": "10.40.0.0/16", "ports": [2049]},
}


def _policies(egress: dict[str, Any] | None = None, **network: Any) -> list[Object]:
    team: dict[str, Any] = {"projects": {"a": {}, "b": {}}}
    if egress is not None:
        team["network"] = {"egress": egress}
    cluster = planned(team, network={"services": SERVICES, **network})
    return objects(cluster, "NetworkPolicy", "research-vision-a")


def _reaches(
    policies: list[Object], *, port: int, namespace: str = "", pods: dict[str, str] | None = None, address: str = ""
) -> bool:
    """Whether some egress rule allows a connection to pods of a namespace, or to an address outside the cluster."""
    return any(
        _matches(peer, namespace, pods or {}, address)
        and (not rule.get("ports") or port in {each["port"] for each in rule["ports"]})
        for policy in policies
        for rule in policy["spec"].get("egress", [])
        for peer in rule["to"]
    )


def _matches(peer: dict[str, Any], namespace: str, pods: dict[str, str], address: str) -> bool:
    if "ipBlock" in peer:
        if not address or ip_address(address).version != ip_network(peer["ipBlock"]["cidr"]).version:
            return False
        inside = ip_address(address) in ip_network(peer["ipBlock"]["cidr"])
        return inside and not any(ip_address(address) in ip_network(each) for each in peer["ipBlock"].get("except", []))
    selector = peer["namespaceSelector"]
    names = (
        selector.get("matchLabels", {}).get(NAME),
        *(value for each in selector.get("matchExpressions", []) for value in each["values"]),
    )
    labels = peer.get("podSelector", {}).get("matchLabels", {})
    return bool(namespace) and namespace in names and labels.items() <= pods.items()


def test_by_default_a_team_reaches_itself_and_dns() -> None:
    """Other namespaces, the metadata service and the internet are closed."""
    policies = _policies()
    assert _reaches(policies, namespace="research-vision-a", port=29500)
    assert _reaches(policies, namespace="research-vision-b", port=29500)
    assert _reaches(policies, namespace="kube-system", pods={"k8s-app": "kube-dns"}, port=53)
    assert _reaches(policies, address="169.254.20.10", port=53)
    assert not _reaches(policies, namespace="kube-system", pods={"app": "etcd"}, port=53)
    assert not _reaches(policies, namespace="product-search", port=80)
    assert not _reaches(policies, address="1.1.1.1", port=443)
    assert not _reaches(policies, address="169.254.169.254", port=80)


def test_nobody_outside_the_team_comes_in() -> None:
    """The only ingress rule names the team's own namespaces; everything else is denied."""
    policies = _policies()
    rules = [rule for policy in policies for rule in policy["spec"].get("ingress", [])]
    assert [peer["namespaceSelector"]["matchExpressions"][0]["values"] for rule in rules for peer in rule["from"]] == [
        ["research-vision-a", "research-vision-b"]
    ]
    deny = next(policy for policy in policies if policy["metadata"]["name"] == "default-deny")
    assert deny["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_named_services_are_reached_on_their_ports_only() -> None:
    """By name, by address range, or as NAMESPACE/APP:PORT."""
    policies = _policies({"services": ["models", "lake", "storage/minio:9000"]})
    minio = {"app.kubernetes.io/name": "minio"}
    assert _reaches(policies, namespace="registry", pods={"app": "models"}, port=443)
    assert not _reaches(policies, namespace="registry", pods={"app": "models"}, port=22)
    assert _reaches(policies, address="10.40.1.2", port=2049)
    assert _reaches(policies, namespace="storage", pods=minio, port=9000)
    assert not _reaches(policies, namespace="storage", pods={"app": "other"}, port=9000)


@pytest.mark.parametrize(
    "closed", ["10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "fd00:ec2::254", "fd12::1"]
)
def test_the_internet_is_not_the_cluster(closed: str) -> None:
    """Ranges of nodes, pods and services, and the metadata service, stay closed."""
    policies = _policies({"internet": True})
    assert _reaches(policies, address="1.1.1.1", port=443)
    assert _reaches(policies, address="2606:4700::1111", port=443)
    assert not _reaches(policies, address=closed, port=443)


def test_the_api_server_is_reached_where_asked_for() -> None:
    """At the addresses that the organization states."""
    stated = {"cidrs": ["10.0.0.1/32"], "port": 6443}
    assert _reaches(_policies({"apiServer": True}, apiServer=stated), address="10.0.0.1", port=6443)
    assert not _reaches(_policies(apiServer=stated), address="10.0.0.1", port=6443)


def test_nothing_is_written_that_the_api_server_rewrites() -> None:
    """No empty list or selector; always policyTypes and protocols (run against Argo CD: each costs a write a sync)."""
    for policy in _policies({"internet": True, "services": ["models"]}, metadata=[], clusterRanges=["10.0.0.0/8"]):
        spec = policy["spec"]
        assert spec["policyTypes"]
        for rule in [*spec.get("ingress", []), *spec.get("egress", [])]:
            assert all(each["protocol"] for each in rule.get("ports", []))
            for peer in rule.get("to", rule.get("from", [])):
                assert peer.get("ipBlock", {}).get("except", ["x"])
        assert [] not in spec.values()
