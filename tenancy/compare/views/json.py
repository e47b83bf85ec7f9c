"""A comparison as one JSON object, described by schemas/plan.schema.json."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction
from json import dumps
from typing import Any, Final

from tenancy.compare.amounts import measure
from tenancy.compare.balance import HOURS, Balance
from tenancy.compare.comparison import Comparison
from tenancy.compare.diff import ABSENT, Change, Create, Delete, Difference, Update
from tenancy.compare.effects import QuotaChange
from tenancy.compare.procedures import Mark
from tenancy.compare.reaches import ReachChange
from tenancy.compare.usage import Overrun
from tenancy.compare.views.words import total
from tenancy.diagnostics import Diagnostic
from tenancy.model.organization import Quota
from tenancy.model.quantity import human

VERSION: Final = 1
"""The version of the format: a new key keeps it, a key that goes or changes its meaning raises it."""


def json(comparison: Comparison, diagnostics: Iterable[Diagnostic] = ()) -> str:
    """The plan in ASCII: whatever a name holds, printing it drives no terminal and cannot fail to be encoded."""
    effects = comparison.effects
    content = {
        "version": VERSION,
        "first": comparison.first,
        "clusters": [{"name": name, "scheduler": effects.schedulers.get(name, "")} for name in comparison.clusters],
        "risk": {"level": comparison.risk.level.value, "reasons": list(comparison.risk.reasons)},
        "summary": _summary(comparison),
        "diagnostics": [_diagnostic(each) for each in (*comparison.diagnostics, *diagnostics)],
        "procedures": [_camel(asdict(each)) | {"mark": each.mark.value} for each in comparison.procedures],
        "units": [_camel(asdict(each)) for each in effects.units],
        "namespaces": [asdict(each) for each in effects.namespaces],
        "access": [asdict(each) for each in effects.access],
        "quotas": [_quota(each) for each in effects.quotas],
        "followers": [
            {"cluster": cluster, "flavor": flavor, "units": count} for cluster, flavor, count in effects.followers
        ],
        "settings": [asdict(each) for each in effects.settings],
        "reaches": [_reach(each) for each in comparison.reaches],
        "strengths": [asdict(each) for each in comparison.strengths],
        "overruns": [_overrun(each) for each in comparison.overruns],
        "balances": [_balance(each) for each in comparison.balances],
        "costs": _costs(comparison),
        "drift": list(comparison.drift),
        "changes": [_change(each) for each in comparison.changes],
    }
    return dumps(content, indent=2, allow_nan=False, default=str) + "\n"


def _summary(comparison: Comparison) -> dict[str, int]:
    kinds = [type(change) for change in comparison.changes]
    refused = sum(len(each.subjects) for each in comparison.procedures if each.mark is Mark.REPLACEMENT)
    counts = {"delete": kinds.count(Delete), "update": kinds.count(Update), "create": kinds.count(Create)}
    return {"before": comparison.objects_before, **counts, "refused": refused}


def _quota(change: QuotaChange) -> dict[str, Any]:
    return {
        **_place(change),
        "before": _promises(change.before, change.resource),
        "after": _promises(change.after, change.resource),
        "gain": _amount(change.gain, change.resource),
    }


def _promises(quota: Quota | None, resource: str) -> dict[str, Any] | None:
    if quota is None:
        return None
    return {name: _amount(getattr(quota, name), resource) for name in ("reserved", "quota", "limit")}


def _reach(change: ReachChange) -> dict[str, Any]:
    return {
        **_place(change),
        "before": _amount(change.before, change.resource),
        "after": _amount(change.after, change.resource),
    }


def _overrun(overrun: Overrun) -> dict[str, Any]:
    amounts = {name: _amount(getattr(overrun, name), overrun.resource) for name in ("used", "quota", "limit")}
    return {**_place(overrun), **amounts, "certain": overrun.certain, "stuck": overrun.stuck}


def _place(change: QuotaChange | ReachChange | Overrun) -> dict[str, str]:
    return {
        "cluster": change.cluster,
        "unit": change.unit,
        "flavor": change.flavor,
        "resource": change.resource,
        "measure": measure(change.resource),
    }


_BALANCE: Final = (
    "installed_before",
    "installed",
    "spare_before",
    "spare",
    "usable_before",
    "usable_after",
    "promised_before",
    "promised_after",
    "free_before",
    "free_after",
    "margin_before",
    "margin_after",
)
"""The amounts of a balance."""


def _balance(balance: Balance) -> dict[str, Any]:
    return {
        "cluster": balance.cluster,
        "flavor": balance.flavor,
        "resource": balance.resource,
        "measure": measure(balance.resource),
        **_camel({name: _amount(getattr(balance, name), balance.resource) for name in _BALANCE}),
        "changed": balance.changed,
    }


def _amount(amount: int | None, resource: str) -> dict[str, Any] | None:
    """In base units, exact, and as people read it."""
    return None if amount is None else {"base": amount, "human": human(amount, resource)}


def _costs(comparison: Comparison) -> dict[str, Any]:
    before, after = total(comparison)
    return {
        "hours": HOURS,
        "before": _money(before),
        "after": _money(after),
        "departments": [
            {"cluster": each.cluster, "unit": each.unit, "before": _money(each.before), "after": _money(each.after)}
            for each in comparison.costs
        ],
    }


def _money(amount: Fraction) -> float:
    return float(round(amount, 2))


def _change(change: Change) -> dict[str, Any]:
    """An object that goes or comes is there as a whole, one that changes with what differs."""
    identity = change.identity._asdict()
    if isinstance(change, Update):
        return {"change": "update", **identity, "differences": [_difference(each) for each in change.differences]}
    if isinstance(change, Delete):
        return {"change": "delete", **identity, "object": change.old}
    return {"change": "create", **identity, "object": change.new}


def _difference(difference: Difference) -> dict[str, Any]:
    """A side on which nothing stands has no key."""
    sides = {"old": difference.old, "new": difference.new}
    return {"path": difference.path, **{key: value for key, value in sides.items() if value is not ABSENT}}


def _diagnostic(found: Diagnostic) -> dict[str, Any]:
    place = found.place
    return {
        "code": found.code,
        "severity": found.severity.value,
        "message": found.message,
        "why": found.rule.why,
        "help": found.help,
        "docs": found.docs,
        "place": {"file": place.file, "line": place.line, "column": place.column, "path": list(place.path)},
    }


def _camel(entries: dict[str, Any]) -> dict[str, Any]:
    """Keys as JSON has them here: `keepsNamespaces`."""
    return {_camelled(key): value for key, value in entries.items()}


def _camelled(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(map(str.capitalize, others))
