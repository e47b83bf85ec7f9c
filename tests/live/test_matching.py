"""Which flavor a node belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.live.matching import Matched, matched, product
from tenancy.live.nodes import LiveNode
from tests.live.made import A100, H100, flavor, node, planned


def found(flavors: dict[str, Any], *nodes: LiveNode) -> Matched:
    """The nodes by the flavors of an organization."""
    return matched(planned(flavors), nodes)


def names(matched: Matched) -> dict[str, list[str]]:
    """The names of the nodes of each flavor."""
    return {flavor: [node.name for node in nodes] for flavor, nodes in matched.flavors.items()}


def test_a_board_that_one_flavor_has_tells_its_nodes() -> None:
    """Sorted by name; a node with another board, and one without, belong to no flavor."""
    result = found(
        {"h100": flavor("H100-SXM-80GB"), "mig": flavor("A100-SXM4-80GB")},
        node("b", product=H100),
        node("a", product=H100),
        node("m", product=A100),
        node("l", product="NVIDIA-L4"),
        node("c"),
    )
    assert names(result) == {"h100": ["a", "b"], "mig": ["m"]}
    assert [node.name for node in result.strangers] == ["c", "l"]


def test_a_board_that_two_flavors_have_tells_nothing() -> None:
    """Until a node carries the label of one of them."""
    result = found(
        {"old": flavor("H100-SXM-80GB"), "new": flavor("H100-SXM-80GB")},
        node("a", product=H100),
        node("b", product=H100, labels={"acme.example/flavor": "new"}),
    )
    assert names(result) == {"new": ["b"], "old": []}
    assert [node.name for node in result.strangers] == ["a"]


def test_names_go_before_the_label_that_a_node_carries() -> None:
    """So that a name moves a node from one flavor to another."""
    result = found(
        {"old": flavor("H100-SXM-80GB"), "new": flavor("H100-SXM-80GB", nodeNames=["gpu-*", "x"])},
        node("gpu-1", labels={"acme.example/flavor": "old"}),
        node("x"),
        node("xy", labels={"acme.example/flavor": "old"}),
        node("my-gpu-1"),
    )
    assert names(result) == {"new": ["gpu-1", "x"], "old": ["xy"]}
    assert [node.name for node in result.strangers] == ["my-gpu-1"]


def test_a_flavor_with_names_claims_no_node_by_its_board() -> None:
    """Names are all of its nodes."""
    result = found({"h100": flavor("H100-SXM-80GB", nodeNames=["a"])}, node("b", product=H100))
    assert names(result) == {"h100": []}


def test_written_labels_tell_nodes_where_boards_do_not() -> None:
    """All of them have to be there."""
    pool = {"cloud.example/pool": "train", "cloud.example/zone": "b"}
    flavors = {"train": flavor("H100-SXM-80GB", labels=pool), "serve": flavor("H100-SXM-80GB")}
    result = found(flavors, node("a", labels=pool), node("b", labels={"cloud.example/pool": "train"}))
    assert names(result) == {"serve": [], "train": ["a"]}


def test_a_node_that_two_flavors_claim_belongs_to_neither() -> None:
    """It is told with both."""
    flavors = {name: flavor("H100-SXM-80GB", nodeNames=["gpu-*", name]) for name in ("one", "two")}
    result = found(flavors, node("gpu-1"), node("two"))
    assert result.claimed == {"gpu-1": ("one", "two")}
    assert names(result) == {"one": [], "two": ["two"]}


@pytest.mark.parametrize("suffix", ["", "-SHARED", "-MIG-1g.10gb", "-MIG-1g.10gb-SHARED", "-MIG-INVALID"])
def test_what_mig_and_sharing_append_to_the_board_is_not_of_its_name(suffix: str) -> None:
    """GPU feature discovery appends it under the strategy `single`, and where GPUs are shared."""
    assert product(node("a", product=A100 + suffix)) == A100
