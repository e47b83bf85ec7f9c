"""A comparison as text for people: what it means first, the worst on top; then the objects; then the counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from textwrap import wrap
from typing import Final

from tenancy.compare.amounts import measure, shown
from tenancy.compare.balance import HOURS, Balance
from tenancy.compare.comparison import Comparison
from tenancy.compare.effects import NOTHING, AccessChange, NamespaceChange, QuotaChange, SettingChange, UnitChange
from tenancy.compare.procedures import Mark, Procedure
from tenancy.compare.views.objects import object_lines, plural
from tenancy.model.organization import Quota

BOLD, RED, GREEN, YELLOW, RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]+m")
_SIGNS: Final = {"-": RED, "+": GREEN, "~": YELLOW, "!": YELLOW}
_FEW: Final = 3
"""Names that a line lists before it counts the rest."""

_COST: Final = f"Cost per month (quota for {HOURS} hours at the prices of org/)"

_STATES: Final = {
    "kueue": {
        "active": "takes new work",
        "held": "admits no new work, what runs goes on",
        "draining": "admits no new work, what runs is evicted",
    },
    "volcano": {
        "active": "takes new work",
        "held": "refuses new work, what waits still starts",
        "draining": "refuses new work and ends nothing",
    },
    "native": {
        "active": "takes new work",
        "held": "gets no new pods, what runs goes on",
        "draining": "gets no new pods, and nothing is ended",
    },
}
"""By scheduler and state of a unit."""


def text(comparison: Comparison, *, colour: bool = False, width: int = 100, objects: bool = True) -> str:
    """The plan; `no changes` where there are none. Only explanations are wrapped at `width`: tables stay tables."""
    if not comparison.changes:
        return "no changes\n"
    sections = [
        ("Before you merge", list(_procedures(comparison.procedures, width))),
        ("Units that go", _units(comparison, added=False)),
        ("Namespaces destroyed with all that is in them", _namespaces(comparison, added=False)),
        ("Access lost", _access(comparison, gained=False)),
        ("Promises", _promises(comparison)),
        ("Settings", [_setting(change, comparison) for change in comparison.effects.settings]),
        ("Units that come", _units(comparison, added=True)),
        ("Namespaces created", _namespaces(comparison, added=True)),
        ("Access gained", _access(comparison, gained=True)),
        ("Balance per flavor", _balances(comparison)),
        (_COST, _costs(comparison)),
        ("Objects", object_lines(comparison) if objects else []),
    ]
    blocks = [_block(title, lines) for title, lines in sections if lines]
    if comparison.first:
        blocks.insert(0, _block("First compile: there is nothing yet to compare with", []))
    page = "\n\n".join([*blocks, _summary(comparison)]) + "\n"
    return page if colour else _COLOUR.sub("", page)


def _block(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"{BOLD}{title}{RESET}", *(_coloured(line) for line in lines)])


def _coloured(line: str) -> str:
    """Names come from files: nothing but the colours of this module may drive the terminal."""
    line = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in line)
    hue = _SIGNS.get(line.lstrip()[:1]) if line.startswith("  ") else None
    return f"{hue}{line}{RESET}" if hue else line


def _procedures(found: Sequence[Procedure], width: int) -> Iterator[str]:
    for procedure in found:
        names = few(procedure.subjects, 5)
        yield f"  ! {procedure.mark}: {names}"
        for line in wrap(f"{procedure.happens} {procedure.do}", width - 6):
            yield f"      {line}"


def _units(comparison: Comparison, *, added: bool) -> list[str]:
    return [_unit(change, comparison) for change in comparison.effects.units if change.added is added]


def _unit(change: UnitChange, comparison: Comparison) -> str:
    line = f"  {'+' if change.added else '-'} {_placed(change.cluster, change.unit, comparison)}"
    if not change.partner:
        return line
    kept = "its namespaces stay" if change.keeps_namespaces else "a rename destroys and makes anew"
    return f"{line}   {'was' if change.added else 'becomes'} {change.partner}? ({kept})"


def _namespaces(comparison: Comparison, *, added: bool) -> list[str]:
    return [_namespace(change, comparison) for change in comparison.effects.namespaces if change.added is added]


def _namespace(change: NamespaceChange, comparison: Comparison) -> str:
    line = f"  {'+' if change.added else '-'} {_placed(change.cluster, change.namespace, comparison)}"
    return f"{line}   ({change.unit})" if change.unit else line


def _access(comparison: Comparison, *, gained: bool) -> list[str]:
    """A table of subject, level and place."""
    changes = [change for change in comparison.effects.access if change.gained is gained]
    rows = [[_placed(each.cluster, each.subject, comparison), each.level, _where(each)] for each in changes]
    return [f"  {'+' if gained else '-'} {line}" for line in aligned(rows)]


def _where(change: AccessChange) -> str:
    return f"in {few(change.namespaces)}" if change.namespaces else "in the whole cluster"


def _promises(comparison: Comparison) -> list[str]:
    """A row for each unit, flavor and resource, losses first."""
    changes = sorted(filter(_telling, comparison.effects.quotas), key=_gravity)
    rows = [["unit", "flavor", "", "reserved", "quota", "limit", ""]]
    rows += [_promise(change, comparison) for change in changes]
    signs = [" ", *(_sign(change) for change in changes)]
    lines = [f"  {sign} {line}" for sign, line in zip(signs, aligned(rows), strict=True)] if changes else []
    for cluster, flavor, count in comparison.effects.followers:
        place = _placed(cluster, flavor, comparison)
        lines.append(f"  ~ {place}: the cpu and memory of {plural(count, 'unit')} follow other amounts; GPUs stay")
    return lines


def _telling(change: QuotaChange) -> bool:
    """Not the limits that a unit which comes or goes only inherits."""
    return (change.before is not None and change.after is not None) or change.gain != 0


def _gravity(change: QuotaChange) -> tuple[int, str, str, str, str]:
    return ("-+".index(_sign(change)), change.cluster, change.unit, change.flavor, change.resource)


def _sign(change: QuotaChange) -> str:
    before, after = change.before or NOTHING, change.after or NOTHING
    moved = [now - then for then, now in zip(before, after, strict=True)]
    if change.gain < 0 or (change.gain == 0 and min(moved) < 0):
        return "-"
    return "+"


def _promise(change: QuotaChange, comparison: Comparison) -> list[str]:
    numbers = [_arrow(change, index) for index in range(3)]
    gain = f"{'+' if change.gain > 0 else ''}{shown(change.gain, change.resource)}" if change.gain else ""
    unit = _placed(change.cluster, change.unit, comparison)
    return [unit, change.flavor, measure(change.resource), *numbers, gain]


def _arrow(change: QuotaChange, index: int) -> str:
    before, after = (_number(each, index, change.resource) for each in (change.before, change.after))
    return after if before == after else f"{before} → {after}"


def _number(quota: Quota | None, index: int, resource: str) -> str:
    return "–" if quota is None else shown(quota[index], resource)  # noqa: RUF001


def _setting(change: SettingChange, comparison: Comparison) -> str:
    units = _placed(change.cluster, few(change.units, 5), comparison)
    key = change.key.replace("_", " ")
    states = _STATES[comparison.effects.schedulers[change.cluster]] if change.key == "state" else {}
    meaning = f" ({states[change.after]})" if change.after in states else ""
    return f"  ~ {key} {change.before} → {change.after}{meaning}: {units}"


def _balances(comparison: Comparison) -> list[str]:
    """Every flavor where a promise or a capacity changes, of whatever unit."""
    touched = {(each.cluster, each.flavor, each.resource) for each in comparison.effects.quotas if _telling(each)}
    rows = [["flavor", "", "installed", "spare", "promised", "free"]]
    rows += [
        _balance(each, comparison)
        for each in comparison.balances
        if each.changed or (each.cluster, each.flavor, each.resource) in touched
    ]
    return [f"    {line}" for line in aligned(rows)] if len(rows) > 1 else []


def _balance(balance: Balance, comparison: Comparison) -> list[str]:
    def amount(count: int | None) -> str:
        return "–" if count is None else shown(count, balance.resource)  # noqa: RUF001

    def arrow(before: int | None, after: int | None) -> str:
        return amount(after) if before == after else f"{amount(before)} → {amount(after)}"

    return [
        _placed(balance.cluster, balance.flavor, comparison),
        measure(balance.resource),
        amount(balance.installed),
        amount(balance.spare),
        arrow(balance.promised_before, balance.promised_after),
        arrow(balance.free_before, balance.free_after),
    ]


def _costs(comparison: Comparison) -> list[str]:
    """The departments whose cost changes, and the total of all where any does."""
    changed = [cost for cost in comparison.costs if cost.before != cost.after]
    rows = [[_placed(cost.cluster, cost.unit, comparison), _money(cost.before, cost.after)] for cost in changed]
    before = sum((cost.before for cost in comparison.costs), Fraction(0))
    after = sum((cost.after for cost in comparison.costs), Fraction(0))
    return [f"    {line}" for line in aligned([*rows, ["total", _money(before, after)]])] if changed else []


def _money(before: Fraction, after: Fraction) -> str:
    if round(before) == round(after):
        return f"{round(after):,}"
    return f"{round(before):,} → {round(after):,} ({round(after) - round(before):+,})"


def _summary(comparison: Comparison) -> str:
    names = [type(change).__name__ for change in comparison.changes]
    parts = [f"{names.count(kind)} to {kind.lower()}" for kind in ("Delete", "Update", "Create")]
    refused = sum(len(each.subjects) for each in comparison.procedures if each.mark is Mark.REPLACEMENT)
    ending = f"; {plural(refused, 'update')} that the API server will refuse" if refused else ""
    return f"{plural(len(names), 'object')}: {', '.join(parts)}{ending}"


def _placed(cluster: str, name: str, comparison: Comparison) -> str:
    return f"{cluster}: {name}" if len(comparison.clusters) > 1 else name


def few(names: Sequence[str], most: int = _FEW) -> str:
    """The first names, and how many more there are."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with their columns under each other, two blanks apart."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))] if rows else []
    return [
        "  ".join(cell + " " * (width - len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
