"""The arithmetic of ResourceQuotas, over random organizations: nobody is given what is not there, and nothing is lost.

The numbers are read from the emitted objects, as the API server reads them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings

from tenancy.backend import native
from tenancy.backend.manifest import Manifest
from tenancy.model.hardware import CPU, MEMORY
from tenancy.model.quantity import parse
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.examples import often
from tests.orgs import organized, scheduled
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
COMPUTE = "tenancy-compute"


def hard(cluster: ClusterPlan) -> dict[str, dict[str, int]]:
    """What every namespace may request, by resource, in base units."""
    objects = [obj for item in native.compile(cluster) if isinstance(item, Manifest) for obj in item.objects]
    return {
        obj["metadata"]["namespace"]: {
            key.removeprefix("requests."): parse(count, key) for key, count in obj["spec"]["hard"].items()
        }
        for obj in objects
        if (obj["kind"], obj["metadata"]["name"]) == ("ResourceQuota", COMPUTE)
    }


@SETTINGS
@given(organizations())
def test_namespaces_together_have_what_their_units_own(tree: dict[str, Any]) -> None:
    """Per unit and resource the parts of its namespaces add up to its quotas, whatever the division."""
    for cluster in plan(organized(scheduled(tree, "native"))):
        found = hard(cluster)
        for queue in cluster.queues:
            wanted: Counter[str] = Counter()
            for amounts in queue.quotas.values():
                wanted.update({name: each.quota for name, each in amounts.items()})
            got: Counter[str] = Counter()
            for namespace in queue.namespaces:
                got.update(found[namespace])
            assert +got == +wanted


@SETTINGS
@given(organizations())
def test_a_cluster_never_promises_more_than_it_has(tree: dict[str, Any]) -> None:
    """All namespaces together may request at most what is there without the spare nodes and the DaemonSets."""
    for cluster in plan(organized(scheduled(tree, "native"))):
        for resource in cluster.resources:
            there = sum(flavor.capacity.get(resource, 0) for flavor in cluster.flavors.values())
            assert sum(each[resource] for each in hard(cluster).values()) <= there


@SETTINGS
@given(organizations())
def test_every_resource_of_the_cluster_has_a_bound_in_every_namespace(tree: dict[str, Any]) -> None:
    """A name that is left out would have none."""
    for cluster in plan(organized(scheduled(tree, "native"))):
        found = hard(cluster)
        assert found.keys() == {namespace.name for namespace in cluster.namespaces}
        assert all(each.keys() == set(cluster.resources) for each in found.values())


@SETTINGS
@given(organizations())
def test_parts_of_a_unit_differ_by_one_at_most(tree: dict[str, Any]) -> None:
    """GPUs and slices are divided equally, and none of the first namespaces has less than a later one."""
    for cluster in plan(organized(scheduled(tree, "native"))):
        found, devices = hard(cluster), set(cluster.resources) - {CPU, MEMORY}
        for queue in cluster.queues:
            parts = [found[namespace] for namespace in queue.namespaces]
            for name in devices:
                counts = [part[name] for part in parts]
                assert counts == sorted(counts, reverse=True)
                assert max(counts) - min(counts) <= 1
