"""What Volcano calls the queue of a unit in the tree of a flavor, and the bounds of its queues.

Sources: the CRD of Queue, its webhook (pkg/webhooks/admission/queues) and the discovery of HyperNodes
(pkg/controllers/hypernode/discovery/label) of 1.15.1.
"""

from __future__ import annotations

from typing import Final

ROOT: Final = "root"
DEFAULT: Final = "default"
"""The queues that Volcano makes at its start: the one above all others, and the one of work that names none."""

LONGEST: Final = 63
"""Pods carry the name of their queue as the value of a label."""

LEVELS: Final = 4
"""Of units below the queue of a flavor; the webhook refuses a queue with more than four above it, `root` aside."""

LIGHTEST: Final = 1
HEAVIEST: Final = 65535
"""Bounds of a weight, which is a whole number."""

LONGEST_TOPOLOGY: Final = 20
"""Discovery leaves out a kind of topology with a longer name, and says so in the controller's log only."""

_PROJECTS: Final = "projects"


def queue_name(unit: str, flavor: str, *, of_projects: bool = False) -> str:
    """The queue of a unit; `of_projects` for that of a team whose projects have queues of their own.

    All queues share one name space, and such a team may have a leaf beside it. The leaf keeps the plain name: were it
    to become the inner queue when the first project gets a budget, work that waits in it would stop the scheduling of
    the whole cluster (run on 1.15.1).
    """
    return f"{unit}-{_PROJECTS}-{flavor}" if of_projects else f"{unit}-{flavor}"


def queue_weight(weight: float) -> int:
    """The weight as a queue can have it."""
    return max(LIGHTEST, min(HEAVIEST, int(weight + 0.5)))
