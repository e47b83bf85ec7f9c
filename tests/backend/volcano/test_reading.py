"""Reading units back from Queues: what was planned is what is read, whatever organization is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tenancy.backend import volcano
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.reading import UnitReading
from tenancy.backend.volcano.reading import units
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Quota
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan, Group, Queue
from tests.examples import often
from tests.orgs import organized, scheduled
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def planned(cluster: ClusterPlan) -> dict[tuple[str, bool], Group | Queue]:
    """Units by name and by whether they are inner: those that reach a flavor, for others have no queue."""
    groups: list[Group | Queue] = [*cluster.groups, *cluster.queues]
    return {(each.name, isinstance(each, Group)): each for each in groups if reached(cluster, each)}


def reached(cluster: ClusterPlan, unit: Group | Queue) -> set[str]:
    """The flavors of which the unit may ever use a part; the organization has a queue for each."""
    return {
        flavor.name
        for flavor in cluster.flavors.values()
        if any(unit.quotas[flavor.name][main].limit for main in flavor.mains)
        or (isinstance(unit, Group) and unit.parent is None)
    }


def numbers(unit: Group | Queue, flavor: Hardware) -> dict[str, Quota]:
    """What was planned of a flavor, as far as the objects say it."""
    planned = dict(unit.quotas[flavor.name])
    if flavor.installed == flavor.capacity or any(planned[main].limit < flavor.capacity[main] for main in flavor.mains):
        return planned
    return {name: quota._replace(limit=flavor.capacity[name]) for name, quota in planned.items()}


def read(cluster: ClusterPlan) -> list[UnitReading]:
    """What is read from the objects of a cluster, in a turned order: none may be expected first."""
    objects = [obj for item in volcano.compile(cluster) if isinstance(item, Manifest) for obj in item.objects]
    return units(reversed(objects))


@SETTINGS
@given(organizations())
def test_every_promise_is_read_back_as_it_was_planned(tree: dict[str, Any]) -> None:
    """For every unit that reaches anything, and every flavor that it reaches, all numbers of all resources agree.

    Without a limit the cpu and memory that go with GPUs are all there are, and not what follows from the GPUs to the
    last MiB.
    """
    for cluster in plan(organized(scheduled(tree, "volcano"))):
        wanted, readings = planned(cluster), read(cluster)
        assert {(each.queue, each.inner) for each in readings} == wanted.keys()
        for reading in readings:
            unit = wanted[reading.queue, reading.inner]
            assert {name: dict(amounts) for name, amounts in reading.quotas.items()} == {
                flavor: numbers(unit, cluster.flavors[flavor]) for flavor in reached(cluster, unit)
            }


@SETTINGS
@given(organizations())
def test_titles_parents_states_and_namespaces_are_read_back(tree: dict[str, Any]) -> None:
    """What the plan compares beside numbers comes back; a Queue knows of no policy, so none is read."""
    for cluster in plan(organized(scheduled(tree, "volcano"))):
        wanted = planned(cluster)
        for reading in read(cluster):
            unit = wanted[reading.queue, reading.inner]
            assert (reading.title, reading.parent) == (unit.title, unit.parent or "")
            assert abs(float(reading.weight) - max(1, unit.weight)) <= 0.5
            assert reading.rules == {}
            if isinstance(unit, Queue):
                assert (reading.state, reading.namespaces) == (unit.state, unit.namespaces)
                assert reading.shared is (unit.parent == unit.name)
            else:
                assert (reading.state, reading.namespaces, reading.shared) == ("active", (), False)


def _team(**team: Any) -> ClusterPlan:
    """The plan of an organization whose only team is `research/vision`."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": "volcano"}},
        "flavors": {
            "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"}},
        },
        "departments": {"research": {"budget": {"h100": 16}, "teams": {"vision": {"budget": {"h100": 8}, **team}}}},
    }
    (cluster,) = plan(organized(tree))
    return cluster


def test_a_shared_queue_is_told_from_its_team() -> None:
    """A team with budgeted projects is read twice under its title: as the whole, and as what its projects share."""
    projects = {"train": {"budget": {"h100": 5}}, "demo": {}}
    found = [each for each in read(_team(projects=projects)) if each.title == "research/vision"]
    assert [(each.inner, each.shared) for each in found] == [(True, False), (False, True)]
    assert [each.quotas["h100"]["nvidia.com/gpu"].quota for each in found] == [8, 3]


@pytest.mark.parametrize("state", ["active", "held", "draining"])
def test_the_state_of_a_team_is_read_back(state: str) -> None:
    """Volcano's Queue has no field for it that we may write, so it stands in an annotation."""
    (found,) = [each for each in read(_team(state=state)) if each.title == "research/vision"]
    assert found.state == state


def test_a_label_or_annotation_of_a_unit_is_not_taken_for_ours() -> None:
    """Namespaces carry what a unit says: keys of a foreign domain that end like ours change nothing."""
    foreign = {"other.example/organization": "x", "other.example/queues": "y", "aaa.example/queues": "z"}
    plain = read(_team())
    assert read(_team(annotations=foreign, labels=foreign)) == plain


def test_objects_of_others_are_ignored() -> None:
    """A Queue of another API group or without our labels is no unit, and Kueue's kinds are not Volcano's."""
    strangers: list[Mapping[str, Any]] = [
        {
            "apiVersion": "other.example/v1",
            "kind": "Queue",
            "metadata": {"name": "a", "labels": {"x/organization": "b"}},
        },
        {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "root"}, "spec": {}},
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "acme"}, "spec": {}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}},
    ]
    found: list[Object] = [dict(each) for each in strangers]
    assert units(found) == []
