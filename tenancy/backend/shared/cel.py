"""Texts and lists of texts as CEL literals: the only way in which a value of the plan gets into an expression."""

from __future__ import annotations

import json
from collections.abc import Iterable


def text(value: str) -> str:
    """A CEL string literal. JSON's escapes are a subset of CEL's, except for surrogates, which no text here has."""
    return json.dumps(value, ensure_ascii=False)


def texts(values: Iterable[str]) -> str:
    """A CEL list of string literals, in the given order."""
    return f"[{', '.join(map(text, values))}]"
