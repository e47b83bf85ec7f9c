"""What a GitOps engine gets: the files of a cluster, split into Applications that the engine syncs one by one.

Written last, from all files of a cluster with those of users' templates: an Application lists the folders that exist,
and its project the kinds that are in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from tenancy.backend.gitops.applications import Application, Applications
from tenancy.backend.gitops.argocd import argocd
from tenancy.backend.gitops.flux import flux, for_flux
from tenancy.backend.manifest import Manifest, Page, Selection
from tenancy.plan.gitops import GitOps
from tenancy.plan.values import ClusterPlan

Engine: TypeAlias = Callable[[ClusterPlan, GitOps, Sequence[Application]], Iterator[Manifest | Page]]

ENGINES: Final[Mapping[str, Engine]] = {"argocd": argocd, "flux": flux}
"""By the `engine` of an organization."""


def synced(
    plan: ClusterPlan, items: Iterable[Manifest | Page], custom: Iterable[Manifest] = ()
) -> Iterator[Manifest | Page | Selection]:
    """The files of a cluster, then those of its engine, where it has one. `custom` is counted, and not among them."""
    if plan.gitops is None:
        yield from items
        return
    found = Applications(plan)
    for item in items:
        if isinstance(item, Manifest):
            found.add(item)
            yield marked(plan, item)
        else:
            yield item
    for manifest in custom:
        found.add(manifest, custom=True)
    for each in found:
        yield each.selection()
    for item in ENGINES[plan.gitops.engine](plan, plan.gitops, tuple(found)):
        yield marked(plan, item) if isinstance(item, Manifest) else item


def marked(plan: ClusterPlan, manifest: Manifest) -> Manifest:
    """The file with annotations for the engine that the cluster has. Those of Argo CD are the ones without any."""
    if plan.gitops is None or plan.gitops.engine != "flux":
        return manifest
    return replace(manifest, objects=tuple(for_flux(obj) for obj in manifest.objects))
