"""How a quota is split by weight: whole units, largest remainder, nobody above its own cap."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def split(pool: int, weights: Sequence[Fraction], caps: Sequence[int | None], step: int = 1) -> list[int]:
    """Split `pool` base units among siblings in multiples of `step`, in proportion to `weights`.

    A sibling whose proportional part passes its cap (None: no cap) gets the cap, and the others share the rest again.
    What is left after rounding down goes, one step each, to the largest remainders; on a tie to the earlier sibling.
    Weight 0 gets nothing. What cannot be given (all are capped, or less than a step is left) stays undivided.
    """
    units = max(0, pool) // step
    ceilings = [None if cap is None else max(0, cap) // step for cap in caps]
    given = [0] * len(weights)
    active = [index for index, weight in enumerate(weights) if weight > 0]
    while active:
        total = sum((weights[index] for index in active), Fraction(0))
        parts = {index: units * weights[index] / total for index in active}
        full = [index for index in active if _passes(parts[index], ceilings[index])]
        if not full:
            _round(given, parts, units)
            break
        for index in full:
            given[index] = ceilings[index] or 0
            units -= given[index]
        active = [index for index in active if index not in full]
    return [count * step for count in given]


def _passes(part: Fraction, ceiling: int | None) -> bool:
    return ceiling is not None and part > ceiling


def _round(given: list[int], parts: dict[int, Fraction], units: int) -> None:
    """Give each its part rounded down, then the left-over units to the largest remainders."""
    for index, part in parts.items():
        given[index] = int(part)
    rest = units - sum(int(part) for part in parts.values())
    by_remainder = sorted(parts, key=lambda index: (int(parts[index]) - parts[index], index))
    for index in by_remainder[:rest]:
        given[index] += 1
