"""Storage: classes and amounts, summed like budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.check.finding import Finding
from tenancy.check.wording import units_in_words
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.hardware import MEMORY, amount
from tenancy.model.organization import Node, Org
from tenancy.model.quantity import canonical, human
from tenancy.model.syntax import is_dns_subdomain

STORAGE_CLASS_NAME: Final = Rule(
    "storage-class-name",
    Severity.ERROR,
    "A name that a storage class cannot have",
    "The name is part of a ResourceQuota's key; the API server refuses the whole quota, and storage is without a "
    "bound.",
)
STORAGE_ABOVE_PARENT: Final = Rule(
    "storage-above-parent",
    Severity.ERROR,
    "Units with more storage than the unit above them",
    "Each namespace gets its own ResourceQuota, and nothing in the cluster adds them up: together they would fill "
    "more than the unit was given.",
)
STORAGE_NOT_DIVIDED: Final = Rule(
    "storage-not-divided",
    Severity.WARNING,
    "Storage that a department does not hand on",
    "A ResourceQuota counts one namespace, so a department's storage holds only where its teams say their part. A "
    "team that says nothing has none: its claims on the class are refused.",
)

_SHOWN = 3
_GIB = 1 << 30


def names(org: Org) -> Iterator[Finding]:
    """Storage classes have names that Kubernetes takes."""
    for unit in org.units:
        for name in unit.document.storage if unit.document is not None else ():
            if not is_dns_subdomain(name):
                message = f"`{unit.title}`: `{name}` cannot be the name of a storage class"
                help_ = "write the name as `kubectl get storageclass` shows it: lower-case letters, digits, `-` and `.`"
                yield Finding(STORAGE_CLASS_NAME, (*unit.path, "storage", name), message, help_, at_key=True)


def sums(org: Org) -> Iterator[Finding]:
    """What the units below a unit say of a class is no more than what the unit has."""
    claims: dict[int, dict[str, int]] = {}
    for unit in reversed(org.units):
        below = claims.pop(id(unit), {})
        own = _own(unit)
        for name, claimed in below.items():
            had = own.get(name)
            if had is not None and claimed > had:
                yield _above(unit, name, had, claimed)
        if unit.parent is not None and (below or own):
            above = claims.setdefault(id(unit.parent), {})
            for name, count in {**below, **own}.items():
                above[name] = above.get(name, 0) + count


def divided(org: Org) -> Iterator[Finding]:
    """Every team below a department that has a class says its part of it."""
    silent: dict[tuple[int, str], list[Node]] = {}
    for unit in org.units:
        if unit.kind == "team":
            for department, name in _undivided(unit):
                silent.setdefault((id(department), name), []).append(unit)
    for unit in org.units:
        for name in _own(unit) if silent and unit.kind == "department" else ():
            if teams := silent.get((id(unit), name)):
                yield _not_divided(unit, name, teams)


def _own(unit: Node) -> Mapping[str, int]:
    said = unit.document.storage if unit.document is not None else {}
    return {name: count for name, value in said.items() if (count := amount(value, MEMORY)) is not None} if said else {}


def _undivided(team: Node) -> Iterator[tuple[Node, str]]:
    """The nearest department above for each class of which neither the team nor all of its projects say a part."""
    said = set(team.document.storage) if team.document is not None else set()
    if team.children:
        said |= set.intersection(*(set(child.document.storage) if child.document else set() for child in team.children))
    for above in team.ancestors():
        for name in above.document.storage if above.document is not None else ():
            if name not in said:
                said.add(name)
                yield above, name


def _above(unit: Node, name: str, had: int, claimed: int) -> Finding:
    parts = [(child, _own(child)[name]) for child in unit.children if name in _own(child)]
    path: KeyPath = (*unit.path, "storage", name)
    message = (
        f"the units of `{unit.title}` have {human(claimed, MEMORY)} of `{name}` storage, "
        f"{human(claimed - had, MEMORY)} more than its {human(had, MEMORY)}"
    )
    related = tuple(
        (f"`{child.title}`: {human(count, MEMORY)}", (*child.path, "storage", name)) for child, count in parts[:_SHOWN]
    )
    help_ = f"raise it to {human(claimed, MEMORY)}, or take {human(claimed - had, MEMORY)} from the units below"
    return Finding(STORAGE_ABOVE_PARENT, path, message, help_, related)


def _not_divided(unit: Node, name: str, teams: list[Node]) -> Finding:
    says = "say" if len(teams) > 1 else "says"
    message = f"`{unit.title}` has `{name}` storage, but {units_in_words(teams)} {says} no part of it"
    left = _own(unit)[name] - sum(_claimed(child, name) for child in unit.children)
    part = max(0, left) // len(teams) // _GIB * _GIB
    each = f"such as `storage: {{{name}: {canonical(part, MEMORY)}}}`; `{name}: 0` keeps a team out"
    help_ = f"give each team its part, {each}" if part else f"write `storage: {{{name}: 0}}`: others have all of it"
    return Finding(STORAGE_NOT_DIVIDED, (*unit.path, "storage", name), message, help_)


def _claimed(unit: Node, name: str) -> int:
    own = _own(unit).get(name)
    return own if own is not None else sum(_claimed(child, name) for child in unit.children)


CHECKS: Final = (names, sums, divided)
RULES: Final = (STORAGE_CLASS_NAME, STORAGE_ABOVE_PARENT, STORAGE_NOT_DIVIDED)
