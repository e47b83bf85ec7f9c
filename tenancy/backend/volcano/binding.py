"""The admission policy that binds work to the queues of its namespace. Everybody's scheduling depends on it.

A pod that names an inner queue or `root` is admitted by Volcano's own webhook and stops the scheduling of the whole
cluster (run on 1.15.1, five of five). So every kind that makes pods, and PodGroups, may name only the queues that the
namespace's annotation lists, and pods may not get around queues:

- `schedulerName`: another scheduler starts pods outside all queues;
- `volcano.sh/preemptable`: with it pods are never evicted (run on 1.15.1), so lent quota would not come back; a job's
  or an owner's gets to its pods or their PodGroup (job_controller_util.go, pg_controller_handler.go);
- `system-…` classes: they are never evicted either (conformance.go); `preemptionPolicy: Never`: it never evicts;
- the PodGroup of a pod: a pod whose PodGroup is gone, or that is taken out of it, runs on beside every quota, and no
  owner gets its GPUs back (run on 1.15.1: sixteen GPUs for a team whose limit is eight). So only controllers, those of
  its owner and Volcano's own, put a pod into a PodGroup, and nobody else changes whose a pod is. What keeps the group
  itself is in `pod_groups`.

Of an update only what it changes is judged: work from before the policy must still be finished.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.guards.facts import fact, first, named, news, none
from tenancy.backend.shared.guards.priorities import MADE_FROM_TEMPLATES
from tenancy.backend.shared.guards.trust import controllers
from tenancy.backend.volcano.pod_templates import GROUP, KINDS, POD_GROUP, QUEUE, TRAIN_JOB, whole_templates
from tenancy.backend.volcano.work import BATCH
from tenancy.plan.values import ClusterPlan

BINDING: Final = "tenancy-queue-binding"
SCHEDULER: Final = "volcano"
PREEMPTABLE: Final = "volcano.sh/preemptable"
IDENTITY: Final = (GROUP, "volcano.sh/job-name", "volcano.sh/job-version", "volcano.sh/task-spec")
"""Annotations by which Volcano knows whose a pod is (job_info.go and job_controller_handler.go of 1.15.1)."""

PLAIN: Final = ("v1", "apps/v1", "batch/v1", "jobset.x-k8s.io/v1alpha2")
"""API versions whose controllers make pods of a template as it stands; others may add queue and scheduler."""

MADE_BY_VOLCANO: Final = (f"Job.{BATCH}",)
"""Owners of pods whose templates are judged, as `Kind.group`."""

OWNERS: Final = (*MADE_FROM_TEMPLATES, *MADE_BY_VOLCANO)
"""Owners of pods and of jobs whose controllers may put them into a PodGroup, as `Kind.group`."""


def queues(plan: ClusterPlan) -> str:
    """CEL for the queues of the namespace."""
    key = text(f"{plan.domain}/queues")
    return f'namespaceObject.metadata.?annotations[?{key}].orValue("").split(",").filter(it, it != "")'


def binding(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding."""
    variables = {
        **whole_templates(),
        "queues": queues(plan),
        **news(_FACTS),
        "foreign": 'variables.news.filter(it, it.what == "queue" && it.value != "" && !(it.value in variables.queues))',
        **controllers(plan, OWNERS, (BATCH, "jobs")),
        "identity": _IDENTITY,
    }
    yield from validating(plan, BINDING, variables, _RULES, kinds=(*KINDS, TRAIN_JOB, POD_GROUP), guard="queueing")


def _annotated(metadata: str, key: str) -> str:
    return f'{metadata}.?annotations[?{text(key)}].orValue("")'


def _protected(path: str, metadata: str) -> str:
    """CEL for a list of two facts: an annotation and a label that would keep a pod from being evicted, if they are
    there; an empty value does it as well."""
    return ", ".join(
        fact(
            "preemptable",
            f'{metadata}.?{kind}[?{text(PREEMPTABLE)}].optMap(it, {text(kind + " ")} + it).orValue("")',
            path,
        )
        for kind in ("annotations", "labels")
    )


_PLAIN: Final = f"it.apiVersion in {texts(PLAIN)}"
_TEMPLATE: Final = "each.template.?metadata"
_SPEC: Final = "each.template.?spec"
_SAID: Final = f"{_annotated(_TEMPLATE, QUEUE)} + {_annotated(_TEMPLATE, GROUP)}"
_QUEUED: Final = 'it.?spec.?queue.orValue(it.?spec.?jobTemplate.?spec.?queue.orValue(""))'
_PATCHES: Final = """\
(it.?spec.?runtimePatches.orValue([]).map(patch,
    patch.?trainingRuntimeSpec.?template.?spec.?replicatedJobs.orValue([])).flatten()
    .map(job, {"path": dyn(""), "template": job.?template.?spec.?template.orValue({})}) +
  it.?spec.?podTemplateOverrides.orValue([]).map(patch, {"path": dyn(""), "template": patch}))"""
"""What a TrainJob patches into the pod templates of its runtime (Trainer 2.2, and before)."""

_FACTS: Final = f"""\
  (variables.templates[at] + (it.kind == "TrainJob" ? {_PATCHES} : [])).map(each, [
    {fact("queue", _annotated(_TEMPLATE, QUEUE))},
    {fact("group", _annotated(_TEMPLATE, GROUP))},
    {fact("unbound", f'{_PLAIN} && {_SAID} == "" ? "yes" : ""')},
    {fact("scheduler", f'{_SPEC}.?schedulerName.orValue({_PLAIN} ? "default-scheduler" : "")')},
    {fact("node", f'{_SPEC}.?nodeName.orValue("")')},
    {fact("class", f'{_SPEC}.?priorityClassName.orValue("")')},
    {fact("preemption", f'{_SPEC}.?preemptionPolicy.orValue("")')},
    {_protected("each.path", _TEMPLATE)}
  ]).flatten() +
  [{_protected('"/metadata"', "it.?metadata")},
   {_protected('"/spec/jobTemplate"', "it.?spec.?jobTemplate.?metadata")}] +
  it.?spec.?replicatedJobs.orValue([]).map(each, [{_protected('""', "each.?template.?metadata")}]).flatten() +
  (it.apiVersion.contains(".volcano.sh/") ? [
    {fact("queue", _QUEUED, '"/spec"')},
    {fact("unbound", f'{_QUEUED} == "" ? "yes" : ""', '"/spec"')},
    {fact("scheduler", 'it.?spec.?schedulerName.orValue("")', '"/spec"')},
    {fact("class", 'it.?spec.?priorityClassName.orValue("")', '"/spec"')}
  ] : [])"""
"""CEL for what is judged, of the new object and of the old one: where it stands, what it is, and its value."""

_IDENTITY: Final = f"""\
variables.revisions.map(it, it.kind == "Pod" ?
  [dyn(it.metadata.?ownerReferences.orValue([])),
   dyn({texts(IDENTITY)}.map(key, it.metadata.?annotations[?key].orValue("")))] : [])"""

_NAMED: Final = named("queues")


_IS_SYSTEM: Final = 'it.value.startsWith("system-")'


_RULES: Final = (
    (
        "variables.foreign.size() == 0",
        "Work may name only the queues of its namespace",
        '"queue " + variables.foreign[0].value + " is not a queue of namespace " + request.namespace + '
        f'"; its queues are: " + {_NAMED}',
    ),
    (
        none("unbound", 'it.value != ""'),
        f"A pod without a queue would wait for ever: name one of the namespace's in the annotation {QUEUE} of the pod "
        "or of its template, or in spec.queue",
        f'"a pod without a queue waits for ever: write the annotation {QUEUE} into the pod or its template, or '
        'spec.queue into a Volcano job; the queues of namespace " + request.namespace + " are: " + ' + _NAMED,
    ),
    (
        none("scheduler", f'!(it.value in ["", {text(SCHEDULER)}])'),
        f"Write schedulerName: {SCHEDULER} into the pod's spec or its template's: another scheduler starts pods beside "
        "all queues",
    ),
    (
        none("preemptable", 'it.value != ""'),
        f"Remove {PREEMPTABLE} from annotations and labels: a pod that has it keeps what was lent to it",
    ),
    (
        none("preemption", 'it.value == "Never"'),
        "A pod with preemptionPolicy: Never does not get its quota back: write a priorityClassName that may preempt, "
        "or none",
    ),
    (
        none("class", _IS_SYSTEM),
        "Pods of system classes keep what was lent to them: write a priorityClassName of the organization, or none",
        f'"priority " + {first("class", _IS_SYSTEM)} + " is not for namespace " + request.namespace + '
        '": its pods would keep what was lent to them; write a priorityClassName of the organization, or none"',
    ),
    (
        none("node", 'it.value != ""'),
        "spec.nodeName skips the scheduler, and with it taints and queues: remove it, or write a nodeSelector",
    ),
    (
        none("group", 'it.value != ""') + " || variables.controller",
        f"Only controllers put pods into a PodGroup: remove the annotation {GROUP} and name a queue in {QUEUE}, or "
        "submit a Volcano job",
    ),
    (
        "variables.identity.size() == 1 || variables.identity[0] == variables.identity[1] || variables.controller",
        "Only controllers change whose a pod is, its owners and its PodGroup: it would run on beside all queues",
    ),
)
