"""Findings that a comment `# tenancy: ignore[code]` silences."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final, TypeAlias

from tenancy.load.source import Marks

Ignores: TypeAlias = dict[int, frozenset[str]]
"""Codes by line, from 1."""

_IGNORE: Final = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*tenancy:[ \t]*ignore\[([^\]]*)\]")
_BLOCK_HEADER: Final = re.compile(r"(?:[&!]\S*[ \t]+)*[|>]")


def ignores(text: str, marks: Marks) -> Ignores:
    """Codes silenced by comments. A comment on a line of its own counts for the next line that holds anything else."""
    if "ignore[" not in text:  # The pattern alone would cost a tenth of all loading.
        return {}
    lines = text.splitlines()
    found = {number: match for number, line in enumerate(lines) if (match := _IGNORE.search(line))}
    quoted = _inside_scalars({number: match.start() for number, match in found.items()}, lines, marks)
    silenced: dict[int, frozenset[str]] = {}
    waiting: frozenset[str] = frozenset()
    for number, line in enumerate(lines):
        content = line.strip()
        codes: frozenset[str] = frozenset()
        if number in found and number not in quoted:
            codes = frozenset(found[number][1].replace(",", " ").split())
        if not content or (content[0] == "#" and number not in quoted):
            waiting |= codes
        elif codes | waiting:
            silenced[number + 1], waiting = codes | waiting, frozenset()
    return silenced


def _inside_scalars(columns: dict[int, int], lines: list[str], marks: Marks) -> set[int]:
    """The lines (from 0) whose `#`, at the given column, belongs to a scalar and begins no comment."""
    numbers, inside = sorted(columns), set[int]()
    for mark in (mark for entries in marks.values() for mark in entries.values()):
        if mark.key_column < columns.get(mark.key_line, -1) < mark.key_end_column:
            inside.add(mark.key_line)
        if mark.line == mark.end_line and mark.line not in columns:
            continue
        header = mark.line if _BLOCK_HEADER.match(lines[mark.line], mark.column) else -1
        for number in numbers[bisect_left(numbers, mark.line) : bisect_right(numbers, mark.end_line)]:
            position = (number, columns[number])
            if number != header and (mark.line, mark.column) < position < (mark.end_line, mark.end_column):
                inside.add(number)
    return inside
