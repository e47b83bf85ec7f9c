"""Flavors in numbers: what a node offers, what is left for budgets, and what follows a GPU."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tenancy.model.document import Organization
from tenancy.model.hardware import (
    CPU,
    GPUS,
    HOSTNAME,
    MEMORY,
    Hardware,
    Layout,
    Taint,
    amount,
    hardware,
    layouts_of,
    parse_taint,
    taints_of,
)

GPU = "nvidia.com/gpu"
MIG = "nvidia.com/mig-"
MIB, GIB = 1 << 20, 1 << 30

H100 = {
    "gpu": "H100-SXM-80GB",
    "nodes": 4,
    "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"},
    "daemons": {"cpu": 2, "memory": "4Gi"},
}
A100 = {
    "gpu": "A100-SXM4-80GB",
    "nodes": 4,
    "node": {"gpus": 8, "cpu": 130, "memory": "1004Gi"},
    "daemons": {"cpu": 2, "memory": "4Gi"},
}
CPU_NODES = {"nodes": 20, "node": {"cpu": 64, "memory": "256Gi"}, "daemons": {"cpu": 1, "memory": "2Gi"}}


def organization(**flavors: dict[str, Any]) -> Organization:
    return Organization.model_validate(
        {
            "apiVersion": "tenancy/v1alpha1",
            "kind": "Organization",
            "name": "acme",
            "clusters": {"train": {}},
            "flavors": flavors,
            "departments": {},
        }
    )


def flavor(base: dict[str, Any], **said: Any) -> Hardware:
    return hardware(organization(one={**base, **said}))["one"]


def test_whole_gpus_count_without_the_spare_nodes() -> None:
    """Three of four nodes remain; DaemonSets are taken off each of them."""
    found = flavor(H100, spareNodes=1)
    assert found.capacity == {CPU: 3 * 190_000, MEMORY: 3 * 1996 * GIB, GPU: 24}
    assert found.node == {CPU: 190_000, MEMORY: 1996 * GIB, GPUS: 8}
    assert (found.mains, found.resources) == ((GPU,), (CPU, MEMORY, GPU))
    assert found.nodes == 4


def test_more_spare_nodes_than_nodes_leave_nothing() -> None:
    """Capacity is never negative: the check says what is wrong, the laws must not count with -8 GPUs."""
    assert flavor(H100, spareNodes=5).capacity == {CPU: 0, MEMORY: 0, GPU: 0}


def test_cpu_and_memory_follow_a_gpu_in_equal_parts() -> None:
    """One GPU brings an eighth of what the node leaves to jobs, in whole milli-cpu and MiB."""
    assert flavor(H100).follows == {GPU: {CPU: 23_750, MEMORY: 249 * GIB + 512 * MIB}}


def test_what_follows_all_gpus_of_a_node_fits_on_it() -> None:
    """Rounding goes down, or the last GPU of every node would stay idle."""
    found = flavor(H100, node={"gpus": 7, "cpu": 191, "memory": "1999Gi"})
    each = found.follows[GPU]
    assert 7 * each[CPU] <= found.node[CPU] < 7 * (each[CPU] + 1)
    assert 7 * each[MEMORY] <= found.node[MEMORY] < 7 * (each[MEMORY] + MIB)


def test_per_gpu_overrides_what_follows() -> None:
    """Each of the two is overridden alone."""
    assert flavor(H100, perGpu={"cpu": 16}).follows == {GPU: {CPU: 16_000, MEMORY: 249 * GIB + 512 * MIB}}


def test_daemons_have_a_default_for_each_resource() -> None:
    """2 cpu and 4Gi where a flavor does not say, also where it says one of them only."""
    assert flavor({**H100, "daemons": None}).node == flavor(H100).node
    assert flavor(H100, daemons={"cpu": 12}).node == {CPU: 180_000, MEMORY: 1996 * GIB, GPUS: 8}


def test_daemons_larger_than_the_node_leave_nothing() -> None:
    """What is left is never negative."""
    assert flavor(H100, daemons={"cpu": 500}).node[CPU] == 0


def test_a_mig_layout_replaces_the_gpus_by_slices() -> None:
    """Every GPU of every node that is not spare has the layout; budgets name profiles and not GPUs."""
    found = flavor(A100, mig={"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2}, spareNodes=1)
    assert found.capacity == {
        CPU: 3 * 128_000,
        MEMORY: 3 * 1000 * GIB,
        f"{MIG}1g.10gb": 48,
        f"{MIG}2g.20gb": 24,
        f"{MIG}3g.40gb": 24,
    }
    assert found.mains == (f"{MIG}1g.10gb", f"{MIG}2g.20gb", f"{MIG}3g.40gb")
    assert found.names == {
        CPU: CPU,
        MEMORY: MEMORY,
        "1g.10gb": f"{MIG}1g.10gb",
        "2g.20gb": f"{MIG}2g.20gb",
        "3g.40gb": f"{MIG}3g.40gb",
    }


def test_slices_bring_their_share_of_the_memory() -> None:
    """A 1g.10gb owns one of eight memory units of its GPU, a 3g.40gb four."""
    found = flavor(A100, mig={"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2})
    assert found.follows == {
        f"{MIG}1g.10gb": {CPU: 2_000, MEMORY: 16_000 * MIB},
        f"{MIG}2g.20gb": {CPU: 4_000, MEMORY: 32_000 * MIB},
        f"{MIG}3g.40gb": {CPU: 8_000, MEMORY: 64_000 * MIB},
    }


def test_layouts_may_divide_the_gpus_of_a_node() -> None:
    """Four GPUs of each node are sliced, four stay whole: both are counted, and both can be budgeted."""
    found = flavor(A100, mig=[{"gpus": 4, "1g.10gb": 7}, {"gpus": 4}], spareNodes=1)
    assert {name: found.capacity[name] for name in found.mains} == {GPU: 3 * 4, f"{MIG}1g.10gb": 3 * 4 * 7}
    assert found.names[GPUS] == GPU
    assert found.follows[GPU] == {CPU: 16_000, MEMORY: 125 * GIB}


def test_layouts_may_divide_the_nodes() -> None:
    """The spare node may be one of either kind, so each kind loses one; cpu and memory lose it once."""
    found = flavor(A100, mig=[{"nodes": 3, "1g.10gb": 7}, {"nodes": 1, "7g.80gb": 1}], spareNodes=1)
    assert found.capacity == {
        CPU: 3 * 128_000,
        MEMORY: 3 * 1000 * GIB,
        f"{MIG}1g.10gb": 2 * 8 * 7,
        f"{MIG}7g.80gb": 0,
    }


def test_one_profile_in_two_layouts_is_summed() -> None:
    """A budget names a profile, wherever its slices lie."""
    found = flavor(A100, mig=[{"gpus": 6, "1g.10gb": 7}, {"gpus": 2, "1g.10gb": 3, "4g.40gb": 1}])
    assert found.capacity[f"{MIG}1g.10gb"] == 4 * (6 * 7 + 2 * 3)


def test_layouts_keep_their_shares_and_places() -> None:
    """`gpus` and `nodes` are shares and not profiles."""
    document = organization(one={**A100, "mig": [{"nodes": 3, "1g.10gb": 7}, {"nodes": 1}]})
    path = ("flavors", "one", "mig")
    assert layouts_of("one", document.flavors["one"]) == (
        Layout({"1g.10gb": 7}, 8, 3, (*path, 0)),
        Layout({}, 8, 1, (*path, 1)),
    )


@pytest.mark.parametrize("mig", [{"3g.20gb": 2}, {"1g.10gb": -1}, [{"gpus": -4, "1g.10gb": 7}]])
def test_a_layout_that_cannot_be_counts_nothing(mig: Any) -> None:
    """Profiles of other boards and negative counts are reported elsewhere; capacities stay plain numbers."""
    found = flavor(A100, mig=mig)
    assert all(found.capacity[main] == 0 for main in found.mains)


def test_attributes_of_profiles_change_the_resource_name() -> None:
    """`+` is not a legal character of a resource name; the device plugin writes a dot."""
    assert flavor(A100, mig={"1g.10gb+me": 1, "1g.10gb": 6}).names["1g.10gb+me"] == f"{MIG}1g.10gb.me"


def test_a_cpu_flavor_counts_cpu_and_memory() -> None:
    """They are what its budgets name; nothing follows from them."""
    found = flavor(CPU_NODES)
    assert found.is_cpu
    assert found.capacity == {CPU: 20 * 63_000, MEMORY: 20 * 254 * GIB}
    assert (found.mains, found.follows) == ((CPU, MEMORY), {})
    assert found.steps == {CPU: 1000, MEMORY: GIB}


def test_a_custom_gpu_has_its_own_resource() -> None:
    """`gpus` in a budget means whatever the device plugin calls them."""
    found = flavor(H100, gpu={"name": "MI300X", "memory": "192Gi", "resource": "amd.com/gpu"})
    assert (found.mains, found.names[GPUS]) == (("amd.com/gpu",), "amd.com/gpu")
    assert found.capacity["amd.com/gpu"] == 32
    assert found.gpu is not None
    assert (found.gpu.memory_gib, found.gpu.profiles) == (192, {})


def test_an_unknown_board_still_counts_gpus() -> None:
    """One misspelt board must not make every budget on the flavor wrong."""
    assert flavor(H100, gpu="H1000").capacity[GPU] == 32


def test_an_unreadable_size_counts_as_nothing() -> None:
    """The quantity is reported where it stands."""
    assert flavor(H100, node={"gpus": 8, "cpu": "many", "memory": "2000Gi"}).capacity[CPU] == 0
    assert amount("many", CPU) is None


def test_whole_nodes_are_shared_out_in_nodes() -> None:
    """A share is a multiple of the GPUs of a node, else of one GPU."""
    assert flavor(H100, wholeNodes=True).steps == {GPU: 8}
    assert flavor(H100).steps == {GPU: 1}


def test_defaults_of_labels_levels_and_price() -> None:
    """Nodes are selected by a label of the flavor where it says none; every flavor has at least the host as a level."""
    found = flavor(H100)
    assert found.labels == {"tenancy.internal/flavor": "one"}
    assert found.levels == (HOSTNAME,)
    assert (found.price, found.cluster) == (Fraction(0), "train")


def test_prices_are_exact() -> None:
    """A price is a fraction of money, not a float."""
    assert flavor(H100, price=3.2).price == Fraction(16, 5)


def test_cpu_flavors_come_first() -> None:
    """Jobs without GPUs try them before they overflow onto GPU nodes."""
    assert list(hardware(organization(b=H100, z=CPU_NODES, a=A100, c=CPU_NODES))) == ["c", "z", "a", "b"]


@pytest.mark.parametrize(
    ("base", "said", "fenced"),
    [
        (H100, {}, False),
        (H100, {"taint": "a.example/b:NoSchedule"}, True),
        (H100, {"taint": "a.example/b:NoSchedule", "cpuJobs": "lend"}, False),
        (CPU_NODES, {"taint": "a.example/b:NoSchedule"}, False),
    ],
)
def test_a_taint_fences_gpu_flavors_by_default(base: dict[str, Any], said: dict[str, Any], fenced: bool) -> None:
    """Jobs of a CPU flavor have no GPU that could let them in, so its tenants get the toleration instead."""
    assert flavor(base, **said).fenced is fenced


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("a.example/b=c:NoSchedule", Taint("a.example/b", "c", "NoSchedule")),
        ("a:NoExecute", Taint("a", "", "NoExecute")),
        ("a=:NoSchedule", Taint("a", "", "NoSchedule")),
        ("a=b", None),
        ("a:noschedule", None),
        (":NoSchedule", None),
        ("a b:NoSchedule", None),
    ],
)
def test_taints_are_read_as_kubectl_does(text: str, taint: Taint | None) -> None:
    """`key[=value]:Effect`, with one of the three effects in its spelling."""
    assert parse_taint(text) == taint


def test_taints_know_their_places() -> None:
    """One `taint` and many `taints` are read alike."""
    document = organization(one={**H100, "taint": "a:NoSchedule", "taints": ["b:NoSchedule"]})
    assert list(taints_of("one", document.flavors["one"])) == [
        (("flavors", "one", "taint"), "a:NoSchedule"),
        (("flavors", "one", "taints", 0), "b:NoSchedule"),
    ]


def test_a_taint_is_shown_as_people_write_it() -> None:
    """The same text that org.yaml has, and only a soft one keeps nobody out."""
    for text in ("a/b:NoSchedule", "a/b=c:NoExecute", "a/b=c:PreferNoSchedule"):
        taint = parse_taint(text)
        assert taint is not None
        assert (taint.text, taint.keeps_out) == (text, "Prefer" not in text)
