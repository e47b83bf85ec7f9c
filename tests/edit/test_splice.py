"""Changes of one text: they mean what was asked for, and what they do not concern stays byte for byte."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenancy.edit import splice
from tenancy.edit.nodes import Document, Node, compose, plain, walk
from tenancy.edit.splice import Change
from tenancy.edit.values import same, value_text
from tenancy.load import yaml

TEXTS = {
    "a block": "a: 1\nb: 2\nc: 3\n",
    "comments and blank lines": "# head\na: 1\n# x\nb: 2 # k\n\nc: 3 # last\n# tail\n",
    "brackets": 'a: {x: 1, y: 2}\nb: [p, "q", r]\nd: {}\ne: []\nf: { x: 1 , y: [1,2] }\n',
    "brackets over lines": "m: {\n  a: 1,\n  b: 2, # two\n  # loose\n  c: 3\n}\nn: [\n  a,\n  b,\n]\n",
    "brackets that break anywhere": "o: {a: 1,\n  b: 2}\np: [1, 2,\n    3, 4]\n",
    "lists": "c:\n  - a: 1\n    b: 2\n  - 3\nf:\n- 1\n- {q: 1}\ng:\n  -\n    a: 1\n  - - x\n    - y\n",
    "no value": "a:\nb: 1\nc:\n",
    "block scalars": "x:\n  a: |\n    t\n    u\n\n  b: |+\n    t\n\n  c: >-\n    z\n",
    "quotes": "'q': 'it''s'\n\"z\":\n    deep:\n        deeper: \"1\"\n        # comment\n    other: '2'\n",
    "nested comments": "a:\n  # c1\n  b: 1\n  # tenancy: ignore[x]\n  c: 2\n  # tail\nd: 1\n",
    "markers": "---\na: 1\n...\n",
    "values over lines": 'a: b\n  c\n  d\ne: "x\n  y"\n',
    "wide characters": "ä: 🦊 # é\nb: {c: 𝄞, d: 1}\n",
}
ENDS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no newline at the end": lambda text: text.rstrip("\n"),
}
VALUES: tuple[Any, ...] = (7, 1.5, True, "plain", "s x", "a, b", "1.36", "no # comment", {"k": "v: w"}, ["group:x"], {})


def _operations(document: Document) -> Iterator[tuple[str, Node, Callable[[Change], None]]]:
    """Everything that can be done to every map and list of a text."""
    for holder in walk(document.root):
        if holder.kind not in ("map", "list"):
            continue
        for index, entry in enumerate(holder.entries):
            for value in VALUES:
                yield "replace", holder, partial(splice.replace, holder=holder, index=index, value=value)
            yield "remove", holder, partial(splice.remove, holder=holder, index=index)
            if entry.key is not None:
                yield "rename", holder, partial(splice.rename, holder=holder, index=index, name="new")
        if holder.kind == "list":
            yield "append", holder, partial(splice.append, holder=holder, value="item")
            continue
        keys = [str(entry.key.value) for entry in holder.entries if entry.key is not None]
        for at in range(len(keys) + 1):
            order = [*keys[:at], "new"]
            yield "insert", holder, partial(splice.insert, holder=holder, key="new", value={"k": 1}, order=order)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", TEXTS)
def test_every_change_of_every_text_means_what_it_should(name: str, end: str) -> None:
    """Replacing, removing, renaming, inserting and appending anywhere: the text reads as the changed tree."""
    text = ENDS[end](TEXTS[name])
    document = compose(text)
    refused = []
    for operation, holder, make in _operations(document):
        change = Change(document)
        make(change)
        meant = plain(compose(change.result()).root)
        if not same(meant, change.expected()):
            refused.append((operation, text[holder.start : holder.end], change.result()))
    if name == "block scalars" and end == "no newline at the end":
        refused = refused[1:]  # `|+` keeps the break that ends the text: without the next key it would have one less
    assert refused == []


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", TEXTS)
def test_lines_that_a_change_does_not_concern_stay(name: str, end: str) -> None:
    """No line that is gone had anything but what was changed: every other is there, in its order."""
    text = ENDS[end](TEXTS[name])
    document = compose(text)
    for operation, holder, make in _operations(document):
        change = Change(document)
        make(change)
        old, new = (lines.splitlines() for lines in (text, change.result()))
        lost = [line for line in difflib.ndiff(old, new) if line.startswith("- ")]
        if operation in ("insert", "rename", "append"):
            assert len(lost) <= 1, (operation, text[holder.start : holder.end])
        else:
            first, last = (text.count("\n", 0, at) for at in (holder.start, document.end(holder)))
            assert len(lost) <= last - first + 1, (operation, text[holder.start : holder.end])


@pytest.mark.parametrize("name", TEXTS)
def test_replacing_a_scalar_back_gives_the_old_bytes(name: str) -> None:
    """A change and its reverse cancel out, whatever stands around the value."""
    document = compose(TEXTS[name])
    for holder in walk(document.root):
        for index, entry in enumerate(holder.entries):
            old = entry.value
            if (
                old.kind != "scalar"
                or not old.written
                or old.style in ("|", ">")
                or "\n" in TEXTS[name][old.start : old.end]
            ):
                continue
            change = Change(document)
            splice.replace(change, holder, index, 7 if not isinstance(old.value, str) else "other")
            there = compose(change.result())
            back = Change(there)
            at = next(each for each in walk(there.root) if each.start == holder.start and each.kind == holder.kind)
            splice.replace(back, at, index, old.value)
            assert back.result() == TEXTS[name]


def test_an_anchor_stays_and_reaches_its_aliases() -> None:
    """The value behind an anchor changes for all who refer to it; the alias itself gives way alone."""
    document = compose("a: &x 1\nb: *x\nc: &y {d: 1}\ne: *y\n")
    change = Change(document)
    splice.replace(change, document.root, 0, 2)
    assert change.result() == "a: &x 2\nb: *x\nc: &y {d: 1}\ne: *y\n"
    assert change.expected() == {"a": 2, "b": 2, "c": {"d": 1}, "e": {"d": 1}}
    change = Change(document)
    splice.replace(change, document.root, 1, 2)
    assert change.result() == "a: &x 1\nb: 2\nc: &y {d: 1}\ne: *y\n"
    change = Change(document)
    splice.insert(change, document.root.entries[2].value, "f", 3)
    assert change.expected() == {"a": 1, "b": 1, "c": {"d": 1, "f": 3}, "e": {"d": 1, "f": 3}}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("a:\n  x: 1\n  # deeper comments stay with what is above\nb: 2\n", "new"),
        ("a:\n  x: 1\n\n# of b\nb: 2\n", "new"),
    ],
)
def test_a_new_key_comes_after_the_block_above_with_its_comments(text: str, changed: str) -> None:
    """A comment that is indented below a key belongs to it; one at the margin belongs to the next."""
    document = compose(text)
    change = Change(document)
    splice.insert(change, document.root, changed, 3, ["a", changed, "b"])
    lines = change.result().splitlines()
    assert lines.index("new: 3") == text.splitlines().index("  x: 1") + 1 + ("deeper" in text)


def test_what_silences_a_removed_line_goes_with_it() -> None:
    """Else the comment would silence the findings of the next line; other comments stay."""
    for end in ("\n", "\r\n"):
        document = compose(TEXTS["nested comments"].replace("\n", end))
        change = Change(document)
        splice.remove(change, document.root.entries[0].value, 1)
        assert change.result() == "a:\n  # c1\n  b: 1\n  # tail\nd: 1\n".replace("\n", end)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**20), 10**20)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    )
)
def test_every_value_reads_back(value: Any) -> None:
    """The text of any value is one line that the loader reads as that value, in a block and in brackets."""
    for template, flow in (("k: {}\n", False), ("{{k: {}, l: 1}}\n", True)):
        text = value_text(value, flow=flow)
        parsed = yaml.parse(template.format(text), 0, "text")
        assert parsed.tree is not None
        assert same(parsed.tree["k"], value)
        assert parsed.diagnostics == ()
