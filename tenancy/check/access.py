"""Access: subjects that name somebody, and nobody by accident."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from tenancy.check import mending
from tenancy.check.finding import Finding
from tenancy.diagnostics import Edit, KeyPath, Rule, Severity
from tenancy.model.access import Subject, parse_subject
from tenancy.model.document import Access
from tenancy.model.organization import Org
from tenancy.model.syntax import is_dns_label, is_dns_subdomain

SUBJECT_SYNTAX: Final = Rule(
    "subject-syntax",
    Severity.ERROR,
    "A subject that cannot be read",
    "A role binding needs the kind of its subject: without it the API server refuses the binding, and nobody of "
    "the list gets in.",
)
SUBJECT_SYSTEM: Final = Rule(
    "subject-system",
    Severity.ERROR,
    "A group or user of the cluster itself",
    "Names that start with `system:` belong to Kubernetes: `system:authenticated` is everybody who has any login, "
    "`system:masters` bypasses every rule. Bindings to them open the unit to the whole cluster.",
)
SUBJECT_WILDCARD: Final = Rule(
    "subject-wildcard",
    Severity.ERROR,
    "A subject with a wildcard",
    "Role bindings compare names letter by letter: a subject with a wildcard matches nobody.",
)
SUBJECT_BLANK: Final = Rule(
    "subject-blank",
    Severity.WARNING,
    "A subject with a blank in its name",
    "Identity providers send names or ids of groups and not their titles. A name that no login carries gives "
    "nobody access, without any error.",
)
SUBJECT_TWICE: Final = Rule(
    "subject-twice",
    Severity.WARNING,
    "A subject that is listed twice",
    "Whoever is removed from one line keeps the access by the other.",
)
SUBJECT_AT_TWO_LEVELS: Final = Rule(
    "subject-at-two-levels",
    Severity.WARNING,
    "A subject at two levels of access",
    "Rights add up, so the higher level wins: a reader of the lower one believes that somebody may do less than "
    "is true.",
)
SERVICE_ACCOUNT_NAME: Final = Rule(
    "service-account-name",
    Severity.ERROR,
    "A name that a service account cannot have",
    "The API server refuses the service account, and the jobs that should run under it cannot be created.",
)
SERVICE_ACCOUNT_DEFAULT: Final = Rule(
    "service-account-default",
    Severity.ERROR,
    "Rights for the service account that every pod has",
    "Pods that name no service account run as `default`: every job of the namespace could create and delete the "
    "jobs of the others.",
)

LEVELS: Final = ("admins", "members", "viewers")
"""The lists of subjects of a unit, from most to least rights."""
_PLAIN: Final = re.compile(r"(group|user):(?!system:)[!-)+-~]+")
"""Subjects that no rule is about: nearly all of them, told apart without reading them in parts."""
_NOT_SHOWN: Final = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""Unicode's general categories of control, format and private characters, and of line breaks."""
_FORM: Final = "write `group:NAME`, `user:NAME` or `serviceaccount:NAMESPACE/NAME`"


def platform(org: Org) -> Iterator[Finding]:
    """Subjects of the platform staff."""
    access = org.document.access
    for level, subjects in (("admins", access.admins), ("auditors", access.auditors)):
        if subjects:
            yield from _subjects("the organization", subjects, ("access", level))
    yield from _levels("the organization", (("admins", access.admins), ("auditors", access.auditors)), ("access",))


def units(org: Org) -> Iterator[Finding]:
    """Subjects and service accounts of every unit."""
    for unit in org.units:
        access = unit.document.access if unit.document is not None else None
        if access is None or not access.model_fields_set:
            continue
        every = [*access.admins, *access.members, *access.viewers]
        path: KeyPath = (*unit.path, "access")
        if not all(map(_PLAIN.fullmatch, every)) or len(set(every)) < len(every):
            lists, who = tuple((level, getattr(access, level)) for level in LEVELS), f"`{unit.title}`"
            for level, subjects in lists:
                yield from _subjects(who, subjects, (*path, level))
            yield from _levels(who, lists, path)
        if access.service_accounts:
            yield from _service_accounts(f"`{unit.title}`", access, (*path, "serviceAccounts"))


def _subjects(who: str, subjects: list[str], path: KeyPath) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for index, text in enumerate(subjects):
        first = seen.setdefault(text, index)
        if first != index:
            message = f"{who} lists `{text}` twice as {path[-1]}"
            related = (("the first", (*path, first)),)
            yield Finding(
                SUBJECT_TWICE, (*path, index), message, "remove one", related, edits=mending.leave_out((*path, index))
            )
            continue
        subject = parse_subject(text)
        if "*" in text:
            help_ = "name each subject, or a group that holds them all"
            yield Finding(SUBJECT_WILDCARD, (*path, index), f"{who}: `{text}` has a wildcard", help_)
        elif subject is None or not _well_formed(subject):
            message, help_ = f"{who}: `{text}` is not a subject", _syntax_help(text, subject)
            edits = mending.offered((*path, index), help_)
            yield Finding(SUBJECT_SYNTAX, (*path, index), message, help_, edits=edits)
        elif (found := _suspicious(who, text, subject, (*path, index))) is not None:
            yield found


def _well_formed(subject: Subject) -> bool:
    if subject.kind != "serviceaccount":
        return _hidden(subject.name) is None
    return is_dns_label(subject.namespace) and is_dns_subdomain(subject.name)


def _hidden(name: str) -> str | None:
    """The first character that is not shown, or turns the text around it."""
    return next((each for each in name if unicodedata.category(each) in _NOT_SHOWN), None)


def _syntax_help(text: str, subject: Subject | None) -> str:
    """The nearest subject that the text may mean."""
    if subject is not None and (found := _hidden(subject.name)) is not None:
        return f"delete the character U+{ord(found):04X}, which is not shown"
    if subject is not None:
        return "write namespace and name with lower-case letters, digits and `-`"
    kind, colon, name = (part.strip() for part in text.partition(":"))
    kind = kind.lower()
    if kind == "system":
        return f"{_FORM}; a service account in a login's form is written `serviceaccount:NAMESPACE/NAME`"
    if kind in ("group", "user") and name:
        return f"did you mean `{kind}:{name}`?"
    if kind in ("serviceaccount", "sa"):
        return "write `serviceaccount:NAMESPACE/NAME`, with the namespace of the account"
    if not colon and "@" in text:
        return f"did you mean `user:{text}`? {_FORM}"
    return f"did you mean `group:{text.strip()}`? {_FORM}" if not colon and text.strip() else _FORM


def _suspicious(who: str, text: str, subject: Subject, path: KeyPath) -> Finding | None:
    """A subject that can be read but names somebody else, or nobody."""
    if subject.name.startswith("system:"):
        help_, edits = "name a group or a user of your identity provider", tuple[Edit, ...]()
        if subject.name.startswith("system:serviceaccount:"):
            namespace, _, name = subject.name.removeprefix("system:serviceaccount:").partition(":")
            help_ = f"write `serviceaccount:{namespace}/{name}`"
            edits = (
                mending.write(path, f"serviceaccount:{namespace}/{name}") if is_dns_label(namespace) and name else ()
            )
        return Finding(SUBJECT_SYSTEM, path, f"{who}: `{text}` belongs to the cluster itself", help_, edits=edits)
    if any(character.isspace() for character in subject.name):
        help_ = "write the name as it stands in the login's claims (`kubectl auth whoami` shows it)"
        return Finding(SUBJECT_BLANK, path, f"{who}: `{text}` has a blank in its name", help_)
    return None


def _levels(who: str, lists: tuple[tuple[str, list[str]], ...], path: KeyPath) -> Iterator[Finding]:
    """A subject has one level in one unit."""
    highest: dict[str, KeyPath] = {}
    for level, subjects in lists:
        for index, text in enumerate(subjects):
            first = highest.setdefault(text, (*path, level, index))
            if first[-2] != level:
                message = f"{who}: `{text}` is among the {level} and the {first[-2]}"
                help_ = f"remove it from {level}: the {first[-2]}' rights decide"
                related = ((f"among the {first[-2]}", first),)
                at = (*path, level, index)
                yield Finding(SUBJECT_AT_TWO_LEVELS, at, message, help_, related, edits=mending.leave_out(at))


def _service_accounts(who: str, access: Access, path: KeyPath) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for index, name in enumerate(access.service_accounts):
        first = seen.setdefault(name, index)
        if first != index:
            message = f"{who} lists the service account `{name}` twice"
            at, related = (*path, index), (("the first", (*path, first)),)
            yield Finding(SUBJECT_TWICE, at, message, "remove one", related, edits=mending.leave_out(at))
        elif name == "default":
            message = f"{who} gives the rights of members to the service account `default`"
            yield Finding(SERVICE_ACCOUNT_DEFAULT, (*path, index), message, "name another, such as `ci`")
        elif not is_dns_label(name):
            message = f"{who}: `{name}` cannot be the name of a service account"
            help_ = "write lower-case letters, digits and `-`, at most 63 characters"
            if parse_subject(name) is not None:
                help_ += "; service accounts of other namespaces belong under `members`"
            yield Finding(SERVICE_ACCOUNT_NAME, (*path, index), message, help_)


CHECKS: Final = (platform, units)
RULES: Final = (
    SUBJECT_SYNTAX,
    SUBJECT_SYSTEM,
    SUBJECT_WILDCARD,
    SUBJECT_BLANK,
    SUBJECT_TWICE,
    SUBJECT_AT_TWO_LEVELS,
    SERVICE_ACCOUNT_NAME,
    SERVICE_ACCOUNT_DEFAULT,
)
