"""Names that refer to something: flavors, clusters, services, service accounts, and the resources of a flavor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.check.finding import Check, Finding
from tenancy.check.syntax import listed, nearest
from tenancy.check.wording import comparable, key_of, known_board
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.access import parse_subject
from tenancy.model.budgets import SHARE
from tenancy.model.document import TRIPLE, Triple
from tenancy.model.gpus import CATALOGUE
from tenancy.model.hardware import CPU, GPUS, MEMORY, Hardware
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
    "Its nodes would belong to no scheduler, and every budget on them would be dropped.",
)
FLAVOR_WITHOUT_CLUSTER: Final = Rule(
    "flavor-without-cluster",
    Severity.ERROR,
    "A flavor that does not say in which of the clusters it is",
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
UNKNOWN_RESOURCE: Final = Rule(
    "unknown-resource",
    Severity.ERROR,
    "A budget on a resource that the flavor does not have",
    "No node of the flavor offers it: jobs that ask for it would wait for ever.",
)
AMOUNT_WITHOUT_RESOURCE: Final = Rule(
    "amount-without-resource",
    Severity.ERROR,
    "A bare number on a flavor that has several resources",
    "A bare number means whole GPUs; a MIG flavor has slices and a CPU flavor has cpu and memory, so it could mean "
    "any of them.",
)
EMPTY_BUDGET: Final = Rule(
    "empty-budget",
    Severity.ERROR,
    "A budget entry that says nothing",
    "It could mean nothing at all or everything that can be borrowed; a reader of the file cannot tell.",
)
CPU_MEMORY_UNCOVERED: Final = Rule(
    "cpu-memory-uncovered",
    Severity.ERROR,
    "A quota that lacks cpu or memory",
    "Kueue admits a job only if all that it asks for is covered: without a quota of its own for one of them the unit "
    "could run "
    "nothing that it can count on.",
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
"""Namespaces that other tools make under their usual names; others are declared by `network.services` or `network.dns`."""


def flavors(org: Org) -> Iterator[Finding]:
    """Budgets name flavors of the organization."""
    known = list(org.document.flavors)
    for unit in org.units:
        for name in unit.document.budget if unit.document is not None else ():
            if name in org.flavors or (org.left_out and org.hides(("flavors", name))) or not known:
                continue
            yield Finding(
                UNKNOWN_FLAVOR,
                (*unit.path, "budget", name),
                f"{unit.title} has a budget on {name}, which is not a flavor",
                f"{nearest(name, known)}the flavors are {listed(sorted(known)[:10])}",
                at_key=True,
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
                f"{name} does not say its cluster, and there are {len(known)}",
                f"add `cluster: {known[0]}`, or {listed(known[1:5], 'or')}",
                at_key=True,
            )
        elif document.cluster is not None and document.cluster not in known:
            yield Finding(
                UNKNOWN_CLUSTER,
                path,
                f"{name} is in cluster {document.cluster}, which does not exist",
                f"{nearest(document.cluster, known)}the clusters are {listed(sorted(known)[:10])}",
            )


def services(org: Org) -> Iterator[Finding]:
    """Units connect to services that can be found."""
    network = org.document.network
    for unit in org.units:
        if unit.document is None or not unit.document.network.egress.services:
            continue
        for index, text in enumerate(unit.document.network.egress.services):
            if service(network, text) is not None or (org.left_out and org.hides(("network", "services"))):
                continue
            known = f"; declared are {listed(sorted(network.services)[:10])}" if network.services else ""
            inline = "/" in text or ":" in text
            yield Finding(
                UNKNOWN_SERVICE,
                (*unit.path, "network", "egress", "services", index),
                f"{unit.title} connects to `{text}`, which is {'no NAMESPACE/APP:PORT' if inline else 'not declared'}",
                f"{nearest(text, list(network.services))}write NAMESPACE/APP:PORT, such as storage/minio:9000, or "
                f"the name of a "
                f"service under `network.services` of the organization{known}",
            )


def accounts(org: Org) -> Iterator[Finding]:
    """Service accounts with access exist: in a namespace of ours as declared, else in a namespace that somebody makes."""
    subjects = list(_service_accounts(org))
    if not subjects:
        return
    made = {name: node for team in org.units if team.kind == "team" for name, node in namespaces(team)}
    network = org.document.network
    outside = OUTSIDE | {network.dns.namespace} | {s.namespace for s in network.services.values() if s.namespace}
    for path, who, namespace, account in subjects:
        node = made.get(namespace)
        if node is not None:
            declared = _declared(node)
            if account not in declared and account != "default":
                yield Finding(
                    UNKNOWN_SERVICE_ACCOUNT,
                    path,
                    f"{who} gives access to `{namespace}/{account}`, but {node.title} declares no such service account",
                    f"{nearest(account, sorted(declared))}declare it: `access: {{serviceAccounts: [{account}]}}` in "
                    f"{node.title}",
                    (("the unit of that namespace", node.path),),
                )
        elif namespace not in outside and not org.left_out:
            yield Finding(
                UNKNOWN_NAMESPACE,
                path,
                f"{who} gives access to `{namespace}/{account}`, but no unit has the namespace {namespace}",
                f"{nearest(namespace, sorted(made))}a namespace of somebody else's is known once a service in it "
                f"stands under "
                "`network.services`",
            )


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
        yield ("access", key), org.document.name, subjects
    for unit in org.units:
        if unit.document is not None:
            access = unit.document.access
            for key, subjects in (("admins", access.admins), ("members", access.members), ("viewers", access.viewers)):
                if subjects:
                    yield (*unit.path, "access", key), unit.title, subjects


def resources(org: Org) -> Iterator[Finding]:
    """Budgets name resources that their flavor has, and say something."""
    for unit in org.units:
        for name, said in unit.document.budget.items() if unit.document is not None else ():
            entry = unit.entries.get(name)
            if entry is None or (entry.written and not entry.broken) or entry.share:
                continue
            flavor, path = org.flavors[name], (*unit.path, "budget", name)
            if org.left_out and (org.hides(path) or org.hides(flavor.path)):
                continue
            if not known_board(org.document.flavors[name]) or not _readable_layout(flavor):
                continue
            yield from _entry(unit, flavor, path, said)


def _readable_layout(flavor: Hardware) -> bool:
    """Whether every profile of the MIG layout is one of the board: else its own finding says enough."""
    profiles = flavor.gpu.profiles if flavor.gpu is not None else {}
    return all(profile in profiles for layout in flavor.layouts for profile in layout.profiles)


def _entry(unit: Node, flavor: Hardware, path: KeyPath, said: Any) -> Iterator[Finding]:
    numbers = {key: getattr(said, key) for key in TRIPLE} if isinstance(said, Triple) else {"": said}
    numbers = {key: value for key, value in numbers.items() if value is not None}
    if not numbers:
        yield _empty(unit, flavor, path)
    for number, value in numbers.items():
        where = (*path, number) if number else path
        if isinstance(value, Mapping):
            if not value:
                yield _empty(unit, flavor, where)
            for key in value:
                if key not in flavor.names:
                    yield _unknown_resource(unit, flavor, (*where, key), key)
        elif value != SHARE and GPUS not in flavor.names:
            yield _bare(unit, flavor, where, value)


def _empty(unit: Node, flavor: Hardware, path: KeyPath) -> Finding:
    example = "8" if GPUS in flavor.names else f"{{{key_of(flavor, flavor.mains[0]) if flavor.mains else 'gpus'}: 8}}"
    return Finding(
        EMPTY_BUDGET,
        path,
        f"the budget of {unit.title} on {flavor.name} is empty",
        f"write an amount, such as `{flavor.name}: {example}`; remove the line for a quota of 0 that may borrow; write "
        f"`{flavor.name}: {{limit: {example.replace('8', '0')}}}` to keep the unit off the flavor",
        at_key=True,
    )


def _unknown_resource(unit: Node, flavor: Hardware, path: KeyPath, key: str) -> Finding:
    own = [name for name in flavor.names if name not in (CPU, MEMORY)] or [CPU, MEMORY]
    board = flavor.gpu
    if flavor.is_cpu:
        what = f"{flavor.name} is a CPU flavor without `{key}`"
    elif key == GPUS:
        what = f"all GPUs of {flavor.name} are divided, so it has no whole `{GPUS}`"
    elif board is not None and key in board.profiles:
        what = f"the MIG layout of {flavor.name} has no `{key}`"
    elif board is not None and any(key in other.profiles for other in CATALOGUE.values()):
        what = f"`{key}` is a MIG profile of another board than the {board.name} of {flavor.name}"
    else:
        what = f"{flavor.name} has no resource `{key}`"
    related = (("the layout", (*flavor.path, "mig")),) if any(layout.profiles for layout in flavor.layouts) else ()
    return Finding(
        UNKNOWN_RESOURCE,
        path,
        f"the budget of {unit.title}: {what}",
        f"{nearest(key, [*own, CPU, MEMORY])}{flavor.name} has {listed(own)}",
        related,
        at_key=True,
    )


def _bare(unit: Node, flavor: Hardware, path: KeyPath, value: object) -> Finding:
    if flavor.is_cpu:
        why, example = "is a CPU flavor", f"{{cpu: {value}, memory: …}}"
    else:
        own = [name for name in flavor.names if name not in (CPU, MEMORY)]
        why, example = f"is divided into {listed(own)}", f"{{{', '.join(f'{name}: …' for name in own)}}}"
    return Finding(
        AMOUNT_WITHOUT_RESOURCE,
        path,
        f"{unit.title} has the bare number {value} on {flavor.name}, which {why}",
        f"write what it counts: `{flavor.name}: {example}`",
        ((flavor.name, flavor.path),),
    )


def uncovered(org: Org) -> Iterator[Finding]:
    """A quota comes with cpu and memory."""
    readable = comparable(org)
    for unit in org.units:
        for name in unit.document.budget if unit.document is not None else ():
            flavor, entry = readable.get(name), unit.entries.get(name)
            if flavor is None or entry is None or entry.broken or not entry.written:
                continue
            owned = [resource for resource, amounts in entry.amounts.items() if amounts.quota > 0]
            missing = [resource for resource in (CPU, MEMORY) if resource not in owned]
            if owned and missing and flavor.nodes:
                yield _uncovered(unit, flavor, missing[0], owned)


def _uncovered(unit: Node, flavor: Hardware, missing: str, owned: list[str]) -> Finding:
    has = listed([key_of(flavor, resource) for resource in owned])
    if flavor.is_cpu:
        each = flavor.node
        other = MEMORY if missing == CPU else CPU
        help_text = f"add `{missing}`: a node has {_ratio(each, missing, other)}"
    elif set(owned) <= {CPU, MEMORY}:
        help_text = f"add `gpus`, from which cpu and memory follow, or `{missing}`"
    else:
        help_text = f"leave `{missing}` out: it then follows from the GPUs"
    return Finding(
        CPU_MEMORY_UNCOVERED,
        unit.entries[flavor.name].path,
        f"{unit.title} has a quota of {has} on {flavor.name}, but none of {missing}",
        help_text,
        at_key=True,
    )


def _ratio(node: Mapping[str, int], missing: str, other: str) -> str:
    gibibytes = max(1, round(node[MEMORY] / (1 << 30) / max(1, node[CPU] / 1000)))
    return f"{gibibytes}Gi for each cpu" if missing == MEMORY else f"one cpu for each {gibibytes}Gi"


RULES: Final = (
    UNKNOWN_FLAVOR,
    UNKNOWN_CLUSTER,
    FLAVOR_WITHOUT_CLUSTER,
    UNKNOWN_SERVICE,
    UNKNOWN_NAMESPACE,
    UNKNOWN_SERVICE_ACCOUNT,
    UNKNOWN_RESOURCE,
    AMOUNT_WITHOUT_RESOURCE,
    EMPTY_BUDGET,
    CPU_MEMORY_UNCOVERED,
)
CHECKS: Final[tuple[Check, ...]] = (flavors, clusters, services, accounts, resources, uncovered)
