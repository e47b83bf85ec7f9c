"""KEDA as far as an API server sees it: its kinds, and its operator's rights.

It is not run: what it would do a test does in its place, as its account.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.cluster import build, manager
from tests.cluster.client import Client, Object
from tests.cluster.plane import Cluster, restart_controllers, until

GROUP: Final = "/apis/keda.sh/v1alpha1"
OPERATOR: Final = "system:serviceaccount:keda:keda-operator"


@contextmanager
def installed(cluster: Cluster) -> Iterator[None]:
    """The kinds, counted by quotas, and the rights; gone afterwards, since other tests do not want to carry them."""
    found: list[Object] = json.loads(build.keda().read_text(encoding="utf-8"))
    kinds = [each for each in found if each["kind"] == "CustomResourceDefinition"]
    manager.install_crds(cluster, kinds)
    for each in found:
        cluster.client.apply(each)
    restart_controllers(cluster)
    try:
        yield
    finally:
        for each in reversed(found):
            cluster.client.delete(cluster.client.path(each))
        paths = [cluster.client.path(each) for each in kinds]
        until(lambda: not any(map(cluster.client.find, paths)), "KEDA's kinds are gone")


def operator(cluster: Cluster) -> Client:
    """KEDA's operator."""
    return cluster.client.acting_as(OPERATOR, ["system:serviceaccounts", "system:serviceaccounts:keda"])
