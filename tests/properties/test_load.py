"""Whatever the text is: values come back as they were, places point at them, and nothing raises."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml as pyyaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tenancy.diagnostics import KeyPath, Place
from tenancy.load import load
from tenancy.load.source import SourceFile, Sources
from tenancy.load.yaml import parse
from tests.examples import often

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT)
KEYS = TEXT.filter(bool)
TREES = st.dictionaries(
    KEYS,
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)),
    min_size=1,
    max_size=4,
)
PIECES = [
    "a",
    "b: ",
    "- ",
    "\n",
    "  ",
    "\t",
    "&x ",
    "*x",
    "!t ",
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
    "|",
    ">",
    "#",
    "?",
    "<<: ",
]
PIECES += [
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "\\",
    "\\ud800",
    "\\UFFFFFFFF",
    "\ufeff",
    "\x00",
    "\x85",
    "1",
    "1e9",
    "~",
    ",",
]
PIECES += ["# tenancy: ignore[x]", "departments:", "file: org.yaml", "\r"]


class _Quoting(pyyaml.SafeDumper):
    """Quotes all text, so that nothing depends on which words another YAML version reserves, and writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _float(_: pyyaml.SafeDumper, value: float) -> pyyaml.ScalarNode:
    word = {"inf": ".inf", "-inf": "-.inf"}.get(repr(value), repr(value))
    return pyyaml.ScalarNode("tag:yaml.org,2002:float", word)


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
_Quoting.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"-?[0-9.]+e[-+]?[0-9]+$"), None)
_Quoting.add_representer(float, _float)


def _leaves(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*path, key))
    else:
        yield path, value


def _cut(text: str, place: Place) -> str:
    lines = text.splitlines(keepends=True)[place.line - 1 : place.end_line]
    lines[-1] = lines[-1][: place.end_column - 1]
    return "".join(lines)[place.column - 1 :]


@settings(max_examples=often(40), deadline=None)
@given(TREES, st.booleans())
def test_values_and_places_come_back(tree: dict[str, Any], flow: bool) -> None:
    """Data that was written with quoted text is read back equal, and every span holds exactly its key or value."""
    text = pyyaml.dump(
        tree, Dumper=_Quoting, default_flow_style=flow, allow_unicode=True, width=10_000, sort_keys=False
    )
    parsed = parse(text, 0, "f")
    assert (parsed.diagnostics, parsed.tree) == ((), tree)
    sources = Sources((SourceFile("f", text),), parsed.tree, parsed.marks)
    for path, value in _leaves(tree):
        again = parse(f"k: {_cut(text, sources.value(path))}", 0, "f").tree
        assert again == {"k": value}
        if isinstance(path[-1], str):
            assert parse(f"? {_cut(text, sources.key(path))}\n", 0, "f").tree == {path[-1]: None}


@settings(max_examples=often(100), deadline=None)
@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_no_text_raises(text: str) -> None:
    """Any text gives a tree or a reason, with libyaml and with the pure parser."""
    for loader in (pyyaml.SafeLoader, getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)):
        parsed = parse(text, 0, "f", loader=loader)
        assert parsed.tree is not None or parsed.diagnostics


@settings(max_examples=often(40), deadline=None)
@given(st.binary(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=20).map(lambda p: "".join(p).encode()))
def test_no_bytes_raise(data: bytes) -> None:
    """Any bytes, as the root and as a departments file, give a result or a reason."""
    head = b"apiVersion: tenancy/v1alpha1\nkind: Departments\n"
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "departments").mkdir()
        (Path(name) / "departments" / "a.yaml").write_bytes(head + data)
        (Path(name) / "org.yaml").write_bytes(data)
        loaded, diagnostics = load(Path(name))
        assert loaded is not None
        assert loaded.tree is not None or diagnostics
