"""Namespaces with their quotas of objects and defaults of containers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.backend.shared.work import Work
from tenancy.model.quantity import LARGEST, canonical
from tenancy.plan.values import ClusterPlan, Namespace

_STORAGE = ".storageclass.storage.k8s.io/requests.storage"
_MADE = {"count/controllerrevisions.apps": 5000, "count/replicasets.apps": 5000}
"""What controllers keep of each change of a Deployment and a StatefulSet: as many as its author writes into
`revisionHistoryLimit`, which Kubernetes does not bound."""
_CLAIMS_OF_POD = 4
"""A pod's GPUs and what goes with them, such as network cards. Kubernetes does not bound the claims of a pod."""


def namespace_object(plan: ClusterPlan, namespace: Namespace, annotations: Mapping[str, str]) -> Object:
    """The Namespace, with Pod Security pinned to the cluster's version: `latest` would change with an upgrade.

    Warnings come at the level that is enforced: only pods are refused, so a job's author learns of it by the warning.
    """
    version = f"v{plan.kubernetes}"
    security = {
        "pod-security.kubernetes.io/enforce": namespace.pod_security,
        "pod-security.kubernetes.io/enforce-version": version,
        "pod-security.kubernetes.io/audit": "restricted",
        "pod-security.kubernetes.io/audit-version": version,
        "pod-security.kubernetes.io/warn": namespace.pod_security,
        "pod-security.kubernetes.io/warn-version": version,
    }
    labels = dict(sorted({**namespace.own_labels, **namespace.labels, **security}.items()))
    return obj("v1", "Namespace", namespace.name, labels, annotations={**namespace.annotations, **annotations})


def limits(namespace: Namespace, work: Work, *, claims: bool = False) -> Iterator[Object]:
    """ResourceQuota of objects and storage, and LimitRange of default requests.

    The quota has no compute numbers: they would refuse the pods of a workload that the queue has admitted. The range
    has default requests only: default limits would refuse every container that asks for more and sets none. `claims`:
    whether tenants may create templates of claims. Storage has a number for each class and one for all together, which
    bounds classes that the organization does not know.
    """
    counts = {**_counts(work), **_MADE, **(_claims(namespace) if claims else {})}
    hard = {key: canonical(count, key) for key, count in {**counts, **namespace.objects}.items()}
    hard |= {name + _STORAGE: canonical(count, "memory") for name, count in namespace.storage.items()}
    if namespace.storage:
        hard["requests.storage"] = canonical(min(sum(namespace.storage.values()), LARGEST), "memory")
    requests = {name: canonical(count, name) for name, count in namespace.container.items()}
    yield obj(
        "v1",
        "ResourceQuota",
        "tenancy",
        namespace.labels,
        namespace=namespace.name,
        spec={"hard": dict(sorted(hard.items()))},
    )
    yield obj(
        "v1",
        "LimitRange",
        "tenancy",
        namespace.labels,
        namespace=namespace.name,
        spec={"limits": [{"type": "Container", "defaultRequest": requests}]},
    )


def _claims(namespace: Namespace) -> dict[str, int]:
    """Templates that tenants write, and claims that a controller makes of them for pods: enough for all that fit."""
    return {
        "count/resourceclaims.resource.k8s.io": _CLAIMS_OF_POD * namespace.objects["pods"],
        "count/resourceclaimtemplates.resource.k8s.io": 1000,
    }


def _counts(work: Work) -> dict[str, int]:
    """Bounds of every kind that the roles let tenants create and that plan does not count.

    Without one each would let one tenant fill the API server's store. A count of a kind that the cluster does not have
    yet changes nothing (run, 1.36).
    """
    return {
        "count/serviceaccounts": 100,
        **{
            f"count/{resource}.{framework.group}": 1000
            for framework in work.frameworks
            for resource in framework.resources
            if framework.group and "/" not in resource
        },
    }
