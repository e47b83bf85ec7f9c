"""Flux (2.5 and later): a Kustomization for each part of a cluster, and one that a person applies, for all others.

It always applies server-side and has no waves: departments wait until what belongs to the cluster as a whole is there.
It applies before it prunes. What a person confirms for Argo CD Flux never prunes: it knows no question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tenancy.backend.gitops.applications import Application, labels_of
from tenancy.backend.gitops.health import CEL
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.shared.metadata import SYNC_OPTIONS, WAVE, obj
from tenancy.model.gitops import root_name
from tenancy.plan.gitops import GitOps
from tenancy.plan.values import ClusterPlan

API: Final = "kustomize.toolkit.fluxcd.io/v1"
SOURCE_API: Final = "source.toolkit.fluxcd.io/v1"
PRUNE: Final = "kustomize.toolkit.fluxcd.io/prune"
_GUARDED: Final = frozenset({"Prune=confirm", "Prune=false"})
_BOUNDS: Final = frozenset(
    {
        ("LimitRange", "tenancy"),
        ("NetworkPolicy", "default-deny"),
        ("ResourceQuota", "tenancy"),
        ("ResourceQuota", "tenancy-compute"),
        ("ResourceQuota", "tenancy-system-priorities"),
    }
)
"""What every namespace has as long as it is there. Argo CD prunes it after the queue, Flux at once: the namespace of a
removed team, which a person deletes, would stand open until then."""


def flux(plan: ClusterPlan, gitops: GitOps, found: Sequence[Application]) -> Iterator[Manifest]:
    """The files of `flux/`."""
    first = [each.name for each in found if not (each.department or each.monitoring)]
    objects = (_application(plan, gitops, each, first if each.department else []) for each in found)
    yield Manifest("flux/kustomizations.yaml", tuple(objects))
    yield Manifest("flux/bootstrap.yaml", (_source(plan, gitops), _root(plan, gitops)), listed=False)


def _source(plan: ClusterPlan, gitops: GitOps) -> Object:
    """The repository. Not among what Flux syncs: credentials are added to it by hand, and would be taken out again."""
    name = root_name(plan.organization, plan.name)
    spec = {"interval": "1m", "url": gitops.repo, "ref": {"branch": gitops.branch}}
    return obj(SOURCE_API, "GitRepository", name, plan.labels, namespace=gitops.namespace, spec=spec)


def _root(plan: ClusterPlan, gitops: GitOps) -> Object:
    name = root_name(plan.organization, plan.name)
    return obj(API, "Kustomization", name, plan.labels, namespace=gitops.namespace, spec=_spec(plan, gitops, "flux"))


def _application(plan: ClusterPlan, gitops: GitOps, application: Application, after: list[str]) -> Object:
    spec = _spec(plan, gitops, f"apps/{application.name}")
    if after:
        spec["dependsOn"] = [{"name": name} for name in after]
    if checks := list(_health(application)):
        spec["healthCheckExprs"] = checks
    labels = labels_of(plan, application.department)
    return obj(API, "Kustomization", application.name, labels, namespace=gitops.namespace, spec=spec)


def _spec(plan: ClusterPlan, gitops: GitOps, folder: str) -> dict[str, Any]:
    return {
        "interval": "10m",
        "retryInterval": "1m",
        "timeout": "5m",
        "sourceRef": {"kind": "GitRepository", "name": root_name(plan.organization, plan.name)},
        "path": f"./{gitops.folder}/{folder}",
        "prune": True,
        "wait": True,
        "force": False,
    }


def _health(application: Application) -> Iterator[dict[str, str]]:
    for kind, expressions in CEL.items():
        if kind in application.holds:
            yield {"apiVersion": f"{kind.group}/v1beta2", "kind": kind.kind, **expressions}


def for_flux(item: Object) -> Object:
    """The object with Flux's annotation in place of Argo CD's."""
    metadata = item["metadata"]
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(WAVE, None)
    options = {option.strip() for option in annotations.pop(SYNC_OPTIONS, "").split(",")}
    if not _GUARDED.isdisjoint(options) or (item["kind"], metadata["name"]) in _BOUNDS:
        annotations[PRUNE] = "disabled"
    kept = {key: value for key, value in metadata.items() if key != "annotations"}
    if annotations:
        kept["annotations"] = dict(sorted(annotations.items()))
    return {**item, "metadata": kept}
