"""The head of a plan in Markdown: what a department head understands in five seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from tenancy.compare.amounts import FEW, few, measure, shown
from tenancy.compare.comparison import Comparison
from tenancy.compare.effects import UnitChange
from tenancy.compare.risk import Level
from tenancy.compare.views.markdown_text import code, name, prose, visible
from tenancy.compare.views.words import money, placed, promises, signed, total
from tenancy.diagnostics import Diagnostic, Severity
from tenancy.model.hardware import CPU, MEMORY

_LEVELS: Final = {
    Level.NONE: ("⚪", "no risk"),
    Level.LOW: ("🟢", "low risk"),
    Level.MEDIUM: ("🟡", "medium risk"),
    Level.HIGH: ("🟠", "high risk"),
    Level.DESTRUCTIVE: ("🔴", "destructive"),
}

_MOST: Final = 5
"""Entries of a line of the head."""

_LONGEST: Final = 240
"""Characters of a reason."""

_SHARED: Final = " (shared)"
"""How the queue that the projects of a team share is called after the team."""

_Gains: TypeAlias = dict[tuple[str, str, str], Counter[str]]
"""From cluster, flavor and resource to what each unit wins or (below zero) loses."""


def heading(comparison: Comparison, title: str) -> str:
    """The level of the risk, in a colour and in words."""
    icon, words = _LEVELS[comparison.risk.level]
    of = f" for {prose(visible(title))}" if title.strip() else ""
    return f"## {icon} Plan{of}: {words if comparison.changes else 'no changes'}"


def headline(comparison: Comparison, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """Lines in one order, so that a reader finds each at its place."""
    if comparison.first:
        yield "**First compile**: there is nothing yet to compare with"
    if reasons := comparison.risk.reasons:
        yield f"**Risk**: {_listed([prose(visible(reason, _LONGEST)) for reason in reasons], FEW)}"
    if found := _findings(diagnostics):
        yield f"**Findings**: {found}"
    if comparison.drift:
        yield "**Drift**: the cluster runs otherwise than it was told"
    yield from _moved(comparison)
    if narrowed := _narrowed(comparison):
        yield f"**Can use less while others are idle**: {narrowed}"
    yield f"**Destroyed**: {_destroyed(comparison)}"
    if access := _access(comparison):
        yield f"**Access**: {access}"
    if capacity := _capacity(comparison):
        yield f"**Capacity**: {capacity}"
    if comparison.costs:
        before, after = total(comparison)
        kept = ", as before" if round(before) == round(after) else ""
        yield f"**Cost per month**: {money(before, after)}{kept}"
    if needed := Counter(each.mark for each in comparison.procedures):
        yield f"**Before you merge**: {', '.join(f'{count} × {mark}' for mark, count in needed.items())}"  # noqa: RUF001


def _listed(entries: Sequence[str], most: int = _MOST) -> str:
    return "; ".join([*entries[:most], *([f"and {len(entries) - most} more"] if len(entries) > most else [])])


def _grouped(entries: Mapping[str, Sequence[str]]) -> str:
    return _listed([f"{unit} {few(each)}" for unit, each in entries.items()])


def _findings(diagnostics: Sequence[Diagnostic]) -> str:
    counts = Counter(each.severity for each in diagnostics)
    return ", ".join(f"{counts[each]} {each}{'s' if counts[each] > 1 else ''}" for each in Severity if counts[each])


def _moved(comparison: Comparison) -> Iterator[str]:
    """Who gains and who loses how much; a renamed unit neither, where it keeps what it had."""
    gains, reserves = _gains(comparison), _reserves(comparison)
    if not any(any(amounts.values()) for amounts in gains.values()):
        yield "**Quota**: nobody gains or loses any"
    for word, found, direction in (
        ("Gains", gains, 1),
        ("Loses", gains, -1),
        ("Reserves more, which is never lent", reserves, 1),
        ("Reserves less, and the rest may be lent", reserves, -1),
    ):
        entries: dict[str, list[str]] = {}
        for key in sorted(found, key=_place):
            moved = {unit: gain for unit, gain in found[key].items() if gain * direction > 0}
            for unit, entry in _entries(*key, moved, comparison):
                entries.setdefault(unit, []).append(entry)
        if entries:
            yield f"**{word}**: {_grouped(entries)}"


def _narrowed(comparison: Comparison) -> str:
    """Units that stay and can use less than before while all others are idle, beyond what they lose of their own."""
    own = {(each.cluster, each.unit, each.flavor, each.resource): each.gain for each in comparison.effects.quotas}
    entries: dict[str, list[str]] = {}
    for each in comparison.reaches:
        lost = min(own.get((each.cluster, each.unit, each.flavor, each.resource), 0), 0)
        if each.before is not None and each.after is not None and each.gain < lost:
            numbers = f"{shown(each.before, each.resource)} → {shown(each.after, each.resource)}"
            unit = _unit(each.cluster, each.unit, comparison)
            entries.setdefault(unit, []).append(f"{name(each.flavor)} {prose(measure(each.resource))} {numbers}")
    return _grouped(entries)


def _capacity(comparison: Comparison) -> str:
    """What departments may be promised, where that changes."""
    entries: dict[str, list[str]] = {}
    for each in comparison.balances:
        if each.usable_before != each.usable_after and not comparison.first:
            before, after = (
                "none" if amount is None else shown(amount, each.resource)
                for amount in (each.usable_before, each.usable_after)
            )
            flavor = _unit(each.cluster, each.flavor, comparison)
            entries.setdefault(flavor, []).append(f"{prose(measure(each.resource))} {before} → {after}")
    return _grouped(entries)


def _gains(comparison: Comparison) -> _Gains:
    """What each unit wins, what it lost under its old name taken off."""
    renamed = {(each.cluster, each.unit): each.partner for each in comparison.effects.units if not each.added}
    found: _Gains = {}
    for change in promises(comparison):
        unit = renamed.get((change.cluster, change.unit)) or change.unit
        found.setdefault((change.cluster, change.flavor, change.resource), Counter())[unit] += change.gain
    return found


def _reserves(comparison: Comparison) -> _Gains:
    """The same of what is reserved, where that does not only follow units that come and go."""
    moving = {(each.cluster, above) for each in comparison.effects.units for above in _above(each.unit)}
    found: _Gains = {}
    for each in comparison.effects.quotas:
        if each.before and each.after and (each.cluster, each.unit) not in moving:
            gain = each.after.reserved - each.before.reserved
            found.setdefault((each.cluster, each.flavor, each.resource), Counter())[each.unit] += gain
    return found


def _place(key: tuple[str, str, str]) -> tuple[int, tuple[str, str, str]]:
    """Whole GPUs first, cpu and memory last."""
    resource = key[2]
    return (2 if resource in (CPU, MEMORY) else int(measure(resource) != "GPUs"), key)


def _entries(
    cluster: str, flavor: str, resource: str, gains: dict[str, int], comparison: Comparison
) -> Iterator[tuple[str, str]]:
    """The highest units, most first, each with the next ones below it that win or lose with it."""
    inside: dict[str, list[str]] = {}
    for unit in sorted(gains, key=lambda unit: (-abs(gains[unit]), unit)):
        above = [each for each in _above(unit) if each in gains]
        inside.setdefault(above[0] if above else unit, []).extend([unit] if len(above) == 1 else [])
    for top in sorted(inside, key=lambda unit: (-abs(gains[unit]), unit)):
        parts = [f"{name(unit.removeprefix(f'{top}/'))} {signed(gains[unit], resource)}" for unit in inside[top]]
        amount = f"**{signed(gains[top], resource)} {prose(measure(resource))}** on {name(flavor)}"
        yield _unit(cluster, top, comparison), f"{amount}{f' ({few(parts)})' if parts else ''}"


def _above(unit: str) -> Iterator[str]:
    """The units that it is part of, the highest first."""
    path = unit.split("/")
    yield from ("/".join(path[:end]) for end in range(1, len(path)))
    if unit.endswith(_SHARED):
        yield unit.removesuffix(_SHARED)


def _destroyed(comparison: Comparison) -> str:
    effects = comparison.effects
    gone = [_gone(each, comparison) for each in effects.units if not each.added]
    lost = [code(placed(each.cluster, each.namespace, comparison)) for each in effects.namespaces if not each.added]
    count = "1 namespace" if len(lost) == 1 else f"{len(lost)} namespaces"
    namespaces = [f"{count} with all that is in {'it' if len(lost) == 1 else 'them'}: {few(lost)}"] if lost else []
    return _listed([*(gone if len(gone) < _MOST else [few(gone)]), *namespaces]) or "nothing"


def _gone(change: UnitChange, comparison: Comparison) -> str:
    unit = _unit(change.cluster, change.unit, comparison)
    return f"{unit} (becomes {name(change.partner)}?)" if change.partner else unit


def _unit(cluster: str, unit: str, comparison: Comparison) -> str:
    return name(unit) if len(comparison.clusters) == 1 else f"{name(cluster)}: {name(unit)}"


def _access(comparison: Comparison) -> str:
    """Who loses and who gains some; of whoever does both, only that it changes."""
    lost, gained = (
        dict.fromkeys(each.subject for each in comparison.effects.access if each.gained is wanted)
        for wanted in (False, True)
    )
    sides = (
        ("lost by", [each for each in lost if each not in gained]),
        ("changes for", [each for each in lost if each in gained]),
        ("gained by", [each for each in gained if each not in lost]),
    )
    return "; ".join(f"{words} {few([code(each) for each in subjects])}" for words, subjects in sides if subjects)
