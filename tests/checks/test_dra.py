"""GPUs that are allocated by claims: one finding for each defect, and slices that are called by their name."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.check import check
from tenancy.check.wording import amount_of
from tenancy.diagnostics import Diagnostic
from tenancy.load.source import Sources
from tests.orgs import changed, organized

DAEMONS: Final = {"cpu": 2, "memory": "4Gi"}
BASE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "h100": {
            "gpu": "H100-SXM-80GB",
            "nodes": 4,
            "node": {"gpus": 8, "cpu": 130, "memory": "1004Gi"},
            "daemons": DAEMONS,
            "allocation": "dra",
        },
    },
    "departments": {"research": {"budget": {"h100": 32}, "teams": {"vision": {"budget": {"h100": 32}}}}},
}
F: Final = "flavors.h100"
RACKS: Final = ["cloud.example/rack", "kubernetes.io/hostname"]
L40S: Final = {"gpu": "L40S", "nodes": 1, "node": {"gpus": 8, "cpu": 130, "memory": "1004Gi"}, "daemons": DAEMONS}


def findings(changes: dict[str, Any]) -> list[Diagnostic]:
    """What the checks say of the base with the values at dotted paths replaced; None removes a key."""
    tree = changed(BASE, changes)
    return check(organized(tree), Sources((), tree, {}), None)


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"clusters.train.versions": {"kueue": "0.18", "kubernetes": "1.35"}}, []),
        ({"clusters.train.versions": {"kueue": "0.17", "kubernetes": "1.35"}}, ["dra-scheduler"]),
        ({"clusters.train.scheduler": "volcano"}, ["dra-scheduler"]),
        ({f"{F}.gpu": "H9000"}, ["unknown-gpu"]),
        ({f"{F}.mig": {"1g.10gb": 7}, "departments.research.budget": {}, "departments.research.teams": {}}, []),
        ({f"{F}.topology": ["kubernetes.io/hostname"]}, []),
        ({f"{F}.topology": RACKS}, ["dra-topology"]),
        ({f"{F}.topology": RACKS, "clusters.train.placement": "plain"}, ["topology-unused"]),
        ({"flavors.l40s": L40S}, ["dra-mixed"]),
        ({"flavors.l40s": {**L40S, "topology": RACKS}}, ["dra-mixed", "dra-topology"]),
        ({"flavors.l40s": {**L40S, "allocation": "dra"}}, []),
        ({"flavors.l40s": {**L40S, "cluster": "other"}, f"{F}.cluster": "train", "clusters.other": {}}, []),
        (
            {"flavors.amd": {**L40S, "gpu": {"name": "MI300X", "memory": "192Gi", "resource": "amd.com/gpu"}}},
            [],
        ),
        ({"domain": "a" * 40 + ".example"}, []),
        ({"domain": "a" * 43 + ".example"}, ["dra-class-name"]),
        ({f"{F}.autoscaling": "karpenter"}, ["karpenter-mig", "placement-plain"]),
    ],
)
def test_what_claims_are_beside(changes: dict[str, Any], codes: list[str]) -> None:
    """Each defect of an allocation by claims is one finding, and what goes with it is none."""
    mine = [found.code for found in findings(changes) if not found.code.startswith(("flavor-", "no-", "native-"))]
    assert sorted(mine) == codes


def test_cpu_flavors_have_nothing_to_claim() -> None:
    """The message says what is missing, not what a driver might say."""
    cpu = {"nodes": 4, "node": {"cpu": 64, "memory": "256Gi"}, "daemons": DAEMONS, "allocation": "dra"}
    found = [each for each in findings({"flavors.cpu": cpu}) if each.code == "dra-board"]
    assert [each.message for each in found] == ["flavor `cpu` is a CPU flavor, which has no GPU to allocate"]


def test_without_the_operator_nothing_keeps_the_plugin_away() -> None:
    """Who runs a device plugin of one's own has to keep it off the nodes, and is told so."""
    installed = findings({"flavors.l40s": L40S})
    own = findings({"flavors.l40s": L40S, "clusters.train.gpuOperator": {"installed": False}})
    assert "DaemonSet" not in next(each.help for each in installed if each.code == "dra-mixed")
    assert "DaemonSet" in next(each.help for each in own if each.code == "dra-mixed")


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        ("gpu.acme.example/h100-sxm-80gb", "3 GPUs"),
        ("gpu.acme.example/a100-sxm4-80gb-1g.10gb", "3 slices of `1g.10gb`"),
        ("gpu.acme.example/rtx-pro-6000-1g.24gb.me.all", "3 slices of `1g.24gb.me.all`"),
        ("gpu.acme.example/rtx-pro-6000-1g.24gb-me", "3 slices of `1g.24gb-me`"),
    ],
)
def test_claimed_slices_have_their_name(resource: str, words: str) -> None:
    """An amount of a profile is not an amount of GPUs."""
    assert amount_of(3, resource) == words
