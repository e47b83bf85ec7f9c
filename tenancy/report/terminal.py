"""Text on a terminal: what is safe to write there, how many cells it fills, and how it is wrapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from unicodedata import category, east_asian_width

ESCAPED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""General categories that drive a terminal, hide or reorder text, or cannot be encoded; never written raw."""

JOINERS = "\u200c\u200d"
"""Format characters that ordinary words need: the zero-width non-joiner and joiner."""

NARROWEST: Final = 40
"""Cells of the last column below which a line is not squeezed further."""


def visible(text: str) -> str:
    """The text with control characters, direction overrides, line breaks and lone surrogates as backslash escapes."""
    return text if text.isprintable() else "".join(map(_visible, text))


def cells(text: str) -> int:
    """The number of terminal cells that visible text fills."""
    return len(text) if text.isascii() else sum(map(_width, text))


def piece(character: str) -> tuple[str, int]:
    """How one character of a source line is shown, and in how many cells; a tab becomes four spaces."""
    shown = "    " if character == "\t" else _visible(character)
    return shown, cells(shown)


def wrap(text: str, width: int) -> list[str]:
    """Break text at spaces into lines of at most `width` cells, where its words allow.

    Lines of the text stay lines, and the indent of a line stays on its continuations: a snippet keeps its shape.
    """
    return [line for paragraph in text.splitlines() for line in _wrap(visible(paragraph.expandtabs(4)), width)]


def hanging(lead: str, sentence: str, width: int, gap: str = "  ") -> Iterator[str]:
    """A sentence beside what it is about, its later lines under the first."""
    for part in wrap(sentence, max(width - cells(lead) - len(gap), NARROWEST)) or [""]:
        yield f"{lead}{gap}{part}".rstrip()
        lead = " " * cells(lead)


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of left-aligned columns; the last one is not padded, so no line ends in blanks."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _wrap(text: str, width: int) -> list[str]:
    if cells(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip(" ")))
    lines: list[str] = []
    line, used = indent, len(indent)
    for word in text.split():
        size = cells(word)
        if used > len(indent) and used + 1 + size > width:
            lines.append(line)
            line, used = indent, len(indent)
        gap = " " if used > len(indent) else ""
        line, used = f"{line}{gap}{word}", used + len(gap) + size
    return [*lines, line]


def _visible(character: str) -> str:
    if category(character) not in ESCAPED or character in JOINERS:
        return character
    return character.encode("unicode_escape").decode("ascii")


def _width(character: str) -> int:
    """Zero for marks and joiners, two for wide characters, one for the rest, as terminals do."""
    if category(character) in ("Mn", "Me") or character in JOINERS or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
