"""A YAML text as nodes that know their characters.

The loader keeps where values begin. To replace or remove one, its end counts too, what stands around it, and whether it
is written there or somewhere else, behind an alias: this reads the same events once more and keeps all of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from tenancy.load.scalars import resolve
from tenancy.load.source import Raw
from tenancy.load.yaml import LOADER

BLANK: Final = " \t\r\n"


@dataclass(slots=True, eq=False)
class Entry:
    """A key with its value, or an item of a list, which has no key."""

    key: Node | None
    value: Node


@dataclass(slots=True, eq=False)
class Node:
    """One value of the text, from the character `start` up to `end`; line and column count from 0."""

    kind: Literal["scalar", "map", "list", "alias"]
    start: int
    end: int
    line: int
    column: int
    flow: bool = False
    """Of a map or a list: whether it stands in brackets."""
    style: str = ""
    """Of a scalar: the quotes, or `|` and `>`."""
    anchor: str | None = None
    value: Raw = None
    """Of a scalar."""
    entries: list[Entry] = field(default_factory=list)
    target: Node | None = None
    """Of an alias: the node that it stands for."""

    @property
    def real(self) -> Node:
        """The node itself, or what an alias stands for."""
        return self.target if self.target is not None else self

    @property
    def written(self) -> bool:
        """Whether there is any text: `key:` alone has a value of none."""
        return self.end > self.start


@dataclass(slots=True)
class Document:
    """The nodes of one text."""

    text: str
    root: Node
    keys: dict[tuple[int, int], tuple[Node, int]] = field(default_factory=dict)
    """Entries of maps by the line and column of their key: the map, and the index in it."""
    items: dict[tuple[int, int], tuple[Node, int]] = field(default_factory=dict)
    """Items of lists by where they begin."""
    aliases: list[Node] = field(default_factory=list)

    def line_start(self, position: int) -> int:
        """Where the line of a character begins."""
        return max(self.text.rfind("\n", 0, position), self.text.rfind("\r", 0, position)) + 1

    def line_end(self, position: int) -> int:
        """Where the line of a character ends, before its line break."""
        ends = [end for mark in "\r\n" if (end := self.text.find(mark, position)) >= 0]
        return min(ends, default=len(self.text))

    def line_before(self, start: int) -> int:
        """Where the line before the one that begins at `start` begins; `start` itself for the first."""
        return self.line_start(start - (2 if self.text[start - 2 : start] == "\r\n" else 1)) if start else 0

    def next_line(self, position: int) -> int:
        """Where the line after that of a character begins; the end of the text for the last."""
        end = self.line_end(position)
        return min(end + (2 if self.text[end : end + 2] == "\r\n" else 1), len(self.text))

    def newline(self, position: int) -> str:
        """The line break to write near a character: that of its line, or of the text's first line."""
        for at in (self.line_end(position), self.line_end(0)):
            if self.text[at : at + 2] == "\r\n":
                return "\r\n"
            if self.text[at : at + 1]:
                return self.text[at]
        return "\n"

    def end(self, node: Node) -> int:
        """After the last character of a node; libyaml ends blocks where the next token begins."""
        if node.kind in ("map", "list") and not node.flow and node.entries:
            last = node.entries[-1]
            if last.value.written or last.key is None:
                return self.end(last.value)
            return self.colon(last)
        if node.style in ("|", ">"):
            text = self.text[node.start : node.end]
            kept = "+" in self.text[node.start : self.line_end(node.start)]  # its blank lines are part of it
            return node.start + len(re.sub(r"(\r\n|\r|\n)\Z", "", text) if kept else text.rstrip(BLANK))
        return node.end

    def content(self, node: Node) -> int:
        """Where the value itself begins, behind an anchor."""
        at = node.start
        if node.anchor is not None:
            at = self.text.index(f"&{node.anchor}", at) + len(node.anchor) + 1
            while at < node.end and self.text[at] in " \t":
                at += 1
        return at

    def colon(self, entry: Entry) -> int:
        """After the colon of an entry of a map."""
        assert entry.key is not None
        return self.text.index(":", entry.key.end) + 1

    def holds(self, outer: Node, inner: Node) -> bool:
        """Whether a node is another or contains it as it is written."""
        return outer is inner or any(self.holds(entry.value, inner) for entry in outer.entries)


def compose(text: str) -> Document:
    """The nodes of a text that the loader could read. Raises yaml.YAMLError for other texts."""
    loader = LOADER(text)
    reading = _Reading(loader.get_event, {}, Document(text, Node("scalar", 0, 0, 0, 0)))
    loader.get_event()
    loader.get_event()
    reading.document.root = reading.node(loader.get_event())
    return reading.document


def plain(node: Node) -> Raw:
    """The value of a node, aliases followed; a key that is written twice counts once, with the last value."""
    node = node.real
    if node.kind == "map":
        return {str(entry.key.real.value): plain(entry.value) for entry in node.entries if entry.key is not None}
    return [plain(entry.value) for entry in node.entries] if node.kind == "list" else node.value


def walk(node: Node) -> Iterator[Node]:
    """A node and all that is written in it."""
    yield node
    for entry in node.entries:
        yield from walk(entry.value)


@dataclass(slots=True)
class _Reading:
    get: Any
    anchors: dict[str, Node]
    document: Document

    def node(self, event: Any) -> Node:
        start, end = event.start_mark, event.end_mark
        made = Node("scalar", start.index, end.index, start.line, start.column)
        if isinstance(event, AliasEvent):
            made.kind, made.target = "alias", self.anchors.get(str(event.anchor), Node("scalar", 0, 0, 0, 0))
            self.document.aliases.append(made)
            return made
        made.anchor = event.anchor
        if event.anchor is not None:
            self.anchors[event.anchor] = made
        if isinstance(event, ScalarEvent):
            made.style = event.style or ""
            made.value = event.value if event.style else resolve(event.value)[0]
            return made
        made.flow = bool(event.flow_style)
        if isinstance(event, MappingStartEvent):
            made.kind = "map"
            while not isinstance(event := self.get(), MappingEndEvent):
                self._entry(made, event)
        elif isinstance(event, SequenceStartEvent):
            made.kind = "list"
            while not isinstance(event := self.get(), SequenceEndEvent):
                item = self.node(event)
                self.document.items[item.line, item.column] = (made, len(made.entries))
                made.entries.append(Entry(None, item))
        made.end = event.end_mark.index
        return made

    def _entry(self, holder: Node, event: Any) -> None:
        key = self.node(event)
        if key.kind == "scalar":
            key.value = event.value
        self.document.keys[key.line, key.column] = (holder, len(holder.entries))
        holder.entries.append(Entry(key, self.node(self.get())))
