"""The text of the GPU catalogue, of one board and of a layout on it."""

from __future__ import annotations

from textwrap import dedent

from tenancy.model.gpus import CATALOGUE, custom_gpu
from tenancy.report.gpus import catalogue_text, fit_text, gpu_text


def test_the_catalogue_is_an_aligned_table() -> None:
    """A board takes one line: key, memory, the most of each plain profile, product labels; a dash for none."""
    boards = [CATALOGUE["A30"], CATALOGUE["T4"], custom_gpu("MI300X", 192 << 30, "amd.com/gpu")]
    assert catalogue_text(boards) == dedent("""\
        GPU     MEMORY   MIG PROFILES (MOST PER GPU)           NVIDIA.COM/GPU.PRODUCT
        A30     24 GiB   4 x 1g.6gb, 2 x 2g.12gb, 1 x 4g.24gb  NVIDIA-A30
        T4      16 GiB   -                                     Tesla-T4
        MI300X  192 GiB  -                                     -
        """)


def test_the_whole_catalogue_is_plain_text() -> None:
    """Every board has its line, nothing but printable ASCII, and no blank at the end of a line."""
    text = catalogue_text(CATALOGUE.values())
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(CATALOGUE)
    assert all(line.isascii() and line.isprintable() and line == line.rstrip() for line in lines)


def test_a_board_shows_its_profiles_with_resource_names() -> None:
    """The text of a board has its facts and a table of profiles: memory, compute, maximum, starts, resource."""
    assert gpu_text(CATALOGUE["A30"]) == dedent("""\
        A30
          memory    24 GiB nominal
          resource  nvidia.com/gpu
          family    Ampere
          product   NVIDIA-A30
          PCI ids   20B7
          MIG       4 memory units, 4 compute slices
          source    MIG user guide r580, counts corrected as in mig-parted (documented)

          PROFILE     MEMORY UNITS  COMPUTE SLICES  MAX PER GPU  STARTS   RESOURCE
          1g.6gb      1             1               4            0 1 2 3  nvidia.com/mig-1g.6gb
          1g.6gb+me   1             1               1            0 1 2 3  nvidia.com/mig-1g.6gb.me
          2g.12gb     2             2               2            0 2      nvidia.com/mig-2g.12gb
          2g.12gb+me  2             2               1            0 2      nvidia.com/mig-2g.12gb.me
          4g.24gb     4             4               1            0        nvidia.com/mig-4g.24gb
        """)


def test_a_board_without_mig_says_so_and_shows_no_profiles() -> None:
    """Facts that are not known are left out rather than shown empty."""
    assert gpu_text(custom_gpu("MI300X", 192 << 30, "amd.com/gpu")) == dedent("""\
        MI300X
          memory    192 GiB nominal
          resource  amd.com/gpu
          MIG       no
          source    declared in the organization (declared)
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
