"""The sections of the text that say what a change means for those whose own numbers may stay."""

from __future__ import annotations

from typing import Any

from tenancy.compare.diff import Create
from tenancy.compare.reaches import ReachChange
from tenancy.compare.risk import Level, Risk
from tenancy.compare.snapshot import Identity
from tenancy.compare.strengths import StrengthChange
from tenancy.compare.usage import Overrun
from tenancy.compare.views.text import text
from tests.compare.build import GPU, comparison
from tests.compare.support import LANGUAGE, VISION, compared, tree

CHANGES = (Create(Identity("main", "", "Service", "n", "x"), {}),)


def lines(title: str, **parts: Any) -> list[str]:
    """The lines below a title; none where there is no such section."""
    blocks = text(comparison(changes=CHANGES, **parts), objects=False).split("\n\n")
    return next((block.splitlines()[1:] for block in blocks if block.startswith(title)), [])


def over(unit: str, *, certain: bool) -> Overrun:
    return Overrun(cluster="main", unit=unit, flavor="h100", resource=GPU, used=9, quota=4, limit=8, certain=certain)


def strength(unit: str, what: str, *, stronger: bool = False, flavor: str = "") -> StrengthChange:
    return StrengthChange(cluster="main", unit=unit, flavor=flavor, stronger=stronger, what=what)


def test_the_risk_comes_first_with_its_gravest_reasons() -> None:
    """After five of them the rest is counted."""
    reasons = tuple("abcdefgh")
    found = lines("Risk: high", risk=Risk(Level.HIGH, reasons))
    assert found == ["    a", "    b", "    c", "    d", "    e", "    and 3 more"]
    page = text(comparison(changes=CHANGES, first=True, risk=Risk(Level.LOW, ("x",))))
    assert page.startswith("First compile: there is nothing yet to compare with\n\nRisk: low\n    x\n")


def test_who_uses_more_is_told_where_that_is_known() -> None:
    """Who only could is seen in the promises that are cut."""
    assert lines("Over quota", overruns=(over("a/b", certain=True), over("a/c", certain=False))) == [
        "    unit  flavor        uses  quota  limit",
        "  - a/b   h100    GPUs  9     4      8",
    ]
    assert lines("Over quota", overruns=(over("a/c", certain=False),)) == []


def test_reach_is_told_where_the_promises_do_not_show_it() -> None:
    """A limit that is cut is in their table; what others reserve, and what a unit without a quota gets, is not."""
    limit = compared(tree(), tree(**{f"{LANGUAGE}.budget.h100": {"quota": 12, "limit": 16}}))
    assert limit.reaches
    assert "What units can use" not in text(limit)
    reserve = compared(tree(), tree(**{f"{VISION}.budget.h100": {"reserved": 6, "quota": 8}}))
    assert "  - research/language  h100    GPUs  32 → 26  -6\n" in text(reserve)
    come = compared(tree(), tree(**{"departments.research.teams.speech": {"budget": {"h100": {"limit": 4}}}}))
    assert "  + research/speech  h100    GPUs  – → 4  +4\n" in text(come)  # noqa: RUF001


def test_what_goes_or_gets_another_name_has_no_reach_to_be_told() -> None:
    """That it goes is said above."""
    renamed = tree(**{LANGUAGE: None, "departments.research.teams.speech": {"budget": {"h100": 12}}})
    for new in (renamed, tree(**{LANGUAGE: None})):
        assert "What units can use" not in text(compared(tree(), new))


def test_the_same_words_of_several_units_are_one_line() -> None:
    """Weaker ones first, as the comparison has them; the organization has a name as well."""
    found = (
        strength("a", "x"),
        strength("b", "x"),
        strength("", "y"),
        strength("a", "z", stronger=True, flavor="h100"),
    )
    assert lines("Promises that others", strengths=found) == [
        "  - a, b: x",
        "  - the organization: y",
        "  + a on h100: z",
    ]


def test_a_section_ends_where_nobody_reads_on() -> None:
    """Of a thousand units twenty are shown."""
    weaker = tuple(strength(f"u{index}", f"w{index}") for index in range(30))
    assert lines("Promises that others", strengths=weaker)[20:] == ["    and 10 more: `--format json` has all"]
    reached = tuple(
        ReachChange(cluster="main", unit=f"u{index}", flavor="h100", resource=GPU, before=9, after=8)
        for index in range(30)
    )
    found = lines("What units can use", reaches=reached)
    assert len(found) == 22
    assert found[-1] == "    and 10 more: `--format json` has all"


def test_long_words_are_wrapped_and_names_drive_no_terminal() -> None:
    """Every line stays within the width, and what came from outside stays visible."""
    page = text(comparison(changes=CHANGES, strengths=(strength("a\x1b[2J", "word " * 40),)), width=60)
    assert "\x1b" not in page
    assert "a\\x1b[2J: word" in page
    assert max(map(len, page.splitlines())) <= 64
