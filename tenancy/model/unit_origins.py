"""What holds for a unit beside its numbers, each with where it comes from: who says it, or that nobody does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tenancy.diagnostics import KeyPath
from tenancy.load.source import Sources
from tenancy.model.document import Policy, Unit
from tenancy.model.organization import Node, Org, Rules, namespaces
from tenancy.model.origins import DEFAULT, WRITTEN, Origin, derived, plain, written

LEVELS: Final = {
    "admin": ("admins", "admins"),
    "member": ("members", "members"),
    "viewer": ("viewers", "viewers"),
    "service account": ("service_accounts", "serviceAccounts"),
}
"""Of access: the attribute and the key of the language."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that holds for a unit."""

    name: str
    """As the language has it: `weight`, `reclaim`, `namespace`, `member`."""
    value: str
    origin: Origin


def facts(org: Org, sources: Sources, node: Node) -> Iterator[Fact]:
    """Weight, state, topology and expiry, the policy, namespaces, and people with their levels."""
    if node.document is not None:
        yield Fact("weight", plain(node.document.weight), _own(sources, node, "weight", "equal among its siblings"))
    yield from _state(sources, node)
    for name in Rules.__slots__:
        value, origin = rule(org, sources, node, name)
        yield Fact(_key(name), value, origin)
    yield from _nearest(sources, node, "topology", "topology")
    yield from _nearest(sources, node, "autoscaling", "autoscaling")
    yield from _priorities(org, sources, node)
    yield from _expiry(sources, node)
    yield from _nearest(sources, node, "owner", "owner")
    yield from _nearest(sources, node, "cost_center", "costCenter")
    if not node.inner:
        yield from _namespaces(sources, node)
    yield from _people(org, sources, node)


def rule(org: Org, sources: Sources, node: Node, name: str) -> tuple[str, Origin]:
    """A key of the policy in force: as the nearest unit says it, else the organization, else by default."""
    for unit in _upwards(node):
        policy = unit.document.policy if unit.document is not None else org.document.policy
        if (value := getattr(policy, name)) is not None:
            return value, written(sources, (*unit.path, "policy", _key(name)), _said(node, unit))
    return getattr(Rules(), name), Origin(DEFAULT, "no policy says any")


def _key(name: str) -> str:
    """As the language spells it."""
    return Policy.model_fields[name].alias or name


def _upwards(node: Node) -> Iterator[Node]:
    """The unit and those above it, the organization last."""
    found: Node | None = node
    while found is not None:
        yield found
        found = found.parent


def _said(node: Node, unit: Node) -> str:
    """Who says it, where that is another unit."""
    if unit is node:
        return ""
    return f"said by {unit.title}" if unit.title else "said by the organization"


def _own(sources: Sources, node: Node, key: str, default: str) -> Origin:
    found = derived(sources, WRITTEN, "", [(*node.path, key)])
    return found if found.places else Origin(DEFAULT, default)


def _state(sources: Sources, node: Node) -> Iterator[Fact]:
    """The most restrictive on the way up; the nearest unit of those that say it."""
    origin = Origin(DEFAULT, "no unit says any")
    for unit in _upwards(node):
        if unit.document is not None and unit.document.state == node.state:
            found = derived(sources, WRITTEN, _said(node, unit), [(*unit.path, "state")])
            if found.places:
                origin = found
                break
    yield Fact("state", node.state, origin)


def _nearest(sources: Sources, node: Node, attribute: str, key: str) -> Iterator[Fact]:
    """What the nearest unit says that says anything; nothing where none does."""
    for unit, document in _documents(node):
        if value := getattr(document, attribute, None):
            yield Fact(key, value, written(sources, (*unit.path, key), _said(node, unit)))
            return


def _priorities(org: Org, sources: Sources, node: Node) -> Iterator[Fact]:
    """Those that its jobs may have, where the organization has any."""
    if not org.document.priorities:
        return
    origin = Origin(DEFAULT, "all of the organization")
    for unit, document in _documents(node):
        if document.priorities is not None:
            origin = written(sources, (*unit.path, "priorities"), _said(node, unit))
            break
    yield Fact("priorities", ", ".join(node.priorities) or "none", origin)


def _expiry(sources: Sources, node: Node) -> Iterator[Fact]:
    """The earliest date on the way up."""
    dated = [(document.expires, unit) for unit, document in _documents(node) if document.expires]
    if dated:
        date, unit = min(dated, key=lambda each: each[0])
        yield Fact("expires", date, written(sources, (*unit.path, "expires"), _said(node, unit)))


def _namespaces(sources: Sources, node: Node) -> Iterator[Fact]:
    for name, unit in namespaces(node):
        path = (*unit.path, "namespace")
        given = getattr(unit.document, "namespace", None)
        origin = written(sources, path) if given else Origin("name", f"the path {unit.title}, joined by -")
        yield Fact("namespace", name, origin)


def _people(org: Org, sources: Sources, node: Node) -> Iterator[Fact]:
    """Everybody with a level, by the unit that says so, from the unit upwards; platform staff has none in a unit."""
    platform = org.document.access
    if node.document is None:
        for level, key in (("admin", "admins"), ("auditor", "auditors")):
            yield from _subjects(sources, level, getattr(platform, key), ("access", key), "")
    for level, (attribute, key) in LEVELS.items():
        for unit, document in _documents(node):
            found = getattr(document.access, attribute)
            yield from _subjects(sources, level, found, (*unit.path, "access", key), _said(node, unit))


def _subjects(sources: Sources, level: str, subjects: list[str], path: KeyPath, said: str) -> Iterator[Fact]:
    for index, subject in enumerate(subjects):
        yield Fact(level, subject, written(sources, (*path, index), said))


def _documents(node: Node) -> Iterator[tuple[Node, Unit]]:
    return ((unit, unit.document) for unit in _upwards(node) if unit.document is not None)
