"""Words and choices that every view of a plan shares, so that text and Markdown never tell two stories."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tenancy.compare.amounts import few, shown
from tenancy.compare.balance import HOURS, Balance, Cost
from tenancy.compare.comparison import Comparison
from tenancy.compare.diff import Create, Delete, Update
from tenancy.compare.effects import NOTHING, AccessChange, QuotaChange, SettingChange
from tenancy.compare.procedures import Mark
from tenancy.compare.reaches import ReachChange
from tenancy.compare.rule_changes import EVERYBODY
from tenancy.compare.strengths import StrengthChange
from tenancy.compare.views.objects import plural
from tenancy.compare.views.setting_words import meaning
from tenancy.model.organization import Quota

ABSENT: Final = "–"  # noqa: RUF001
"""An amount of a side that does not have the unit or the flavor."""

COST: Final = f"Cost per month (quota for {HOURS} hours at the prices of org/)"


def telling(change: QuotaChange) -> bool:
    """Not the limits that a unit which comes or goes only inherits."""
    return (change.before is not None and change.after is not None) or change.gain != 0


def promises(comparison: Comparison) -> list[QuotaChange]:
    """The changes of promises that tell something, losses first."""
    return sorted(filter(telling, comparison.effects.quotas), key=_gravity)


def _gravity(change: QuotaChange) -> tuple[int, str, str, str, str]:
    return ("-+".index(sign(change)), change.cluster, change.unit, change.flavor, change.resource)


def sign(change: QuotaChange) -> str:
    """`-` where something is lost, by quota first."""
    before, after = change.before or NOTHING, change.after or NOTHING
    moved = [now - then for then, now in zip(before, after, strict=True)]
    if change.gain < 0 or (change.gain == 0 and min(moved) < 0):
        return "-"
    return "+"


def arrow(change: QuotaChange, index: int) -> str:
    """One of the three promises: before and after, or the one that both are."""
    before, after = (_number(each, index, change.resource) for each in (change.before, change.after))
    return after if before == after else f"{before} → {after}"


def _number(quota: Quota | None, index: int, resource: str) -> str:
    return ABSENT if quota is None else shown(quota[index], resource)


def signed(amount: int, resource: str) -> str:
    """What is won or lost, with its sign; empty for nothing."""
    return f"{'+' if amount > 0 else ''}{shown(amount, resource)}" if amount else ""


def reaching(comparison: Comparison) -> list[ReachChange]:
    """Of units that stay or come, where it is not the limit, which the promises tell."""
    renamed = {(each.cluster, each.unit) for each in comparison.effects.units if each.partner}
    limits = {
        (each.cluster, each.unit, each.flavor, each.resource): tuple(
            quota and quota.limit for quota in (each.before, each.after)
        )
        for each in promises(comparison)
    }
    return [
        each
        for each in comparison.reaches
        if each.after is not None
        and (each.cluster, each.unit) not in renamed
        and limits.get((each.cluster, each.unit, each.flavor, each.resource)) != (each.before, each.after)
    ]


def strengthened(comparison: Comparison) -> list[tuple[StrengthChange, list[str]]]:
    """Promises that others make weaker or stronger, the units of which the same is to be said together."""
    said: dict[tuple[bool, str, str, str], tuple[StrengthChange, list[str]]] = {}
    for each in comparison.strengths:
        key = (each.stronger, each.cluster, each.flavor, each.what)
        said.setdefault(key, (each, []))[1].append(each.unit or EVERYBODY)
    return list(said.values())


def followers(unit_count: int) -> str:
    """What is said of units of which only the cpu and memory of their GPUs change."""
    return f"the cpu and memory of {plural(unit_count, 'unit')} follow other amounts; GPUs stay"


def setting(change: SettingChange, comparison: Comparison) -> str:
    """What becomes of a setting, and what its new value means where the word alone does not say it."""
    key = change.key.replace("_", " ")
    said = meaning(change, comparison.effects.schedulers[change.cluster])
    return f"{key} {change.before} → {change.after}" + (f" ({said})" if said else "")


def touched(comparison: Comparison) -> list[Balance]:
    """The balances of every flavor where a promise, a capacity or what is installed changes, of whatever unit."""
    keys = {(each.cluster, each.flavor, each.resource) for each in comparison.effects.quotas if telling(each)}
    return [
        each
        for each in comparison.balances
        if each.changed
        or each.installed_before not in (None, each.installed)
        or (each.cluster, each.flavor, each.resource) in keys
    ]


def balanced(balance: Balance) -> list[str]:
    """Installed, spare, promised and free. What was installed and spare is not always known."""

    def amount(count: int | None) -> str:
        return ABSENT if count is None else shown(count, balance.resource)

    def both(before: int | None, after: int | None) -> str:
        return amount(after) if before == after else f"{amount(before)} → {amount(after)}"

    def before(known: int | None, now: int | None) -> str:
        return amount(now) if known is None else both(known, now)

    return [
        before(balance.installed_before, balance.installed),
        before(balance.spare_before, balance.spare),
        both(balance.promised_before, balance.promised_after),
        both(balance.free_before, balance.free_after),
    ]


def dearer(comparison: Comparison) -> list[Cost]:
    """The departments whose cost changes."""
    return [cost for cost in comparison.costs if cost.before != cost.after]


def total(comparison: Comparison) -> tuple[Fraction, Fraction]:
    """What all departments cost, before and after."""
    before = sum((cost.before for cost in comparison.costs), Fraction(0))
    after = sum((cost.after for cost in comparison.costs), Fraction(0))
    return before, after


def money(before: Fraction, after: Fraction) -> str:
    """Both amounts with their difference, or the one that both are."""
    if round(before) == round(after):
        return f"{round(after):,}"
    return f"{round(before):,} → {round(after):,} ({round(after) - round(before):+,})"


def counts(comparison: Comparison) -> str:
    """How many objects go, change and come, and how many the API server will refuse."""
    kinds = [type(change) for change in comparison.changes]
    parts = [f"{kinds.count(kind)} to {kind.__name__.lower()}" for kind in (Delete, Update, Create)]
    refused = sum(len(each.subjects) for each in comparison.procedures if each.mark is Mark.REPLACEMENT)
    ending = f"; {plural(refused, 'update')} that the API server will refuse" if refused else ""
    return f"{plural(len(kinds), 'object')}: {', '.join(parts)}{ending}"


def where(change: AccessChange) -> str:
    """The namespaces of an access, or the whole cluster."""
    return f"in {few(change.namespaces)}" if change.namespaces else "in the whole cluster"


def placed(cluster: str, name: str, comparison: Comparison) -> str:
    """The name, with its cluster where there are several."""
    return f"{cluster}: {name}" if len(comparison.clusters) > 1 else name
