"""KEDA, where a team may use it: rights to its kinds, and what a namespace says to the guard of scaling.

KEDA itself is not ours: its operator scales the work of all teams, with rights of its own. Read in v2.21.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tenancy.backend.shared.work import READ, WRITE, Rule
from tenancy.plan.values import ClusterPlan, Namespace

KEDA: Final = "keda.sh"
AUTHENTICATION: Final = "triggerauthentications"
CLUSTER_AUTHENTICATION: Final = "clustertriggerauthentications"
MOST_PODS: Final = "max-replicas"
"""The annotation of a namespace with what its work can ever be at once; its whole key begins with the domain."""

_SCALED: Final = ("scaledjobs", "scaledobjects")
_MADE: Final = Rule("autoscaling", ("horizontalpodautoscalers",), READ)
"""What KEDA makes of a ScaledObject. Nobody of a team writes one: no policy bounds it."""
_READS: Final = (_MADE, Rule(KEDA, (*_SCALED, AUTHENTICATION), READ))

LEVELS: Final[Mapping[str, tuple[Rule, ...]]] = {
    "admin": (_MADE, Rule(KEDA, (*_SCALED, AUTHENTICATION), WRITE)),
    "member": (_MADE, Rule(KEDA, _SCALED, WRITE), Rule(KEDA, (AUTHENTICATION,), READ)),
    "viewer": _READS,
}
"""Rights in the namespaces of such a team, beside those of the level. A TriggerAuthentication names secrets that KEDA
sends to where a trigger says, so it is for those who keep the secrets."""
PLATFORM: Final = (_MADE, Rule(KEDA, (*_SCALED, AUTHENTICATION, CLUSTER_AUTHENTICATION), READ))
"""Rights of auditors and platform admins in the whole cluster."""


def used(plan: ClusterPlan) -> bool:
    """Whether some team of the cluster uses KEDA."""
    return any(namespace.keda for namespace in plan.namespaces)


def marks(plan: ClusterPlan, namespace: Namespace) -> dict[str, str]:
    """The annotation of a namespace whose members use KEDA."""
    return {f"{plan.domain}/{MOST_PODS}": str(namespace.most_pods)} if namespace.keda else {}
