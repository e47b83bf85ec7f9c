"""Transfers between any two units of any organization: what goes in comes out, and no law breaks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, event, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tenancy.edit.editing import Texts, edited
from tenancy.edit.errors import Unlawful
from tenancy.edit.transfer import transfer
from tenancy.model.organization import Node, Org
from tenancy.pipeline import Options, examine
from tests.examples import often
from tests.strategies import small_organizations


def _quotas(org: Org, flavor: str, resource: str) -> dict[str, int]:
    return {unit.title: unit.entries[flavor].amounts[resource].quota for unit in org.units}


def _way(unit: Node, other: Node) -> set[str]:
    """The units from one up to the one below what holds both."""
    above = {unit.title for unit in (other, *other.ancestors())}
    return {each.title for each in (unit, *unit.ancestors())} - above


def _pool(unit: Node, flavor: str, resource: str) -> int:
    """What a unit has and has not handed on."""
    entry = unit.entries[flavor]
    handed = sum(child.entries[flavor].amounts[resource].quota for child in unit.children)
    return 0 if entry.share else entry.amounts[resource].quota - handed


@pytest.mark.slow
@given(small_organizations(), st.data())
@settings(max_examples=often(10), deadline=None, phases=(Phase.generate,), suppress_health_check=[HealthCheck.too_slow])
def test_a_transfer_moves_quota_and_breaks_no_sum(tree: dict[str, Any], data: st.DataObject) -> None:
    """One side has that much less, the other that much more, everybody else what they had; no sum is exceeded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "org.yaml"
        YAML(pure=True).dump(tree, path)
        org = examine(path).org
        assert org is not None
        offers = [
            (unit, flavor, main)
            for unit in org.units
            for flavor in org.flavors.values()
            for main in flavor.mains
            if _pool(unit, flavor.name, main) > 0
        ]
        assume(offers and len(org.units) > 1)
        source, flavor, main = data.draw(st.sampled_from(offers))
        goal = data.draw(st.sampled_from([unit for unit in org.units if unit is not source]))
        count = data.draw(st.integers(1, _pool(source, flavor.name, main)))
        key = next(key for key, name in flavor.names.items() if name == main)
        try:
            made = transfer(tree, source, goal, flavor, {key: count})
        except Unlawful:
            event("refused")
            return
        event("moved")
        after = examine(path, Options(texts=edited(Texts(path), made.edits).texts)).org
        assert after is not None
        old, new = _quotas(org, flavor.name, main), _quotas(after, flavor.name, main)
        for unit in org.units:
            sign = (unit.title in _way(goal, source)) - (unit.title in _way(source, goal))
            if not unit.entries[flavor.name].share:
                assert new[unit.title] == old[unit.title] + sign * count, unit.title
        for unit in after.units:
            assert _pool(unit, flavor.name, main) >= 0, unit.title
            reserved, quota, limit = unit.entries[flavor.name].amounts[main]
            assert reserved <= quota <= limit, unit.title
