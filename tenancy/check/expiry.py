"""Units with a last day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from tenancy.check.finding import Finding
from tenancy.diagnostics import Rule, Severity
from tenancy.model.organization import Node, Org

EXPIRES_SYNTAX: Final = Rule(
    "expires-syntax",
    Severity.ERROR,
    "A last day that is not a date",
    "A day that cannot be read never comes: the unit would keep its budget for ever.",
)
EXPIRED: Final = Rule(
    "expired",
    Severity.WARNING,
    "A unit whose last day is over",
    "Its budget is still held back from others, and its people still have access. Nothing is taken away without a "
    "change of the organization that somebody has reviewed.",
)

_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_REORDERED: Final = re.compile(r"(?P<day>\d{1,2})[./-](?P<month>\d{1,2})[./-](?P<year>\d{4})")


def syntax(org: Org) -> Iterator[Finding]:
    """Last days are dates."""
    for unit in org.units:
        text = unit.document.expires if unit.document is not None else None
        if text is not None and last_day(text) is None:
            message = f"`{unit.title}` expires `{text}`, which is not a date"
            yield Finding(EXPIRES_SYNTAX, (*unit.path, "expires"), message, _help(text))


def expired(org: Org, today: date) -> Iterator[Finding]:
    """No unit is past its last day."""
    for unit in org.units:
        text = unit.document.expires if unit.document is not None else None
        if text is not None and (day := last_day(text)) is not None and day < today:
            yield _expired(unit, day, today)


def last_day(text: str) -> date | None:
    """The date written as YEAR-MONTH-DAY; None where the text is not one."""
    if not _ISO.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _expired(unit: Node, day: date, today: date) -> Finding:
    days = (today - day).days
    message = f"`{unit.title}` expired on {day.isoformat()}, {days} {'day' if days == 1 else 'days'} ago"
    if unit.state == "draining":
        help_ = "remove the unit once its jobs have ended, or set a later day"
    else:
        help_ = "write `state: draining` to end its jobs and remove the unit afterwards, or set a later day"
    return Finding(EXPIRED, (*unit.path, "expires"), message, help_)


def _help(text: str) -> str:
    """The nearest date in the right order, where there is one."""
    found = _REORDERED.fullmatch(text.strip())
    if found:
        day, month = int(found["day"]), int(found["month"])
        if month <= 12 < day:
            return f"did you mean `{found['year']}-{month:02}-{day:02}`?"
    return "write year, month and day, such as `2027-03-31`"


CHECKS: Final = (syntax,)
RULES: Final = (EXPIRES_SYNTAX, EXPIRED)
