"""Plans of organizations that hand out GPUs in shares."""

from __future__ import annotations

from typing import Any

from tenancy.model.organization import Quota
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized

SHARE = "nvidia.com/gpu.shared"


def planned(
    shares: int, budget: dict[str, Any], team: dict[str, Any], other: dict[str, Any] | None = None
) -> ClusterPlan:
    """Eight GPUs in so many shares each, a department with `budget` and a team that says `team`, beside another."""
    flavor = {
        "gpu": "L4",
        "nodes": 1,
        "node": {"gpus": 8, "cpu": 98, "memory": "388Gi"},
        "daemons": {"cpu": 2, "memory": "4Gi"},
        "sharing": {"timeSlicing": shares},
    }
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {"l4": flavor},
        "departments": {"research": {"budget": budget, "teams": {"vision": team, "speech": other or {}}}},
    }
    (cluster,) = plan(organized(tree))
    return cluster


def test_budgets_are_in_shares_with_what_follows_them() -> None:
    """The three numbers as written; what the department does not hand on is its pool."""
    cluster = planned(4, {"l4": 24}, {"budget": {"l4": {"reserved": 2, "quota": 10, "limit": 30}}})
    queue = next(each for each in cluster.queues if each.title == "research/vision")
    assert queue.quotas["l4"][SHARE] == Quota(2, 10, 30)
    assert queue.quotas["l4"]["cpu"] == Quota(6000, 30_000, 90_000)
    pools = {group.name: group.pool["l4"][SHARE] for group in cluster.groups}
    assert pools == {"acme": 8, "research": 14}


def test_weights_split_whole_shares() -> None:
    """Seven shares of GPUs are four and three, which would be no whole GPUs."""
    both = {"budget": {"l4": "share"}}
    cluster = planned(4, {"l4": 7}, both, both)
    assert sorted(queue.quotas["l4"][SHARE].quota for queue in cluster.queues) == [3, 4]


def test_defaults_of_containers_fit_a_share() -> None:
    """A pod without requests takes no more than what follows a share, or a node would not hold all of its shares."""
    cluster = planned(16, {"l4": 24}, {"budget": {"l4": 24}})
    assert all(dict(each.container) == {"cpu": 750, "memory": 3 << 30} for each in cluster.namespaces)


def test_there_is_room_for_the_pods_of_all_shares() -> None:
    """The quota of pods grows with what the queue may come to."""
    cluster = planned(256, {"l4": 2048}, {"budget": {"l4": 2048}})
    assert cluster.namespaces[0].objects["pods"] == 2 * 2048
