"""Findings before and after an edit: what was there already does not count, wherever it stands now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenancy.diagnostics import Diagnostic, Edit, KeyPath
from tenancy.edit.budgets import entry_at


def new_findings(
    before: Iterable[Diagnostic], after: Iterable[Diagnostic], edits: Sequence[Edit]
) -> tuple[Diagnostic, ...]:
    """The findings, by code and path, that the edits brought. A budget entry is one place, bare or a triple."""
    known = {(found.code, _place(moved(found.place.path, edits))) for found in before}
    return tuple(found for found in after if (found.code, _place(found.place.path)) not in known)


def moved(path: KeyPath, edits: Sequence[Edit]) -> KeyPath:
    """Where a value is after the edits: below a new name, or earlier in its list."""
    for edit in edits:
        depth = len(edit.path)
        if edit.action == "rename" and path[:depth] == edit.path:
            path = (*path[: depth - 1], str(edit.value), *path[depth:])
        elif edit.action == "remove" and len(path) >= depth and path[: depth - 1] == edit.path[:-1]:
            index, removed = path[depth - 1], edit.path[-1]
            if isinstance(index, int) and isinstance(removed, int) and index > removed:
                path = (*path[: depth - 1], index - 1, *path[depth:])
    return path


def _place(path: KeyPath) -> KeyPath:
    length = entry_at(path)
    return path if length is None else path[:length]
