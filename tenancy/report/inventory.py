"""How many nodes each flavor has, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenancy.report.report import plural
from tenancy.report.terminal import table, visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A flavor beside its nodes."""

    flavor: str
    declared: int
    found: int
    usable: int
    """Ready and not cordoned."""
    told_by: str


def text(cluster: str, nodes: int, rows: Sequence[Row]) -> str:
    """A heading and a line for each flavor."""
    cells = [("FLAVOR", "DECLARED", "FOUND", "USABLE", "TOLD BY")]
    cells += [(row.flavor, str(row.declared), str(row.found), str(row.usable), row.told_by) for row in rows]
    return "\n".join([visible(f"{cluster}: {plural(nodes, 'node')}"), *map(visible, table(cells))]) + "\n"
