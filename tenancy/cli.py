"""The command line: names, options and help. What a command does is in `tenancy.commands`, imported when it runs,
so that `--help` and `--version` stay fast."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from tenancy import __version__
from tenancy.commands.status import Status

FORMATS = ("text", "json", "sarif", "github", "gitlab")
SCHEDULERS = ("kueue", "volcano", "native")

_EPILOG = """
Exit status: 0 clean; 1 findings, or differences under `compile --check` and `diff --exit-code`; 2 usage; 3 could not
check (a file or folder is missing or unreadable); 4 internal error.
"""


class Day(click.ParamType[date]):
    """A day written as 2027-03-31."""

    name = "date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """The day, or a usage error."""
        try:
            return value if isinstance(value, date) else date.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a date such as 2027-03-31", param, ctx)


class Layout(click.ParamType[dict[str, int]]):
    """A MIG layout written as 3g.40gb=1,1g.10gb=2."""

    name = "layout"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, int]:
        """The count of each profile, or a usage error."""
        if isinstance(value, dict):
            return value
        layout: dict[str, int] = {}
        for part in str(value).split(","):
            profile, _, count = part.strip().partition("=")
            if not profile or profile in layout or not (count.isascii() and count.isdecimal()):
                self.fail(f"{part!r} is not PROFILE=N, each profile once", param, ctx)
            layout[profile] = int(count)
        return layout


class LossCode(click.ParamType[str]):
    """The code of a loss that some scheduler has."""

    name = "code"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The code, or a usage error that names the nearest."""
        from tenancy.backend import CODES
        from tenancy.check.wording import nearest

        if value not in CODES:
            hint = nearest(str(value), CODES).strip() or "`tenancy parity` shows those of your organization"
            self.fail(f"{value!r} is no loss of any scheduler; {hint}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The codes that begin so."""
        from tenancy.backend import CODES

        del ctx, param
        return [CompletionItem(code) for code in CODES if code.startswith(incomplete)]


def _models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The keys of the catalogue that begin so, for completion."""
    del ctx, param
    from tenancy.model.gpus import CATALOGUE

    return [name for name in CATALOGUE if name.lower().startswith(incomplete.lower())]


_ORG = click.argument("org", required=False, type=click.Path(path_type=Path))
_OUT = click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The output folder (default: out/ beside ORG)."
)
_FORMAT = click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", help="How findings are shown."
)
_STRICT = click.option("--strict", is_flag=True, help="Count warnings as errors.")
_TODAY = click.option(
    "--today", type=Day(), default=date.today, help="The day that `expires` dates are compared with (default: today)."
)
_TO = click.option("--to", type=click.Choice(SCHEDULERS), help="Another scheduler for every cluster, to try it.")
_ALLOW = click.option(
    "--allow-loss",
    "allowed",
    type=LossCode(),
    multiple=True,
    metavar="CODE",
    help="Accept what the scheduler does not keep, by the code of the finding; may be repeated.",
)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit status; no exception of ours reaches the user as a traceback."""
    try:
        return int(main.main(args=list(arguments), prog_name="tenancy", standalone_mode=False) or 0)
    except click.exceptions.Abort:
        return Status.USAGE
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return Status.USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; its end is not our fault
        return Status.CLEAN
    except Exception as error:
        if os.environ.get("TENANCY_DEBUG"):
            raise
        click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
        click.echo("This is a fault of tenancy, not of your organization. TENANCY_DEBUG=1 shows where.", err=True)
        return Status.INTERNAL


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tenancy")
def main() -> None:
    """Compile an org chart of departments, teams, budgets and GPU flavors to a multi-tenant GPU cluster.

    ORG is the folder that holds org.yaml (or the file itself); by default the nearest org/, here or above.
    """


@main.command(epilog="Example: tenancy validate org --format sarif > findings.sarif")
@_ORG
@_FORMAT
@_STRICT
@_TODAY
@_TO
@_ALLOW
def validate(
    org: Path | None, format_: str, strict: bool, today: date, to: str | None, allowed: tuple[str, ...]
) -> int:
    """Check the organization and write nothing.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above.
    """
    from tenancy.commands import validate as command

    return command.validate(org, format_=format_, strict=strict, today=today, scheduler=to or "", accepted=allowed)


@main.command(name="compile", epilog="Example: tenancy compile org -o out --check")
@_ORG
@_OUT
@click.option("--check", is_flag=True, help="Write nothing; fail if the output folder is not up to date.")
@click.option(
    "--cache/--no-cache", default=True, help="Skip the work where neither input nor output changed (default)."
)
@_FORMAT
@_STRICT
@_TO
@_ALLOW
def compile_(
    org: Path | None,
    out: Path | None,
    check: bool,
    cache: bool,
    format_: str,
    strict: bool,
    to: str | None,
    allowed: tuple[str, ...],
) -> int:
    """Check the organization and write the objects of every cluster.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above. Only files that
    out/tenancy.lock lists are ever replaced or removed; a file edited by hand is an error. With --to, write
    elsewhere than to the output that is committed.
    """
    if cache and not to and not allowed:  # what is remembered was compiled as it is written
        from tenancy.commands import unchanged

        if (settled := unchanged.unchanged(org, out)) is not None:
            click.echo(f"{settled}: up to date", err=True)
            return Status.CLEAN
    from tenancy.commands import compile as command

    return command.compile_(org, out, check=check, format_=format_, strict=strict, scheduler=to or "", accepted=allowed)


@main.command(short_help="Show what `compile` would change.", epilog="Example: tenancy diff org --exit-code")
@_ORG
@_OUT
@click.option("--against", type=click.Choice(("out",)), default="out", help="What to compare with: the output folder.")
@click.option("--format", "format_", type=click.Choice(("text",)), default="text", help="How the plan is shown.")
@click.option("--objects/--no-objects", default=True, show_default=True, help="Whether to list the objects, too.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 where anything differs.")
@_TODAY
@_ALLOW
def diff(
    org: Path | None,
    out: Path | None,
    against: str,
    format_: str,
    objects: bool,
    exit_code: bool,
    today: date,
    allowed: tuple[str, ...],
) -> int:
    """Show what `compile` would change: in promises, namespaces, access and cost, then in objects.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above.
    """
    from tenancy.commands import diff as command

    del against, format_  # one choice each so far
    return command.diff(org, out, objects=objects, exit_code=exit_code, today=today, accepted=allowed)


@main.command(
    short_help="Explain a unit's numbers, or what becomes of a job.",
    epilog="Example: tenancy explain research/vision --gpus 8 --pods 6 --flavor h100",
)
@click.argument("unit")
@_ORG
@click.option("--gpus", type=click.IntRange(min=1), help="A job: GPUs of each pod (or slices of --profile).")
@click.option("--pods", type=click.IntRange(min=1), help="Its pods, which start together (default: 1).")
@click.option("--flavor", help="The flavor whose nodes it selects; without a job: the only flavor to show.")
@click.option("--profile", help="The MIG profile that its pods ask for.")
@click.option("--cpu", help="cpu of each pod (default: what follows from its GPUs).")
@click.option("--memory", help="Memory of each pod (default: what follows from its GPUs).")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="How it is shown.")
def explain(
    unit: str,
    org: Path | None,
    gpus: int | None,
    pods: int | None,
    flavor: str | None,
    profile: str | None,
    cpu: str | None,
    memory: str | None,
    format_: str,
) -> int:
    """Explain a unit: its numbers, what it can reach, who lends to it and who may take back.

    UNIT is its path, such as research/vision, the name of its queue, or the organization's name. With a job it says
    whether the job runs, on whose promise, and what its Workload says while it waits. ORG is the folder that holds
    org.yaml; by default the nearest org/, here or above.
    """
    from tenancy.commands import explain as command

    job = command.Job(gpus=gpus, pods=pods, flavor=flavor, profile=profile, cpu=cpu, memory=memory)
    return command.explain(unit, org, job, format_=format_)


@main.command(
    short_help="Show what a scheduler makes of every promise.",
    epilog="Example: tenancy parity org --to volcano --losses",
)
@_ORG
@click.option(
    "--to", type=click.Choice(SCHEDULERS), help="The scheduler to look at (default: the one that is written)."
)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="How it is shown.")
@click.option("--losses", is_flag=True, help="Only what is not kept as it is said.")
def parity(org: Path | None, to: str | None, format_: str, losses: bool) -> int:
    """Show what becomes of every promise: kept, kept differently, or lost, with the code to accept it by.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above. Losses are no findings here, so
    that the status is 0 once all is shown.
    """
    from tenancy.commands import parity as command

    return command.parity(org, scheduler=to or "", format_=format_, losses=losses)


@main.command(
    short_help="Show or set labels, taints and MIG layouts of nodes.",
    epilog="Example: tenancy nodes org --context train-eu --apply",
)
@_ORG
@click.option("--cluster", help="The cluster of the organization (default: the only one).")
@click.option("--nodes", "file", type=click.Path(path_type=Path), help="Read `kubectl get nodes -o yaml`; - for stdin.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="The kubeconfig (default: the one of kubectl).")
@click.option("--context", help="Its context (default: the current one).")
@click.option("--apply", is_flag=True, help="Set what is missing; without it nothing is changed.")
@click.option("--disruptive", is_flag=True, help="Do so even where that ends or breaks pods that run.")
@click.option("--force-conflicts", "force", is_flag=True, help="Do so even where others have set another value.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="How it is shown.")
def nodes(
    org: Path | None,
    cluster: str | None,
    file: Path | None,
    kubeconfig: Path | None,
    context: str | None,
    apply: bool,
    disruptive: bool,
    force: bool,
    format_: str,
) -> int:
    """Compare labels, taints and MIG layouts of a cluster's nodes with what their flavors say, and set them.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above. The status is 0 where nothing
    is left to do, 1 where something is, 3 where the nodes cannot be read. Labels and taints of others stay, and a
    node that no flavor or more than one claims is not touched.
    """
    from tenancy.commands import nodes as command

    source = command.Source(file=file, kubeconfig=kubeconfig, context=context)
    permitted = command.Permitted(apply=apply, disruptive=disruptive, force=force)
    return command.nodes(org, source, permitted, cluster=cluster, format_=format_)


@main.command(
    short_help="Compare the nodes of a cluster with their flavors, or propose some.",
    epilog="Example: tenancy inventory org --nodes nodes.yaml --propose",
)
@_ORG
@click.option("--cluster", help="The cluster of the organization (default: the only one).")
@click.option("--nodes", "file", type=click.Path(path_type=Path), help="Read `kubectl get nodes -o yaml`; - for stdin.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="The kubeconfig (default: the one of kubectl).")
@click.option("--context", help="Its context (default: the current one).")
@click.option("--propose", is_flag=True, help="Write flavors for the nodes (default without an organization).")
@_FORMAT
def inventory(
    org: Path | None,
    cluster: str | None,
    file: Path | None,
    kubeconfig: Path | None,
    context: str | None,
    propose: bool,
    format_: str,
) -> int:
    """Compare the nodes of a cluster with what the organization says of them, or propose flavors for them.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above. Nothing is changed. The status
    is 0 where all agrees, 1 where anything but a note is found, 3 where the nodes cannot be read.
    """
    from tenancy.commands import inventory as command
    from tenancy.commands.nodes import Source

    source = Source(file=file, kubeconfig=kubeconfig, context=context)
    return command.inventory(org, source, cluster=cluster, proposing=propose, format_=format_)


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
