"""The inverse of this backend: units with their promises, read back from Cohorts and ClusterQueues.

A plan compares what stands in out/ with what would be written; both sides are read here, so that they cannot disagree
about what an object means. A Cohort's own quota adds to its children's, and both limits are relative to the sum:
reserved = quota - lendingLimit, limit = quota + borrowingLimit (docs/kueue.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tenancy.backend.kueue.queues import BORROWING_PREEMPTION, PREEMPTION, QUEUEING, RECLAIM, STOP
from tenancy.backend.manifest import Object
from tenancy.backend.reading import UnitReading, note
from tenancy.model.organization import Quota
from tenancy.model.quantity import number, parse

_RULES: Final[tuple[tuple[str, tuple[str, ...], Mapping[str, str]], ...]] = (
    ("queueing", ("queueingStrategy",), QUEUEING),
    ("reclaim", ("preemption", "reclaimWithinCohort"), RECLAIM),
    ("preemption", ("preemption", "withinClusterQueue"), PREEMPTION),
    ("borrowing_preemption", ("preemption", "borrowWithinCohort", "policy"), BORROWING_PREEMPTION),
)
"""Keys of the policy, the field of a ClusterQueue that each becomes, and the words of both."""


def units(objects: Iterable[Object]) -> list[UnitReading]:
    """The units of one cluster, sorted by title; objects of other kinds are ignored.

    Every parent of an object must be among the objects, and every amount canonical, as `compile` writes them.
    """
    found = [obj for obj in objects if obj.get("kind") in ("Cohort", "ClusterQueue")]
    children: dict[str, list[Object]] = {}
    for obj in found:
        children.setdefault(_parent(obj), []).append(obj)
    inner = {note(obj, "unit") for obj in found if obj["kind"] == "Cohort"}
    totals: dict[str, dict[str, dict[str, int]]] = {}
    readings = [_reading(obj, _total(obj, children, totals), inner) for obj in found]
    return sorted(readings, key=lambda reading: (reading.title, reading.shared))


def _reading(obj: Object, total: dict[str, dict[str, int]], inner: set[str]) -> UnitReading:
    spec, queue = obj["spec"], obj["kind"] == "ClusterQueue"
    return UnitReading(
        title=note(obj, "unit"),
        queue=obj["metadata"]["name"],
        parent=_parent(obj),
        inner=not queue,
        shared=queue and note(obj, "unit") in inner,
        quotas=_quotas(spec, total),
        weight=_weight((spec.get("fairSharing") or {}).get("weight", "1")),
        state=_word(STOP, spec.get("stopPolicy", "None")),
        rules={key: _word(words, _at(spec, path)) for key, path, words in _RULES} if queue else {},
        namespaces=tuple(_namespaces(spec)),
    )


def _weight(quantity: str) -> str:
    """As the language writes it: `2.5`, not `2500m`."""
    return f"{float(number(quantity)):.15g}"


def _parent(obj: Object) -> str:
    return str(obj["spec"].get("parentName" if obj["kind"] == "Cohort" else "cohortName", ""))


def _entries(spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every resource entry with the name of its flavor."""
    for group in spec.get("resourceGroups") or ():
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                yield flavor["name"], resource


def _total(
    obj: Object, children: Mapping[str, list[Object]], totals: dict[str, dict[str, dict[str, int]]]
) -> dict[str, dict[str, int]]:
    """The quota of the unit: its own, and for a Cohort that of all below it. `totals` keeps those of Cohorts."""
    name, cohort = obj["metadata"]["name"], obj["kind"] == "Cohort"
    if cohort and name in totals:
        return totals[name]
    total: dict[str, dict[str, int]] = {}
    for flavor, resource in _entries(obj["spec"]):
        total.setdefault(flavor, {})[resource["name"]] = parse(resource["nominalQuota"], resource["name"])
    for child in children.get(name, ()) if cohort else ():
        for flavor, amounts in _total(child, children, totals).items():
            mine = total.setdefault(flavor, {})
            for counted, amount in amounts.items():
                mine[counted] = mine.get(counted, 0) + amount
    if cohort:
        totals[name] = total
    return total


def _quotas(spec: Mapping[str, Any], total: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, Quota]]:
    """The organization's Cohort states no limits: it lends to nobody and borrows from nobody."""
    quotas: dict[str, dict[str, Quota]] = {}
    for flavor, resource in _entries(spec):
        name = resource["name"]
        quota = total[flavor][name]
        lending = parse(resource["lendingLimit"], name) if "lendingLimit" in resource else quota
        borrowing = parse(resource.get("borrowingLimit", "0"), name)
        quotas.setdefault(flavor, {})[name] = Quota(quota - lending, quota, quota + borrowing)
    return quotas


def _namespaces(spec: Mapping[str, Any]) -> Iterator[str]:
    for expression in (spec.get("namespaceSelector") or {}).get("matchExpressions") or ():
        yield from expression.get("values") or ()


def _word(words: Mapping[str, str], value: str) -> str:
    """The language's word for a value of Kueue; the value itself where the language has none."""
    return next((word for word, known in words.items() if known == value), value)


def _at(spec: Mapping[str, Any], path: tuple[str, ...]) -> str:
    value: Any = spec
    for key in path:
        value = (value or {}).get(key)
    return str(value)
