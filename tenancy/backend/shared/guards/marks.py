"""What a namespace says of itself to the guards: annotations, which its tenants cannot write.

One policy then serves all namespaces of a cluster, and a unit's change touches its own file only.
"""

from __future__ import annotations

from typing import Final

from tenancy.backend.shared.cel import text
from tenancy.model.priorities import preemptible
from tenancy.plan.values import ClusterPlan, Namespace

PRIORITIES: Final = "priorities"
FLAVORS: Final = "flavors"
BORROWS: Final = "borrows"
"""Annotations, each a list with commas; their whole keys begin with the domain."""

REQUIRED: Final = "priority-required"
"""The annotation `true` where work must name a priority: without one it has 0, above all that its unit may have."""

CHECKPOINT: Final = "checkpoint"
"""The annotation of a pod template that says where its pods save their state; its whole key begins alike."""


def guard_marks(plan: ClusterPlan, namespace: Namespace) -> dict[str, str]:
    """The priorities that work in the namespace may have, if any, and whether it must name one; the flavors within its
    reach; whether it may borrow GPUs, where priorities say what an interruption takes."""
    below = bool(namespace.priorities) and all(plan.priorities[name].value < 0 for name in namespace.priorities)
    interrupted = namespace.borrows and preemptible(plan.priorities)
    said = {
        PRIORITIES: namespace.priorities,
        REQUIRED: ("true",) if below else (),
        FLAVORS: plan.flavors_of[namespace.queue],
        BORROWS: ("gpus",) if interrupted else (),
    }
    return {f"{plan.domain}/{key}": ",".join(names) for key, names in said.items() if names}


def read(plan: ClusterPlan, key: str) -> str:
    """CEL for the parts of such an annotation; an empty list where the namespace has none."""
    name = text(f"{plan.domain}/{key}")
    return f'namespaceObject.metadata.?annotations[?{name}].orValue("").split(",").filter(it, it != "")'
