"""Where every value of an organization was written.

The loader keeps plain dicts, lists and scalars as the tree, and beside it one table of marks: for each container (by
identity) the span of every key and value. A place is looked up only when a diagnostic needs one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tenancy.diagnostics import KeyPath, Place

Raw: TypeAlias = Any
"""A YAML value: dict with text keys, list, str, int, float, bool or None."""


class Mark(NamedTuple):
    """The span of one entry of a container; numbers count from 0 as libyaml does.

    In a list the key's span is the value's.
    """

    file: int
    key_line: int
    key_column: int
    key_end_column: int
    line: int
    column: int
    end_line: int
    end_column: int


Marks: TypeAlias = dict[int, dict[str | int, Mark]]
"""From the identity of a container to the marks of its entries. The containers must be kept alive (the tree does)."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its name as diagnostics show it, and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of an organization and the marks of its merged tree."""

    files: tuple[SourceFile, ...]
    tree: Raw
    marks: Marks
    ignores: Mapping[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    """Codes silenced by a comment, by file name and line (from 1)."""

    def key(self, path: KeyPath) -> Place:
        """The span of the key that ends `path`, or of its nearest ancestor that was written down."""
        return self._place(path, of_key=True)

    def value(self, path: KeyPath) -> Place:
        """The span of the value at `path`; of its key where that is a mapping or a list, which no span underlines."""
        return self._place(path, of_key=False)

    def line(self, file: str, number: int) -> str | None:
        """Line `number` (from 1) of `file`, without its end, or None where there is none."""
        for source in self.files:
            if source.name == file:
                lines = source.text.splitlines()
                return lines[number - 1] if 0 < number <= len(lines) else None
        return None

    def _place(self, path: KeyPath, *, of_key: bool) -> Place:
        container, mark, value, depth = self.tree, None, self.tree, 0
        for step in path:
            found = self.marks.get(id(container), {}).get(step)
            if found is None:
                break
            mark, value = found, container[step]
            container, depth = value, depth + 1
        if mark is None:
            return Place(file=self.files[0].name if self.files else "org.yaml", path=path)
        name = self.files[mark.file].name
        if of_key or depth < len(path) or isinstance(value, dict | list):
            return Place(name, mark.key_line + 1, mark.key_column + 1, mark.key_line + 1, mark.key_end_column + 1, path)
        return Place(name, mark.line + 1, mark.column + 1, mark.end_line + 1, mark.end_column + 1, path)
