"""The versions of Kubernetes, Kueue and Volcano that the compiler knows, and which go together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tenancy.model.document import Cluster, Versions

KUEUE: Final[Mapping[str, tuple[str, ...]]] = {
    "0.17": ("1.34", "1.35"),
    "0.18": ("1.34", "1.35"),
    "0.19": ("1.34", "1.35", "1.36"),
}
"""Kueue minors and the Kubernetes minors of their CI matrix that have schemas here (Kueue's release notes)."""

VOLCANO: Final[Mapping[str, tuple[str, ...]]] = {
    "1.14": ("1.34",),
    "1.15": ("1.34", "1.35", "1.36"),
}
"""Volcano minors and the Kubernetes minors of their project's matrix that have schemas here; 1.15 on 1.36 is not in it
and is what tests/cluster runs."""
VOLCANO_PATCHES: Final[Mapping[str, int]] = {"1.14": 2}
"""The first patch of a minor whose webhook has the rules of today (Volcano 1.14.2 changed them)."""

KUBERNETES: Final = ("1.34", "1.35", "1.36")
MUTATING_SINCE: Final = (1, 36)
"""The first Kubernetes minor that serves MutatingAdmissionPolicy as v1."""

DEFAULT_KUEUE: Final = "0.19"
DEFAULT_VOLCANO: Final = "1.15"
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


def volcano_minor(versions: Versions) -> str:
    """The Volcano minor of a cluster; the default where it says none."""
    return (minor(versions.volcano) if versions.volcano else None) or DEFAULT_VOLCANO


def kubernetes_minor(cluster: Cluster) -> str:
    """The Kubernetes minor of a cluster; the newest that its scheduler runs on where it says none."""
    said = minor(cluster.versions.kubernetes) if cluster.versions.kubernetes else None
    return said or fitting(cluster)[-1]


def fitting(cluster: Cluster) -> tuple[str, ...]:
    """The Kubernetes minors that the scheduler of a cluster, in its version, runs on, from old to new."""
    if cluster.scheduler == "kueue":
        return KUEUE.get(kueue_minor(cluster.versions), (DEFAULT_KUBERNETES,))
    if cluster.scheduler == "volcano":
        return VOLCANO.get(volcano_minor(cluster.versions), (DEFAULT_KUBERNETES,))
    return KUBERNETES
