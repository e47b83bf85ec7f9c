"""A small organization and its edits, for tests of what a change means."""

from __future__ import annotations

from typing import Any, Final

from tenancy.backend import BACKENDS, KINDS, WAITING, units
from tenancy.backend.manifest import Manifest
from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.effects import Side
from tenancy.compare.usage import Usage
from tenancy.pipeline import generate
from tenancy.plan import plan
from tests.orgs import changed, organized, scheduled

GPU: Final = "nvidia.com/gpu"
RESEARCH: Final = "departments.research"
VISION: Final = f"{RESEARCH}.teams.vision"
LANGUAGE: Final = f"{RESEARCH}.teams.language"
SEARCH: Final = "departments.product.teams.search"

_ORG: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 130, "memory": "1028Gi"}}},
    "departments": {
        "research": {
            "budget": {"h100": 24},
            "teams": {"vision": {"budget": {"h100": 8}}, "language": {"budget": {"h100": 12}}},
        },
        "product": {"budget": {"h100": 8}, "teams": {"search": {"budget": {"h100": 8}}}},
    },
}
"""Three teams on 32 GPUs; the department of two of them hands on 20 of its 24."""


def tree(**changes: Any) -> dict[str, Any]:
    """The organization with the values at dotted paths replaced; None removes a key."""
    return changed(_ORG, changes)


def compared(
    old: dict[str, Any],
    new: dict[str, Any],
    *,
    scheduler: str = "",
    usage: Usage | None = None,
    known: bool = False,
) -> Comparison:
    """The comparison of two organizations under the scheduler that is written, or another one; `known`: with the
    flavors of the old one."""
    before, after = (organized(scheduled(each, scheduler) if scheduler else each) for each in (old, new))
    flavors = before.flavors if known else None
    return compare(generate(before, {}), generate(after, {}), after.flavors, usage, flavors)


def read(tree: dict[str, Any], scheduler: str) -> tuple[dict[str, Side], dict[tuple[str, str, str, str], int]]:
    """The sides of all clusters, and what the scheduler itself says that each unit with work can reach."""
    sides, said = {}, {}
    for cluster in plan(organized(scheduled(tree, scheduler))):
        items = BACKENDS[scheduler](cluster)
        objects = [obj for item in items if isinstance(item, Manifest) for obj in item.objects if obj["kind"] in KINDS]
        named = {(f"{each.title} (shared)" if each.shared else each.title): each for each in units(objects)}
        sides[cluster.name] = Side(named, scheduler, "weighted" if scheduler == "kueue" else "")
        groups = {group.title for group in cluster.groups}
        for queue in cluster.queues:
            name = f"{queue.title} (shared)" if queue.title in groups else queue.title
            for flavor in cluster.flavors.values():
                for resource in flavor.mains:
                    reach = WAITING[scheduler].reach(cluster, queue, flavor.name, resource)
                    said[cluster.name, name, flavor.name, resource] = reach
    return sides, said
