"""Set, add to and remove keys of a unit, a flavor, a cluster or the organization."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tenancy.commands.changing import Asked, Made, change
from tenancy.commands.status import Status
from tenancy.diagnostics import Edit
from tenancy.edit.editing import Texts, edited
from tenancy.edit.errors import Refused
from tenancy.edit.targets import Assignment, assignment, edits, target
from tenancy.pipeline import Examined


def set_(asked: Asked, unit: str, assignments: Sequence[str], unset: Sequence[str]) -> Status:
    """Make every assignment, in their order; all or none of them."""
    try:
        wanted = [*map(assignment, assignments), *(Assignment(key, "-") for key in unset)]
    except Refused as error:
        raise click.UsageError(str(error)) from error
    if not wanted:
        raise click.UsageError("nothing to set: write KEY=VALUE, or --unset KEY")

    def make(path: Path, before: Examined) -> Made:
        texts, made = Texts(path, sources=before.sources), list[Edit]()
        base = target(texts.places().sources.tree, unit)
        for each in wanted:
            steps = edits(texts.places().sources.tree, base, each)
            texts = edited(texts, steps)
            made += steps
        return Made(texts, tuple(made))

    return change(asked, make)
