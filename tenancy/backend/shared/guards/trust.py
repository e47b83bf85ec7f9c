"""Who is a controller: whoever may write the status of what it works for. No level of access has such a right.

What a controller makes has an owner, and the schedulers take it for counted with its owner. Anybody may write such an
owner into a pod of their own: the API server only looks whether it may be blocked from being deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tenancy.backend.shared import keda
from tenancy.backend.shared.cel import text, texts
from tenancy.model.gitops import NAMESPACES
from tenancy.plan.values import ClusterPlan

CONTROLLERS: Final = ("system:serviceaccounts:kube-system", "system:kube-controller-manager")
"""Kubernetes' own, by group or by user."""

ENGINES: Final = {
    "argocd": ("argocd-application-controller",),
    "flux": ("kustomize-controller", "helm-controller"),
}
"""The accounts of GitOps engines, which may do everything: they speak for whoever writes into a repository."""

REMOTE: Final = "system:serviceaccount:kube-system:argocd-manager"
"""The account that `argocd cluster add` makes in a cluster that Argo CD reaches from outside."""

KEDA: Final = "keda-operator"
"""The account of KEDA's operator, which makes Jobs as teams write them; some clouds run it in `kube-system`."""


def speakers(plan: ClusterPlan) -> str:
    """CEL for the accounts that may do much and speak for others: engines where they usually are, and where ours is."""
    places = {*NAMESPACES.items(), *([(plan.gitops.engine, plan.gitops.namespace)] if plan.gitops else [])}
    engines = [f"system:serviceaccount:{place}:{name}" for engine, place in sorted(places) for name in ENGINES[engine]]
    operator = f"system:serviceaccount:{plan.network.keda.namespace}:{KEDA}"
    return texts([*engines, REMOTE, *([operator] if keda.used(plan) else [])])


def controllers(plan: ClusterPlan, kinds: Iterable[str], *own: tuple[str, str]) -> dict[str, str]:
    """The variable `controller`: whether the request is of Kubernetes' own controllers, of whoever may write the status
    of one of `own` (API groups with resources), or of the controller of the object's owner.

    `kinds` are those of owners that count, as `Kind.group`: the variable `owners` has, of the new object and of the old
    one, the owners among them.
    """
    may = [_status(text(group), text(resource)) for group, resource in own]
    return {
        "owners": f"variables.revisions.map(it, {_owners(kinds)})",
        "kubernetes": f"(request.userInfo.?groups.orValue([]) + [request.userInfo.username]).exists(it, "
        f"it in {texts(CONTROLLERS)})",
        "owns": "variables.owners.exists(each, each.exists(it,\n  "
        + _status(_GROUP_OF_OWNER, 'it.kind.lowerAscii() + "s"')
        + "))",
        "controller": f"!(request.userInfo.username in {speakers(plan)}) &&\n  "
        f"({' || '.join(['variables.kubernetes', *may, 'variables.owns'])})",
    }


def _owners(kinds: Iterable[str]) -> str:
    """CEL for the owners that are controllers and of one of these kinds; at most one, as the API server sees to."""
    return (
        "it.metadata.?ownerReferences.orValue([]).filter(it, it.?controller.orValue(false) &&\n"
        f'  it.kind + "." + ({_GROUP_OF_OWNER}) in {texts(sorted(set(kinds)))})'
    )


def _status(group: str, resource: str) -> str:
    return (
        f'authorizer.group({group}).resource({resource}).subresource("status")\n'
        '    .namespace(request.namespace).check("update").allowed()'
    )


_GROUP_OF_OWNER: Final = 'it.apiVersion.contains("/") ? it.apiVersion.split("/")[0] : ""'
