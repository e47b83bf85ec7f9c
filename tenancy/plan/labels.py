"""The labels that say what an object belongs to, sorted by key as they are written."""

from __future__ import annotations

from tenancy.model.organization import Node, Org

MANAGED_BY = {"app.kubernetes.io/managed-by": "tenancy"}


def organization_labels(org: Org) -> dict[str, str]:
    """Labels of what belongs to the whole organization."""
    return _sorted({**MANAGED_BY, f"{org.document.domain}/organization": org.document.name})


def unit_labels(org: Org, node: Node) -> dict[str, str]:
    """Labels of what belongs to a unit: the department's path joined by `-`, the names of team and project."""
    domain = org.document.domain
    labels = organization_labels(org)
    unit: Node | None = node
    while unit is not None and unit.parent is not None:
        # Of several departments the lowest counts: its path holds the others.
        labels.setdefault(f"{domain}/{unit.kind}", unit.queue if unit.kind == "department" else unit.name)
        unit = unit.parent
    return _sorted(labels)


def _sorted(labels: dict[str, str]) -> dict[str, str]:
    return dict(sorted(labels.items()))
