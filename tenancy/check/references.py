"""Names that refer to something: flavors, clusters, services, and service accounts with those who can use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Check, Finding
from tenancy.check.wording import listed, nearest
from tenancy.diagnostics import Edit, KeyPath, Rule, Severity
from tenancy.model.access import parse_subject
from tenancy.model.network import service
from tenancy.model.organization import Node, Org, namespaces

UNKNOWN_FLAVOR: Final = Rule(
    "unknown-flavor",
    Severity.ERROR,
    "A budget on a flavor that does not exist",
    "The budget would have no nodes behind it; Kueue keeps a queue that names a missing flavor inactive, with all "
    "its jobs.",
)
UNKNOWN_CLUSTER: Final = Rule(
    "unknown-cluster",
    Severity.ERROR,
    "A flavor in a cluster that does not exist",
    "Its nodes would belong to no scheduler, and no queue would have the budgets on them.",
)
FLAVOR_WITHOUT_CLUSTER: Final = Rule(
    "flavor-without-cluster",
    Severity.ERROR,
    "A flavor without a cluster where there are several",
    "With several clusters a guess would promise GPUs in one that has no such nodes.",
)
UNKNOWN_SERVICE: Final = Rule(
    "unknown-service",
    Severity.ERROR,
    "A service that is not known",
    "No network policy can be made from it, so the connection would stay blocked.",
)
UNKNOWN_NAMESPACE: Final = Rule(
    "unknown-namespace",
    Severity.ERROR,
    "Access for a service account in a namespace that nobody makes",
    "Kubernetes accepts the binding and grants nothing; whoever may create that namespace later gets the rights.",
)
UNKNOWN_SERVICE_ACCOUNT: Final = Rule(
    "unknown-service-account",
    Severity.ERROR,
    "Access for a service account that no unit declares",
    "Kubernetes accepts a binding to a missing account and grants nothing, so the robot's calls are refused.",
)
PLATFORM_ACCOUNT_OF_TENANT: Final = Rule(
    "platform-account-of-tenant",
    Severity.ERROR,
    "Platform rights for an account that tenants can use",
    "Whoever may start a pod in a namespace may start it as any service account there: every member of that team "
    "would have the rights of platform staff.",
)
ADMIN_ACCOUNT_OF_TENANT: Final = Rule(
    "admin-account-of-tenant",
    Severity.WARNING,
    "Rights of an admin for an account that members can use",
    "Whoever may start a pod in a namespace may start it as any service account there: every member of that team "
    "can read the secrets that only admins should.",
)
OUTSIDE: Final = frozenset(
    {
        "arc-runners",
        "argo",
        "argo-events",
        "argocd",
        "cert-manager",
        "default",
        "flux-system",
        "gitlab-runner",
        "gpu-operator",
        "ingress-nginx",
        "jenkins",
        "jupyterhub",
        "keda",
        "kube-system",
        "kubeflow",
        "kueue-system",
        "monitoring",
        "observability",
        "tekton-pipelines",
        "volcano-system",
    }
)
"""Namespaces that other tools make under their usual names; others are known from `network.services` or `dns`."""

_HINTS: Final = 20


def flavors(org: Org) -> Iterator[Finding]:
    """Budgets name flavors of the organization."""
    known = list(org.document.flavors)
    findings = 0
    for unit in org.units:
        for name in unit.budget:
            if name in org.flavors or (org.left_out and org.hides(("flavors", name))) or not known:
                continue
            findings += 1
            yield Finding(
                UNKNOWN_FLAVOR,
                (*unit.path, "budget", name),
                f"`{unit.title}` has a budget on `{name}`, which is not a flavor",
                f"{_hint(name, known, findings)}the flavors are {listed(sorted(known)[:10])}",
                at_key=True,
                edits=mending.meant_key((*unit.path, "budget", name), known, unit.budget) if findings <= _HINTS else (),
            )


def clusters(org: Org) -> Iterator[Finding]:
    """Flavors are in clusters of the organization."""
    known = list(org.document.clusters)
    for name, document in org.document.flavors.items():
        path: KeyPath = ("flavors", name, "cluster")
        if not known or (org.left_out and (org.hides(path) or org.hides(("clusters",)))):
            continue
        if document.cluster is None and len(known) > 1:
            yield Finding(
                FLAVOR_WITHOUT_CLUSTER,
                ("flavors", name),
                f"flavor `{name}` does not say which of the {len(known)} clusters it is in",
                f"add `cluster: {known[0]}`, or {listed(known[1:5], 'or')}",
                at_key=True,
            )
        elif document.cluster is not None and document.cluster not in known:
            yield Finding(
                UNKNOWN_CLUSTER,
                path,
                f"flavor `{name}` is in cluster `{document.cluster}`, which does not exist",
                f"{nearest(document.cluster, known)}the clusters are {listed(sorted(known)[:10])}",
                edits=mending.meant(path, document.cluster, known),
            )


def services(org: Org) -> Iterator[Finding]:
    """Units connect to services that can be found."""
    network = org.document.network
    known = f"; declared are {listed(sorted(network.services)[:10])}" if network.services else ""
    findings = 0
    for unit in org.units:
        if unit.document is None or not unit.document.network.egress.services:
            continue
        for index, text in enumerate(unit.document.network.egress.services):
            if service(network, text) is not None or (org.left_out and org.hides(("network", "services"))):
                continue
            findings += 1
            fault = "not NAMESPACE/APP:PORT" if "/" in text or ":" in text else "not declared"
            path = (*unit.path, "network", "egress", "services", index)
            yield Finding(
                UNKNOWN_SERVICE,
                path,
                f"`{unit.title}` connects to `{text}`, which is {fault}",
                f"{_hint(text, network.services, findings)}write NAMESPACE/APP:PORT, such as `storage/minio:9000`, or "
                f"the name of a service under `network.services` of the organization{known}",
                edits=mending.meant(path, text, network.services) if findings <= _HINTS else (),
            )


def accounts(org: Org) -> Iterator[Finding]:
    """Service accounts with access exist: as declared in a namespace of ours, else in one that somebody makes."""
    subjects = list(_service_accounts(org))
    if not subjects:
        return
    made: dict[str, list[Node]] = {}
    for team in org.units:
        for name, node in namespaces(team) if team.kind == "team" else ():
            made.setdefault(name, []).append(node)
    network = org.document.network
    outside = OUTSIDE | {network.dns.namespace} | {s.namespace for s in network.services.values() if s.namespace}
    findings = 0
    for path, who, namespace, account in subjects:
        if (nodes := made.get(namespace)) is not None:
            yield from _usable_by_members(nodes[0], path, who, f"{namespace}/{account}")
            # A namespace of two units is a finding of its own, so an account of either counts.
            node, declared = nodes[-1], set[str]().union(*map(_declared, nodes))
            if account not in declared and account != "default":
                findings += 1
                yield Finding(
                    UNKNOWN_SERVICE_ACCOUNT,
                    path,
                    f"{who} gives access to `{namespace}/{account}`, but `{node.title}` does not declare it",
                    f"{_hint(account, declared, findings)}declare it: `access: {{serviceAccounts: [{account}]}}` in "
                    f"`{node.title}`",
                    (("the unit of that namespace", node.path),),
                    edits=_account(path, namespace, mending.meant(path, account, declared)),
                )
        elif namespace not in outside and not org.left_out:
            findings += 1
            yield Finding(
                UNKNOWN_NAMESPACE,
                path,
                f"{who} gives access to `{namespace}/{account}`, but no unit has the namespace `{namespace}`",
                f"{_hint(namespace, made, findings)}if somebody else makes the namespace, declare a service in it "
                "under `network.services`",
                edits=_elsewhere(path, account, mending.meant(path, namespace, made)) if findings <= _HINTS else (),
            )


def _account(path: KeyPath, namespace: str, near: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The subject with the nearest account, if any is near."""
    return tuple(Edit("set", path, f"serviceaccount:{namespace}/{edit.value}") for edit in near)


def _elsewhere(path: KeyPath, account: str, near: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The subject in the nearest namespace, if any is near."""
    return tuple(Edit("set", path, f"serviceaccount:{edit.value}/{account}") for edit in near)


def _usable_by_members(home: Node, path: KeyPath, who: str, account: str) -> Iterator[Finding]:
    """An account of a tenant's namespace among subjects that may do more than the members there."""
    platform, level = path[0] == "access", path[-2]
    if platform or level == "admins":
        team = home.parent if home.kind == "project" and home.parent is not None else home
        listed_as = f"{who} lists `serviceaccount:{account}` among its {level}"
        yield Finding(
            PLATFORM_ACCOUNT_OF_TENANT if platform else ADMIN_ACCOUNT_OF_TENANT,
            path,
            f"{listed_as}: every member of `{team.title}` can run pods as it",
            "use an account of a namespace that no team works in",
        )


def _hint(name: str, known: Iterable[str], findings: int) -> str:
    """The nearest known name, for the first findings only: each search goes through all of them."""
    return nearest(name, sorted(known)) if findings <= _HINTS else ""


def _declared(node: Node) -> set[str]:
    return {
        account
        for unit in (node, *node.ancestors())
        if unit.document is not None
        for account in unit.document.access.service_accounts
    }


def _service_accounts(org: Org) -> Iterator[tuple[KeyPath, str, str, str]]:
    """Every service account that is given access: path, who gives it, namespace, name."""
    for path, who, subjects in _subjects(org):
        for index, text in enumerate(subjects):
            if text.startswith("serviceaccount:"):
                subject = parse_subject(text)
                if subject is not None:
                    yield (*path, index), who, subject.namespace, subject.name


def _subjects(org: Org) -> Iterator[tuple[KeyPath, str, list[str]]]:
    platform = org.document.access
    for key, subjects in (("admins", platform.admins), ("auditors", platform.auditors)):
        yield ("access", key), "the organization", subjects
    for unit in org.units:
        if unit.document is not None:
            access = unit.document.access
            for key, subjects in (("admins", access.admins), ("members", access.members), ("viewers", access.viewers)):
                if subjects:
                    yield (*unit.path, "access", key), f"`{unit.title}`", subjects


RULES: Final = (
    UNKNOWN_FLAVOR,
    UNKNOWN_CLUSTER,
    FLAVOR_WITHOUT_CLUSTER,
    UNKNOWN_SERVICE,
    UNKNOWN_NAMESPACE,
    UNKNOWN_SERVICE_ACCOUNT,
    PLATFORM_ACCOUNT_OF_TENANT,
    ADMIN_ACCOUNT_OF_TENANT,
)
CHECKS: Final[tuple[Check, ...]] = (flavors, clusters, services, accounts)
