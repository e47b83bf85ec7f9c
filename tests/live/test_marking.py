"""What a node lacks of what its flavor says, and what stands in the way."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.live.marking import MIG_OFF, Change, Want, change, disruptive, held, wants
from tenancy.live.nodes import MANAGER, LiveNode
from tenancy.live.pods import LivePod, live_pod
from tenancy.model.hardware import Taint, parse_taint
from tenancy.plan.nodes import MIG_CONFIG, NODE_GROUP, PLUGIN_CONFIG
from tests.live.made import flavor, node, planned

FLAVOR, RECORD, GPU = "acme.example/flavor", "acme.example/taints", "nvidia.com/gpu"
A, B, DRAIN = "k=a:NoSchedule", "k=b:NoSchedule", "drain:NoExecute"


def want(*taints: str, **labels: str) -> Want:
    """Labels and taints that a node should carry; `mig` and `flavor` stand for their keys."""
    keys = {"mig": MIG_CONFIG, "flavor": FLAVOR}
    named = {keys[name]: value for name, value in labels.items()}
    parsed = tuple(taint for text in taints if (taint := parse_taint(text)))
    return Want(flavor="f", device=GPU, labels=named, taints=parsed, record=RECORD)


def texts(taints: tuple[Taint, ...]) -> list[str]:
    """Taints as people write them."""
    return [taint.text for taint in taints]


def pod(name: str, gpus: int = 0, **spec: Any) -> LivePod:
    """A pod with whole GPUs, or with none."""
    limits = {GPU: str(gpus)} if gpus else {"cpu": "1"}
    containers = [{"name": "main", "resources": {"limits": limits}}]
    return live_pod({"metadata": {"namespace": "team", "name": name}, "spec": {"containers": containers, **spec}})


def test_what_is_missing_is_to_set_and_what_is_there_is_not() -> None:
    """Labels and taints of others play no part."""
    live = node("n", A, "theirs:NoSchedule", labels={FLAVOR: "f", "rack": "r1"})
    found = change(live, want(A, DRAIN, flavor="f", mig="m-1"))
    assert (found.labels, found.unlabel) == ({MIG_CONFIG: "m-1"}, ())
    assert (texts(found.taints), found.untaint, found.conflicts) == ([DRAIN], (), ())
    assert not change(node("n", A, labels={FLAVOR: "f"}), want(A, flavor="f"))


def test_only_what_we_set_alone_is_removed() -> None:
    """A label that another manager has, too, or that has no manager stays; so does a taint that is not recorded."""
    labels = {"ours": "1", "both": "1", "theirs": "1", "nobodys": "1"}
    live = node(
        "n", A, DRAIN, "old:NoSchedule", labels=labels, by={"ours": MANAGER, "theirs": "x"}, record=f"{A},gone:X"
    )
    found = change(live, want())
    assert found.unlabel == ("ours",)
    assert texts(found.untaint) == [A]
    assert found.record == ""


def test_the_record_lists_what_was_set_and_nothing_that_was_there() -> None:
    """An equal taint of somebody else is not claimed."""
    found = change(node("n", A, "old:NoSchedule", record="old:NoSchedule"), want(A, "old:NoSchedule", DRAIN))
    assert found.record == f"{DRAIN},old:NoSchedule"


def test_a_new_value_of_our_own_taint_replaces_it() -> None:
    """A foreign one is a conflict: the node has one taint of a key and an effect."""
    ours = change(node("n", A, record=A), want(B))
    assert (texts(ours.untaint), texts(ours.taints), ours.conflicts, ours.record) == ([A], [B], (), B)
    (conflict,) = change(node("n", A), want(B)).conflicts
    assert (conflict.what, conflict.live, conflict.wanted) == ("taint k:NoSchedule", "a", "b")


def test_a_label_of_another_manager_is_a_conflict_where_its_value_differs() -> None:
    """The same value is nobody's loss, and a label without a manager is free."""
    (conflict,) = change(node("n", labels={FLAVOR: "x"}, by={FLAVOR: "nfd-master"}), want(flavor="f")).conflicts
    assert (conflict.what, conflict.live, conflict.wanted, conflict.owners) == (
        f"label {FLAVOR}",
        "x",
        "f",
        ("nfd-master",),
    )
    assert not change(node("n", labels={FLAVOR: "f"}, by={FLAVOR: "nfd-master"}), want(flavor="f"))
    assert change(node("n", labels={FLAVOR: "x"}), want(flavor="f")).conflicts == ()


def test_a_layout_takes_the_place_of_the_operators_default_alone() -> None:
    """`all-disabled` gives way whoever has it; any other layout of another manager is a conflict."""
    default = change(node("n", labels={MIG_CONFIG: MIG_OFF}, by={MIG_CONFIG: "gpu-operator"}), want(mig="m-1"))
    assert (default.conflicts, default.takes_over) == ((), True)
    chosen = change(node("n", labels={MIG_CONFIG: "all-1g.10gb"}, by={MIG_CONFIG: "kubectl-label"}), want(mig="m-1"))
    assert (len(chosen.conflicts), chosen.takes_over) == (1, False)


def test_what_is_held_back_stays_as_it_is() -> None:
    """A label that is ours is applied with the value it has: left out, the API server would remove it."""
    live = node("n", labels={MIG_CONFIG: "m-1"}, by={MIG_CONFIG: MANAGER})
    for wanted in (want(DRAIN, A, mig="m-2", flavor="f"), want(DRAIN, A, flavor="f")):
        found = change(live, wanted, (MIG_CONFIG, DRAIN))
        assert (found.labels, found.unlabel, texts(found.taints)) == ({FLAVOR: "f"}, (), [A])
        assert found.apply == {FLAVOR: "f", MIG_CONFIG: "m-1"}
    assert not change(node("n", labels={FLAVOR: "f"}), want(mig="m-2", flavor="f"), (MIG_CONFIG,)).apply.get(MIG_CONFIG)


def test_the_former_value_of_a_taint_that_is_held_back_stays() -> None:
    """Else the node would be open until its pods are gone."""
    live = node("n", "drain=old:NoExecute", record="drain=old:NoExecute")
    assert not change(live, want("drain=new:NoExecute"), ("drain=new:NoExecute",))


def _holds(live: LiveNode, wanted: Want, *pods: LivePod) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = held(change(live, wanted), pods)
    return (found.parts, found.pods) if found else ((), ())


def test_another_layout_waits_for_the_pods_that_use_gpus() -> None:
    """By any resource of the vendor, in any container, or by claims; not for pods without GPUs."""
    live, wanted = node("n", labels={MIG_CONFIG: MIG_OFF}), want(mig="m-1", flavor="f")
    slices = [{"resources": {"requests": {"nvidia.com/mig-1g.10gb": "1"}}}]
    users = [pod("a", 1), pod("b", initContainers=slices), pod("c", resourceClaims=[{"name": "gpu"}])]
    assert _holds(live, wanted, pod("idle"), *users) == ((MIG_CONFIG,), ("team/a", "team/b", "team/c"))
    assert _holds(live, wanted, pod("idle")) == ((), ())


def test_another_flavor_waits_too_and_the_first_one_does_not() -> None:
    """A label on a bare node changes nothing for the pods that run there."""
    assert _holds(node("n", labels={FLAVOR: "old"}), want(flavor="f"), pod("a", 1)) == ((FLAVOR,), ("team/a",))
    assert _holds(node("n"), want(A, flavor="f"), pod("a", 1)) == ((), ())


@pytest.mark.parametrize(
    ("toleration", "stays"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "drain", "operator": "Exists", "effect": "NoExecute"}, True),
        ({"key": "drain", "value": "now"}, True),
        ({"key": "drain", "operator": "Equal", "value": "later"}, False),
        ({"key": "drain", "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"key": "drain", "operator": "Exists", "tolerationSeconds": 60}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_a_noexecute_taint_waits_for_pods_that_do_not_tolerate_it(toleration: dict[str, Any], stays: bool) -> None:
    """Whether they use GPUs or not."""
    running = pod("a", tolerations=[toleration])
    expected = ((), ()) if stays else (("drain=now:NoExecute",), ("team/a",))
    assert _holds(node("n"), want("drain=now:NoExecute"), running) == expected


def test_pods_are_looked_at_only_where_it_matters() -> None:
    """Most changes need no rights on pods."""
    assert disruptive(change(node("n"), want(A, flavor="f"))) == ()
    assert disruptive(change(node("n"), want(A, DRAIN, mig="m-1"))) == (MIG_CONFIG, DRAIN)


MIXED = [{"nodes": 2, "1g.10gb": 7}, {"nodes": 2, "3g.40gb": 2}]


def _laid(*nodes: LiveNode, mig: Any = None) -> dict[str, str]:
    """The layout of each node by its most frequent profile; without those that are left open."""
    made = planned({"mig": flavor("A100-SXM4-80GB", mig=MIXED if mig is None else mig)}).nodes["mig"]
    short = {config.name: min(min(entry.profiles) for entry in config.entries) for config in made.mig}
    found = wants(made, nodes, device=GPU, record=RECORD)
    return {name: short[each.labels[MIG_CONFIG]] for name, each in found.items() if MIG_CONFIG in each.labels}


def _config(profile: str) -> str:
    made = planned({"mig": flavor("A100-SXM4-80GB", mig=MIXED)}).nodes["mig"]
    return next(config.name for config in made.mig if profile in config.entries[0].profiles)


def test_layouts_are_laid_in_the_order_of_names() -> None:
    """Whatever the order in which the nodes are read."""
    found = _laid(*(node(name) for name in "cadb"))
    assert found == {"a": "1g.10gb", "b": "1g.10gb", "c": "3g.40gb", "d": "3g.40gb"}


def test_a_node_keeps_a_layout_that_is_wanted() -> None:
    """A new node takes what is missing, and no other node is cut anew."""
    carried = {"b": "3g.40gb", "d": "1g.10gb"}
    nodes = [node(name, labels={MIG_CONFIG: _config(carried[name])} if name in carried else {}) for name in "abcd"]
    assert _laid(*nodes) == {"a": "1g.10gb", "b": "3g.40gb", "c": "3g.40gb", "d": "1g.10gb"}


def test_of_too_many_with_one_layout_the_last_change() -> None:
    """Only as many as the other layouts lack."""
    nodes = [node(name, labels={MIG_CONFIG: _config("1g.10gb")}) for name in "abcd"]
    assert _laid(*nodes) == {"a": "1g.10gb", "b": "1g.10gb", "c": "3g.40gb", "d": "3g.40gb"}


def test_nodes_beyond_the_declared_ones_keep_what_they_have() -> None:
    """Nothing says which layout they should have, unless there is one for all."""
    nodes = [node(name) for name in "abcde"]
    assert sorted(_laid(*nodes)) == ["a", "b", "c", "d"]
    assert sorted(_laid(*nodes, mig={"1g.10gb": 7})) == ["a", "b", "c", "d", "e"]
    made = planned({"mig": flavor("A100-SXM4-80GB", mig=MIXED)}).nodes["mig"]
    fifth = node("e", labels={MIG_CONFIG: "mine"}, by={MIG_CONFIG: MANAGER})
    wanted = wants(made, [*nodes[:4], fifth], device=GPU, record=RECORD)["e"]
    assert MIG_CONFIG not in (*change(fifth, wanted).labels, *change(fifth, wanted).unlabel)


def _labels(made: Change) -> set[str]:
    return set(made.labels)


def test_nodes_get_the_labels_that_shares_and_the_scheduler_need() -> None:
    """The device plugin's configuration, and Volcano's group."""
    cluster = planned({"l4": flavor("L4", sharing={"timeSlicing": 4})}, scheduler="volcano")
    wanted = wants(cluster.nodes["l4"], [node("a")], device=GPU, record=RECORD)["a"]
    assert _labels(change(node("a"), wanted)) == {FLAVOR, NODE_GROUP, PLUGIN_CONFIG}
