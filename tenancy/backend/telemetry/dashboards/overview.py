"""The dashboard of a cluster as a whole: what there is, who uses it, whose jobs wait, and the API server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.telemetry.dashboards import server
from tenancy.backend.telemetry.dashboards.grafana import GREEN, RED, Line, Panel, chart, number, row
from tenancy.backend.telemetry.dashboards.grid import Section, Strip
from tenancy.backend.telemetry.dashboards.measures import CHOSEN, Kind, Measured
from tenancy.backend.telemetry.dashboards.parts import LONG, NO_WAITS, VERY_LONG, Use, capacity, evictions, units
from tenancy.backend.telemetry.names import (
    DEPARTMENT_BORROWED,
    DEPARTMENT_QUOTA,
    DEPARTMENT_USED,
    DEPARTMENT_WAIT_P90,
    EVICTIONS,
    FLAVOR_CAPACITY,
    FLAVOR_PROMISED,
    FLAVOR_USED,
    INACTIVE,
    PENDING,
    QUEUE_STOPPED,
)

MOST_KINDS: Final = 24
"""Charts that one looks over; where there are more kinds, the chosen one alone is shown."""

OF_FLAVOR: Final = Use(FLAVOR_USED, FLAVOR_PROMISED, DEPARTMENT_BORROWED, FLAVOR_CAPACITY)
OF_DEPARTMENT: Final = Use(DEPARTMENT_USED, DEPARTMENT_QUOTA, DEPARTMENT_BORROWED)


def sections(
    says: Measured, kinds: Sequence[Kind], departments: Sequence[str], levels: Sequence[str], link: str
) -> Iterator[Section]:
    """The overview. `levels`: the departments with a priority level; `link`: from a department's name to its board."""
    if says.pending:
        yield Section(None, (Strip("now", 4, tuple(_now(says))),))
    shown = kinds if len(kinds) <= MOST_KINDS else (CHOSEN,)
    yield Section(row("What there is"), tuple(_capacity(says, shown)))
    yield Section(row("Departments"), tuple(_departments(says, departments, link)))
    if levels:
        yield Section(row("API server"), (Strip("server", 8, tuple(server.panels(levels))),))


def _now(says: Measured) -> Iterator[Panel]:
    yield number(
        "Jobs that wait",
        "Jobs that no queue has admitted yet; the table of departments says whose.",
        f"sum({PENDING})",
    )
    if says.waits:
        yield number(
            "Longest wait of a department",
            "Nine in ten of the jobs that were admitted in the hour before waited less, in the department where it is "
            "worst; above an hour its quota is too small or lent out.",
            f"max({DEPARTMENT_WAIT_P90}) or vector(0)",
            "s",
            (LONG, VERY_LONG),
        )
    if says.evictions:
        yield number(
            "Evictions an hour",
            "Jobs that were stopped in the hour before; each goes on from its last checkpoint, if it has one.",
            f"sum({EVICTIONS}) * 3600 or vector(0)",
        )
    if says.inactive:
        yield number(
            "Queues that do not work",
            "Queues that admit nothing though nobody stopped them; the table says of which department, and the "
            "conditions of the queue say why.",
            f"count({INACTIVE} == 1 unless on (queue) {QUEUE_STOPPED}) or vector(0)",
            steps=((0, GREEN), (1, RED)),
        )


def _capacity(says: Measured, kinds: Sequence[Kind]) -> Iterator[Strip]:
    for start in range(0, len(kinds), 2):
        pair = kinds[start : start + 2]
        yield Strip(pair[0].selector, 8, tuple(capacity(says, kind, OF_FLAVOR) for kind in pair))


def _departments(says: Measured, departments: Sequence[str], link: str) -> Iterator[Strip]:
    every = units(
        *(says, "Departments", "department"), use=OF_DEPARTMENT, kind=CHOSEN, wait=DEPARTMENT_WAIT_P90, link=link
    )
    yield Strip("table", 10, (every,))
    course = [_waits(departments)] if says.waits else []
    course += [evictions("Evictions an hour")] if says.evictions else []
    if course:
        yield Strip("course", 8, tuple(course))


def _waits(departments: Sequence[str]) -> Panel:
    return chart(
        "Wait of nine in ten jobs",
        "So long at most did nine in ten of a department's jobs wait that were admitted in the hour before; a line "
        "that rises means more work than quota, or quota that is lent out.",
        [Line("{{department}}", DEPARTMENT_WAIT_P90)],
        "s",
        names=departments,
        empty=NO_WAITS,
    )
