"""What members of teams try on a cluster without a batch scheduler: what is the same as on Kueue, and priorities."""

from __future__ import annotations

from typing import Final

from tests.backend.kueue.attack_tables import ATTACKS as ON_KUEUE
from tests.backend.kueue.attack_tables import ORDINARY as ORDINARY_ON_KUEUE
from tests.backend.kueue.attack_tables import SHARED
from tests.backend.kueue.attacks import Attempt, cron, deployment, job, pod, selecting, spec

KINDS: Final = ("Pod", "Job", "CronJob", "Deployment", "StatefulSet", "Service")


def _same(attempts: tuple[Attempt, ...]) -> list[Attempt]:
    """Those of rules that every scheduler has, as far as they create what Kubernetes itself knows."""
    return [each for each in attempts if each.rule in SHARED and not each.of and each.item["kind"] in KINDS]


_PRIORITY = "Work may have only the priorities"
_POD = "Pods may have only the priorities"
_MUST = "Every job here names its priority"
_NODE_NAME = "spec.nodeName skips the scheduler"
_FLAVOR = "only nodes of flavors"

ATTACKS: Final = (
    *_same(ON_KUEUE),
    Attempt("a pod on a node by name", _NODE_NAME, pod(spec(nodeName="h200-0")), "remove it, or write a nodeSelector"),
    Attempt(
        "a pod that prefers nodes of another unit",
        _FLAVOR,
        pod(spec(affinity=selecting("tenancy.internal/flavor", "In", "h200", preferred=True))),
        "no node with tenancy.internal/flavor=h200",
    ),
    Attempt(
        "a job with a priority of another unit",
        _PRIORITY,
        job(spec(priorityClassName="production")),
        "priority production is not for namespace lab-vision: write one of its own, or none; its own are: research, ",
    ),
    Attempt(
        "a Deployment with the priority of the system",
        _PRIORITY,
        deployment(spec(priorityClassName="system-cluster-critical")),
        "priority system-cluster-critical is not",
    ),
    Attempt(
        "a pod with a priority of another unit",
        _POD,
        pod(spec(priorityClassName="production")),
        "priority class production is not for pods of namespace lab-vision",
    ),
    Attempt(
        "a pod with the priority of the system",
        _POD,
        pod(spec(priorityClassName="system-node-critical")),
        "its own are:",
    ),
    Attempt("no priority where all are below zero", _MUST, job(), "name a priority in priorityClassName", team="late"),
    Attempt("no priority in the jobs of a CronJob", _MUST, cron(), "name a priority", team="late"),
)
ORDINARY: Final = (
    *_same(ORDINARY_ON_KUEUE),
    Attempt("a job with a priority of its unit", _PRIORITY, job(spec(priorityClassName="research"))),
    Attempt("a job without one", _PRIORITY, job()),
    Attempt("a pod with a priority of its unit", _POD, pod(spec(priorityClassName="scavenger"))),
    Attempt("a pod with the class of the cluster", _POD, pod(spec(priorityClassName="usual"))),
    Attempt("a pod without one", _POD, pod()),
    Attempt("a priority where all are below zero", _MUST, cron(spec(priorityClassName="scavenger")), team="late"),
)
