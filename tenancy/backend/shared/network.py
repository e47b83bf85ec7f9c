"""Network isolation of a namespace: nothing in or out but what is allowed here.

Lists and selectors that would be empty are left out: the API server rewrites them at every apply (run against Argo CD).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_network
from typing import Any

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.model.document import Dns, Service
from tenancy.plan.values import ClusterPlan, Namespace

_NAME = "kubernetes.io/metadata.name"
"""The one namespace label that nobody can forge: the API server keeps it."""


def policies(plan: ClusterPlan, namespace: Namespace) -> Iterator[Object]:
    """The NetworkPolicies of a namespace."""
    isolation, facts = namespace.isolation, plan.network
    everywhere = ["Ingress", "Egress"]
    yield _policy(namespace, "default-deny", everywhere)
    yield _policy(namespace, "allow-dns", ["Egress"], egress=[_dns(facts.dns)])
    team = [{"namespaceSelector": _any_of(isolation.team)}]
    yield _policy(namespace, "allow-team", everywhere, ingress=[{"from": team}], egress=[{"to": team}])
    if namespace.keda:
        operator = [_pods(facts.keda.namespace, facts.keda.pods)]
        yield _policy(namespace, "allow-keda", ["Ingress"], ingress=[{"from": operator}])
    if isolation.services:
        yield _policy(namespace, "allow-services", ["Egress"], egress=[_service(each) for each in isolation.services])
    if isolation.api_server and facts.api_server is not None:
        blocks = [{"ipBlock": {"cidr": cidr}} for cidr in facts.api_server.cidrs]
        rule = {"to": blocks, "ports": _ports([facts.api_server.port])}
        yield _policy(namespace, "allow-api-server", ["Egress"], egress=[rule])
    if isolation.internet:
        closed = (*facts.cluster_ranges, *facts.metadata)
        yield _policy(namespace, "allow-internet", ["Egress"], egress=[_internet(closed)])


def _policy(namespace: Namespace, name: str, types: list[str], **rules: Any) -> Object:
    return obj(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        name,
        namespace.labels,
        namespace=namespace.name,
        spec={"podSelector": {}, "policyTypes": types, **rules},
    )


@lru_cache(maxsize=64)  # one for a cluster, shared by the policies of all its namespaces
def _dns(dns: Dns) -> dict[str, Any]:
    peers: list[dict[str, Any]] = [_pods(dns.namespace, dns.pods)]
    if dns.node_local is not None:
        address = ip_network(dns.node_local)
        peers.append({"ipBlock": {"cidr": str(address)}})
    ports = [{"port": dns.port, "protocol": "UDP"}, {"port": dns.port, "protocol": "TCP"}]
    return {"to": peers, "ports": ports}


@lru_cache(maxsize=1024)
def _service(service: Service) -> dict[str, Any]:
    if service.cidr is not None:
        peer: dict[str, Any] = {"ipBlock": {"cidr": service.cidr}}
    else:
        peer = _pods(service.namespace or "", service.pods or {})
    return {"to": [peer], "ports": _ports(service.ports)}


@lru_cache(maxsize=64)
def _internet(closed: tuple[str, ...]) -> dict[str, Any]:
    """Every address but the closed ones: the cluster's own ranges and the metadata service."""
    blocked = [ip_network(cidr) for cidr in closed]
    peers = []
    for everything, version in (("0.0.0.0/0", 4), ("::/0", 6)):
        block: dict[str, Any] = {"cidr": everything}
        if outside := sorted(str(net) for net in set(blocked) if net.version == version):
            block["except"] = outside
        peers.append({"ipBlock": block})
    return {"to": peers}


def _pods(namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    peer: dict[str, Any] = {"namespaceSelector": {"matchLabels": {_NAME: namespace}}}
    if labels:
        peer["podSelector"] = {"matchLabels": dict(sorted(labels.items()))}
    return peer


def _any_of(names: Sequence[str]) -> dict[str, Any]:
    return {"matchExpressions": [{"key": _NAME, "operator": "In", "values": list(names)}]}


def _ports(ports: Sequence[int]) -> list[dict[str, Any]]:
    return [{"port": port, "protocol": "TCP"} for port in sorted(ports)]
