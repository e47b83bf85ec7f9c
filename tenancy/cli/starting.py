"""The command that writes a repository to start with."""

from __future__ import annotations

from pathlib import Path

import click

from tenancy.cli.base import main
from tenancy.cli.options import SCHEDULERS


@main.command(
    short_help="Write a repository to start with.",
    epilog="Example: tenancy init acme-gpus --engine argocd --repo https://github.com/acme/gpus",
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", help="The organization, as people call it (default: the folder's name).")
@click.option(
    "--scheduler", type=click.Choice(SCHEDULERS), default="kueue", show_default=True, help="The cluster's scheduler."
)
@click.option(
    "--engine", type=click.Choice(("argocd", "flux", "none")), help="What syncs out/ (default: argocd with --repo)."
)
@click.option("--repo", default="", metavar="URL", help="Where the repository will be.")
@click.option(
    "--ci", type=click.Choice(("github", "gitlab", "none")), help="Whose checks (default: what fits URL, else github)."
)
@click.option(
    "--tool",
    default="",
    metavar="URL[@REF]",
    help="The git repository that the checks take tenancy from (default: the one that this was installed from).",
)
@click.option("--skip", multiple=True, metavar="FILE", help="Leave a file out, for one that is there; may be repeated.")
def init(
    folder: Path,
    name: str | None,
    scheduler: str,
    engine: str | None,
    repo: str,
    ci: str | None,
    tool: str,
    skip: tuple[str, ...],
) -> int:
    """Write a repository to start with: an organization, its output, checks for pull requests, and how to go on.

    DIR is an empty folder, a new one, or the root of a git repository. No file is replaced: where one is in the way,
    nothing is written and the status is 1. Git itself is not run.
    """
    from tenancy.commands import init as command

    wanted = command.Wanted(
        name=name or folder.absolute().resolve().name,
        scheduler=scheduler,
        engine=engine or ("argocd" if repo else "none"),
        repo=repo,
        ci=ci or "",
        tool=tool,
        skip=skip,
    )
    return command.init(folder, wanted)
