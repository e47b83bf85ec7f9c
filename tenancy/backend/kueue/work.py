"""The kinds of work that Kueue manages, so that nothing runs beside the queue, and the rights to Kueue's own kinds.

Creating a LocalQueue would be choosing one's own quota, so tenants only read theirs. They scale a StatefulSet by
writing its `spec.replicas`: Kueue counts its pods as one group, and its webhook does not see the subresource `scale`
(config/webhook of 0.19.2), by which one of a single pod ran two that were counted as one (run).
"""

from __future__ import annotations

from typing import Final

from tenancy.backend.shared.work import OPERATED, PLAIN, READ, WRITE, Framework, Rule, Work

KUEUE: Final = "kueue.x-k8s.io"
_VISIBILITY: Final = f"visibility.{KUEUE}"
_GOVERNING: Final = (
    *("admissionchecks", "clusterqueues", "cohorts", "localqueues", "provisioningrequestconfigs", "resourceflavors"),
    *("topologies", "workloadpriorityclasses", "workloads"),
)

WORK: Final = Work(
    frameworks=(
        *PLAIN,
        *OPERATED,
        Framework("workload.codeflare.dev/appwrapper", "workload.codeflare.dev", ("appwrappers",)),
    ),
    viewer=(
        Rule(KUEUE, ("localqueues", "workloads"), READ),
        Rule(_VISIBILITY, ("localqueues/pendingworkloads",), ("get",)),
    ),
    auditor=(
        Rule(KUEUE, _GOVERNING, READ),
        Rule(_VISIBILITY, ("clusterqueues/pendingworkloads", "localqueues/pendingworkloads"), ("get",)),
    ),
    platform_admin=(Rule(KUEUE, _GOVERNING, WRITE),),
)
"""Frameworks are the integrations of Kueue 0.17 to 0.19 (its configuration, run), in the order of its configuration."""
