"""One text: its values, their places, and what is wrong with it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml as pyyaml

from tenancy.load import RULES
from tenancy.load.events import MAX_DEPTH
from tenancy.load.source import SourceFile, Sources
from tenancy.load.yaml import MAX_BYTES, Parsed, parse

LOADERS = [pyyaml.SafeLoader, getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)]


def codes(parsed: Parsed) -> list[str]:
    return [found.code for found in parsed.diagnostics]


def only_place(parsed: Parsed, code: str) -> tuple[int, int]:
    (found,) = parsed.diagnostics
    assert found.code == code
    return found.place.line, found.place.column


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-7", -7),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("~", None),
        ("", None),
        ("Null", None),
        ("TRUE", True),
        ("tRUE", "tRUE"),
        ("2024-01-02", "2024-01-02"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("0b1", "0b1"),
        ("+", "+"),
        (".", "."),
        ("\u0661", "\u0661"),
        ("'1'", "1"),
        ('"null"', "null"),
        ("|-\n 7", "7"),
    ],
)
@pytest.mark.parametrize("loader", LOADERS)
def test_scalars_follow_the_core_schema(loader: Any, text: str, value: object) -> None:
    """A plain scalar has the type of the YAML 1.2 core schema; a quoted or block scalar is text."""
    parsed = parse(f"k: {text}\n", 0, "f", loader=loader)
    assert parsed.diagnostics == ()
    assert parsed.tree is not None
    assert (type(parsed.tree["k"]), parsed.tree["k"]) == (type(value), value)


def test_nan_is_a_number() -> None:
    """`.nan` is the float that is no number."""
    tree = parse("k: .nan", 0, "f").tree
    assert tree is not None
    assert math.isnan(tree["k"])


def test_keys_are_their_text() -> None:
    """A key keeps its spelling, whatever type the same text has as a value."""
    assert parse("007: a\n1e3: b\ntrue: c\n'null': d\nno: e\n", 0, "f").tree == {
        "007": "a",
        "1e3": "b",
        "true": "c",
        "null": "d",
        "no": "e",
    }


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a:\n\tb: 1\n", "yaml-tab", (2, 1)),
        ("a:\n  b: 1\n \tc: 2\n", "yaml-tab", (3, 2)),
        ("a: b: c\n", "yaml-syntax", (1, 5)),
        ("a: 'x\nb: 1\n", "yaml-syntax", (1, 4)),
        ("a: [1, 2\nb: 3\n", "yaml-syntax", (1, 4)),
        ("a: @x\n", "yaml-syntax", (1, 4)),
        ("a: b\nc: *.yaml\n", "yaml-syntax", (2, 5)),
        ("a:\n  b: 1\n c: 2\n", "yaml-syntax", (3, 2)),
        ("a: 1\nb: 2\na: 3\n", "yaml-duplicate-key", (3, 1)),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "yaml-merge-key", (3, 3)),
        ("a: *x\n", "yaml-alias-undefined", (1, 4)),
        ("a: &x [1, *x]\n", "yaml-alias-recursive", (1, 11)),
        ("a: !!str 1\n", "yaml-tag", (1, 4)),
        ("a: !!python/object/apply:os.system [ls]\n", "yaml-tag", (1, 4)),
        ("a: !foo {}\n", "yaml-tag", (1, 4)),
        ("a: ! x\n", "yaml-tag", (1, 4)),
        ("a: 1\n---\nb: 2\n---\nc: 3\n", "yaml-documents", (2, 1)),
        ("a: 1\nb: x\x00\n", "yaml-unprintable", (2, 5)),
        ("a: \ud800\n", "yaml-unprintable", (1, 4)),
        ("", "yaml-empty", (1, 1)),
        ("# only\n\n", "yaml-empty", (1, 1)),
        ("---\n", "yaml-empty", (1, 1)),
        ("- a\n", "yaml-root", (1, 1)),
        ("word\n", "yaml-root", (1, 1)),
        ("a: 1\n? [b, {c: d}]\n: 2\n", "yaml-complex-key", (2, 3)),
        ("a: &x k\n*x : 2\n", "yaml-complex-key", (2, 1)),
        ("a: 1\n: 2\n", "yaml-null-key", (2, 1)),
        ("a: {: 2}\n", "yaml-null-key", (1, 5)),
        ("a: 1\n~: 2\n", "yaml-null-key", (2, 1)),
        ("%YAML 1.1\n---\na: 1\n", "yaml-version", (1, 1)),
        ("%YAML 3.0\n---\na: 1\n", "yaml-version", (1, 1)),
        ("a: 1" + "0" * 5000, "yaml-number", (1, 4)),
        ("a: 1e999\n", "yaml-number", (1, 4)),
    ],
)
def test_each_mistake_has_its_code_and_place(loader: Any, text: str, code: str, place: tuple[int, int]) -> None:
    """A mistake is reported once, under its own code, at the place where a reader would look for it."""
    assert only_place(parse(text, 0, "f", loader=loader), code) == place


def test_a_duplicate_shows_both_places() -> None:
    """The second key is the finding, the first one is related to it."""
    (found,) = parse("a:\n  b: 1\n  b: 2\n", 0, "f").diagnostics
    assert found.place.path == ("a", "b")
    assert [(related.place.line, related.place.column) for related in found.related] == [(2, 3)]


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("text", ['a: "\\ud800"', '"\\ud800": 1'])
def test_half_a_character_reaches_no_tree(loader: Any, text: str) -> None:
    """An escape that no UTF-8 file could hold is an error, with the pure parser too."""
    parsed = parse(text, 0, "f", loader=loader)
    assert len(parsed.diagnostics) == 1
    assert "\ud800" not in repr(parsed.tree)
    repr(parsed).encode()


def test_one_run_finds_everything_before_a_syntax_error() -> None:
    """Duplicates, tags and undefined aliases do not end the file; a syntax error does."""
    text = "a: !x 1\na: *b\n<<: 1\nc: [\n"
    expected = ["yaml-tag", "yaml-duplicate-key", "yaml-alias-undefined", "yaml-merge-key", "yaml-syntax"]
    assert codes(parse(text, 0, "f")) == expected


def test_a_syntax_error_in_a_later_document_is_found() -> None:
    """The stream is read to its end, so nothing behind a separator is taken for good."""
    assert codes(parse("a: 1\n---\nb: [\n", 0, "f")) == ["yaml-documents", "yaml-syntax"]


def test_refused_entries_do_not_reach_the_tree() -> None:
    """What a merge key, a complex key or a null key holds is left out; the rest of the mapping stays."""
    parsed = parse("<<: {x: 1}\n? [q]\n: {y: 2}\n?\n: 3\nk: v\n", 0, "f")
    assert parsed.tree == {"k": "v"}
    assert set(parsed.marks) == {id(parsed.tree)}


def test_the_path_of_a_finding_can_be_printed() -> None:
    """A finding inside a refused entry has the path of what is around it, and nothing made up."""
    found = parse("k:\n  <<: {x: 1, x: 2}\n", 0, "f").diagnostics
    assert [each.place.path for each in found] == [("k",), ("k", "x")]


def test_an_alias_stands_for_its_value() -> None:
    """An alias has the value of the latest anchor of its name."""
    assert parse("a: &x {n: 1}\nb: *x\nc: &x 2\nd: *x\n&k e: *k\n", 0, "f").tree == {
        "a": {"n": 1},
        "b": {"n": 1},
        "c": 2,
        "d": 2,
        "e": "e",
    }


@pytest.mark.parametrize("wide", [9, 3])
def test_a_yaml_bomb_is_refused(wide: int) -> None:
    """Aliases of aliases are refused by the number of values they stand for, without building them."""
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * wide)}]" for n in range(1, 30)]
    parsed = parse("\n".join(lines), 0, "f")
    assert parsed.tree is None
    assert codes(parsed) == ["yaml-bomb"]


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One file may hold so many values and no more, aliases or not."""
    monkeypatch.setattr("tenancy.load.yaml.MAX_NODES", 100)
    assert codes(parse(f"a: [{'1,' * 98}]", 0, "f")) == []
    assert codes(parse(f"a: [{'1,' * 99}]", 0, "f")) == ["yaml-bomb"]


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_nesting_is_bounded(pair: str) -> None:
    """The deepest nesting that is allowed is read; one level more, or thousands, is refused."""
    opening = {"[]": "[", "{}": "{a: "}[pair]
    deepest = "k: " + opening * (MAX_DEPTH - 1) + pair[1] * (MAX_DEPTH - 1)
    assert codes(parse(deepest, 0, "f")) == []
    assert codes(parse("k: " + opening * MAX_DEPTH + pair[1] * MAX_DEPTH, 0, "f")) == ["yaml-depth"]
    assert codes(parse("k: " + opening * 5000, 0, "f")) == ["yaml-depth"]


def test_a_large_file_is_refused_unread() -> None:
    """A text over the limit is not parsed, whatever it holds."""
    assert codes(parse("[" * (MAX_BYTES + 1), 0, "f")) == ["yaml-size"]


def test_version_1_2_and_a_byte_order_mark_are_accepted() -> None:
    """`%YAML 1.2` says what holds anyway, and a byte order mark says nothing."""
    parsed = parse("\ufeff%YAML 1.2\n---\na: 1\n...\n", 0, "f")
    assert (parsed.tree, parsed.diagnostics) == ({"a": 1}, ())


def test_ignores_belong_to_lines() -> None:
    """A comment silences its own line, or the next line with content where it stands alone."""
    text = (
        "a: 1  # tenancy: ignore[one]\n"
        "# tenancy: ignore[two, three]\n"
        "\n"
        "# another comment\n"
        "b: 2 # tenancy:ignore[four]\n"
        "c: [x, # because # tenancy: ignore[five]\n"
        "  y]\n"
        "d: | # tenancy: ignore[six]\n"
        "  text\n"
        "# tenancy: ignore[lost]\n"
    )
    assert parse(text, 0, "f").ignores == {
        1: frozenset({"one"}),
        5: frozenset({"two", "three", "four"}),
        6: frozenset({"five"}),
        8: frozenset({"six"}),
    }


def test_text_that_looks_like_an_ignore_is_text() -> None:
    """A `#` inside a quoted scalar, a block scalar or a quoted key begins no comment."""
    text = (
        "a: 'x # tenancy: ignore[q]'\n"
        "b: |\n  # tenancy: ignore[q]\n  text\n"
        'c: "x\n  # tenancy: ignore[q]\n  y"\n'
        '"k # tenancy: ignore[q]": 1\n'
        "d: x#tenancy: y\n"
    )
    assert parse(text, 0, "f").ignores == {}


def test_places_of_keys_and_values() -> None:
    """Sources gives the span of every key and value, list items included, with both ends."""
    text = "a:\n  bee: 'x y'\n  c: [1, {d: two}]\n"
    parsed = parse(text, 0, "f")
    sources = Sources((SourceFile("f", text),), parsed.tree, parsed.marks)
    key, value, item = sources.key(("a", "bee")), sources.value(("a", "bee")), sources.value(("a", "c", 0))
    assert (key.line, key.column, key.end_column) == (2, 3, 6)
    assert (value.line, value.column, value.end_column) == (2, 8, 13)
    assert (item.line, item.column, item.end_column) == (3, 7, 8)
    assert sources.value(("a", "c", 1, "d")).column == 14


def test_rules_are_complete_and_distinct() -> None:
    """Every code is in kebab case and used by one rule, which says why it matters."""
    assert len({rule.code for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.code.replace("-", "").isalnum()
        assert rule.code == rule.code.lower()
        assert rule.title[0].isupper()
        assert rule.why.endswith(".")
