"""The GPU catalogue: its keys, its names, and the collisions that make a profile name meaningless without a board."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from tenancy.model.gpus import CATALOGUE, Certainty, Gpu, custom_gpu, models_with
from tenancy.model.syntax import is_label_value

from .mig_reference import BOARDS, LIKE

DESIGN_KEYS = (
    *("A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIE-40GB", "A100-PCIE-80GB"),
    *("H100-SXM-80GB", "H100-PCIE-80GB", "H100-NVL-94GB", "H20-96GB", "H200-SXM-141GB", "H200-NVL-141GB"),
    *("GH200-96GB", "GH200-144GB", "B200", "GB200", "B300", "GB300", "A30", "RTX-PRO-6000"),
    *("L4", "L40S", "L40", "A40", "A10", "A16", "T4", "V100-SXM2-32GB", "V100-SXM2-16GB", "A10G", "RTX-6000-ADA"),
)

MIG_GPUS = [gpu for gpu in CATALOGUE.values() if gpu.profiles]


def repeated(values: list[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


@pytest.mark.parametrize("key", DESIGN_KEYS)
def test_every_key_of_the_language_is_in_the_catalogue(key: str) -> None:
    """Each board that the language documents is found under its key and carries that name."""
    assert CATALOGUE[key].name == key


@pytest.mark.parametrize("gpu", MIG_GPUS, ids=lambda gpu: gpu.name)
def test_a_board_has_the_profiles_of_the_fact_sheet(gpu: Gpu) -> None:
    """Names, sizes, starts and maxima of every board agree with the reference, which was written out separately."""
    known = {p.name: (p.size, p.starts, p.maximum) for p in gpu.profiles.values()}
    reference = BOARDS[LIKE.get(gpu.name, gpu.name)]
    assert known == {rule: (at.size, at.starts, at.most) for rule, at in reference.rules.items()}


@pytest.mark.parametrize("gpu", MIG_GPUS, ids=lambda gpu: gpu.name)
def test_the_geometry_of_a_board_is_consistent(gpu: Gpu) -> None:
    """Every profile lies inside the line from each of its starts, and as many as its maximum find disjoint starts."""
    assert gpu.grid is not None
    for key, profile in gpu.profiles.items():
        assert profile.name == key
        assert profile.grid == gpu.grid
        assert all(0 <= start <= gpu.grid.units - profile.size for start in profile.starts)
        assert profile.maximum <= len(profile.starts)
        assert all(after - before >= profile.size for before, after in pairwise(profile.starts))
        assert profile.compute <= gpu.grid.compute


@pytest.mark.parametrize("gpu", MIG_GPUS, ids=lambda gpu: gpu.name)
def test_the_whole_gpu_is_a_profile_named_after_its_memory(gpu: Gpu) -> None:
    """The largest profile owns all memory, and its name carries the nominal memory of the board."""
    assert gpu.grid is not None
    whole = [p for p in gpu.profiles.values() if p.memory_share == 1 and p.plain]
    assert [p.name for p in whole] == [f"{gpu.grid.compute}g.{gpu.memory_gib}gb"]


def test_boards_without_mig_have_neither_grid_nor_profiles() -> None:
    """The grid is there exactly where there are profiles."""
    assert all((gpu.grid is None) == (not gpu.profiles) for gpu in CATALOGUE.values())
    assert CATALOGUE["L40S"].grid is None


@pytest.mark.parametrize(
    ("profile", "resource"),
    [
        ("1g.24gb", "nvidia.com/mig-1g.24gb"),
        ("1g.24gb+me", "nvidia.com/mig-1g.24gb.me"),
        ("1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"),
        ("1g.24gb+gfx", "nvidia.com/mig-1g.24gb.gfx"),
        ("1g.24gb-me", "nvidia.com/mig-1g.24gb-me"),
    ],
)
def test_a_resource_name_writes_plus_as_a_dot(profile: str, resource: str) -> None:
    """In a resource name a plus becomes a dot and a minus stays."""
    assert CATALOGUE["RTX-PRO-6000"].profiles[profile].resource == resource


def test_resource_names_are_short_and_distinct_on_each_board() -> None:
    """No two profiles of a board share a resource, and each whole name has at most 63 characters."""
    for gpu in MIG_GPUS:
        resources = [profile.resource for profile in gpu.profiles.values()]
        assert not repeated(resources)
        assert max(map(len, resources)) <= 63


@pytest.mark.parametrize(
    ("profile", "maxima"),
    [
        ("1g.10gb", {"A100-SXM4-40GB": 4, "A100-SXM4-80GB": 7, "H100-SXM-80GB": 7}),
        ("1g.24gb", {"H100-NVL-94GB": 4, "H20-96GB": 4, "GH200-96GB": 4, "RTX-PRO-6000": 4}),
        ("1g.35gb", {"H200-SXM-141GB": 4, "GB300": 7}),
        ("1g.12gb", {"H100-NVL-94GB": 7, "H20-96GB": 7}),
        ("1g.23gb", {"B200": 7, "GB200": 7}),
    ],
)
def test_one_name_means_another_shape_on_another_board(profile: str, maxima: dict[str, int]) -> None:
    """The maximum of a profile depends on the board: a name alone decides nothing."""
    assert {gpu: CATALOGUE[gpu].profiles[profile].maximum for gpu in maxima} == maxima
    assert set(maxima) <= set(models_with(profile))


def test_the_same_name_has_another_share_of_memory_on_another_board() -> None:
    """A share of memory comes from the shape: 1g.10gb is a quarter of one A100 and an eighth of another."""
    assert CATALOGUE["A100-SXM4-40GB"].profiles["1g.10gb"].memory_share == Fraction(1, 4)
    assert CATALOGUE["A100-SXM4-80GB"].profiles["1g.10gb"].memory_share == Fraction(1, 8)
    assert CATALOGUE["H100-SXM-80GB"].profiles["3g.40gb"].memory_share == Fraction(1, 2)
    assert CATALOGUE["RTX-PRO-6000"].profiles["1g.24gb"].memory_share == Fraction(1, 4)


def test_models_with_an_unknown_profile_are_none() -> None:
    """A name that no board has gives an empty answer."""
    assert models_with("5g.1gb") == ()


def test_product_labels_and_pci_ids_name_one_board() -> None:
    """No product label or PCI device id occurs twice, so each tells the board."""
    assert not repeated([product for gpu in CATALOGUE.values() for product in gpu.products])
    assert not repeated([pci_id for gpu in CATALOGUE.values() for pci_id in gpu.pci_ids])


PCI_IDS = {
    "20B0": "A100-SXM4-40GB",
    "20B1": "A100-PCIE-40GB",
    "20F1": "A100-PCIE-40GB",
    "20BD": "A800-SXM4-40GB",
    "20F6": "A800-PCIE-40GB",
    "20B2": "A100-SXM4-80GB",
    "20B5": "A100-PCIE-80GB",
    "20F3": "A800-SXM4-80GB",
    "20F5": "A800-PCIE-80GB",
    "20B8": "A100X",
    "20B3": "A100-SXM-64GB",
    "20B6": "PG506-96GB",
    "20B7": "A30",
    "20B9": "A30X",
    "2330": "H100-SXM-80GB",
    "2331": "H100-PCIE-80GB",
    "2322": "H800-PCIE-80GB",
    "2324": "H800-SXM-80GB",
    "2337": "H100-SXM-64GB",
    "2321": "H100-NVL-94GB",
    "2339": "H100-SXM-94GB",
    "233A": "H800-NVL-94GB",
    "2338": "H100-96GB",
    "233D": "H100-96GB",
    "2342": "GH200-96GB",
    "2348": "GH200-144GB",
    "2329": "H20-96GB",
    "232C": "H20-141GB",
    "2335": "H200-SXM-141GB",
    "233B": "H200-NVL-141GB",
    "2901": "B200",
    "2941": "GB200",
    "3182": "B300",
    "31C2": "GB300",
    "2BB5": "RTX-PRO-6000",
    "2BB1": "RTX-PRO-6000",
    "2BB4": "RTX-PRO-6000",
    "2C31": "RTX-PRO-4500",
}
"""Of the fact sheet, with the products that NVIDIA's driver 595 and the PCI ID database name for them."""


@pytest.mark.parametrize(("pci_id", "name"), PCI_IDS.items())
def test_every_pci_id_of_a_mig_board_leads_to_it(pci_id: str, name: str) -> None:
    """A rule that labels nodes by PCI device id finds every variant of a board."""
    assert [gpu.name for gpu in CATALOGUE.values() if pci_id in gpu.pci_ids] == [name]


@pytest.mark.parametrize("gpu", CATALOGUE.values(), ids=lambda gpu: gpu.name)
def test_names_of_a_board_can_be_values_in_a_cluster(gpu: Gpu) -> None:
    """Product labels are values of labels, and PCI ids are four digits in upper case."""
    assert all(map(is_label_value, gpu.products))
    assert all(re.fullmatch("[0-9A-F]{4}", pci_id) for pci_id in gpu.pci_ids)


def test_pci_ids_that_two_products_share_tell_neither() -> None:
    """The A2 has the id of the A16, the RTX PRO 5000 that of the board with 72 GB: no rule may go by them."""
    assert [CATALOGUE[name].pci_ids for name in ("A2", "A16", "RTX-PRO-5000")] == [(), (), ()]


@pytest.mark.parametrize("gpu", MIG_GPUS, ids=lambda gpu: gpu.name)
def test_old_names_lead_to_profiles_of_the_board(gpu: Gpu) -> None:
    """What early drivers called a profile is no name of the board today, and its new name is one."""
    assert not gpu.old_names.keys() & gpu.profiles.keys()
    assert set(gpu.old_names.values()) <= gpu.profiles.keys()


def test_boards_that_share_memory_with_the_cpu_are_marked() -> None:
    """Those for which NVIDIA names its coherent memory mode as a conflict with MIG."""
    assert [gpu.name for gpu in CATALOGUE.values() if gpu.coherent] == ["GH200-96GB", "GH200-144GB", "GB200"]


def test_inferred_start_positions_are_marked() -> None:
    """Boards whose starts nobody has listed say so, and those that were listed say that."""
    assert CATALOGUE["H100-SXM-80GB"].certainty is Certainty.LISTED
    assert CATALOGUE["A30"].certainty is Certainty.DOCUMENTED
    assert CATALOGUE["B200"].certainty is Certainty.INFERRED
    assert all(gpu.source for gpu in CATALOGUE.values())


def test_a_custom_gpu_has_its_own_resource_and_no_mig() -> None:
    """Hardware that the catalogue does not know keeps what the user declares, its memory in whole GiB."""
    gpu = custom_gpu("MI300X", 192 * 2**30 + 1, "amd.com/gpu")
    assert (gpu.name, gpu.memory_gib, gpu.resource) == ("MI300X", 192, "amd.com/gpu")
    assert gpu.grid is None
    assert not gpu.profiles
    assert gpu.certainty is Certainty.DECLARED


def test_a_gpu_can_be_a_key() -> None:
    """Boards are hashable values: equal ones are one key."""
    assert len({CATALOGUE["A30"], CATALOGUE["A30"], CATALOGUE["T4"]}) == 2
