"""Who may do what where: what each level of access means, said apart from the roles that a cluster gets.

The roles are written by the backend, from the verbs and resources of the API; this is what they must come to. The
tests ask a real API server whether both are the same, and a comparison of two plans shows who gains or loses what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tenancy.model.access import parse_subject
from tenancy.plan.values import ClusterPlan, Namespace

READ: Final = frozenset({"get", "list", "watch"})
WRITE: Final = READ | {"create", "delete", "deletecollection", "patch", "update"}
CONNECT: Final = frozenset({"create", "get"})
"""Clients open a connection to a pod with either verb, depending on the protocol."""

_PLAIN: Final = (
    *("pods", "jobs.batch", "cronjobs.batch"),
    *("deployments.apps", "deployments.apps/scale", "statefulsets.apps"),
)
_STATEFUL_SCALE: Final = "statefulsets.apps/scale"
_OPERATED: Final = (
    *("jobsets.jobset.x-k8s.io", "leaderworkersets.leaderworkerset.x-k8s.io", "trainjobs.trainer.kubeflow.org"),
    *("jaxjobs.kubeflow.org", "mpijobs.kubeflow.org", "paddlejobs.kubeflow.org", "pytorchjobs.kubeflow.org"),
    *("tfjobs.kubeflow.org", "xgboostjobs.kubeflow.org"),
    *("rayclusters.ray.io", "rayjobs.ray.io", "rayservices.ray.io"),
)
_INSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "terminals": ("pods/attach", "pods/exec", "pods/portforward"),
    "logs": ("pods/log", "events", "events.events.k8s.io"),
    "data": ("configmaps", "persistentvolumeclaims", "services"),
    "secrets": ("secrets",),
    "accounts": ("serviceaccounts",),
    "tokens": ("serviceaccounts/token",),
    "limits": ("limitranges", "resourcequotas"),
    "isolation": ("networkpolicies.networking.k8s.io",),
}
"""What every namespace has beside its work."""
_AROUND: Final[Mapping[str, tuple[str, ...]]] = {
    "policies": tuple(
        f"{name}.admissionregistration.k8s.io"
        for name in (
            *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
            *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
        )
    ),
    "webhooks": tuple(
        f"{name}webhookconfigurations.admissionregistration.k8s.io" for name in ("mutating", "validating")
    ),
    "roles": tuple(
        f"{name}.rbac.authorization.k8s.io" for name in ("clusterrolebindings", "clusterroles", "rolebindings", "roles")
    ),
    "namespaces": ("namespaces",),
    "fairness": (
        *("flowschemas.flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"),
    ),
    "monitoring": tuple(f"{name}.monitoring.coreos.com" for name in ("prometheusrules", "servicemonitors")),
    "node rules": ("nodefeaturerules.nfd.k8s-sigs.io", "nodepools.karpenter.sh"),
    "cluster": (
        *("nodes", "persistentvolumes", "storageclasses.storage.k8s.io"),
        "customresourcedefinitions.apiextensions.k8s.io",
    ),
}
"""What is around the namespaces of every cluster."""
_PRIORITIES: Final = "priorityclasses.scheduling.k8s.io"
"""Where pods are what is scheduled, their classes decide who goes first, so they are among the quotas."""

CONCERNS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "kueue": {
        "work": (*_PLAIN, *_OPERATED, "appwrappers.workload.codeflare.dev"),
        **_INSIDE,
        "queue": ("localqueues.kueue.x-k8s.io", "workloads.kueue.x-k8s.io"),
        "pending": ("localqueues.visibility.kueue.x-k8s.io/pendingworkloads",),
        "quotas": tuple(
            f"{name}.kueue.x-k8s.io"
            for name in (
                *("admissionchecks", "clusterqueues", "cohorts", "provisioningrequestconfigs", "resourceflavors"),
                "topologies",
                "workloadpriorityclasses",
            )
        ),
        "all pending": ("clusterqueues.visibility.kueue.x-k8s.io/pendingworkloads",),
        **_AROUND,
        "cluster": (*_AROUND["cluster"], _PRIORITIES),
    },
    "volcano": {
        "work": (
            *(*_PLAIN, _STATEFUL_SCALE, *_OPERATED, "jobs.batch.volcano.sh", "cronjobs.batch.volcano.sh"),
            *("jobflows.flow.volcano.sh", "jobtemplates.flow.volcano.sh"),
        ),
        **_INSIDE,
        "queue": ("podgroups.scheduling.volcano.sh",),
        "quotas": (
            *("queues.scheduling.volcano.sh", "commands.bus.volcano.sh", "hypernodes.topology.volcano.sh"),
            _PRIORITIES,
        ),
        **_AROUND,
    },
    "native": {"work": (*_PLAIN, _STATEFUL_SCALE), **_INSIDE, "quotas": (_PRIORITIES,), **_AROUND},
}
"""By the scheduler of a cluster, kinds by what they are about: `resource[.group][/subresource]`. Those that a cluster
does not serve do no harm."""


class Right(NamedTuple):
    """What a level may do, beyond the level that it contains."""

    level: str
    verbs: frozenset[str]
    concerns: tuple[str, ...]


_GOVERNING: Final = ("limits", "isolation", "queue")
"""What governs a namespace from inside it. Its people read it; only platform staff changes it."""

RIGHTS: Final = (
    Right("viewer", READ, ("work", "logs", "data", "accounts", *_GOVERNING)),
    Right("viewer", frozenset({"get"}), ("pending",)),
    Right("member", WRITE, ("work", "data")),
    Right("member", CONNECT, ("terminals",)),
    Right("admin", WRITE, ("secrets", "accounts")),
    Right("admin", frozenset({"create"}), ("tokens",)),
    Right("auditor", READ, ("work", "logs", "data", "accounts", *_GOVERNING)),
    Right("auditor", READ, ("quotas", "policies", "webhooks", "roles", "namespaces", "fairness")),
    Right("auditor", READ, ("monitoring", "node rules", "cluster")),
    Right("auditor", frozenset({"get"}), ("pending", "all pending")),
    Right("platform admin", WRITE, (*_GOVERNING, "quotas", "policies", "namespaces", "fairness")),
    Right("platform admin", WRITE, ("monitoring", "node rules")),
)
KEDA: Final[Mapping[str, tuple[str, ...]]] = {
    "scaling": ("scaledjobs.keda.sh", "scaledobjects.keda.sh"),
    "authentications": ("triggerauthentications.keda.sh",),
    "autoscalers": ("horizontalpodautoscalers.autoscaling",),
    "all authentications": ("clustertriggerauthentications.keda.sh",),
}
"""What is there beside it where a team uses KEDA."""
KEDA_RIGHTS: Final = (
    Right("viewer", READ, ("scaling", "authentications", "autoscalers")),
    Right("member", WRITE, ("scaling",)),
    Right("admin", WRITE, ("authentications",)),
    Right("auditor", READ, tuple(KEDA)),
)
CONTAINS: Final[Mapping[str, str]] = {"member": "viewer", "admin": "member", "platform admin": "auditor"}
"""A level has all rights of the one that it contains."""
PLATFORM: Final = ("auditor", "platform admin")
"""The levels that hold in the whole cluster; the others hold in the namespaces of the unit that grants them."""


def allowed(level: str, scheduler: str, *, keda: bool = False) -> frozenset[tuple[str, str]]:
    """Every verb and kind of a level, those of the levels that it contains included; with `keda` where it is used."""
    return _ALLOWED[scheduler][level] | (_SCALED[level] if keda else frozenset())


def scaled(plan: ClusterPlan, level: str, namespace: str = "") -> bool:
    """Whether a level has rights to KEDA's kinds in a namespace; platform staff has them in all, if anybody does."""
    return any(each.keda for each in plan.namespaces if level in PLATFORM or each.name == namespace)


def levels(plan: ClusterPlan, subject: str, namespace: str = "") -> frozenset[str]:
    """The levels of a subject, written as in the language, in a namespace; without one, outside of all namespaces.

    Somebody who is several subjects, such as a user with groups, has the levels of each of them.
    """
    found = {
        level for level, subjects in zip(PLATFORM, (plan.auditors, plan.admins), strict=True) if subject in subjects
    }
    for space in plan.namespaces:
        if space.name == namespace:
            found.update(_granted(space, subject))
    return frozenset(found)


def may(plan: ClusterPlan, subject: str, verb: str, kind: str, namespace: str = "") -> bool:
    """Whether the organization means a subject to use `verb` on `kind` (as in CONCERNS) in a namespace.

    Without a namespace it is about a kind outside of namespaces, or about all namespaces at once.
    """
    return any(
        (verb, kind) in allowed(level, plan.cluster.scheduler, keda=scaled(plan, level, namespace))
        for level in levels(plan, subject, namespace)
    )


def _granted(namespace: Namespace, subject: str) -> Iterator[str]:
    yield from (grant.level for grant in namespace.grants if subject in grant.subjects)
    account = parse_subject(subject)
    if account is not None and account.namespace == namespace.name and account.name in namespace.service_accounts:
        yield "member"


def _rights(
    level: str, concerns: Mapping[str, tuple[str, ...]], rights: Sequence[Right] = RIGHTS
) -> Iterator[tuple[str, str]]:
    if level in CONTAINS:
        yield from _rights(CONTAINS[level], concerns, rights)
    for right in rights:
        if right.level == level:
            yield from (
                (verb, kind) for concern in right.concerns for kind in concerns.get(concern, ()) for verb in right.verbs
            )


_ALLOWED: Final = {
    scheduler: {level: frozenset(_rights(level, concerns)) for level in {right.level for right in RIGHTS}}
    for scheduler, concerns in CONCERNS.items()
}
_SCALED: Final = {level: frozenset(_rights(level, KEDA, KEDA_RIGHTS)) for level in {right.level for right in RIGHTS}}
