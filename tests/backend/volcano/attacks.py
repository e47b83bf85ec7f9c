"""What a member of a team may try on a cluster with Volcano: each attack with the words that refuse it.

Every one is sent to a real kube-apiserver with Volcano's webhooks (tests/cluster/test_volcano_attacks.py), most as a
member of the team (group `vision`). That each kind of work is judged alike is shown by `policy_requests`, kind by kind;
here is what a person would think of.
"""

from __future__ import annotations

from typing import Final

from tests.backend.kueue.policy_requests import GPU, every_kind, job, pod
from tests.backend.volcano.attempts import CLOSER, FOREIGN, Attempt, command, cron, in_task, named, privileged, standing
from tests.backend.volcano.policy_requests import (
    CPU,
    DRAINING,
    GPU_WORK,
    GROUP,
    HELD,
    INNER,
    INTO_FENCE,
    MINE,
    NAMESPACE,
    ONE_QUEUE,
    POLITE,
    PREEMPTABLE,
    QUEUE,
    QUEUES,
    TOLERATIONS,
    WORK,
    annotated,
    at,
    every_volcano_kind,
    job_flow,
    pod_group,
    queued,
    vcjob,
    with_metadata,
)

_POD, _DEPLOYMENT, _JOB = standing()
_TEMPLATE_OF: Final = every_volcano_kind("steals", WORK, QUEUES[ONE_QUEUE])[2]
_OTHERS: Final = f"queue {QUEUES[ONE_QUEUE]} is not a queue of namespace {NAMESPACE}; its queues are: {CPU}, {MINE}"
_ROOT: Final = f"queue root is not a queue of namespace {NAMESPACE}"
_INNER: Final = f"queue {INNER} is not a queue of namespace {NAMESPACE}"
_KEEPS: Final = f"Remove {PREEMPTABLE} from annotations and labels"
_SYSTEM: Final = "-critical is not for "
_CONTROLLERS: Final = "Only controllers"
_COMMANDS: Final = "Commands are for whoever may update Queues"
_HELD: Final = "The unit of this namespace is held, so new work is refused"
_DRAINING: Final = _HELD.replace("held", "draining")


def _forbidden(verb: str, resource: str, group: str = "") -> str:
    return f'cannot {verb} resource "{resource}" in API group "{group}"'


_STOP: Final = (
    Attempt("a pod in the queue of the department", annotated(queued(pod("a", WORK)), {QUEUE: INNER}), _INNER),
    Attempt("a pod in root", annotated(queued(pod("a", WORK)), {QUEUE: "root"}), _ROOT),
    Attempt("a Deployment whose pods name root", annotated(_DEPLOYMENT, {QUEUE: "root"}), _ROOT),
    Attempt(
        "a StatefulSet in the queue of the flavor",
        annotated(queued(every_kind("a", WORK)[3]), {QUEUE: "h100"}),
        f"queue h100 is not a queue of namespace {NAMESPACE}",
    ),
    Attempt("a CronJob whose pods name root", annotated(queued(every_kind("a", WORK)[4]), {QUEUE: "root"}), _ROOT),
    Attempt("a Volcano job in the queue of the department", vcjob("a", WORK, INNER), _INNER),
    Attempt("a Volcano job whose tasks name root", in_task("root"), _ROOT),
    Attempt("a Volcano CronJob in root", cron(vcjob("a", WORK, "root")), _ROOT),
    Attempt("a Volcano CronJob whose tasks name the department's queue", cron(in_task(INNER)), _INNER),
    Attempt("a PodGroup in root", pod_group("a", "root"), _forbidden("create", "podgroups", "scheduling.volcano.sh")),
    Attempt(
        "another queue for a PodGroup",
        pod_group("a", CPU),
        _forbidden("patch", "podgroups", "scheduling.volcano.sh"),
        "patch",
        {"spec": {"queue": "root"}},
    ),
    Attempt(
        "a Queue of one's own",
        named("Queue", "mine", "scheduling.volcano.sh/v1beta1", "", spec={"weight": 1}),
        _forbidden("create", "queues", "scheduling.volcano.sh"),
    ),
    Attempt(
        "more for one's queue",
        named("Queue", MINE, "scheduling.volcano.sh/v1beta1", ""),
        _forbidden("patch", "queues", "scheduling.volcano.sh"),
        "patch",
        {"spec": {"capability": {GPU: "16"}}},
    ),
    Attempt(
        "a Command that closes a queue",
        command("Queue", QUEUES[ONE_QUEUE]),
        _forbidden("create", "commands", "bus.volcano.sh"),
    ),
    Attempt(
        "a Command that closes a queue, with the role of the chart",
        command("Queue", QUEUES[ONE_QUEUE]),
        _COMMANDS,
        who=CLOSER,
    ),
    Attempt("the same from another namespace", command("Queue", "root", FOREIGN), _COMMANDS, who=CLOSER),
    Attempt("a Command that resumes a job", command("Job", "a", action="ResumeJob"), _COMMANDS, who=CLOSER),
    Attempt(
        "a pod of another namespace in root",
        at(annotated(queued(pod("a", WORK)), {QUEUE: "root"}), FOREIGN),
        f"queue root is not for namespace {FOREIGN}",
        who="root",
    ),
    Attempt(
        "a Volcano job of another namespace in a team's queue",
        at(vcjob("a", WORK, MINE), FOREIGN),
        f"queue {MINE} is not for namespace {FOREIGN}",
        who="root",
    ),
    Attempt(
        "a PodGroup of another namespace in a team's queue",
        at(pod_group("a", MINE), FOREIGN),
        f"queue {MINE} is not for namespace {FOREIGN}",
        who="root",
    ),
)
"""What would stop scheduling for everybody, or change what everybody has."""

_OUT: Final = (
    Attempt(
        "a pod in the queue of another team", annotated(queued(pod("a", WORK)), {QUEUE: QUEUES[ONE_QUEUE]}), _OTHERS
    ),
    Attempt("a JobTemplate in the queue of another team", _TEMPLATE_OF, _OTHERS),
    Attempt(
        "the list of one's queues",
        named("Namespace", NAMESPACE, namespace=""),
        _forbidden("patch", "namespaces"),
        "patch",
        {"metadata": {"annotations": {"gpu.acme.example/queues": "root"}}},
    ),
    Attempt(
        "a Job of another scheduler",
        queued(job("a", WORK), schedulerName="mine"),
        "another scheduler starts pods beside all queues",
    ),
    Attempt(
        "a pod on a node of one's choice",
        queued(pod("a", GPU_WORK), nodeName="h100-0"),
        "spec.nodeName skips the scheduler",
    ),
    Attempt(
        "a Volcano job on a node of one's choice",
        annotated(vcjob("a", WORK), {}, None, {"nodeName": "h100-0"}),
        "spec.nodeName skips the scheduler",
    ),
    Attempt(
        "a pod without a queue where there are several",
        pod("a", {**WORK, "schedulerName": "volcano"}),
        "a pod without a queue waits for ever",
    ),
    Attempt("a pod in a PodGroup of others", annotated(queued(pod("a", WORK)), {GROUP: "theirs"}), _CONTROLLERS),
    Attempt("a running pod into root", _POD, _ROOT, "patch", {"metadata": {"annotations": {QUEUE: "root"}}}),
    Attempt(
        "a running pod out of its PodGroup", _POD, _CONTROLLERS, "patch", {"metadata": {"annotations": {GROUP: None}}}
    ),
    Attempt(
        "a running pod to another owner",
        _POD,
        _CONTROLLERS,
        "patch",
        {
            "metadata": {
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1", "controller": True}
                ]
            }
        },
    ),
    Attempt(
        "a Deployment that runs into root",
        _DEPLOYMENT,
        _ROOT,
        "patch",
        {"spec": {"template": {"metadata": {"annotations": {QUEUE: "root"}}}}},
    ),
    Attempt(
        "a Volcano job that runs into another queue", _JOB, _OTHERS, "patch", {"spec": {"queue": QUEUES[ONE_QUEUE]}}
    ),
    Attempt("work where the unit is held", at(vcjob("a", WORK, QUEUES[HELD]), HELD), _HELD),
    Attempt("a flow where the unit is held", at(job_flow("a"), HELD), _HELD),
    Attempt("a Job where the unit is draining", queued(at(job("a", WORK), DRAINING)), _DRAINING),
    Attempt(
        "work in another namespace", at(vcjob("a", WORK), FOREIGN), _forbidden("create", "jobs", "batch.volcano.sh")
    ),
)
"""Ways out of a queue, into somebody else's, or around all of them."""

_KEEP: Final = (
    Attempt("a pod that is never evicted", annotated(queued(pod("a", GPU_WORK)), {PREEMPTABLE: "false"}), _KEEPS),
    Attempt("a Deployment that says so by a label", annotated(_DEPLOYMENT, {}, {PREEMPTABLE: "no"}), _KEEPS),
    Attempt(
        "a Volcano job that says so of itself",
        with_metadata(vcjob("a", WORK), annotations={PREEMPTABLE: "false"}),
        _KEEPS,
    ),
    Attempt(
        "a running pod that says so later", _POD, _KEEPS, "patch", {"metadata": {"annotations": {PREEMPTABLE: "false"}}}
    ),
    Attempt("a pod of a system class", queued(pod("a", WORK), priorityClassName="system-node-critical"), _SYSTEM),
    Attempt(
        "a Volcano job of a class that is not its unit's",
        vcjob("a", WORK, priorityClassName=POLITE),
        f"priority {POLITE} is not for namespace {NAMESPACE}",
    ),
    Attempt("a Volcano job of a system class", vcjob("a", WORK, priorityClassName="system-cluster-critical"), _SYSTEM),
    Attempt(
        "a Volcano CronJob whose tasks have one",
        cron(annotated(vcjob("a", WORK), {}, None, {"priorityClassName": "system-node-critical"})),
        _SYSTEM,
    ),
    Attempt(
        "a Job whose pods never preempt",
        queued(job("a", WORK), preemptionPolicy="Never"),
        "does not get its quota back",
    ),
    Attempt(
        "a class of one's own",
        named("PriorityClass", "first", "scheduling.k8s.io/v1", "", value=1_000_000),
        _forbidden("create", "priorityclasses", "scheduling.k8s.io"),
    ),
)
"""What would keep lent quota, or go before everybody."""

_HOST: Final = (
    Attempt("a cpu pod on GPU nodes", queued(pod("a", INTO_FENCE)), "may tolerate gpu.acme.example/reserved=training"),
    Attempt(
        "a Volcano job whose cpu tasks go there",
        vcjob("a", INTO_FENCE),
        "may tolerate gpu.acme.example/reserved=training",
    ),
    Attempt(
        "a GPU pod that tolerates whatever there is",
        annotated(queued(pod("a", GPU_WORK), tolerations=[{"operator": "Exists"}]), {QUEUE: MINE}),
        "A toleration without a key tolerates every taint",
    ),
    Attempt(
        "a pod past the taint of a flavor that is not its unit's",
        at(pod("a", {**GPU_WORK, "tolerations": [TOLERATIONS["inference"]]}), ONE_QUEUE),
        f"which is not for namespace {ONE_QUEUE}",
    ),
    Attempt(
        "a pod on nodes of the control plane",
        queued(pod("a", WORK), tolerations=[{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]),
        "nodes of that role are no flavor, no quota counts what runs there",
    ),
    Attempt(
        "a Service at an address of others",
        named("Service", "a", spec={"selector": {"app": "a"}, "ports": [{"port": 80}], "externalIPs": ["10.0.0.1"]}),
        "what the whole cluster sends there would go to the pods of this Service",
    ),
    Attempt("a Volcano job whose pods are privileged", vcjob("a", privileged()), "would all be refused"),
    Attempt("a privileged pod", queued(pod("a", privileged())), "violates PodSecurity"),
    Attempt("a pod in the host's network", queued(pod("a", WORK), hostNetwork=True), "violates PodSecurity"),
    Attempt(
        "a pod with the host's files",
        queued(pod("a", WORK), volumes=[{"name": "host", "hostPath": {"path": "/"}}]),
        "violates PodSecurity",
    ),
    Attempt("no quota of objects", named("ResourceQuota", "tenancy"), _forbidden("delete", "resourcequotas"), "delete"),
    Attempt("no default requests", named("LimitRange", "tenancy"), _forbidden("delete", "limitranges"), "delete"),
    Attempt(
        "no network policy",
        named("NetworkPolicy", "tenancy-default", "networking.k8s.io/v1"),
        _forbidden("delete", "networkpolicies", "networking.k8s.io"),
        "delete",
    ),
    Attempt(
        "rights for a friend",
        named(
            "RoleBinding",
            "friend",
            "rbac.authorization.k8s.io/v1",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        ),
        _forbidden("create", "rolebindings", "rbac.authorization.k8s.io"),
    ),
    Attempt(
        "no policy",
        named("ValidatingAdmissionPolicyBinding", "tenancy-queue-binding", "admissionregistration.k8s.io/v1", ""),
        _forbidden("delete", "validatingadmissionpolicybindings", "admissionregistration.k8s.io"),
        "delete",
    ),
    Attempt(
        "no taint on a node",
        named("Node", "h100-0", namespace=""),
        _forbidden("patch", "nodes"),
        "patch",
        {"spec": {"taints": None}},
    ),
    Attempt(
        "a rack of one's own",
        named("HyperNode", "mine", "topology.volcano.sh/v1alpha1", "", spec={"tier": 1}),
        _forbidden("create", "hypernodes", "topology.volcano.sh"),
    ),
)
"""Nodes, hosts, and what guards them."""

ATTACKS: Final = (*_STOP, *_OUT, *_KEEP, *_HOST)
