"""Layouts worked out by hand, and all maximal mixes of the boards, against an exhaustive search."""

from __future__ import annotations

from collections import Counter

import pytest

from tenancy.model.gpus import CATALOGUE
from tenancy.model.mig import Placement, Refusal, RefusalKind, pack

from .mig_examples import FIT, QUARTERS, REFUSED, WITH_DOUBLE, WITHOUT_DOUBLE
from .mig_reference import BOARDS, legal, mix

EIGHTH_BOARDS = [name for name, board in BOARDS.items() if board.units == 8]


def mixes(shapes: str, names: dict[str, str]) -> set[frozenset[tuple[str, int]]]:
    """The mixes of a list of shapes in the names of a board."""
    return {frozenset((names[shape], n) for shape, n in mix(part.strip()).items()) for part in shapes.split("|")}


def found(gpu: str, names: list[str]) -> set[frozenset[tuple[str, int]]]:
    """Every layout of the named profiles to which none of them can be added, by exhaustive search."""
    reached: set[frozenset[tuple[str, int]]] = set()
    maximal: set[frozenset[tuple[str, int]]] = set()
    frontier = {frozenset[tuple[str, int]]()}
    while frontier:
        grown = {layout: _grown(gpu, names, dict(layout)) for layout in frontier}
        maximal |= {layout for layout, larger in grown.items() if layout and not larger}
        reached |= frontier
        frontier = set[frozenset[tuple[str, int]]]().union(*grown.values()) - reached
    return maximal


def _grown(gpu: str, names: list[str], layout: dict[str, int]) -> set[frozenset[tuple[str, int]]]:
    """The layouts with one instance more that still fit."""
    larger = [{**layout, name: layout.get(name, 0) + 1} for name in names]
    return {frozenset(each.items()) for each in larger if isinstance(pack(CATALOGUE[gpu], each), Placement)}


def eighth_names(gpu: str) -> dict[str, str]:
    plain = [name for name in BOARDS[gpu].rules if not name.endswith("+me")]
    return dict(zip(("1g", "D", "2g", "3g", "4g", "7g"), plain, strict=True))


@pytest.mark.parametrize(("gpu", "text", "listed"), FIT)
def test_an_example_that_fits_is_placed_legally_and_where_the_listings_place_it(
    gpu: str, text: str, listed: str
) -> None:
    """Every mix that is possible by hand is placed, legally and at the starts that are listed."""
    placement = pack(CATALOGUE[gpu], mix(text))
    assert isinstance(placement, Placement)
    assert legal(BOARDS[gpu], [(slot.profile.name, slot.start) for slot in placement.slots])
    if listed:
        assert sorted(f"{slot.start}:{slot.size}" for slot in placement.slots) == sorted(listed.split())


@pytest.mark.parametrize(("gpu", "text", "kind"), REFUSED)
def test_an_example_that_cannot_be_is_refused_for_its_reason(gpu: str, text: str, kind: RefusalKind) -> None:
    """Every mix that is impossible by hand is refused for the law that it breaks."""
    refusal = pack(CATALOGUE[gpu], mix(text))
    assert isinstance(refusal, Refusal)
    assert refusal.kind is kind
    assert refusal.reason
    assert refusal.help


@pytest.mark.parametrize("gpu", EIGHTH_BOARDS)
def test_a_seven_slice_board_has_the_twelve_and_sixteen_maximal_mixes(gpu: str) -> None:
    """The maximal mixes are exactly the 12 of the listings, and 16 more with the 1g of double memory."""
    names = eighth_names(gpu)
    twelve, sixteen = mixes(WITHOUT_DOUBLE, names), mixes(WITH_DOUBLE, names)
    assert (len(twelve), len(sixteen)) == (12, 16)
    assert found(gpu, [name for shape, name in names.items() if shape != "D"]) == twelve
    assert found(gpu, list(names.values())) == twelve | sixteen


def with_media(maximal: set[frozenset[tuple[str, int]]], one: str) -> set[frozenset[tuple[str, int]]]:
    """The mixes, and those in which one of the 1g is the one with media extensions."""
    layouts = [Counter(dict(mix)) for mix in maximal]
    swapped = [layout - Counter([one]) + Counter([f"{one}+me"]) for layout in layouts if layout[one]]
    return maximal | {frozenset(layout.items()) for layout in swapped}


def test_one_of_the_smallest_instances_may_have_the_media_extensions() -> None:
    """With the +me profile the maximal mixes are the same 28, and those with it in place of one 1g."""
    names = eighth_names("H100-SXM-80GB")
    expected = with_media(mixes(WITHOUT_DOUBLE, names) | mixes(WITH_DOUBLE, names), names["1g"])
    assert found("H100-SXM-80GB", [*names.values(), f"{names['1g']}+me"]) == expected


@pytest.mark.parametrize(
    ("gpu", "names"),
    [
        ("A30", {"1g": "1g.6gb", "2g": "2g.12gb", "4g": "4g.24gb"}),
        ("RTX-PRO-6000", {"1g": "1g.24gb", "2g": "2g.48gb", "4g": "4g.96gb"}),
    ],
)
def test_a_four_slice_board_has_four_maximal_mixes(gpu: str, names: dict[str, str]) -> None:
    """The A30 and the RTX PRO 6000 have the same four maximal mixes of plain profiles."""
    assert found(gpu, list(names.values())) == mixes(QUARTERS, names)
    assert len(mixes(QUARTERS, names)) == 4


@pytest.mark.parametrize("gpu", ["RTX-PRO-5000", "RTX-PRO-4500"])
def test_a_board_in_halves_has_two_maximal_mixes(gpu: str) -> None:
    """The smaller boards are two halves or one whole."""
    one, two = (name for name in BOARDS[gpu].rules if name.endswith("gb"))
    assert found(gpu, [one, two]) == {frozenset({(one, 2)}), frozenset({(two, 1)})}
