"""A job that lands in a unit, as a document: what its author would have to look up is filled in, the rest is marked.

The fields are those that the schedulers read (docs/jobs.md); each document was submitted to them
(tests/cluster/test_job_templates.py).
"""

from __future__ import annotations

from typing import Final

from tenancy.backend.job_kinds import KINDS, LEADERS, known
from tenancy.backend.job_pods import claims, launcher, pods, processes
from tenancy.backend.job_priority import Author, offered, saving
from tenancy.backend.kueue.topology_defaults import PODSET_GROUP
from tenancy.backend.manifest import Page
from tenancy.backend.shared.admission import mutates
from tenancy.backend.waiting import Request, Verdict, Waiting
from tenancy.plan.values import ClusterPlan, Namespace, Topology

NOBODY: Final = Author()

LONGEST_NAME: Final = 40
"""Of the part that is given: what controllers append, five random characters and a number for each level of objects,
must fit into the 63 of a label."""

_QUEUE: Final = "scheduling.volcano.sh/queue-name"
"""Annotation of pod templates."""
_MINIMUM: Final = "scheduling.volcano.sh/group-min-member"
"""Annotation of what owns the pods: without it Volcano starts them one by one (pg_controller_handler.go, 1.15.1)."""


def job_template(
    cluster: ClusterPlan,
    waiting: Waiting,
    kind: str,
    request: Request,
    verdict: Verdict,
    namespaces: tuple[Namespace, ...],
    topology: Topology | None,
    author: Author = NOBODY,
    notes: tuple[str, ...] = (),
) -> Page:
    """The document of a job that runs, by its verdict, for the first of the namespaces that it may be submitted to.

    `topology` is the default of the unit, None where it has none; `notes` are comments above it all.
    """
    flavor, home = cluster.flavors[verdict.flavor], namespaces[0]
    scheduler, kind = cluster.cluster.scheduler, known(kind)
    named = offered(cluster, home, request, author)
    lonely, borrows = (scheduler, kind) == ("kueue", "mpi"), verdict.outcome == "borrows"
    alone = launcher(cluster, waiting, home, borrows=borrows) if lonely else None
    led = scheduler == "kueue" and kind in LEADERS and alone is None
    asks = _asks(cluster, waiting, topology, verdict.flavor, led or kind == "trainjob") if request.pods > 1 else ""
    values = {
        "scheduler": scheduler,
        "notes": notes,
        "name": author.name or f"{home.queue[:LONGEST_NAME].rstrip('-')}-",
        "named": bool(author.name),
        "image": author.image,
        "namespace": home.name,
        "namespaces": [each.name for each in namespaces[1:]],
        "service_accounts": list(home.service_accounts),
        "queue": verdict.queue,
        "priority": "".join(named[:1]),
        "priorities": list(named[1:]),
        "saving": saving(cluster, "".join(named[:1]), author),
        "gang": {_MINIMUM: str(request.pods)} if scheduler == "volcano" and request.pods > 1 else {},
        "topology": asks if scheduler == "volcano" else "",
        "pods": request.pods,
        "processes": processes(flavor, request),
        "claims": claims(flavor, request),
        "main": pods(cluster, waiting, flavor, request, home) | {"annotations": _annotations(verdict, asks, led)},
        "launcher": alone and {**alone, "annotations": []},
    }
    return Page("", f"jobs/{KINDS[scheduler][kind]}.yaml.j2", values)


def _asks(cluster: ClusterPlan, waiting: Waiting, topology: Topology | None, flavor: str, apart: bool) -> str:
    """What asks for the unit's topology; empty where there is none on the flavor, or where the API server gives it.

    `apart`: whether its pods are `apart` from what the API server looks at as one job: two pod sets would get a place
    each, and a TrainJob has no pod templates.
    """
    if topology is None or waiting.asking is None or flavor not in topology.flavors:
        return ""
    return "" if mutates(cluster) and not apart else waiting.asking(cluster, topology, flavor)


def _annotations(verdict: Verdict, asks: str, led: bool) -> list[str]:
    """Those of pod templates, as lines of YAML: of Volcano the queue, of Kueue the topology."""
    if verdict.queue:
        return [f"{_QUEUE}: {verdict.queue}"]
    return [*([asks] if asks else []), *([f"{PODSET_GROUP}: job"] if asks and led else [])]
