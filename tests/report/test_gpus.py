"""The text and the JSON of the GPU catalogue, of one board and of a layout on it."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from tenancy.model.gpus import CATALOGUE, custom_gpu
from tenancy.report.gpus import catalogue_json, catalogue_text, fit_json, fit_text, gpu_json, gpu_text


def test_the_catalogue_is_an_aligned_table() -> None:
    """A board takes one line: key, memory, the most of each plain profile, product labels; a dash for none."""
    boards = [CATALOGUE["A30"], CATALOGUE["A30X"], CATALOGUE["T4"], custom_gpu("MI300X", 192 << 30, "amd.com/gpu")]
    assert catalogue_text(boards) == dedent("""\
        GPU     FAMILY  MEMORY   MIG PROFILES (MOST PER GPU)           CERTAINTY   NVIDIA.COM/GPU.PRODUCT
        A30     Ampere  24 GiB   4 x 1g.6gb, 2 x 2g.12gb, 1 x 4g.24gb  documented  NVIDIA-A30
        A30X    Ampere  24 GiB   4 x 1g.6gb, 2 x 2g.12gb, 1 x 4g.24gb  inferred    NVIDIA-A30X
        T4      Turing  16 GiB   -                                     -           Tesla-T4
        MI300X  -       192 GiB  -                                     -           -

        documented: from NVIDIA's documents
        inferred: names or counts documented, start positions carried over from a like board
        """)


def test_a_catalogue_without_mig_needs_no_explanation() -> None:
    """Certainty is about MIG: where no board has it, nothing follows the table."""
    assert catalogue_text([CATALOGUE["T4"]]).splitlines()[-1].startswith("T4 ")


def test_the_whole_catalogue_is_plain_text() -> None:
    """Every board has its line, nothing but printable ASCII, and no blank at the end of a line."""
    lines = catalogue_text(CATALOGUE.values()).splitlines()
    assert [line.split()[0] for line in lines[1 : len(CATALOGUE) + 1]] == list(CATALOGUE)
    assert all(line.isascii() and line.isprintable() and line == line.rstrip() for line in lines)


def test_a_board_shows_its_profiles_with_resource_names() -> None:
    """The text of a board has its facts and a table of profiles: memory, compute, maximum, starts, resource."""
    assert gpu_text(CATALOGUE["A30"]) == dedent("""\
        A30
          memory     24 GiB nominal
          resource   nvidia.com/gpu
          family     Ampere
          product    NVIDIA-A30
          PCI ids    20B7
          MIG        4 memory units, 4 compute slices
          certainty  documented
          source     MIG user guide r580, counts corrected as in mig-parted

          PROFILE     MEMORY UNITS  COMPUTE SLICES  MAX PER GPU  STARTS   RESOURCE
          1g.6gb      1             1               4            0 1 2 3  nvidia.com/mig-1g.6gb
          1g.6gb+me   1             1               1            0 1 2 3  nvidia.com/mig-1g.6gb.me
          2g.12gb     2             2               2            0 2      nvidia.com/mig-2g.12gb
          2g.12gb+me  2             2               1            0 2      nvidia.com/mig-2g.12gb.me
          4g.24gb     4             4               1            0        nvidia.com/mig-4g.24gb
        """)


def test_a_board_shows_what_early_drivers_called_its_profiles() -> None:
    """Who meets the old name on a node finds the one to write."""
    assert "  old names  3g.39gb (now 3g.40gb), 7g.79gb (now 7g.80gb)\n" in gpu_text(CATALOGUE["A100-SXM4-80GB"])


def test_a_board_without_mig_says_so_and_shows_no_profiles() -> None:
    """Facts that are not known are left out rather than shown empty."""
    assert gpu_text(custom_gpu("MI300X", 192 << 30, "amd.com/gpu")) == dedent("""\
        MI300X
          memory     192 GiB nominal
          resource   amd.com/gpu
          MIG        no
          certainty  declared
          source     declared in the organization
        """)


def test_a_layout_that_fits_is_drawn_on_the_line_of_memory_units() -> None:
    """Each instance is a box as wide as its memory, over the numbers of the units."""
    text, fits = fit_text(CATALOGUE["A100-SXM4-80GB"], {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2})
    assert fits
    assert text == dedent("""\
        A100-SXM4-80GB: 3g.40gb + 2g.20gb + 2 x 1g.10gb fits

          +-------+-------+---------------+-------------------------------+
          |1g.10gb|1g.10gb|2g.20gb        |3g.40gb                        |
          +-------+-------+---------------+-------------------------------+
           0       1       2       3       4       5       6       7

          idle: 0 of 8 memory units, 0 of 7 compute slices
          room for one more: nothing
          geometry: nvidia-smi listing of this board (listed)
        """)


def test_idle_units_are_dots_and_what_still_fits_is_named() -> None:
    """Memory that nobody owns is visible, with the plain profiles that could take it."""
    text, fits = fit_text(CATALOGUE["A30"], {"2g.12gb": 1, "4g.24gb": 0})
    assert fits
    assert text == dedent("""\
        A30: 2g.12gb fits

          +---+---+-------+
          |...|...|2g.12gb|
          +---+---+-------+
           0   1   2   3

          idle: 2 of 4 memory units, 2 of 4 compute slices
          room for one more: 1g.6gb, 2g.12gb
          geometry: MIG user guide r580, counts corrected as in mig-parted (documented)
        """)


def fitted(board: str, layout: dict[str, int]) -> str:
    """What follows the drawing of a layout."""
    text, fits = fit_text(CATALOGUE[board], layout)
    assert fits
    return text[text.index("  idle:") :]


@pytest.mark.parametrize(
    ("layout", "slices"),
    [({"3g.40gb": 2}, "1 compute slice stays idle"), ({"1g.20gb": 4}, "3 compute slices stay idle")],
)
def test_compute_that_no_memory_is_left_for_is_a_warning(layout: dict[str, int], slices: str) -> None:
    """Two 3g fill the memory with 6 of 7 compute slices: what is lost is said, not only counted."""
    warning = f"  warning: {slices}, because no profile can start in the memory that is left\n"
    assert warning in fitted("H100-SXM-80GB", layout)


def test_memory_that_no_compute_is_left_for_is_a_note() -> None:
    """The last memory slice has no compute slice of its own: it is named, and it is no fault of the layout."""
    shown = fitted("H100-SXM-80GB", {"4g.40gb": 1, "2g.20gb": 1, "1g.10gb": 1})
    assert "  note: memory unit 7 stays idle: all compute is taken\n" in shown


@pytest.mark.parametrize(
    ("board", "layout"),
    [
        ("H100-SXM-80GB", {"3g.40gb": 1}),
        ("H100-SXM-80GB", {"4g.40gb": 1, "3g.40gb": 1}),
        ("RTX-PRO-6000", {"2g.48gb": 2}),
    ],
)
def test_nothing_is_lost_where_more_fits_or_all_is_used(board: str, layout: dict[str, int]) -> None:
    """Idle units that another instance may take are counted only."""
    shown = fitted(board, layout)
    assert "warning:" not in shown
    assert "note:" not in shown


def test_the_json_of_the_catalogue_says_what_its_text_says() -> None:
    """Scripts get every board with its names, ids and profiles under a version."""
    shown = json.loads(catalogue_json(CATALOGUE.values()))
    assert shown["version"] == 1
    assert [gpu["name"] for gpu in shown["gpus"]] == list(CATALOGUE)
    assert [gpu["name"] for gpu in shown["gpus"] if gpu["mig"]] == [gpu.name for gpu in CATALOGUE.values() if gpu.grid]


def test_the_json_of_a_board_has_all_that_is_known() -> None:
    """Numbers are numbers, lists are lists, and a board without MIG has null."""
    shown = json.loads(gpu_json(CATALOGUE["GB200"]))["gpu"]
    assert {key: shown[key] for key in ("family", "memoryGiB", "resource", "products", "pciIds", "certainty")} == {
        "family": "Blackwell",
        "memoryGiB": 186,
        "resource": "nvidia.com/gpu",
        "products": ["NVIDIA-GB200"],
        "pciIds": ["2941"],
        "certainty": "inferred",
    }
    assert (shown["mig"]["memoryUnits"], shown["mig"]["computeSlices"]) == (8, 7)
    assert shown["mig"]["oldNames"]["3g.95gb"] == "3g.93gb"
    assert shown["mig"]["profiles"][1] == {
        "name": "1g.23gb+me",
        "resource": "nvidia.com/mig-1g.23gb.me",
        "memoryUnits": 1,
        "computeSlices": 1,
        "maximum": 1,
        "starts": [0, 1, 2, 3, 4, 5, 6],
    }
    assert json.loads(gpu_json(CATALOGUE["T4"]))["gpu"]["mig"] is None


def test_the_json_of_a_layout_has_its_placement() -> None:
    """Where each instance starts, what stays idle and what still fits."""
    text, fits = fit_json(CATALOGUE["A30"], {"2g.12gb": 1, "1g.6gb": 1})
    assert fits
    assert json.loads(text) == {
        "version": 1,
        "gpu": "A30",
        "layout": {"2g.12gb": 1, "1g.6gb": 1},
        "fits": True,
        "instances": [
            {"profile": "1g.6gb", "start": 0, "memoryUnits": 1},
            {"profile": "2g.12gb", "start": 2, "memoryUnits": 2},
        ],
        "idleMemoryUnits": 1,
        "idleComputeSlices": 1,
        "roomForOneMore": ["1g.6gb", "1g.6gb+me"],
        "certainty": "documented",
    }


def test_the_json_of_a_layout_that_does_not_fit_has_the_refusal() -> None:
    """The law that it breaks has a name that scripts can look for, beside the words for people."""
    text, fits = fit_json(CATALOGUE["A30"], {"4g.24gb": 2})
    assert not fits
    assert json.loads(text) == {
        "version": 1,
        "gpu": "A30",
        "layout": {"4g.24gb": 2},
        "fits": False,
        "refusal": {
            "kind": "over-maximum",
            "profile": "4g.24gb",
            "reason": "`4g.24gb: 2`, but `A30` holds at most 1",
            "help": "write at most 1",
        },
    }


def test_a_layout_that_does_not_fit_says_why_and_what_to_do() -> None:
    """The refusal's reason and help follow the layout, and the answer is no."""
    assert fit_text(CATALOGUE["H100-SXM-80GB"], {"3g.40gb": 2, "1g.10gb": 1}) == (
        dedent("""\
            H100-SXM-80GB: 2 x 3g.40gb + 1g.10gb does not fit
              the layout needs 9 memory units, but `H100-SXM-80GB` has 8
              take fewer or smaller instances: 1 x 1 (`1g.10gb`) + 2 x 4 (`3g.40gb`) = 9, at most 8
            """),
        False,
    )


def test_an_empty_layout_does_not_fit() -> None:
    """A layout without instances has nothing to draw and is refused in words."""
    text, fits = fit_text(CATALOGUE["A30"], {"1g.6gb": 0})
    assert not fits
    assert text.startswith("A30: an empty layout does not fit\n  the layout holds no instance\n")
