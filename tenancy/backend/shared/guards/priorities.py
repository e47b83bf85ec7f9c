"""The admission policies by which work has only the priorities of its unit.

A priority is named by Kueue's label or by `priorityClassName`, as the cluster's scheduler reads it. On Kueue the class
of a pod counts too where there is no label (ExtractPriority in pkg/controller/jobframework/reconciler.go of 0.19.2):
`system-cluster-critical`, which every cluster has, would be first in every queue and evict whoever is below it. Pods
have kube-scheduler's preemption as well, which knows of no quota. So there no template may name a class.

Before any policy sees a pod, the API server has written the cluster's default class into it. So what a pod names is
judged beside the classes that there are, of which one may be the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import templates, validating
from tenancy.backend.shared.cel import text
from tenancy.backend.shared.guards.facts import fact, first, named, news, none
from tenancy.backend.shared.guards.marks import PRIORITIES, REQUIRED, read
from tenancy.backend.shared.guards.trust import controllers
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates, whole
from tenancy.plan.values import ClusterPlan

NAME: Final = "tenancy-priorities"
OF_PODS: Final = "tenancy-pod-priorities"
CLASSES: Final = ("scheduling.k8s.io/v1", "PriorityClass")
PRIORITY_LABEL: Final = "kueue.x-k8s.io/priority-class"

MADE_FROM_TEMPLATES: Final = (
    *(kind.owner for kind in POD_TEMPLATES if kind.kind not in ("Pod", "Deployment", "CronJob")),
    "ReplicaSet.apps",
)
"""Owners of pods whose templates are judged, as `Kind.group`."""


def priorities(
    plan: ClusterPlan, kinds: Sequence[PodTemplates] = POD_TEMPLATES, *, labels: bool = False, more: Sequence[str] = ()
) -> Iterator[Object]:
    """The policies with their bindings. `labels`: whether the scheduler reads a label, and no class is wanted.

    `more` are kinds beside POD_TEMPLATES, as `Kind.group`, whose controllers make pods of their templates.
    """
    makers = controllers(plan, (*MADE_FROM_TEMPLATES, *more))
    allowed = read(plan, PRIORITIES)
    variables = {
        **templates(whole(kinds), "template"),
        **makers,
        "allowed": allowed,
        "must": f"{read(plan, REQUIRED)}.size() > 0",
        **news(_LABELS if labels else _CLASSES),
    }
    rules = [_ALLOWED, *((_NO_CLASS,) if labels else ()), _must(labels=labels)]
    yield from validating(plan, NAME, variables, rules, kinds=kinds, guard="priorities")
    variables = {"revisions": "[dyn(object)]", **makers, **({} if labels else {"allowed": allowed})}
    yield from validating(
        plan,
        OF_PODS,
        variables,
        [_POD_LABELLED if labels else _POD],
        kinds=POD_TEMPLATES[:1],
        operations=("CREATE",),
        guard="priorities",
        param=CLASSES,
    )


_SAID: Final = f'.?labels[?{text(PRIORITY_LABEL)}].orValue("")'
_GANG: Final = 'it.?spec.?runPolicy.?schedulingPolicy.?priorityClass.orValue("")'
"""By which Kubeflow's jobs name the class of their Workload (kubeflowjob_controller.go of Kueue 0.19.2)."""

_LABELS: Final = f"""[
  {fact("priority", f"it.metadata{_SAID}", '"/metadata"')},
  {fact("priority", f"it.?spec.?jobTemplate.?metadata{_SAID}", '"/spec/jobTemplate"')},
  {fact("class", _GANG, '"/spec/runPolicy"')},
  {fact("unsaid", f'it.metadata{_SAID} + it.?spec.?jobTemplate.?metadata{_SAID} == "" ? "yes" : ""', '""')}
] + (it.kind == "Pod" ? [] : variables.templates[at].map(each, [
  {fact("priority", f"each.template.?metadata{_SAID}")},
  {fact("class", 'each.template.?spec.?priorityClassName.orValue("")')}
]).flatten())"""

_CLASSES: Final = f"""[
  {fact("priority", 'it.?spec.?priorityClassName.orValue("")', '"/spec"')},
  {fact("priority", 'it.?spec.?jobTemplate.?spec.?priorityClassName.orValue("")', '"/spec/jobTemplate"')},
  {fact("priority", _GANG, '"/spec/runPolicy"')}
].filter(fact, it.kind != "Pod") + variables.templates[at].map(each, [
  {fact("priority", 'it.kind == "Pod" ? "" : each.template.?spec.?priorityClassName.orValue("")')},
  {fact("unsaid", 'each.template.?spec.?priorityClassName.orValue("") == "" ? "yes" : ""')}
]).flatten()"""

_NAMES: Final = named("allowed")
_FOREIGN: Final = 'it.value != "" && !(it.value in variables.allowed)'


_ALLOWED: Final = (
    none("priority", _FOREIGN),
    "Work may have only the priorities of its unit",
    f'"priority " + {first("priority", _FOREIGN)} + " is not for namespace " + request.namespace + '
    f'": write one of its own, or none; its own are: " + {_NAMES}',
)


_NO_CLASS: Final = (
    none("class"),
    "The queue would take the class of a pod for the priority of its job",
    f'"remove " + {first("class")} + " from priorityClassName, or from schedulingPolicy.priorityClass: the queue would '
    f"take it for the job's priority. That is the label {PRIORITY_LABEL} of the job; it may be: \" + {_NAMES}",
)


def where_named(*, labels: bool) -> str:
    """Where a job names its priority, as people write it."""
    return f"the label {PRIORITY_LABEL} of the job" if labels else "priorityClassName of the pod template"


def _must(*, labels: bool) -> tuple[str, str, str]:
    where = where_named(labels=labels)
    return (
        f"!variables.must || {none('unsaid')} || variables.controller",
        f"Every job here names its priority in {where}: without one it would be above all that its unit may have",
        f'"name a priority in {where}: without one the job would be above all that namespace " + request.namespace + '
        f'" may have, which is: " + {_NAMES}',
    )


_SAME: Final = 'object.spec.?priorityClassName.orValue("") != params.metadata.name'
_OTHER: Final = f"{_SAME} || params.?globalDefault.orValue(false) || variables.controller"
_POD: Final = (
    f"{_OTHER} ||\n  params.metadata.name in variables.allowed",
    "Pods may have only the priorities of their unit",
    '"priority class " + params.metadata.name + " is not for pods of namespace " + request.namespace + '
    f'": write one of its own, or none; its own are: " + {_NAMES}',
)
_POD_LABELLED: Final = (
    _OTHER,
    _POD[1],
    '"remove priorityClassName: " + params.metadata.name + " from the pod: the queue would take it for the pod\'s '
    f'priority, which is the label {PRIORITY_LABEL}"',
)
