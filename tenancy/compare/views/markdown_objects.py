"""The objects of a comparison as Markdown: names of what goes and comes, and what changes as lines of YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Final

from tenancy.compare.comparison import Comparison
from tenancy.compare.diff import ABSENT, Change, Create, Difference, Update
from tenancy.compare.snapshot import Value
from tenancy.compare.views.markdown_text import Section, details, fence, visible
from tenancy.compare.views.objects import titled
from tenancy.compare.views.words import counts

TITLE: Final = "Objects"

_MOST: Final = 24
"""Lines of a value that are shown."""

_WIDEST: Final = 200
"""Characters of a line that are shown."""

_FRAME: Final = 300
"""Characters of all that is not an object: heading, tags, fence and the note of what is left out."""

_ORDER: Final = " (order)"
"""How the path of a list ends whose order alone differs."""


def objects(comparison: Comparison, room: int) -> Section | None:
    """As many whole objects as fit into `room` characters, deletions first; nothing where that is none."""
    waiting = titled(comparison)
    lines: list[str] = []
    left, more = room - _FRAME, 0
    for each in waiting:
        block = _block(*each)
        left -= sum(len(line) + 1 for line in block)
        if left < 0:
            more = 1 + sum(1 for _ in waiting)
            break
        lines += block
    if not lines:
        return None
    parts = [fence(lines, "diff", _WIDEST)]
    if more:
        parts.append(f"… and {more:,} more, which `tenancy diff` lists.")
    return Section(TITLE, details(counts(comparison), "\n\n".join(parts)))


def _block(change: Change, title: str) -> list[str]:
    """One object; the colours of a diff tell what goes and what comes."""
    if isinstance(change, Update):
        lines = [f"@@ {title} @@", *_differences(change)]
    else:
        lines = [f"{'+' if isinstance(change, Create) else '-'} {title}"]
    return [visible(line, _WIDEST) for line in lines]


def _differences(update: Update) -> Iterator[str]:
    """Each below the path that it shares with those before it."""
    above = ""
    for difference in update.differences:
        parent, key = _split(difference.path)
        if parent != above and parent:
            yield f"  {parent}:"
        above = parent
        indent = "  " if parent else ""
        for sign, value in (("-", difference.old), ("+", difference.new)):
            if value is not ABSENT:
                yield from (f"{sign} {indent}{line}" for line in _cut(_named(key, value, difference)))


def _split(path: str) -> tuple[str, str]:
    """What a path leads into, and its last key."""
    bare = path.removesuffix(_ORDER)
    parent, _, key = bare[:-1].rpartition("[") if bare.endswith("]") else bare.rpartition(".")
    return parent, f"{key}{path[len(bare) :]}"


def _named(key: str, value: Value, difference: Difference) -> Iterator[str]:
    """The value as the item of a list or below its key, as it stands in the file."""
    item = not key or (isinstance(value, dict) and value.get("name") == key and difference.path.endswith("]"))
    return _yaml([value]) if item else _yaml({key: value})


def _yaml(value: Value) -> Iterator[str]:
    """Lines in block style. Only for reading: texts have no quotes, and one of several lines stands on one."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            if isinstance(each, dict | list) and each:
                yield f"{key}:"
                yield from (f"  {line}" for line in _yaml(each))
            else:
                yield f"{key}: {_scalar(each)}"
    elif isinstance(value, list) and value:
        for each in value:
            yield from (f"{'  ' if index else '- '}{line}" for index, line in enumerate(_yaml(each)))
    else:
        yield _scalar(value)


def _scalar(value: Value) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)


def _cut(lines: Iterator[str]) -> Iterator[str]:
    yield from islice(lines, _MOST)
    if any(True for _ in islice(lines, 1)):
        yield "…"
