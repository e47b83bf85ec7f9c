"""The YAML text of values, in the way that its surroundings are written.

A plain scalar stays plain where it reads back as the same value; all else is quoted by ruamel.yaml.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Final

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, SingleQuotedScalarString

from tenancy.edit.nodes import compose, plain
from tenancy.load.scalars import ODD_KEYS
from tenancy.load.source import Raw

_NEVER: Final = 1 << 30
_QUOTED: Final[dict[str, type[str]]] = {'"': DoubleQuotedScalarString, "'": SingleQuotedScalarString}


@dataclass(frozen=True, slots=True)
class Written:
    """A value with the spelling that somebody gave it, which is kept: 3.20 and 3.2 are one number."""

    value: Raw
    spelling: str = ""


def value_text(value: Raw | Written, *, flow: bool, style: str = "") -> str:
    """The text of a value on one line; `flow` where it stands in brackets, `style` are the quotes that texts get."""
    if isinstance(value, Written):
        if value.spelling and not style and _reads_as(value.spelling, value.value, flow=flow):
            return value.spelling
        value = value.value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key_text(key)}: {value_text(each, flow=True)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        # A subject is full of colons: in quotes, as people write them, it needs no second look.
        styles = ['"' if isinstance(each, str) and ":" in each else "" for each in value]
        return (
            "[" + ", ".join(value_text(each, flow=True, style=s) for each, s in zip(value, styles, strict=True)) + "]"
        )
    return _scalar(value, flow=flow, style=style if isinstance(value, str) else "")


def key_text(key: str, style: str = "") -> str:
    """The text of a key, which is read as text whatever it looks like."""
    if not style and _is_key(key, key):
        return key
    return _quoted(key, style or '"')


def _scalar(value: Raw, *, flow: bool, style: str) -> str:
    text = {True: "true", False: "false", None: "null"}.get(value) if isinstance(value, bool | None) else str(value)
    assert text is not None
    if not style and _reads_as(text, value, flow=flow):
        return text
    return _quoted(text, style or '"')


def _quoted(text: str, style: str) -> str:
    """The text in quotes; in double ones where the single ones cannot hold it on one line."""
    writer, stream = YAML(typ="rt", pure=True), io.StringIO()
    writer.width, writer.allow_unicode = _NEVER, True
    kind = _QUOTED[style] if text.isprintable() else DoubleQuotedScalarString
    writer.dump([kind(text)], stream)
    return stream.getvalue().removeprefix("- ").rstrip("\n")


def _reads_as(text: str, value: Raw, *, flow: bool) -> bool:
    """Whether the text means the value where a value stands, with nothing left over."""
    if not text or text != text.strip() or len(text.splitlines()) != 1:
        return False
    try:
        return same(plain(compose(f"{{k: {text}, l: 1}}" if flow else f"k: {text}\nl: 1\n").root), {"k": value, "l": 1})
    except (yaml.YAMLError, ValueError):
        return False


def _is_key(text: str, key: str) -> bool:
    if not text or len(text.splitlines()) != 1 or text in ODD_KEYS:
        return False
    try:
        root = compose(f"{{{text}: 1}}").root
    except (yaml.YAMLError, ValueError):
        return False
    return same(plain(root), {key: 1}) and bool(root.entries)


def same(one: Raw, other: Raw) -> bool:
    """Whether two trees are equal in kind, order and value: 1 is not true, and 1.0 is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(each, other[key]) for key, each in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or repr(one) == repr(other) == "nan"
