"""GPUs in shares: one finding for each defect, and amounts that are called by their name."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.check import check
from tenancy.check.wording import amount_of, entry_text
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
        "l4": {
            "gpu": "L4",
            "nodes": 4,
            "node": {"gpus": 8, "cpu": 98, "memory": "388Gi"},
            "daemons": DAEMONS,
            "sharing": {"timeSlicing": 4, "acrossDepartments": True},
        },
    },
    "departments": {
        "research": {"budget": {"l4": 100}, "teams": {"vision": {"budget": {"l4": 16}}, "speech": {}}},
        "sales": {"budget": {"l4": 28}, "teams": {"web": {"budget": {"l4": 4}}}},
    },
}
A100: Final = {
    "gpu": "A100-SXM4-80GB",
    "nodes": 2,
    "node": {"gpus": 8, "cpu": 130, "memory": "1004Gi"},
    "daemons": DAEMONS,
    "mig": {"3g.40gb": 2},
}
AMD: Final = {"name": "MI300X", "memory": "192Gi", "resource": "amd.com/gpu"}
F = "flavors.l4"
"""Budgets of 128 shares stay above what 32 whole GPUs are, so a broken `sharing` would show in every law."""


def findings(changes: dict[str, Any]) -> list[Diagnostic]:
    """What the checks say of the base with the values at dotted paths replaced; None removes a key."""
    tree = changed(BASE, changes)
    return check(organized(tree), Sources((), tree, {}), None)


CASES: Final[dict[str, tuple[dict[str, Any], list[str]]]] = {
    "nothing is wrong": ({}, []),
    "neither way": ({f"{F}.sharing": {}}, ["sharing-shape"]),
    "neither way, but departments may": ({f"{F}.sharing": {"acrossDepartments": True}}, ["sharing-shape"]),
    "both ways": ({f"{F}.sharing.mps": 4}, ["sharing-shape"]),
    "one share": ({f"{F}.sharing.timeSlicing": 1}, ["sharing-shape"]),
    "a negative number": ({f"{F}.sharing": {"mps": -4}}, ["sharing-shape"]),
    "as many clients as MPS has": ({f"{F}.sharing": {"mps": 48, "acrossDepartments": True}}, []),
    "one client more": ({f"{F}.sharing": {"mps": 49}}, ["sharing-shape"]),
    "a board with fewer clients": ({f"{F}.gpu": "V100-SXM2-32GB", f"{F}.sharing": {"mps": 17}}, ["sharing-shape"]),
    "a board with as many": (
        {f"{F}.gpu": "V100-SXM2-32GB", f"{F}.sharing": {"mps": 16, "acrossDepartments": True}},
        [],
    ),
    "many by time-slicing": ({f"{F}.sharing.timeSlicing": 60}, []),
    "more shares than there is cpu for": ({f"{F}.sharing.timeSlicing": 100_000}, ["nothing-per-gpu"]),
    "a custom GPU of NVIDIA": ({f"{F}.gpu": {**AMD, "resource": "nvidia.com/gpu"}}, []),
    "a custom GPU of another vendor": ({f"{F}.gpu": AMD}, ["sharing-unsupported"]),
    "a board that nobody knows": ({f"{F}.gpu": "L4-24GB"}, ["unknown-gpu"]),
    "a CPU flavor": (
        {"flavors.cpu": {"nodes": 1, "node": {"cpu": 8, "memory": "32Gi"}, "daemons": DAEMONS, "sharing": {"mps": 2}}},
        ["sharing-unsupported"],
    ),
    "slices by MPS": ({"flavors.mig": {**A100, "sharing": {"mps": 2}}}, ["sharing-mps-mig"]),
    "slices by time-slicing": (
        {"flavors.mig": {**A100, "sharing": {"timeSlicing": 2, "acrossDepartments": True}}},
        [],
    ),
    "MIG on a board without it": (
        {f"{F}.mig": {"1g.5gb": 1}, f"{F}.sharing": {"mps": 4, "acrossDepartments": True}},
        ["mig-unsupported"],
    ),
    "whole nodes": ({f"{F}.wholeNodes": True}, ["sharing-whole-nodes"]),
    "whole nodes and both ways": (
        {f"{F}.wholeNodes": True, f"{F}.sharing.mps": 4},
        ["sharing-whole-nodes", "sharing-shape"],
    ),
    "two departments": ({f"{F}.sharing.acrossDepartments": False}, ["sharing-across-departments"]),
    "one that only borrows": (
        {f"{F}.sharing.acrossDepartments": False, "departments.sales": {"teams": {"web": {}}}},
        ["sharing-across-departments"],
    ),
    "one that may not": (
        {
            f"{F}.sharing.acrossDepartments": False,
            "departments.sales": {"budget": {"l4": {"limit": 0}}, "teams": {"web": {}}},
        },
        ["nothing-to-use", "sharing-isolation"],
    ),
    "one that borrows nothing": (
        {
            f"{F}.sharing.acrossDepartments": False,
            "departments.sales": {"policy": {"borrowing": "none"}, "teams": {"web": {}}},
        },
        ["nothing-to-use", "sharing-isolation"],
    ),
    "one without a team": (
        {f"{F}.sharing.acrossDepartments": False, "departments.sales.teams": None},
        ["pool-unused", "sharing-isolation"],
    ),
    "one that owns nothing without a scheduler": (
        {
            "clusters.train.scheduler": "native",
            f"{F}.sharing.acrossDepartments": False,
            "departments": {
                "research": {"budget": {"l4": 100}, "teams": {"vision": {"budget": {"l4": 16}}}},
                "sales": {"teams": {"web": {}}},
            },
        },
        ["sharing-isolation"],
    ),
    "more shares than there are": (
        {"departments.sales.budget": {"l4": 29}},
        ["quota-above-capacity"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_variant_gives_exactly_these_findings(case: str) -> None:
    """A defect of `sharing` has one finding, and no law is then judged by a number of shares that nobody meant."""
    changes, expected = CASES[case]
    assert sorted(found.code for found in findings(changes)) == sorted(expected)


def test_units_of_one_department_are_warned_of_each_other() -> None:
    """Under time-slicing of all that is shared, under MPS of faults alone; slices isolate where a board has them."""
    alone = {"departments.sales": None}
    (sliced,) = findings({**alone, f"{F}.sharing": {"timeSlicing": 4}})
    assert "`research/speech` and `research/vision` share GPUs" in sliced.message
    assert "each of 4 may take all the memory of the GPU" in sliced.message
    assert sliced.help.endswith("`mps: 4` bounds memory, and whole GPUs isolate")
    (served,) = findings({**alone, f"{F}.sharing": {"mps": 4}})
    assert "each has 6 GiB of the GPU's memory" in served.message
    assert "a fatal fault of one may end all 4" in served.message
    assert served.help.endswith("; whole GPUs isolate")
    (divided,) = findings(
        {"flavors.l4.sharing": None, "flavors.mig": {**A100, "sharing": {"timeSlicing": 2}}}
        | {"departments": {"research": {"budget": {"l4": 8, "mig": {"3g.40gb": 8}}, "teams": {"vision": {}}}}}
    )
    assert "share slices of `mig` by time-slicing: each of 2 may take all the memory of the slice" in divided.message
    assert divided.help.endswith("; unshared slices isolate")


def test_departments_that_share_are_named_with_what_they_may_use() -> None:
    """Those with a budget at its line, and the way out is the one that the flavor has."""
    (found,) = findings({f"{F}.sharing.acrossDepartments": False})
    assert found.message.startswith("`research` and `sales` may share GPUs of `l4` by time-slicing")
    assert [related.label for related in found.related] == [
        "`research` may use 128 GPU shares",
        "`sales` may use 128 GPU shares",
    ]
    assert "write `l4: {limit: 0}`" in found.help


def test_laws_count_shares() -> None:
    """The numbers are those of shares, and how many a GPU gives stands beside the nodes."""
    (found,) = findings({"departments.sales.budget": {"l4": 29}})
    assert "quotas of 129 GPU shares on `l4`, 1 GPU share more than the 128 GPU shares of its 4 nodes" in found.message
    assert "4 nodes, each GPU in 4 shares: 128 GPU shares" in [related.label for related in found.related]


@pytest.mark.parametrize(("budget", "reason"), [(2.5, "not a whole number of shares"), ("half", "is not a number")])
def test_amounts_that_cannot_be_read_are_shares(budget: object, reason: str) -> None:
    """Not GPUs: half a GPU is something that a share could be."""
    (found,) = findings({"departments.sales.budget": {"l4": budget}, "departments.sales.teams.web": {}})
    assert reason in found.message


def test_another_key_is_told_which_one_counts_shares() -> None:
    """There is no key `shares`: the same budget stays right when a flavor comes to be shared."""
    (found,) = findings({"departments.sales.teams.web.budget": {"l4": {"shares": 4}}})
    assert (found.code, found.help) == ("unknown-resource", "`l4` has `gpus`, in shares")


@pytest.mark.parametrize(
    ("resource", "one", "many"),
    [
        ("nvidia.com/gpu", "1 GPU", "2 GPUs"),
        ("nvidia.com/gpu.shared", "1 GPU share", "2 GPU shares"),
        ("nvidia.com/mig-1g.10gb", "1 slice of `1g.10gb`", "2 slices of `1g.10gb`"),
        ("nvidia.com/mig-1g.10gb.shared", "1 share of `1g.10gb`", "2 shares of `1g.10gb`"),
    ],
)
def test_amounts_say_what_they_count(resource: str, one: str, many: str) -> None:
    """A share is no GPU, and a share of a slice is no slice."""
    assert (amount_of(1, resource), amount_of(2, resource)) == (one, many)


def test_a_budget_is_written_as_one_of_gpus() -> None:
    """A bare number on a flavor of whole GPUs in shares counts shares."""
    assert entry_text(organized(BASE).flavors["l4"], "nvidia.com/gpu.shared", 24) == "`l4: 24`"
