"""Who has set a field, read from managedFields in every form that the API server writes."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.live.ownership import Item, Step, others, owners, shown

RULES = [{"port": 80, "protocol": "TCP", "name": "http"}, {"port": 443, "protocol": "TCP"}]


def live(*entries: dict[str, Any], **body: Any) -> dict[str, Any]:
    """An object with these sets of fields; the first is the oldest."""
    managed = [{"time": f"2026-11-30T07:00:0{index}Z", **each} for index, each in enumerate(entries)]
    return {"metadata": {"name": "x", "managedFields": managed, "finalizers": ["a", "b"]}, **body}


def by(manager: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One entry of managedFields."""
    return {"manager": manager, "fieldsV1": fields, **more}


@pytest.mark.parametrize(
    ("fields", "path", "owned"),
    [
        ({"f:spec": {"f:a": {}}}, ("spec", "a"), True),
        ({"f:spec": {"f:a": {}}}, ("spec", "b"), False),
        ({"f:spec": {"f:a": {}}}, ("spec", "a", "deeper"), True),
        ({"f:spec": {".": {}, "f:a": {}}}, ("spec", "b"), False),
        ({"f:spec": {".": {}, "f:a": {}}}, ("spec",), True),
        ({"f:spec": {"f:list": {}}}, ("spec", "list", Item({"n": 1}, 0), "n"), True),
        (
            {"f:spec": {"f:list": {'k:{"port":80,"protocol":"TCP"}': {"f:name": {}}}}},
            ("spec", "list", Item(RULES[0], 0), "name"),
            True,
        ),
        (
            {"f:spec": {"f:list": {'k:{"port":80,"protocol":"TCP"}': {"f:name": {}}}}},
            ("spec", "list", Item(RULES[1], 1), "name"),
            False,
        ),
        ({"f:spec": {"f:list": {"i:1": {}}}}, ("spec", "list", Item("x", 1)), True),
        ({"f:spec": {"f:list": {"i:1": {}}}}, ("spec", "list", Item("x", 0)), False),
        ({"f:metadata": {"f:finalizers": {'v:"a"': {}}}}, ("metadata", "finalizers", Item("a", 0)), True),
        ({"f:metadata": {"f:finalizers": {"v:a": {}}}}, ("metadata", "finalizers", Item("b", 1)), False),
        ({"f:spec": {"x:unknown": {}}}, ("spec", Item("b", 1)), False),
        ({}, ("spec",), False),
    ],
)
def test_a_set_holds_a_field_or_not(fields: dict[str, Any], path: tuple[Step, ...], owned: bool) -> None:
    """A set that ends holds all that is below; one that goes on elsewhere holds nothing of it."""
    assert bool(owners(live(by("kubectl", fields)), path)) is owned


def test_the_latest_owner_comes_first() -> None:
    """Several may say the same; those of the status are not asked, and the nearest set counts."""
    found = live(
        by("first", {"f:spec": {"f:a": {}}}),
        by("second", {"f:spec": {"f:a": {}}}),
        by("status", {"f:spec": {"f:a": {}}}, subresource="status"),
        by("wide", {"f:spec": {}}),
    )
    assert [owner.manager for owner in owners(found, ("spec", "a"))] == ["second", "first"]
    assert str(owners(found, ("spec", "a"))[0]) == "second, 2026-11-30 07:00:01 UTC"


def test_fields_of_others_are_those_that_are_still_there() -> None:
    """At the ends of their sets, with what they hold; what is gone since is nobody's."""
    rules: dict[str, Any] = {'k:{"port":443,"protocol":"TCP"}': {".": {}, "f:port": {}}}
    found = live(
        by("argocd-controller", {"f:spec": {"f:ours": {}}}),
        by("other", {"f:metadata": {"f:finalizers": {'v:"b"': {}}}, "f:spec": {"f:rules": rules, "f:gone": {}}}),
        spec={"ours": 1, "rules": RULES},
    )
    assert [(shown(each.path), each.value) for each in others(found, "argocd-controller")] == [
        ("metadata.finalizers[1]", "b"),
        ("spec.rules[1].port", 443),
    ]


def test_paths_are_written_as_in_plans() -> None:
    """Keys with dots or slashes stand in brackets, items by name where they have one."""
    assert shown(("metadata", "labels", "a.b/c")) == "metadata.labels[a.b/c]"
    assert (
        shown(("spec", "groups", Item({}, 0), "flavors", Item({}, 2, "h100"), "n")) == "spec.groups[0].flavors[h100].n"
    )


def test_an_object_without_records_has_no_owners() -> None:
    """As one that was written before there were any."""
    assert owners({"metadata": {}}, ("spec",)) == ()
    assert list(others({"metadata": {}}, "x")) == []
