"""Objects that every backend needs: platform roles, and a namespace with all that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Object
from tenancy.backend.shared.namespaces import limits, namespace_object
from tenancy.backend.shared.network import policies
from tenancy.backend.shared.rbac import bindings, roles, service_accounts
from tenancy.plan.values import ClusterPlan, Namespace


def platform(plan: ClusterPlan) -> Iterator[Object]:
    """Objects of the cluster as a whole."""
    yield from roles(plan)


def tenant(plan: ClusterPlan, namespace: Namespace) -> Iterator[Object]:
    """A namespace and the objects in it, without what is a scheduler's."""
    yield namespace_object(plan, namespace)
    yield from limits(namespace)
    yield from service_accounts(namespace)
    yield from bindings(namespace)
    yield from policies(plan, namespace)
