"""Files that are read, and those under departments/ as pieces of an organization.

What was read so far is one value, `Loading`, because references may lead to further files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tenancy.diagnostics import Diagnostic, Place, Related, Rule
from tenancy.load import rules, yaml
from tenancy.load.events import MAX_DEPTH
from tenancy.load.source import Marks, Raw, SourceFile
from tenancy.load.text import read_text, shown

API_VERSION: Final = "tenancy/v1alpha1"
KIND: Final = "Departments"
_KEYS: Final = ("apiVersion", "kind", "parent", "departments")
_HINTS: Final = 20
"""Findings of one rule that offer the name that was meant: looking for it costs milliseconds, and readers stop."""


@dataclass(slots=True, eq=False)
class Fragment:
    """A departments file; `reference` is the place that refers to it, where there is one."""

    document: dict[str, Raw]
    departments: dict[str, Raw]
    parent: tuple[str, ...] = ()
    reference: Reference | None = None

    def location(self) -> tuple[str, ...]:
        """The path of the department that this file's departments go into."""
        fragment, path = self, tuple[str, ...]()
        while fragment.reference is not None:
            path = fragment.reference.above + path
            if fragment.reference.owner is None:
                return path
            fragment = fragment.reference.owner
        return fragment.parent + path


@dataclass(slots=True, eq=False)
class Reference:
    """A department `key: {file: ...}` of the mapping `holder`, inside `above`, in the file `owner` or org.yaml."""

    holder: dict[str, Raw]
    key: str
    above: tuple[str, ...]
    owner: Fragment | None


@dataclass(slots=True)
class Loading:
    """What was read so far: the folder of the organization, its files, and what is wrong with them."""

    folder: Path
    files: list[SourceFile] = field(default_factory=list)
    marks: Marks = field(default_factory=dict)
    ignores: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    fragments: dict[str, Fragment | None] = field(default_factory=dict)
    """Departments files by real path; None for one that has no usable content."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts that stand in for what is on the disk, by the name of the file: an edit before it is written."""

    def report(self, rule: Rule, message: str, place: Place, help_: str = "", related: Iterable[Related] = ()) -> None:
        """Add a diagnostic."""
        self.diagnostics.append(Diagnostic(rule=rule, message=message, place=place, help=help_, related=tuple(related)))

    def hint(self, rule: Rule, word: str, known: Callable[[], Iterable[str]]) -> str:
        """The nearest of the known words as a help, for the first findings of a rule; empty where none is near."""
        earlier = sum(1 for found in self.diagnostics if found.rule is rule) if len(self.diagnostics) < 1000 else _HINTS
        return rules.did_you_mean(word, known()) if earlier < _HINTS else ""

    def place(self, container: Raw, key: str, *, of_key: bool = False) -> Place:
        """The span of an entry's value; of its key where that is asked for, or the value is a container."""
        mark = self.marks[id(container)][key]
        name = self.files[mark.file].name
        if of_key or isinstance(container[key], dict | list):
            return Place(name, mark.key_line + 1, mark.key_column + 1, mark.key_line + 1, mark.key_end_column + 1)
        return Place(name, mark.line + 1, mark.column + 1, mark.end_line + 1, mark.end_column + 1)

    def read(self, path: Path) -> dict[str, Raw] | None:
        """The tree of one file, which joins the files even where it has no usable content."""
        name = shown(path)
        text, problem = (self.texts[name], None) if name in self.texts else read_text(path, name)
        self.files.append(SourceFile(name, text))
        if problem is not None:
            self.diagnostics.append(problem)
            return None
        parsed = yaml.parse(text, len(self.files) - 1, name)
        self.marks |= parsed.marks
        self.ignores |= {(name, line): codes for line, codes in parsed.ignores.items()}
        self.diagnostics += parsed.diagnostics
        return parsed.tree

    def fragment(self, path: Path) -> Fragment | None:
        """The departments file at `path`, read once."""
        real = os.path.realpath(path)
        if real not in self.fragments:
            document = self.read(path)
            self.fragments[real] = _fragment(self, document) if document is not None else None
        return self.fragments[real]


def _fragment(loading: Loading, document: dict[str, Raw]) -> Fragment | None:
    """The document as a departments file; reports what is wrong with its envelope, None where it cannot be merged."""

    def report(rule: Rule, key: str, message: str, help_: str, *, of_key: bool = False) -> None:
        place = loading.place(document, key, of_key=of_key) if key in document else Place(loading.files[-1].name)
        loading.report(rule, message if key in document else f"the file has no `{key}`", place, help_)

    for key, expected, rule in (("kind", KIND, rules.KIND), ("apiVersion", API_VERSION, rules.API_VERSION)):
        if document.get(key) != expected:
            report(rule, key, f"`{key}` is {_named(document.get(key))}, not `{expected}`", f"write `{key}: {expected}`")
    if document.get("kind") != KIND:
        return None
    for key in (key for key in document if key not in _KEYS):
        help_ = rules.did_you_mean(key, _KEYS) or f"the keys are {', '.join(f'`{known}`' for known in _KEYS)}"
        report(rules.KEY, key, f"unknown key `{key}` in a departments file", help_, of_key=True)
    departments, parent = document.get("departments"), document.get("parent") or ""
    if not isinstance(departments, dict):
        report(
            rules.SHAPE,
            "departments",
            "`departments` is not a mapping",
            "write the name of each department as a key below it",
        )
        return None
    if not isinstance(parent, str):
        report(
            rules.SHAPE,
            "parent",
            f"`parent` is {_named(parent)}",
            "write the path of a department, such as `research/vision`",
        )
        return None
    return Fragment(document, departments, tuple(parent.split("/", MAX_DEPTH)) if parent else ())


def _named(value: Raw) -> str:
    """A value in a message; no container is written out."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = "empty" if value is None else f"`{str(value)[:60]}`"
    return {"`True`": "`true`", "`False`": "`false`"}.get(text, text)


def walk(departments: Raw) -> Iterator[tuple[tuple[str, ...], dict[str, Raw], str]]:
    """Every department once: the path of the mapping that holds it, that mapping, and its name."""
    waiting: list[tuple[tuple[str, ...], Raw]] = [((), departments)]
    seen: set[int] = set()
    while waiting:
        above, holder = waiting.pop()
        if not isinstance(holder, dict) or id(holder) in seen:
            continue
        seen.add(id(holder))
        yield from ((above, holder, name) for name in holder)
        units = [(name, unit) for name, unit in holder.items() if isinstance(unit, dict)]
        waiting += (((*above, name), unit.get("departments")) for name, unit in reversed(units))
