"""Names that Kubernetes takes, and that stay different from each other once they are joined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Project, Team
from tenancy.model.organization import Node, Org
from tenancy.model.syntax import is_dns_label

NAME_SYNTAX: Final = Rule(
    "name-syntax",
    Severity.ERROR,
    "A name that Kubernetes does not take",
    "Names become names of objects, label values and folders; the API server refuses all but lower-case letters, "
    "digits and dashes.",
)
NAME_TOO_LONG: Final = Rule(
    "name-too-long",
    Severity.ERROR,
    "A joined name of more than 63 characters",
    "The path of a unit is the name of its queue and the value of labels, where the API server refuses more than 63 "
    "characters: no job could name the queue.",
)
NAME_AMBIGUOUS: Final = Rule(
    "name-ambiguous",
    Severity.ERROR,
    "Two units whose joined names are the same",
    "Their queues would be one object: the second definition overwrites the first, and one unit runs on the other's "
    "quota.",
)
NAME_OF_ORGANIZATION: Final = Rule(
    "name-of-organization",
    Severity.ERROR,
    "A unit with the name of the organization",
    "The queue of the unit would be its own parent. Kueue's queues of a cycle never admit a job, and one that is "
    "created there ends Kueue's manager at the next change of any namespace (run on 0.17.0 and 0.19.2); Volcano's "
    "webhook refuses the queue.",
)
NAME_RESERVED: Final = Rule(
    "name-reserved",
    Severity.ERROR,
    "A unit with the name of a generated file",
    "The objects of a team and of a department are files of their names, and each folder has a kustomization.yaml that "
    "lists them: one would overwrite the other.",
)
NO_CLUSTERS: Final = Rule(
    "no-clusters",
    Severity.ERROR,
    "An organization without a cluster",
    "Every flavor and every queue belongs to a cluster: there is nothing to compile.",
)
NO_FLAVORS: Final = Rule(
    "no-flavors",
    Severity.ERROR,
    "An organization without a flavor",
    "Without nodes there is nothing to budget: every queue would be empty.",
)
NO_DEPARTMENTS: Final = Rule(
    "no-departments",
    Severity.WARNING,
    "An organization without a department",
    "Queues and namespaces belong to departments: nobody could run anything.",
)

_LONGEST = 63
_FILE_OF_FOLDERS = "kustomization"


def syntax(org: Org) -> Iterator[Finding]:
    """Every name is a DNS label."""
    document = org.document
    if not is_dns_label(document.name) and not (org.left_out and org.hides(("name",))):
        yield _bad_name(("name",), "the organization", document.name, at_key=False)
    for key, noun, names in (
        ("clusters", "cluster", document.clusters),
        ("flavors", "flavor", document.flavors),
    ):
        for name in names:
            if not is_dns_label(name):
                yield _bad_name((key, name), f"a {noun}", name)
    for name in document.network.services:
        if not is_dns_label(name):
            yield _bad_name(("network", "services", name), "a service", name)
    for unit in org.units:
        if not is_dns_label(unit.name):
            yield _bad_name(unit.path, f"a {unit.kind}", unit.name)
        elif isinstance(unit.document, Team | Project):
            namespace = unit.document.namespace
            if namespace is not None and not is_dns_label(namespace):
                yield _bad_name((*unit.path, "namespace"), f"the namespace of `{unit.title}`", namespace, at_key=False)


def reserved(org: Org) -> Iterator[Finding]:
    """No file of objects has the name of the file that lists them."""
    for unit in org.units:
        if unit.name == _FILE_OF_FOLDERS and (unit.kind == "team" or unit.queue == _FILE_OF_FOLDERS):
            yield Finding(
                NAME_RESERVED,
                unit.path,
                f"a {unit.kind} cannot be called `{unit.name}`",
                "give it another name",
                at_key=True,
            )


def _bad_name(path: KeyPath, what: str, name: str, *, at_key: bool = True) -> Finding:
    meant = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST].strip("-")
    hint = f"write `{meant}`: " if meant and meant != name else "write "
    return Finding(
        NAME_SYNTAX,
        path,
        f"{what} cannot be called `{name}`",
        f"{hint}lower-case letters, digits and dashes, a letter or digit at both ends, at most {_LONGEST} characters",
        at_key=at_key,
    )


def lengths(org: Org) -> Iterator[Finding]:
    """Joined names of queues and namespaces have at most 63 characters."""
    for unit in org.units:
        if len(unit.queue) <= _LONGEST or not _named(unit) or len(unit.name) > _LONGEST:
            continue
        parent = unit.parent.queue if unit.parent is not None else ""
        if len(parent) > _LONGEST:
            continue
        room = _LONGEST - len(parent) - 1
        shorter = (
            "shorten a name above it"
            if room < 1
            else f"write a name of at most {room} characters, or a shorter one above it"
        )
        yield Finding(
            NAME_TOO_LONG,
            unit.path,
            f"the name of `{unit.title}` comes to {len(unit.queue)} characters: `{unit.queue}`",
            shorter,
            at_key=True,
        )


def _named(unit: Node) -> bool:
    """Whether the joined name is used: a project without a budget and with a namespace of its own name needs none."""
    document = unit.document
    return not (isinstance(document, Project) and document.namespace is not None and not unit.budget)


def ambiguous(org: Org) -> Iterator[Finding]:
    """Different units have different joined names."""
    first: dict[str, Node] = {}
    for unit in org.units:
        if unit.kind == "project" and not unit.budget:
            continue
        other = first.setdefault(unit.queue, unit)
        if other is not unit and not _inherited(unit, other):
            yield Finding(
                NAME_AMBIGUOUS,
                unit.path,
                f"`{other.title}` and `{unit.title}` are both called `{unit.queue}` once their names are joined",
                "rename one of them",
                ((f"`{other.title}`", other.path),),
                at_key=True,
            )


def _inherited(unit: Node, other: Node) -> bool:
    """Whether the units above them collide already, with the same names below."""
    return (
        unit.name == other.name
        and unit.parent is not None
        and other.parent is not None
        and unit.parent.parent is not None
        and unit.parent.queue == other.parent.queue
    )


def of_organization(org: Org) -> Iterator[Finding]:
    """No group of queues is called like the organization."""
    for unit in org.units:
        if unit.inner and unit.queue == org.document.name:
            yield Finding(
                NAME_OF_ORGANIZATION,
                unit.path,
                f"department `{unit.title}` has the name of the organization",
                "rename one of them",
                (("the organization", ("name",)),),
                at_key=True,
            )


def emptiness(org: Org) -> Iterator[Finding]:
    """There is a cluster, a flavor and a department."""
    document = org.document
    for rule, key, found in (
        (NO_CLUSTERS, "clusters", document.clusters),
        (NO_FLAVORS, "flavors", document.flavors),
        (NO_DEPARTMENTS, "departments", document.departments),
    ):
        if not found and not (org.left_out and org.hides((key,))):
            examples = {
                "clusters": "add one: `clusters: {train: {scheduler: kueue}}`",
                "flavors": "add one; `tenancy gpus` lists the boards, docs/language.md the keys",
                "departments": "add one, such as `research: {teams: {vision: {}}}`, or a file under org/departments/",
            }
            yield Finding(rule, (key,), f"`{key}` is empty", examples[key], at_key=True)


RULES: Final = (
    NAME_SYNTAX,
    NAME_TOO_LONG,
    NAME_AMBIGUOUS,
    NAME_OF_ORGANIZATION,
    NAME_RESERVED,
    NO_CLUSTERS,
    NO_FLAVORS,
    NO_DEPARTMENTS,
)
CHECKS: Final[tuple[Check, ...]] = (syntax, lengths, reserved, ambiguous, of_organization, emptiness)
