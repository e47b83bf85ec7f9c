"""Show the GPU catalogue, or what MIG can do on one board."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import click

from tenancy.commands.status import Status
from tenancy.model.gpus import CATALOGUE
from tenancy.report import gpus as view


def gpus(model: str | None, layout: Mapping[str, int] | None, format_: str) -> Status:
    """Print the catalogue, a board, or a layout drawn on a board."""
    as_json = format_ == "json"
    if model is None:
        every = CATALOGUE.values()
        click.echo(view.catalogue_json(every) if as_json else view.catalogue_text(every), nl=False)
        return Status.CLEAN
    if model not in CATALOGUE:
        near = get_close_matches(model, list(CATALOGUE), 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else "`tenancy gpus` lists it"
        raise click.UsageError(f"no GPU {model!r} in the catalogue; {hint}")
    gpu = CATALOGUE[model]
    if layout is None:
        click.echo(view.gpu_json(gpu) if as_json else view.gpu_text(gpu), nl=False)
        return Status.CLEAN
    drawn, fits = view.fit_json(gpu, layout) if as_json else view.fit_text(gpu, layout)
    click.echo(drawn, nl=False)
    return Status.CLEAN if fits else Status.FINDINGS
