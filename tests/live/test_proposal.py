"""Flavors that are proposed for nodes: on the committed lists, on single oddities, and on whatever may come."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenancy.diagnostics import has_errors
from tenancy.live import proposal_text
from tenancy.live.inventory import compare
from tenancy.live.layout import layout_of
from tenancy.live.levels import LEVELS, POOLS
from tenancy.live.matching import matched
from tenancy.live.nodes import LiveNode, live_node
from tenancy.live.proposal import Proposal, Proposed, propose
from tenancy.model.gpus import CATALOGUE
from tenancy.model.mig import Placement, pack
from tenancy.plan import plan
from tests.examples import often
from tests.live.lists import LISTS, NAMES, nodes_of, organization_of

TO_DO = {
    "gpus-unclaimed",
    "mig-config-other",
    "mig-not-applied",
    "node-devices",
    "node-labels",
    "node-product-unknown",
    "nodes-cordoned",
    "nodes-not-ready",
    "sharing-not-applied",
}
"""What may be found between nodes and the proposal that was made from them: what is yet to be done, and unfit devices.
What the proposal says of the hardware agrees with the nodes."""


@pytest.mark.parametrize("name", NAMES)
def test_a_list_gives_the_committed_proposal(name: str, golden: bool) -> None:
    """The flavors of each list, with what is said about them, are those of propose.yaml."""
    shown = proposal_text.text(propose(nodes_of(name)))
    expected = LISTS / name / "propose.yaml"
    if golden:
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_proposal_is_valid_and_agrees_with_its_nodes(name: str, tmp_path: Path) -> None:
    """Pasted into an organization it has no error, and a comparison finds nothing but what is to be done."""
    _check(propose(nodes_of(name)), list(nodes_of(name)), tmp_path)


def _check(proposal: Proposal, nodes: list[LiveNode], folder: Path) -> None:
    found = organization_of(proposal, folder)
    assert not has_errors(found.diagnostics), found.diagnostics
    assert found.org is not None
    assert {name: flavor.nodes for name, flavor in found.org.document.flavors.items()} == {
        flavor.name: len(flavor.nodes) for flavor in proposal.flavors
    }
    (cluster,) = found.plans or plan(found.org)
    unsaid = ("nothing tells", "is left out")
    told = {
        flavor.name
        for flavor in proposal.flavors
        if not any(part in remark for remark in flavor.remarks for part in unsaid)
    }
    wrong = [
        finding
        for finding in compare(found.org, cluster, matched(cluster, nodes))
        if finding.rule.code not in TO_DO and (len(finding.path) < 2 or finding.path[1] in told)
    ]
    assert wrong == []


# Nodes one by one.


def _node(name: str, *, labels: dict[str, str] | None = None, taints: Any = (), **status: Any) -> LiveNode:
    allocatable = {"cpu": "64", "memory": "512Gi", **status.pop("allocatable", {})}
    return live_node(
        {
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": {"taints": list(taints)},
            "status": {"allocatable": allocatable, **status},
        }
    )


def _gpu_node(
    name: str, product: str = "NVIDIA-H100-80GB-HBM3", gpus: int = 8, labels: dict[str, str] | None = None
) -> LiveNode:
    own = {"nvidia.com/gpu.product": product, "nvidia.com/gpu.count": str(gpus), **(labels or {})}
    return _node(name, labels=own, allocatable={"nvidia.com/gpu": str(gpus)})


def _only(*nodes: LiveNode) -> Proposed:
    (flavor,) = propose(nodes).flavors
    return flavor


def test_no_nodes_make_no_flavors() -> None:
    """The text is YAML all the same."""
    assert proposal_text.text(propose([])).endswith("\nflavors: {}\n")


def test_nodes_that_are_alike_share_a_flavor_with_the_least_of_them() -> None:
    """Nodes of one kind differ a little in what the kernel takes; a tenth or more makes another flavor."""
    sizes = {"a": "512Gi", "b": "510Gi", "c": "300Gi"}
    flavors = propose(_node(name, allocatable={"memory": memory}) for name, memory in sizes.items()).flavors
    assert [(flavor.name, flavor.entry["nodes"], flavor.entry["node"]["memory"]) for flavor in flavors] == [
        ("cpu", 2, "510Gi"),
        ("cpu-2", 1, "300Gi"),
    ]


def test_boards_of_one_family_have_longer_names() -> None:
    """Where `a100` could be either board, the memory tells them apart."""
    small, large = _gpu_node("a", "NVIDIA-A100-SXM4-40GB"), _gpu_node("b", "NVIDIA-A100-SXM4-80GB")
    assert [flavor.name for flavor in propose([small, large]).flavors] == ["a100-sxm4-40gb", "a100-sxm4-80gb"]


def test_a_pool_tells_nodes_only_where_all_of_it_are_alike() -> None:
    """A pool with a node of another kind would select that node, too."""
    pool = {"cloud.google.com/gke-nodepool": "gpu"}
    alike = [_gpu_node("gke-a", labels=pool), _gpu_node("gke-b", labels=pool)]
    assert _only(*alike).entry["labels"] == pool
    mixed = propose([*alike, _node("gke-c", labels=pool)]).flavors
    assert ["labels" in flavor.entry for flavor in mixed] == [False, False]


def test_two_pools_of_one_kind_are_one_flavor() -> None:
    """Budgets should not be cut by zone; the board tells the nodes then, and the pools are named."""
    found = _only(*(_gpu_node(f"gke-{zone}", labels={"cloud.google.com/gke-nodepool": f"gpu-{zone}"}) for zone in "ab"))
    assert "labels" not in found.entry
    assert "they come from 2 pools: gpu-a, gpu-b" in found.remarks


def test_a_guess_is_said_to_be_one() -> None:
    """An instance type names a board as long as no label does."""
    guess = _node("a", labels={"node.kubernetes.io/instance-type": "p5.48xlarge"}, allocatable={"nvidia.com/gpu": "8"})
    assert _only(guess).entry["gpu"] == "H100-SXM-80GB"
    assert "the board is guessed from the machine, `node.kubernetes.io/instance-type`" in _only(guess).remarks
    sure = _gpu_node("b", labels={"node.kubernetes.io/instance-type": "p5.48xlarge"})
    assert not any("guessed" in remark for remark in _only(sure).remarks)


def test_a_board_that_nobody_knows_is_written_out() -> None:
    """Its memory is that of the label, rounded up to GiB as people name it."""
    found = _only(_gpu_node("a", "NVIDIA-TITAN-X", 2, {"nvidia.com/gpu.memory": "24564"}))
    assert found.entry["gpu"] == {"name": "TITAN-X", "memory": "24Gi", "resource": "nvidia.com/gpu"}
    assert found.name == "titan-x"


def test_a_level_is_one_that_groups_nodes() -> None:
    """Neither one that is the same on all, nor one that is different on each, nor a second of the same groups."""
    labels = [
        {
            "topology.kubernetes.io/zone": "z",
            "cloud.google.com/gce-topology-block": f"b{index // 4}",
            "cloud.google.com/gce-topology-subblock": f"s{index // 2}",
            "nvidia.com/gpu.clique": f"c{index // 2}",
            "network.topology.nvidia.com/leaf": f"l{index}",
        }
        for index in range(8)
    ]
    found = _only(*(_gpu_node(f"n{index}", labels=each) for index, each in enumerate(labels)))
    block = "cloud.google.com/gce-topology"
    assert found.entry["topology"] == [f"{block}-block", f"{block}-subblock", "kubernetes.io/hostname"]
    why = f"`nvidia.com/gpu.clique` is no level: it tells the same groups apart as `{block}-subblock`"
    assert why in found.remarks


def test_a_level_reaches_across_no_other() -> None:
    """A rack in two blocks would be two domains for the scheduler and one for the reader."""
    rows = [("b0", "s0"), ("b0", "s1"), ("b1", "s1"), ("b1", "s0")]
    labels = ("cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock")
    found = _only(
        *(_gpu_node(f"n{index}", labels=dict(zip(labels, row, strict=True))) for index, row in enumerate(rows))
    )
    assert found.entry["topology"] == [labels[0], "kubernetes.io/hostname"]


def test_a_name_of_a_node_breaks_out_of_no_comment() -> None:
    """A file of nodes is input: a name with a line break must not become a line of YAML."""
    shown = proposal_text.text(propose([_node("a\nprivileged: true")]))
    assert "\nprivileged" not in shown


def test_a_control_plane_that_takes_pods_with_its_gpu_counts() -> None:
    """On the edge one machine is all there is; elsewhere the control plane is left out."""
    role = {"node-role.kubernetes.io/control-plane": "true"}
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    assert [flavor.name for flavor in propose([_gpu_node("edge", "NVIDIA-A30", 1, role)]).flavors] == ["a30"]
    assert propose([_node("a", labels=role, taints=[taint]), _node("b", labels=role)]).flavors == ()


def test_slices_come_from_one_layout_or_from_two() -> None:
    """The driver tells the sum over all GPUs; layouts that leave no room are the likely ones."""
    gpu = CATALOGUE["A100-SXM4-80GB"]
    assert layout_of(gpu, 8, {"1g.10gb": 56}) == {"1g.10gb": 7}
    assert layout_of(gpu, 8, {"1g.10gb": 36, "2g.20gb": 4, "3g.40gb": 4}) == [
        {"gpus": 4, "1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
        {"gpus": 4, "1g.10gb": 7},
    ]
    assert layout_of(gpu, 8, {"1g.10gb": 57}) is None
    assert layout_of(gpu, 1, {"7g.80gb": 1, "1g.10gb": 1}) is None


@given(
    board=st.sampled_from([gpu.name for gpu in CATALOGUE.values() if gpu.profiles]),
    gpus=st.integers(1, 8),
    data=st.data(),
)
def test_a_layout_comes_to_its_slices(board: str, gpus: int, data: st.DataObject) -> None:
    """Whatever slices are given, a layout that is found has exactly these, on that many GPUs, and fits on each."""
    gpu = CATALOGUE[board]
    profiles = data.draw(st.lists(st.sampled_from(sorted(gpu.profiles)), min_size=1, max_size=3, unique=True))
    slices = {profile: data.draw(st.integers(1, 7 * gpus)) for profile in profiles}
    found = layout_of(gpu, gpus, slices)
    parts = [] if found is None else [{"gpus": gpus, **found}] if isinstance(found, dict) else found
    sums: dict[str, int] = {}
    for part in parts:
        layout = {profile: count for profile, count in part.items() if profile != "gpus"}
        assert isinstance(pack(gpu, layout), Placement)
        sums = {key: sums.get(key, 0) + count * part["gpus"] for key, count in layout.items()} | {
            key: count for key, count in sums.items() if key not in layout
        }
    assert found is None or (sums, sum(part["gpus"] for part in parts)) == (slices, gpus)


# Whatever may come.

PRODUCTS = (
    *(product for gpu in CATALOGUE.values() for product in gpu.products),
    "NVIDIA-TITAN-X",
    "NVIDIA-A30-MIG-1g.6gb",
    "x" * 63,
)
WORDS = st.sampled_from(("a", "b", "gpu", "true", "no", "1", "0x1", "x-1", ""))


@st.composite
def _devices(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str]]:
    """Labels and resources of GPUs, which need not go together."""
    labels, offered = {}, {}
    if draw(st.booleans()):
        labels["nvidia.com/gpu.product"] = draw(st.sampled_from(PRODUCTS))
    if draw(st.booleans()):
        labels["nvidia.com/gpu.count"] = draw(st.sampled_from(("0", "1", "2", "4", "8", "56", "999", "many")))
    for label, values in (
        ("nvidia.com/gpu.memory", ("24564", "-1", "much")),
        ("nvidia.com/gpu.present", ("true",)),
        ("nvidia.com/gpu.replicas", ("1", "4", "10", "64", "x")),
        ("nvidia.com/gpu.sharing-strategy", ("none", "mps", "time-slicing")),
        ("nvidia.com/mig.strategy", ("single", "mixed")),
        ("nvidia.com/mig.config.state", ("success", "failed")),
        ("cloud.google.com/gke-accelerator", ("nvidia-tesla-a100", "nvidia-l4", "other")),
        ("cloud.google.com/gke-gpu-partition-size", ("1g.5gb", "9g.9gb")),
        ("cloud.google.com/gke-gpu-sharing-strategy", ("time-sharing",)),
        ("amd.com/gpu.vram", ("192G", "lots")),
        ("amd.com/gpu.product-name", ("AMD_Instinct_MI300X_OAM", "_", "-")),
    ):
        if draw(st.integers(0, 4)) == 0:
            labels[label] = draw(st.sampled_from(values))
    kinds = (
        "nvidia.com/gpu",
        "nvidia.com/gpu.shared",
        "nvidia.com/mig-1g.10gb",
        "nvidia.com/mig-2g.12gb",
        "nvidia.com/mig-1g.6gb.me",
        "nvidia.com/mig-1g.10gb.shared",
        "nvidia.com/mig-9g.999gb",
        "amd.com/gpu",
        "gpu.intel.com/i915",
        "example.com/gpu",
        "_/gpu",
        "rdma/hca",
    )
    for resource in draw(st.lists(st.sampled_from(kinds), max_size=3, unique=True)):
        offered[resource] = str(draw(st.sampled_from((0, 1, 2, 4, 7, 8, 16, 56, 65, 640))))
    return labels, offered


@st.composite
def _any_node(draw: st.DrawFn, devices: list[tuple[dict[str, str], dict[str, str]]]) -> LiveNode:
    labels, offered = draw(st.sampled_from(devices))
    named = draw(st.dictionaries(st.sampled_from((*LEVELS, *POOLS)), WORDS, max_size=4))
    roles = {"node-role.kubernetes.io/control-plane": ""} if draw(st.integers(0, 5)) == 0 else {}
    taint = st.fixed_dictionaries(
        {
            "key": st.sampled_from(("gpu", "a.b/c", "nvidia.com/gpu", "node.kubernetes.io/x", "-bad-", "é")),
            "effect": st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule", "Maybe")),
            "value": WORDS,
        }
    )
    sizes = {
        "cpu": draw(st.sampled_from(("900m", "1", "1500m", "2", "3920m", "64", "191450m"))),
        "memory": draw(st.sampled_from(("1000Mi", "1Gi", "3990Mi", "4Gi", "12880748Ki", "512Gi", "2000Gi"))),
    }
    return live_node(
        {
            "metadata": {"labels": {**labels, **named, **roles}},
            "spec": {
                "taints": draw(st.lists(taint, max_size=3, unique_by=lambda each: (each["key"], each["effect"]))),
                "unschedulable": draw(st.booleans()),
            },
            "status": {
                "allocatable": {**(sizes if draw(st.integers(0, 9)) else {}), **offered},
                "capacity": {name: str(max(8, int(count))) for name, count in offered.items() if draw(st.booleans())},
                "conditions": [{"type": "Ready", "status": draw(st.sampled_from(("True", "Unknown")))}],
            },
        }
    )


@st.composite
def _lists(draw: st.DrawFn) -> list[LiveNode]:
    """Nodes of few kinds, with names that may be prefixes of each other."""
    kinds = draw(st.lists(_devices(), min_size=1, max_size=3))
    found = draw(st.lists(_any_node(kinds), max_size=8))
    names = draw(
        st.lists(st.from_regex(r"(gpu|node)-?[0-9a]{0,3}[a1]", fullmatch=True), min_size=8, max_size=8, unique=True)
    )
    return [_named(node, name) for node, name in zip(found, names, strict=False)]


def _named(node: LiveNode, name: str) -> LiveNode:
    return replace(node, name=name, labels={**node.labels, "kubernetes.io/hostname": name})


@settings(max_examples=often(25))
@given(nodes=_lists())
def test_any_nodes_give_a_valid_proposal(nodes: list[LiveNode]) -> None:
    """Whatever nodes say of themselves, the proposal compiles without errors and agrees with them; no node is lost."""
    proposal = propose(nodes)
    shown = [node.name for flavor in proposal.flavors for node in flavor.nodes]
    shown += [node.name for left in proposal.left.values() for node in left]
    assert sorted(shown) == sorted(node.name for node in nodes)
    assert json.loads(proposal_text.json(proposal))["version"] == proposal_text.VERSION
    if proposal.flavors:
        with TemporaryDirectory() as folder:
            _check(proposal, nodes, Path(folder))
