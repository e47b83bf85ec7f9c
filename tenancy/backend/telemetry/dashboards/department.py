"""The dashboard of a department at the top level: its units in the order and nesting of the tree.

A large department has one set of panels, for the units that are chosen: its size does not grow with the department,
and a browser does not draw a thousand charts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tenancy.backend.telemetry.dashboards.grafana import found, row
from tenancy.backend.telemetry.dashboards.grid import Section, Strip
from tenancy.backend.telemetry.dashboards.measures import CHOSEN, Measured
from tenancy.backend.telemetry.dashboards.parts import Use, course, shares, units, usage
from tenancy.backend.telemetry.names import (
    BORROWED,
    DEPARTMENT_BORROWED,
    DEPARTMENT_QUOTA,
    DEPARTMENT_USED,
    DEPARTMENT_WAIT_P90,
    LIMIT,
    QUEUE_INFO,
    QUOTA,
    USED,
    WAIT_P50,
    WAIT_P90,
)
from tenancy.plan.values import ClusterPlan, Group, Queue

LARGE: Final = 16
"""Units of a department that are shown each in its own panels; of more, those that are chosen."""
MANY: Final = 200
"""Units of a cluster that are: each takes up to 8 KB of the output."""
OPEN: Final = 8
"""Units up to which the rows of departments inside are open."""

OF_DEPARTMENT: Final = Use(DEPARTMENT_USED, DEPARTMENT_QUOTA, DEPARTMENT_BORROWED)
OF_UNIT: Final = Use(USED, QUOTA, BORROWED, LIMIT)

_USE: Final = (
    "What it uses of the kind that is chosen above, what of that is borrowed, what it owns and what it may have at "
    "most; borrowed GPUs are taken back on demand, so work on them needs checkpoints."
)


def sections(
    plan: ClusterPlan, says: Measured, department: Group, queues: list[Queue], board: str
) -> Iterator[Section]:
    """The department, then its units. `board`: the uid of the dashboard."""
    large = chosen(plan, queues)
    yield Section(None, tuple(_whole(plan, says, department, board if large else "")))
    if large:
        strip = _unit(says, "$unit", 'unit=~"$unit"')
        yield Section(row("$unit", repeat="unit"), (strip,))
        return
    closed = len(queues) > OPEN
    for group in _groups(plan, department):
        inside = group is not department
        own = tuple(_unit(says, each.title, f'unit="{each.title}"') for each in _queues(plan, group))
        who = (Strip(f"{group.name} parts", 7, (shares(group.title, _names(plan, group), CHOSEN),)),) if inside else ()
        if own or inside:
            yield Section(row(group.title.replace("/", " / "), collapsed=inside and closed), (*who, *own))


def chosen(plan: ClusterPlan, queues: list[Queue]) -> bool:
    """Whether units are chosen, since they are too many to be shown each."""
    return len(queues) > (LARGE if len(plan.queues) <= MANY else 0)


def variables(plan: ClusterPlan, department: Group, queues: list[Queue]) -> Iterator[dict[str, Any]]:
    """The units to choose from, where these are many; by path, which is the order of the tree."""
    if chosen(plan, queues):
        query = f'label_values({QUEUE_INFO}{{department="{department.title}"}}, unit)'
        first = min(queue.title for queue in queues)
        yield found("unit", "Unit", "The units whose panels are shown.", query, first)


def _whole(plan: ClusterPlan, says: Measured, department: Group, board: str) -> Iterator[Strip]:
    name = department.title
    selector = f'department="{name}"'
    use = usage(says, f"{name}: use", _USE, OF_DEPARTMENT, f"{selector},{CHOSEN.selector}", CHOSEN.unit)
    panels = (use, *course(says, name, selector, {"nine in ten": DEPARTMENT_WAIT_P90}))
    yield Strip("department", 8, panels, first_wider=True)
    yield Strip("parts", 8, (shares(name, _names(plan, department), CHOSEN),))
    kept = "${kind:queryparam}&${datasource:queryparam}&${__url_time_range}"
    link = f"/d/{board}?var-unit=${{__value.raw}}&{kept}" if board else ""
    every = units(*(says, "Units", "unit"), use=OF_UNIT, kind=CHOSEN, wait=WAIT_P90, selector=selector, link=link)
    yield Strip("table", 10, (every,))


def _unit(says: Measured, title: str, selector: str) -> Strip:
    use = usage(says, f"{title}: use", _USE, OF_UNIT, f"{selector},{CHOSEN.selector}", CHOSEN.unit)
    waits = {"nine in ten": WAIT_P90, "half": WAIT_P50}
    return Strip(f"unit {title}", 7, (use, *course(says, title, selector, waits)), first_wider=True)


def _groups(plan: ClusterPlan, group: Group) -> Iterator[Group]:
    """A group and those inside it, parents first."""
    yield group
    for below in plan.below.get(group.name, ()):
        if isinstance(below, Group):
            yield from _groups(plan, below)


def _queues(plan: ClusterPlan, group: Group) -> list[Queue]:
    return [each for each in plan.below.get(group.name, ()) if isinstance(each, Queue)]


def _names(plan: ClusterPlan, group: Group) -> list[str]:
    """The last part of the path of each unit right below."""
    titles = (each.title.removeprefix(f"{group.title}/") for each in plan.below.get(group.name, ()))
    return sorted(title for title in titles if "/" not in title)
