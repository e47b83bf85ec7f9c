"""Names that Kubernetes takes, and that stay different from each other once they are joined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.syntax import is_dns_label
from tenancy.check.wording import RELATED_AT_MOST
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Project, Team
from tenancy.model.organization import Node, Org, namespaces

NAME_SYNTAX: Final = Rule(
    "name-syntax",
    Severity.ERROR,
    "A name that Kubernetes does not take",
    "Names become names of objects, label values and folders; the API server refuses all but lower-case letters, "
    "digits and "
    "dashes.",
)
NAME_TOO_LONG: Final = Rule(
    "name-too-long",
    Severity.ERROR,
    "A joined name of more than 63 characters",
    "The path of a unit is the name of its queue and the value of labels, where the API server refuses more than 63 "
    "characters: no job could name the queue.",
)
NAME_AMBIGUOUS: Final = Rule(
    "name-ambiguous",
    Severity.ERROR,
    "Two units whose joined names are the same",
    "Their queues would be one object: the second definition overwrites the first, and one unit runs on the other's "
    "quota.",
)
NAME_OF_ORGANIZATION: Final = Rule(
    "name-of-organization",
    Severity.ERROR,
    "A unit with the name of the organization",
    "Both are Cohorts: the unit would be its own parent, and Kueue takes every queue of a cycle out of scheduling.",
)
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
    "never manages "
    "jobs in kube-system.",
)
NAMESPACE_WITH_PROJECTS: Final = Rule(
    "namespace-with-projects",
    Severity.ERROR,
    "A namespace name for a team that has projects",
    "The namespaces of such a team are those of its projects, so the name would be ignored.",
)
NO_CLUSTERS: Final = Rule(
    "no-clusters",
    Severity.ERROR,
    "An organization without a cluster",
    "There is nothing to compile for.",
)
NO_FLAVORS: Final = Rule(
    "no-flavors",
    Severity.ERROR,
    "An organization without a flavor",
    "Without nodes there is nothing to budget: every queue would be empty.",
)
NO_DEPARTMENTS: Final = Rule(
    "no-departments",
    Severity.WARNING,
    "An organization without a department",
    "Nobody could run anything.",
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
_LONGEST = 63


def syntax(org: Org) -> Iterator[Finding]:
    """Every name is a DNS label."""
    document = org.document
    if not is_dns_label(document.name) and not (org.left_out and org.hides(("name",))):
        yield _bad_name(("name",), "the organization", document.name, at_key=False)
    for key, noun, names in (
        ("clusters", "cluster", document.clusters),
        ("flavors", "flavor", document.flavors),
    ):
        for name in names:
            if not is_dns_label(name):
                yield _bad_name((key, name), f"a {noun}", name)
    for name in document.network.services:
        if not is_dns_label(name):
            yield _bad_name(("network", "services", name), "a service", name)
    for unit in org.units:
        if not is_dns_label(unit.name):
            yield _bad_name(unit.path, f"a {unit.kind}", unit.name)
        elif isinstance(unit.document, Team | Project):
            name = unit.document.namespace
            if name is not None and not is_dns_label(name):
                yield _bad_name((*unit.path, "namespace"), f"the namespace of {unit.title}", name, at_key=False)


def _bad_name(path: KeyPath, what: str, name: str, *, at_key: bool = True) -> Finding:
    meant = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST].strip("-")
    hint = f"write `{meant}`: " if meant and meant != name else ""
    return Finding(
        NAME_SYNTAX,
        path,
        f"{what} cannot be called `{name}`",
        f"{hint}lower-case letters, digits and dashes, a letter or digit at both ends, at most {_LONGEST} characters",
        at_key=at_key,
    )


def lengths(org: Org) -> Iterator[Finding]:
    """Joined names of queues and namespaces have at most 63 characters."""
    for unit in org.units:
        if len(unit.queue) <= _LONGEST or not _named(unit) or len(unit.name) > _LONGEST:
            continue
        parent = unit.parent.queue if unit.parent is not None else ""
        if len(parent) > _LONGEST:
            continue
        room = _LONGEST - len(parent) - 1
        shorter = "shorten a name above it" if room < 1 else f"a name of at most {room} characters fits below {parent}"
        yield Finding(
            NAME_TOO_LONG,
            unit.path,
            f"the name of {unit.title} comes to {len(unit.queue)} characters: {unit.queue}",
            shorter,
            at_key=True,
        )


def _named(unit: Node) -> bool:
    """Whether the joined name is used: a project without a budget and with a namespace of its own name needs none."""
    document = unit.document
    return not (isinstance(document, Project) and document.namespace is not None and not document.budget)


def ambiguous(org: Org) -> Iterator[Finding]:
    """Different units have different joined names."""
    first: dict[str, Node] = {}
    for unit in org.units:
        if unit.kind == "project" and not (unit.document is not None and unit.document.budget):
            continue
        other = first.setdefault(unit.queue, unit)
        if other is not unit and not _inherited(unit, other):
            yield Finding(
                NAME_AMBIGUOUS,
                unit.path,
                f"{other.title} and {unit.title} are both called {unit.queue} once their names are joined",
                "rename one of them",
                ((f"the other one, {other.title}", other.path),),
                at_key=True,
            )


def _inherited(unit: Node, other: Node) -> bool:
    """Whether the units above them collide already, with the same names below."""
    return (
        unit.name == other.name
        and unit.parent is not None
        and other.parent is not None
        and unit.parent.parent is not None
        and unit.parent.queue == other.parent.queue
    )


def of_organization(org: Org) -> Iterator[Finding]:
    """No group of queues is called like the organization."""
    for unit in org.units:
        if unit.inner and unit.queue == org.document.name:
            yield Finding(
                NAME_OF_ORGANIZATION,
                unit.path,
                f"{unit.title} has the name of the organization, {org.document.name}",
                "rename one of them",
                (("the organization", ("name",)),),
                at_key=True,
            )


def namespace_names(org: Org) -> Iterator[Finding]:
    """Namespaces have one owner, and are not the cluster's."""
    owners: dict[str, list[Node]] = {}
    for unit in org.units:
        if unit.kind != "team":
            continue
        if isinstance(unit.document, Team) and unit.document.namespace is not None and unit.document.projects:
            yield Finding(
                NAMESPACE_WITH_PROJECTS,
                (*unit.path, "namespace"),
                f"{unit.title} has the namespace {unit.document.namespace}, but its projects have namespaces of "
                f"their own",
                "remove it, or write `namespace` in one of the projects",
                (("its projects", (*unit.path, "projects")),),
            )
        for name, node in namespaces(unit):
            owners.setdefault(name, []).append(node)
            if name in RESERVED or name.startswith("kube-") or name == "kube":
                yield _reserved(name, node)
    for name, nodes in owners.items():
        if len(nodes) > 1 and len({node.queue for node in nodes if _has_queue(node)}) + _without_queue(nodes) > 1:
            yield _twice(name, nodes)


def _has_queue(node: Node) -> bool:
    return node.kind == "team" or bool(node.document is not None and node.document.budget)


def _without_queue(nodes: list[Node]) -> int:
    return sum(1 for node in nodes if not _has_queue(node))


def _namespace_place(node: Node) -> tuple[KeyPath, bool]:
    """Where a namespace got its name: the key `namespace`, else the unit; and whether to point at the key."""
    if isinstance(node.document, Team | Project) and node.document.namespace is not None:
        return (*node.path, "namespace"), False
    return node.path, True


def _reserved(name: str, node: Node) -> Finding:
    path, at_key = _namespace_place(node)
    how = "" if not at_key else "rename the unit, or "
    return Finding(
        NAMESPACE_RESERVED,
        path,
        f"{node.title} would have the namespace {name}, which is not for tenants",
        f"{how}write another name: `namespace: {node.names[-1]}-jobs`",
        at_key=at_key,
    )


def _twice(name: str, nodes: list[Node]) -> Finding:
    path, at_key = _namespace_place(nodes[-1])
    others = tuple((f"{node.title} has it too", _namespace_place(node)[0]) for node in nodes[:-1][:RELATED_AT_MOST])
    return Finding(
        NAMESPACE_TWICE,
        path,
        f"{nodes[-1].title} has the namespace {name}, which {nodes[0].title} has already",
        "give one of them another name with `namespace:`",
        others,
        at_key=at_key,
    )


def emptiness(org: Org) -> Iterator[Finding]:
    """There is a cluster, a flavor and a department."""
    document = org.document
    for rule, key, found in (
        (NO_CLUSTERS, "clusters", document.clusters),
        (NO_FLAVORS, "flavors", document.flavors),
        (NO_DEPARTMENTS, "departments", document.departments),
    ):
        if not found and not (org.left_out and org.hides((key,))):
            examples = {
                "clusters": "add one: `clusters: {train: {scheduler: kueue}}`",
                "flavors": "add one; `tenancy gpus` lists the boards, docs/language.md the keys",
                "departments": "add one under `departments`, or in a file under org/departments/",
            }
            yield Finding(rule, (key,), f"`{key}` is empty", examples[key], at_key=True)


RULES: Final = (
    NAME_SYNTAX,
    NAME_TOO_LONG,
    NAME_AMBIGUOUS,
    NAME_OF_ORGANIZATION,
    NAMESPACE_TWICE,
    NAMESPACE_RESERVED,
    NAMESPACE_WITH_PROJECTS,
    NO_CLUSTERS,
    NO_FLAVORS,
    NO_DEPARTMENTS,
)
CHECKS: Final[tuple[Check, ...]] = (syntax, lengths, ambiguous, of_organization, namespace_names, emptiness)
