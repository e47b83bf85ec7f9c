"""Admission policies of units that are held or draining: no new work, while what is there may go on.

A Queue's own state cannot be declared: only a Command closes one, and a state that anybody else writes wedges it (run
on 1.15.1). What waits already still starts, and draining ends nothing: both are named losses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import revisions, validating
from tenancy.backend.shared.cel import texts
from tenancy.backend.shared.pod_templates import PodTemplates
from tenancy.backend.volcano.pod_templates import KINDS, TRAIN_JOB
from tenancy.backend.volcano.work import FLOW
from tenancy.plan.values import ClusterPlan

STATES: Final = ("held", "draining")
PLANS: Final = ("CronJob", "JobTemplate")
"""Kinds that are no work yet: what is made of them is refused."""

_SCALED: Final = tuple(
    PodTemplates("apps", "v1", f"{plural}/scale", "Scale", ()) for plural in ("deployments", "statefulsets")
)


def states(plan: ClusterPlan) -> Iterator[Object]:
    """The policies with their bindings, one for each state that some unit is in."""
    kinds = _kinds()
    for state in STATES:
        namespaces = [name for queue in plan.queues if queue.state == state for name in queue.namespaces]
        if namespaces:
            rules = [(_MAY_START, _message(state, "new work")), (_DOES_NOT_GROW, _message(state, "more of it"))]
            yield from validating(plan, f"tenancy-{state}", _VARIABLES, rules, namespaces, kinds)


def _kinds() -> Sequence[PodTemplates]:
    flow = PodTemplates(FLOW, "v1alpha1", "jobflows", "JobFlow", ())
    return (*(kind for kind in KINDS if kind.kind not in PLANS), *_SCALED, TRAIN_JOB, flow)


def _message(state: str, what: str) -> str:
    return (
        f"The unit of this namespace is {state}, so {what} is refused; what runs goes on, and its controllers may "
        "restart it. Submit it again when the organization says `state: active`"
    )


_VARIABLES: Final = {
    **revisions(),
    "size": """\
variables.revisions.map(it,
  it.?spec.?suspend.orValue(it.?spec.?runPolicy.?suspend.orValue(false)) ? 0 :
  1 + int(it.?spec.?replicas.orValue(0)) + int(it.?spec.?parallelism.orValue(0)) +
  it.?spec.?tasks.orValue([]).map(each, int(each.?replicas.orValue(1))).sum())""",
}
"""How much work there is, as far as a number says it, of the new object and of the old one."""

_MAY_START: Final = f"""\
request.operation != "CREATE" || object.metadata.?ownerReferences.orValue([]).exists(it,
  it.?controller.orValue(false) && !(it.kind in {texts(PLANS)}))"""
"""Pods of what runs, and jobs of a flow that runs, have a controller; the jobs of a CronJob are new work."""

_DOES_NOT_GROW: Final = "variables.size.size() == 1 || variables.size[0] <= variables.size[1]"
