"""Show the GPU catalogue, or what MIG can do on one board."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import click

from tenancy.commands.status import Status
from tenancy.model.gpus import CATALOGUE
from tenancy.report.gpus import catalogue_text, fit_text, gpu_text


def gpus(model: str | None, layout: Mapping[str, int] | None) -> Status:
    """Print the catalogue, a board, or a layout drawn on a board."""
    if model is None:
        click.echo(catalogue_text(CATALOGUE.values()), nl=False)
        return Status.CLEAN
    if model not in CATALOGUE:
        near = get_close_matches(model, list(CATALOGUE), 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else "`tenancy gpus` lists it"
        raise click.UsageError(f"no GPU {model!r} in the catalogue; {hint}")
    if layout is None:
        click.echo(gpu_text(CATALOGUE[model]), nl=False)
        return Status.CLEAN
    drawn, fits = fit_text(CATALOGUE[model], layout)
    click.echo(drawn, nl=False)
    return Status.CLEAN if fits else Status.FINDINGS
