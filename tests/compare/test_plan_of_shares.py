"""A comparison in which GPUs come to be handed out in shares."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.compare.amounts import measure
from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.views.text import text
from tenancy.pipeline import generate
from tests.orgs import organized


def tree(quota: int, **flavor: Any) -> dict[str, Any]:
    """Sixteen GPUs at 2 an hour, of which a team owns a part."""
    l4 = {
        "gpu": "L4",
        "nodes": 2,
        "node": {"gpus": 8, "cpu": 98, "memory": "388Gi"},
        "daemons": {"cpu": 2, "memory": "4Gi"},
        "price": 2,
        **flavor,
    }
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {"l4": l4},
        "departments": {"research": {"budget": {"l4": quota}, "teams": {"vision": {"budget": {"l4": quota}}}}},
    }


def compared(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    before, after = organized(old), organized(new)
    return compare(generate(before, {}), generate(after, {}), after.flavors)


SHARING = {"sharing": {"timeSlicing": 4}}


@pytest.mark.parametrize(
    ("resource", "shown"),
    [
        ("nvidia.com/gpu", "GPUs"),
        ("nvidia.com/gpu.shared", "GPU shares"),
        ("nvidia.com/mig-1g.10gb", "1g.10gb"),
        ("nvidia.com/mig-1g.10gb.shared", "1g.10gb shares"),
    ],
)
def test_a_share_is_called_a_share(resource: str, shown: str) -> None:
    """Beside amounts, in every view of a plan."""
    assert measure(resource) == shown


def test_a_share_costs_its_part_of_a_gpu() -> None:
    """32 shares, four to a GPU, cost in a month what eight GPUs do."""
    for old, new in ((tree(4), tree(8)), (tree(16, **SHARING), tree(32, **SHARING))):
        (cost,) = compared(old, new).costs
        assert [int(cost.before), int(cost.after)] == [4 * 2 * 730, 8 * 2 * 730]


def test_whole_gpus_go_where_shares_come() -> None:
    """They are another resource: the plan shows what is lost and what is gained, and the hardware in shares."""
    lines = text(compared(tree(8), tree(20, **SHARING))).splitlines()
    promises = [line.split() for line in lines if line.startswith(("  -", "  +")) and "research/vision" in line]
    assert [line[:4] for line in promises] == [
        ["-", "research/vision", "l4", "GPUs"],
        ["+", "research/vision", "l4", "GPU"],
    ]
    (balance,) = [line.split() for line in lines if line.startswith("    l4") and "shares" in line]
    assert balance == ["l4", "GPU", "shares", "64", "0", "0", "→", "20", "–", "→", "44"]  # noqa: RUF001


def test_more_shares_of_a_gpu_are_more_hardware() -> None:
    """Budgets stay as they are written, and what is free grows."""
    (balance,) = compared(tree(20, **SHARING), tree(20, sharing={"timeSlicing": 8})).balances
    assert (balance.installed, balance.free_before, balance.free_after) == (128, 44, 108)
