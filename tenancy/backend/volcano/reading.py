"""The inverse of this backend: units with their promises, read back from Queues and the namespaces that may name them.

A unit has a Queue in the tree of each flavor that it reaches; here they are one unit again. guarantee, deserved and
capability are reserved, quota and limit themselves, each for its own tree (docs/volcano.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tenancy.backend.manifest import Object
from tenancy.backend.reading import UnitReading
from tenancy.backend.volcano.names import holds_units
from tenancy.backend.volcano.queues import API
from tenancy.model.organization import Quota
from tenancy.model.quantity import parse

_LABEL: Final = "/organization"
"""How the label of every Queue of ours ends; the domain before it is the organization's choice."""


class _Unit(NamedTuple):
    """What the Queues of one unit have in common."""

    title: str
    inner: bool
    shared: bool


def units(objects: Iterable[Object]) -> list[UnitReading]:
    """The units of one cluster, sorted by title; objects of other kinds and Queues without a flavor are ignored.

    Every amount must be canonical, as `compile` writes it.
    """
    every = [obj for obj in objects if obj.get("kind") in ("Namespace", "Queue")]
    found: dict[_Unit, dict[str, Object]] = {}
    domain = ""
    for obj in every:
        if obj.get("apiVersion") == API and (domain := domain or _domain(obj)):
            notes = _notes(obj)
            if flavor := notes.get(f"{domain}/flavor"):
                found.setdefault(_unit(obj, domain), {})[flavor] = obj
    spaces = _spaces((obj for obj in every if obj["kind"] == "Namespace"), f"{domain}/queues")
    whole = {flavor: obj["spec"].get("deserved") or {} for flavor, obj in _organization(found).items()}
    readings = [_reading(unit, queues, domain, spaces, whole) for unit, queues in found.items()]
    return sorted(readings, key=lambda reading: (reading.title, reading.shared))


def _domain(obj: Object) -> str:
    """The organization's choice of the prefix of its labels and annotations."""
    return next((key.removesuffix(_LABEL) for key in obj["metadata"].get("labels") or () if key.endswith(_LABEL)), "")


def _notes(obj: Object) -> Mapping[str, str]:
    return obj["metadata"].get("annotations") or {}


def _spaces(namespaces: Iterable[Object], key: str) -> dict[str, list[str]]:
    """The namespaces that may name each leaf."""
    spaces: dict[str, list[str]] = {}
    for obj in namespaces:
        for queue in _notes(obj).get(key, "").split(","):
            spaces.setdefault(queue, []).append(obj["metadata"]["name"])
    return spaces


def _unit(obj: Object, domain: str) -> _Unit:
    notes = _notes(obj)
    return _Unit(notes.get(f"{domain}/unit", ""), holds_units(obj), f"{domain}/shared" in notes)


def _organization(found: Mapping[_Unit, dict[str, Object]]) -> dict[str, Object]:
    """The queues at the top, by flavor."""
    return next((queues for unit, queues in found.items() if not unit.title), {})


def _reading(
    unit: _Unit,
    queues: Mapping[str, Object],
    domain: str,
    spaces: Mapping[str, list[str]],
    whole: Mapping[str, Mapping[str, str]],
) -> UnitReading:
    first = next(iter(queues.values()))
    organization = first["metadata"]["labels"][f"{domain}{_LABEL}"]
    above = unit.title if unit.shared else unit.title.rpartition("/")[0]
    namespaces = {name for obj in queues.values() for name in spaces.get(obj["metadata"]["name"], ())}
    return UnitReading(
        title=unit.title,
        queue=_joined(unit.title) or organization,
        parent=(_joined(above) or organization) if unit.title else "",
        inner=unit.inner,
        shared=unit.shared,
        quotas={
            flavor: _quotas(obj["spec"], whole.get(flavor, {}), organization=not unit.title)
            for flavor, obj in queues.items()
        },
        weight=str(first["spec"].get("weight", 1)),
        state=_notes(first).get(f"{domain}/state", "active"),
        rules={},
        namespaces=() if unit.inner else tuple(sorted(namespaces)),
    )


def _quotas(spec: Mapping[str, Any], whole: Mapping[str, str], *, organization: bool) -> dict[str, Quota]:
    """The organization's guarantee is what keeps those below it; the plan reserves nothing there. A capability beyond
    what may be promised is that of a unit without a limit, on spare nodes."""
    deserved, guarantee = spec.get("deserved") or {}, (spec.get("guarantee") or {}).get("resource") or {}
    return {
        name: Quota(
            0 if organization else parse(guarantee.get(name, "0"), name),
            parse(deserved.get(name, "0"), name),
            min(parse(limit, name), parse(whole.get(name, limit), name)),
        )
        for name, limit in (spec.get("capability") or {}).items()
    }


def _joined(title: str) -> str:
    """The name of a unit's queue in the plan."""
    return title.replace("/", "-")
