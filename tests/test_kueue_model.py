"""The model of Kueue's arithmetic, against the worked example and the figures measured on a real Kueue."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest

from tests import kueue_model as model

GPU = ("h100", "nvidia.com/gpu")


def manifest(kind: str, name: str, parent: str | None, nominal: int, *limits: int | None, **named: int | None) -> Any:
    """One object with one cell; None leaves a limit out."""
    given = dict(zip(("lending", "borrowing"), limits, strict=False)) | named
    entry = {"name": GPU[1], "nominalQuota": str(nominal)}
    entry |= {f"{key}Limit": str(value) for key, value in given.items() if value is not None}
    groups = [{"coveredResources": [GPU[1]], "flavors": [{"name": GPU[0], "resources": [entry]}]}]
    above = {"parentName" if kind == model.COHORT else "cohortName": parent} if parent else {}
    return {"kind": kind, "metadata": {"name": name}, "spec": {"resourceGroups": groups, **above}}


def example(borrowing: int | None = None) -> model.Tree:
    """The organization of the worked example: two teams, a hard department, another department worth 10."""
    return model.build(
        [
            manifest("Cohort", "org", None, 4),
            manifest("Cohort", "dept", "org", 0, borrowing=0),
            manifest("Cohort", "other", "org", 10),
            manifest("ClusterQueue", "t1", "dept", 8, lending=2, borrowing=borrowing),
            manifest("ClusterQueue", "t2", "dept", 8),
        ]
    )


def unit(parent: str, kind: str, name: str, nominal: int, triple: tuple[int, int, int]) -> Any:
    """An object from reserved, quota and limit, with the nominal quota that remains on it."""
    least, owned, most = triple
    return manifest(kind, name, parent, nominal, owned - least, most - owned)


ACME = (
    manifest("Cohort", "acme", None, 8),
    unit("acme", "Cohort", "research", 8, (12, 32, 48)),
    unit("acme", "Cohort", "product", 0, (4, 24, 32)),
    unit("research", "ClusterQueue", "vision", 16, (8, 16, 24)),
    unit("research", "ClusterQueue", "nlp", 8, (0, 8, 40)),
    unit("product", "ClusterQueue", "search", 12, (4, 12, 16)),
    unit("product", "ClusterQueue", "ads", 12, (0, 12, 12)),
)
UNITS = tuple((item["kind"], item["metadata"]["name"]) for item in ACME)


def test_worked_example() -> None:
    """Every figure of the worked example comes out."""
    tree = example()
    assert model.local(tree, ("ClusterQueue", "t1"), GPU) == 6
    assert model.subtree(tree, ("Cohort", "dept"), GPU) == 10
    assert model.subtree(tree, ("Cohort", "org"), GPU) == 24
    assert [model.potential(tree, node, GPU) for node in (("Cohort", "dept"), ("ClusterQueue", "t1"))] == [10, 16]
    assert model.potential(tree, ("ClusterQueue", "t2"), GPU) == 10
    assert model.limit(tree, ("Cohort", "dept"), GPU) == model.quota(tree, ("Cohort", "dept"), GPU) == 16
    assert model.potential(example(borrowing=4), ("ClusterQueue", "t1"), GPU) == 12


@pytest.mark.parametrize(
    ("name", "limit"), [("vision", 24), ("nlp", 40), ("search", 16), ("ads", 12), ("research", 48), ("product", 28)]
)
def test_measured_limits(name: str, limit: int) -> None:
    """Alone, each unit reaches what it reached on the real manager; product stops at the sum of its teams' limits."""
    tree = model.build(ACME)
    assert model.limit(tree, next(node for node in UNITS if node[1] == name), GPU) == limit


@pytest.mark.parametrize(
    ("name", "reserved"), [("vision", 8), ("nlp", 12), ("search", 4), ("ads", 0), ("research", 36), ("product", 16)]
)
def test_measured_reserved(name: str, reserved: int) -> None:
    """With all lent to the others, vision and search get the measured 8 and 4; what others cannot use is free too."""
    tree = model.build(ACME)
    assert model.reserved(tree, next(node for node in UNITS if node[1] == name), GPU) == reserved


@pytest.mark.parametrize(
    ("name", "reserved", "limit"),
    [
        ("vision", 8, 24),
        ("nlp", 0, 40),
        ("search", 4, 16),
        ("ads", 0, 12),
        ("research", 12, 48),
        ("product", 4, 32),
    ],
)
def test_with_guests_every_number_is_exact(name: str, reserved: int, limit: int) -> None:
    """Against guests who borrow all that is lent, each unit has exactly the reserved and the limit it was given."""
    tree, node = model.with_guests(model.build(ACME)), next(node for node in UNITS if node[1] == name)
    assert (model.reserved(tree, node, GPU), model.limit(tree, node, GPU)) == (reserved, limit)


def test_lent_full() -> None:
    """Measured: while vision is idle the others use 56 of the 64 GPUs: nlp 28, search 16, ads 12."""
    filled = model.fill(model.build(ACME), ["search", "ads", "nlp"], GPU)
    assert filled == {"search": 16, "ads": 12, "nlp": 28}


def test_measured_department_order() -> None:
    """Measured: nlp first takes 40, then vision 8 more: the department's cap is 48."""
    assert model.fill(model.build(ACME), ["nlp", "vision"], GPU) == {"nlp": 40, "vision": 8}


def test_guest_takes_what_departments_do_not_reserve() -> None:
    """Measured: a department without quota uses 48 = 64 - 12 - 4 while the organization is idle, then nlp gets 4."""
    tree = model.build([*ACME, manifest("ClusterQueue", "guest", "acme", 0)])
    filled = model.fill(tree, ["guest", "nlp"], GPU)
    assert filled == {"guest": 48, "nlp": 4}


@pytest.mark.parametrize(("name", "quota"), [("acme", 64), ("research", 32), ("product", 24), ("vision", 16)])
def test_quota(name: str, quota: int) -> None:
    """A unit's quota is the sum of the nominal quotas in its subtree."""
    tree = model.build(ACME)
    assert model.quota(tree, next(node for node in UNITS if node[1] == name), GPU) == quota


def random_tree(seed: int) -> model.Tree:
    """Two levels of cohorts, up to five queues, any limits, absent ones included."""
    draw = random.Random(seed)

    def limits() -> tuple[int | None, int | None]:
        return draw.choice([None, 0, 1, 3, 9]), draw.choice([None, 0, 2, 5])

    objects = [manifest("Cohort", "root", None, draw.randrange(6))]
    objects += [manifest("Cohort", name, "root", draw.randrange(6), *limits()) for name in "xy"]
    for index in range(draw.randint(2, 4)):
        parent = draw.choice(["root", "x", "y"])
        objects.append(manifest("ClusterQueue", f"q{index}", parent, draw.randrange(9), *limits()))
    return model.build(objects)


@pytest.mark.parametrize("seed", range(30))
def test_order_and_step_do_not_matter(seed: int) -> None:
    """Whatever the order of the queues and the size of the workloads, a full tree holds the same total."""
    tree = random_tree(seed)
    totals = {sum(model.fill(tree, order, GPU).values()) for order in permutations(tree.queues())}
    totals |= {sum(model.fill(tree, tree.queues(), GPU, step=1).values())}
    assert len(totals) == 1


@pytest.mark.parametrize("seed", range(30))
def test_reserved_is_the_worst_case(seed: int) -> None:
    """Whatever the others take, a queue has `reserved` at least, and exactly that when they are full in any order."""
    tree, draw = random_tree(seed), random.Random(seed)
    for name in tree.queues():
        least = model.reserved(tree, ("ClusterQueue", name), GPU)
        others = [other for other in tree.queues() if other != name]
        for order in permutations(others):
            assert model.fill(tree, [name], GPU, model.fill(tree, order, GPU)).get(name, 0) == least
        state: dict[str, int] = {}
        for other in draw.choices(others, k=12):
            state = {
                **state,
                other: state.get(other, 0) + min(1, model.available(tree, ("ClusterQueue", other), GPU, state)),
            }
            assert model.fill(tree, [name], GPU, state).get(name, 0) >= least


@pytest.mark.parametrize("seed", range(30))
def test_alone_a_queue_reaches_its_potential(seed: int) -> None:
    """Filling one queue in steps of one, all else idle, ends at its potential."""
    tree = random_tree(seed)
    for name in tree.queues():
        filled = model.fill(tree, [name], GPU, step=1).get(name, 0)
        assert filled == model.potential(tree, ("ClusterQueue", name), GPU)


def test_absent_cell_is_unusable() -> None:
    """A queue that does not list a flavor cannot use it, however much its cohort owns."""
    tree = model.build([manifest("Cohort", "root", None, 9), manifest("ClusterQueue", "q", "root", 0)])
    assert model.limit(tree, ("ClusterQueue", "q"), ("other", "cpu")) == 0
    assert model.limit(tree, ("ClusterQueue", "q"), GPU) == 9


def test_cohort_that_is_only_named() -> None:
    """A cohort without an object is an empty root, in which its queues share."""
    tree = model.build([manifest("ClusterQueue", name, "implicit", 4) for name in ("a", "b")])
    assert model.limit(tree, ("ClusterQueue", "a"), GPU) == 8


@pytest.mark.parametrize(
    ("quantity", "resource", "expected"),
    [
        ("1500m", "cpu", 1500),
        ("0.0001", "cpu", 1),
        ("2", "cpu", 2000),
        ("1.5Ti", "memory", 1649267441664),
        ("2.5", "nvidia.com/gpu", 3),
        ("4k", "pods", 4000),
        ("1e3", "pods", 1000),
        (4, "pods", 4),
    ],
)
def test_amounts(quantity: str | int, resource: str, expected: int) -> None:
    """Quantities become milli for cpu and whole units, rounded up, for the rest."""
    assert model.amount(quantity, resource) == expected
