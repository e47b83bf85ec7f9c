"""Promises and what becomes of them, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from textwrap import dedent

import pytest

from tenancy.report.parity import Code, Line, text
from tenancy.report.parity import json as json_view

QUOTA = Line(
    cluster="train",
    scheduler="volcano",
    unit="research/vision",
    promise="quota",
    flavor="h100",
    said="it owns 24 GPUs",
    fate="kept",
    becomes="",
    loss="",
    accepted=False,
    path=("departments", "research", "teams", "vision", "budget", "h100", "quota"),
)
RESERVED = replace(
    QUOTA,
    promise="reserved",
    said="it never lends 8 GPUs",
    fate="lost",
    becomes="two borrowers together use that up",
    loss="reserve-lent-out",
)
GANG = replace(
    QUOTA, unit="", flavor="", promise="gang", said="pods start together", fate="differently", becomes="never timed"
)
STATE = replace(
    RESERVED, flavor="", promise="state", said="nothing starts", becomes="what waited does", loss="held", accepted=True
)
CODES = [
    Code(code="held", severity="warning", title="A held unit whose waiting jobs start"),
    Code(code="reserve-lent-out", severity="error", title="A reserve that is lent out"),
]


def test_the_whole_text() -> None:
    """Counts, losses with how to accept those that are left, then unit by unit, the organization under its name."""
    assert text([GANG, RESERVED, QUOTA, STATE], CODES, "acme", 120) == dedent("""\
        train (volcano): 4 promises, 1 kept, 1 kept differently, 2 lost

        LOSS                        PROMISES
        reserve-lent-out  error     1         A reserve that is lent out
        held              accepted  1         A held unit whose waiting jobs start
        To accept them all: `accept: [held, reserve-lent-out]` in cluster `train`.

        acme
          differently  gang            pods start together → never timed

        research/vision
          lost         reserved  h100  it never lends 8 GPUs → two borrowers together use that up (reserve-lent-out)
          kept         quota     h100  it owns 24 GPUs
          lost         state           nothing starts → what waited does (held, accepted)
        """)


def test_losses_alone() -> None:
    """What is kept is left out, and a unit that keeps all with it; it is still counted."""
    shown = text([QUOTA, replace(RESERVED, unit="research/nlp")], CODES, "acme", all_=False)
    assert "2 promises, 1 kept" in shown
    assert "research/vision" not in shown
    assert "research/nlp" in shown


def test_nothing_is_said_of_losses_where_there_are_none() -> None:
    """Neither a table nor a list to accept; nor units, where only losses are asked for."""
    assert text([QUOTA], CODES, "acme", all_=False) == (
        "train (volcano): 1 promise, 1 kept, 0 kept differently, 0 lost\n"
    )


def test_what_is_accepted_is_not_offered_again() -> None:
    """Where all is accepted there is nothing to write."""
    assert "To accept" not in text([STATE], CODES, "acme")


def test_clusters_are_blocks() -> None:
    """Each with its own scheduler and counts."""
    shown = text([QUOTA, replace(QUOTA, cluster="serve", scheduler="kueue")], CODES, "acme")
    assert [line for line in shown.splitlines() if "promise" in line] == [
        "train (volcano): 1 promise, 1 kept, 0 kept differently, 0 lost",
        "serve (kueue): 1 promise, 1 kept, 0 kept differently, 0 lost",
    ]


@pytest.mark.parametrize("width", [72, 80, 100, 120])
def test_lines_fit_the_terminal(width: int) -> None:
    """The last column is wrapped, later lines stand under its first, and no line ends in blanks."""
    long = replace(RESERVED, said="it never lends " + "many " * 60, unit="研究/視覚")
    lines = text([GANG, long, QUOTA], CODES, "acme", width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert [line for line in lines if line != line.rstrip()] == []
    column = next(line.index("it never") for line in lines if "it never" in line)
    wrapped = [line for line in lines if line.strip().startswith("many")]
    assert wrapped
    assert {line[:column] for line in wrapped} == {" " * column}


def test_json_is_a_list_with_stable_keys() -> None:
    """An object for each promise; a loss that is none is null."""
    data = json.loads(json_view([QUOTA, RESERVED]))
    assert [set(each) for each in data] == [
        {
            "cluster",
            "scheduler",
            "unit",
            "promise",
            "flavor",
            "said",
            "fate",
            "becomes",
            "loss",
            "accepted",
            "path",
        }
    ] * 2
    assert [(each["promise"], each["fate"], each["loss"]) for each in data] == [
        ("quota", "kept", None),
        ("reserved", "lost", "reserve-lent-out"),
    ]
    assert data[0]["path"][-1] == "quota"
    assert json_view([QUOTA]).isascii()
