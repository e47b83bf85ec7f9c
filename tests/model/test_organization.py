"""The organization knows which of its parts could not be read."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tenancy.diagnostics import KeyPath
from tenancy.model.document import Organization
from tenancy.model.organization import organize

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
