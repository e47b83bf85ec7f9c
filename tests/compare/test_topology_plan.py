"""What a plan says of the default topology of units."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tenancy.compare.comparison import compare
from tenancy.compare.views.text import text
from tenancy.pipeline import generate
from tests.orgs import organized, scheduled

NODE = {"gpus": 8, "cpu": 66, "memory": "516Gi"}
LEVELS = ["cloud.example/rack", "kubernetes.io/hostname"]
ORG: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": NODE, "topology": LEVELS}},
    "departments": {"lab": {"budget": {"h100": 32}, "teams": {"a": {}, "b": {"topology": "preferred rack"}}}},
}


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_a_default_that_changes_is_a_setting_of_the_units_whose_jobs_get_it(scheduler: str) -> None:
    """A unit that inherits it is named, one that says another is not, and the way back is told as well."""
    edited = deepcopy(ORG)
    edited["departments"]["lab"]["topology"] = "required rack"
    old, new = (organized(scheduled(tree, scheduler)) for tree in (ORG, edited))
    there = compare(generate(old, {}), generate(new, {}), new.flavors)
    back = compare(generate(new, {}), generate(old, {}), old.flavors)
    assert "~ topology none → required cloud.example/rack: lab/a\n" in text(there)
    assert "~ topology required cloud.example/rack → none: lab/a\n" in text(back)
