"""What budgets count where the strategy `single` calls every MIG slice `nvidia.com/gpu`."""

from __future__ import annotations

from typing import Any

from tests.orgs import organized

TREE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {"gpuOperator": {"migStrategy": "single"}}, "edge": {}},
    "flavors": {
        name: {
            "cluster": name,
            "gpu": "A100-SXM4-80GB",
            "nodes": 4,
            "spareNodes": 1,
            "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"},
            "daemons": {"cpu": 2, "memory": "4Gi"},
            "mig": {"1g.10gb+me": 1},
        }
        for name in ("train", "edge")
    },
    "departments": {
        "research": {
            "budget": {"train": {"1g.10gb+me": 24}, "edge": {"1g.10gb+me": 24}},
            "teams": {"vision": {"budget": {"train": {"1g.10gb+me": 8}, "edge": {"1g.10gb+me": 8}}}},
        }
    },
}


def test_single_changes_the_name_in_the_cluster_and_nothing_else() -> None:
    """The key of a budget stays the profile; slices and what follows them are as many as under `mixed`."""
    flavors = organized(TREE).flavors
    single, mixed = flavors["train"], flavors["edge"]
    assert single.names["1g.10gb+me"] == "nvidia.com/gpu"
    assert mixed.names["1g.10gb+me"] == "nvidia.com/mig-1g.10gb.me"
    assert single.mains == ("nvidia.com/gpu",)
    assert single.capacity["nvidia.com/gpu"] == mixed.capacity["nvidia.com/mig-1g.10gb.me"] == 24
    assert single.follows["nvidia.com/gpu"] == {"cpu": 2000, "memory": 16 << 30}
    assert single.follows["nvidia.com/gpu"] == mixed.follows["nvidia.com/mig-1g.10gb.me"]


def test_a_budget_in_slices_is_a_quota_of_gpus_under_single() -> None:
    """What the scheduler counts is the resource that pods ask for."""
    units = {unit.name: unit for unit in organized(TREE).units}
    entry = units["vision"].entries["train"]
    assert entry.amounts["nvidia.com/gpu"].quota == 8
    assert not entry.broken
