"""Versions of the components that the compiler knows, and that run together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import listed
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Cluster
from tenancy.model.organization import Org
from tenancy.model.versions import (
    KUBERNETES,
    KUEUE,
    VOLCANO,
    VOLCANO_PATCHES,
    fitting,
    kubernetes_minor,
    kueue_minor,
    minor,
    patch,
    volcano_minor,
)

VERSION_UNKNOWN: Final = Rule(
    "version-unknown",
    Severity.ERROR,
    "A version that the compiler does not know",
    "Fields, defaults and feature gates differ between minor versions: a gate that a Kueue does not know stops its "
    "manager.",
)
VERSION_PAIR: Final = Rule(
    "version-pair",
    Severity.ERROR,
    "Versions that do not run together",
    "Neither the scheduler's makers nor we test this version on that Kubernetes: nobody knows whether its objects are "
    "accepted there.",
)
VERSION_TOO_OLD: Final = Rule(
    "version-too-old",
    Severity.ERROR,
    "A Volcano whose webhook has other rules",
    "Before 1.14.2 Volcano compares the numbers of a queue with those of its parent in other ways: what is written "
    "here would be refused, or a lost node would stop all scheduling.",
)


def versions(org: Org) -> Iterator[Finding]:
    """Each cluster has versions that are known, and a pair of the scheduler's own test matrix or of ours."""
    for name, cluster in org.document.clusters.items():
        path: KeyPath = ("clusters", name, "versions")
        if org.left_out and org.hides(path):
            continue
        found = [
            *_unknown((*path, "kubernetes"), "Kubernetes", cluster.versions.kubernetes, KUBERNETES),
            *_unknown((*path, "kueue"), "Kueue", cluster.versions.kueue, tuple(KUEUE)),
            *_unknown((*path, "volcano"), "Volcano", cluster.versions.volcano, tuple(VOLCANO)),
        ]
        yield from found or _too_old((*path, "volcano"), cluster.versions.volcano)
        if not found:
            yield from _pair(path, name, cluster)


def _unknown(path: KeyPath, what: str, said: str | None, known: tuple[str, ...]) -> Iterator[Finding]:
    if said is None or minor(said) in known:
        return
    problem = f"`{said}` is not a version of {what}" if minor(said) is None else f"{what} `{said}` is not known"
    yield Finding(VERSION_UNKNOWN, path, problem, f'write "{known[-1]}", with quotes; known are {listed(known)}')


def _too_old(path: KeyPath, said: str | None) -> Iterator[Finding]:
    if said is None:
        return
    first, running = VOLCANO_PATCHES.get(minor(said) or "", 0), patch(said)
    if running is not None and running < first:
        yield Finding(VERSION_TOO_OLD, path, f"Volcano `{said}` is too old", f'write "{minor(said)}.{first}" or newer')


def _pair(path: KeyPath, name: str, cluster: Cluster) -> Iterator[Finding]:
    """The scheduler of a cluster runs on its Kubernetes."""
    kubernetes, minors = kubernetes_minor(cluster), fitting(cluster)
    if kubernetes in minors:
        return
    key, title, version, table = _scheduler(cluster)
    others = [each for each, fit in table.items() if kubernetes in fit]
    other = f", or {title} {listed(others, 'or')}" if others else ""
    said = getattr(cluster.versions, key) is not None
    yield Finding(
        VERSION_PAIR,
        (*path, key) if said else (*path, "kubernetes"),
        f"cluster `{name}` has {title} `{version}` on Kubernetes `{kubernetes}`",
        f"write Kubernetes {listed(minors, 'or')}{other}",
        (("its Kubernetes", (*path, "kubernetes")),) if said and cluster.versions.kubernetes is not None else (),
    )


def _scheduler(cluster: Cluster) -> tuple[str, str, str, Mapping[str, tuple[str, ...]]]:
    """The key of its version, its name, its minor and what each minor runs on."""
    if cluster.scheduler == "volcano":
        return "volcano", "Volcano", volcano_minor(cluster.versions), VOLCANO
    return "kueue", "Kueue", kueue_minor(cluster.versions), KUEUE


RULES: Final = (VERSION_UNKNOWN, VERSION_PAIR, VERSION_TOO_OLD)
CHECKS: Final[tuple[Check, ...]] = (versions,)
