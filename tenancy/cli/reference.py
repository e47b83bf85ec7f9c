"""Commands that need no organization: the language, the GPU catalogue, completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tenancy.cli.base import main
from tenancy.cli.options import Layout
from tenancy.commands.status import Status


def _models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The keys of the catalogue that begin so, for completion."""
    del ctx, param
    from tenancy.model.gpus import CATALOGUE

    return [name for name in CATALOGUE if name.lower().startswith(incomplete.lower())]


@main.command(
    short_help="Print the JSON Schema of the language, for editors.",
    epilog="Example: tenancy schema organization > organization.schema.json",
)
@click.argument("name", type=click.Choice(("organization", "departments")), default="organization")
def schema(name: str) -> int:
    """Print the JSON Schema of org.yaml, or of the files under departments/, for editors."""
    from tenancy.model import schema as command

    click.echo(command.text(name), nl=False)
    return Status.CLEAN


@main.command(epilog="Example: tenancy gpus H100-SXM-80GB --fit 3g.40gb=1,2g.20gb=1,1g.10gb=2")
@click.argument("model", required=False, shell_complete=_models)
@click.option("--fit", type=Layout(), metavar="PROFILE=N,…", help="Draw this MIG layout of one GPU, or say why not.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="How it is shown.")
def gpus(model: str | None, fit: dict[str, int] | None, format_: str) -> int:
    """Show the GPU catalogue, or the MIG profiles of one MODEL."""
    if model is None and fit is not None:
        raise click.UsageError("--fit needs a MODEL")
    from tenancy.commands import gpus as command

    return command.gpus(model, fit, format_)


@main.command(epilog='Example: eval "$(tenancy completion bash)"')
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the completion script for a shell."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(found(main, {}, "tenancy", "_TENANCY_COMPLETE").source())
    return Status.CLEAN
