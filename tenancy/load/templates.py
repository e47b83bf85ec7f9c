"""What users add to the output: templates under templates/ and JSON Schemas under schemas/, both beside org.yaml.

A template lies in the folder of the level that it is rendered for, `templates/team/alerts.yaml.j2`. A schema is named
as kubeconform names it, `schemas/podmonitor-monitoring-v1.json`. Only read here; `tenancy.render.custom` uses them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from tenancy.diagnostics import Diagnostic, Place, Rule, Severity
from tenancy.load import rules
from tenancy.load.source import SourceFile
from tenancy.load.text import read_text, shown

LEVELS: Final = ("organization", "cluster", "department", "team", "project")
ENDING: Final = ".yaml.j2"
MAX_CHARACTERS: Final = 256 * 1024
"""Of one template; what it makes is bounded apart, for each unit."""

_LISTED: Final = ", ".join(f"`{level}`" for level in LEVELS)
_STEM: Final = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")
_SCHEMA_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+){1,2}\.json")
_RESERVED_STEM: Final = "kustomization"
"""Of the file that lists the others, which `tenancy.render.kustomize` writes into every folder."""
_RESERVED_CHARACTERS: Final = re.compile("[\x00-\x02\x85\u2028\u2029\ufeff]")
"""Marks of the renderer, and what YAML takes for a line break although no editor shows one."""

LEVEL: Final = Rule(
    "template-level",
    Severity.ERROR,
    "An entry of templates/ that is not a level",
    "The folder says for which units a template is rendered; one in another folder would be ignored in silence.",
)
NAME: Final = Rule(
    "template-name",
    Severity.ERROR,
    "A file name that is not that of a template or a schema",
    "A file that nobody reads looks as if it were in force, and its objects would be missing from the cluster.",
)
OUTSIDE: Final = Rule(
    "template-outside",
    Severity.ERROR,
    "A template or schema that is a link out of the organization's folder",
    "Files outside the folder are not covered by its review rules and are absent from a checkout of it alone.",
)
SIZE: Final = Rule(
    "template-size",
    Severity.ERROR,
    "Too large a template or schema",
    "No template is this long; the file is the wrong one, or generated data that belongs elsewhere.",
)
SCHEMA: Final = Rule(
    "template-schema-file",
    Severity.ERROR,
    "A file under schemas/ that is not a JSON Schema",
    "Objects of its kind would go unchecked, and the API server would refuse them after the merge.",
)
RULES: Final = (LEVEL, NAME, OUTSIDE, SIZE, SCHEMA)


@dataclass(frozen=True, slots=True)
class Template:
    """One template: `name` is the file name without its ending, `file` the path as diagnostics show it."""

    level: str
    name: str
    text: str
    file: str


@dataclass(frozen=True, slots=True)
class UserSchema:
    """A JSON Schema of a kind; `name` is its file name, by which the kind is found."""

    name: str
    document: Mapping[str, Any]
    file: str


@dataclass(frozen=True, slots=True)
class Extensions:
    """All that users add, in the order of the paths."""

    templates: tuple[Template, ...] = ()
    schemas: tuple[UserSchema, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with the files. Apart from those of the organization, of which they take nothing away."""


@dataclass(slots=True)
class _Reading:
    folder: Path
    files: list[SourceFile] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def report(self, rule: Rule, path: Path, message: str, help_: str, line: int = 1) -> None:
        place = Place(shown(path), line, 1, line, 1)
        self.diagnostics.append(Diagnostic(rule=rule, message=message, place=place, help=help_))

    def entries(self, folder: Path) -> list[Path]:
        """What is in a folder, by name, without what is hidden; nothing where it is a link out of the organization."""
        if not os.path.lexists(folder) or not self.inside(folder):
            return []
        try:
            return [folder / name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
        except OSError as error:
            self.diagnostics.append(rules.unreadable(shown(folder), error.strerror or str(error)))
            return []

    def inside(self, path: Path) -> bool:
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder)):
            return True
        message = f"`{shown(path)}` is a link to something outside `{shown(self.folder)}`"
        self.report(OUTSIDE, path, message, "copy the file into the folder")
        return False

    def text(self, path: Path) -> str | None:
        """The text of a file that may be used; it joins the files wherever there is any text to show."""
        if not self.inside(path):
            return None
        name = shown(path)
        text, problem = read_text(path, name)
        if problem is not None:
            self.diagnostics.append(problem)
        elif len(text) > MAX_CHARACTERS:
            message = f"the file has {len(text):,} characters, but {MAX_CHARACTERS:,} are allowed"
            self.report(SIZE, path, message, "divide it into several")
            return None
        elif (reserved := _RESERVED_CHARACTERS.search(text)) is not None:
            line, column = rules.line_and_column(text[: reserved.start()])
            message = f"the character U+{ord(reserved[0]):04X} is not allowed here"
            place, help_ = Place(name, line, column, line, column + 1), "delete it, or write an escape in an expression"
            problem = Diagnostic(rule=rules.UNPRINTABLE, message=message, place=place, help=help_)
            self.diagnostics.append(problem)
        self.files.append(SourceFile(name, text))
        return text if problem is None else None


def read_extensions(folder: Path) -> tuple[Extensions, list[SourceFile]]:
    """What users add to the organization in `folder`, and the files that were read."""
    reading = _Reading(folder)
    templates, schemas = tuple(_templates(reading)), tuple(_schemas(reading))
    return Extensions(templates, schemas, tuple(reading.diagnostics)), reading.files


def _templates(reading: _Reading) -> Iterator[Template]:
    root = reading.folder / "templates"
    for folder in reading.entries(root):
        if folder.name in LEVELS and os.path.isdir(folder):
            for path in reading.entries(folder):
                if _named(reading, path, _template_fault) and (text := reading.text(path)) is not None:
                    yield Template(folder.name, path.name.removesuffix(ENDING), text, shown(path))
        elif os.path.isdir(folder):
            message = f"the folder `{folder.name}` is not a level of the organization"
            near = get_close_matches(folder.name, LEVELS, 1, 0.5)
            help_ = f"did you mean `{near[0]}`? " if near else ""
            reading.report(LEVEL, folder, message, f"{help_}the levels are {_LISTED}")
        elif not folder.name.endswith(".md"):
            message = f"the file `{folder.name}` is in no folder of a level"
            reading.report(LEVEL, folder, message, f"move it into one of the folders {_LISTED}")


def _named(reading: _Reading, path: Path, fault: Callable[[Path], tuple[str, str] | None]) -> bool:
    """Whether a file is to be read; notes in Markdown may lie beside the others."""
    if path.name.endswith(".md"):
        return False
    found = fault(path)
    if found is not None:
        reading.report(NAME, path, *found)
    return found is None


def _template_fault(path: Path) -> tuple[str, str] | None:
    stem = path.name.removesuffix(ENDING)
    if os.path.isdir(path):
        return f"`{path.name}` is a folder", "put templates right into the folder of their level"
    if stem == path.name:
        meant = re.sub(r"(\.ya?ml|\.j2|\.jinja2?)+$", "", path.name) + ENDING
        return f"`{path.name}` does not end in `{ENDING}`", f"call it `{meant}`; notes may end in `.md`"
    if not _STEM.fullmatch(stem) or stem == _RESERVED_STEM:
        help_ = f"use lower-case letters, digits, `-`, `_` and `.`; the name `{_RESERVED_STEM}` is taken"
        return f"`{stem}` cannot be the name of an output file", help_
    return None


def _schemas(reading: _Reading) -> Iterator[UserSchema]:
    for path in reading.entries(reading.folder / "schemas"):
        if _named(reading, path, _schema_fault) and (text := reading.text(path)) is not None:
            document = _json(reading, path, text)
            if document is not None:
                yield UserSchema(path.name, document, shown(path))


def _schema_fault(path: Path) -> tuple[str, str] | None:
    if os.path.isdir(path) or not _SCHEMA_NAME.fullmatch(path.name):
        help_ = "write KIND-GROUP-VERSION.json, GROUP up to its first dot, such as `podmonitor-monitoring-v1.json`"
        return f"`{path.name}` does not name the kind that it is for", help_
    return None


def _json(reading: _Reading, path: Path, text: str) -> Mapping[str, Any] | None:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"the file is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        reading.report(SCHEMA, path, message, "write it as JSON", error.lineno)
        return None
    except RecursionError:
        reading.report(SCHEMA, path, "the file is nested too deep", "write a schema of one kind")
        return None
    if not isinstance(document, dict):
        reading.report(SCHEMA, path, "the file does not hold a JSON object", "begin with `{`")
        return None
    return document
