"""The kinds that an Application may hold: all that the compiler can write there, and those of users' templates.

Not only what it holds now: Argo CD leaves live objects out of its comparison whose kind or namespace the project does
not allow (controller/state.go of 3.2.11), so the last object of a kind would stay in the cluster for ever, seen by
nobody, once the kind has left the project with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class Kind(NamedTuple):
    """A kind of an API group."""

    group: str
    kind: str


class Kinds(NamedTuple):
    """Kinds without a namespace, and kinds inside one."""

    cluster: frozenset[Kind]
    namespaced: frozenset[Kind]


_ADMISSION: Final = "admissionregistration.k8s.io"
_FAIRNESS: Final = "flowcontrol.apiserver.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_KUEUE: Final = "kueue.x-k8s.io"
_MONITORING: Final = "monitoring.coreos.com"

_WHOLE: Final = (
    Kind(_ADMISSION, "MutatingAdmissionPolicy"),
    Kind(_ADMISSION, "MutatingAdmissionPolicyBinding"),
    Kind(_ADMISSION, "ValidatingAdmissionPolicy"),
    Kind(_ADMISSION, "ValidatingAdmissionPolicyBinding"),
    Kind(_FAIRNESS, "FlowSchema"),
    Kind(_FAIRNESS, "PriorityLevelConfiguration"),
    Kind("karpenter.sh", "NodePool"),
    Kind("nfd.k8s-sigs.io", "NodeFeatureRule"),
    Kind(_RBAC, "ClusterRole"),
    Kind(_RBAC, "ClusterRoleBinding"),
)
_CLAIMS: Final = (Kind("resource.k8s.io", "DeviceClass"),)
"""Of GPUs, which Volcano does not count."""
_PRIORITIES: Final = (Kind("scheduling.k8s.io", "PriorityClass"),)
_INSIDE: Final = (
    Kind("", "LimitRange"),
    Kind("", "ResourceQuota"),
    Kind("", "ServiceAccount"),
    Kind("networking.k8s.io", "NetworkPolicy"),
    Kind(_RBAC, "RoleBinding"),
)
_OF_KUEUE: Final = (
    "AdmissionCheck",
    "Cohort",
    "ProvisioningRequestConfig",
    "ResourceFlavor",
    "Topology",
    "WorkloadPriorityClass",
)

WHOLE: Final[Mapping[str, Kinds]] = {
    scheduler: Kinds(frozenset((*_WHOLE, *own)), frozenset({Kind("", "ConfigMap")}))
    for scheduler, own in {
        "kueue": (*_CLAIMS, *(Kind(_KUEUE, kind) for kind in _OF_KUEUE)),
        "volcano": (*_PRIORITIES, Kind("scheduling.volcano.sh", "Queue"), Kind("topology.volcano.sh", "HyperNode")),
        "native": (*_CLAIMS, *_PRIORITIES),
    }.items()
}
"""By scheduler: what belongs to the cluster as a whole."""

MONITORING: Final = Kinds(
    frozenset(),
    frozenset(
        {
            Kind("", "ConfigMap"),
            Kind(_MONITORING, "PrometheusRule"),
            Kind(_MONITORING, "ServiceMonitor"),
        }
    ),
)
"""What is measured, under every scheduler."""

DEPARTMENT: Final[Mapping[str, Kinds]] = {
    "kueue": Kinds(
        frozenset({Kind("", "Namespace"), Kind(_KUEUE, "ClusterQueue"), Kind(_KUEUE, "Cohort")}),
        frozenset({*_INSIDE, Kind(_KUEUE, "LocalQueue")}),
    ),
    "volcano": Kinds(frozenset({Kind("", "Namespace")}), frozenset(_INSIDE)),
    "native": Kinds(frozenset({Kind("", "Namespace")}), frozenset(_INSIDE)),
}
"""By scheduler: what belongs to a department."""

GOVERNING: Final = (
    Kind("", "LimitRange"),
    Kind("", "ResourceQuota"),
    Kind(_KUEUE, "LocalQueue"),
    Kind("networking.k8s.io", "NetworkPolicy"),
    Kind(_RBAC, "Role"),
    Kind(_RBAC, "RoleBinding"),
    *(Kind(_MONITORING, kind) for kind in ("PodMonitor", "Probe", "PrometheusRule", "ScrapeConfig", "ServiceMonitor")),
)
"""What governs a namespace from inside: no application of its team may write it. What tells Prometheus to record or to
scrape governs all others too: series by the names of ours stop every rule that joins on these, and a ServiceMonitor
sends the token of Prometheus wherever it says. Members have no right to these kinds (`tenancy.backend.shared.rbac`)."""


def kind_of(obj: Mapping[str, Any]) -> Kind:
    """The kind of an object."""
    group, slash, _ = obj["apiVersion"].partition("/")
    return Kind(group if slash else "", obj["kind"])
