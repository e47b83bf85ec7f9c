"""Versions of the components that the compiler knows, and that run together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import listed
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Versions
from tenancy.model.organization import Org
from tenancy.model.versions import KUBERNETES, KUEUE, kubernetes_minor, kueue_minor, minor

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
    "Kueue's makers do not test this version on that Kubernetes: nobody knows whether its objects are accepted there.",
)


def versions(org: Org) -> Iterator[Finding]:
    """Each cluster has versions that are known, and a pair of Kueue's own test matrix."""
    for name, cluster in org.document.clusters.items():
        path: KeyPath = ("clusters", name, "versions")
        if org.left_out and org.hides(path):
            continue
        found = [
            *_unknown((*path, "kubernetes"), "Kubernetes", cluster.versions.kubernetes, KUBERNETES),
            *_unknown((*path, "kueue"), "Kueue", cluster.versions.kueue, tuple(KUEUE)),
        ]
        yield from found
        if not found and cluster.scheduler == "kueue":
            yield from _pair(path, name, cluster.versions)


def _unknown(path: KeyPath, what: str, said: str | None, known: tuple[str, ...]) -> Iterator[Finding]:
    if said is None or minor(said) in known:
        return
    problem = f"`{said}` is not a version of {what}" if minor(said) is None else f"{what} `{said}` is not known"
    yield Finding(VERSION_UNKNOWN, path, problem, f'write "{known[-1]}", with quotes; known are {listed(known)}')


def _pair(path: KeyPath, cluster: str, said: Versions) -> Iterator[Finding]:
    kueue, kubernetes = kueue_minor(said), kubernetes_minor(said)
    if kubernetes in KUEUE[kueue]:
        return
    fitting = [each for each, minors in KUEUE.items() if kubernetes in minors]
    other = f", or Kueue {listed(fitting, 'or')}" if fitting else ""
    yield Finding(
        VERSION_PAIR,
        (*path, "kueue") if said.kueue is not None else (*path, "kubernetes"),
        f"cluster `{cluster}` has Kueue `{kueue}` on Kubernetes `{kubernetes}`",
        f"write Kubernetes {listed(KUEUE[kueue], 'or')}{other}",
        (("its Kubernetes", (*path, "kubernetes")),) if said.kueue is not None and said.kubernetes is not None else (),
    )


RULES: Final = (VERSION_UNKNOWN, VERSION_PAIR)
CHECKS: Final[tuple[Check, ...]] = (versions,)
