"""The arithmetic of the lowering: Kueue's own formulas, over what we emit, give each unit exactly what it was promised.

The model of Kueue (tests/kueue_model.py) reads the emitted objects and knows nothing of this project. A neighbour that
may borrow everything (`with_guests`) is added to each Cohort, so that promises are tested against the worst company and
not against neighbours that happen to be small.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings

from tenancy.backend import kueue
from tenancy.backend.manifest import Manifest, Object
from tenancy.model.organization import Quota
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan, Group, Queue
from tests.examples import often
from tests.kueue_model import COHORT, QUEUE, Node, Tree, build, limit, quota, reserved, with_guests
from tests.orgs import organized
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _objects(cluster: ClusterPlan) -> Iterator[Object]:
    for item in kueue.compile(cluster):
        if isinstance(item, Manifest):
            yield from (each for each in item.objects if each["kind"] in (COHORT, QUEUE))


def _units(cluster: ClusterPlan) -> Iterator[tuple[Node, Group | Queue]]:
    yield from (((COHORT, group.name), group) for group in cluster.groups if group.parent is not None)
    yield from (((QUEUE, queue.name), queue) for queue in cluster.queues)


def _cells(unit: Group | Queue) -> Iterator[tuple[str, str, Quota]]:
    for flavor, amounts in unit.quotas.items():
        for resource, promised in amounts.items():
            yield flavor, resource, promised


def _reachable(cluster: ClusterPlan, unit: Group | Queue, flavor: str, resource: str) -> int:
    """The limit that load can reach: one's own, and what the parent can reach less what siblings reserve."""
    parent = next((group for group in cluster.groups if group.name == unit.parent), None)
    own = unit.quotas[flavor][resource]
    if parent is None:
        return own.quota
    siblings = [each for _, each in _units(cluster) if each.parent == unit.parent and each is not unit]
    kept = sum(sibling.quotas[flavor][resource].reserved for sibling in siblings)
    return min(own.limit, _reachable(cluster, parent, flavor, resource) - kept)


@SETTINGS
@given(organizations())
def test_kueue_gives_each_unit_its_reserved_quota_and_limit(tree: dict[str, Any]) -> None:
    """Against neighbours that take all they can: reserved is free, quota is nominal, the limit is reached exactly."""
    for cluster in plan(organized(tree)):
        real = build(_objects(cluster))
        guarded = with_guests(real)
        for node, unit in _units(cluster):
            for flavor, resource, promised in _cells(unit):
                cell = (flavor, resource)
                assert quota(real, node, cell) == promised.quota
                assert limit(guarded, node, cell) == _reachable(cluster, unit, flavor, resource)
                assert reserved(guarded, node, cell) == promised.reserved


@SETTINGS
@given(organizations())
def test_the_root_holds_what_no_department_has(tree: dict[str, Any]) -> None:
    """Nominal quotas of the whole tree add up to the hardware without spare nodes, cell by cell."""
    for cluster in plan(organized(tree)):
        whole: Tree = build(_objects(cluster))
        root = (COHORT, cluster.organization)
        for flavor in cluster.flavors.values():
            for resource in cluster.resources:
                assert quota(whole, root, (flavor.name, resource)) == flavor.capacity.get(resource, 0)


@SETTINGS
@given(organizations())
def test_every_limit_is_stated(tree: dict[str, Any]) -> None:
    """No Cohort below the root and no ClusterQueue leaves a limit out: an absent one means unlimited."""
    for cluster in plan(organized(tree)):
        for obj in _objects(cluster):
            is_root = obj["kind"] == COHORT and "parentName" not in obj["spec"]
            for group in obj["spec"].get("resourceGroups", []):
                for flavor in group["flavors"]:
                    assert [each["name"] for each in flavor["resources"]] == group["coveredResources"]
                    for each in flavor["resources"]:
                        assert ("borrowingLimit" in each and "lendingLimit" in each) is not is_root
