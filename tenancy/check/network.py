"""Network: addresses, shared services and what units may reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Service
from tenancy.model.organization import Org
from tenancy.model.syntax import is_dns_label, is_label_key, is_label_value

NETWORK_RANGE: Final = Rule(
    "network-range",
    Severity.ERROR,
    "An address range that cannot be read",
    "The API server refuses a NetworkPolicy with it, and the namespace is left without isolation.",
)
NETWORK_ADDRESS: Final = Rule(
    "network-address",
    Severity.ERROR,
    "An address that is not one",
    "Without the address of the node-local cache in the policies, pods of isolated namespaces resolve no name.",
)
SERVICE_TARGET: Final = Rule(
    "service-target",
    Severity.ERROR,
    "A shared service without exactly one target",
    "A policy rule allows either pods of a namespace or a range of addresses. With neither it allows every "
    "address, with both the API server refuses it.",
)
SERVICE_PORT: Final = Rule(
    "service-port",
    Severity.ERROR,
    "A port that does not exist",
    "Ports are 1 to 65535; the API server refuses the policies of every namespace that uses the service.",
)
SERVICE_PORT_TWICE: Final = Rule(
    "service-port-twice",
    Severity.WARNING,
    "A port that is listed twice",
    "Whoever closes the port by removing one line leaves it open by the other.",
)
API_SERVER_UNKNOWN: Final = Rule(
    "api-server-unknown",
    Severity.ERROR,
    "Access to an API server whose address is not known",
    "Network policies see the addresses behind the API server's service, which the organization does not say: "
    "without them a rule could only allow nothing, or everything.",
)
METADATA_EXPOSED: Final = Rule(
    "metadata-exposed",
    Severity.ERROR,
    "A range that opens the cloud's metadata service",
    "Policies only ever allow: a range that contains the metadata address lets pods fetch the credentials of "
    "their node.",
)

INTERNET_OPENS_CLUSTER: Final = Rule(
    "internet-opens-cluster",
    Severity.ERROR,
    "Access to the internet that includes the cluster",
    "Network policies only ever allow: the internet is every address but the cluster's own ranges. With none of these "
    "listed, the unit's pods also reach every node and every pod that no policy of its own protects.",
)

_Range: TypeAlias = IPv4Network | IPv6Network


def ranges(org: Org) -> Iterator[Finding]:
    """Every range and address can be read, and none opens the metadata service."""
    network = org.document.network
    metadata = [found for text in network.metadata if (found := _range(text)) is not None]
    allowed: list[tuple[str, KeyPath]] = []
    if network.api_server is not None:
        allowed += _listed(network.api_server.cidrs, ("network", "apiServer", "cidrs"))
    for name, service in network.services.items():
        if service.cidr is not None:
            allowed.append((service.cidr, ("network", "services", name, "cidr")))
    others = [
        *_listed(network.metadata, ("network", "metadata")),
        *_listed(network.cluster_ranges, ("network", "clusterRanges")),
    ]
    for text, path in (*allowed, *others):
        if _range(text) is None:
            yield _unreadable(text, path)
    for text, path in allowed:
        if opened := next((each for each in metadata if _contains(_range(text), each)), None):
            message = f"`{text}` contains the metadata address `{opened}`"
            yield Finding(METADATA_EXPOSED, path, message, "name the ranges of the service alone")
    local = network.dns.node_local
    if local is not None and not _is_address(local):
        message = f"`{local}` is not the address of the node-local DNS cache"
        help_ = "write one IP address, such as `169.254.20.10`, or `null` where there is no such cache"
        yield Finding(NETWORK_ADDRESS, ("network", "dns", "nodeLocal"), message, help_)


def services(org: Org) -> Iterator[Finding]:
    """Shared services have one target and real ports."""
    for name, service in org.document.network.services.items():
        path: KeyPath = ("network", "services", name)
        if not (org.left_out and org.hides(path)):
            yield from _target(name, service, path)
        seen: dict[int, int] = {}
        for index, port in enumerate(service.ports):
            first = seen.setdefault(port, index)
            if not 1 <= port <= 65535:
                message = f"service `{name}`: there is no port {port}"
                yield Finding(SERVICE_PORT, (*path, "ports", index), message, "write a number from 1 to 65535")
            elif first != index:
                message = f"service `{name}` lists port {port} twice"
                related = (("the first", (*path, "ports", first)),)
                at = (*path, "ports", index)
                yield Finding(SERVICE_PORT_TWICE, at, message, "remove one", related, edits=mending.leave_out(at))


def egress(org: Org) -> Iterator[Finding]:
    """Units reach the API server only where its address is known."""
    if org.document.network.api_server is not None or (org.left_out and org.hides(("network", "apiServer"))):
        return
    for unit in org.units:
        if unit.document is not None and unit.document.network.egress.api_server:
            message = f"`{unit.title}` may reach the API server, but its address is not known"
            help_ = "add `network: {apiServer: {cidrs: [203.0.113.10/32], port: 6443}}` to the organization, with the "
            help_ += "addresses that `kubectl get endpointslices -n default kubernetes` shows"
            yield Finding(API_SERVER_UNKNOWN, (*unit.path, "network", "egress", "apiServer"), message, help_)


def _listed(texts: Sequence[str], path: KeyPath) -> Iterator[tuple[str, KeyPath]]:
    for index, text in enumerate(texts):
        yield text, (*path, index)


def _range(text: str) -> _Range | None:
    """The range, or None; an address without a length is not one, since a policy needs the length."""
    try:
        return ip_network(text) if "/" in text else None
    except ValueError:
        return None


def _unreadable(text: str, path: KeyPath) -> Finding:
    """The finding, with the range that was probably meant."""
    try:
        meant = ip_network(text, strict=False)
    except ValueError:
        help_ = "write ADDRESS/LENGTH, such as `10.20.0.0/16`"
        return Finding(NETWORK_RANGE, path, f"`{text}` is not a range of addresses", help_)
    if "/" in text:
        message = f"`{text}` is one address of a range, not the range"
        return Finding(
            NETWORK_RANGE, path, message, f"write `{meant}`, or `{text.partition('/')[0]}/{meant.max_prefixlen}`"
        )
    help_ = f"write `{meant}` for this one address"
    return Finding(NETWORK_RANGE, path, f"`{text}` has no length", help_, edits=mending.write(path, str(meant)))


def _contains(outer: _Range | None, inner: _Range) -> bool:
    if isinstance(outer, IPv4Network) and isinstance(inner, IPv4Network):
        return outer.overlaps(inner)
    return isinstance(outer, IPv6Network) and isinstance(inner, IPv6Network) and outer.overlaps(inner)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _target(name: str, service: Service, path: KeyPath) -> Iterator[Finding]:
    help_ = "write `namespace` and `pods`, such as `namespace: storage` and `pods: {app: minio}`, or `cidr` alone"
    by_pods = service.namespace is not None or service.pods is not None
    if by_pods and service.cidr is not None:
        message = f"service `{name}` has both pods and a range of addresses"
    elif not by_pods and service.cidr is None:
        message = f"service `{name}` has no target"
    elif by_pods and (service.namespace is None or not service.pods):
        missing = "namespace" if service.namespace is None else "pods"
        message = f"service `{name}` does not say the {missing} of its target"
    elif service.namespace is not None and not is_dns_label(service.namespace):
        message = f"service `{name}`: `{service.namespace}` cannot be a namespace"
        help_ = "write lower-case letters, digits and `-`, at most 63 characters"
    elif service.pods and (bad := _bad_label(service.pods)):
        message = f"service `{name}`: `{bad}` cannot be a label"
        help_ = "write letters, digits, `-`, `_` and `.`, at most 63 characters"
    else:
        return
    yield Finding(SERVICE_TARGET, path, message, help_, at_key=True)


def _bad_label(labels: dict[str, str]) -> str:
    return next(
        (f"{key}: {value}" for key, value in labels.items() if not (is_label_key(key) and is_label_value(value))), ""
    )


def internet(org: Org) -> Iterator[Finding]:
    """Where units reach the internet, the ranges of the cluster are known, so that they can be left out of it."""
    network = org.document.network
    if network.cluster_ranges or (org.left_out and org.hides(("network", "clusterRanges"))):
        return
    for unit in org.units:
        if unit.document is not None and unit.document.network.egress.internet:
            yield Finding(
                INTERNET_OPENS_CLUSTER,
                ("network", "clusterRanges"),
                f"`clusterRanges` is empty, but `{unit.title}` may reach the internet",
                "list the ranges of nodes, pods and services; without `clusterRanges` they are all private ranges",
                (("the unit", (*unit.path, "network", "egress", "internet")),),
                at_key=True,
            )
            return


CHECKS: Final = (ranges, services, egress, internet)
RULES: Final = (
    NETWORK_RANGE,
    NETWORK_ADDRESS,
    SERVICE_TARGET,
    SERVICE_PORT,
    SERVICE_PORT_TWICE,
    API_SERVER_UNKNOWN,
    METADATA_EXPOSED,
    INTERNET_OPENS_CLUSTER,
)
