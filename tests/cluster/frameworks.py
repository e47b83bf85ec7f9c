"""The frameworks whose jobs Kueue manages, as far as an API server and Kueue see them: their kinds, no controllers.

Kueue makes a Workload of a job as soon as its kind is served, so quotas, webhooks and policies act; only pods are
missing. Every framework of `tenancy.backend.kueue.work` is here: all of their modules are published.
"""

from __future__ import annotations

import json

from tests.cluster import manager
from tests.cluster.build import framework_crds
from tests.cluster.client import Object
from tests.cluster.plane import Cluster, restart_controllers


def install(cluster: Cluster) -> None:
    """Serve the kinds that the cluster's Kueue was built for, to a manager that starts after them: one that ran before
    manages all of them too but TrainJobs, whose runtimes it then calls unsupported.

    A ResourceQuota that counts objects of a new kind refuses them, `status unknown for quota`, until its controller,
    which looks for kinds at its start and then every thirty seconds, has counted them.
    """
    crds: list[Object] = json.loads(framework_crds(cluster.kueue).read_text(encoding="utf-8"))
    manager.install_crds(cluster, crds)
    restart_controllers(cluster)
    manager.start(cluster, cluster.configuration)
