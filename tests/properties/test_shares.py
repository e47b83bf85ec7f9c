"""Shares against a specification by search: the ideal parts of a water level, then the nearest whole parts of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

from hypothesis import example, given
from hypothesis import strategies as st

from tenancy.model.shares import split

weights = st.integers(0, 6).map(Fraction)
caps = st.none() | st.integers(0, 8)
siblings = st.lists(st.tuples(weights, caps), min_size=1, max_size=4)


def ideal(pool: int, members: Sequence[tuple[Fraction, int | None]]) -> list[Fraction]:
    """Parts that need not be whole: each has its cap, or its weight times one level that is the same for all others.

    The level is found by trying every set of members that could be at their cap.
    """
    for full in _subsets(range(len(members))):
        rest = [index for index in range(len(members)) if index not in full]
        if any(members[index][1] is None for index in full):
            continue
        left = pool - sum(members[index][1] or 0 for index in full)
        total = sum((members[index][0] for index in rest), Fraction(0))
        level = Fraction(left) / total if total else None
        parts = [
            Fraction(members[i][1] or 0) if i in full else members[i][0] * (level or 0) for i in range(len(members))
        ]
        if _is_fair(left, level, parts, members, full):
            return parts
    raise AssertionError("some level fits always")


def _is_fair(
    left: int,
    level: Fraction | None,
    parts: Sequence[Fraction],
    members: Sequence[tuple[Fraction, int | None]],
    full: Sequence[int],
) -> bool:
    """Nobody is above its cap, and whoever is at its cap would get no less by the level."""
    if left < 0 or (level is None and any(members[i][0] == 0 for i in full)):
        return False
    below = all(cap is None or part <= cap for part, (_, cap) in zip(parts, members, strict=True))
    return below and all(members[i][0] and (level is None or members[i][0] * level >= parts[i]) for i in full)


def _subsets(indexes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(indexes) + 1):
        yield from combinations(indexes, size)


def nearest(pool: int, members: Sequence[tuple[Fraction, int | None]]) -> list[int]:
    """Of all whole parts with that sum, the nearest to the ideal by least squares; on a tie the earlier get more."""
    goal = ideal(pool, members)
    total = sum(goal)
    choices = product(*(range(pool + 1 if cap is None else min(cap, pool) + 1) for _, cap in members))
    whole = [parts for parts in choices if sum(parts) == total]
    return list(
        min(whole, key=lambda parts: (sum((a - b) ** 2 for a, b in zip(parts, goal, strict=True)), _late(parts)))
    )


def _late(parts: Iterable[int]) -> tuple[int, ...]:
    return tuple(-part for part in parts)


@given(st.integers(0, 10), siblings)
@example(10, [(Fraction(1), 1), (Fraction(1), None), (Fraction(1), None)])
@example(3, [(Fraction(1), None), (Fraction(1), None)])
@example(10, [(Fraction(5), 2), (Fraction(1), 3)])
def test_split_finds_the_nearest_whole_parts(pool: int, members: list[tuple[Fraction, int | None]]) -> None:
    """The rounds of the algorithm end where a search over all whole parts does."""
    assert split(pool, *_columns(members)) == nearest(pool, members)


@given(st.integers(-5, 10_000), siblings, st.integers(1, 9))
def test_split_keeps_pool_caps_and_steps(pool: int, members: list[tuple[Fraction, int | None]], step: int) -> None:
    """Parts are whole steps within the caps, never more than the pool together, and nothing for a weight of 0."""
    parts = split(pool, *_columns(members), step)
    assert sum(parts) <= max(0, pool)
    for part, (weight, cap) in zip(parts, members, strict=True):
        assert part >= 0
        assert part % step == 0
        assert cap is None or part <= cap
        assert weight or part == 0


@given(st.integers(0, 10_000), siblings, st.integers(1, 9))
def test_split_leaves_nothing_that_somebody_could_take(
    pool: int, members: list[tuple[Fraction, int | None]], step: int
) -> None:
    """If a step is left, everybody with a weight is at its cap."""
    parts = split(pool, *_columns(members), step)
    if pool - sum(parts) >= step:
        assert all(
            cap is not None and cap - part < step for part, (weight, cap) in zip(parts, members, strict=True) if weight
        )


@given(st.integers(0, 1000), siblings)
def test_a_larger_weight_gets_no_less(pool: int, members: list[tuple[Fraction, int | None]]) -> None:
    """Of two siblings the one with more weight and no lower cap gets at least as much."""
    parts = split(pool, *_columns(members))
    for part, (weight, cap) in zip(parts, members, strict=True):
        for other, (less, lower) in zip(parts, members, strict=True):
            if weight > less and (cap is None or (lower is not None and cap >= lower)):
                assert part >= other


@given(st.integers(0, 1000), siblings, st.integers(1, 5))
def test_more_weight_never_costs(pool: int, members: list[tuple[Fraction, int | None]], more: int) -> None:
    """A sibling that gets more weight, the others unchanged, gets no smaller part."""
    (weight, cap), *rest = members
    before = split(pool, *_columns(members))[0]
    assert split(pool, *_columns([(weight + more, cap), *rest]))[0] >= before


@given(st.integers(0, 1000), siblings, st.randoms(use_true_random=False))
def test_the_order_of_siblings_decides_ties_only(
    pool: int, members: list[tuple[Fraction, int | None]], random: object
) -> None:
    """Siblings in another order get the same parts, but for the one step that a tie moves."""
    order = sorted(range(len(members)), key=lambda _: random.random())  # type: ignore[attr-defined]
    parts = split(pool, *_columns(members))
    moved = split(pool, *_columns([members[index] for index in order]))
    assert sum(moved) == sum(parts)
    assert all(abs(parts[index] - part) <= 1 for index, part in zip(order, moved, strict=True))


def _columns(members: Sequence[tuple[Fraction, int | None]]) -> tuple[list[Fraction], list[int | None]]:
    return [weight for weight, _ in members], [cap for _, cap in members]
