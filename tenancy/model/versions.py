"""The versions of Kubernetes and Kueue that the compiler knows, and which go together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tenancy.model.document import Versions

KUEUE: Final[Mapping[str, tuple[str, ...]]] = {
    "0.17": ("1.34", "1.35"),
    "0.18": ("1.34", "1.35"),
    "0.19": ("1.34", "1.35", "1.36"),
}
"""Kueue minors and the Kubernetes minors of their CI matrix that have schemas here (Kueue's release notes)."""

KUBERNETES: Final = ("1.34", "1.35", "1.36")
DEFAULT_KUEUE: Final = "0.19"
DEFAULT_KUBERNETES: Final = "1.36"

_VERSION = re.compile(r"v?(\d+\.\d+)(?:\.(\d+))?")


def minor(text: str) -> str | None:
    """`1.36` of `1.36`, `v1.36` or `1.36.3`; None where the text is not a version."""
    match = _VERSION.fullmatch(text)
    return match[1] if match else None


def number(minor: str) -> tuple[int, int]:
    """(1, 36) of `1.36`: minors compare as numbers, not as texts."""
    major, _, rest = minor.partition(".")
    return int(major), int(rest)


def patch(text: str) -> int | None:
    """3 of `1.36.3`; None where the text says no patch."""
    match = _VERSION.fullmatch(text)
    return int(match[2]) if match and match[2] else None


def kueue_minor(versions: Versions) -> str:
    """The Kueue minor of a cluster; the default where it says none."""
    return (minor(versions.kueue) if versions.kueue else None) or DEFAULT_KUEUE


def kubernetes_minor(versions: Versions) -> str:
    """The Kubernetes minor of a cluster; the newest that its Kueue runs on where it says none."""
    said = minor(versions.kubernetes) if versions.kubernetes else None
    return said or KUEUE.get(kueue_minor(versions), (DEFAULT_KUBERNETES,))[-1]
