"""What Volcano does not keep, each loss with its code; and what was measured of it, in one place.

The figures are from runs of this lowering on Volcano 1.15.1, each case three times or more; tests/cluster repeats
them.
"""

from __future__ import annotations

from typing import Final

from tenancy.backend.parity import Loss
from tenancy.diagnostics import Severity

RESERVE_BACK: Final = "5 to 12 s"
"""5.3 to 12.2 s until the owner's last pod ran, for 4 GPUs that two borrowers held."""
QUOTA_BACK: Final = "5 to 10 s"
"""5.4 to 10.1 s from a sibling, 6.5 to 9.9 s from another department, 5.0 s for a department's pool: three to six
cycles of the scheduler."""
KILLED: Final = "up to 24 pods of gangs of 8 to give back 8 GPUs"
"""8 pods evicted, spread over three gangs, each of which restarts as a whole; 16 in one run of five."""
PART: Final = "1, 4 and 8 of 8 pods came to jobs with a minAvailable of 1, 4 and 8"
"""Three runs each, the rest pending for 60 s."""
FEWER: Final = "its pods are more than the pods to evict: 4 pods of 4 GPUs got none of 2 pods of 8"
"""Each pod that waits evicts for itself, so the third finds nobody left (tests/cluster/test_volcano_sizes.py)."""
SLACK: Final = "4 GPUs of quota took 12"
"""A leaf whose pods asked for half the cpu that follows a GPU."""

RESERVE_LENT_OUT: Final = Loss(
    "reserve-lent-out",
    Severity.ERROR,
    "A reserve that is lent out",
    "Volcano holds a reserve back from each borrower, but not from all together: two of them use it up, and the "
    f"owner's job starts only after evictions, {RESERVE_BACK} later (run on 1.15.1). The owner itself is never evicted "
    "below the reserve.",
    "write the quota alone",
)
WEIGHT_NOT_A_SHARE: Final = Loss(
    "weight-not-a-share",
    Severity.ERROR,
    "Weights without effect",
    "Volcano's capacity plugin does not look at weights: what is idle goes to the unit that waits and uses the "
    "smallest part of its quota, and stays there until its owner asks.",
    "write `sharing: first-come` in the cluster, or give siblings one weight",
)
LIMIT_STOPS_RECLAIM: Final = Loss(
    "limit-stops-reclaim",
    Severity.ERROR,
    "A limit around units that lend to each other",
    "Volcano evicts nobody for a pod that fits on a node, and then does not place it there while a unit around it is "
    "at its limit: as long as a node has room, what a sibling has borrowed does not come back, or others are evicted "
    "for nothing (run on 1.15.1: 0 of 2 GPUs came back from a sibling that held 4 of 2).",
    "leave the limit out and write `borrowing: organization`, or let the units inside borrow nothing",
)
RECLAIM_UNCONDITIONAL: Final = Loss(
    "reclaim-unconditional",
    Severity.ERROR,
    "Quota that is taken back from everybody",
    "Volcano takes back what a queue is entitled to, whatever the priorities of the jobs: one that was to run to its "
    "end is evicted.",
    "write `policy: {reclaim: any}`",
)
BORROWING_PREEMPTION_LOST: Final = Loss(
    "borrowing-preemption-lost",
    Severity.ERROR,
    "Borrowers that evict no borrowers",
    "Volcano evicts only for a queue that is below its quota: a job that borrows waits, however high its priority is.",
    "write `policy: {borrowingPreemption: never}`",
)
GANG_NOT_TIMED: Final = Loss(
    "gang-not-timed",
    Severity.ERROR,
    "Gangs that are never put back",
    "Volcano starts the pods of a job together and has no timeout for them: a job whose image cannot be pulled, or "
    "whose pods never become ready, keeps its GPUs until somebody deletes it. Its plugin `sla` is no timeout but keeps "
    "idle GPUs for jobs that have waited, and that of a job's pending pods runs while the job waits in its queue (run "
    "on 1.15.1).",
    "remove `gang` from the policy",
)
SLACK_RECLAIMS_MORE: Final = Loss(
    "slack-reclaims-more",
    Severity.WARNING,
    "cpu and memory that do not go with the GPUs",
    "Volcano lets a queue take back as long as one resource of its quota is not used up: one with cores to spare takes "
    f"GPUs back beyond its quota ({SLACK}, run on 1.15.1).",
    "leave out cpu and memory: they follow the GPUs",
)
DEPARTMENT_UNPROTECTED: Final = Loss(
    "department-unprotected",
    Severity.ERROR,
    "A department that is pushed below its quota",
    "Before 1.15 Volcano compares only the queue of a team with its quota: what a team uses of its department's quota "
    "beyond its own is taken back, though the department has no more than is its own (run: 12 of 12 became 10).",
    'write `versions: {volcano: "1.15"}`, or hand the whole quota on to units that borrow nothing',
)

RULES: Final = (
    RESERVE_LENT_OUT,
    WEIGHT_NOT_A_SHARE,
    RECLAIM_UNCONDITIONAL,
    LIMIT_STOPS_RECLAIM,
    BORROWING_PREEMPTION_LOST,
    GANG_NOT_TIMED,
    SLACK_RECLAIMS_MORE,
    DEPARTMENT_UNPROTECTED,
)
