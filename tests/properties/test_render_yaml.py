"""No name or text can break the YAML: what is emitted is read back as the same value by readers of both versions."""

from __future__ import annotations

from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tenancy.load.yaml import parse
from tenancy.render.yaml import document, documents
from tests.examples import often

# Mostly characters that mean something to YAML, so that short texts hit its corners; and all of Unicode but surrogates.
risky = st.text(
    alphabet="aeyn01._-+:#?!&*|>%@`'\"\\/,[]{}=<~ \t\n\r\x00\x7f\x85\xa0\u2028\u2029\ufeff\ufffe🚀", max_size=12
)
words = st.sampled_from(["yes", "NO", "on", "null", "~", "0o10", "1e3", "12:30", "2024-01-02", "<<", "=", "---", "..."])
blocks = st.lists(risky | st.text(alphabet="ab \t#-:", max_size=6), min_size=2, max_size=5).map("\n".join)
texts = risky | words | blocks | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
leaves = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


@pytest.mark.slow
@settings(max_examples=often(200), deadline=None)
@given(values)
def test_every_value_is_read_back(value: Any) -> None:
    """Readers of YAML 1.1 (pure Python and libyaml) and of YAML 1.2 find the value that was written, types included."""
    text = document(value)
    assert text.encode().endswith(b"\n")
    for read in (pyyaml.safe_load, libyaml, YAML(typ="safe", pure=True).load):
        assert same(read(text), value)


@settings(deadline=None)
@given(st.dictionaries(texts, values, max_size=4))
def test_our_own_loader_reads_every_value_back(value: Any) -> None:
    """The loader of organizations finds the value that was written and has nothing to complain about."""
    parsed = parse(document({"root": value}), 0, "root.yaml")
    assert same(parsed.tree, {"root": value})
    assert parsed.diagnostics == ()


@settings(deadline=None)
@given(st.lists(values, max_size=4))
def test_every_document_of_a_file_is_read_back(each: list[Any]) -> None:
    """The separator never merges or splits documents, whatever their texts contain."""
    assert same(list(pyyaml.load_all(documents(each), pyyaml.CSafeLoader)), each)


@settings(deadline=None)
@given(values, values)
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    """A difference in the values always shows in the text, and equal values never differ."""
    assert (document(one) == document(other)) == same(one, other)


@given(values)
def test_the_text_is_visible_ascii_blanks_or_printable(value: Any) -> None:
    """No control character, no line break but the newline, and no byte order mark reaches a file."""
    assert not set(document(value)) & {*map(chr, range(9)), *"\x0b\x0c\r\x7f\x85\xa0\u2028\u2029\ufeff\ufffe"}


def libyaml(text: str) -> Any:
    return pyyaml.load(text, pyyaml.CSafeLoader)


def same(one: Any, other: Any) -> bool:
    """Equal in value, type and order of keys, so that 1 is not True."""
    return repr(one) == repr(other)
