"""The command that writes a job."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from tenancy.cli.base import main
from tenancy.cli.options import CLUSTER, JOB, ORG

_COUNT: Final = click.IntRange(1, 1_000_000)
"""More GPUs than any cluster has: what would do instead is looked for among all sizes below."""


@main.command(
    short_help="Write a job that lands in a unit's queue.",
    epilog="Example: tenancy job research/vision --framework pytorch --gpus 16 > job.yaml",
)
@click.argument("unit")
@ORG
@click.option("--framework", "kind", type=JOB, default="plain", show_default=True, help="What runs its pods.")
@click.option("--gpus", type=_COUNT, help="GPUs of all its pods together (or slices of --profile).")
@click.option("--pods", type=_COUNT, help="Its pods, all alike (default: as few as fit on the nodes).")
@click.option("--flavor", help="The flavor whose nodes it selects (default: the first that takes it).")
@click.option("--profile", help="The MIG profile that its pods ask for.")
@click.option("--cpu", help="cpu of each pod (default: what follows from its GPUs).")
@click.option("--memory", help="Memory of each pod (default: what follows from its GPUs).")
@click.option("--priority", default="", help="Its priority (default: one of the unit's for work like most).")
@click.option("--checkpoint", default="", metavar="WHERE", help="Where it saves its state, if its priority asks.")
@click.option("--name", default="", help="Its name (default: one is generated for each that is submitted).")
@click.option("--image", default="", help="The image of its program.")
@CLUSTER
def job(
    unit: str,
    org: Path | None,
    kind: str,
    gpus: int | None,
    pods: int | None,
    flavor: str | None,
    profile: str | None,
    cpu: str | None,
    memory: str | None,
    priority: str,
    checkpoint: str,
    name: str,
    image: str,
    cluster: str | None,
) -> int:
    """Write a job that lands in a unit's queue as a gang, complete but for its program.

    UNIT is the path of a team or a project, such as research/vision. ORG is the folder that holds org.yaml; by default
    the nearest org/, here or above. The job goes to standard output, and what becomes of it to standard error. Where
    it could never be admitted nothing is written, and the status is 1.
    """
    from tenancy.backend.job_priority import Author
    from tenancy.backend.job_request import Job
    from tenancy.commands import job as command

    whole = Job(gpus=gpus, pods=pods, flavor=flavor, profile=profile, cpu=cpu, memory=memory)
    author = Author(priority=priority, name=name, image=image, checkpoint=checkpoint)
    return command.job(unit, org, whole, kind, author, cluster=cluster)
