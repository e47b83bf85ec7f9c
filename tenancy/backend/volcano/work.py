"""The kinds of work that Volcano schedules, and the rights to Volcano's own kinds.

Tenants only read PodGroups: whoever may update one moves it to another queue (there is no webhook on it). Commands are
platform staff's alone: one in any namespace closes any queue.
"""

from __future__ import annotations

from typing import Final

from tenancy.backend.shared.work import OPERATED, PLAIN, READ, STATEFUL_SCALE, WRITE, Framework, Rule, Work

BATCH: Final = "batch.volcano.sh"
FLOW: Final = "flow.volcano.sh"
SCHEDULING: Final = "scheduling.volcano.sh"
_OWN: Final = (
    (SCHEDULING, ("podgroups", "queues")),
    ("bus.volcano.sh", ("commands",)),
    ("topology.volcano.sh", ("hypernodes",)),
)

WORK: Final = Work(
    frameworks=(
        *PLAIN,
        STATEFUL_SCALE,
        *OPERATED,
        Framework(f"{BATCH}/job", BATCH, ("jobs",)),
        Framework(f"{BATCH}/cronjob", BATCH, ("cronjobs",)),
        Framework(f"{FLOW}/jobflow", FLOW, ("jobflows",)),
        Framework(f"{FLOW}/jobtemplate", FLOW, ("jobtemplates",)),
    ),
    viewer=(Rule(SCHEDULING, ("podgroups",), READ),),
    auditor=tuple(Rule(group, resources, READ) for group, resources in _OWN),
    platform_admin=(
        *(Rule(group, resources, WRITE) for group, resources in _OWN),
        Rule("scheduling.k8s.io", ("priorityclasses",), WRITE),
    ),
)
