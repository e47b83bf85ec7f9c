"""The files of an organization -> one merged tree with its sources.

`org.yaml` is the root. Files under `departments/` beside it add departments: at the place that refers to them by
`file:`, else inside the department that their `parent` names, else at the top.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tenancy.diagnostics import Diagnostic, Place
from tenancy.load import rules
from tenancy.load.fragments import KIND, Loading
from tenancy.load.parents import place_fragments
from tenancy.load.references import follow_references
from tenancy.load.source import Raw, Sources
from tenancy.load.templates import Extensions, read_extensions
from tenancy.load.text import shown

_ROOT_NAMES: Final = ("org.yaml", "org.yml")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A merged organization. `tree` is None where org.yaml itself has no usable content: only `sources` count then."""

    tree: dict[str, Raw] | None
    sources: Sources
    extensions: Extensions


def load(org: Path, texts: Mapping[str, str] = MappingProxyType({})) -> tuple[Loaded | None, list[Diagnostic]]:
    """Read the organization in the folder `org`, or with the root file `org`; None where no root can be read.

    `texts` stand in for files as they are on the disk, by the name that diagnostics show.
    """
    root, problems = _root(org)
    if root is None:
        return None, problems
    loading = Loading(root.parent, diagnostics=problems, texts=texts)
    tree = loading.read(root)
    if any(found.code in rules.COULD_NOT_CHECK for found in loading.diagnostics):
        return None, loading.diagnostics
    if tree is not None and tree.get("kind") == KIND and root.name not in _ROOT_NAMES:
        message = f"`{shown(root)}` holds departments, not the root of an organization"
        return None, [
            Diagnostic(rule=rules.ORG_MISSING, message=message, place=Place(shown(root)), help=_where_else(root))
        ]
    for path in _department_files(loading):
        if os.path.realpath(path) != os.path.realpath(root):
            loading.fragment(path)
    if tree is not None:
        follow_references(loading, tree)
        place_fragments(loading, tree)
    extensions, files = read_extensions(loading.folder)
    sources = Sources((*loading.files, *files), tree, loading.marks, loading.ignores)
    return Loaded(tree, sources, extensions), loading.diagnostics


def _root(org: Path) -> tuple[Path | None, list[Diagnostic]]:
    if os.path.lexists(org) and not os.path.isdir(org):
        return org, []
    found = [org / name for name in _ROOT_NAMES if os.path.lexists(org / name)]
    if len(found) == 1:
        return found[0], []
    rule, message = rules.ORG_AMBIGUOUS, f"there are both `org.yaml` and `org.yml` in `{shown(org)}`"
    help_ = "delete one of them; `org.yaml` is the one that was read"
    if not found:
        rule, help_ = rules.ORG_MISSING, _where_else(org)
        message = f"`{shown(org)}` holds no `org.yaml`" if os.path.isdir(org) else f"`{shown(org)}` does not exist"
    place = Place(shown(org / _ROOT_NAMES[0]))
    return next(iter(found), None), [Diagnostic(rule=rule, message=message, place=place, help=help_)]


def _where_else(org: Path) -> str:
    """What to do about a path without a root: often a folder above it was meant, or the `org` below."""
    path = Path(os.path.abspath(org))
    for near in (path / "org", *path.parents):
        if any((near / name).is_file() for name in _ROOT_NAMES):
            return f"did you mean `{shown(near)}`?"
    return "write the organization there, or name its folder"


def _department_files(loading: Loading) -> list[Path]:
    """The YAML files under departments/, in the order of their paths; each folder once, whatever links lead to it."""
    found: list[Path] = []
    seen: set[str] = set()

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            loading.diagnostics.append(rules.unreadable(shown(Path(error.filename)), str(error.strerror)))

    for name, inner, names in os.walk(loading.folder / "departments", followlinks=True, onerror=unreadable):
        seen.add(os.path.realpath(name))
        visible = sorted(each for each in inner if not each.startswith("."))
        inner[:] = (each for each in visible if os.path.realpath(os.path.join(name, each)) not in seen)
        files = [Path(name, each) for each in names if not each.startswith(".") and each.endswith((".yaml", ".yml"))]
        if _leads_outside(loading, Path(name)):
            inner.clear()
            files.clear()
        found += (path for path in files if not _leads_outside(loading, path))
    return sorted(found, key=lambda path: path.relative_to(loading.folder).as_posix())


def _leads_outside(loading: Loading, path: Path) -> bool:
    """Whether the path is a link out of the organization's folder, which is reported: it may lead to anything."""
    if not os.path.islink(path) or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(loading.folder)):
        return False
    message = f"`{shown(path)}` is a link to something outside `{shown(loading.folder)}`"
    loading.report(rules.FILE_OUTSIDE, message, Place(shown(path)), "copy it into the folder")
    return True
