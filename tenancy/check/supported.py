"""Parts of the language that no backend lowers yet: refused by name, never accepted and ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.check.wording import in_kueue
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.document import Cluster, Flavor
from tenancy.model.organization import Org

NOT_SUPPORTED_YET: Final = Rule(
    "not-supported-yet",
    Severity.ERROR,
    "A part of the language that is not implemented yet",
    "It would be accepted and have no effect, and somebody would rely on it.",
)


def supported(org: Org) -> Iterator[Finding]:
    """Every key that was written has an effect."""
    document = org.document
    for name, cluster in document.clusters.items():
        for path, what, instead in _of_cluster(("clusters", name), cluster):
            yield _finding(path, what, instead)
    for name, flavor in document.flavors.items():
        for path, what, instead in _of_flavor(("flavors", name), flavor):
            yield _finding(path, what, instead)
    if document.gitops is not None:
        yield _finding(("gitops",), "`gitops`", "remove it, and point your engine at the folders of out/ yourself")
    for unit in org.units:
        if unit.document is None:
            continue
        if unit.document.priorities is not None:
            yield _finding(
                (*unit.path, "priorities"),
                f"`priorities` of `{unit.title}`",
                "remove it: every unit may use every priority",
            )
        if unit.document.topology is not None:
            own = "annotate jobs with `kueue.x-k8s.io/podset-required-topology`"
            instead = own if in_kueue(org, unit) else "write `networkTopology` in the jobs"
            yield _finding((*unit.path, "topology"), f"`topology` of `{unit.title}`", f"remove it, and {instead}")


def _of_cluster(path: KeyPath, cluster: Cluster) -> Iterator[tuple[KeyPath, str, str]]:
    name = path[-1]
    if cluster.destination is not None:
        yield (*path, "destination"), f"`destination` of cluster `{name}`", "remove it"


def _of_flavor(path: KeyPath, flavor: Flavor) -> Iterator[tuple[KeyPath, str, str]]:
    name = path[-1]
    if flavor.sharing is not None:
        yield (*path, "sharing"), f"`sharing` of flavor `{name}`", "remove it, or divide the GPUs with `mig`"
    if flavor.allocation == "dra":
        yield (*path, "allocation"), f"`allocation: dra` of flavor `{name}`", "write `allocation: device-plugin`"
    if flavor.autoscaling is not None:
        yield (
            (*path, "autoscaling"),
            f"`autoscaling` of flavor `{name}`",
            "remove it: budgets count the nodes under `nodes`",
        )


def _finding(path: KeyPath, what: str, instead: str) -> Finding:
    return Finding(NOT_SUPPORTED_YET, path, f"{what} is not supported yet", instead)


RULES: Final = (NOT_SUPPORTED_YET,)
CHECKS: Final[tuple[Check, ...]] = (supported,)
