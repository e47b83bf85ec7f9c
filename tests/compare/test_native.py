"""A comparison of clusters without a batch scheduler: only units that run jobs have objects."""

from __future__ import annotations

from typing import Any

from tenancy.compare.comparison import Comparison, compare
from tenancy.pipeline import generate
from tests.backend.native.support import CPU, GPU, H100
from tests.orgs import organized


def tree(gpus: int, cores: int = 4, **team: Any) -> dict[str, Any]:
    """A team that owns GPUs, in a department that keeps others, beside one that owns cores."""
    vision = {"budget": {"h100": {"quota": gpus, "limit": 16}}, "projects": {"a": {}, "b": {}}, **team}
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"scheduler": "native"}},
        "flavors": {"h100": {**H100, "price": 1}, "cpu": CPU},
        "departments": {
            "research": {
                "budget": {"h100": 16, "cpu": {"cpu": 8, "memory": "32Gi"}},
                "teams": {"vision": vision, "web": {"budget": {"cpu": {"cpu": cores, "memory": "16Gi"}}}},
            }
        },
    }


def compared(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    before, after = organized(old), organized(new)
    return compare(generate(before, {}), generate(after, {}), after.flavors)


def test_a_lower_quota_is_a_loss_of_the_team_and_of_those_above() -> None:
    """Its namespaces count together; the three promises are one number, for nothing is lent."""
    found = compared(tree(8), tree(5)).effects.quotas
    assert [(each.unit, each.flavor, each.resource, each.gain) for each in found] == [
        ("research", "h100", GPU, -3),
        ("research/vision", "h100", GPU, -3),
    ]
    assert found[1].after is not None
    assert set(found[1].after) == {5}


def test_cores_of_a_cpu_flavor_count_and_those_that_follow_gpus_do_not() -> None:
    """As under every scheduler, though the objects add them up."""
    found = compared(tree(8), tree(8, cores=6)).effects
    assert {(each.flavor, each.resource, each.gain) for each in found.quotas} == {("cpu", "cpu", 2000)}
    assert found.followers == ()


def test_what_nobody_owns_is_not_known() -> None:
    """No object has the capacity, so nothing is said to be free; what is promised has its cost."""
    found = compared(tree(8), tree(5))
    balance = next(each for each in found.balances if each.resource == GPU)
    assert (balance.installed, balance.spare, balance.free_after) == (32, None, None)
    assert (balance.promised_before, balance.promised_after) == (8, 5)
    assert [(cost.unit, cost.before > cost.after) for cost in found.costs] == [("research", True)]


def test_a_state_is_a_setting() -> None:
    """Of the team alone."""
    (found,) = compared(tree(8), tree(8, state="held")).effects.settings
    assert (found.key, found.before, found.after, found.units) == ("state", "active", "held", ("research/vision",))
