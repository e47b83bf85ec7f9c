"""Namespaces of units: each belongs to one unit, and none to the cluster or its tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import RELATED_AT_MOST
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Project, Team
from tenancy.model.organization import Node, Org, namespaces

NAMESPACE_TWICE: Final = Rule(
    "namespace-twice",
    Severity.ERROR,
    "A namespace of two units",
    "Both would own its quotas, roles and network policies; the one that is applied last wins, and each sees the "
    "other's pods.",
)
NAMESPACE_RESERVED: Final = Rule(
    "namespace-reserved",
    Severity.ERROR,
    "A namespace that belongs to the cluster or to its tools",
    "Quotas and a default-deny network policy in a system namespace stop the cluster's own components, and Kueue "
    "never manages jobs in kube-system.",
)
NAMESPACE_WITH_PROJECTS: Final = Rule(
    "namespace-with-projects",
    Severity.ERROR,
    "A namespace name for a team that has projects",
    "The namespaces of such a team are those of its projects, so the name would be ignored.",
)
RESERVED: Final = frozenset(
    {
        "argocd",
        "cert-manager",
        "default",
        "flux-system",
        "gatekeeper-system",
        "gpu-operator",
        "ingress-nginx",
        "istio-system",
        "jobset-system",
        "karpenter",
        "kueue-system",
        "kyverno",
        "lws-system",
        "monitoring",
        "node-feature-discovery",
        "volcano-monitoring",
        "volcano-system",
    }
)
"""Namespaces of the components that this tool works with, and of usual cluster tools."""
_PREFIXES: Final = ("kube-", "openshift-")


def namespace_names(org: Org) -> Iterator[Finding]:
    """Namespaces have one owner, and are not the cluster's."""
    owners: dict[str, list[Node]] = {}
    taken = RESERVED | _serving(org)
    for unit in org.units:
        if unit.kind != "team":
            continue
        if isinstance(unit.document, Team) and unit.document.namespace is not None and unit.document.projects:
            yield Finding(
                NAMESPACE_WITH_PROJECTS,
                (*unit.path, "namespace"),
                f"`{unit.title}` has the namespace `{unit.document.namespace}`, but its projects have namespaces of "
                "their own",
                "remove it, or write `namespace` at one of the projects",
                (("its projects", (*unit.path, "projects")),),
            )
        for name, node in namespaces(unit):
            owners.setdefault(name, []).append(node)
            if name in taken or name.startswith(_PREFIXES) or name == "kube":
                yield _reserved(name, node)
    for name, nodes in owners.items():
        if len(nodes) > 1 and len({node.queue for node in nodes if _has_queue(node)}) + _without_queue(nodes) > 1:
            yield _twice(name, nodes)


def _serving(org: Org) -> set[str]:
    """Namespaces of the cluster's DNS, of shared services, and of KEDA where a team uses it, whose pods others trust.

    A unit's network policies would shut them off, and its admins could read their secrets.
    """
    network = org.document.network
    services = {service.namespace for service in network.services.values() if service.namespace is not None}
    keda = any(isinstance(unit.document, Team) and unit.document.autoscaling for unit in org.units)
    return services | {network.dns.namespace} | ({network.keda.namespace} if keda else set())


def _has_queue(node: Node) -> bool:
    return node.kind == "team" or bool(node.budget)


def _without_queue(nodes: list[Node]) -> int:
    return sum(1 for node in nodes if not _has_queue(node))


def _namespace_place(node: Node) -> tuple[KeyPath, bool]:
    """Where a namespace got its name: the key `namespace`, else the unit; and whether to point at the key."""
    if isinstance(node.document, Team | Project) and node.document.namespace is not None:
        return (*node.path, "namespace"), False
    return node.path, True


def _reserved(name: str, node: Node) -> Finding:
    path, at_key = _namespace_place(node)
    how = "rename the unit, or " if at_key else ""
    return Finding(
        NAMESPACE_RESERVED,
        path,
        f"`{node.title}` would have the namespace `{name}`, which is not for tenants",
        f"{how}write another name: `namespace: {node.names[-1]}-jobs`",
        at_key=at_key,
    )


def _twice(name: str, nodes: list[Node]) -> Finding:
    path, at_key = _namespace_place(nodes[-1])
    others = tuple((f"`{node.title}` has it too", _namespace_place(node)[0]) for node in nodes[:-1][:RELATED_AT_MOST])
    return Finding(
        NAMESPACE_TWICE,
        path,
        f"`{nodes[-1].title}` has the namespace `{name}`, which `{nodes[0].title}` has already",
        f"give one of them another name, such as `namespace: {name}-2`",
        others,
        at_key=at_key,
    )


RULES: Final = (NAMESPACE_TWICE, NAMESPACE_RESERVED, NAMESPACE_WITH_PROJECTS)
CHECKS: Final[tuple[Check, ...]] = (namespace_names,)
