"""Panels that the overview and the departments have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tenancy.backend.telemetry.dashboards.grafana import (
    AREA,
    BLUE,
    DASHED,
    DOTTED,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SHADE,
    SKY,
    Column,
    Line,
    Look,
    Panel,
    chart,
    table,
)
from tenancy.backend.telemetry.dashboards.measures import Kind, Measured
from tenancy.backend.telemetry.names import EVICTIONS, INACTIVE, PENDING, QUEUE_STOPPED, USED

LONG, VERY_LONG = (600.0, ORANGE), (3600.0, RED)
"""Waits in seconds."""

REASONS: Final = (
    *("Preempted", "PodsReadyTimeout", "AdmissionCheck", "NodeFailures"),
    *("ClusterQueueStopped", "LocalQueueStopped", "Deactivated", "none"),
)
"""Of Kueue (apis/kueue/v1beta2/workload_types.go of 0.19.2, `WorkloadEvictedBy…` and `WorkloadDeactivated`)."""

REST: Final = "the rest"
"""Projects without a budget of their own, where others of their team have one."""

NO_WAITS: Final = "no job was admitted in the hour before"

EVICTED: Final = (
    "Jobs that were stopped in the hour before, by reason; many `Preempted` mean that they lived on borrowed GPUs, "
    "many `PodsReadyTimeout` that their pods do not start."
)


class Use(NamedTuple):
    """Names of the series that say what somebody uses."""

    used: str
    quota: str
    borrowed: str
    limit: str = ""


def usage(says: Measured, title: str, description: str, use: Use, selector: str, unit: str) -> Panel:
    """What is used against what is owned, with what is borrowed of it."""
    lines = [Line("used", _sum(use.used, selector), Look(BLUE, AREA))]
    if says.lends:
        lines.append(Line("borrowed", _sum(use.borrowed, selector), Look(PURPLE, SHADE)))
    lines.append(Line("quota", _sum(use.quota, selector), Look(ORANGE, dashes=DASHED)))
    if says.lends and use.limit:
        lines.append(Line("limit", _sum(use.limit, selector), Look(RED, dashes=DOTTED)))
    return chart(title, description, lines, unit)


def capacity(says: Measured, kind: Kind, use: Use) -> Panel:
    """What is used of a kind against what was promised of it and what there is."""
    lines = [
        Line("used", _sum(use.used, kind.selector), Look(BLUE, AREA)),
        *([Line("borrowed", _sum(use.borrowed, kind.selector), Look(PURPLE, SHADE))] if says.lends else []),
        Line("promised", _sum(use.quota, kind.selector), Look(ORANGE, dashes=DASHED)),
        Line("capacity", _sum(use.limit, kind.selector), Look(GREY, dashes=DOTTED)),
    ]
    description = (
        "What all departments use of it, what of that they borrow, what they were promised together, and what its "
        "nodes have without the spare ones; use far below the promise means idle GPUs, at capacity that jobs wait."
    )
    return chart(kind.title, description, lines, kind.unit)


def course(says: Measured, of: str, selector: str, waits: Mapping[str, str]) -> Iterator[Panel]:
    """What waits and what is evicted of a unit. `waits`: series of waits by their legend."""
    if says.pending:
        yield chart(
            f"{of}: jobs that wait",
            "Jobs that are not admitted; a line that never falls means too small a quota, or a job that asks for more "
            "than it may ever have.",
            [Line("waiting", f"sum({PENDING}{{{selector}}})", Look(SKY, AREA))],
        )
    if says.waits:
        looks = (Look(RED), Look(SKY))
        lines = [
            Line(legend, f"max({name}{{{selector}}})", look)
            for (legend, name), look in zip(waits.items(), looks, strict=False)
        ]
        yield chart(
            f"{of}: wait",
            "How long jobs waited that were admitted in the hour before; it rises where quota is short or lent out.",
            lines,
            "s",
            empty=NO_WAITS,
        )
    if says.evictions:
        yield evictions(f"{of}: evictions an hour", selector)


def evictions(title: str, selector: str = "") -> Panel:
    """Evictions by reason, flat at 0 where there are none."""
    none = 'label_replace(vector(0), "reason", "none", "", "")'
    query = f"sum by (reason) ({EVICTIONS}{_matchers(selector)}) * 3600 or {none}"
    return chart(title, EVICTED, [Line("{{reason}}", query)], names=REASONS, stacked=True)


def shares(path: str, names: Sequence[str], kind: Kind) -> Panel:
    """Who of those right below a department uses how much, one above the other."""
    of_path = f'unit=~"{path}(/.*)?"'
    below = f"{USED}{_matchers(of_path, kind.selector)}"
    rest = f'label_replace({below}, "part", "{REST}", "", "")'
    query = f'sum by (part) (label_replace({rest}, "part", "$1", "unit", "{path}/([^/]+).*"))'
    return chart(
        f"{path}: who uses it",
        "What each team or department right below uses, added up; whoever stands out may be asked for a plan.",
        [Line("{{part}}", query)],
        kind.unit,
        names=(*names, REST),
        stacked=True,
    )


def units(
    says: Measured,
    title: str,
    label: str,
    *,
    use: Use,
    kind: Kind,
    wait: str,
    selector: str = "",
    link: str = "",
) -> Panel:
    """A table with a row for each department or unit, those first whose jobs wait."""
    columns = list(_columns(says, label, use, kind, wait, selector))
    worst = [column.title for column in columns if column.title in _WORST]
    return table(
        title,
        "What each owns, uses, borrows and leaves idle of the kind that is chosen above, and whose jobs wait, worst "
        "first; idle quota is lent to others until its owner asks for it, so jobs that wait beside it want another "
        "kind or more at once than is free.",
        label,
        label.capitalize(),
        columns,
        worst=sorted(worst, key=_WORST.index),
        link=link,
    )


_WORST: Final = ("Jobs that wait", "Wait of nine in ten", "Used")


def _columns(says: Measured, label: str, use: Use, kind: Kind, wait: str, selector: str) -> Iterator[Column]:
    by = f"sum by ({label})"
    of_kind = _matchers(selector, kind.selector)
    used, quota, borrowed = (f"{by} ({name}{of_kind})" for name in (use.used, use.quota, use.borrowed))
    yield Column("Quota", quota, kind.unit)
    yield Column("Used", used, kind.unit)
    if says.lends:
        yield Column("Borrowed", borrowed, kind.unit, ((0.001, PURPLE),))
    yield Column("Idle", f"clamp_min({quota} - {used} or {quota}, 0)", kind.unit)
    of_unit = _matchers(selector)
    if says.pending:
        yield Column("Jobs that wait", f"{by} ({PENDING}{of_unit})", steps=((1.0, ORANGE),))
    if says.waits:
        yield Column("Wait of nine in ten", f"max by ({label}) ({wait}{of_unit})", "s", (LONG, VERY_LONG))
    if says.evictions:
        none = f"0 * {by} ({PENDING}{of_unit})"
        yield Column("Evictions an hour", f"{by} ({EVICTIONS}{of_unit}) * 3600 or {none}")
    if says.inactive:
        bad = f"{INACTIVE}{of_unit} unless on (queue) {QUEUE_STOPPED}"
        yield Column("Queues that do not work", f"{by} ({bad})", steps=((1.0, RED),))


def _matchers(*selectors: str) -> str:
    """In braces, as far as there are any."""
    every = ",".join(filter(None, selectors))
    return f"{{{every}}}" if every else ""


def _sum(name: str, selector: str) -> str:
    return f"sum({name}{{{selector}}})"
