"""The labels and annotations that say what an object belongs to."""

from __future__ import annotations

from tenancy.model.organization import Node, Org

MANAGED_BY = {"app.kubernetes.io/managed-by": "tenancy"}


def organization_labels(org: Org) -> dict[str, str]:
    """Labels of what belongs to the whole organization."""
    return {**MANAGED_BY, f"{org.document.domain}/organization": org.document.name}


def unit_labels(org: Org, node: Node) -> dict[str, str]:
    """Labels of what belongs to a unit: the department's path joined by `-`, the names of team and project."""
    domain = org.document.domain
    labels = organization_labels(org)
    for unit in (*reversed(list(node.ancestors())), *([node] if node.parent else [])):
        labels[f"{domain}/{unit.kind}"] = unit.queue if unit.kind == "department" else unit.name
    return labels
