"""Commands that change the files of an organization."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from tenancy.cli.base import main
from tenancy.cli.options import TODAY, Amount

ORG = click.option("--org", type=click.Path(path_type=Path), help="The organization (default: the nearest org/).")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the difference and write nothing.")


@main.command(
    name="set",
    short_help="Set keys of a unit, a flavor or a cluster.",
    epilog="Example: tenancy set research/vision budget.h100.quota=32 access.members+=group:x",
)
@click.argument("unit")
@click.argument("assignments", nargs=-1, metavar="KEY=VALUE...")
@click.option("--unset", multiple=True, metavar="KEY", help="Remove a key, as KEY- does; may be repeated.")
@ORG
@DRY_RUN
@TODAY
def set_(
    unit: str, assignments: tuple[str, ...], unset: tuple[str, ...], org: Path | None, dry_run: bool, today: date
) -> int:
    """Set keys of UNIT, and write nothing if that would bring a finding.

    UNIT is a path such as research/vision, or flavors/h100, clusters/train-eu, or the organization's name. KEY is
    dotted, such as budget.h100.quota; VALUE is YAML. KEY+=VALUE and KEY-=VALUE add to and take from a list, KEY-
    removes the key. Comments, order and all other lines stay as they are.
    """
    from tenancy.commands import changing
    from tenancy.commands import set_ as command

    return command.set_(changing.Asked(org, today, dry_run), unit, assignments, unset)


@main.command(
    short_help="Hand quota from one unit to another.",
    epilog="Example: tenancy transfer --from research/vision --to product/inference --gpus 8 --flavor h100",
)
@click.option("--from", "source", required=True, metavar="UNIT", help="Who gives; the organization gives what is free.")
@click.option("--to", "goal", required=True, metavar="UNIT", help="Who gets it.")
@click.option("--flavor", required=True, help="The flavor.")
@click.option("--gpus", type=click.IntRange(min=1), help="How many GPUs (or shares of GPUs).")
@click.option(
    "--amount",
    "amounts",
    type=Amount(),
    multiple=True,
    metavar="KEY=N",
    help="Or slices of a MIG profile, `cpu` or `memory`; may be repeated.",
)
@ORG
@DRY_RUN
@TODAY
def transfer(
    source: str,
    goal: str,
    flavor: str,
    gpus: int | None,
    amounts: tuple[tuple[str, str], ...],
    org: Path | None,
    dry_run: bool,
    today: date,
) -> int:
    """Take quota from one unit and give it to another.

    The units above both give and get the same, up to the unit that holds both; a unit and one inside it trade with
    what the outer one keeps for itself. Refused where the one does not have it, or a limit of the other forbids it.
    """
    from tenancy.commands import changing
    from tenancy.commands import transfer as command

    wanted = {**({"gpus": str(gpus)} if gpus is not None else {}), **dict(amounts)}
    return command.transfer(changing.Asked(org, today, dry_run), source, goal, flavor, wanted)


@main.command(
    short_help="Rename a unit, a flavor, a cluster or a priority.",
    epilog="Example: tenancy rename research/vision sight",
)
@click.argument("unit")
@click.argument("name", metavar="NEW")
@click.option(
    "--keep-namespaces/--new-namespaces",
    default=True,
    show_default=True,
    help="Whether namespaces keep their names, and with them all they hold; new ones are made empty.",
)
@ORG
@DRY_RUN
@TODAY
def rename(unit: str, name: str, keep_namespaces: bool, org: Path | None, dry_run: bool, today: date) -> int:
    """Give UNIT the name NEW, in its place and wherever it is named.

    UNIT is a path such as research/vision, or flavors/h100, clusters/train-eu, priorities/batch. NEW is one name.
    What the clusters will do is said; namespaces stay as they are unless they are to follow.
    """
    from tenancy.commands import changing
    from tenancy.commands import rename as command

    return command.rename(changing.Asked(org, today, dry_run), unit, name, keep_namespaces=keep_namespaces)


@main.command(
    short_help="Make the changes that findings propose.",
    epilog="Example: tenancy fix unknown-key org/departments/research.yaml:20",
)
@click.argument("selected", nargs=-1, metavar="[CODE|FILE:LINE]...")
@click.option("--all", "all_", is_flag=True, help="All that is proposed, until nothing more is.")
@ORG
@DRY_RUN
@TODAY
def fix(selected: tuple[str, ...], all_: bool, org: Path | None, dry_run: bool, today: date) -> int:
    """List the changes that findings propose, or make some or all of them.

    Only what is one certain change is proposed: a misspelt name, a number that the law above it fixes. Each is made
    alone and kept only if its finding is gone and no other has come.
    """
    from tenancy.commands import changing
    from tenancy.commands import fix as command

    return command.fix(changing.Asked(org, today, dry_run), selected, all_=all_)
