"""Subjects of access, as written and as parts."""

from __future__ import annotations

import re
from typing import NamedTuple

_SUBJECT = re.compile(
    r"(?P<kind>group|user):(?P<name>\S(?:.*\S)?)|serviceaccount:(?P<namespace>[^/\s]+)/(?P<account>[^/\s]+)"
)


class Subject(NamedTuple):
    """Somebody: `kind` is `group`, `user` or `serviceaccount`; only the last has a namespace."""

    kind: str
    name: str
    namespace: str = ""


def parse_subject(text: str) -> Subject | None:
    """A subject written `group:NAME`, `user:NAME` or `serviceaccount:NAMESPACE/NAME`; None where it is not one."""
    match = _SUBJECT.fullmatch(text)
    if match is None:
        return None
    if match["kind"]:
        return Subject(match["kind"], match["name"])
    return Subject("serviceaccount", match["account"], match["namespace"])
