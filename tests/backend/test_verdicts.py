"""What all schedulers' verdicts share."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from tenancy.backend import BACKENDS, WAITING
from tenancy.backend.waiting import within_limits
from tenancy.model.reach import within_reach
from tenancy.plan import plan
from tests.examples import often
from tests.orgs import organized
from tests.strategies import organizations


@settings(max_examples=often(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(organizations())
def test_limits_of_the_plan_reach_as_far_as_those_of_the_organization(tree: dict[str, Any]) -> None:
    """For every department and flavor, though the plan knows a part of a team's projects as one unit."""
    org = organized(tree)
    nodes = {node.queue or org.document.name: node for node in (org.root, *org.units)}
    for cluster in plan(org):
        for group in cluster.groups:
            for flavor in cluster.flavors.values():
                for main in flavor.mains:
                    wanted = within_reach(nodes[group.name], flavor, main)
                    assert within_limits(cluster, group, flavor.name, main) == wanted


def test_every_scheduler_has_one() -> None:
    """A cluster of a scheduler without one could not be explained."""
    assert WAITING.keys() == BACKENDS.keys()
