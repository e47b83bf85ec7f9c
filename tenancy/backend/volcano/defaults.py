"""The admission policy that writes what every pod here needs: the scheduler, and the queue where there is one only.

The API server has written `default-scheduler` into pods and templates before any policy sees them (run on 1.36), so
that is what is replaced. A template is written as well, or the policy on queues would refuse it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import annotate, mutates, mutating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.volcano.binding import PLAIN, SCHEDULER, queues
from tenancy.backend.volcano.pod_templates import GROUP, KINDS, QUEUE, whole_templates
from tenancy.plan.values import ClusterPlan

DEFAULTS: Final = "tenancy-queue-defaults"
UNSAID: Final = ("", "default-scheduler")


def defaults(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding; none where the API server cannot do it, and the author writes both.

    Of an update only what was there before is written again: a pod from before the policy cannot be changed.
    """
    if mutates(plan):
        variables = {
            **whole_templates(),
            "queues": queues(plan),
            "plain": f"object.apiVersion in {texts(PLAIN)} ? variables.templates[0] : []",
            "stray": _STRAY,
            "unbound": _UNBOUND,
            "job": _JOB,
        }
        operations = ("CREATE", "UPDATE")
        yield from mutating(plan, DEFAULTS, variables, _PATCHES, operations=operations, kinds=KINDS)


_STRAY: Final = f"""\
variables.plain.filter(it, it.template.?spec.?schedulerName.orValue("") in {texts(UNSAID)} &&
  (variables.templates.size() == 1 || variables.templates[1].exists(old, old.path == it.path &&
    old.template.?spec.?schedulerName.orValue("") == {text(SCHEDULER)})))"""

_UNBOUND: Final = f"""\
variables.queues.size() != 1 ? [] : variables.plain.filter(it,
  {texts((QUEUE, GROUP))}.all(key, it.template.?metadata.?annotations[?key].orValue("") == "") &&
  (variables.templates.size() == 1 || variables.templates[1].exists(old, old.path == it.path &&
    old.template.?metadata.?annotations[?{text(QUEUE)}].orValue("") != "")))"""

_JOB: Final = """\
variables.queues.size() != 1 || request.operation != "CREATE" || !object.apiVersion.contains(".volcano.sh/") ? [] :
  (object.kind == "CronJob" ? ["/spec/jobTemplate/spec"] : ["/spec"]).filter(it,
    dyn(object).?spec.?queue.orValue(dyn(object).?spec.?jobTemplate.?spec.?queue.orValue("")) in ["", "default"])"""
"""The API server writes `default` into jobs that name no queue."""

_PATCHES: Final = f"""\
variables.stray.map(it,
  JSONPatch{{op: "add", path: it.path + "/spec/schedulerName", value: {text(SCHEDULER)}}}) +
{annotate("variables.unbound", text(QUEUE), "variables.queues[0]")} +
variables.job.map(it, JSONPatch{{op: "add", path: it + "/queue", value: variables.queues[0]}})"""
