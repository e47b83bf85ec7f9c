"""The default topology of units: an admission policy gives it to GPU jobs of several pods that ask for none.

Kueue reads the request from annotations of pod templates. With one it leaves out every flavor without the level, for
`preferred` as for `required` (tas_flavorassigner.go; run on 0.19.2): a job that nothing else keeps off such a flavor
never runs there. That is what `required` means. A preference must not cost a place, so there only jobs get it whose
flavors all have the level. A job has chosen a flavor by a node selector, by node affinity or by a toleration.

Kueue places each pod set by itself, a leader in another rack than its workers, unless both are of one group
(tas_flavor_snapshot.go; run on 0.19.2). So where two templates get the default and one of them has a single pod, they
are made a group; Kueue refuses any other (tas_validation.go, the same in 0.17.0). A group gets one flavor, and nodes
that suit its workers: both templates must say the same of these, and under a preference have one flavor alone.

Left alone are objects in which some template asks for itself, and work whose pods Kueue admits one by one: Deployments
and pods outside groups. CronJobs are left alone as well; their Jobs are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.kueue.queueing import GROUP
from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import annotate, mutating, pods, templates
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, pod_templates, sized, whole
from tenancy.backend.shared.topology_defaults import DEFAULT, NAME, gives, read, said
from tenancy.model.hardware import Hardware, Taint
from tenancy.plan.values import ClusterPlan, Namespace, Topology

FLAVORS: Final = f"{DEFAULT}-flavors"
LACKING: Final = f"{DEFAULT}-lacking"
"""Annotations of a namespace: the flavors within reach that have the level, and those that do not."""

OWN: Final = tuple(
    f"kueue.x-k8s.io/podset-{name}"
    for name in (
        "required-topology",
        "preferred-topology",
        "unconstrained-topology",
        "slice-required-topology",
        "slice-required-topology-constraints",
    )
)
"""The annotations by which a template asks for itself (topology_types.go of 0.19.2)."""

_KINDS = tuple(kind for kind in POD_TEMPLATES if kind.kind not in ("Deployment", "CronJob"))
_LED = tuple(kind for kind in sized(_KINDS) if kind.group != "ray.io")
"""Not Ray's: the list of worker groups is one value to whoever applies it. A second apply of the same object takes
from the workers what was written here and leaves it to the head, and Kueue refuses half a group (run on 0.19.2)."""
PODSET_GROUP: Final = "kueue.x-k8s.io/podset-group-name"
"""Annotation of pod templates: pod sets of one group come to one place."""


def asking(plan: ClusterPlan, topology: Topology, flavor: str) -> str:
    """What a pod template has among its annotations to ask for the same; no flavor makes a difference."""
    del plan, flavor
    return f"kueue.x-k8s.io/podset-{topology.mode}-topology: {topology.level}"


def marks(plan: ClusterPlan, namespace: Namespace) -> dict[str, str]:
    """What a namespace says of its default."""
    topology = namespace.topology
    if topology is None:
        return {}
    lacking = {f"{plan.domain}/{LACKING}": ",".join(topology.lacking)} if topology.lacking else {}
    return {**said(plan, topology), f"{plan.domain}/{FLAVORS}": ",".join(topology.flavors), **lacking}


def topology_defaults(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding, where a unit has a default and the API server can give it."""
    if not gives(plan):
        return
    flavors = [flavor for flavor in plan.flavors.values() if flavor.gpu]
    resources = sorted({main for flavor in flavors for main in flavor.mains})
    variables = {
        **templates(_KINDS),
        **pods(resources, _taints(flavors)),
        "wholes": pod_templates("dyn(object)", whole(_KINDS), "template"),
        "wanted": read(plan, DEFAULT, " "),
        "having": read(plan, FLAVORS),
        "lacking": read(plan, LACKING),
        "hardware": "[" + ",\n".join(map(_facts, flavors)) + "]",
        "open": _OPEN,
        "offers": _OFFERS,
        "chosen": _CHOSEN,
        "given": _GIVEN,
        "sized": f"(\n{pod_templates('dyn(object)', _LED, 'by')}\n)",
        "sizes": _SIZES,
        "led": _TOGETHER,
    }
    patches = annotate("variables.given", _KEY, "variables.wanted[1]") + f" +\n{_JOINED}"
    yield from mutating(plan, NAME, variables, patches, kinds=_KINDS)


def _taints(flavors: list[Hardware]) -> list[Taint]:
    """All taints that keep pods out; one that no flavor has where there are none (CEL's types)."""
    found = [taint for flavor in flavors for taint in flavor.taints if taint.keeps_out]
    return list(dict.fromkeys(found)) or [Taint("tenancy/none", "", "NoSchedule")]


def _facts(flavor: Hardware) -> str:
    """CEL for what tells whether a pod may go to a flavor. Of one without a fence Kueue gives the tolerations."""
    labels = ", ".join(f"{text(key)}: {text(value)}" for key, value in sorted(flavor.labels.items()))
    taints = [taint.text for taint in flavor.taints if taint.keeps_out] if flavor.fenced else []
    return (
        f'{{"name": dyn({text(flavor.name)}), "resources": dyn({texts(flavor.mains)}), '
        f'"labels": dyn({{{labels}}}), "taints": dyn({texts(taints)})}}'
    )


_KEY: Final = '("kueue.x-k8s.io/podset-" + variables.wanted[0] + "-topology")'

_OPEN: Final = f"""\
variables.wanted.size() == 2 && !variables.wholes.exists(it,
    {texts(OWN)}.exists(key, it.template.?metadata.?annotations[?key].hasValue())) &&
  (object.kind != "Pod" || object.metadata.?labels[?{text(GROUP)}].hasValue()) &&
  (object.kind != "Job" || (dyn(object).?spec.?parallelism.orValue(1) > 1 &&
    dyn(object).?spec.?completions.orValue(2) > 1))"""
"""Whether the object is one that the default is for: several pods that Kueue places together, and no own request."""

_OFFERS: Final = """\
(variables.open ? variables.pods : []).filter(pod, pod.gpus.size() > 0).map(pod, {
  "path": pod.path,
  "spec": pod.spec,
  "tolerates": pod.tolerates,
  "flavors": dyn(variables.hardware.filter(it,
    pod.gpus.all(gpu, gpu in it.resources) &&
    it.labels.all(key, pod.spec.?nodeSelector[?key].orValue(it.labels[key]) == it.labels[key]) &&
    (!pod.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.hasValue() ||
      pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.exists(term,
        term.?matchExpressions.orValue([]).all(each, each.operator != "In" || !(each.key in it.labels) ||
          it.labels[each.key] in each.values)))))
})"""
"""The pods that ask for GPUs, with the flavors that offer these and are not excluded by selector or affinity."""

_CHOSEN: Final = """\
variables.offers.map(pod, {
  "path": pod.path,
  "nodes": dyn([pod.spec.?nodeSelector.orValue({}), pod.spec.?tolerations.orValue([]),
    pod.spec.?affinity.?nodeAffinity.orValue({})]),
  "flavors": dyn(pod.flavors.exists(it, it.taints.size() > 0 && it.taints.all(taint, taint in pod.tolerates)) ?
    pod.flavors.filter(it, it.taints.all(taint, taint in pod.tolerates)) : pod.flavors)
}).filter(pod, pod.flavors.exists(it, it.name in variables.having) &&
  (variables.wanted[0] == "required" || !pod.flavors.exists(it, it.name in variables.lacking)))"""
"""The pods that get the default. One that tolerates none of the fences will be given all of them."""

_GIVEN: Final = 'variables.wholes.filter(it, variables.chosen.exists(pod, pod.path == it.path + "/spec"))'
"""Their whole templates."""

_SIZES: Final = """\
variables.sized.filter(it, variables.chosen.exists(pod, pod.path.startsWith(it.path + "/"))).map(it,
  it.by.?replicas.orValue(1) * it.by.?template.?spec.?parallelism.orValue(1))"""
"""How many pods each of these templates has, or more: Kueue counts no more of a JobSet's than its completions. The
workers of a LeaderWorkerSet say nothing here."""

_TOGETHER: Final = f"""\
variables.chosen.size() == 2 && variables.sizes.exists(it, it == 1) && variables.sizes.all(it, it > 0) &&
  dyn(object).?spec.?leaderWorkerTemplate.?size.orValue(2) > 1 &&
  !variables.wholes.exists(it, it.template.?metadata.?annotations[?{text(PODSET_GROUP)}].hasValue()) &&
  variables.chosen[0].flavors == variables.chosen[1].flavors &&
  variables.chosen[0].nodes == variables.chosen[1].nodes && (variables.wanted[0] == "required" ||
    variables.chosen[0].flavors.filter(it, it.name in variables.having).size() == 1)"""
"""Whether these are a leader and its workers, which Kueue can place as one. Both must have pods: a group takes room for
a pod of each."""

_JOINED: Final = f"""\
(variables.led ? variables.given : []).map(it, JSONPatch{{op: "add",
  path: it.path + "/metadata/annotations/" + jsonpatch.escapeKey({text(PODSET_GROUP)}), value: "job"}})"""
"""The patches that make a group of them, after those that leave each template with annotations."""
