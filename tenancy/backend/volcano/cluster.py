"""Admission policies by which nobody stops Volcano for the whole cluster, wherever the request comes from.

`binding` judges the namespaces of the organization. In all others one pod or PodGroup that names an inner queue stops
scheduling just as well (run on 1.15.1), and one that names a team's leaf uses the team's quota. So there work may name
`default`, which holds nothing, and what an annotation of the namespace lists, which is the platform's to write.

A Command in any namespace closes any Queue, with all below it (run on 1.15.1), and Volcano's chart gives the right to
make Commands to everybody who has its `vcjob-editor-role`. One for a job restarts it, past a unit's state. So whoever
makes one must have the right to change Queues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import revisions, validating
from tenancy.backend.shared.cel import text
from tenancy.backend.shared.pod_templates import PodTemplates
from tenancy.backend.volcano.binding import queues
from tenancy.backend.volcano.pod_templates import KINDS, POD_GROUP, QUEUE
from tenancy.backend.volcano.work import BATCH, SCHEDULING
from tenancy.plan.values import ClusterPlan

COMMANDS: Final = "tenancy-commands"
FOREIGN: Final = "tenancy-foreign-queues"
DEFAULT: Final = "default"

_COMMAND: Final = PodTemplates("bus.volcano.sh", "v1alpha1", "commands", "Command", ())


def commands(plan: ClusterPlan) -> Iterator[Object]:
    """The policy on Commands in every namespace, with its binding. Elsewhere those for jobs are somebody else's."""
    label = text(f"{plan.domain}/organization")
    variables = {
        "queue": 'object.?target.?kind.orValue("") == "Queue"',
        "ours": f'namespaceObject.metadata.?labels[?{label}].orValue("") == {text(plan.organization)}',
        "staff": f'authorizer.group({text(SCHEDULING)}).resource("queues").check("update").allowed()',
    }
    expression = "variables.staff || !(variables.queue || variables.ours)"
    message = (
        "Commands are for whoever may update Queues: one in any namespace closes any queue of the cluster, and one for "
        "a job restarts it past the state of its unit; ask the platform's administrators, or delete the job"
    )
    yield from validating(
        plan, COMMANDS, variables, [(expression, message)], kinds=(_COMMAND,), guard="cluster", selector={}
    )


def foreign_queues(plan: ClusterPlan) -> Iterator[Object]:
    """The policy on pods, PodGroups and Volcano's jobs of namespaces that are not the organization's, with its binding.

    Whatever else makes pods there, they come by here. Of an update only a new queue is judged.
    """
    variables = {
        **revisions(),
        "named": 'variables.revisions.map(it, it.kind == "Pod" ?\n'
        f'  it.metadata.?annotations[?{text(QUEUE)}].orValue("") :\n'
        '  it.?spec.?queue.orValue(it.?spec.?jobTemplate.?spec.?queue.orValue("")))',
        "queues": queues(plan),
    }
    expression = (
        f'variables.named[0] in ["", {text(DEFAULT)}] || variables.named[0] in variables.queues ||\n'
        "  (variables.named.size() == 2 && variables.named[0] == variables.named[1])"
    )
    key = f"{plan.domain}/queues"
    hint = f"one that may use it has the annotation {key}, which names it"
    message = f"Namespaces outside of the organization may name no queue of Volcano but {DEFAULT}: {hint}"
    told = (
        '"queue " + variables.named[0] + " is not for namespace " + request.namespace + '
        f'"; a namespace that may use it names it in its annotation {key}"'
    )
    selector = {"matchExpressions": [{"key": f"{plan.domain}/organization", "operator": "DoesNotExist"}]}
    kinds = (*(kind for kind in KINDS if kind.kind == "Pod" or kind.group == BATCH), POD_GROUP)
    yield from validating(
        plan, FOREIGN, variables, [(expression, message, told)], kinds=kinds, guard="cluster", selector=selector
    )
