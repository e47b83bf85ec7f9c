"""API Priority and Fairness: each top-level department has a level of its own, so that one flood drowns no other.

Only people and accounts of the departments are in these levels. Nodes, controllers, schedulers, GitOps engines and
platform staff stay where the server itself puts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.shared.metadata import obj
from tenancy.check.namespaces import RESERVED
from tenancy.model.access import Subject, parse_subject
from tenancy.plan.values import ClusterPlan, Namespace

API: Final = "flowcontrol.apiserver.k8s.io/v1"

STAFF: Final = 1000
PEOPLE: Final = 2000
VIEWERS: Final = 3000
"""Precedences; the lowest number that matches decides. Behind those of Kubernetes' own components (up to 900), before
its `service-accounts` (9000). Of equal ones the name decides, so a new department moves no other. Who works in one
department and looks into another counts to the first."""

QUEUES: Final = 64
HAND: Final = 6
QUEUE_LENGTH: Final = 50
"""As the server's own level `system` has them. Of 64 queues each user's requests may wait in 6, so one who floods fills
these and is refused (429) from 300 waiting requests on; that another user has the same six is one in 75 million. A
larger hand would undercount large LISTs, which take up to 15 % of a level's seats or one in `HAND`, the smaller of both
(k8s.io/apiserver 0.36, apf_controller.go). More or longer queues only keep more of a flood in the server's memory."""

LENT: Final = 50
"""Percent of its seats that an idle level lends, as the server's `workload-high` and `global-default` do. Seats are
moved every ten seconds (KEP-1040, borrowingAdjustmentPeriod): the other half is there for the first request of whoever
comes back, however hard others flood."""

MOST: Final = 1000
"""Subjects of one FlowSchema: at 1 KiB each, far longer than names are, it stays below the 1.5 MiB that etcd takes."""

_ALL: Final[Mapping[str, Any]] = {
    "resourceRules": [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}
"""A client chooses what it asks for, and is counted before anybody asks whether it may: no request is left out."""


def manifests(plan: ClusterPlan) -> Iterator[Manifest]:
    """The file with the levels, where departments have any."""
    if plan.api_shares:
        yield Manifest("platform/api-fairness.yaml", tuple(_objects(plan)))


def _objects(plan: ClusterPlan) -> Iterator[Object]:
    # Staff may be in a department's group as well, and an admin who ends a flood must not wait in it.
    yield from _schemas(plan, "tenancy.staff", "global-default", STAFF, _staff(plan))
    found: dict[str, list[Namespace]] = {department: [] for department in plan.api_shares}
    for namespace in plan.namespaces:
        found[plan.departments[namespace.folder]].append(namespace)
    never = _never(plan)
    for department, namespaces in found.items():
        name = f"tenancy-{department}"
        yield _level(plan, name, plan.api_shares[department])
        people = _granted(namespaces, ("admin", "member")) - never
        viewers = _granted(namespaces, ("viewer",)) - never - people
        yield from _schemas(plan, name, name, PEOPLE, [*_accounts(namespaces), *sorted(people)])
        yield from _schemas(plan, f"{name}.viewers", name, VIEWERS, sorted(viewers))


def _level(plan: ClusterPlan, name: str, shares: int) -> Object:
    """Beyond its own seats a level may use those that are idle, up to as many as all departments have together."""
    every = sum(plan.api_shares.values())
    return obj(
        API,
        "PriorityLevelConfiguration",
        name,
        plan.labels,
        spec={
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": shares,
                "lendablePercent": LENT,
                "borrowingLimitPercent": (every - shares) * 100 // shares,
                "limitResponse": {
                    "type": "Queue",
                    "queuing": {"queues": QUEUES, "handSize": HAND, "queueLengthLimit": QUEUE_LENGTH},
                },
            },
        },
    )


def _schemas(
    plan: ClusterPlan, name: str, level: str, precedence: int, subjects: Iterable[Subject]
) -> Iterator[Object]:
    """Which requests are of a level. By user: whoever asks chooses the namespace of a request, and not who they are."""
    every = [_subject(subject) for subject in subjects]
    for start in range(0, len(every), MOST):
        yield obj(
            API,
            "FlowSchema",
            f"{name}.{start // MOST + 1}" if start else name,
            plan.labels,
            spec={
                "priorityLevelConfiguration": {"name": level},
                "matchingPrecedence": precedence,
                "distinguisherMethod": {"type": "ByUser"},
                "rules": [{"subjects": every[start : start + MOST], **_ALL}],
            },
        )


def _staff(plan: ClusterPlan) -> list[Subject]:
    """Platform staff who are people: accounts are in no group that a department can name."""
    return sorted(subject for subject in _parsed({*plan.admins, *plan.auditors}) if not subject.namespace)


def _never(plan: ClusterPlan) -> set[Subject]:
    """Whom no grant brings to a level: platform staff, accounts of what runs the cluster whatever a department grants
    them, and those that have a level by the namespace they are in."""
    everybody = {subject for space in plan.namespaces for grant in space.grants for subject in grant.subjects}
    settled = {*RESERVED, "kube-system", plan.cluster.gpu_operator.namespace, *(each.name for each in plan.namespaces)}
    settled |= {plan.gitops.namespace} if plan.gitops is not None else set()
    accounts = {subject for subject in _parsed(everybody) if subject.namespace in settled}
    return accounts | _parsed({*plan.admins, *plan.auditors})


def _granted(namespaces: Iterable[Namespace], levels: tuple[str, ...]) -> set[Subject]:
    grants = (grant for namespace in namespaces for grant in namespace.grants if grant.level in levels)
    return _parsed({subject for grant in grants for subject in grant.subjects})


def _accounts(namespaces: Iterable[Namespace]) -> list[Subject]:
    """All accounts of the namespaces, those that their admins make as well."""
    return sorted(Subject("serviceaccount", "*", namespace.name) for namespace in namespaces)


def _parsed(texts: Iterable[str]) -> set[Subject]:
    return {subject for text in texts if (subject := parse_subject(text)) is not None}


def _subject(subject: Subject) -> dict[str, Any]:
    kind, name, namespace = subject
    if kind == "serviceaccount":
        return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}
    return {"kind": kind.capitalize(), kind: {"name": name}}
