"""What members of teams try on a cluster with Kueue: attacks, each refused with its words, and ordinary work, allowed.

Every row names the rule that it is about, by words of the rule's own message, so that each rule has both. Rows are for
a real API server with the policies of ORGANIZATION, on which BEFORE was created before them.
"""

from __future__ import annotations

from typing import Final

from tests.backend.kueue.attacks import (
    CPU,
    DOMAIN,
    EVERYTHING,
    FLAVOR,
    GPU,
    GPUS,
    H100,
    H200,
    KUEUE,
    OTHER,
    PRIORITY,
    QUEUE,
    SAFE,
    SHARE,
    Attempt,
    annotated,
    container,
    cron,
    deployment,
    job,
    jobset,
    labelled,
    meta,
    owner,
    pod,
    pytorch,
    selecting,
    service,
    spec,
    stateful,
)

_QUEUE = "Work is in the queue default"
_UNQUEUED = "Work without a queue runs beside every quota"
_OWNER = "Only a controller makes what has an owner"
_OWNED = "Only controllers change whose"
_LABELS = "Only its controller changes the labels"
_COUNTED = "says which Workload counts"
_WRITTEN = "What the queue has written into a pod"
_GATES = "Only the queue lets a pod start"
_FINALIZER = "remove the finalizer orphan"
_CASCADE = "delete without --cascade=orphan"
_NODE_NAME = "spec.nodeName skips the scheduler"
_SCHEDULER = "Another scheduler places pods"
_BLANKET = "A toleration without a key"
_ROLE = "Nodes of the control plane are no flavor"
_FLAVOR = "only nodes of flavors"
_TAINT = "only taints of flavors"
_PRIORITY = "Work may have only the priorities"
_CLASS = "would take the class of a pod"
_MUST = "Every job here names its priority"
_POD_CLASS = "Pods may have only the priorities"
_SECURITY = "refused by the Pod Security level"
_ADDRESSES = "A Service with externalIPs"
_FENCE_H100 = f"may tolerate {DOMAIN}/reserved=h100"
_FENCE_H200 = f"may tolerate {DOMAIN}/reserved=h200"
_WHOLE = "given out in whole nodes"
_SHARES = "handed out in shares"
_STOPS = "no job of anybody is let in"

ATTACKS: Final = (
    Attempt("a queue of somebody else", _QUEUE, job(metadata=labelled(QUEUE, "other")), "there is no queue other"),
    Attempt("the same in a PyTorchJob", _QUEUE, pytorch(metadata=labelled(QUEUE, "big")), "there is no queue big"),
    Attempt("a CronJob whose jobs name one", _QUEUE, cron(metadata=labelled(QUEUE, "x")), "there is no queue x"),
    Attempt("a template that names one", _QUEUE, job(template=labelled(QUEUE, "x")), "there is no queue x"),
    Attempt(
        "a pod that leaves its queue",
        _UNQUEUED,
        {"metadata": meta({QUEUE: None})},
        f"write the label {QUEUE}",
        of="alone",
    ),
    Attempt(
        "a pod that says it is a running job's",
        _OWNER,
        pod(spec(GPUS, tolerations=[H100]), owner("batch/v1", "Job", "runs")),
        "remove ownerReferences",
    ),
    Attempt(
        "a Job that says it is a JobSet's",
        _OWNER,
        job(metadata=owner("jobset.x-k8s.io/v1alpha2", "JobSet", "set")),
        "remove ownerReferences",
    ),
    Attempt(
        "a Deployment that says it is a PyTorchJob's",
        _OWNER,
        deployment(metadata=owner("kubeflow.org/v1", "PyTorchJob", "trains")),
        "remove ownerReferences",
    ),
    Attempt(
        "a pod that leaves its job", _OWNED, {"metadata": {"ownerReferences": None}}, "change whose", of="runs/pod"
    ),
    Attempt(
        "a pod that is adopted later",
        _OWNED,
        {"metadata": owner("batch/v1", "Job", "runs")},
        "change whose",
        of="alone",
    ),
    Attempt(
        "a pod that its job no longer selects",
        _LABELS,
        {"metadata": meta({"batch.kubernetes.io/controller-uid": "none"})},
        "leave those that are there",
        of="runs/pod",
    ),
    Attempt(
        "a pod without its job's label",
        _LABELS,
        {"metadata": meta({"job-name": None})},
        "leave those that are there",
        of="runs/pod",
    ),
    Attempt(
        "a Workload that is there already",
        _COUNTED,
        job(metadata=labelled(f"{KUEUE}/prebuilt-workload-name", "x")),
        f"remove {KUEUE}/prebuilt-workload-name",
    ),
    Attempt(
        "the same in an annotation of a pod",
        _COUNTED,
        pod(metadata=annotated(f"{KUEUE}/prebuilt-workload-name", "x")),
        f"remove {KUEUE}/prebuilt-workload-name",
    ),
    Attempt(
        "a template that names a Workload",
        _COUNTED,
        job(template=annotated(f"{KUEUE}/workload", "x")),
        f"remove {KUEUE}/workload",
    ),
    Attempt(
        "a Deployment whose pods say their role",
        _COUNTED,
        deployment(
            template={
                "metadata": meta({"app": "it"}, {f"{KUEUE}/role-hash": "x"}),
                "spec": {**spec(), "restartPolicy": "Always"},
            }
        ),
        f"remove {KUEUE}/role-hash",
    ),
    Attempt(
        "a pod that is not managed any more",
        _WRITTEN,
        {"metadata": meta({f"{KUEUE}/managed": None})},
        f"leave {KUEUE}/managed",
        of="alone",
    ),
    Attempt(
        "a pod that plays another role",
        _WRITTEN,
        {"metadata": annotated(f"{KUEUE}/role-hash", "x")},
        f"leave {KUEUE}/role-hash",
        of="alone",
    ),
    Attempt(
        "a pod that opens its own gate",
        _GATES,
        {"spec": {"schedulingGates": None}},
        "leave its schedulingGates",
        of="gated",
    ),
    Attempt(
        "a finalizer that leaves pods behind",
        _FINALIZER,
        {"metadata": {"finalizers": ["orphan"]}},
        "remove the finalizer",
        of="runs",
    ),
    Attempt("a job on a node by name", _NODE_NAME, job(spec(nodeName="h200-0")), "remove it, or write a nodeSelector"),
    Attempt(
        "a JobSet on a node by name", _NODE_NAME, jobset(spec(nodeName="h200-0")), "remove it, or write a nodeSelector"
    ),
    Attempt("a scheduler of one's own", _SCHEDULER, pod(spec(schedulerName="mine")), "remove schedulerName"),
    Attempt("the same in a Deployment", _SCHEDULER, deployment(spec(schedulerName="mine")), "remove schedulerName"),
    Attempt(
        "a toleration of everything",
        _BLANKET,
        job(spec(tolerations=[{**EVERYTHING, "effect": "NoExecute"}])),
        "write the key",
    ),
    Attempt(
        "a running pod that tolerates everything",
        _BLANKET,
        [{"op": "add", "path": "/spec/tolerations/-", "value": {**EVERYTHING, "effect": "NoExecute"}}],
        "write the key",
        of="gated",
    ),
    Attempt(
        "nodes of the control plane",
        _ROLE,
        job(spec(tolerations=[{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}])),
        "remove the toleration of node-role.kubernetes.io/control-plane",
    ),
    Attempt(
        "a running pod that may go there",
        _ROLE,
        [{"op": "add", "path": "/spec/tolerations/-", "value": {**OTHER, "key": "node-role.kubernetes.io/master"}}],
        "remove the toleration of node-role.kubernetes.io/master",
        of="gated",
    ),
    Attempt(
        "nodes of another unit by selector",
        _FLAVOR,
        job(spec(nodeSelector={FLAVOR: "h200"})),
        f"no node with {FLAVOR}=h200",
    ),
    Attempt(
        "nodes of another unit by affinity",
        _FLAVOR,
        pytorch(spec(affinity=selecting(FLAVOR, "In", "cpu", "h200"))),
        f"no node with {FLAVOR}=h200",
    ),
    Attempt(
        "nodes of another unit by preference",
        _FLAVOR,
        pod(spec(affinity=selecting(FLAVOR, "In", "h200", preferred=True))),
        f"no node with {FLAVOR}=h200",
    ),
    Attempt(
        "the taint of another unit",
        _TAINT,
        job(spec(GPUS, tolerations=[H200])),
        f"past {DOMAIN}/reserved=h200:NoSchedule",
    ),
    Attempt(
        "any value of the taint",
        _TAINT,
        pod(spec(GPUS, tolerations=[{"key": H100["key"], "operator": "Exists"}])),
        f"past {DOMAIN}/reserved=h200:NoSchedule",
    ),
    Attempt(
        "a priority of another unit",
        _PRIORITY,
        job(metadata=labelled(PRIORITY, "production")),
        "priority production is not for namespace lab-vision",
    ),
    Attempt(
        "a running job that climbs",
        _PRIORITY,
        {"metadata": meta({PRIORITY: "top"})},
        "its own are: research, scavenger",
        of="runs",
    ),
    Attempt(
        "a CronJob whose jobs have one",
        _PRIORITY,
        cron(metadata=labelled(PRIORITY, "production")),
        "priority production is not",
    ),
    Attempt(
        "the priority of the system in a template",
        _CLASS,
        job(spec(priorityClassName="system-cluster-critical")),
        "remove system-cluster-critical",
    ),
    Attempt(
        "the same by a scheduling policy",
        _CLASS,
        pytorch(schedulingPolicy={"priorityClass": "system-node-critical"}),
        "remove system-node-critical",
    ),
    Attempt(
        "the same in a pod",
        _POD_CLASS,
        pod(spec(priorityClassName="system-node-critical")),
        "remove priorityClassName: system-node-critical",
    ),
    Attempt("no priority where all are below zero", _MUST, job(), "name a priority", team="late"),
    Attempt("no priority in the jobs of a CronJob", _MUST, cron(), "name a priority", team="late"),
    Attempt(
        "a job in the network of the host", _SECURITY, job(spec(hostNetwork=True)), "Remove or change hostNetwork at"
    ),
    Attempt(
        "a privileged container in a CronJob",
        _SECURITY,
        cron(spec(container(securityContext={"privileged": True}))),
        "securityContext.privileged",
    ),
    Attempt(
        "files of the host",
        _SECURITY,
        jobset(spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}])),
        "a hostPath volume",
    ),
    Attempt(
        "a capability in an init container",
        _SECURITY,
        deployment(
            spec(initContainers=[container(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}}) | {"name": "i"}])
        ),
        "capabilities.add",
    ),
    Attempt(
        "a port of the host",
        _SECURITY,
        stateful(spec(container(ports=[{"containerPort": 1, "hostPort": 1}]))),
        "a hostPort",
    ),
    Attempt("a container as root", _SECURITY, job(), "without securityContext.runAsNonRoot: true", team="strict"),
    Attempt(
        "a Service at an address of others",
        _ADDRESSES,
        service(externalIPs=["10.0.0.1", "10.0.0.2"]),
        "remove externalIPs 10.0.0.1, 10.0.0.2: ",
    ),
    Attempt(
        "one more address of a Service",
        _ADDRESSES,
        {"spec": {"externalIPs": ["192.0.2.1", "192.0.2.2"]}},
        "remove externalIPs 192.0.2.2: ",
        of="answers",
    ),
    Attempt("a cpu job on GPU nodes", _FENCE_H100, job(spec(tolerations=[H100])), "or remove the toleration"),
    Attempt(
        "a running cpu pod on GPU nodes",
        _FENCE_H100,
        [{"op": "add", "path": "/spec/tolerations/-", "value": H100}],
        "or remove the toleration",
        of="gated",
    ),
    Attempt(
        "a cpu job on whole nodes", _FENCE_H200, job(spec(tolerations=[H200])), "or remove the toleration", team="whole"
    ),
    Attempt("a part of a whole node", _WHOLE, job(spec(GPUS)), "ask for 8", team="whole"),
    Attempt("two shares of a GPU", _SHARES, job(spec(container({**CPU, SHARE: "2"}))), "ask for one"),
)

ORDINARY: Final = (
    Attempt("a Job that says its queue", _QUEUE, job(metadata=labelled(QUEUE, "default"))),
    Attempt("a Job that says none", _UNQUEUED, job()),
    Attempt("a pod that says none", _UNQUEUED, pod()),
    Attempt("a JobSet", _UNQUEUED, jobset()),
    Attempt("a Deployment", _UNQUEUED, deployment()),
    Attempt("a StatefulSet", _UNQUEUED, stateful()),
    Attempt("a CronJob", _UNQUEUED, cron()),
    Attempt("a Job of a CronJob at once", _OWNER, job(metadata=owner("batch/v1", "CronJob", "nightly"))),
    Attempt(
        "a Job with an owner that no queue counts", _OWNER, job(metadata=owner("argoproj.io/v1alpha1", "Workflow", "w"))
    ),
    Attempt("a note on a pod of a job", _OWNED, {"metadata": annotated("example.com/seen", "yes")}, of="runs/pod"),
    Attempt("a label more on a pod of a job", _LABELS, {"metadata": meta({"example.com/seen": "yes"})}, of="runs/pod"),
    Attempt("a pod of a Deployment set free", _LABELS, {"metadata": meta({"app": "debugged"})}, of="serves/pod"),
    Attempt(
        "a Job with limits that Kueue reads",
        _COUNTED,
        job(
            metadata=meta({f"{KUEUE}/max-exec-time-seconds": "60"}, {f"{KUEUE}/job-min-parallelism": "1"}),
            parallelism=2,
            completions=2,
        ),
    ),
    Attempt(
        "a template with a topology",
        _COUNTED,
        job(template=annotated(f"{KUEUE}/podset-required-topology", "kubernetes.io/hostname")),
    ),
    Attempt("a label on a pod of one's own", _WRITTEN, {"metadata": meta({"example.com/run": "7"})}, of="alone"),
    Attempt(
        "another image in a waiting pod",
        _GATES,
        {"spec": {"containers": [{**container({"cpu": "40", "memory": "1Gi"}), "image": "other"}]}},
        of="gated",
    ),
    Attempt(
        "a gate of one's own opened",
        _GATES,
        {"spec": {"schedulingGates": [{"name": f"{KUEUE}/admission"}, {"name": f"{KUEUE}/topology"}]}},
        of="gated",
    ),
    Attempt("a finalizer of one's own", _FINALIZER, {"metadata": {"finalizers": ["example.com/upload"]}}, of="waits"),
    Attempt("a job on nodes of one's own", _NODE_NAME, job(spec(nodeSelector={FLAVOR: "cpu"}))),
    Attempt("the usual scheduler by name", _SCHEDULER, job(spec(schedulerName="default-scheduler"))),
    Attempt(
        "a toleration of something else",
        _BLANKET,
        job(spec(tolerations=[OTHER])),
    ),
    Attempt(
        "patience with a node that is lost",
        _ROLE,
        job(
            spec(
                tolerations=[
                    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
                    | {"tolerationSeconds": 600}
                ]
            )
        ),
    ),
    Attempt(
        "a preference for nodes of one's own",
        _FLAVOR,
        job(spec(affinity=selecting(FLAVOR, "In", "cpu", "l4", preferred=True))),
    ),
    Attempt("nodes that are not another unit's", _FLAVOR, job(spec(affinity=selecting(FLAVOR, "NotIn", "h200")))),
    Attempt("a GPU job with its toleration", _TAINT, job(spec(GPUS, tolerations=[H100]))),
    Attempt("a GPU job without it", _FENCE_H100, job(spec(GPUS))),
    Attempt("a GPU pod in a PyTorchJob", _FENCE_H100, pytorch(spec(GPUS, tolerations=[H100]))),
    Attempt("a priority of one's own", _PRIORITY, job(metadata=labelled(PRIORITY, "research"))),
    Attempt("a CronJob whose jobs have it", _PRIORITY, cron(metadata=labelled(PRIORITY, "scavenger"))),
    Attempt("a running job that steps back", _PRIORITY, {"metadata": meta({PRIORITY: "research"})}, of="runs"),
    Attempt("a gang without a class", _CLASS, pytorch(schedulingPolicy={"minAvailable": 1})),
    Attempt("a pod without a class", _POD_CLASS, pod()),
    Attempt("a pod with the class of the cluster", _POD_CLASS, pod(spec(priorityClassName="usual"))),
    Attempt("a priority where all are below zero", _MUST, job(metadata=labelled(PRIORITY, "scavenger")), team="late"),
    Attempt("no priority where zero is between", _MUST, job()),
    Attempt(
        "a shell in a template",
        _SECURITY,
        job(spec(container(securityContext={"capabilities": {"add": ["CHOWN"]}}, ports=[{"containerPort": 80}]))),
    ),
    Attempt(
        "a JobSet of fifty parts of four containers",
        _SECURITY,
        jobset(
            spec(*(container(CPU | {"cpu": "10m"}) | {"name": f"c{index}"} for index in range(4)), tolerations=[OTHER]),
            parts=50,
        ),
    ),
    Attempt("a Service", _ADDRESSES, service()),
    Attempt("a Service of a name outside", _ADDRESSES, service(type="ExternalName", externalName="example.com")),
    Attempt("another port of a Service from before", _ADDRESSES, {"spec": {"ports": [{"port": 81}]}}, of="answers"),
    Attempt("a container that is not root", _SECURITY, job(spec(container(securityContext=SAFE))), team="strict"),
    Attempt(
        "the host where it is allowed",
        _SECURITY,
        job(spec(container(securityContext={"privileged": True}), hostNetwork=True)),
        team="drivers",
    ),
    Attempt("a whole node", _WHOLE, job(spec(container({**CPU, GPU: "8"}))), team="whole"),
    Attempt(
        "a whole node with its toleration",
        _FENCE_H200,
        job(spec(container({**CPU, GPU: "8"}), tolerations=[H200])),
        team="whole",
    ),
    Attempt("one share of a GPU", _SHARES, job(spec(container({**CPU, SHARE: "1"})))),
    Attempt("a waiting job that is held back", _BLANKET, {"spec": {"suspend": True}}, of="waits"),
    Attempt("a running job that is held back", _PRIORITY, {"spec": {"suspend": True}}, of="runs"),
    Attempt("a Deployment that grows", _BLANKET, {"spec": {"replicas": 3}}, of="serves"),
    Attempt("a Deployment that is put to sleep", _BLANKET, {"spec": {"replicas": 0}}, of="serves"),
    Attempt("a CronJob that pauses", _NODE_NAME, {"spec": {"suspend": True}}, of="nightly"),
    Attempt("a JobSet that is held back", _FLAVOR, {"spec": {"suspend": True}}, of="set"),
    Attempt("a PyTorchJob that is held back", _SECURITY, {"spec": {"runPolicy": {"suspend": True}}}, of="trains"),
)

SHARED: Final = (
    _NODE_NAME,
    _SCHEDULER,
    _BLANKET,
    _ROLE,
    _FLAVOR,
    _TAINT,
    _SECURITY,
    _ADDRESSES,
    _FENCE_H100,
    _FENCE_H200,
    _WHOLE,
    _SHARES,
)
"""Rules that are the same under every scheduler."""

LATE: Final = _CASCADE, _STOPS
"""Rules whose cases end something, so that tests of their own try them last."""
