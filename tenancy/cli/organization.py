"""Commands that read an organization: check, compile, compare, explain."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from tenancy.cli.base import main
from tenancy.cli.options import ALLOW, CONTEXT, FORMAT, JOB, KUBECONFIG, ORG, OUT, SCHEDULERS, STRICT, TO, TODAY, Share
from tenancy.commands.status import Status


@main.command(epilog="Example: tenancy validate org --format sarif > findings.sarif")
@ORG
@FORMAT
@STRICT
@TODAY
@TO
@ALLOW
def validate(
    org: Path | None, format_: str, strict: bool, today: date, to: str | None, allowed: tuple[str, ...]
) -> int:
    """Check the organization and write nothing.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above.
    """
    from tenancy.commands import validate as command

    return command.validate(org, format_=format_, strict=strict, today=today, scheduler=to or "", accepted=allowed)


@main.command(name="compile", epilog="Example: tenancy compile org -o out --check")
@ORG
@OUT
@click.option("--check", is_flag=True, help="Write nothing; fail if the output folder is not up to date.")
@click.option(
    "--cache/--no-cache", default=True, help="Skip the work where neither input nor output changed (default)."
)
@FORMAT
@STRICT
@TO
@ALLOW
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


@main.command(short_help="Show what `compile` would change.", epilog="Example: tenancy diff org --against origin/main")
@ORG
@OUT
@click.option(
    "--against", default="out", metavar="out|REV|live", help="The output folder (default), a git revision or a cluster."
)
@click.option("--usage", default="", metavar="FILE|live", help="What is used now, to see who has to give back.")
@click.option("--format", "format_", type=click.Choice(("text", "markdown", "json")), default="text", help="For whom.")
@click.option("--limit", type=click.IntRange(min=2000), default=60_000, help="The most characters of Markdown (60000).")
@click.option("--objects/--no-objects", default=True, show_default=True, help="Whether to list the objects, too.")
@STRICT
@click.option("--max-deletions", "most", type=Share(), default="", help="Fail where more objects go: 20, or 10%.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 where anything differs.")
@click.option("--cluster", help="Only this cluster of the organization.")
@KUBECONFIG
@CONTEXT
@TODAY
@ALLOW
def diff(
    org: Path | None,
    out: Path | None,
    against: str,
    usage: str,
    format_: str,
    limit: int,
    objects: bool,
    strict: bool,
    most: str,
    exit_code: bool,
    cluster: str | None,
    kubeconfig: Path | None,
    context: str | None,
    today: date,
    allowed: tuple[str, ...],
) -> int:
    """Show what `compile` would change: in promises, namespaces, access and cost, then in objects.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above. With --against live nothing is
    written either: objects are applied in dry run. The plan goes to standard output, findings to standard error.
    """
    from tenancy.commands import diff as command

    asked = command.Asked(against=against, usage=usage, cluster=cluster, kubeconfig=kubeconfig, context=context)
    shown = command.Shown(format=format_, limit=limit, objects=objects)
    judged = command.Judged(strict=strict, most=most, exit_code=exit_code)
    return command.diff(org, out, asked, shown, judged, today=today, accepted=allowed)


@main.command(
    short_help="Explain a unit's numbers, or what becomes of a job.",
    epilog="Example: tenancy explain research/vision --gpus 8 --pods 6 --flavor h100",
)
@click.argument("unit")
@ORG
@click.option("--gpus", type=click.IntRange(min=1), help="A job: GPUs of each pod (or slices of --profile).")
@click.option("--pods", type=click.IntRange(min=1), help="Its pods, which start together (default: 1).")
@click.option("--flavor", help="The flavor whose nodes it selects; without a job: the only flavor to show.")
@click.option("--profile", help="The MIG profile that its pods ask for.")
@click.option("--cpu", help="cpu of each pod (default: what follows from its GPUs).")
@click.option("--memory", help="Memory of each pod (default: what follows from its GPUs).")
@click.option(
    "--job",
    "kind",
    type=JOB,
    help="Write such a job as YAML instead, complete but for its image and command.",
)
@click.option(
    "--origins/--no-origins", default=None, help="Where each number comes from (default: unless there is a job)."
)
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
    kind: str | None,
    origins: bool | None,
    format_: str,
) -> int:
    """Explain a unit: where its numbers come from, what it can reach, who lends to it and who may take back.

    UNIT is its path, such as research/vision, the name of its queue, or the organization's name. With a job it says
    whether the job runs, on whose promise, and what its Workload says while it waits; with --job it writes one that
    lands there. ORG is the folder that holds org.yaml; by default the nearest org/, here or above.
    """
    from tenancy.backend.job_request import Job
    from tenancy.commands import explain as command

    job = Job(gpus=gpus, pods=pods, flavor=flavor, profile=profile, cpu=cpu, memory=memory)
    return command.explain(unit, org, job, format_=format_, origins=origins, kind=kind)


@main.command(
    short_help="Show what a scheduler makes of every promise.",
    epilog="Example: tenancy parity org --to volcano --losses",
)
@ORG
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
    short_help="Write the map of the organization as a static site.", epilog="Example: tenancy report org -o site"
)
@ORG
@click.option(
    "-o", "--output", "target", type=click.Path(path_type=Path), required=True, help="The folder of the site."
)
@click.option("--out", type=click.Path(path_type=Path), help="The output folder (default: out/ beside ORG).")
@click.option(
    "--against", default="", metavar="out|REV", help="Show before and after: against the output folder or a revision."
)
def report(org: Path | None, target: Path, out: Path | None, against: str) -> int:
    """Write a static site: units with their promises, who may borrow from whom, free capacity, people, namespaces.

    ORG is the folder that holds org.yaml; by default the nearest org/, here or above. The pages need no network and
    no server. Files that are not of an earlier site are never touched.
    """
    from tenancy.commands import report as command

    return command.report(org, target, out, against=against)
