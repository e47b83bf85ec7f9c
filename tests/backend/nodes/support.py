"""A small organization with flavors of its own, and what it compiles to for the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import yaml

from tenancy.backend.manifest import Manifest, Page
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.render.conform import checker
from tenancy.render.files import render
from tests.orgs import organized

NODE = {"gpus": 8, "cpu": 128, "memory": "1000Gi"}
A100 = {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": NODE}
H100 = {"gpu": "H100-SXM-80GB", "nodes": 2, "node": NODE}
L4 = {"gpu": "L4", "nodes": 4, "node": {"gpus": 1, "cpu": 16, "memory": "64Gi"}}
CPU = {"nodes": 2, "node": {"cpu": 64, "memory": "256Gi"}}


def planned(flavors: dict[str, Any], cluster: dict[str, Any] | None = None) -> ClusterPlan:
    """The plan of the cluster `train` with these flavors, which nobody has a budget on."""
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": cluster or {}},
        "flavors": flavors,
        "departments": {"research": {"teams": {"vision": {}}}},
    }
    (made,) = plan(organized(tree))
    return made


def files(part: Callable[[ClusterPlan], Iterator[Manifest | Page]], plan: ClusterPlan) -> dict[str, str]:
    """What a part writes for a cluster, by the path in its folder, without the kustomizations."""
    found = render("train", part(plan), checker(kubernetes=plan.kubernetes))
    return {path.removeprefix("train/"): text for path, text in found.items() if "kustomization" not in path}


def config_map(part: Callable[[ClusterPlan], Iterator[Manifest | Page]], plan: ClusterPlan) -> dict[str, Any]:
    """The one ConfigMap that a part writes, with the YAML in its data read."""
    (text,) = files(part, plan).values()
    found: dict[str, Any] = yaml.safe_load(text)
    return {**found, "data": {key: yaml.safe_load(value) for key, value in found["data"].items()}}
