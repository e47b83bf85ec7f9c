"""Argo CD on a cluster of the test bed, for each module anew."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.argocd.delivery import Delivery
from tests.argocd.repository import Repository
from tests.cluster import argocd, deploy, versions
from tests.cluster.build import REDIS, argocd_manifests, binary
from tests.cluster.conftest import (
    beds,
    cluster,
    means,
    pytest_configure,
    pytest_generate_tests,
)
from tests.cluster.plane import Cluster

__all__ = ["beds", "cluster", "means", "pytest_configure", "pytest_generate_tests"]


@pytest.fixture(scope="session")
def with_argocd(means: None) -> None:  # noqa: ARG001
    """Whether this machine can run Argo CD: a skip where it cannot, a failure where CI insists."""
    missing = [part.name for part in (versions.ARGOCD, versions.KUSTOMIZE) if not binary(part).exists()]
    missing += [] if argocd_manifests().exists() else ["its installation"]
    missing += [] if shutil.which(REDIS) else [REDIS]
    if missing:
        message = f"no Argo CD: not there: {', '.join(missing)}; `make test-argocd` brings them"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)


@pytest.fixture(scope="module")
def delivery(
    with_argocd: None,  # noqa: ARG001
    cluster: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Delivery]:
    """Argo CD, an empty repository and an empty cluster."""
    argocd.start(cluster)
    yield Delivery(cluster, Repository(tmp_path_factory.mktemp("repository") / "org"))
    argocd.stop(cluster)
    deploy.withdraw(cluster)
