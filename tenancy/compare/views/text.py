"""A comparison as text for people: what it means first, the worst on top; then the objects; then the counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Final

from tenancy.compare.amounts import few, measure, shown
from tenancy.compare.balance import Balance
from tenancy.compare.comparison import Comparison
from tenancy.compare.effects import NamespaceChange, QuotaChange, SettingChange, UnitChange
from tenancy.compare.procedures import Procedure
from tenancy.compare.reaches import ReachChange
from tenancy.compare.views.objects import object_lines
from tenancy.compare.views.words import (
    ABSENT,
    COST,
    arrow,
    balanced,
    counts,
    dearer,
    followers,
    money,
    placed,
    promises,
    reaching,
    setting,
    sign,
    signed,
    strengthened,
    total,
    touched,
    where,
)

BOLD, RED, GREEN, YELLOW, RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]+m")
_SIGNS: Final = {"-": RED, "+": GREEN, "~": YELLOW, "!": YELLOW}
_REASONS: Final = 5
"""Reasons of the risk that stand at the top."""
_ROWS: Final = 20
"""Units that a section tells of whose own numbers may have stayed."""


def text(comparison: Comparison, *, colour: bool = False, width: int = 100, objects: bool = True) -> str:
    """The plan; `no changes` where there are none. Only explanations are wrapped at `width`: tables stay tables."""
    if not comparison.changes:
        return "no changes\n"
    sections = [
        ("Before you merge", list(_procedures(comparison.procedures, width))),
        ("Units that go", _units(comparison, added=False)),
        ("Namespaces destroyed with all that is in them", _namespaces(comparison, added=False)),
        ("Access lost", _access(comparison, gained=False)),
        ("Over quota after the merge", _overruns(comparison)),
        ("Promises", _promises(comparison)),
        ("What units can use while all others are idle", _reaches(comparison)),
        ("Promises that others make weaker or stronger", list(_strengths(comparison, width))),
        ("Settings", [_setting(change, comparison) for change in comparison.effects.settings]),
        ("Units that come", _units(comparison, added=True)),
        ("Namespaces created", _namespaces(comparison, added=True)),
        ("Access gained", _access(comparison, gained=True)),
        ("Balance per flavor", _balances(comparison)),
        (COST, _costs(comparison)),
        ("Objects", object_lines(comparison) if objects else []),
    ]
    blocks = [_block(title, lines) for title, lines in sections if lines]
    blocks.insert(0, _block(f"Risk: {comparison.risk.level}", _reasons(comparison, width)))
    if comparison.first:
        blocks.insert(0, _block("First compile: there is nothing yet to compare with", []))
    page = "\n\n".join([*blocks, counts(comparison)]) + "\n"
    return page if colour else _COLOUR.sub("", page)


def _block(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"{BOLD}{title}{RESET}", *(_coloured(line) for line in lines)])


def _coloured(line: str) -> str:
    """Names come from files: nothing but the colours of this module may drive the terminal."""
    line = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in line)
    hue = _SIGNS.get(line.lstrip()[:1]) if line.startswith("  ") else None
    return f"{hue}{line}{RESET}" if hue else line


def _reasons(comparison: Comparison, width: int) -> Iterator[str]:
    """The gravest ones; each stands in its section as well."""
    reasons = comparison.risk.reasons
    shown_ = reasons if len(reasons) <= _REASONS + 1 else (*reasons[:_REASONS], f"and {len(reasons) - _REASONS} more")
    for reason in shown_:
        yield from wrap(reason, width, initial_indent="    ", subsequent_indent="      ")


def _procedures(found: Sequence[Procedure], width: int) -> Iterator[str]:
    for procedure in found:
        names = few(procedure.subjects, 5)
        yield f"  ! {procedure.mark}: {names}"
        for line in wrap(f"{procedure.happens} {procedure.do}", width - 6):
            yield f"      {line}"


def _units(comparison: Comparison, *, added: bool) -> list[str]:
    return [_unit(change, comparison) for change in comparison.effects.units if change.added is added]


def _unit(change: UnitChange, comparison: Comparison) -> str:
    line = f"  {'+' if change.added else '-'} {placed(change.cluster, change.unit, comparison)}"
    if not change.partner:
        return line
    kept = "its namespaces stay" if change.keeps_namespaces else "a rename destroys and makes anew"
    return f"{line}   {'was' if change.added else 'becomes'} {change.partner}? ({kept})"


def _namespaces(comparison: Comparison, *, added: bool) -> list[str]:
    return [_namespace(change, comparison) for change in comparison.effects.namespaces if change.added is added]


def _namespace(change: NamespaceChange, comparison: Comparison) -> str:
    line = f"  {'+' if change.added else '-'} {placed(change.cluster, change.namespace, comparison)}"
    return f"{line}   ({change.unit})" if change.unit else line


def _access(comparison: Comparison, *, gained: bool) -> list[str]:
    """A table of subject, level and place."""
    changes = [change for change in comparison.effects.access if change.gained is gained]
    rows = [[placed(each.cluster, each.subject, comparison), each.level, where(each)] for each in changes]
    return [f"  {'+' if gained else '-'} {line}" for line in aligned(rows)]


def _promises(comparison: Comparison) -> list[str]:
    """A row for each unit, flavor and resource, losses first."""
    changes = promises(comparison)
    rows = [["unit", "flavor", "", "reserved", "quota", "limit", ""]]
    rows += [_promise(change, comparison) for change in changes]
    signs = [" ", *(sign(change) for change in changes)]
    lines = [f"  {sign} {line}" for sign, line in zip(signs, aligned(rows), strict=True)] if changes else []
    for cluster, flavor, count in comparison.effects.followers:
        place = placed(cluster, flavor, comparison)
        lines.append(f"  ~ {place}: {followers(count)}")
    return lines


def _promise(change: QuotaChange, comparison: Comparison) -> list[str]:
    numbers = [arrow(change, index) for index in range(3)]
    unit = placed(change.cluster, change.unit, comparison)
    return [unit, change.flavor, measure(change.resource), *numbers, signed(change.gain, change.resource)]


def _overruns(comparison: Comparison) -> list[str]:
    """Who does use more. Who only might is seen in the promises."""
    rows = [["unit", "flavor", "", "uses", "quota", "limit"]]
    rows += [
        [
            placed(each.cluster, each.unit, comparison),
            each.flavor,
            measure(each.resource),
            *(shown(amount, each.resource) for amount in (each.used, each.quota, each.limit)),
        ]
        for each in comparison.overruns
        if each.certain
    ]
    return _table(rows, ["-"] * (len(rows) - 1))


def _reaches(comparison: Comparison) -> list[str]:
    found = reaching(comparison)
    rows = [["unit", "flavor", "", "reach", ""]]
    rows += [[placed(each.cluster, each.unit, comparison), each.flavor, *_reach(each)] for each in found]
    return _table(rows, ["-" if each.gain < 0 else "+" for each in found])


def _reach(change: ReachChange) -> list[str]:
    before, after = (ABSENT if each is None else shown(each, change.resource) for each in (change.before, change.after))
    return [measure(change.resource), f"{before} → {after}", signed(change.gain, change.resource)]


def _strengths(comparison: Comparison, width: int) -> Iterator[str]:
    said = strengthened(comparison)
    for index, (each, units) in enumerate(said):
        if index == _ROWS:
            yield _more(len(said) - index)
            return
        of = placed(each.cluster, few(units), comparison) + (f" on {each.flavor}" if each.flavor else "")
        line = f"  {'+' if each.stronger else '-'} {of}: {each.what}"
        first, *rest = wrap(line, width, subsequent_indent="      ", drop_whitespace=True)
        yield from (f"  {first.strip()}", *rest)


def _table(rows: list[list[str]], signs: list[str]) -> list[str]:
    """Rows below a head, each with its sign, as many as one reads; nothing without rows."""
    if not signs:
        return []
    lines = [f"  {sign} {line}" for sign, line in zip([" ", *signs], aligned(rows[: _ROWS + 1]), strict=False)]
    return lines if len(signs) <= _ROWS else [*lines, _more(len(signs) - _ROWS)]


def _more(count: int) -> str:
    return f"    and {count} more: `--format json` has all"


def _setting(change: SettingChange, comparison: Comparison) -> str:
    units = placed(change.cluster, few(change.units, 5), comparison)
    return f"  ~ {setting(change, comparison)}: {units}"


def _balances(comparison: Comparison) -> list[str]:
    """Every flavor where a promise or a capacity changes."""
    rows = [["flavor", "", "installed", "spare", "promised", "free"]]
    rows += [_balance(each, comparison) for each in touched(comparison)]
    return [f"    {line}" for line in aligned(rows)] if len(rows) > 1 else []


def _balance(balance: Balance, comparison: Comparison) -> list[str]:
    flavor = placed(balance.cluster, balance.flavor, comparison)
    return [flavor, measure(balance.resource), *balanced(balance)]


def _costs(comparison: Comparison) -> list[str]:
    """The departments whose cost changes, and the total of all where any does."""
    changed = dearer(comparison)
    rows = [[placed(cost.cluster, cost.unit, comparison), money(cost.before, cost.after)] for cost in changed]
    return [f"    {line}" for line in aligned([*rows, ["total", money(*total(comparison))]])] if changed else []


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with their columns under each other, two blanks apart."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))] if rows else []
    return [
        "  ".join(cell + " " * (width - len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
