"""The default topology of a unit as it holds in one cluster: the label that its level means, and on which nodes."""

from __future__ import annotations

from collections.abc import Mapping

from tenancy.model.hardware import Hardware, packed
from tenancy.model.organization import Node, Org
from tenancy.model.unit_topology import UnitTopology, levels_of, meanings
from tenancy.plan.values import Topology


def default_topology(
    org: Org, said: UnitTopology | None, queue: Node, flavors: Mapping[str, Hardware]
) -> Topology | None:
    """What `said` comes to for the jobs of a queue, that of the unit or of its team, with the flavors of one cluster.

    None where no flavor within reach has the level, and under Kueue where it does not look at nodes (plain placement).
    """
    reached = [flavor for flavor in flavors.values() if flavor.gpu and queue.reaches(flavor)] if said else []
    if said is None or not reached:
        return None
    cluster = reached[0].cluster
    scheduler = org.document.clusters[cluster].scheduler
    found = meanings(said.level, (level for flavor in reached for level in levels_of(flavor, scheduler)))
    if len(found) != 1 or (scheduler == "kueue" and not packed(org.document, cluster)):
        return None
    (level,) = found
    having = [flavor for flavor in reached if level in levels_of(flavor, scheduler)]
    offered = {main for flavor in having for main in flavor.mains}
    lacking = [flavor for flavor in reached if flavor not in having and offered & set(flavor.mains)]
    return Topology(
        mode=said.mode,
        level=level,
        flavors=tuple(flavor.name for flavor in having),
        lacking=tuple(flavor.name for flavor in lacking),
    )
