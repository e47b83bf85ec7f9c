"""Comparisons by hand, so that a test of a view names only what it is about."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from tenancy.compare.balance import Balance, Cost
from tenancy.compare.comparison import Comparison
from tenancy.compare.diff import ABSENT, Create, Delete, Difference, Update
from tenancy.compare.effects import (
    AccessChange,
    Effects,
    NamespaceChange,
    QuotaChange,
    SettingChange,
    UnitChange,
)
from tenancy.compare.procedures import Mark, Procedure
from tenancy.compare.reaches import ReachChange
from tenancy.compare.risk import Level, Risk
from tenancy.compare.snapshot import Identity
from tenancy.compare.strengths import StrengthChange
from tenancy.compare.usage import Overrun
from tenancy.diagnostics import Diagnostic, Place, Rule, Severity
from tenancy.model.organization import Quota

GPU: Final = "nvidia.com/gpu"
RULE: Final = Rule("removed-undrained", Severity.WARNING, "A unit goes undrained", "Its jobs are killed.")


def effects(**parts: Any) -> Effects:
    """Effects of one cluster with Kueue; without parts, none."""
    nothing: dict[str, Any] = dict.fromkeys(("quotas", "followers", "units", "settings", "namespaces", "access"), ())
    return Effects(**{"schedulers": {"main": "kueue"}, **nothing, **parts})


def comparison(**parts: Any) -> Comparison:
    """A comparison of one cluster; without parts, of two equal sides."""
    names = ("changes", "balances", "costs", "procedures", "reaches", "strengths", "overruns")
    rest = {
        "effects": effects(),
        "risk": Risk(Level.NONE, ()),
        "clusters": ("main",),
        "first": False,
        "objects_before": 10,
    }
    return Comparison(**{**dict.fromkeys(names, ()), **rest, **parts})


def named(name: str, *, several: int = 1, clusters: tuple[str, ...] = ("main",)) -> Comparison:
    """A comparison with something in each of its parts, `several` times, and with this name wherever one stands."""
    place: dict[str, Any] = {"cluster": "main", "unit": name, "flavor": name}
    counted: dict[str, Any] = {**place, "resource": GPU}
    identity = Identity("main", "", "ConfigMap", name, name)
    old, new = {"data": {name: [name]}}, {"data": {name: {"name": name}}}
    entry = (Difference(f"data.{name}", ABSENT, {"name": name}), Difference(f"data[{name}]", [name], ABSENT))
    parts = comparison(
        changes=(Delete(identity, old), Update(identity, old, new, entry), Create(identity, new)),
        effects=effects(
            quotas=(QuotaChange(**counted, before=Quota(1, 2, 3), after=Quota(0, 1, 3)),),
            followers=(("main", name, 2),),
            units=(UnitChange(cluster="main", unit=name, added=False, state="active", inner=False, partner=name),),
            settings=(SettingChange(cluster="main", key=name, before=name, after=name, units=(name,)),),
            namespaces=(NamespaceChange(cluster="main", namespace=name, unit=name, added=True),),
            access=(AccessChange(cluster="main", subject=name, level=name, gained=False, namespaces=(name, name)),),
        ),
        balances=(
            Balance(
                cluster="main",
                flavor=name,
                resource=GPU,
                installed=8,
                usable_before=None,
                usable_after=8,
                promised_before=0,
                promised_after=4,
            ),
        ),
        costs=(Cost(cluster="main", unit=name, before=Fraction(7, 3), after=Fraction(9)),),
        procedures=(Procedure(mark=Mark.WARNING, subjects=(name,), happens=f"{name} ends.", do=f"Keep `{name}`."),),
        reaches=(ReachChange(**counted, before=None, after=8),),
        strengths=(StrengthChange(**place, stronger=False, what=f"{name} is weaker"),),
        overruns=(Overrun(**counted, used=9, quota=4, limit=8, certain=True),),
        risk=Risk(Level.DESTRUCTIVE, (f"{name} goes",)),
        clusters=clusters,
        drift=(f"  ~ {name}",),
        diagnostics=(finding(name),),
    )
    return _times(parts, several)


def _times(found: Comparison, several: int) -> Comparison:
    """Every list of the comparison as many times."""
    meaning, lists = found.effects, ("changes", "balances", "costs", "procedures", "reaches", "strengths", "overruns")
    parts = ("quotas", "followers", "units", "settings", "namespaces", "access")
    more = {part: getattr(meaning, part) * several for part in parts}
    longer = {part: getattr(found, part) * several for part in (*lists, "drift", "diagnostics")}
    return replace(found, effects=replace(meaning, **more), **longer)


def finding(name: str) -> Diagnostic:
    """A diagnostic with this name in all its texts."""
    return Diagnostic(rule=RULE, message=f"{name} goes", place=Place(f"{name}.yaml"), help=f"keep {name}")
