"""Workflow commands: their escapes and their limits."""

from __future__ import annotations

from tenancy.diagnostics import Place
from tenancy.report.github import github

from .build import IDLE, QUOTA, SPARE, finding, place, report


def test_command() -> None:
    """A finding is one command with its span, its title and its help on a line of its own."""
    assert github(report(finding(place(3, 9, 11, file="./org/org.yaml"), "too much", help="less"))) == (
        "::error file=org/org.yaml,line=3,endLine=3,col=9,endColumn=11,"
        "title=budget.sum%3A Children get more than the unit has::too much%0Aless\n"
    )


def test_escapes() -> None:
    """Percent, CR and LF are escaped everywhere, colon and comma in properties, and a terminal's controls are shown."""
    command = github(report(finding(place(1, 1, 2, file="a:b,c%\r\n.yaml"), "50%: a,b\r\n::error::x\x1b[1m%0A")))
    assert command.startswith("::error file=a%3Ab%2Cc%25%0D%0A.yaml,line=1,")
    assert command.endswith("::50%25: a,b%0D%0A::error::x\\x1b[1m%250A\n")
    assert command.count("\n") == 1


def test_span_over_several_lines_has_no_columns() -> None:
    """Columns are left out where a span ends on another line, as annotations have columns only within one line."""
    command = github(report(finding(Place("org.yaml", 1, 4, 3, 4))))
    assert command.startswith("::error file=org.yaml,line=1,endLine=3,title=")


def test_worst_first_and_nothing_hidden_at_the_limit() -> None:
    """Ten of each severity are all shown, errors first, in file order inside a severity."""
    rules = (SPARE, IDLE, QUOTA)
    found = [finding(place(line, 1, 2), rule=rule) for line in range(1, 11) for rule in rules]
    lines = github(report(*found)).splitlines()
    assert [line.split()[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 10 + ["::notice"] * 10
    assert [line.split(",")[1] for line in lines[:10]] == [f"line={line}" for line in range(1, 11)]


def test_limit() -> None:
    """What is left out is counted in a notice, which itself keeps within the ten notices."""
    errors = [finding(place(line, 1, 2)) for line in range(1, 13)]
    notes = [finding(place(line, 1, 2), rule=SPARE) for line in range(1, 11)]
    lines = github(report(*errors, *notes)).splitlines()
    assert [line.split()[0] for line in lines] == ["::error"] * 10 + ["::notice"] * 10
    assert lines[-1] == "::notice title=tenancy::and 3 more findings"
    assert github(report(*errors[:11])).splitlines()[-1] == "::notice title=tenancy::and 1 more finding"


def test_empty_report() -> None:
    """Nothing found writes no command."""
    assert github(report()) == ""
