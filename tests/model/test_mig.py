"""Packing of MIG layouts against a naive reference, and what a refusal says."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenancy.model.gpus import CATALOGUE
from tenancy.model.mig import Placement, Refusal, RefusalKind, additions, pack

from .mig_reference import BOARDS, legal, mix, some_placement_is_legal


def accepted(gpu: str, layout: Counter[str]) -> bool:
    return isinstance(pack(CATALOGUE[gpu], layout), Placement)


def placed(gpu: str, text: str) -> Placement:
    placement = pack(CATALOGUE[gpu], mix(text))
    assert isinstance(placement, Placement)
    return placement


def refused(gpu: str, layout: dict[str, int]) -> Refusal:
    refusal = pack(CATALOGUE[gpu], layout)
    assert isinstance(refusal, Refusal)
    return refusal


@st.composite
def instances(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A board and up to nine instances of its profiles, which mostly do not fit together."""
    gpu = draw(st.sampled_from(sorted(BOARDS)))
    return gpu, draw(st.lists(st.sampled_from(sorted(BOARDS[gpu].rules)), min_size=1, max_size=9))


@st.composite
def fitting(draw: st.DrawFn) -> tuple[str, Counter[str]]:
    """A board and a layout that fits: of the drawn instances, each that still finds room."""
    gpu, names = draw(instances())
    layout: Counter[str] = Counter()
    for name in names:
        if accepted(gpu, layout + Counter([name])):
            layout[name] += 1
    return gpu, layout


@given(instances())
def test_packing_agrees_with_trying_every_placement(drawn: tuple[str, list[str]]) -> None:
    """A layout is accepted exactly if some choice of starts is legal."""
    gpu, names = drawn
    assert accepted(gpu, Counter(names)) is some_placement_is_legal(BOARDS[gpu], Counter(names))


@pytest.mark.parametrize("gpu", ["H100-SXM-80GB", "A30", "RTX-PRO-5000", "RTX-PRO-4500"])
def test_packing_agrees_on_every_layout_of_a_board(gpu: str) -> None:
    """Over all layouts within the maxima of a board, packing and the reference agree without exception."""
    rules = BOARDS[gpu].rules
    for counts in product(*(range(rule.most + 1) for rule in rules.values())):
        layout = +Counter(dict(zip(rules, counts, strict=True)))
        assert accepted(gpu, layout) is (bool(layout) and some_placement_is_legal(BOARDS[gpu], layout)), layout


@given(fitting())
def test_an_accepted_layout_is_placed_legally_and_completely(drawn: tuple[str, Counter[str]]) -> None:
    """A placement holds exactly the instances asked for, in start order, at legal starts."""
    gpu, layout = drawn
    placement = pack(CATALOGUE[gpu], layout)
    assert isinstance(placement, Placement)
    slots = [(slot.profile.name, slot.start) for slot in placement.slots]
    assert legal(BOARDS[gpu], slots)
    assert Counter(name for name, _ in slots) == layout
    assert [start for _, start in slots] == sorted(start for _, start in slots)


@given(fitting(), st.data())
def test_part_of_an_accepted_layout_is_accepted(drawn: tuple[str, Counter[str]], data: st.DataObject) -> None:
    """Taking instances away never makes a layout impossible."""
    gpu, layout = drawn
    every = sorted(layout.elements())
    kept = data.draw(st.lists(st.sampled_from(range(len(every))), min_size=1, unique=True))
    assert accepted(gpu, Counter(every[at] for at in kept))


@given(fitting())
def test_the_order_in_which_a_layout_is_written_does_not_matter(drawn: tuple[str, Counter[str]]) -> None:
    """The same layout with its profiles in reverse is placed at the same starts."""
    gpu, layout = drawn
    backwards = dict(reversed(list(layout.items())))
    assert pack(CATALOGUE[gpu], backwards) == pack(CATALOGUE[gpu], layout)


@pytest.mark.parametrize(
    ("gpu", "text", "memory", "compute"),
    [
        ("H100-SXM-80GB", "2*3g.40gb", 0, 1),
        ("H100-SXM-80GB", "4*1g.20gb", 0, 3),
        ("H100-SXM-80GB", "4g.40gb & 2g.20gb & 1g.10gb", 1, 0),
        ("A30", "2g.12gb", 2, 2),
        ("RTX-PRO-6000", "1g.24gb", 9, 3),
    ],
)
def test_a_placement_tells_what_stays_idle(gpu: str, text: str, memory: int, compute: int) -> None:
    """Units and slices that no instance owns are counted, for the warning about wasted silicon."""
    placement = placed(gpu, text)
    assert (placement.idle_memory, placement.idle_compute) == (memory, compute)


def test_additions_names_what_still_fits() -> None:
    """One more of a profile is offered only where it can be placed beside the layout."""
    assert additions(CATALOGUE["H100-SXM-80GB"], mix("4g.40gb & 2g.20gb")) == ("1g.10gb", "1g.10gb+me", "1g.20gb")
    assert additions(CATALOGUE["H100-SXM-80GB"], mix("2*3g.40gb")) == ()


def test_a_board_without_mig_takes_no_layout() -> None:
    """A board that MIG cannot divide refuses every layout, with that reason."""
    assert refused("L40S", {"1g.6gb": 1}).kind is RefusalKind.NO_MIG


def test_an_unknown_profile_names_its_boards_and_the_nearest_profiles() -> None:
    """A name of another board says which boards have it, and which profiles of this one come closest."""
    refusal = refused("H100-SXM-80GB", {"3g.20gb": 1})
    assert refusal.kind is RefusalKind.UNKNOWN_PROFILE
    assert refusal.profile == "3g.20gb"
    assert refusal.reason.endswith("of `A100-SXM4-40GB`, `A100-PCIE-40GB`, `A800-SXM4-40GB` and `A800-PCIE-40GB`")
    assert "the nearest of which are `3g.40gb`" in refusal.help


def test_a_profile_of_many_boards_names_a_few() -> None:
    """A message stays short, however many boards have the name."""
    assert refused("A30", {"1g.12gb": 1}).reason.endswith("`H100-SXM-94GB`, `H100-96GB` and 3 more")


@pytest.mark.parametrize(
    ("gpu", "old", "now"),
    [
        ("GB200", "3g.95gb", "3g.93gb"),
        ("GB200", "4g.95gb", "4g.93gb"),
        ("GB200", "7g.189gb", "7g.186gb"),
        ("GB200", "1g.24gb+me", "1g.23gb+me"),
        ("A100-SXM4-80GB", "7g.79gb", "7g.80gb"),
        ("A100-PCIE-80GB", "3g.39gb", "3g.40gb"),
    ],
)
def test_the_name_of_an_early_driver_is_refused_with_the_name_since(gpu: str, old: str, now: str) -> None:
    """Drivers have renamed profiles: a layout in the old name would fail on the nodes of today."""
    refusal = refused(gpu, {old: 1})
    assert (refusal.kind, refusal.profile) == (RefusalKind.UNKNOWN_PROFILE, old)
    assert refusal.reason == f"`{old}` is what early drivers called the profile `{now}` of `{gpu}`"
    assert refusal.help.startswith(f"write `{now}`, its name since")


@pytest.mark.parametrize("written", ["1g.10gb.me", "mig-1g.10gb.me", "nvidia.com/mig-1g.10gb.me", "1G.10GB+ME"])
def test_another_spelling_is_refused_with_the_right_one(written: str) -> None:
    """The spelling of resource names is not accepted in a layout, but the help offers NVIDIA's own."""
    refusal = refused("H100-SXM-80GB", {written: 1})
    assert refusal.kind is RefusalKind.UNKNOWN_PROFILE
    assert refusal.help == "write `1g.10gb+me`"


def test_a_compute_instance_is_refused_with_its_gpu_instance() -> None:
    """The device plugin offers no instance whose compute part is smaller than the GPU instance."""
    refusal = refused("H100-SXM-80GB", {"1c.2g.20gb": 1})
    assert refusal.kind is RefusalKind.COMPUTE_INSTANCE
    assert refusal.help == "write the GPU instance `2g.20gb`"


@pytest.mark.parametrize("layout", [{}, {"1g.10gb": 0}, {"1g.10gb": 0, "3g.40gb": 0}])
def test_a_layout_of_nothing_is_refused(layout: dict[str, int]) -> None:
    """A map of only zeros stops mig-parted, and a node in MIG mode without instances offers nothing."""
    assert refused("H100-SXM-80GB", layout).kind is RefusalKind.EMPTY


@pytest.mark.parametrize("layout", [{"1g.10gb": -1}, {"3g.40gb": 1, "1g.10gb": -1}])
def test_a_negative_count_is_refused(layout: dict[str, int]) -> None:
    """A negative count is an error of its own, and never makes room for other profiles."""
    refusal = refused("H100-SXM-80GB", layout)
    assert (refusal.kind, refusal.profile) == (RefusalKind.NEGATIVE_COUNT, "1g.10gb")


def test_a_profile_counted_zero_must_still_exist() -> None:
    """A misspelt profile is found even while its count is 0."""
    assert refused("H100-SXM-80GB", {"3g.40gb": 1, "1g.5gb": 0}).kind is RefusalKind.UNKNOWN_PROFILE


@pytest.mark.parametrize(
    ("gpu", "text", "words"),
    [
        ("H100-SXM-80GB", "2*3g.40gb & 1g.10gb", "needs 9 memory units, but `H100-SXM-80GB` has 8"),
        ("H100-SXM-80GB", "3*2g.20gb & 2*1g.10gb", "need 8 of 7 compute slices"),
        ("H100-SXM-80GB", "8*1g.10gb", "holds at most 7"),
        ("A30", "1g.6gb+me & 2g.12gb+me", "take 2 OFA engines, but `A30` has 1"),
        ("RTX-PRO-6000", "1g.24gb+me.all & 3*1g.24gb", "take 7 NVDEC engines, but `RTX-PRO-6000` has 4"),
    ],
)
def test_a_refusal_gives_the_numbers(gpu: str, text: str, words: str) -> None:
    """The reason says how much is needed of how much, so that the reader can correct the layout."""
    assert words in refused(gpu, mix(text)).reason


def test_a_huge_count_is_refused_without_a_search() -> None:
    """A count far above the maximum is refused at once: no list of that many instances is built."""
    assert refused("H100-SXM-80GB", {"1g.10gb": 10**12}).kind is RefusalKind.OVER_MAXIMUM
