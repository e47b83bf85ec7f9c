"""Who may borrow what from whom, on a tree small enough to count."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.model.loans import Borrower, Lender, Loan, Pool
from tenancy.plan import plan
from tenancy.plan.lending import held_by, leaves, loans, queue_of_unit
from tests.orgs import changed, organized

GPU = "nvidia.com/gpu"
ORG: dict[str, Any] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 5, "node": {"gpus": 8, "cpu": 82, "memory": "804Gi"}}},
    "departments": {
        "lab": {
            "budget": {"h100": 20},
            "teams": {
                "a": {"budget": {"h100": {"reserved": 2, "quota": 10}}},
                "b": {"budget": {"h100": {"quota": 6, "limit": 9}}, "policy": {"reclaim": "never"}},
            },
        },
        "shop": {"budget": {"h100": {"reserved": 5, "quota": 12}}, "teams": {"c": {"budget": {"h100": 12}}}},
    },
}


def loan(unit: str, **changes: Any) -> Loan:
    """What a unit borrows and lends of its GPUs."""
    org = organized(changed(ORG, changes))
    (cluster,) = plan(org)
    node = next(each for each in (org.root, *org.units) if each.title == unit)
    (found,) = loans(cluster, held_by(cluster, node), cluster.flavors.values())
    return found


def test_what_is_idle_comes_from_pools_and_lenders() -> None:
    """The department keeps 4, the organization 8; a lender gives what neither it nor a unit above it reserves."""
    found = loan("lab/b")
    assert found.pools == (Pool(unit="lab", amount=4), Pool(unit="acme", amount=8))
    assert found.lenders == (
        Lender(unit="lab/a", amount=8, reclaim="any"),
        Lender(unit="shop/c", amount=7, reclaim="any"),
    )


def test_who_borrows_is_held_to_its_limit_and_by_the_reserve() -> None:
    """`b` has room for 3 above its quota; `c` could take all that `a` does not reserve."""
    assert loan("lab/a").borrowers == (Borrower(unit="lab/b", amount=3), Borrower(unit="shop/c", amount=8))


def test_a_unit_that_holds_others_lends_to_those_outside() -> None:
    """Its own units are not told of, and neither are they among those that lend to it."""
    found = loan("lab")
    assert found.borrowers == (Borrower(unit="shop/c", amount=18),)
    assert [lender.unit for lender in found.lenders] == ["shop/c"]


@pytest.mark.parametrize(
    ("changes", "borrowers"),
    [
        ({"departments.shop.policy": {"borrowing": "department"}}, [("lab/b", 3)]),
        ({"departments.lab.teams.a.budget.h100": {"reserved": 10, "quota": 10}}, []),
        ({"departments.lab.budget.h100": {"reserved": 20, "quota": 20}}, [("lab/b", 3)]),
        ({"departments.lab.teams.b.budget.h100": {"quota": 6, "limit": 6}}, [("shop/c", 8)]),
    ],
)
def test_what_stops_a_loan(changes: dict[str, Any], borrowers: list[tuple[str, int]]) -> None:
    """A limit or a policy of those who would borrow, and a reserve of the unit or of one above it."""
    assert [(each.unit, each.amount) for each in loan("lab/a", **changes).borrowers] == borrowers


def test_units_that_hold_others_have_no_queue() -> None:
    """The nearest units below them do."""
    org = organized(ORG)
    (cluster,) = plan(org)
    assert queue_of_unit(cluster, org.root) is None
    assert [each.title for each in leaves(org.root)] == ["lab/a", "lab/b", "shop/c"]
    (queue,) = [each for each in cluster.queues if each.title == "lab/a"]
    assert queue_of_unit(cluster, next(leaves(org.root))) is queue
