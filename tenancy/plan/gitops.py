"""Where the output of a cluster lives, and what applies it there."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tenancy.model.gitops import destination, engine_namespace
from tenancy.model.organization import Org


@dataclass(frozen=True, slots=True, kw_only=True)
class GitOps:
    """What an engine must know of a cluster."""

    engine: Literal["argocd", "flux"]
    namespace: str
    """Of the engine."""
    repo: str
    branch: str
    folder: str
    """The cluster's folder in the repository."""
    destination: Mapping[str, str]
    """By which Argo CD knows the cluster: its `name` or its `server`."""
    tenant_repos: tuple[str, ...] | None
    """Where teams may deploy from; None where they get no project."""


def git_ops(org: Org, cluster: str) -> GitOps | None:
    """What the engine must know of `cluster`; None where the organization has no engine."""
    said = org.document.gitops
    if said is None:
        return None
    return GitOps(
        engine=said.engine,
        namespace=engine_namespace(said),
        repo=said.repo,
        branch=said.branch,
        folder=posixpath.normpath(posixpath.join(said.path, cluster)),
        destination=destination(org.document.clusters[cluster]),
        tenant_repos=None if said.tenant_repos is None else tuple(sorted(set(said.tenant_repos))),
    )
