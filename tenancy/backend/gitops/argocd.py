"""Argo CD: an Application with its project for each part of a cluster, and one that a person applies, for all others.

Every option was run (Argo CD 3.2.11 with Kueue 0.19.2). `PruneLast` for a whole Application would end the running jobs
of a removed team, `Replace` and `Force` wedge on finalizers, and without `refresh` a sync that failed keeps trying its
own commit.

The Application of a department has the finalizer that deletes its objects with it: a Cohort left behind would go on
lending the department's quota. Nothing goes before a person approves it, since namespaces and queues among the objects
ask for that (`finalizeApplicationDeletion` in controller/appcontroller.go). That of what is measured has it too: rules
left behind would go on raising alerts. That of the cluster has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tenancy.backend.gitops.applications import Application, labels_of
from tenancy.backend.gitops.health import argocd_cm
from tenancy.backend.gitops.projects import API, project, root_project, tenant_projects
from tenancy.backend.manifest import Manifest, Object, Page
from tenancy.backend.shared.metadata import obj
from tenancy.model.gitops import IN_CLUSTER, root_name
from tenancy.plan.gitops import GitOps
from tenancy.plan.values import ClusterPlan

FINALIZER: Final = "resources-finalizer.argocd.argoproj.io"

SYNC_POLICY: Final[Mapping[str, Any]] = {
    "automated": {"prune": True, "selfHeal": True},
    "syncOptions": ["ServerSideApply=true", "ApplyOutOfSyncOnly=true"],
    "retry": {"limit": 60, "refresh": True, "backoff": {"duration": "5s", "factor": 2, "maxDuration": "30s"}},
}
"""Half an hour of retries, then the sync counts as failed. Five, the default, are too few for Volcano: a tree of four
levels took six attempts to move GPUs between departments (run), and with `refresh` a commit pushed meanwhile has only
those that are left."""


def argocd(plan: ClusterPlan, gitops: GitOps, found: Sequence[Application]) -> Iterator[Manifest | Page]:
    """The files of `argocd/`."""
    yield Manifest("argocd/applications.yaml", tuple(_application(plan, gitops, each) for each in found))
    yield Manifest("argocd/projects.yaml", tuple(project(plan, gitops, each) for each in found))
    if tenants := tuple(tenant_projects(plan, gitops, found)):
        yield Manifest("argocd/tenant-projects.yaml", tenants)
    yield Manifest("argocd/bootstrap.yaml", (root_project(plan, gitops), _root(plan, gitops)), listed=False)
    values = {"namespace": gitops.namespace, **argocd_cm()}
    yield Page("argocd/argocd-cm.yaml", "gitops/argocd-cm.yaml.j2", values)


def _application(plan: ClusterPlan, gitops: GitOps, application: Application) -> Object:
    labels = labels_of(plan, application.department)
    spec = _spec(gitops, application.name, f"apps/{application.name}", gitops.destination)
    found = obj(API, "Application", application.name, labels, namespace=gitops.namespace, spec=spec)
    if application.department or application.monitoring:
        found["metadata"]["finalizers"] = [FINALIZER]
    return found


def _root(plan: ClusterPlan, gitops: GitOps) -> Object:
    """Beside Argo CD, wherever the cluster is. Not among what it syncs: it could allow itself more."""
    name = root_name(plan.organization, plan.name)
    spec = _spec(gitops, name, "argocd", {"server": IN_CLUSTER, "namespace": gitops.namespace})
    return obj(API, "Application", name, plan.labels, namespace=gitops.namespace, spec=spec)


def _spec(gitops: GitOps, project: str, folder: str, destination: Mapping[str, str]) -> dict[str, Any]:
    return {
        "project": project,
        "source": {
            "repoURL": gitops.repo,
            # A short name could be a tag as well, and costs Argo CD a request more.
            "targetRevision": f"refs/heads/{gitops.branch}",
            "path": f"{gitops.folder}/{folder}",
        },
        "destination": dict(destination),
        "syncPolicy": SYNC_POLICY,
    }
