from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml as pyyaml
from ruamel.yaml import YAML

from tenancy.load.yaml import parse
from tenancy.render import yaml
from tenancy.render.yaml import document, documents

READERS: dict[str, Callable[[str], Any]] = {
    "PyYAML, 1.1": pyyaml.safe_load,
    "libyaml, 1.1": lambda text: pyyaml.load(text, pyyaml.CSafeLoader),
    "ruamel.yaml, 1.2": lambda text: YAML(typ="safe", pure=True).load(text),
}

RESERVED = "y Y n N yes Yes YES no No NO on On ON off Off OFF true True TRUE false False FALSE null Null NULL ~"
NUMBERS = (
    "0 1 -1 +1 010 0o10 08 0x1F 0b11 1_000 1e3 1E3 1e+3 12e03 25921e05 1. .5 1.5 -.5 +.5e1 12:30:45 1:20 190:20:30.15 "
    ".inf -.INF .nan .NaN 64Gi 500m _1 2024-01-02 2024-01-02T03:04:05Z 2001-12-14t21:59:43.10-05:00 1.10"
)
INDICATORS = "- -- --- ... ? : = << | |- > >- & &a * *a ! !!str % %YAML @ ` , [ ] { } # \\ / . - ' \" [] {} ''"
SENTENCES = [
    "",
    " ",
    "  ",
    "- x",
    "? x",
    "a: b",
    "a:",
    ":a",
    "a #b",
    "a#b",
    "# a",
    " lead",
    "trail ",
    "\tlead",
    "trail\t",
    "in\tside",
    "it's",
    'say "so"',
    "back\\slash",
    "a\\nb",
    "{a: 1}",
    "[a, b]",
    "a, b",
    "*.example.com",
    "&anchor",
    "!tag x",
    "%d GPUs",
    "{{ .Values.x }}",
    "key: |",
    "group:vision",
    "https://example.com:443/a?b=c#d",
    "gpu.acme.example/reserved=training:NoSchedule",
    "café",
    "数学",
    "🚀",
    "👩‍💻 e\u0301",
    "\x00",
    "\x07\x1b[31m",
    "\x7f",
    "\x80",
    "a\x85b",
    "a\xa0b",
    "a\u2028b",
    "a\u2029b",
    "\ufeffbom",
    "mid\ufeffbom",
    "\u202eright to left",
    "zero\u200bwidth",
    "\ufffe\uffff\ufffd",
    "\ue000\U0010ffff\U000e0041",
    "x" * 3000,
    "word " * 1000,
    "é" * 1025,
]
LINES = [
    "\n",
    "\n\n",
    "a\n",
    "a\nb",
    "a\nb\n",
    "a\nb\n\n",
    "\na",
    "a\n\nb\n",
    " a\nb",
    "a\n b\n",
    "\ta\nb",
    "a\n\tb\n",
    "a\n\t\nb",
    "a \nb",
    "a\nb ",
    "a\n \nb\n",
    "a\r\nb\r\n",
    "a\rb",
    "a\r",
    "---\na\n",
    "a\n---\n...\nb\n",
    "# a\n# b\n",
    "- a\n- b\n",
    "a: |\n  b\n",
    "%a\n%b\n",
    "a\x85\nb",
    "a\u2028\nb\n",
    "a\n\ufeffb\n",
    "a\n\x00\n",
    "#!/bin/sh\nset -eu\n\nif true; then\n  echo 'x: y' # z\nfi\n",
]
AMBIGUOUS = [*RESERVED.split(), *NUMBERS.split(), *INDICATORS.split()]
AWKWARD = [*AMBIGUOUS, *SENTENCES, *LINES]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_no_text_can_break_the_yaml(read: Callable[[str], Any]) -> None:
    """Every awkward text comes back unchanged as a value, as a key and as a list item, alone and among others."""
    for text in AWKWARD:
        value = {"value": text, text: {"in": [text, {text: text}, [text, text]], text: []}, "after": 1}
        assert read(document(value)) == value, ascii(text)
        assert read(document(text)) == text, ascii(text)
    everything = {"list": AWKWARD, "keys": dict.fromkeys(AWKWARD, 1), "map": {text: text for text in AWKWARD}}
    assert read(document(everything)) == everything


def test_our_own_loader_reads_every_text_back() -> None:
    """What is emitted is also an input: the loader finds every awkward text, and nothing to complain about."""
    everything = {"list": AWKWARD, "keys": dict.fromkeys(AWKWARD, 1), "map": {text: text for text in AWKWARD}}
    parsed = parse(document(everything), 0, "all.yaml")
    assert parsed.tree == everything
    assert parsed.diagnostics == ()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_reads_every_text_back(tmp_path: Path) -> None:
    """The Go reader of Kubernetes finds every awkward text as a key and as a value of a ConfigMap."""
    texts = {text: text for text in AWKWARD} | {"k" * 3000: "a\nb\n"}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "all", "labels": {}}, "data": texts}
    (tmp_path / "all.yaml").write_text(document(config_map), encoding="utf-8", newline="")
    command = ["kubectl", "label", "--local", "-f", str(tmp_path / "all.yaml"), "read=back", "-o", "json"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout)["data"] == texts


@pytest.mark.parametrize("text", [text for text in AMBIGUOUS if text != "/"], ids=ascii)
def test_what_a_reader_might_not_take_for_text_is_quoted(text: str) -> None:
    """Words, numbers and dates of any YAML version are quoted, whether the reader at hand knows them or not."""
    assert document(text)[0] == '"'


@pytest.mark.parametrize(
    "text", ["Any", "/healthz", "rbac.authorization.k8s.io/v1", "a@b.c", "x+1", "nvidia.com/gpu", "e3"]
)
def test_ordinary_names_stay_plain(text: str) -> None:
    """Names, API groups and paths are written as people write them."""
    assert document({text: text}) == f"{text}: {text}\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("64Gi", '"64Gi"'),
        ("no", '"no"'),
        ("", '""'),
        ('say "so" \\', r'"say \"so\" \\"'),
        ("a\tb", r'"a\tb"'),
        ("\x00\x1b\x7f\x85\xa0", r'"\u0000\u001b\u007f\u0085\u00a0"'),
        ("\u2028\u2029\ufeff\u202e\ufffe", r'"\u2028\u2029\ufeff\u202e\ufffe"'),
        ("\U000e0041", r'"\U000e0041"'),
        ("café 🚀", '"café 🚀"'),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n\n b\n", "|\n  a\n\n   b"),
        ("a\nb\n\n", r'"a\nb\n\n"'),
        ("\na\n", r'"\na\n"'),
        (" a\nb\n", r'" a\nb\n"'),
        ("\ta\nb\n", r'"\ta\nb\n"'),
        ("a \nb\n", r'"a \nb\n"'),
        ("a\r\nb\r\n", r'"a\r\nb\r\n"'),
        ("a\u2028\nb", r'"a\u2028\nb"'),
    ],
    ids=ascii,
)
def test_each_text_has_one_spelling(text: str, shown: str) -> None:
    """Plain, literal block or double quotes: choice and escapes are fixed, nothing invisible stays invisible."""
    assert document({"k": text}) == f"k: {shown}\n"


def test_objects_are_laid_out_as_prettier_and_yamllint_expect() -> None:
    """Block style, two spaces, lists indented below their key, the dict's own order, empty containers inline."""
    value = {
        "kind": "Example",
        "apiVersion": "v1",
        "spec": {
            "count": -3,
            "on": True,
            "off": False,
            "nothing": None,
            "empty": {},
            "none": [],
            "names": ["a", "1", 2, None, {}, []],
            "rules": [{"verbs": ["get"], "to": {"x": "y"}}, {"only": {"deep": [1]}}],
            "grid": [[1, [2, 3]], [{"a": 1, "b": 2}]],
        },
        "script": "set -e\nrun\n",
        "scripts": ["set -e\nrun", {"s": "a\n\n  b\n"}],
    }
    assert document(value) == dedent("""\
        kind: Example
        apiVersion: v1
        spec:
          count: -3
          "on": true
          "off": false
          nothing: null
          empty: {}
          none: []
          names:
            - a
            - "1"
            - 2
            - null
            - {}
            - []
          rules:
            - verbs:
                - get
              to:
                x: "y"
            - only:
                deep:
                  - 1
          grid:
            - - 1
              - - 2
                - 3
            - - a: 1
                b: 2
        script: |
          set -e
          run
        scripts:
          - |-
            set -e
            run
          - s: |
              a

                b
        """)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        (None, "null\n"),
        (True, "true\n"),
        (7, "7\n"),
        ("a\nb", "|-\n  a\n  b\n"),
        ([1], "- 1\n"),
    ],
    ids=repr,
)
def test_any_value_can_be_the_document(value: object, text: str) -> None:
    """A document need not be a mapping."""
    assert document(value) == text


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_keys_longer_than_readers_accept_become_explicit(read: Callable[[str], Any]) -> None:
    """A key of more than 1,024 characters, which no reader takes before a colon, is written with a question mark."""
    key = "k" * 5000
    value = {key: {key: [{key: "a\nb\n", "z": 1}, {"y": 1, key: []}], "short": key}, "after": {key: None}}
    assert document({key: 1}) == f'? "{key}"\n: 1\n'
    assert read(document(value)) == value


def test_long_text_is_never_folded() -> None:
    """A text takes one line, however long, so that a small change is a small difference."""
    assert document({"a": "word " * 1000}).count("\n") == 1


def test_documents_are_separated_by_one_marker() -> None:
    """A file of several documents has a marker between them and none before or after."""
    assert documents([]) == ""
    assert documents([{"a": 1}]) == "a: 1\n"
    assert documents(iter([{"a": "x\ny\n"}, [], {"b": 2}])) == "a: |\n  x\n  y\n---\n[]\n---\nb: 2\n"


def test_a_text_enum_counts_as_its_text() -> None:
    """A subclass of str is written as the same text as the str that equals it, as key and as value."""

    class Mode(StrEnum):
        NO = "no"
        LONG = "a\nb\n"

    expected = {"no": "no", "list": ["no", "a\nb\n"], "long": "a\nb\n"}
    assert document({Mode.NO: Mode.NO, "list": list(Mode), "long": Mode.LONG}) == document(expected)


@pytest.mark.parametrize(
    "value",
    [1.5, float("nan"), (1,), {1}, b"a", object(), {1: "a"}, {None: 1}, {True: 1}, {"a": [{"b": 0.0}]}, [(), ()]],
    ids=lambda value: type(value).__name__ if type(value) is object else repr(value),
)
def test_other_types_are_refused(value: object) -> None:
    """Floats, tuples, bytes and keys that are not text are a mistake of the caller, not a spelling to be guessed."""
    with pytest.raises(TypeError):
        document(value)


def test_a_key_is_judged_by_its_type_even_when_an_equal_one_was_seen() -> None:
    """What the emitter remembers about texts does not let a number pass as a key."""
    document({"1": "1"})
    with pytest.raises(TypeError, match="a key must be text, not a int"):
        document({1: "1"})


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, ["a\n\udc80"], {"k" * 600 + "\ud83d": 1}], ids=ascii)
def test_a_lone_surrogate_is_refused(value: object) -> None:
    """What is not Unicode has no YAML spelling that libyaml and Kubernetes read, so it never reaches a file."""
    with pytest.raises(ValueError, match="lone surrogate"):
        document(value)


def test_the_memory_of_texts_is_bounded_and_changes_nothing() -> None:
    """The same value gives the same text before and after more texts than the emitter remembers."""
    before = document({"no": "no", "a": "x\ny"})
    many = {f"key{number}": f"{number} texts" for number in range(20_000)}
    assert pyyaml.load(document(many), pyyaml.CSafeLoader) == many
    assert len(yaml._KEYS) <= 8192
    assert len(yaml._TEXTS) <= 8192
    assert document({"no": "no", "a": "x\ny"}) == before
