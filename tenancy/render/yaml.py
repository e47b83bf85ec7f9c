"""Canonical YAML of plain values: one text for each value, which YAML 1.1 and 1.2 readers read back as that value.

Block style; keys in the order of the dict; two spaces of indentation, lists below their key indented by two as well
(what prettier writes and yamllint asks for by default, so that neither wants to touch the output). No line is folded.

A text stands plain only where no reader can take it for anything else; it is a literal block where it has several
well-behaved lines; else it is double-quoted, with everything escaped that a reader or a reviewer cannot see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""dict with text keys, list, str, int, bool or None, nested. Subclasses of str count as str; all else is refused."""

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./@+-]*")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML 1.1 or 1.2 reads as something else than text, whatever their case."""

_ESCAPED = re.compile(
    "[\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    "\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"
)
"""What JSON leaves as it is although YAML forbids it (C1 controls, U+FFFE), takes it for a line break (NEL, LS, PS) or
swallows it (the byte order mark), and what hides text from a reviewer (bidirectional controls, odd blanks)."""

_NOT_LITERAL = re.compile(r"[\x00-\x08\x0b-\x1f]|\A[ \t\n]|[ \t]$|\n\n\Z", re.MULTILINE)
"""What keeps a text of several lines out of a literal block: controls, a first line that would set a wrong indentation,
blanks that editors trim at the end of a line, and more than one newline at the end."""

_LONGEST_SIMPLE_KEY = 512
"""Readers give up on `key:` above 1,024 characters, so longer keys are written `? key`; with a margin."""

_Append: TypeAlias = Callable[[str], None]


def document(value: Value) -> str:
    """One YAML document without a marker, ending in a newline.

    Raises TypeError for a type that is not a `Value`, and ValueError for a text with a lone surrogate: that is not
    Unicode, and YAML has no spelling for it that libyaml or Kubernetes would read.
    """
    parts: list[str] = []
    if type(value) is dict and value:
        _mapping(value, "\n", "", parts.append)
    elif type(value) is list and value:
        _sequence(value, "\n", "", parts.append)
    else:
        parts.append(_leaf(value, "\n  "))
    parts.append("\n")
    return "".join(parts)


def documents(values: Iterable[Value]) -> str:
    """The documents of a multi-document file, with `---` between them; no values make an empty text."""
    return "---\n".join(map(document, values))


def flow(value: Value) -> str:
    """The value on one line wherever a value may stand: texts double-quoted, lists and mappings in JSON's brackets.

    Raises as `document` does.
    """
    if isinstance(value, str):
        return _quoted(value)
    if type(value) is dict:
        return "{" + ", ".join(f"{_quoted(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if type(value) is list:
        return "[" + ", ".join(map(flow, value)) + "]"
    return _leaf(value, "")


# The next two functions are the hot path: they repeat each other's branches because a shared call would cost speed.
def _mapping(mapping: dict[str, Value], pad: str, lead: str, append: _Append) -> None:
    """Append the entries of a non-empty dict. `pad` is a newline and their indentation; `lead` precedes the first."""
    inner = pad + "  "
    for key, value in mapping.items():
        name = _KEYS[key] or f"? {_quoted(key)}{pad}:"
        kind = type(value)
        if kind is str:
            append(f"{lead}{name} {_TEXTS[value] or _literal(value, inner)}")
        elif kind is dict and value:
            append(lead + name)
            _mapping(value, inner, inner, append)
        elif kind is list and value:
            append(lead + name)
            _sequence(value, inner, inner, append)
        else:
            append(f"{lead}{name} {_leaf(value, inner)}")
        lead = pad


def _sequence(sequence: list[Value], pad: str, lead: str, append: _Append) -> None:
    """Append the items of a non-empty list; `pad` and `lead` as for a mapping."""
    inner = pad + "  "
    for value in sequence:
        kind = type(value)
        if kind is str:
            append(f"{lead}- {_TEXTS[value] or _literal(value, inner)}")
        elif kind is dict and value:
            _mapping(value, inner, lead + "- ", append)
        elif kind is list and value:
            _sequence(value, inner, lead + "- ", append)
        else:
            append(f"{lead}- {_leaf(value, inner)}")
        lead = pad


def _leaf(value: Value, inner: str) -> str:
    """A value without entries. `inner` is a newline and the indentation of a literal block."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = str.__str__(value)
        return _TEXTS[text] or _literal(text, inner)
    kind = type(value)
    if kind is int:
        return str(value)
    if kind is dict:
        return "{}"
    if kind is list:
        return "[]"
    raise TypeError(f"a {kind.__name__} has no canonical YAML: {value!r:.80}")


def _key(key: str) -> str:
    """A key with its colon, or "" where it is too long for that."""
    if not isinstance(key, str):
        raise TypeError(f"a key must be text, not a {type(key).__name__}: {key!r:.80}")
    shown = _plain_or_quoted(key)
    return f"{shown}:" if len(shown) <= _LONGEST_SIMPLE_KEY else ""


def _text(text: str) -> str:
    """A text as it stands on the line of its key, or "" where it makes a literal block."""
    if "\n" in text and not _NOT_LITERAL.search(text) and not _ESCAPED.search(text):
        return ""
    return _plain_or_quoted(text)


def _literal(text: str, inner: str) -> str:
    """A literal block; the indicator says whether the text ends in a newline. Empty lines stay empty."""
    head, body = ("|", text[:-1]) if text.endswith("\n") else ("|-", text)
    return head + "".join(inner + line if line else "\n" for line in body.split("\n"))


def _plain_or_quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED else _quoted(text)


def _quoted(text: str) -> str:
    return _ESCAPED.sub(_escape, json.dumps(str.__str__(text), ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"a lone surrogate (U+{code:04X}) is not Unicode text and cannot be written as YAML")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


class _Memo(dict[str, str]):
    """What `function` makes of each text seen lately; a dict, because a hit costs a third less than in `lru_cache`."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[str], str]) -> None:
        self.function = function

    def __missing__(self, text: str) -> str:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        made = self[text] = self.function(text)
        return made


_MOST_REMEMBERED = 8192
_KEYS = _Memo(_key)
_TEXTS = _Memo(_text)
