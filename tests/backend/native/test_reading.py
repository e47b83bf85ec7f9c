"""Reading units back from ResourceQuotas: what was planned is what is read, as far as objects say."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from tenancy.backend import READERS, units
from tenancy.backend.native import reading
from tenancy.backend.reading import UnitReading
from tenancy.model.organization import Quota
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan, Group, Queue
from tests.backend.native.support import H100, objects, planned
from tests.examples import often
from tests.orgs import organized, scheduled
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(cluster: ClusterPlan) -> list[UnitReading]:
    """What is read from the objects of a cluster, in a turned order: none may be expected first."""
    return reading.units(reversed(objects(cluster)))


def owned(unit: Queue) -> dict[str, dict[str, Quota]]:
    """What a unit owns of each flavor, as nothing is lent: all three promises are the quota."""
    return {
        flavor: {name: Quota(each.quota, each.quota, each.quota) for name, each in amounts.items() if each.quota}
        for flavor, amounts in unit.quotas.items()
        if any(each.quota for each in amounts.values())
    }


@SETTINGS
@given(organizations())
def test_every_unit_that_runs_jobs_is_read_back(tree: dict[str, Any]) -> None:
    """Its quotas by flavor, undivided, with its title, parent, state and namespaces."""
    for cluster in plan(organized(scheduled(tree, "native"))):
        found = {each.queue: each for each in read(cluster) if not each.inner}
        assert found.keys() == {queue.name for queue in cluster.queues}
        for queue in cluster.queues:
            each = found[queue.name]
            assert each.quotas == owned(queue)
            assert (each.title, each.parent, each.state) == (queue.title, queue.parent, queue.state)
            assert (each.namespaces, each.shared) == (queue.namespaces, queue.parent == queue.name)
            assert (each.weight, each.rules) == ("1", {})


@SETTINGS
@given(organizations())
def test_units_above_have_what_those_below_have(tree: dict[str, Any]) -> None:
    """Every unit that holds one which runs jobs is read, under its parent; of the organization no number is known."""
    for cluster in plan(organized(scheduled(tree, "native"))):
        found = {each.queue: each for each in read(cluster) if each.inner}
        groups = {group.name: group for group in cluster.groups}
        above = {name for queue in cluster.queues for name in _upwards(groups, queue.parent)}
        assert found.keys() == above
        for name, each in found.items():
            group = groups[name]
            assert (each.title, each.parent) == (group.title, group.parent or "")
            leaves = [owned(queue) for queue in cluster.queues if name in _upwards(groups, queue.parent)]
            wanted = {flavor: _sum(leaves, flavor) for leaf in leaves for flavor in leaf}
            assert each.quotas == (wanted if group.title else {})


def _upwards(groups: dict[str, Group], name: str) -> list[str]:
    parent = groups[name].parent
    return [name, *(_upwards(groups, parent) if parent else ())]


def _sum(leaves: list[dict[str, dict[str, Quota]]], flavor: str) -> dict[str, Quota]:
    names = {name for leaf in leaves for name in leaf.get(flavor, {})}
    totals = {name: sum(leaf[flavor][name].quota for leaf in leaves if name in leaf.get(flavor, {})) for name in names}
    return {name: Quota(total, total, total) for name, total in totals.items()}


def test_the_state_of_a_unit_is_read_back() -> None:
    """From its own objects, and of those only."""
    cluster = planned({"budget": {"h100": 8}, "state": "held"}, {"h100": H100})
    states = {each.title: each.state for each in read(cluster)}
    assert states == {"": "active", "research": "active", "research/vision": "held", "research/other": "active"}


def test_only_one_reader_finds_units() -> None:
    """Quotas of objects, which every backend writes, are no units; and nobody else reads ours."""
    made = objects(planned({"budget": {"h100": 8}}))
    assert [len(read(made)) for read in READERS].count(0) == len(READERS) - 1
    assert units(made) == reading.units(made)
    assert reading.units(obj for obj in made if obj["metadata"]["name"] == "tenancy") == []
