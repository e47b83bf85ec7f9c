"""The organization knows which of its parts could not be read, and where its units are."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tenancy.diagnostics import KeyPath
from tenancy.model.document import Organization
from tenancy.model.organization import organize
from tests.orgs import organized

PATHS = st.lists(st.sampled_from(("departments", "teams", "a", "b")), max_size=4).map(tuple)
DOCUMENT: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {"cpu": {"nodes": 1, "node": {"cpu": 8, "memory": "64Gi"}}},
    "departments": {},
}


@given(st.frozensets(PATHS, max_size=4), PATHS)
def test_a_path_is_hidden_by_what_is_around_and_inside_it(left_out: frozenset[KeyPath], path: KeyPath) -> None:
    """A value counts as unread where an unread path is a prefix of its path, or its path a prefix of an unread one."""
    org = organize(Organization.model_validate(DOCUMENT), left_out)
    related = any(path[: len(each)] == each or each[: len(path)] == path for each in left_out)
    assert org.hides(path) == related


def test_the_projects_of_a_team_are_where_the_team_is() -> None:
    """Each namespace of a team has a queue in every cluster of the team, whichever project brought the cluster in."""
    cpu = {"nodes": 1, "node": {"cpu": 8, "memory": "64Gi"}}
    amount = {"limit": {"cpu": 1, "memory": "1Gi"}}
    team = {"projects": {"a": {"budget": {"here": amount}}, "b": {"budget": {"there": amount}}, "c": {}}}
    tree = {
        **DOCUMENT,
        "clusters": {"east": {}, "north": {}, "west": {}},
        "flavors": {"here": {**cpu, "cluster": "east"}, "there": {**cpu, "cluster": "west"}},
        "departments": {"lab": {"teams": {"dev": team}}},
    }
    clusters = {unit.title: unit.clusters for unit in organized(tree).units}
    assert set(clusters.values()) == {frozenset({"east", "west"})}
    assert len(clusters) == 5
