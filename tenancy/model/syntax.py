"""The syntax of names and labels in Kubernetes (apimachinery's validation package)."""

from __future__ import annotations

import re

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LONGEST_NAME = 63
_LONGEST_SUBDOMAIN = 253


def is_dns_label(text: str) -> bool:
    """Lower-case letters, digits and dashes, at most 63 characters."""
    return len(text) <= _LONGEST_NAME and _DNS_LABEL.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """DNS labels joined by dots, at most 253 characters."""
    return len(text) <= _LONGEST_SUBDOMAIN and all(_DNS_LABEL.fullmatch(part) for part in text.split("."))


def is_label_value(text: str) -> bool:
    """Empty, or letters, digits, dashes, dots and underscores, at most 63 characters."""
    return text == "" or (len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None)


def is_label_key(text: str) -> bool:
    """A name of at most 63 characters, after a DNS subdomain and a slash if there is one."""
    prefix, slash, name = text.rpartition("/")
    return bool(name) and is_label_value(name) and (not slash or is_dns_subdomain(prefix))


def pattern_expression(pattern: str) -> str:
    """A pattern of names with `*` for any text as a regular expression for the whole name, of Python and of Go."""
    return ".*".join(re.escape(part).replace(r"\-", "-") for part in pattern.split("*"))
