"""Default topologies of units: what else is found, or rightly not, beside the committed cases."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tenancy.check.unit_topology import unit_topologies
from tests.orgs import organized

RACK, HOST = "cloud.example/rack", "kubernetes.io/hostname"
NODE = {"gpus": 8, "cpu": 192, "memory": "2000Gi"}
BASE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {
        "a100": {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": NODE},
        "cpu": {"nodes": 2, "node": {"cpu": 64, "memory": "256Gi"}},
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": NODE, "topology": [RACK, HOST]},
    },
    "departments": {"lab": {"budget": {"h100": 16}, "teams": {"a": {}, "b": {}}}},
}
LAB, A = "departments.lab", "departments.lab.teams.a"
MIG = {"gpu": "A100-SXM4-80GB", "nodes": 2, "node": NODE, "mig": {"1g.10gb": 7}}
OTHER = ["old.example/rack", HOST]


def found(edits: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Code, message and help of every finding, after edits by path."""
    tree = deepcopy(BASE)
    for path, value in edits.items():
        *keys, last = path.split(".")
        at = tree
        for key in keys:
            at = at.setdefault(key, {})
        at[last] = value
    return [
        (each.rule.code.removeprefix("unit-topology-"), each.message, each.help)
        for each in unit_topologies(organized(tree))
    ]


@pytest.mark.parametrize(
    "edits",
    [
        {},
        {f"{LAB}.topology": "required rack"},
        {f"{LAB}.topology": f"preferred {RACK}"},
        {f"{LAB}.topology": "required host"},
        {f"{LAB}.budget": {"h100": 16, "a100": 16}, f"{LAB}.topology": "required rack"},
        {f"{A}.budget": {"a100": 8}, f"{LAB}.budget": {"h100": 16, "a100": 8}, f"{LAB}.topology": "preferred rack"},
        {
            f"{LAB}.topology": "required rack",
            f"{LAB}.budget": {"h100": 16, "a100": 8},
            f"{A}.budget": {"a100": 8, "h100": {"limit": 0}},
        },
        {
            f"{LAB}.topology": "required rack",
            f"{LAB}.budget": {"h100": 16, "a100": 8},
            f"{A}.budget": {"a100": 8},
            f"{A}.topology": "preferred rack",
        },
        {
            "flavors.a100": MIG,
            f"{LAB}.budget": {"h100": 16, "a100": {"1g.10gb": 7}},
            f"{A}.budget": {"a100": {"1g.10gb": 7}},
            f"{LAB}.topology": "required rack",
        },
        {"clusters.main.scheduler": "volcano", f"{LAB}.topology": "required rack", f"{A}.budget": {"a100": 8}},
        {"clusters.main.scheduler": "native", f"{LAB}.topology": "required rack"},
        {"flavors.a100.topology": OTHER, f"{LAB}.topology": f"required {RACK}"},
    ],
    ids=str,
)
def test_nothing_is_wrong(edits: dict[str, Any]) -> None:
    """A level that a flavor within reach has; no flavor of the unit's own is shut out, as those are not whose resource
    is another, which it owns no part of, or for which another unit below says something else."""
    assert found(edits) == []


@pytest.mark.parametrize(
    ("edits", "code", "words"),
    [
        ({f"{A}.topology": "rack"}, "syntax", "`lab/a`: `rack` is not a topology; write `required rack`"),
        ({f"{A}.topology": ""}, "syntax", f"`lab/a`: `` is not a topology; write `required {HOST}`"),
        ({f"{A}.topology": "prefered rack"}, "syntax", "did you mean `preferred`? write `required rack`"),
        (
            {"flavors.a100.topology": OTHER, f"{A}.topology": "required rack"},
            "level",
            "`lab/a`: level `rack` may be `cloud.example/rack` of `h100` or `old.example/rack` of `a100`; write the "
            "whole key, such as `required cloud.example/rack`",
        ),
        (
            {
                f"{LAB}.budget": {"cpu": {"cpu": 1, "memory": "4Gi"}},
                f"{LAB}.policy": {"borrowing": "none"},
                f"{LAB}.topology": "required rack",
            },
            "level",
            "`lab` has a default topology and reaches no flavor with GPUs; remove it",
        ),
        (
            {"clusters.main.scheduler": "volcano", f"{LAB}.topology": "required host"},
            "level",
            "Volcano places jobs by racks and blocks, and cannot keep one on a single host; let one pod ask for all "
            "GPUs that are to be on one host, or write `required cloud.example/rack`, or remove it",
        ),
        (
            {"flavors.h100.autoscaling": "karpenter", f"{LAB}.topology": "required rack"},
            "plain",
            "cluster `main` has plain placement, because of flavors without nodes to look at; remove `topology`",
        ),
        (
            {
                "clusters.main.versions": {"kubernetes": "1.35"},
                f"{LAB}.topology": "required rack",
                f"{A}.topology": "preferred rack",
            },
            "by-hand",
            "`lab` and `lab/a` have a default topology, and nothing gives it to jobs on Kubernetes 1.35; run",
        ),
        (
            {
                f"{LAB}.topology": "required rack",
                f"{LAB}.budget": {"h100": 16, "a100": 16},
                f"{A}.budget": {"a100": 8},
                f"{LAB}.teams.b": {"budget": {"a100": 4}},
            },
            "shuts-out",
            "jobs of `lab/a` and `lab/b` that choose no flavor never run on `a100`, whose nodes have no "
            "`cloud.example/rack`; they own 12 GPUs there; write `preferred`",
        ),
    ],
)
def test_something_is_wrong(edits: dict[str, Any], code: str, words: str) -> None:
    """One finding, which says what it is about and what to write."""
    ((rule, message, help_),) = found(edits)
    assert rule == code
    assert words in f"{message}; {help_}"
