"""What budgets count on a flavor whose GPUs are handed out in shares."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tenancy.model.hardware import Hardware
from tests.orgs import organized

GIB = 1 << 30
DAEMONS = {"cpu": 2, "memory": "4Gi"}
L4: dict[str, Any] = {"gpu": "L4", "nodes": 3, "node": {"gpus": 8, "cpu": 98, "memory": "388Gi"}, "daemons": DAEMONS}
A100: dict[str, Any] = {
    "gpu": "A100-SXM4-80GB",
    "nodes": 2,
    "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"},
    "daemons": DAEMONS,
}


def flavor(written: dict[str, Any], **cluster: Any) -> Hardware:
    """The flavor as it is in numbers, in an organization of nothing else."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": cluster},
        "flavors": {"it": written},
        "departments": {"research": {"teams": {"vision": {}}}},
    }
    return organized(tree).flavors["it"]


@pytest.mark.parametrize("way", ["timeSlicing", "mps"])
def test_capacity_is_nodes_by_gpus_by_shares(way: str) -> None:
    """Spare nodes take all shares of their GPUs with them; a node keeps the GPUs that are built in."""
    found = flavor({**L4, "spareNodes": 1, "sharing": {way: 4}})
    assert found.mains == ("nvidia.com/gpu.shared",)
    assert found.names["gpus"] == "nvidia.com/gpu.shared"
    assert found.capacity["nvidia.com/gpu.shared"] == 2 * 8 * 4
    assert found.installed["nvidia.com/gpu.shared"] == 3 * 8 * 4
    assert (found.shares, found.node["gpus"]) == (4, 8)


def test_cpu_and_memory_follow_a_share_as_its_part_of_a_gpu() -> None:
    """A GPU has 12 cores and 48 GiB, written or not; all shares of all nodes use what there is, and no more."""
    for more in ({}, {"perGpu": {"cpu": 12, "memory": "48Gi"}}):
        found = flavor({**L4, **more, "sharing": {"timeSlicing": 4}})
        assert found.follows == {"nvidia.com/gpu.shared": {"cpu": 3000, "memory": 12 * GIB}}
        assert found.follows[found.mains[0]]["cpu"] * found.capacity[found.mains[0]] == found.capacity["cpu"]


def test_slices_are_shared_under_their_own_names() -> None:
    """Each instance of a profile gives as many shares, each of its part of the GPU's memory."""
    found = flavor({**A100, "mig": {"3g.40gb": 1, "1g.10gb": 4}, "sharing": {"timeSlicing": 2}})
    assert {device.key: (device.resource, device.part) for device in found.devices} == {
        "3g.40gb": ("nvidia.com/mig-3g.40gb.shared", Fraction(1, 4)),
        "1g.10gb": ("nvidia.com/mig-1g.10gb.shared", Fraction(1, 16)),
    }
    assert found.capacity["nvidia.com/mig-1g.10gb.shared"] == 2 * 8 * 4 * 2
    assert found.follows["nvidia.com/mig-3g.40gb.shared"] == {"cpu": 4000, "memory": 32 * GIB}


def test_under_the_single_strategy_shares_of_slices_are_called_after_gpus() -> None:
    """As the slices themselves are."""
    found = flavor(
        {**A100, "mig": {"1g.10gb": 7}, "sharing": {"timeSlicing": 2}}, gpuOperator={"migStrategy": "single"}
    )
    assert found.mains == ("nvidia.com/gpu.shared",)
    assert found.capacity["nvidia.com/gpu.shared"] == 2 * 8 * 7 * 2


def test_without_sharing_nothing_is_a_share() -> None:
    """The name and the numbers of whole GPUs."""
    found = flavor(L4)
    assert (found.mains, found.shares, found.capacity["nvidia.com/gpu"]) == (("nvidia.com/gpu",), 1, 24)
