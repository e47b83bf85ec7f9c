"""Edits of an organization: made where a value is written, in the smallest piece of text, and nowhere else."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenancy.diagnostics import Edit, KeyPath
from tenancy.edit.editing import FileEdit, Texts, edited
from tenancy.edit.errors import Refused
from tenancy.edit.values import Written, same
from tenancy.load import load
from tests.examples import often

EXAMPLE = Path(__file__).parent.parent.parent / "org"
VISION: KeyPath = ("departments", "research", "teams", "vision")


def _paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Every path of a tree."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from _paths(value[key], (*path, key))


def _tree(texts: Texts) -> Any:
    loaded, _ = load(texts.path, texts.texts)
    assert loaded is not None
    return loaded.tree


def _original(texts: Texts) -> dict[str, str]:
    loaded, _ = load(texts.path)
    assert loaded is not None
    return {source.name: source.text for source in loaded.sources.files}


def _apply(tree: Any, edit: Edit) -> None:
    """What an edit means for a tree."""
    for step in edit.path[:-1]:
        tree = tree[step]
    if edit.action == "set":
        tree[edit.path[-1]] = edit.value
    elif edit.action == "remove":
        del tree[edit.path[-1]]
    else:
        pairs = [(edit.value if key == edit.path[-1] else key, value) for key, value in tree.items()]
        tree.clear()
        tree.update(pairs)


def _changed_lines(texts: Texts) -> list[str]:
    """Lines that are gone or new, of all files."""
    old = _original(texts)
    return [
        line
        for name, text in texts.texts.items()
        for line in difflib.ndiff(old[name].splitlines(keepends=True), text.splitlines(keepends=True))
        if line[0] in "+-"
    ]


def _value(tree: Any, path: KeyPath) -> Any:
    for step in path:
        tree = tree[step]
    return tree


TREE = _tree(Texts(EXAMPLE))
PATHS = sorted((path for path in _paths(TREE) if path != ("departments",)), key=str)  # files add to those
SCALARS = [path for path in PATHS if not isinstance(_value(TREE, path), dict | list)]
VALUES = st.integers(0, 10**6) | st.text(max_size=12) | st.booleans() | st.just({"quota": 24, "limit": "x: y"})


def _spelling(path: KeyPath) -> str:
    """A value as it stands in its file, with its quotes."""
    spot = Texts(EXAMPLE).places().find(path)
    assert spot is not None
    return spot.document.text[spot.entry.value.start : spot.entry.value.end]


@pytest.mark.slow
@given(st.sampled_from(SCALARS), VALUES)
@settings(max_examples=often(15), deadline=None)
def test_a_value_of_the_example_changes_alone_and_back(path: KeyPath, value: Any) -> None:
    """The tree is the old one with this value, one line differs, and the reverse gives the old bytes."""
    before = Texts(EXAMPLE)
    old, expected = _value(TREE, path), copy.deepcopy(TREE)
    edit = Edit("set", path, value)
    _apply(expected, edit)
    after = edited(before, [edit])
    assert same(_tree(after), expected)
    assert len(after.texts) == 1
    assert len(_changed_lines(after)) <= 2
    other = edited(before, [Edit("set", path, 7)])
    reversed_ = edited(other, [Edit("set", path, Written(old, _spelling(path)))])
    assert reversed_.texts.items() <= _original(before).items()


@st.composite
def _several(draw: st.DrawFn) -> list[Edit]:
    """A few edits that do not meet: one for each unit, flavor or cluster at most."""
    chosen = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=4, unique_by=lambda path: path[:4]))
    made: list[Edit] = []
    for path in chosen:
        if any(path[: len(other.path)] == other.path or other.path[: len(path)] == path for other in made):
            continue
        holder = _value(TREE, path[:-1])
        named = isinstance(path[-1], str) and path[-1] not in ("departments", "teams", "projects")
        if draw(st.booleans()) and len(holder) > 1 and path[0] != "departments" and len(path) > 1:
            made.append(Edit("remove", path))
        elif named and len(path) > 3 and draw(st.booleans()):
            made.append(Edit("rename", path, draw(st.sampled_from(("other", "a b", "1.5", "x: y")))))
        else:
            made.append(Edit("set", path, draw(VALUES)))
    return made


@pytest.mark.slow
@given(_several())
@settings(max_examples=often(15), deadline=None)
def test_several_edits_of_the_example_are_the_edited_tree(edits: list[Edit]) -> None:
    """Whatever is set, removed and renamed together: the files say the old tree with these edits, and nothing else."""
    expected = copy.deepcopy(TREE)
    for edit in edits:
        _apply(expected, edit)
    assert same(_tree(edited(Texts(EXAMPLE), edits)), expected)


def test_an_edit_goes_to_the_file_that_says_the_value(org: Path) -> None:
    """Into the fragment of a department, also where the unit is inside another file's unit."""
    after = edited(
        Texts(org),
        [
            Edit("set", (*VISION, "weight"), 3),
            Edit("set", ("departments", "research", "departments", "robots", "state"), "held"),
            Edit("set", ("flavors", "h100", "spareNodes"), 1),
        ],
    )
    assert sorted(after.texts) == ["org/departments/research.yaml", "org/departments/robots.yaml", "org/org.yaml"]
    assert _changed_lines(after) == ["+         weight: 3\n", "+     state: held\n", "+         spareNodes: 1\n"]


def test_a_new_key_takes_the_order_of_the_language(org: Path) -> None:
    """Between its neighbours there, in brackets where all of it is new."""
    after = edited(
        Texts(org),
        [
            Edit("set", (*VISION, "policy", "reclaim"), "never"),
            Edit("set", (*VISION, "displayName"), "Vision: all of it"),
            Edit("set", (*VISION, "access", "viewers", 0), "group:all"),
            Edit("set", ("departments", "product", "teams", "search", "budget", "h100", "reserved"), 3),
        ],
    )
    lines = after.texts["org/departments/research.yaml"].splitlines()
    start = lines.index("      vision:")
    assert lines[start + 1 : start + 7] == [
        '        displayName: "Vision: all of it"',
        "        # asked for by the board",
        "        budget:",
        "          h100: 12",
        "        policy: {reclaim: never}",
        '        access: {members: ["group:vision"], viewers: ["group:all"], serviceAccounts: [ci]}',
    ]


def test_what_would_be_empty_goes_but_a_unit_stays(org: Path) -> None:
    """The last key of a mapping takes the mapping along; a unit that says nothing is `{}`."""
    project: KeyPath = ("departments", "research", "teams", "speech", "projects", "demo")
    after = edited(Texts(org), [Edit("remove", (*project, "expires")), Edit("remove", (*VISION, "budget", "h100"))])
    text = after.texts["org/departments/research.yaml"]
    assert "          demo: {}\n" in text
    assert "        # asked for by the board\n        access:" in text
    assert "demo" in _tree(after)["departments"]["research"]["teams"]["speech"]["projects"]


def test_line_ends_a_byte_order_mark_and_a_missing_last_newline_stay(org: Path) -> None:
    """Files of Windows stay files of Windows."""
    path = org / "departments" / "research.yaml"
    data = b"\xef\xbb\xbf" + path.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n")
    path.write_bytes(data)
    after = edited(Texts(org), [Edit("set", (*VISION, "weight"), 3), Edit("set", (*VISION, "budget", "h100"), 9)])
    expected = (
        data.decode("utf-8-sig")
        .replace("        # asked", "        weight: 3\r\n        # asked")
        .replace("h100: 12", "h100: 9")
    )
    assert after.texts["org/departments/research.yaml"] == expected


ALIASED = """\
apiVersion: tenancy/v1alpha1
kind: Departments
departments:
  research:
    teams:
      vision: &usual
        budget: &eight {h100: 8}
      speech: *usual
      sound:
        budget: *eight
        weight: &two 2
      text: {weight: *two}
"""


def test_a_value_behind_an_alias_is_not_changed_for_others_unasked(org: Path) -> None:
    """Both places are named; an alias that is the value itself gives way alone."""
    (org / "departments" / "research.yaml").write_text(ALIASED)
    teams: KeyPath = ("departments", "research", "teams")
    for path in ((*teams, "speech", "weight"), (*teams, "sound", "budget", "h100"), (*teams, "sound", "budget", "cpu")):
        with pytest.raises(Refused, match=r"alias at org/departments/research.yaml:(8|10) from line (6|7)"):
            edited(Texts(org), [Edit("set", path, 1)])
    after = edited(Texts(org), [Edit("set", (*teams, "text", "weight"), 3)])
    assert after.texts["org/departments/research.yaml"] == ALIASED.replace("{weight: *two}", "{weight: 3}")
    assert after.shared == []


def test_a_change_at_an_anchor_says_who_shares_it(org: Path) -> None:
    """The anchor stays, and the lines of the aliases are listed."""
    (org / "departments" / "research.yaml").write_text(ALIASED)
    teams: KeyPath = ("departments", "research", "teams")
    after = edited(Texts(org), [Edit("set", (*teams, "vision", "budget", "h100"), 9)])
    assert after.texts["org/departments/research.yaml"] == ALIASED.replace("h100: 8", "h100: 9")
    assert sorted(after.shared) == ["org/departments/research.yaml:10", "org/departments/research.yaml:8"]


def test_removing_an_anchor_that_others_need_is_refused(org: Path) -> None:
    """The text without it would mean something else, or nothing."""
    (org / "departments" / "research.yaml").write_text(ALIASED)
    with pytest.raises(Refused, match="edit it by hand"):
        edited(Texts(org), [Edit("remove", ("departments", "research", "teams", "sound", "weight"))])


def test_a_rename_may_go_through_aliases_once(org: Path) -> None:
    """The same key reached by two units is renamed in its one place."""
    (org / "departments" / "research.yaml").write_text(ALIASED)
    teams: KeyPath = ("departments", "research", "teams")
    edits = [Edit("rename", (*teams, name, "budget", "h100"), "h200") for name in ("vision", "speech", "sound")]
    after = edited(Texts(org), edits, through_aliases=True)
    assert after.texts["org/departments/research.yaml"] == ALIASED.replace("h100", "h200")


def test_an_edit_of_a_file_itself(org: Path) -> None:
    """`parent` is no part of the merged organization and is changed in its file."""
    name = "org/departments/robots.yaml"
    after = edited(Texts(org), [FileEdit("set", ("parent",), "research/labs", file=name)])
    assert "parent: research/labs\n" in after.texts[name]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Edit("remove", (*VISION, "weight")), "not written anywhere"),
        (Edit("rename", (*VISION, "budget"), "access"), "already has `access`"),
        (Edit("set", (*VISION, "budget", "h100", "limit"), 3), "has no `limit`: it is `12`"),
    ],
)
def test_an_edit_that_cannot_be_made_says_why(org: Path, edit: Edit, why: str) -> None:
    """And nothing is made of it."""
    with pytest.raises(Refused, match=why):
        edited(Texts(org), [edit])


def test_an_organization_that_cannot_be_read_is_not_edited(org: Path) -> None:
    """The loader says why; here it is enough that nothing is guessed."""
    (org / "org.yaml").write_text("a: [")
    with pytest.raises(Refused, match="cannot be read"):
        edited(Texts(org), [Edit("set", ("name",), "x")])
