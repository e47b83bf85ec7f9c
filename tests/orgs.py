"""Organizations from plain data, for tests that need no files."""

from __future__ import annotations

import copy
from typing import Any

from tenancy.load.source import Sources
from tenancy.model.budgets import promise
from tenancy.model.organization import Org, organize
from tenancy.model.parse import parse


def organized(tree: dict[str, Any]) -> Org:
    """The organization that a tree in the shape of org.yaml says, with every default filled in; no key may be wrong."""
    parsed, diagnostics = parse(tree, Sources((), tree, {}))
    assert diagnostics == []
    assert parsed.organization is not None
    org = organize(parsed.organization, parsed.left_out)
    promise(org)
    return org


def scheduled(tree: dict[str, Any], scheduler: str) -> dict[str, Any]:
    """The tree with this scheduler in every cluster."""
    clusters = {name: {**cluster, "scheduler": scheduler} for name, cluster in tree["clusters"].items()}
    return {**tree, "clusters": clusters}


def changed(tree: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with the values at dotted paths replaced; None removes a key."""
    copied = copy.deepcopy(tree)
    for dotted, value in changes.items():
        inside, *path = copied, *dotted.split(".")
        for key in path[:-1]:
            inside = inside.setdefault(key, {})
        if value is None:
            inside.pop(path[-1])
        else:
            inside[path[-1]] = value
    return copied
