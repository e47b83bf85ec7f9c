"""Commands that look at the nodes of a cluster."""

from __future__ import annotations

from pathlib import Path

import click

from tenancy.cli.base import main
from tenancy.cli.options import CLUSTER, CONTEXT, FORMAT, KUBECONFIG, NODES, ORG


@main.command(
    short_help="Show or set labels, taints and MIG layouts of nodes.",
    epilog="Example: tenancy nodes org --context train-eu --apply",
)
@ORG
@CLUSTER
@NODES
@KUBECONFIG
@CONTEXT
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
@ORG
@CLUSTER
@NODES
@KUBECONFIG
@CONTEXT
@click.option("--propose", is_flag=True, help="Write flavors for the nodes (default without an organization).")
@FORMAT
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
