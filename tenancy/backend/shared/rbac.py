"""Who may do what: one ClusterRole per access level, bound in each namespace; platform staff bound once.

Least privilege (Kubernetes' RBAC good practices): no level may write queues, workloads, quotas, limits, network
policies, roles or bindings, and none has a wildcard. Who may read and change a scheduler's own kinds is in its `Work`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared import keda
from tenancy.backend.shared.metadata import obj
from tenancy.backend.shared.work import READ, WRITE, Rule, Work
from tenancy.model.access import parse_subject
from tenancy.plan.values import ClusterPlan, Namespace

API: Final = "rbac.authorization.k8s.io/v1"
GROUP: Final = "rbac.authorization.k8s.io"
_RESOURCE: Final = "resource.k8s.io"


def role_name(level: str) -> str:
    """The ClusterRole of an access level; bindings carry the same name, since a binding cannot change its role."""
    return f"tenancy-{level}"


def roles(plan: ClusterPlan, work: Work) -> Iterator[Object]:
    """The ClusterRoles of the access levels and of platform staff, with the bindings of the latter."""
    for level, rules in _RULES.items():
        claims = _claims(level) if plan.device_classes else []
        scaled = _own(keda.PLATFORM) if keda.used(plan) and level.startswith("platform") else []
        yield obj(API, "ClusterRole", role_name(level), plan.labels, rules=[*rules(work), *claims, *scaled])
    for level, found in keda.LEVELS.items() if keda.used(plan) else ():
        yield obj(API, "ClusterRole", role_name(f"keda-{level}"), plan.labels, rules=_own(found))
    for level, subjects in (("platform-admin", plan.admins), ("platform-auditor", plan.auditors)):
        if subjects:
            yield _binding("ClusterRoleBinding", level, plan.labels, [_subject(text) for text in subjects])


def bindings(namespace: Namespace) -> Iterator[Object]:
    """The RoleBindings of a namespace: its service accounts have the rights of members."""
    accounts: dict[str, list[dict[str, str]]] = {
        "member": [
            {"kind": "ServiceAccount", "name": account, "namespace": namespace.name}
            for account in namespace.service_accounts
        ]
    }
    granted = {grant.level: [_subject(text) for text in grant.subjects] for grant in namespace.grants}
    for level in ("admin", "member", "viewer"):
        subjects = [*granted.get(level, []), *accounts.get(level, [])]
        for name in (level, f"keda-{level}") if namespace.keda else (level,):
            if subjects:
                yield _binding("RoleBinding", name, namespace.labels, subjects, namespace=namespace.name)


def service_accounts(namespace: Namespace) -> Iterator[Object]:
    """The declared accounts, and `default` without a token: training has no business with the API server."""
    for account in ("default", *namespace.service_accounts):
        yield obj(
            "v1",
            "ServiceAccount",
            account,
            namespace.labels,
            namespace=namespace.name,
            automountServiceAccountToken=account != "default",
        )


def _binding(
    kind: str, level: str, labels: Mapping[str, str], subjects: list[dict[str, str]], *, namespace: str | None = None
) -> Object:
    role = {"apiGroup": GROUP, "kind": "ClusterRole", "name": role_name(level)}
    return obj(API, kind, role_name(level), labels, namespace=namespace, roleRef=role, subjects=subjects)


def _subject(text: str) -> dict[str, str]:
    subject = parse_subject(text)
    if subject is None:
        raise ValueError(f"unchecked subject {text!r}")
    if subject.kind == "serviceaccount":
        return {"kind": "ServiceAccount", "name": subject.name, "namespace": subject.namespace}
    return {"apiGroup": GROUP, "kind": subject.kind.capitalize(), "name": subject.name}


def _rule(groups: Iterable[str], resources: Iterable[str], verbs: Iterable[str]) -> dict[str, Any]:
    return {"apiGroups": list(groups), "resources": sorted(resources), "verbs": list(verbs)}


def _own(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    return [_rule([rule.group], rule.resources, rule.verbs) for rule in rules]


def _work(work: Work, verbs: Iterable[str]) -> list[dict[str, Any]]:
    """A rule for each API group of the frameworks."""
    groups: dict[str, set[str]] = {"batch": {"cronjobs"}}
    for framework in work.frameworks:
        groups.setdefault(framework.group, set()).update(framework.resources)
    return [_rule([group], resources, verbs) for group, resources in sorted(groups.items())]


def _viewer(work: Work) -> list[dict[str, Any]]:
    return [*_work(work, READ), *_seen(work)]


def _seen(work: Work) -> list[dict[str, Any]]:
    return [
        _rule([""], _CORE_READ, READ),
        _rule(["events.k8s.io"], ["events"], READ),
        _rule(["networking.k8s.io"], ["networkpolicies"], READ),
        *_own(work.viewer),
    ]


_CORE_READ = [
    "configmaps",
    "events",
    "limitranges",
    "persistentvolumeclaims",
    "pods/log",
    "resourcequotas",
    "serviceaccounts",
    "services",
]


def _member(work: Work) -> list[dict[str, Any]]:
    return [
        *_work(work, WRITE),
        _rule([""], ["configmaps", "persistentvolumeclaims", "services"], WRITE),
        _rule([""], ["pods/attach", "pods/exec", "pods/portforward"], ["create", "get"]),
        *_seen(work),
    ]


def _admin(work: Work) -> list[dict[str, Any]]:
    return [
        *_member(work),
        _rule([""], ["secrets", "serviceaccounts"], WRITE),
        _rule([""], ["serviceaccounts/token"], ["create"]),
    ]


def _claims(level: str) -> list[dict[str, Any]]:
    """Rights to claims of GPUs, where a flavor is allocated so: jobs name a template, and pods get claims of it.

    A claim of one's own is for nobody: Kueue does not count those that pods share. A role that is bound in a namespace
    cannot show DeviceClasses, which belong to none.
    """
    if level.startswith("platform"):
        seen = _rule([_RESOURCE], ["deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"], READ)
        return [seen, _rule([_RESOURCE], ["deviceclasses"], WRITE)] if level == "platform-admin" else [seen]
    templates = _rule([_RESOURCE], ["resourceclaimtemplates"], READ if level == "viewer" else WRITE)
    return [_rule([_RESOURCE], ["resourceclaims"], READ), templates]


def _platform_admin(work: Work) -> list[dict[str, Any]]:
    return [
        *_auditor(work),
        *_own(work.platform_admin),
        _rule([""], ["limitranges", "namespaces", "resourcequotas"], WRITE),
        _rule(["networking.k8s.io"], ["networkpolicies"], WRITE),
        _rule(["admissionregistration.k8s.io"], _POLICIES, WRITE),
        _rule(["flowcontrol.apiserver.k8s.io"], _FAIRNESS, WRITE),
        _rule(["monitoring.coreos.com"], _MONITORING, WRITE),
        *_node_rules(WRITE),
    ]


def _auditor(work: Work) -> list[dict[str, Any]]:
    return [
        *_work(work, READ),
        _rule([""], [*_CORE_READ, "namespaces", "nodes", "persistentvolumes"], READ),
        _rule(["events.k8s.io"], ["events"], READ),
        _rule(["networking.k8s.io"], ["networkpolicies"], READ),
        _rule([GROUP], ["clusterrolebindings", "clusterroles", "rolebindings", "roles"], READ),
        _rule(["admissionregistration.k8s.io"], [*_POLICIES, *_WEBHOOKS], READ),
        _rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], READ),
        _rule(["flowcontrol.apiserver.k8s.io"], _FAIRNESS, READ),
        _rule(["monitoring.coreos.com"], _MONITORING, READ),
        _rule(["scheduling.k8s.io"], ["priorityclasses"], READ),
        _rule(["storage.k8s.io"], ["storageclasses"], READ),
        *_node_rules(READ),
        *_own(work.auditor),
    ]


def _node_rules(verbs: Iterable[str]) -> list[dict[str, Any]]:
    return [
        _rule(["karpenter.sh"], ["nodepools"], verbs),
        _rule(["nfd.k8s-sigs.io"], ["nodefeaturerules"], verbs),
    ]


_POLICIES = [
    "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
    "validatingadmissionpolicies", "validatingadmissionpolicybindings",
]  # fmt: skip
_FAIRNESS = ["flowschemas", "prioritylevelconfigurations"]
_MONITORING = ["prometheusrules", "servicemonitors"]
_WEBHOOKS = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]

_RULES = {
    "admin": _admin,
    "member": _member,
    "viewer": _viewer,
    "platform-admin": _platform_admin,
    "platform-auditor": _auditor,
}
