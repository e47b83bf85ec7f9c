"""Edits in words, for lists of what could be done."""

from __future__ import annotations

from tenancy.diagnostics import Edit
from tenancy.edit.editing import dotted
from tenancy.edit.values import value_text


def sentence(edit: Edit) -> str:
    """`set flavors.h100.spareNodes to 1`, `rename … to …`, `remove …`."""
    if edit.action == "remove":
        return f"remove {dotted(edit.path)}"
    return f"{edit.action} {dotted(edit.path)} to {value_text(edit.value, flow=True)}"
