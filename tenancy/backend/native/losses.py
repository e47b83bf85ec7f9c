"""What Kubernetes alone does not keep, each loss with its code."""

from __future__ import annotations

from typing import Final

from tenancy.backend.parity import Loss
from tenancy.diagnostics import Severity

NO_BORROWING: Final = Loss(
    "no-borrowing",
    Severity.ERROR,
    "Idle quota that nobody may use",
    "A ResourceQuota is a fixed number: what one unit leaves idle stays idle, however many jobs of others wait.",
    "write `policy: {borrowing: none}`, and hand all quota on",
)
NO_GANGS: Final = Loss(
    "no-gangs",
    Severity.ERROR,
    "Jobs that start in part",
    "Kubernetes' scheduler starts pod by pod: of two jobs that each want all GPUs, each may get half of them, and both "
    "wait for ever.",
    "remove `gang` from the policy, and give no unit more GPUs than a node has",
)
QUOTA_DIVIDED: Final = Loss(
    "quota-divided",
    Severity.WARNING,
    "A quota in parts",
    "A ResourceQuota counts one namespace, so those of a unit have a part each: what one of them leaves idle, the "
    "others cannot use.",
    "make one project, or give each project a budget of its own",
)
FLAVORS_NOT_TOLD_APART: Final = Loss(
    "flavors-not-told-apart",
    Severity.ERROR,
    "Flavors that are counted together",
    "A ResourceQuota knows names of resources, not kinds of nodes: a quota on one flavor may be used up on another, "
    "whose owners then find no node.",
    "keep one flavor of each resource in the cluster",
)
NO_QUEUE: Final = Loss(
    "no-queue",
    Severity.WARNING,
    "Jobs that are refused instead of queued",
    "The API server refuses every pod above the quota. The controller of a Job tries again, in no order; a bare pod is "
    "gone, and who submitted it has to.",
    "tell people to submit Jobs, not pods",
)
NO_TOPOLOGY: Final = Loss(
    "no-topology",
    Severity.ERROR,
    "Jobs that are spread over racks",
    "Nothing keeps the pods of a job within one rack or block, so that their traffic crosses the widest links.",
    "remove `topology` from flavors and units",
)

RULES: Final = (NO_BORROWING, NO_GANGS, QUOTA_DIVIDED, FLAVORS_NOT_TOLD_APART, NO_QUEUE, NO_TOPOLOGY)
