"""The MIG manager's file: each layout of the organization under the name that its nodes are labelled with."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend.manifest import Nonconforming
from tenancy.backend.nodes import mig_rules
from tenancy.backend.nodes.mig import DISABLED, ENABLED, KEY, MIG_NODES, MIG_PARTED, mig
from tenancy.plan.values import ClusterPlan
from tests.backend.nodes.support import A100, H100, config_map, files, planned

HALVES = {"3g.40gb": 2}


def configs(plan: ClusterPlan) -> dict[str, Any]:
    """The layouts, without those that are in every file."""
    found = config_map(mig, plan)["data"][KEY]["mig-configs"]
    assert found.pop(DISABLED) == [{"devices": "all", "mig-enabled": False}]
    assert found.pop(ENABLED) == [{"devices": "all", "mig-enabled": True, "mig-devices": {}}]
    return dict(found)


def test_a_layout_is_for_every_gpu_under_the_name_of_its_label() -> None:
    """The MIG manager finds the value of the label in the file."""
    plan = planned({"a100": {**A100, "mig": HALVES}})
    (config,) = plan.nodes["a100"].mig
    assert configs(plan) == {config.name: [{"devices": "all", "mig-enabled": True, "mig-devices": HALVES}]}


def test_the_config_map_lies_where_the_operator_runs() -> None:
    """Its pods read no other namespace."""
    plan = planned({"a100": {**A100, "mig": HALVES}}, {"gpuOperator": {"namespace": "nvidia"}})
    found = config_map(mig, plan)
    assert (found["metadata"]["name"], found["metadata"]["namespace"]) == (MIG_PARTED, "nvidia")
    assert found["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "tenancy"
    assert found["data"].keys() == {KEY}


def test_layouts_of_some_gpus_cover_every_index() -> None:
    """A GPU without an entry would make the whole node fail; one that stays whole is said to be so."""
    parts = [{"gpus": 2}, {"gpus": 5, **HALVES}, {"gpus": 1, "1g.10gb+me": 1, "1g.10gb": 6}]
    (entries,) = configs(planned({"a100": {**A100, "mig": parts}})).values()
    assert [(entry["devices"], entry["mig-enabled"], entry["mig-devices"]) for entry in entries] == [
        ([0, 1], False, {}),
        ([2, 3, 4, 5, 6], True, HALVES),
        ([7], True, {"1g.10gb+me": 1, "1g.10gb": 6}),
    ]


def test_layouts_of_some_nodes_are_configurations_of_their_own() -> None:
    """Each node has one label; on how many nodes each is stands beside them, for the plan of a change."""
    plan = planned({"a100": {**A100, "nodes": 3, "mig": [{"nodes": 2, **HALVES}, {"nodes": 1, "1g.10gb": 7}]}})
    assert [entries[0]["mig-devices"] for entries in configs(plan).values()] == [HALVES, {"1g.10gb": 7}]
    notes = config_map(mig, plan)["metadata"]["annotations"]
    names = list(configs(plan))
    assert notes[f"tenancy.internal/{MIG_NODES}"] == f"{names[0]}=2,{names[1]}=1"


def test_a_profile_without_instances_is_left_out() -> None:
    """mig-parted compares a GPU with the whole map: with a count of 0 it never matches."""
    (entries,) = configs(planned({"a100": {**A100, "mig": {**HALVES, "1g.10gb": 0}}})).values()
    assert entries[0]["mig-devices"] == HALVES


def test_boards_are_told_apart_only_where_there_are_several() -> None:
    """A label on a node of another board then fails, and does not divide it in a wrong way."""
    one = configs(planned({"a100": {**A100, "mig": HALVES}, "other": {**A100, "mig": {"1g.10gb": 7}}, "h100": H100}))
    assert [entry.get("device-filter") for entries in one.values() for entry in entries] == [None, None]
    two = configs(planned({"a100": {**A100, "mig": HALVES}, "h100": {**H100, "mig": HALVES}}))
    assert [entry["device-filter"] for entries in two.values() for entry in entries] == [["0x20B210DE"], ["0x233010DE"]]


def test_a_cluster_without_layouts_has_no_file() -> None:
    """The operator then has its own."""
    assert files(mig, planned({"a100": A100})) == {}


def test_without_the_operator_there_is_no_file() -> None:
    """Nothing would read it."""
    assert files(mig, planned({"a100": {**A100, "mig": HALVES}}, {"gpuOperator": {"installed": False}})) == {}


def test_what_mig_parted_would_not_do_is_a_fault_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing after us checks the file before a node is in the middle of its change."""
    monkeypatch.setattr(mig_rules, "VERSION", "v2")
    with pytest.raises(Nonconforming, match="version: must be v2"):
        files(mig, planned({"a100": {**A100, "mig": HALVES}}))
