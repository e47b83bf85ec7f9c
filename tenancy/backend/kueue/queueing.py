"""The admission policies by which work is in the queue of its namespace, and stays in it; every promise rests on that.

Kueue puts work without a label into the LocalQueue `default`, as long as it knows of it, and takes what has an owner
that it manages for counted with the owner. Each of these is a way past it for whoever may write pods and jobs, and none
is refused by its webhooks (run on 0.19.2, tests/cluster/test_attacks.py):

- a pod or a job that names a running job as its owner starts at once ("same-namespace ownership spoofing is out of
  scope", FindAncestorJobManagedByKueue in pkg/controller/jobframework/reconciler.go); Kubernetes then frees the pod;
- a pod without Kueue's scheduling gate starts, and without the label `managed` nobody looks at it or evicts it any more
  (Skip in pod_controller.go);
- a pod of a running job that is relabelled, or taken from its owner, runs on when the job ends, and so do the pods of a
  job that is deleted with `--cascade=orphan`;
- a pod of a group that says its role itself is counted as small as another one of that role (getRoleHash): 30 cpu as 1;
  so are the pods of two Deployments, which a controller makes of what their templates say;
- a job that names a Workload uses the quota of that, unless somebody else controls it (ensureOneWorkload; read).

Of an update only what it changes is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.kueue.configuration_integrations import FRAMEWORKS
from tenancy.backend.kueue.queues import LOCAL_QUEUE
from tenancy.backend.kueue.requests import TRAIN_JOB
from tenancy.backend.kueue.work import KUEUE, WORK
from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import mutates, mutating, templates, validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.guards.facts import fact, first, news, none
from tenancy.backend.shared.guards.trust import controllers
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates, whole
from tenancy.plan.values import ClusterPlan

QUEUEING: Final = "tenancy-queueing"
ORPHANS: Final = "tenancy-orphans"
ROLES: Final = "tenancy-pod-roles"

APP_WRAPPER: Final = PodTemplates("workload.codeflare.dev", "v1beta2", "appwrappers", "AppWrapper", ())
KINDS: Final = (*POD_TEMPLATES, TRAIN_JOB, APP_WRAPPER)
"""Every kind that Kueue manages, and CronJobs, whose Jobs it manages."""

OWNERS: Final = (
    *(f"{kind}.{group}" for each in WORK.frameworks for kind, _, group in [FRAMEWORKS[each.name].split(".", 2)]),
    "ReplicaSet.apps",
)
"""As `Kind.group`: owners with which Kueue takes work for counted (isKnownOwner in integrationmanager.go of 0.19.2)."""

QUEUE: Final = f"{KUEUE}/queue-name"
MANAGED: Final = f"{KUEUE}/managed"
ROLE: Final = f"{KUEUE}/role-hash"
GROUP: Final = f"{KUEUE}/pod-group-name"
"""Label of pods that Kueue admits together."""

COUNTED_BY: Final = tuple(
    f"{KUEUE}/{key}"
    for key in ("prebuilt-workload-name", "workload", "workload-slice-name", "podset", "is-group-workload")
)
"""Labels and annotations by which Kueue knows the Workload that counts an object or a pod. Nobody submits one."""

KEPT: Final = (*COUNTED_BY, MANAGED, ROLE, GROUP, f"{KUEUE}/pod-group-total-count", f"{KUEUE}/pod-suspending-parent")
"""Those of a pod that stay as they are: with the ones that Kueue's webhook writes itself."""


def queueing(plan: ClusterPlan) -> Iterator[Object]:
    """The policies with their bindings."""
    variables = {
        **templates(whole(KINDS), "template"),
        **controllers(plan, OWNERS, (KUEUE, "workloads")),
        **news(_FACTS),
        "owned": "variables.owners[0].size() > 0",
        "before": 'request.operation == "UPDATE" ? [dyn(oldObject)] : []',
        "disowned": _DISOWNED,
        "relabelled": _RELABELLED,
        "remarked": _REMARKED,
        "ungated": _UNGATED,
    }
    rules = [*_RULES, *(() if mutates(plan) else (_NO_GROUPS,))]
    yield from validating(plan, QUEUEING, variables, rules, kinds=KINDS, guard="queueing")
    left = [kind for kind in KINDS if kind.kind not in ("Pod", "Deployment", "CronJob")]
    orphans = [(_ENDS_ITS_PODS, _ORPHANED)]
    yield from validating(plan, ORPHANS, {}, orphans, kinds=left, operations=("DELETE",), guard="queueing")
    if mutates(plan):
        # Before Kueue's webhook, which takes a role that is there for the pod's, and not again after it.
        yield from mutating(
            plan, ROLES, {}, _NO_ROLE, kinds=POD_TEMPLATES[:1], failure="Fail", again=False, guard="queueing"
        )


def _marked(metadata: str, at: str, *more: str) -> str:
    """CEL for a list of facts: the labels and annotations of COUNTED_BY, and these, that are there."""
    return (
        f'["labels", "annotations"].map(where, {texts((*COUNTED_BY, *more))}\n'
        f"    .filter(key, {metadata}[?where][?key].hasValue())\n"
        f"    .map(key, {fact('counted', 'key', at)})).flatten()"
    )


_LABEL: Final = f'.?labels[?{text(QUEUE)}].orValue("")'

_FACTS: Final = f"""\
[{fact("queue", f"it.metadata{_LABEL}", '"/metadata"')},
 {fact("queue", f"it.?spec.?jobTemplate.?metadata{_LABEL}", '"/spec/jobTemplate"')},
 {fact("unqueued", f'it.kind != "CronJob" && it.metadata{_LABEL} == "" ? "yes" : ""', '""')},
 {fact("orphan", '"orphan" in it.metadata.?finalizers.orValue([]) ? "yes" : ""', '""')}
] + (it.kind == "Pod" ? [] : variables.templates[at].map(each, [
  {fact("queue", f"each.template.?metadata{_LABEL}")}
] + {_marked("each.template.?metadata", "each.path", ROLE)}).flatten()) +
  {_marked("it.?metadata", '"/metadata"')}"""

_DISOWNED: Final = """\
variables.before.exists(old, old.metadata.?ownerReferences.orValue([]) !=
  dyn(object).metadata.?ownerReferences.orValue([]) && (variables.owned || variables.owners[1].size() > 0))"""

_RELABELLED: Final = f"""\
variables.before.exists(old, variables.owners[1].size() > 0 &&
  old.metadata.?labels[?{text(MANAGED)}].orValue("") != "true" &&
  !old.metadata.?labels.orValue({{}}).all(key, dyn(object).metadata.?labels[?key].orValue("") ==
    old.metadata.labels[key] && dyn(object).metadata.?labels[?key].hasValue()))"""
"""Whether labels are changed or gone by which the owner knows what is its own, and which is counted with it. Pods that
are counted themselves, as those of a Deployment, may be set free."""

_REMARKED: Final = f"""\
object.kind != "Pod" ? [] : variables.before.map(old, ["labels", "annotations"].map(where, {texts(KEPT)}
  .filter(key, old.metadata[?where][?key].orValue("") != dyn(object).metadata[?where][?key].orValue("")))
  .flatten()).flatten()"""

_UNGATED: Final = f"""\
object.kind != "Pod" ? [] : variables.before.map(old, old.?spec.?schedulingGates.orValue([]).map(it, it.name)
  .filter(name, name.startsWith({text(KUEUE + "/")}) &&
    !dyn(object).?spec.?schedulingGates.orValue([]).exists(it, it.name == name))).flatten()"""

_ELSEWHERE: Final = f'!(it.value in ["", {text(LOCAL_QUEUE)}])'
_RULES: Final = (
    (
        none("queue", _ELSEWHERE),
        f"Work is in the queue {LOCAL_QUEUE} of its namespace",
        f'"there is no queue " + {first("queue", _ELSEWHERE)} + " in namespace " + request.namespace + '
        f'": write {QUEUE}: {LOCAL_QUEUE} or leave the label out; the work would wait for ever"',
    ),
    (
        f"{none('unqueued')} || variables.owned",
        f"Work without a queue runs beside every quota: write the label {QUEUE}: {LOCAL_QUEUE}, and leave it there",
    ),
    (
        'request.operation != "CREATE" || !variables.owned || variables.controller',
        "Only a controller makes what has an owner that the queue has counted: remove ownerReferences with controller: "
        "true, and the queue counts the work by itself",
    ),
    (
        "!variables.disowned || variables.controller",
        "Only controllers change whose a pod or a job is: it would run on beside every quota",
    ),
    (
        "!variables.relabelled || variables.controller",
        "Only its controller changes the labels of what belongs to a job: it would run on beside every quota when the "
        "job ends; add labels, and leave those that are there",
    ),
    (
        f"{none('counted')} || variables.controller",
        "The queue itself says which Workload counts a job or a pod",
        f'"remove " + {first("counted")} + " from labels and annotations: the queue itself says which Workload counts '
        'a job or a pod"',
    ),
    (
        "variables.remarked.size() == 0 || variables.controller",
        "What the queue has written into a pod stays as it is",
        '"leave " + variables.remarked[0] + " of the pod as it is: the queue knows the pod by it, and nobody would '
        'count it any more"',
    ),
    (
        "variables.ungated.size() == 0 || variables.controller",
        "Only the queue lets a pod start: leave its schedulingGates; it goes when there is quota for it",
    ),
    (
        f"{none('orphan')} || variables.controller",
        "Pods end with their job: remove the finalizer orphan, or they would run on beside every quota",
    ),
)

_NO_GROUPS: Final = (
    f'request.operation != "CREATE" || object.kind != "Pod" || variables.controller ||\n'
    f"  !{texts(('labels', 'annotations'))}.exists(where, dyn(object).metadata[?where][?{text(GROUP)}].hasValue())",
    "A group of single pods may say of each pod what it counts for, and only Kubernetes 1.36 can keep it from that: "
    "submit a Job or a JobSet",
)

_ENDS_ITS_PODS: Final = (
    'request.?options.?propagationPolicy.orValue("") != "Orphan" && !request.?options.?orphanDependents.orValue(false)'
)
_ORPHANED: Final = (
    "Pods end with their job: delete without --cascade=orphan (propagationPolicy Orphan), or they would run on beside "
    "every quota"
)

_NO_ROLE: Final = (
    f"object.metadata.?annotations[?{text(ROLE)}].hasValue() ?\n"
    f'  [JSONPatch{{op: "remove", path: "/metadata/annotations/" + jsonpatch.escapeKey({text(ROLE)})}}] : []'
)
