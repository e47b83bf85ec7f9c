"""The text that a template makes for one unit, with the line of the template that each part of it comes from.

Also judges whether every value stands where YAML reads it as a whole: then nothing in it can become YAML. libyaml's own
events decide that, not a guess from the text around the value.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, ScalarEvent

from tenancy.load.yaml import LOADER
from tenancy.render.sandbox import END, LINE, START

_PIECES: Final = re.compile(f"{LINE}([0-9]+){LINE}|{START}|{END}|\n|[^{LINE}{START}{END}\n]+")
_SEPARATOR: Final = re.compile(r"---(?:[ \t]|$)")
_NOTHING: Final = re.compile(r"[ \t]*(?:#.*)?|(?:---|\.\.\.)[ \t]*(?:#.*)?")

_Position: TypeAlias = tuple[int, int]
"""Line and column, from 0."""


class Span(NamedTuple):
    """Where a value was written."""

    start: _Position
    end: _Position


@dataclass(frozen=True, slots=True)
class Rendered:
    """`lines` of the text; `origins` are the template's lines (from 1), one for each; `values` in their order."""

    lines: tuple[str, ...]
    origins: tuple[int, ...]
    values: tuple[Span, ...]

    @property
    def text(self) -> str:
        """All lines as one text."""
        return "\n".join(self.lines)


def rendered(raw: str) -> Rendered:
    """The text without its marks (see `tenancy.render.sandbox`). A line comes from where its first part does."""
    lines: list[str] = []
    origins: list[int] = []
    values: list[Span] = []
    parts: list[str] = []
    column, origin, current, start = 0, 0, 1, (0, 0)
    for piece in _PIECES.finditer(raw):
        text = piece[0]
        if piece[1]:
            current = int(piece[1])
        elif text == START:
            start = (len(lines), column)
        elif text == END:
            values.append(Span(start, (len(lines), column)))
        elif text == "\n":
            lines.append("".join(parts))
            origins.append(origin or current)
            parts, column, origin = [], 0, 0
        else:
            parts.append(text)
            column += len(text)
            origin = origin or current
    return Rendered((*lines, "".join(parts)), (*origins, origin or current), tuple(values))


def documents(text: Rendered) -> Iterator[tuple[int, str]]:
    """Each document that says something, with the line (from 0) where it does so first.

    Empty lines stand before it, so that its lines keep their numbers.
    """
    first = 0
    starts = [number for number, line in enumerate(text.lines) if _SEPARATOR.match(line)]
    for end in (*starts, len(text.lines)):
        lines = text.lines[first:end]
        said = next((number for number, line in enumerate(lines, first) if not _NOTHING.fullmatch(line)), None)
        if said is not None:
            yield said, "\n" * first + "\n".join(lines)
        first = end


def misplaced(text: Rendered) -> tuple[list[Span], bool]:
    """The values that are no YAML value by themselves, and whether the text is YAML at all.

    A comment and a literal block may hold any value. Where the text is no YAML, the values are those that touch other
    text on a line that the parser did not get past.
    """
    exact: set[Span] = set()
    scalars: list[tuple[Span, bool]] = []
    opened: list[_Position] = []
    failed: int | None = None
    try:
        for event in yaml.parse(text.text, Loader=LOADER):
            span = Span(_position(event.start_mark), _position(event.end_mark))
            if isinstance(event, ScalarEvent):
                exact.add(span)
                scalars.append((span, event.style in ("|", ">")))
            elif isinstance(event, CollectionStartEvent):
                opened.append(span.start)
            elif isinstance(event, CollectionEndEvent):
                exact.add(Span(opened.pop(), span.end))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        failed = mark.line if mark is not None else 0
    if failed is not None:
        return [value for value in text.values if _touching(text, value, failed)], False
    starts = [span.start for span, _ in scalars]
    return [value for value in text.values if value not in exact and _inside_other(value, scalars, starts)], True


def _inside_other(value: Span, scalars: list[tuple[Span, bool]], starts: list[_Position]) -> bool:
    """Whether a scalar that is no literal or folded block overlaps the value."""
    after = bisect_right(starts, value.start)
    near = scalars[max(after - 1, 0) : after + 1]
    return any(span.start < value.end and value.start < span.end and not block for span, block in near)


def _touching(text: Rendered, value: Span, failed: int) -> bool:
    line = text.lines[value.start[0]]
    before, after = line[: value.start[1]], line[value.end[1] :]
    touches = before[-1:] not in ("", " ", "\t", "[", "{", ",") or after[:1] not in ("", " ", "\t", "]", "}", ",", ":")
    return touches and failed - 1 <= value.start[0] <= failed


def _position(mark: Any) -> _Position:
    return mark.line, mark.column
