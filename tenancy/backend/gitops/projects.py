"""AppProjects: what an Application may apply, and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from tenancy.backend.gitops.applications import Application, labels_of
from tenancy.backend.gitops.kinds import GOVERNING, Kind
from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.model.gitops import IN_CLUSTER, root_name, tenants_name
from tenancy.plan.gitops import GitOps
from tenancy.plan.values import ClusterPlan

API: Final = "argoproj.io/v1alpha1"


def project(plan: ClusterPlan, gitops: GitOps, application: Application) -> Object:
    """The project of one Application: one repository, one cluster, its kinds and no others.

    In any namespace: what is in a namespace that has left the project is never pruned (see `kinds`).
    """
    shared = "what is measured" if application.monitoring else "the cluster as a whole"
    whose = f"department {application.department}" if application.department else shared
    spec = {
        "description": f"What tenancy writes for {whose} in {plan.name}.",
        "sourceRepos": [gitops.repo],
        "destinations": [{**gitops.destination, "namespace": "*"}],
        "clusterResourceWhitelist": _listed(application.kinds.cluster),
        "namespaceResourceWhitelist": _listed(application.kinds.namespaced),
    }
    return _project(plan, gitops, application.name, application.department, spec)


def root_project(plan: ClusterPlan, gitops: GitOps) -> Object:
    """The project of the Application that syncs the others: Applications and projects beside Argo CD, nothing else."""
    spec = {
        "description": f"The Applications that tenancy writes for {plan.name}.",
        "sourceRepos": [gitops.repo],
        "destinations": [{"server": IN_CLUSTER, "namespace": gitops.namespace}],
        "clusterResourceWhitelist": [],
        "namespaceResourceWhitelist": _listed((Kind("argoproj.io", "AppProject"), Kind("argoproj.io", "Application"))),
    }
    return _project(plan, gitops, root_name(plan.organization, plan.name), "", spec)


def tenant_projects(plan: ClusterPlan, gitops: GitOps, applications: Iterable[Application]) -> Iterator[Object]:
    """For each department what its teams may deploy themselves: into their namespaces, but not what governs these."""
    for application in applications:
        namespaces = [
            each.name for each in plan.namespaces if plan.departments.get(each.folder) == application.department
        ]
        if gitops.tenant_repos is not None and application.department and namespaces:
            spec = {
                "description": f"What the teams of {application.department} deploy themselves in {plan.name}.",
                "sourceRepos": list(gitops.tenant_repos),
                "destinations": [{**gitops.destination, "namespace": name} for name in sorted(namespaces)],
                "clusterResourceWhitelist": [],
                "namespaceResourceBlacklist": _listed(GOVERNING),
            }
            yield _project(plan, gitops, tenants_name(application.name), application.department, spec)


def _project(plan: ClusterPlan, gitops: GitOps, name: str, department: str, spec: dict[str, Any]) -> Object:
    return obj(API, "AppProject", name, labels_of(plan, department), namespace=gitops.namespace, spec=spec)


def _listed(kinds: Iterable[Kind]) -> list[dict[str, str]]:
    return [{"group": kind.group, "kind": kind.kind} for kind in sorted(kinds)]
