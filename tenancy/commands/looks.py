"""Which unit in which cluster a command looks at."""

from __future__ import annotations

from difflib import get_close_matches

import click

from tenancy.commands.explained import Look
from tenancy.model.organization import Node, Org
from tenancy.pipeline import Examined
from tenancy.plan import plan


def looks(found: Examined, org: Org, unit: str, flavor: str | None, cluster: str | None = None) -> list[Look]:
    """The unit in every cluster that it is in, or in one of them; with a flavor, in that of the flavor."""
    node = _unit(org, unit)
    if flavor is not None:
        known(flavor, list(org.flavors), "flavor")
    if cluster is not None:
        known(cluster, list(org.document.clusters), "cluster")
    homes = {org.flavors[flavor].cluster if flavor is not None else None, cluster} - {None}
    assert found.sources is not None
    seen = [
        Look(org, found.sources, each, node)
        for each in found.plans or plan(org)
        if homes <= {each.name} and each.name in node.clusters
    ]
    if not seen:
        where = f"the cluster of flavor {flavor!r}" if flavor is not None else f"cluster {cluster!r}"
        raise click.UsageError(f"{node.title or node.name} has no queue in {where}")
    return seen


def known(given: str, names: list[str], what: str) -> None:
    """A usage error that names the nearest, where nothing is called so."""
    if given not in names:
        near = get_close_matches(given, names, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(sorted(names)[:8])}"
        raise click.UsageError(f"no {what} {given!r} in the organization; {hint}")


def _unit(org: Org, given: str) -> Node:
    """The unit of a path, or of the name of its queue; the organization by its own name."""
    named = {**{node.queue: node for node in org.units}, **{node.title: node for node in org.units}}
    named.setdefault(org.document.name, org.root)
    known(given.strip("/"), list(named), "unit")
    return named[given.strip("/")]
