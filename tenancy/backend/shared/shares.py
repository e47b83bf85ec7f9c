"""The admission policy of GPUs that are handed out in shares: a container asks for one share, or for none.

The device plugin refuses a container with more (`failRequestsGreaterThanOne`; `ValidateRequest` in internal/rm/rm.go of
0.20.0): its pod is bound to a node, fails there with UnexpectedAdmissionError and is made anew by its owner, again and
again. More shares would be no more of a GPU. Refused here, it never holds quota or a place in a queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import changed, templates, validating
from tenancy.backend.shared.cel import texts
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates
from tenancy.model.devices import SHARED
from tenancy.plan.values import ClusterPlan

SHARES: Final = "tenancy-gpu-shares"


def shares(plan: ClusterPlan, kinds: Sequence[PodTemplates] = POD_TEMPLATES) -> Iterator[Object]:
    """The policy with its binding where a flavor's GPUs are shared, for all shares of the cluster."""
    if resources := shared(plan):
        variables = {**templates(kinds), **changed(), "shares": texts(resources)}
        yield from validating(plan, SHARES, variables, [_one(resources)], kinds=kinds, guard="whole_nodes")


def shared(plan: ClusterPlan) -> list[str]:
    """The resources of the cluster that are shares, sorted. They tell themselves apart by their names."""
    flavors = [flavor for flavor in plan.flavors.values() if flavor.shares > 1]
    return sorted({main for flavor in flavors for main in flavor.mains if main.endswith(SHARED)})


_ONE: Final = """\
!variables.changed || variables.templates[0].all(pod,
  (pod.spec.?containers.orValue([]) + pod.spec.?initContainers.orValue([])).all(container,
    variables.shares.all(share,
      quantity(string(dyn(container.?resources.?limits[?share].orValue("0")))).isLessThan(quantity("2")))))"""


def _one(resources: list[str]) -> tuple[str, str]:
    message = (
        f"These GPUs are handed out in shares: let each container ask for one {' or '.join(resources)}, or for none. "
        "More would be no more of a GPU, and no node would start the pod"
    )
    return _ONE, message
