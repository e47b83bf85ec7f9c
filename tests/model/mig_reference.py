"""A second, deliberately naive statement of the MIG geometry, from the boards' listings and sharing no code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations, product
from typing import NamedTuple, TypeAlias

Slots: TypeAlias = Iterable[tuple[str, int]]
"""Profile names with the unit each instance starts at."""


class Rule(NamedTuple):
    size: int
    starts: tuple[int, ...]
    most: int
    decoders: int = 0
    ofa: int = 0


class Board(NamedTuple):
    units: int
    decoders: int
    rules: Mapping[str, Rule]


def eighths(names: str) -> Board:
    """A board of eight memory slices, its names in the order 1g, 1g of double memory, 2g, 3g, 4g, 7g."""
    one, double, two, three, four, seven = names.split()
    rules = {
        one: Rule(1, (0, 1, 2, 3, 4, 5, 6), 7),
        f"{one}+me": Rule(1, (0, 1, 2, 3, 4, 5, 6), 1, ofa=1),
        double: Rule(2, (0, 2, 4, 6), 4),
        two: Rule(2, (0, 2, 4), 3),
        three: Rule(4, (0, 4), 2),
        four: Rule(4, (0,), 1),
        seven: Rule(8, (0,), 1),
    }
    return Board(8, 0, rules)


BOARDS: dict[str, Board] = {
    "A100-SXM4-40GB": eighths("1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb"),
    "A100-SXM4-80GB": eighths("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
    "H100-SXM-80GB": eighths("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
    "H100-SXM-64GB": eighths("1g.8gb 1g.16gb 2g.16gb 3g.32gb 4g.32gb 7g.64gb"),
    "H100-NVL-94GB": eighths("1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb"),
    "H20-96GB": eighths("1g.12gb 1g.24gb 2g.24gb 3g.48gb 4g.48gb 7g.96gb"),
    "GH200-144GB": eighths("1g.18gb 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb"),
    "H200-SXM-141GB": eighths("1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb"),
    "B200": eighths("1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"),
    "GB200": eighths("1g.23gb 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb"),
    "B300": eighths("1g.34gb 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb"),
    "GB300": eighths("1g.35gb 1g.70gb 2g.70gb 3g.139gb 4g.139gb 7g.278gb"),
    "A30": Board(
        4,
        0,
        {
            "1g.6gb": Rule(1, (0, 1, 2, 3), 4),
            "1g.6gb+me": Rule(1, (0, 1, 2, 3), 1, ofa=1),
            "2g.12gb": Rule(2, (0, 2), 2),
            "2g.12gb+me": Rule(2, (0, 2), 1, ofa=1),
            "4g.24gb": Rule(4, (0,), 1),
        },
    ),
    "RTX-PRO-6000": Board(
        12,
        4,
        {
            "1g.24gb": Rule(3, (0, 3, 6, 9), 4, 1),
            "1g.24gb+gfx": Rule(3, (0, 3, 6, 9), 4, 1),
            "1g.24gb+me": Rule(3, (0, 3, 6, 9), 1, 1, 1),
            "1g.24gb+me.all": Rule(3, (0, 3, 6, 9), 1, 4, 1),
            "1g.24gb-me": Rule(3, (0, 3, 6, 9), 4),
            "2g.48gb": Rule(6, (0, 6), 2, 2),
            "2g.48gb+gfx": Rule(6, (0, 6), 2, 2),
            "2g.48gb+me.all": Rule(6, (0, 6), 1, 4, 1),
            "2g.48gb-me": Rule(6, (0, 6), 2),
            "4g.96gb": Rule(12, (0,), 1, 4),
            "4g.96gb+gfx": Rule(12, (0,), 1, 4),
        },
    ),
    "RTX-PRO-5000": Board(
        2,
        3,
        {
            "1g.24gb": Rule(1, (0, 1), 2, 1),
            "1g.24gb+gfx": Rule(1, (0, 1), 2, 1),
            "1g.24gb+me": Rule(1, (0, 1), 1, 1, 1),
            "1g.24gb+me.all": Rule(1, (0, 1), 1, 3, 1),
            "1g.24gb-me": Rule(1, (0, 1), 2),
            "2g.48gb": Rule(2, (0,), 1, 3, 1),
            "2g.48gb+gfx": Rule(2, (0,), 1, 3, 1),
        },
    ),
    "RTX-PRO-4500": Board(
        2,
        3,
        {
            "1g.16gb": Rule(1, (0, 1), 2, 1),
            "1g.16gb+gfx": Rule(1, (0, 1), 2, 1),
            "1g.16gb+me.all": Rule(1, (0, 1), 1, 3, 1),
            "1g.16gb-me": Rule(1, (0, 1), 2),
            "2g.32gb": Rule(2, (0,), 1, 3, 1),
            "2g.32gb+gfx": Rule(2, (0,), 1, 3, 1),
        },
    ),
}

LIKE = {
    "A100-PCIE-40GB": "A100-SXM4-40GB",
    "A800-SXM4-40GB": "A100-SXM4-40GB",
    "A800-PCIE-40GB": "A100-SXM4-40GB",
    "A100-SXM-64GB": "H100-SXM-64GB",
    "A100-PCIE-80GB": "A100-SXM4-80GB",
    "A100X": "A100-SXM4-80GB",
    "A800-SXM4-80GB": "A100-SXM4-80GB",
    "A800-PCIE-80GB": "A100-SXM4-80GB",
    "H100-PCIE-80GB": "H100-SXM-80GB",
    "H800-SXM-80GB": "H100-SXM-80GB",
    "H800-PCIE-80GB": "H100-SXM-80GB",
    "H100-SXM-94GB": "H100-NVL-94GB",
    "H800-NVL-94GB": "H100-NVL-94GB",
    "H100-96GB": "H20-96GB",
    "GH200-96GB": "H20-96GB",
    "PG506-96GB": "H20-96GB",
    "H200-NVL-141GB": "H200-SXM-141GB",
    "H20-141GB": "H200-SXM-141GB",
    "A30X": "A30",
}
"""Boards with the profiles of another."""


def mix(text: str) -> Counter[str]:
    """`3g.40gb & 2*1g.10gb` as a layout; the joint is `&` because profile names contain `+`."""
    layout: Counter[str] = Counter()
    for part in text.split(" & "):
        count, star, name = part.partition("*")
        layout[name if star else part] += int(count) if star else 1
    return layout


def legal(board: Board, slots: Slots) -> bool:
    """Whether instances at these starts may exist together on one GPU of the board."""
    placed = list(slots)
    rules = board.rules
    owned = [start + unit for name, start in placed for unit in range(rules[name].size)]
    return (
        all(start in rules[name].starts for name, start in placed)
        and len(set(owned)) == len(owned)
        and all(count <= rules[name].most for name, count in Counter(name for name, _ in placed).items())
        and (not board.decoders or sum(rules[name].decoders for name, _ in placed) <= board.decoders)
        and sum(rules[name].ofa for name, _ in placed) <= 1
    )


def some_placement_is_legal(board: Board, layout: Mapping[str, int]) -> bool:
    """Try every choice of starts; only layouts larger than the whole GPU are passed over."""
    if sum(count * board.rules[name].size for name, count in layout.items()) > board.units:
        return False
    return any(legal(board, slots) for slots in _every_placement(board, layout))


def _every_placement(board: Board, layout: Mapping[str, int]) -> Iterator[list[tuple[str, int]]]:
    choices = (
        [[(name, start) for start in starts] for starts in combinations(board.rules[name].starts, count)]
        for name, count in layout.items()
    )
    return (list(chain.from_iterable(choice)) for choice in product(*choices))
