"""The promises of random valid organizations keep every law, and the checks find nothing to refuse in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings

from tenancy.check import check
from tenancy.diagnostics import Severity
from tenancy.load.source import Sources
from tenancy.model.organization import Node, Org, Quota
from tests.examples import often
from tests.orgs import organized
from tests.strategies import organizations

EXAMPLES = settings(max_examples=often(25), deadline=None, suppress_health_check=(HealthCheck.too_slow,))


def promises(org: Org) -> Iterator[tuple[Node, str, str, Quota]]:
    """Every promise of the organization: unit, flavor, resource, numbers."""
    for unit in org.units:
        for flavor, entry in unit.entries.items():
            for resource, quota in entry.amounts.items():
                yield unit, flavor, resource, quota


@given(organizations())
@EXAMPLES
def test_every_triple_is_ordered_and_below_its_parents_limit(tree: dict[str, Any]) -> None:
    """0 ≤ reserved ≤ quota ≤ limit ≤ the parent's limit, for every unit, flavor and resource."""
    org = organized(tree)
    for unit, flavor, resource, (reserved, quota, limit) in promises(org):
        assert unit.parent is not None
        assert 0 <= reserved <= quota <= limit <= unit.parent.entries[flavor].amounts[resource].limit


@given(organizations())
@EXAMPLES
def test_children_have_no_more_than_their_parent(tree: dict[str, Any]) -> None:
    """Quotas of siblings add up to at most the parent's (at the top: the hardware), reserves to at most its reserve."""
    org = organized(tree)
    for parent in (org.root, *org.units):
        for flavor, entry in parent.entries.items() if parent.children else ():
            for resource, own in entry.amounts.items():
                below = [child.entries[flavor].amounts[resource] for child in parent.children]
                assert sum(each.quota for each in below) <= own.quota
                if parent is not org.root:
                    assert sum(each.reserved for each in below) <= own.reserved


@given(organizations())
@EXAMPLES
def test_the_checks_refuse_nothing_valid(tree: dict[str, Any]) -> None:
    """No check has an error to report about an organization that keeps the laws."""
    org, sources = organized(tree), Sources((), tree, {})
    errors = [(each.code, each.message) for each in check(org, sources) if each.severity is Severity.ERROR]
    assert errors == []


@given(organizations())
@EXAMPLES
def test_a_quota_above_the_hardware_is_always_found(tree: dict[str, Any]) -> None:
    """One GPU, slice or core more than the nodes have, given to any department, is an error about capacity."""
    org = organized(tree)
    flavor = next(iter(org.flavors.values()))
    key = next(key for key, resource in flavor.names.items() if resource == flavor.mains[0])
    more = flavor.capacity[flavor.mains[0]] // (1000 if key == "cpu" else 1) + 1
    department = next(iter(tree["departments"].values()))
    department["budget"][flavor.name] = {key: more, "memory": "1Gi"} if key == "cpu" else {key: more}
    codes = {each.code for each in check(organized(tree), Sources((), tree, {}))}
    assert "quota-above-capacity" in codes
