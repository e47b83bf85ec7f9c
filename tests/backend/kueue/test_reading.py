"""Reading units back from objects: what was planned is what is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenancy.backend.kueue.reading import units
from tenancy.backend.reading import UnitReading
from tenancy.compare.snapshot import snapshots
from tenancy.pipeline import examine, generate
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan, Group, Queue

EXAMPLE = Path(__file__).parents[3] / "org"

NESTED = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {one: {}, two: {}}
flavors:
  h100: {cluster: one, gpu: H100-SXM-80GB, nodes: 4, node: {gpus: 8, cpu: 130, memory: 1028Gi}}
  mig: {cluster: two, gpu: A100-SXM4-80GB, nodes: 2, node: {gpus: 8, cpu: 130, memory: 1028Gi}, mig: {1g.10gb: 7}}
departments:
  a:
    budget: {h100: {reserved: 9, quota: 20, limit: 30}, mig: {1g.10gb: 50}}
    policy: {queueing: strict, preemption: never, reclaim: lower-priority}
    departments:
      b:
        weight: 2.5
        budget: {h100: {reserved: 3, quota: 10}}
        teams:
          c: {weight: 0.3333, state: draining, budget: {h100: {reserved: 1, quota: 4, limit: 5}}}
          d:
            state: held
            budget: {h100: 6}
            projects: {e: {budget: {h100: {reserved: 2, quota: 3}}}, f: {}, g: {}}
    teams:
      h: {budget: {mig: {1g.10gb: {reserved: 3, quota: 20}}}}
"""


def read(path: Path) -> list[tuple[ClusterPlan, list[UnitReading]]]:
    """The plan of each cluster with what is read back from its files."""
    org = examine(path).org
    assert org is not None
    _, snapshot = snapshots({}, generate(org, {}))
    assert not snapshot.diagnostics
    return [(each, units(snapshot.of(each.name, "Cohort", "ClusterQueue"))) for each in plan(org)]


@pytest.fixture(params=["example", "nested"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "example":
        return EXAMPLE
    (tmp_path / "org.yaml").write_text(NESTED)
    return tmp_path


def planned(cluster: ClusterPlan) -> dict[tuple[str, bool], Group | Queue]:
    """Groups and queues by name and by whether they are inner."""
    groups: list[Group | Queue] = [*cluster.groups, *cluster.queues]
    return {(each.name, isinstance(each, Group)): each for each in groups}


def test_every_promise_is_read_back_as_it_was_planned(path: Path) -> None:
    """For every unit, flavor and resource the numbers agree; a queue is silent only about what it never reaches."""
    for cluster, readings in read(path):
        wanted = planned(cluster)
        assert {(each.queue, each.inner) for each in readings} == wanted.keys()
        for reading in readings:
            unit = wanted[reading.queue, reading.inner]
            flavors = unit.flavors if isinstance(unit, Queue) else tuple(unit.quotas)
            assert set(reading.quotas) == set(flavors)
            for flavor in flavors:
                said = {name: quota for name, quota in reading.quotas[flavor].items() if any(quota)}
                assert said == {name: quota for name, quota in unit.quotas[flavor].items() if any(quota)}


def test_titles_states_rules_and_namespaces_are_read_back(path: Path) -> None:
    """What the plan compares beside numbers comes back in the words of the language."""
    for cluster, readings in read(path):
        wanted = planned(cluster)
        for reading in readings:
            unit = wanted[reading.queue, reading.inner]
            assert (reading.title, reading.parent) == (unit.title, unit.parent or "")
            assert float(reading.weight) == unit.weight
            if isinstance(unit, Queue):
                assert (reading.state, reading.namespaces) == (unit.state, unit.namespaces)
                assert all(getattr(unit.rules, key) == word for key, word in reading.rules.items())
                assert len(reading.rules) == 4


def test_a_shared_queue_is_told_from_its_team(tmp_path: Path) -> None:
    """A team with budgeted projects is read twice under its title: as the whole, and as what its projects share."""
    (tmp_path / "org.yaml").write_text(NESTED)
    found = [
        each
        for cluster, readings in read(tmp_path)
        if cluster.name == "one"
        for each in readings
        if each.title == "a/b/d"
    ]
    assert [(each.inner, each.shared) for each in found] == [(True, False), (False, True)]
    assert [each.quotas["h100"]["nvidia.com/gpu"].quota for each in found] == [6, 3]
