"""The model of Volcano's webhook, against what the running webhook of 1.15.1 accepted and refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.volcano_model import Refused, Webhook, amount

GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"


def queue(name: str, parent: str | None = "root", **lists: dict[str, Any]) -> dict[str, Any]:
    """A Queue with the lists given; `guarantee` without the `resource` in between."""
    spec: dict[str, Any] = {} if parent is None else {"parent": parent}
    if "guarantee" in lists:
        lists["guarantee"] = {"resource": lists["guarantee"]}
    return {"metadata": {"name": name}, "spec": {**spec, **lists}}


def even(name: str, parent: str, gpus: int, **more: int) -> dict[str, Any]:
    """A Queue with the same number of GPUs in all three lists, or as many as `more` says of one."""
    lists = ("capability", "deserved", "guarantee")
    return queue(name, parent, **{each: {GPU: str(more.get(each, gpus))} for each in lists})


def stored(*queues: dict[str, Any]) -> Webhook:
    webhook = Webhook()
    for each in queues:
        webhook.apply(each)
    return webhook


D = queue("d", capability={"cpu": "500", GPU: "64"}, deserved={"cpu": "500", GPU: "64"}, guarantee={"cpu": "8"})

REFUSED = {
    "a child before its parent": (
        queue("e", "nope"),
        'failed to get parent queue nope of queue e: queue.scheduling.volcano.sh "nope" not found',
    ),
    "an empty parent": (queue("e", ""), "spec.parent"),
    "itself as parent": (queue("e", "e"), "queue e cannot use itself as parent"),
    "deserved above its own capability": (
        queue("e", capability={"cpu": "10"}, deserved={"cpu": "11"}),
        "deserved[cpu]=11000 must be <= capability[cpu]=10000",
    ),
    "a guarantee above its own deserved": (
        queue("e", deserved={"cpu": "5"}, guarantee={"cpu": "6"}),
        "deserved[cpu]=5000 must be >= guarantee[cpu]=6000",
    ),
    "a guarantee of 0 that deserved does not name": (
        queue("e", deserved={"cpu": "5"}, guarantee={GPU: "0"}),
        'Invalid value: "<nil>": deserved[nvidia.com/gpu] must be >= guarantee[nvidia.com/gpu]=0',
    ),
    "half a GPU": (queue("e", capability={GPU: "1500m"}), 'Invalid value: "1500m": must be an integer'),
    "less than nothing": (queue("e", capability={"cpu": "-1"}), "must be greater than or equal to 0"),
    "a capability above the parent's": (
        queue("e", "d", capability={GPU: "65"}),
        "queue e capability[nvidia.com/gpu]=65000.00 exceeds its ancestor's capability=64000.00",
    ),
    "one milli-cpu too much among siblings": (
        queue("e", "d", deserved={"cpu": "500001m"}),
        "parent queue d validation failed: sum of children's deserved",
    ),
    "a guarantee that the parent does not have": (
        queue("e", "d", deserved={"cpu": "9"}, guarantee={"cpu": "9"}),
        "parent queue d validation failed: sum of children's guarantee",
    ),
    "a scalar of 0 that the parent's deserved does not name": (
        queue("e", "d", deserved={MIG: "0"}),
        "parent queue d validation failed: sum of children's deserved",
    ),
}

ACCEPTED = {
    "a deserved that its capability does not name": queue("e", capability={GPU: "1"}, deserved={MIG: "2"}),
    "cpu and memory of 0 that the parent does not name": queue("e", "d", deserved={"cpu": "0", "memory": "0"}),
    "any capability together": queue("e", "d", capability={GPU: "64"}, deserved={GPU: "0"}),
    "more than any hardware below root": queue("e", capability={GPU: "100000"}, deserved={GPU: "100000"}),
    "a resource that the parent's capability does not name": queue("e", "d", capability={MIG: "4"}),
    "a misspelt resource": queue("e", "d", capability={"gpux": "4"}, deserved={"gpux": "4"}),
    "a quota's spelling": queue("e", "d", deserved={f"requests.{GPU}": "4"}),
    "half a byte": queue("e", "d", capability={"memory": "500m"}),
    "no parent": queue("e", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_webhook_refuses(name: str) -> None:
    """Each is refused in the webhook's words, and nothing of it is stored."""
    webhook, (sent, words) = stored(D), REFUSED[name]
    with pytest.raises(Refused) as refusal:
        webhook.apply(sent)
    assert words in str(refusal.value)
    assert "e" not in webhook.stored


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_the_webhook_lets_pass(name: str) -> None:
    """Each is stored, harmful or not."""
    webhook = stored(D)
    webhook.apply(ACCEPTED[name])
    assert webhook.stored["e"] == ACCEPTED[name]


def test_the_nearest_ancestor_that_names_a_resource_bounds_it() -> None:
    """A silent parent and one with 0 are passed over."""
    for capability in ({}, {GPU: "0"}):
        webhook = stored(D, queue("silent", "d", capability=capability))
        webhook.apply(queue("e", "silent", capability={GPU: "64"}))
        with pytest.raises(Refused, match="exceeds its ancestor's capability"):
            webhook.apply(queue("e", "silent", capability={GPU: "65"}))


def test_a_department_that_forbids_a_profile_can_still_be_edited() -> None:
    """A 0 does not name a resource, also where it is above a child that has some (section 1.13 of the runs)."""
    webhook = stored(queue("d", capability={MIG: "0", "cpu": "5"}), queue("e", "d", capability={MIG: "4"}))
    webhook.apply(queue("d", capability={MIG: "0", "cpu": "6"}))
    with pytest.raises(Refused, match="is smaller than its descendants' max capability=4000"):
        webhook.apply(queue("d", capability={MIG: "3", "cpu": "6"}))


def test_the_seed_example_is_accepted_parent_first() -> None:
    """A department and its team without deserved or guarantee: there is nothing to sum."""
    team = queue("team", "dept", capability={"cpu": "200", "memory": "800Gi", GPU: "24"})
    stored(queue("dept", capability={"cpu": "500", "memory": "2000Gi", GPU: "64"}), team)


@pytest.mark.parametrize("name", ["capability", "deserved", "guarantee"])
def test_growing_needs_the_parent_first_and_shrinking_the_child(name: str) -> None:
    """Each list for itself; the other order is refused."""

    def side(parent: int, child: int) -> tuple[dict[str, Any], dict[str, Any]]:
        most = {"capability": 9, "deserved": 9 if name == "guarantee" else 0, "guarantee": 0}
        return even("d", "root", 0, **most | {name: parent}), even("e", "d", 0, **most | {name: child})

    (small, part), (large, whole) = side(4, 4), side(5, 5)
    webhook = stored(small, part)
    with pytest.raises(Refused):
        webhook.apply(whole)
    webhook.apply(large)
    webhook.apply(whole)
    with pytest.raises(Refused):
        webhook.apply(small)
    webhook.apply(part)
    webhook.apply(small)


def test_a_swap_inside_a_full_parent_gives_before_it_takes() -> None:
    """The sibling that takes is refused until the other has given."""
    webhook = stored(even("d", "root", 8), even("a", "d", 4), even("b", "d", 4))
    with pytest.raises(Refused, match="sum of children's guarantee"):
        webhook.apply(even("a", "d", 5))
    webhook.apply(even("b", "d", 3))
    webhook.apply(even("a", "d", 5))


def test_a_parent_cannot_drop_a_list_that_its_children_use() -> None:
    """Unset counts as zero; with the parent's own edit the message names the parent."""
    webhook = stored(even("d", "root", 8), even("e", "d", 4))
    with pytest.raises(Refused, match=r"^queue d validation failed: sum of children's guarantee"):
        webhook.apply(queue("d", capability={GPU: "8"}))


def test_edits_of_anything_else_are_not_compared() -> None:
    """A state that could not be made today can still get another weight, whatever the spelling of its numbers."""
    webhook = stored(even("d", "root", 8), even("e", "d", 4))
    webhook.stored["e"]["spec"]["deserved"][GPU] = "9000"
    sent = even("e", "d", 4, deserved=9000, capability=9000)
    webhook.stored["e"]["spec"]["capability"][GPU] = "9k"
    sent["spec"]["weight"] = 7
    webhook.apply(sent)
    assert webhook.stored["e"]["spec"]["weight"] == 7


def test_depth_counts_for_the_queue_that_is_sent_and_not_for_those_below() -> None:
    """Five levels are taken, six are not, and a subtree may be moved below that."""
    webhook = stored(*(queue(f"l{depth}", f"l{depth - 1}" if depth > 1 else "root") for depth in range(1, 6)))
    with pytest.raises(Refused, match="queue l6 exceeds the maximum allowed depth of 5"):
        webhook.apply(queue("l6", "l5"))
    webhook.apply(queue("m"))
    webhook.apply(queue("n", "m"))
    webhook.apply(queue("l1", "n"))
    webhook.apply(queue("l5", "l4", capability={GPU: "1"}))


def test_a_queue_can_move_to_root_and_to_another_tree_and_back() -> None:
    """Its place is free at once where it was, and nothing is compared below root."""
    webhook = stored(even("d", "root", 4), even("f", "root", 4), even("e", "d", 4))
    webhook.apply(even("e", "f", 4))
    webhook.apply(even("x", "d", 4))
    with pytest.raises(Refused, match="parent queue d validation failed"):
        webhook.apply(even("e", "d", 4))
    webhook.apply(even("e", "root", 4))
    webhook.delete("x")
    webhook.apply(even("e", "d", 4))


def test_a_queue_with_pods_does_not_become_a_parent() -> None:
    """Allocated pods refuse the first child; with children, those are the pods of the queues below."""
    webhook = stored(queue("other"), queue("inner"), queue("inner.a", "inner"))
    webhook.pods |= {"other": 2, "inner": 2}
    with pytest.raises(Refused, match="because it has allocated Pods: 2"):
        webhook.apply(queue("other.x", "other"))
    webhook.apply(queue("inner.b", "inner"))


def test_what_cannot_be_deleted() -> None:
    """`root`, `default`, an unknown queue and one with children; a leaf goes whatever runs in it."""
    webhook = stored(queue("d"), queue("e", "d"))
    webhook.pods["e"] = 3
    for name, words in {
        "root": "`root` queue can not be deleted",
        "default": "`default` queue can not be deleted",
        "d": "queue d can not be deleted because it has 1 child queues: e",
        "gone": "not found",
    }.items():
        with pytest.raises(Refused, match=words):
            webhook.delete(name)
    webhook.delete("e")
    webhook.delete("d")


def test_root_keeps_its_lists_and_nothing_else() -> None:
    """Its three lists are protected; even a parent of root is taken (section 1.15 of the runs)."""
    webhook = stored(queue("d"))
    with pytest.raises(Refused, match="root queue's resource attributes"):
        webhook.apply(queue("root", None, capability={GPU: "1"}))
    webhook.apply(queue("root", "d"))


def test_a_closing_queue_takes_no_edit() -> None:
    """Not even one that changes nothing."""
    webhook = stored(D)
    webhook.closing.add("d")
    with pytest.raises(Refused, match="queue state must be in"):
        webhook.apply(D)


def test_a_cycle_of_two_is_accepted() -> None:
    """The walk up reads the stored object, which does not know of the edit."""
    webhook = stored(queue("ca"), queue("cb", "ca"))
    webhook.apply(queue("ca", "cb"))
    assert webhook.stored["ca"]["spec"]["parent"] == "cb"


@pytest.mark.parametrize(
    ("quantity", "resource", "expected"),
    [
        ("1500m", "cpu", 1500),
        (2, "cpu", 2000),
        ("1.5Ti", "memory", 1649267441664),
        ("500m", "memory", 1),
        ("8", GPU, 8000),
    ],
)
def test_amounts(quantity: str | int, resource: str, expected: int) -> None:
    """cpu and scalars in thousandths, memory in bytes."""
    assert amount(quantity, resource) == expected
