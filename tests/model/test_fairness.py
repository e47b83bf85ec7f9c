"""How the departments divide the shares of an API server."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tenancy.model.fairness import BUILT_IN, divided, seats

WEIGHTS = st.lists(st.integers(0, 10**6), min_size=1, max_size=40).map(
    lambda numbers: {f"d{index}": Fraction(number, 1000) for index, number in enumerate(numbers)}
)


@given(shares=st.integers(1, 1000), weights=WEIGHTS)
def test_everybody_has_one_and_all_are_divided_where_there_is_one_for_each(
    shares: int, weights: dict[str, Fraction]
) -> None:
    """With fewer shares than departments each has one, which is more than there is."""
    found = divided(shares, weights)
    assert found.keys() == weights.keys()
    assert min(found.values()) >= 1
    assert sum(found.values()) == max(shares, len(weights))


@given(shares=st.integers(1, 1000), weights=WEIGHTS)
def test_a_larger_weight_never_has_less(shares: int, weights: dict[str, Fraction]) -> None:
    """Nor does rounding let a department pass one that weighs more."""
    found = divided(shares, weights)
    by_weight = sorted(weights, key=lambda name: (weights[name], found[name]))
    numbers = [found[name] for name in by_weight]
    assert numbers == sorted(numbers)


def test_shares_are_divided_by_weight() -> None:
    """Whole shares, the remainder to whoever loses most by rounding; two for everybody where there are so many."""
    assert divided(60, {"a": Fraction(50), "b": Fraction(10)}) == {"a": 50, "b": 10}
    assert divided(10, {"a": Fraction(1), "b": Fraction(1), "c": Fraction(1)}) == {"a": 4, "b": 3, "c": 3}
    assert divided(60, {"a": Fraction(100), "b": Fraction(1), "c": Fraction(0)}) == {"a": 56, "b": 2, "c": 2}
    assert divided(5, {"a": Fraction(100), "b": Fraction(1), "c": Fraction(0)}) == {"a": 3, "b": 1, "c": 1}
    assert divided(60, {"a": Fraction(0), "b": Fraction(0)}) == {"a": 30, "b": 30}


def test_seats_are_rounded_up_and_the_servers_own_shares_are_counted() -> None:
    """The numbers of the API server's documentation for a level of 20 shares, and of its own for none."""
    assert seats(20, 20) == 46
    assert {name: seats(shares, 0) for name, shares in BUILT_IN.items()}["workload-low"] == 245
