"""The admission policy by which GPU work that others may interrupt is made for it.

What a unit borrows is taken back while its jobs run. So in a namespace whose queue may borrow, work that asks for GPUs
has a priority that is `preemptible`; with one that is `checkpointed`, its pods say where they save their state and get
the time that the priority gives them: Kueue and Volcano end a pod by deleting it with the grace period of its own spec
(run on Kueue 0.19.2 and Volcano 1.15.1). For the same reason that period has a bound: a pod that ignores SIGTERM keeps
its GPUs until it is over, and nobody may shorten it. Only where the organization says `preemptible` of some priority.

What people submit is judged, not what controllers make of it: the Jobs of a JobSet carry no label of Kueue. So an
AppWrapper is looked into, and of a TrainJob, whose pods stand in a runtime, all is asked but the grace period.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import templates, validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.claims import asked, class_of
from tenancy.backend.shared.guards.facts import fact, first, named, news, none
from tenancy.backend.shared.guards.marks import BORROWS, CHECKPOINT, PRIORITIES, read
from tenancy.backend.shared.guards.priorities import MADE_FROM_TEMPLATES, PRIORITY_LABEL, where_named
from tenancy.backend.shared.guards.trust import controllers
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates, pod_templates, whole
from tenancy.model.priorities import preemptible
from tenancy.plan.values import ClusterPlan

NAME: Final = "tenancy-interruption"
DEFAULT_GRACE: Final = 30
"""Seconds that Kubernetes gives a pod which does not say."""
LONGEST: Final = 3600
"""Seconds that a pod may take to end, unless a priority gives it more: meanwhile it keeps what is taken back."""


def interruption(
    plan: ClusterPlan, kinds: Sequence[PodTemplates] = POD_TEMPLATES, *, labels: bool = False, more: Sequence[str] = ()
) -> Iterator[Object]:
    """The policy with its binding, where work may be interrupted and the organization says how. `labels`: whether the
    scheduler reads the priority of a job from a label, else from `priorityClassName`.

    `more` are kinds beside POD_TEMPLATES, as `Kind.group`, whose controllers make pods of their templates.
    """
    ways = preemptible(plan.priorities)
    if not ways or not any(namespace.borrows for namespace in plan.namespaces):
        return
    graces = {name: plan.priorities[name].seconds for name in ways if plan.priorities[name].grace}
    longest = max([LONGEST, *graces.values()])
    resources = sorted({name for flavor in plan.flavors.values() if flavor.gpu for name in asked(flavor)})
    variables = {
        **templates(whole(kinds), "template"),
        **controllers(plan, (*MADE_FROM_TEMPLATES, *more)),
        "borrows": f"{read(plan, BORROWS)}.size() > 0",
        "preemptible": texts(ways),
        "graces": "{" + ", ".join(f"{text(name)}: {seconds}" for name, seconds in (graces or {"": 0}).items()) + "}",
        "ways": f"variables.preemptible.filter(name, name in {read(plan, PRIORITIES)})",
        "resources": texts(resources),
        "working": _working(resources, kinds),
        **news(_facts(plan, longest, labels=labels)),
        "judged": "variables.borrows && !variables.controller",
    }
    rules = [_priority(labels=labels), *((_checkpoint(plan), _grace()) if graces else ()), _end(longest)]
    yield from validating(plan, NAME, variables, rules, kinds=kinds, guard="interruption")


def _working(resources: Sequence[str], kinds: Sequence[PodTemplates]) -> str:
    """CEL, for each revision, for the templates that ask for GPUs, as in `admission.pods`; those in an AppWrapper, and
    of a TrainJob the job."""
    there = {kind.kind for kind in kinds}
    claims = " || each.template.?spec.?resourceClaims.orValue([]).size() > 0" if any(map(class_of, resources)) else ""
    every = f"(variables.templates[at] + {_WRAPPED})" if "AppWrapper" in there else "variables.templates[at]"
    more = f" + {_TRAINED}" if "TrainJob" in there else ""
    return f"""\
variables.revisions.transformList(at, it, {every}.filter(each,
  (each.template.?spec.?containers.orValue([]) + each.template.?spec.?initContainers.orValue([])).exists(container,
    {_asks("container.?resources")}){claims}){more})"""


def _asks(of: str) -> str:
    """CEL: whether these resources have GPUs."""
    limit = f'quantity(string(dyn({of}.?limits[?resource].orValue("0"))))'
    return f'variables.resources.exists(resource, {limit}.isGreaterThan(quantity("0")))'


_WRAPPED: Final = f"""(it.kind != "AppWrapper" ? [] :
  it.?spec.?components.orValue([]).transformList(index, part, (
{pod_templates("part.template", whole(POD_TEMPLATES), "template")}
  ).map(one, {{
    "path": dyn("/spec/components/" + string(index) + "/template" + string(one.path)),
    "template": one.template
  }})).flatten())"""
_TRAINED: Final = f"""\
(it.kind == "TrainJob" && {_asks("it.?spec.?trainer.?resourcesPerNode")} ?
    [{{"path": dyn(""), "template": it}}] : [])"""


def _facts(plan: ClusterPlan, longest: int, *, labels: bool) -> str:
    """CEL for the facts of an object: for each template with GPUs its priority, and what it lacks of it, and
    whether it may take too long to end."""
    mark = text(f"{plan.domain}/{CHECKPOINT}")
    marked = f'each.template.?metadata.?annotations[?{mark}].orValue("") != ""'
    grace = f"int(each.template.?spec.?terminationGracePeriodSeconds.orValue({DEFAULT_GRACE}))"
    short = f'it.kind != "TrainJob" && {grace} < variables.graces[one]'
    return f"""\
  variables.working[at].map(each, [{_LABEL if labels else _CLASS}].map(one, [
    {fact("priority", "one")},
    {fact("checkpoint", f'one in variables.graces && !({marked}) ? one : ""')},
    {fact("grace", f'one in variables.graces && {short} ? one : ""')},
    {fact("end", f'it.kind != "TrainJob" && {grace} > {longest} ? string({grace}) : ""')}
  ]).flatten()).flatten()"""


_SAID: Final = f".?labels[?{text(PRIORITY_LABEL)}]"
_LABEL: Final = f"""(it.kind == "CronJob" ? it.?spec.?jobTemplate.?metadata{_SAID} : it.metadata{_SAID}).orValue("")"""
"""CEL for the priority of the job that Kueue makes of an object; of a CronJob it is that of its Jobs."""

_CLASS: Final = """\
each.template.?spec.?priorityClassName
      .or(it.?spec.?priorityClassName).or(it.?spec.?jobTemplate.?spec.?priorityClassName).orValue("")"""
"""CEL for the class of the pods; those of a Volcano job have its own where theirs names none (applyVolcanoDefaults and
createJobPod in pkg/controllers/job/job_controller_util.go of 1.15.1)."""

_WAYS: Final = named("ways")
_NEVER: Final = "!(it.value in variables.preemptible)"


def _priority(*, labels: bool) -> tuple[str, str, str]:
    where, said = where_named(labels=labels), first("priority", _NEVER)
    return (
        f"!variables.judged || {none('priority', _NEVER)}",
        "GPU jobs of a unit that may borrow need a priority that is preemptible: what is borrowed may be taken back "
        "while they run",
        f'"GPUs that namespace " + request.namespace + " borrows may be taken back while jobs run: name a preemptible '
        f'priority in {where}, not " + ({said} == "" ? "none" : {said}) + "; its own are: " + {_WAYS} + ". For work '
        'that must not be interrupted, the unit needs `borrowing: none` in the organization, or a project with it"',
    )


def _checkpoint(plan: ClusterPlan) -> tuple[str, str, str]:
    key, path, which = f"{plan.domain}/{CHECKPOINT}", first("checkpoint", key="at"), first("checkpoint")
    return (
        f"!variables.judged || {none('checkpoint')}",
        f"Jobs of a checkpointed priority say where they save their state: write the annotation {key} on the pod "
        "template",
        f'"jobs of priority " + {which} + " save their state before they end: say where in the annotation {key}, such '
        f'as s3://bucket/run or pvc:checkpoints, at " + {path} + "/metadata/annotations"',
    )


def _grace() -> tuple[str, str, str]:
    path, which = first("grace", key="at"), first("grace")
    seconds = f"string(variables.graces[{which}])"
    return (
        f"!variables.judged || {none('grace')}",
        "Jobs of a checkpointed priority give their pods its grace period: write terminationGracePeriodSeconds",
        f'"jobs of priority " + {which} + " have " + {seconds} + " seconds to save their state: write '
        f'terminationGracePeriodSeconds: " + {seconds} + ", or more, at " + {path} + "/spec"',
    )


def _end(longest: int) -> tuple[str, str, str]:
    path, seconds = first("end", key="at"), first("end")
    return (
        f"!variables.judged || {none('end')}",
        f"Pods that may be interrupted end within {longest} seconds: write a shorter terminationGracePeriodSeconds",
        f'"a pod that takes " + {seconds} + " seconds to end keeps GPUs for so long that their owner has taken back: '
        f'write terminationGracePeriodSeconds: {longest}, or less, at " + {path} + "/spec"',
    )
