"""Objects that every backend needs: platform roles, and a namespace with all that belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby

from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.shared import keda
from tenancy.backend.shared.guards.marks import guard_marks
from tenancy.backend.shared.namespaces import limits, namespace_object
from tenancy.backend.shared.network import policies
from tenancy.backend.shared.rbac import bindings, roles, service_accounts
from tenancy.backend.shared.work import Work
from tenancy.plan.values import ClusterPlan, Namespace


def platform(plan: ClusterPlan, work: Work) -> Iterator[Object]:
    """Objects of the cluster as a whole."""
    yield from roles(plan, work)


def tenants(plan: ClusterPlan, objects: Callable[[Namespace], Iterable[Object]]) -> Iterator[Manifest]:
    """A file for each team, with what `objects` gives for each of its namespaces."""
    for (folder, team), found in groupby(plan.namespaces, key=lambda namespace: (namespace.folder, namespace.file)):
        every = tuple(obj for namespace in found for obj in objects(namespace))
        yield Manifest(f"tenants/{folder}/{team}.yaml", every)


def tenant(
    plan: ClusterPlan, namespace: Namespace, work: Work, annotations: Mapping[str, str] | None = None
) -> Iterator[Object]:
    """A namespace and the objects in it, without what is a scheduler's but for `annotations` of the namespace."""
    marks = {**guard_marks(plan, namespace), **keda.marks(plan, namespace), **(annotations or {})}
    yield namespace_object(plan, namespace, marks)
    yield from limits(namespace, work, claims=bool(plan.device_classes))
    yield from service_accounts(namespace)
    yield from bindings(namespace)
    yield from policies(plan, namespace)
