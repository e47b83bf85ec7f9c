"""The rare cases of reading YAML: keys and values that are more than plain text, and everything that is refused.

`tenancy.load.yaml` runs the loop over events, which is the cost of loading, and calls the methods here for the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    StreamEndEvent,
)

from tenancy.diagnostics import Diagnostic, KeyPath, Place, Related, Rule
from tenancy.load import rules
from tenancy.load.scalars import ODD_KEYS, WORDS, resolve
from tenancy.load.source import Mark, Marks, Raw

MAX_DEPTH: Final = 64
MAX_ALIAS_FACTOR: Final = 100
"""Aliases may add this many values for each value written so far (and for a hundred more, so that small files may)."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Anchor: TypeAlias = tuple[Raw, int]
"""The value of an anchor, and how many values that is: 0 while its end is not reached."""


class Refused(Exception):
    """The rest of the text must not be read; the reason is among the diagnostics."""


@dataclass(slots=True)
class Reading:
    """What the loop over events shares with the rare cases."""

    file: str
    marks: Marks = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    anchors: dict[str, Anchor] = field(default_factory=dict)
    dropped: list[tuple[dict[str, Raw], str]] = field(default_factory=list)
    stack: list[tuple[Any, Any, bool, Any, int, str | None]] = field(default_factory=list)
    """Of each open container: parent, the parent's marks, whether that is a mapping, own key, count, anchor."""
    plain: dict[str, Raw] = field(default_factory=lambda: dict(WORDS))
    """The values of plain scalars that were read before."""
    expanded: int = 0

    def path(self, *last: str | int) -> KeyPath:
        """The path of the innermost open container, and on to `last`; dropped entries are no part of it."""
        steps = (*(frame[3] for frame in self.stack[1:]), *last)
        return tuple(step for step in steps if not str(step).startswith("\0"))

    def here(self, key: str | None, container: Raw) -> KeyPath:
        """The path of the value that comes next: at `key` of a mapping, or at the end of a list."""
        return self.path(len(container) if key is None else key) if self.stack else ()

    def begins(self, get_event: Callable[[], Any]) -> bool:
        """Whether the stream holds a document; reads its beginning and that of the first document."""
        get_event()
        event = get_event()
        if isinstance(event, DocumentStartEvent) and event.version not in (None, (1, 2)):
            message, help_ = "the file declares a YAML version other than 1.2", "delete the `%YAML` line"
            self.report(rules.VERSION, message, event, (), help_)
        return not isinstance(event, StreamEndEvent)

    def report(self, rule: Rule, message: str, event: Any, path: KeyPath, help_: str, *related: Related) -> None:
        """Add a diagnostic at the span of an event."""
        start, end = event.start_mark, event.end_mark
        place = Place(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1, path)
        self.diagnostics.append(Diagnostic(rule=rule, message=message, place=place, related=related, help=help_))

    def drop(self, container: dict[str, Raw]) -> str:
        """A key for an entry that is read on but must reach neither the tree nor a path; no plain text can hold it."""
        key = f"\0{len(self.dropped)}"
        self.dropped.append((container, key))
        return key

    def odd_key(
        self, event: Any, get_event: Callable[[], Any], container: dict[str, Raw], entries: dict[str | int, Mark]
    ) -> str:
        """The key to go on with for one that is quoted, tagged, anchored, null, `<<`, no text, or was there before."""
        if not isinstance(event, ScalarEvent):
            return self._complex_key(event, get_event, container)
        key: str = event.value
        if event.tag is not None:
            self.tag(event, self.path(key))
        if event.anchor is not None:
            self.anchors[event.anchor] = (key if event.style else resolve(key)[0], 1)
        if not event.style and key == "<<":
            help_ = "write the keys out, or use an alias for the value"
            self.report(rules.MERGE_KEY, "the merge key `<<` is not supported", event, self.path(), help_)
            return self.drop(container)
        if not event.style and key in ODD_KEYS:
            message = f"the key `{key}` means no value at all" if key else "a value has no key"
            help_ = f'write a name, or quote the word: "{key}"' if key else "write a name before the colon"
            self.report(rules.NULL_KEY, message, event, self.path(), help_)
            return self.drop(container)
        if _SURROGATE.search(key):
            self.half_character(event, self.path())
            return self.drop(container)
        if key in container:
            first = entries[key]
            line, column = first.key_line + 1, first.key_column + 1
            related = Related("first written here", Place(self.file, line, column, line, first.key_end_column + 1))
            message, help_ = f"the key `{key}` is written twice", "keep one of the two, or rename one"
            self.report(rules.DUPLICATE_KEY, message, event, self.path(key), help_, related)
        return key

    def _complex_key(self, event: Any, get_event: Callable[[], Any], container: dict[str, Raw]) -> str:
        """The key to go on with for a list, a mapping or an alias as a key, which is read over."""
        message = f"the alias `*{event.anchor}` is used as a key" if isinstance(event, AliasEvent) else "a key is "
        if isinstance(event, CollectionStartEvent):
            message += "a mapping" if isinstance(event, MappingStartEvent) else "a list"
            depth = 1
            while depth:
                inner = get_event()
                depth += isinstance(inner, CollectionStartEvent) - isinstance(inner, CollectionEndEvent)
        self.report(rules.COMPLEX_KEY, message, event, self.path(), "write the name itself as the key")
        return self.drop(container)

    def tag(self, event: Any, path: KeyPath) -> None:
        """Report a tag, whatever it says."""
        message = f"the tag `{event.tag.replace('tag:yaml.org,2002:', '!!')}` is not allowed"
        self.report(rules.TAG, message, event, path, "remove the tag; to make the value text, quote it")

    def scalar(self, event: Any, key: str | None, container: Raw) -> Raw:
        """The value of a scalar that is quoted, or plain and not met before, or has a tag or an anchor."""
        value: Raw = event.value
        if event.tag is not None:
            self.tag(event, self.here(key, container))
        if not event.style:
            value, fits = resolve(value)
            if fits:
                self.plain[event.value] = value
            else:
                shown = value if len(value) <= 24 else f"{value[:20]}…"
                message, help_ = (
                    f"the number `{shown}` is out of range",
                    "write a number that fits, or quote it as text",
                )
                self.report(rules.NUMBER, message, event, self.here(key, container), help_)
        elif not value.isascii() and _SURROGATE.search(value):
            self.half_character(event, self.here(key, container))
            value = _SURROGATE.sub("\ufffd", value)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        return value

    def half_character(self, event: Any, path: KeyPath) -> None:
        """Only the pure parser lets an escaped half of a surrogate pair through; no file can hold it."""
        message, help_ = "an escape stands for half a character", "write the character itself"
        self.report(rules.UNPRINTABLE, message, event, path, help_)

    def alias(self, event: Any, key: str | None, container: Raw, count: int) -> Anchor:
        """What an alias stands for, and as how many values it counts. Raises Refused where that is too many."""
        name, path = event.anchor, self.here(key, container)
        value, size = self.anchors.get(name, (None, -1))
        if size < 0:
            help_ = f'write the anchor `&{name}` at an earlier value, or quote the text: "*{name}"'
            self.report(rules.ALIAS_UNDEFINED, f"the alias `*{name}` has no anchor", event, path, help_)
            return None, 1
        if size == 0:
            message = f"the alias `*{name}` stands inside its own anchor"
            self.report(rules.ALIAS_RECURSIVE, message, event, path, "write the value out")
            return None, 1
        written = count - self.expanded
        self.expanded += size
        if self.expanded > MAX_ALIAS_FACTOR * (written + 100):
            self.too_many(event, f"aliases multiply the file more than {MAX_ALIAS_FACTOR} times")
        return value, size

    def too_many(self, event: Any, message: str) -> None:
        """Report a file that means more values than may be read. Raises Refused."""
        help_ = "write fewer aliases, and none to values that hold some"
        self.report(rules.BOMB, message, event, self.path(), help_)
        raise Refused

    def close(self, container: Raw, count: int) -> tuple[Any, Any, bool]:
        """End a container: its parent, the parent's marks, and whether that is a mapping."""
        parent, entries, is_map, _, before, anchor = self.stack.pop()
        if anchor is not None and self.anchors[anchor][0] is container:
            self.anchors[anchor] = (container, count - before)
        return parent, entries, is_map

    def open(self, event: Any, value: Raw) -> None:
        """Check the begin of a container. Raises Refused where it is too deep."""
        if event.tag is not None:
            self.tag(event, self.path())
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 0)
        if len(self.stack) > MAX_DEPTH:
            message = f"the value is nested deeper than {MAX_DEPTH} levels"
            self.report(rules.DEPTH, message, event, (), "look for brackets that were never closed")
            raise Refused
