"""The view for people: golden pages, and what must never reach a terminal."""

from __future__ import annotations

import time
from textwrap import dedent

import pytest

from tenancy.diagnostics import Place, Related
from tenancy.report.report import Counts
from tenancy.report.terminal import cells
from tenancy.report.text import COLOUR_CODE, summary, text

from .build import IDLE, SPARE, finding, place, report, sources


def _source(at: Place, org: str, width: int = 100) -> list[str]:
    """The numbered line and its underline, of a page with one finding."""
    page = text(report(finding(at), of=sources(org=org)), width=width).splitlines()
    return page[3:5]


def test_page_with_related_places_in_other_files() -> None:
    """A page shows head, place, source line, each related place with label and line, why, help, link and summary."""
    of = sources(org="name: acme\nbudget:\n  h100: 64\n", vision="\n" * 9 + "h100: {quota: 40}\n", speech="h100: 32\n")
    related = (
        Related("40 of them go here", place(10, 15, 17, file="vision.yaml")),
        Related("32 of them go here", place(1, 7, 9, file="speech.yaml")),
        Related("and a file that was not read", place(7, 1, 2, file="other.yaml")),
    )
    first = finding(
        place(3, 9, 11),
        "the teams of research get 72 GPUs of h100, the unit has 64",
        related=related,
        help="raise the budget of research to 72:\n  h100: 72\nor give less to one team of it",
    )
    second = finding(place(1, 1, 5), "acme is idle", rule=IDLE)
    assert text(report(first, second, of=of, silenced=1), width=60) == dedent("""\
        error[budget.sum]: the teams of research get 72 GPUs of h100, the unit has 64
          --> org.yaml:3:9
           |
         3 |   h100: 64
           |         ^^
          ::: vision.yaml:10:15: 40 of them go here
           |
        10 | h100: {quota: 40}
           |               --
          ::: speech.yaml:1:7: 32 of them go here
           |
         1 | h100: 32
           |       --
          ::: other.yaml:7:1: and a file that was not read
           = why: Two teams are promised the same GPU.
           = help: raise the budget of research to 72:
                     h100: 72
                   or give less to one team of it
           = docs: docs/checks.md#budget.sum

        warning[budget.idle]: acme is idle
         --> org.yaml:1:1
          |
        1 | name: acme
          | ^^^^
          = why: Idle GPUs cost as much as busy ones.
          = docs: docs/checks.md#budget.idle

        1 error, 1 warning, 1 silenced by comments
        """)


def test_wide_and_combining_characters() -> None:
    """Carets stand under the characters as a terminal draws them: two cells for wide ones, none for combining ones."""
    line = "team: 研究所 cafe\u0301: 12"
    assert _source(place(1, 7, 10), line) == ["1 | " + line, "  |       ^^^^^^"]
    assert _source(place(1, 11, 16), line) == ["1 | " + line, "  |              ^^^^"]
    assert _source(place(1, 18, 20), line) == ["1 | " + line, "  | " + " " * 19 + "^^"]


def test_tabs() -> None:
    """A tab is drawn, and underlined, as four spaces."""
    assert _source(place(1, 1, 2), "\tkey:\t1") == ["1 |     key:    1", "  | ^^^^"]
    assert _source(place(1, 7, 8), "\tkey:\t1") == ["1 |     key:    1", "  |             ^"]


@pytest.mark.parametrize(
    ("column", "expected", "carets"),
    [
        (1, "BAD" + "x" * 31 + "…", "^^^"),
        (101, "…" + "x" * 15 + "BAD" + "y" * 16 + "…", " " * 16 + "^^^"),
        (201, "…" + "y" * 31 + "BAD", " " * 32 + "^^^"),
    ],
)
def test_long_line_is_cut_around_the_span(column: int, expected: str, carets: str) -> None:
    """A line longer than the width is cut on the sides that are far from the span; the ellipses count as cells."""
    line = {1: "BAD" + "x" * 200, 101: "x" * 100 + "BAD" + "y" * 100, 201: "y" * 200 + "BAD"}[column]
    shown, marks = _source(place(1, column, column + 3), line, width=40)
    assert shown == "1 | " + expected
    assert marks == "  | " + carets


def test_long_span_is_cut_itself() -> None:
    """A span wider than the line's room is underlined as far as it is shown."""
    shown, marks = _source(place(1, 4, 200), "k: " + "v" * 197, width=40)
    assert shown == "1 | …" + "v" * 34 + "…"
    assert marks == "  |  " + "^" * 34


@pytest.mark.parametrize("column", [1, 2, 3, 57, 58, 59, 117, 118])
def test_cut_line_of_wide_characters_stays_within_the_width(column: int) -> None:
    """No cut line is wider than the terminal, and no cut begins with a mark that would join the ellipsis."""
    shown, marks = _source(place(1, column, column + 1), "研e\u0301" * 39 + "x", width=40)
    assert cells(shown) <= 40
    assert cells(marks) <= 40
    assert "…\u0301" not in shown


@pytest.mark.parametrize("end", ["", "\n"])
def test_last_line_with_and_without_a_newline(end: str) -> None:
    """The last line is shown whether or not a line end follows it."""
    assert _source(place(2, 4, 5), "a: 1\nb: 2" + end) == ["2 | b: 2", "  |    ^"]


def test_place_at_the_end_of_a_file() -> None:
    """Behind the last character and on the line after the last one there is still one caret."""
    assert _source(place(1, 5, 5), "a: [") == ["1 | a: [", "  |     ^"]
    assert _source(place(2, 1, 1), "a: [\n") == ["2 |", "  | ^"]


def test_place_in_an_empty_file() -> None:
    """An empty file has an empty first line to point at."""
    assert _source(place(1, 1, 1), "") == ["1 |", "  | ^"]


def test_place_outside_the_file_or_without_sources() -> None:
    """A place without a source line is named, and nothing is drawn under it."""
    expected = (
        "error[budget.sum]: too much\n --> org.yaml:9:1\n  = why: Two teams are promised the same GPU.\n"
        "  = docs: docs/checks.md#budget.sum\n\n1 error\n"
    )
    found = finding(place(9, 1, 2))
    assert text(report(found, of=sources(org="a: 1\n"))) == expected
    assert text(report(found)) == expected


def test_column_behind_the_end_of_the_line() -> None:
    """A column that the line does not have is drawn at the end of the line."""
    assert _source(place(1, 50, 60), "a: 1") == ["1 | a: 1", "  |     ^"]


def test_span_over_several_lines() -> None:
    """A long span is underlined on its first line and says where it ends, if not at its line end."""
    assert _source(Place("org.yaml", 1, 4, 3, 4), "a: |\n  x\n  y\n") == ["1 | a: |", "  |    ^ … to line 3"]
    assert _source(Place("org.yaml", 1, 4, 2, 1), "a: |\n") == ["1 | a: |", "  |    ^"]


def test_byte_order_mark_is_no_column() -> None:
    """A byte order mark is neither shown nor counted."""
    assert _source(place(1, 1, 2), "\ufeffa: 1") == ["1 | a: 1", "  | ^"]


def test_control_characters_are_never_written_raw() -> None:
    """Names and source lines cannot move the cursor, colour the page, reorder text or forge a diagnostic."""
    evil = "x\x1b[2J\x9b1m\r\nerror[forged]: \u202eno\ud800"
    at = place(1, 1, 4, file=f"{evil}.yaml")
    found = finding(at, f"no team {evil}", related=(Related(evil, at),), help=f"drop {evil}")
    page = text(report(found, of=sources(**{evil: "a\x1b[31m: 1\u2066\x07"})))
    assert not set(page) & set("\x1b\x9b\r\u202e\u2066\x07\ud800")
    assert not any(line.startswith("error[forged]") for line in page.splitlines())
    assert page.splitlines()[0] == (r"error[budget.sum]: no team x\x1b[2J\x9b1m\r\nerror[forged]: \u202eno\ud800")
    assert page.splitlines()[3:5] == [r"1 | a\x1b[31m: 1\u2066\x07", "  | ^^^^^^"]


def test_why_and_help_are_wrapped() -> None:
    """Long explanations are broken at spaces within the width, under their own first word."""
    page = text(report(finding(place(1, 1, 2), help="say how many GPUs the team gets " * 4)), width=60)
    assert page.splitlines()[3:7] == [
        "  = help: say how many GPUs the team gets say how many GPUs",
        "          the team gets say how many GPUs the team gets say",
        "          how many GPUs the team gets",
        "  = docs: docs/checks.md#budget.sum",
    ]


def test_colour_changes_nothing_but_colour() -> None:
    """Without the colour codes a coloured page is the plain one, and the severity has its own colour."""
    of = sources(org="a: 1\n")
    found = report(finding(place(1, 4, 5)), finding(place(1, 1, 2), rule=SPARE), of=of)
    coloured = text(found, colour=True)
    assert COLOUR_CODE.sub("", coloured) == text(found)
    assert "\x1b[1;31merror[budget.sum]\x1b[0m" in coloured
    assert "\x1b[1;36mnote[flavor.spare]\x1b[0m" in coloured
    assert "\x1b[1;31m^\x1b[0m" in coloured


def test_docs_base_makes_links_absolute() -> None:
    """The link starts with the address under which the documentation is published."""
    page = text(report(finding(place(1, 1, 2)), docs_base="https://docs.example/tenancy/"))
    assert "= docs: https://docs.example/tenancy/docs/checks.md#budget.sum\n" in page


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (Counts(0, 0, 0, 0), "no findings"),
        (Counts(0, 0, 0, 2), "no findings, 2 silenced by comments"),
        (Counts(1, 2, 1, 0), "1 error, 2 warnings, 1 note"),
        (Counts(2, 1, 0, 1), "2 errors, 1 warning, 1 silenced by comments"),
    ],
)
def test_summary(counts: Counts, expected: str) -> None:
    """The summary names what there is, in the right number."""
    assert summary(counts) == expected


def test_empty_report() -> None:
    """A report without findings is one line."""
    assert text(report()) == "no findings\n"


def test_ten_thousand_diagnostics_are_quick() -> None:
    """Time does not grow with diagnostics times file size: 10,000 in a file of 10,000 lines take under two seconds."""
    of = sources(org="team: 研究所\n" * 10_000)
    many = report(*(finding(place(line, 7, 10), help="less " * 30) for line in range(1, 10_001)), of=of)
    start = time.process_time()
    text(many)
    assert time.process_time() - start < 2
