"""The comparison of objects: identity, matching of lists, order, and the updates that need a procedure."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.compare.comparison import compare as compare_files
from tenancy.compare.diff import ABSENT, Create, Delete, Difference, Update, compare, diff
from tenancy.compare.procedures import IMMUTABLE, Mark
from tenancy.compare.snapshot import Identity, snapshots
from tenancy.render.yaml import documents


def obj(kind: str, name: str, api_version: str = "v1", **body: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **body}


def changes(old: dict[str, list[Any]], new: dict[str, list[Any]]) -> list[Any]:
    before, after = ({path: documents(values) for path, values in side.items()} for side in (old, new))
    return list(diff(*snapshots(before, after)))


def test_deletions_come_first_then_updates_then_creations() -> None:
    """Each group is sorted by identity, whatever the order in the files."""
    old = {"c/a.yaml": [obj("B", "gone"), obj("A", "kept", data=1), obj("A", "gone")]}
    new = {"c/a.yaml": [obj("Z", "new"), obj("A", "kept", data=2), obj("A", "new")]}
    found = [(type(each), each.identity.kind, each.identity.name) for each in changes(old, new)]
    assert found == [
        (Delete, "A", "gone"),
        (Delete, "B", "gone"),
        (Update, "A", "kept"),
        (Create, "A", "new"),
        (Create, "Z", "new"),
    ]


def test_an_object_that_moves_to_another_file_does_not_change() -> None:
    """Identity is that of the API server, which knows no files."""
    assert (
        changes(
            {"c/a.yaml": [obj("A", "x"), obj("A", "y")]}, {"c/a.yaml": [obj("A", "x")], "c/b.yaml": [obj("A", "y")]}
        )
        == []
    )


def test_the_same_object_in_two_clusters_is_two_objects() -> None:
    """The folder of the cluster is part of the identity."""
    (only,) = changes({"c/a.yaml": [obj("A", "x")]}, {"c/a.yaml": [obj("A", "x")], "d/a.yaml": [obj("A", "x")]})
    assert only == Create(Identity("d", "", "A", "", "x"), obj("A", "x"))


def test_a_new_api_version_is_an_update() -> None:
    """The API server converts between versions of one group; deleting and creating would destroy the object."""
    old, new = obj("A", "x", "g/v1beta1"), obj("A", "x", "g/v1")
    (only,) = changes({"c/a.yaml": [old]}, {"c/a.yaml": [new]})
    assert only.differences == (Difference("apiVersion", "g/v1beta1", "g/v1"),)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": "1"}, [("a", 1, "1")]),
        ({"a": True}, {"a": 1}, [("a", True, 1)]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2, "d": 3}}, [("a.b", 1, ABSENT), ("a.d", ABSENT, 3)]),
        ({"a": {"x.y/z": 1}}, {"a": {"x.y/z": 2}}, [("a[x.y/z]", 1, 2)]),
        (
            {"l": [{"name": "p", "v": 1}, {"name": "q", "v": 2}]},
            {"l": [{"name": "q", "v": 3}, {"name": "r", "v": 4}]},
            [("l[p]", {"name": "p", "v": 1}, ABSENT), ("l[q].v", 2, 3), ("l[r]", ABSENT, {"name": "r", "v": 4})],
        ),
        (
            {"l": [{"name": "p"}, {"name": "q"}]},
            {"l": [{"name": "q"}, {"name": "p"}]},
            [("l (order)", ["p", "q"], ["q", "p"])],
        ),
        ({"l": ["a", "b", "b"]}, {"l": ["b", "c"]}, [("l[]", "a", ABSENT), ("l[]", "b", ABSENT), ("l[]", ABSENT, "c")]),
        ({"l": ["a", "b"]}, {"l": ["b", "a"]}, [("l (order)", ["a", "b"], ["b", "a"])]),
        ({"l": [{"k": 1}, {"k": 2}]}, {"l": [{"k": 1}, {"k": 3}]}, [("l[1].k", 2, 3)]),
        ({"l": []}, {"l": [{"name": "p"}]}, [("l[p]", ABSENT, {"name": "p"})]),
        ({"l": [{"k": 1}]}, {"l": [{"k": 2}, {"k": 1}]}, [("l[]", ABSENT, {"k": 2})]),
        ({"a": None}, {}, [("a", None, ABSENT)]),
    ],
)
def test_differences_are_as_deep_as_the_shapes_agree(old: Any, new: Any, found: list[Any]) -> None:
    """Entries of a list match by name, else by place, else by value; a changed order is a difference of its own."""
    assert [(each.path, each.old, each.new) for each in compare(old, new)] == found


def test_chart_values_are_compared_key_by_key_inside_their_text() -> None:
    """The manager's configuration is a text in the values, and a change of it needs a restart."""

    def files(retries: int) -> dict[str, str]:
        text = f"a:\n  retries: {retries}\n"
        return {"c/platform/kueue-values.yaml": documents([{"managerConfig": {"controllerManagerConfigYaml": text}}])}

    found = compare_files(files(5), files(6), {})
    (only,) = found.changes
    assert isinstance(only, Update)
    assert only.differences == (Difference("managerConfig.controllerManagerConfigYaml.a.retries", 5, 6),)
    assert [(each.mark, each.subjects) for each in found.procedures] == [
        (Mark.RESTART, ("platform/kueue-values.yaml",))
    ]


def marks(old: dict[str, Any], new: dict[str, Any]) -> list[Mark]:
    before, after = ({"c/a.yaml": documents([each])} for each in (old, new))
    return [each.mark for each in compare_files(before, after, {}).procedures]


def with_value(kind: str, path: str, value: str) -> dict[str, Any]:
    """An object with a value at a path of one or two keys."""
    first, _, second = path.partition(".")
    body: Any = {second: value} if second else value
    extra = {} if kind != "ResourceFlavor" or second == "topologyName" else {"topologyName": "t"}
    role = {first: {"name": value}} if kind.endswith("Binding") else {first: {**body, **extra} if second else body}
    return obj(kind, "x", **role)


@pytest.mark.parametrize(("kind", "path"), [(rule.kind, path) for rule in IMMUTABLE for path in rule.paths])
def test_updates_that_the_api_server_refuses_need_a_replacement(kind: str, path: str) -> None:
    """Every immutable field is marked when it changes, and not when it stays."""
    old = with_value(kind, path, "a")
    assert marks(old, with_value(kind, path, "b")) == [Mark.REPLACEMENT]
    assert marks(old, {**old, "extra": 1}) == []


def test_a_flavor_without_a_topology_may_change_its_labels() -> None:
    """The rule of the API server holds only once a topology was set."""
    old, new = (obj("ResourceFlavor", "x", spec={"nodeLabels": {"a": value}}) for value in "ab")
    assert marks(old, new) == []


def test_a_text_that_cannot_be_read_is_a_diagnostic() -> None:
    """Nothing is compared silently without a part of one side."""
    found = compare_files({"c/a.yaml": "a: [\n"}, {"c/a.yaml": "a: 1\n"}, {})
    assert [each.place.file for each in found.diagnostics] == ["c/a.yaml"]
