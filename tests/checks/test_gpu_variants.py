"""Variants of the cases of GPUs: MIG layouts, the strategy `single`, and the product label that each gives."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tenancy.check import check
from tenancy.diagnostics import Diagnostic
from tenancy.load.source import Sources
from tests.orgs import organized

BASE: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}, "edge": {"scheduler": "kueue"}},
    "flavors": {
        "mig": {
            "cluster": "train",
            "gpu": "A100-SXM4-80GB",
            "nodes": 4,
            "node": {"gpus": 8, "cpu": 128, "memory": "1000Gi"},
            "daemons": {"cpu": 2, "memory": "4Gi"},
            "mig": {"1g.10gb": 7},
        }
    },
    "departments": {"research": {"teams": {"vision": {}}}},
}
WHOLE = {key: value for key, value in BASE["flavors"]["mig"].items() if key != "mig"}
SINGLE = {"clusters": {"train": {"gpuOperator": {"migStrategy": "single"}}, "edge": {}}}
PRODUCT = "nvidia.com/gpu.product"


def findings(flavor: dict[str, Any], **changes: Any) -> list[Diagnostic]:
    """What the checks say of the base with keys of its flavor, and of the organization, replaced."""
    tree = {**copy.deepcopy(BASE), **changes}
    tree["flavors"] = {"mig": {**BASE["flavors"]["mig"], **flavor}, **changes.get("flavors", {})}
    return check(organized(tree), Sources((), tree, {}))


def codes(flavor: dict[str, Any], **changes: Any) -> list[str]:
    """The codes of it."""
    return [found.code for found in findings(flavor, **changes)]


SINGLE_CASES = {
    "one profile": ({}, []),
    "one profile with media extensions": ({"mig": {"7g.80gb": 1}}, []),
    "one profile in different numbers": (
        {"mig": [{"gpus": 4, "1g.10gb": 7}, {"gpus": 4, "1g.10gb": 6}]},
        ["mig-room-left"],
    ),
    "two profiles on a GPU": ({"mig": {"3g.40gb": 1, "4g.40gb": 1}}, ["mig-single-strategy"]),
    "two profiles in a node": (
        {"mig": [{"gpus": 4, "1g.10gb": 7}, {"gpus": 4, "7g.80gb": 1}]},
        ["mig-single-strategy"],
    ),
    "slices beside whole GPUs in a node": ({"mig": [{"gpus": 4, "1g.10gb": 7}, {"gpus": 4}]}, ["mig-single-strategy"]),
    "another profile on other nodes": (
        {"mig": [{"nodes": 2, "1g.10gb": 7}, {"nodes": 2, "7g.80gb": 1}]},
        ["mig-single-strategy"],
    ),
    "whole GPUs on other nodes": ({"mig": [{"nodes": 2, "1g.10gb": 7}, {"nodes": 2}]}, ["mig-single-strategy"]),
    "in another cluster": ({"cluster": "edge", "mig": {"3g.40gb": 1, "4g.40gb": 1}}, []),
}


@pytest.mark.parametrize(("flavor", "expected"), SINGLE_CASES.values(), ids=SINGLE_CASES)
def test_single_wants_one_profile_in_a_flavor(flavor: dict[str, Any], expected: list[str]) -> None:
    """The device plugin wants one profile in a node, and one resource has one size in a flavor."""
    assert codes(flavor, **SINGLE) == expected


def test_single_names_what_is_offered() -> None:
    """Whole GPUs are named beside the profiles."""
    found = findings({"mig": [{"gpus": 4, "1g.10gb": 7}, {"gpus": 4}]}, **SINGLE)
    assert [each.message for each in found] == [
        "flavor `mig` offers whole GPUs and `1g.10gb`, but cluster `train` has the strategy `single`"
    ]


BESIDE = {
    "whole GPUs": (WHOLE, ["mig-single-mixed"]),
    "slices of the same profile": ({**WHOLE, "gpu": "H100-SXM-80GB", "mig": {"1g.10gb": 7}}, []),
    "slices of another profile": ({**WHOLE, "mig": {"7g.80gb": 1}}, ["mig-single-mixed"]),
    "GPUs of another vendor": (
        {**WHOLE, "gpu": {"name": "MI300X", "memory": "192Gi", "resource": "amd.com/gpu"}},
        [],
    ),
    "whole GPUs of another cluster": ({**WHOLE, "cluster": "edge"}, []),
    "layouts that are at fault themselves": ({**WHOLE, "mig": {"3g.40gb": 1, "4g.40gb": 1}}, ["mig-single-strategy"]),
}


@pytest.mark.parametrize(("other", "expected"), BESIDE.values(), ids=BESIDE)
def test_single_makes_slices_and_other_gpus_alike(other: dict[str, Any], expected: list[str]) -> None:
    """A unit that reaches slices reaches nothing else of the same name and cluster."""
    labels = [{"labels": {"pool": name}} for name in ("a", "b")]
    assert codes(labels[0], flavors={"other": {**other, **labels[1]}}, **SINGLE) == expected


LABELS = {
    "plain with mixed": ({}, {}, "NVIDIA-A100-SXM4-80GB", []),
    "suffix with mixed": ({}, {}, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", ["flavor-label-without-node"]),
    "plain with single": ({}, SINGLE, "NVIDIA-A100-SXM4-80GB", ["flavor-label-without-node"]),
    "suffix with single": ({}, SINGLE, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", []),
    "another profile with single": (
        {},
        SINGLE,
        "NVIDIA-A100-SXM4-80GB-MIG-7g.80gb",
        ["flavor-label-without-node"],
    ),
    "attributes are joined by a dot": (
        {"gpu": "RTX-PRO-6000", "mig": {"2g.48gb+gfx": 2}},
        SINGLE,
        "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition-MIG-2g.48gb.gfx",
        [],
    ),
    "no label is right for two profiles": (
        {"mig": {"3g.40gb": 1, "4g.40gb": 1}},
        SINGLE,
        "NVIDIA-A100-SXM4-80GB-MIG-3g.40gb",
        ["mig-single-strategy"],
    ),
}


@pytest.mark.parametrize(("flavor", "changes", "label", "expected"), LABELS.values(), ids=LABELS)
def test_the_product_label_follows_the_strategy(
    flavor: dict[str, Any], changes: dict[str, Any], label: str, expected: list[str]
) -> None:
    """Under `single` GPU feature discovery appends the profile; under `mixed` nothing."""
    assert codes({**flavor, "labels": {PRODUCT: label}}, **changes) == expected


HELP = {
    "plain": ("NVIDIA-A100-SXM4-80GB", "under the strategy `single` the label names the profile"),
    "of another board": ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "or `gpu: H100-SXM-80GB`"),
    "shared": ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED", "here they have a name of their own"),
}


@pytest.mark.parametrize(("label", "words"), HELP.values(), ids=HELP)
def test_the_help_gives_the_label_of_the_profile(label: str, words: str) -> None:
    """What to write is the product with the profile, and why the written one is another."""
    (found,) = findings({"labels": {PRODUCT: label}}, **SINGLE)
    assert found.help.startswith("write `NVIDIA-A100-SXM4-80GB-MIG-1g.10gb`")
    assert words in found.help


LAYOUTS = {
    "a negative count": ({"1g.10gb": -1}, ["mig-does-not-fit"]),
    "only zeros": ({"1g.10gb": 0}, ["mig-does-not-fit"]),
    "nothing": ({}, ["mig-does-not-fit"]),
    "an empty list": ([], ["mig-shares"]),
    "a part of only zeros": ([{"gpus": 4, "1g.10gb": 7}, {"gpus": 4, "7g.80gb": 0}], ["mig-does-not-fit"]),
    "a negative count in a part": ([{"gpus": 4, "1g.10gb": 7}, {"gpus": 4, "7g.80gb": -1}], ["mig-does-not-fit"]),
    "a part without GPUs": ([{"gpus": 8, "1g.10gb": 7}, {"gpus": 0, "7g.80gb": 1}], ["mig-shares"]),
    "a part of fewer than no GPUs": ([{"gpus": 9, "1g.10gb": 7}, {"gpus": -1, "7g.80gb": 1}], ["mig-shares"]),
    "the name of an early driver": ({"7g.79gb": 1}, ["mig-profile-unknown"]),
    "a compute instance": ({"1c.2g.20gb": 1}, ["mig-profile-unknown"]),
}


@pytest.mark.parametrize(("layout", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_of_nothing_is_no_layout(layout: Any, expected: list[str]) -> None:
    """Counts that make no instance, and parts that cover no GPU, are one finding each."""
    assert codes({"mig": layout}) == expected
