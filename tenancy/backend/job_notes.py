"""What a person should know of a job before submitting it, as comments above its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenancy.backend.job_priority import Author
from tenancy.backend.waiting import Request, Verdict
from tenancy.model.hardware import Hardware
from tenancy.plan.values import ClusterPlan, Topology

NEEDS: Final[Mapping[str, str]] = {
    "jobset": "JobSet",
    "pytorch": "Kubeflow's training operator (v1)",
    "tensorflow": "Kubeflow's training operator (v1)",
    "jax": "Kubeflow's training operator (v1)",
    "mpi": "the MPI operator (v2beta1)",
    "ray": "KubeRay",
    "trainjob": "Kubeflow Trainer 2.2 with its runtime torch-distributed",
    "leaderworkerset": "LeaderWorkerSet",
}
"""By kind: what the cluster must have, which the organization does not say."""

_GRACE: Final = "Its runtime must say terminationGracePeriodSeconds: {grace}, or more: a TrainJob cannot."


def notes(
    cluster: ClusterPlan,
    kind: str,
    unit: str,
    flavor: Hardware,
    asked: Request,
    verdict: Verdict,
    topology: Topology | None,
    author: Author,
    saves: Mapping[str, Any],
) -> tuple[str, ...]:
    """One sentence a line. `saves` is what the job says of being interrupted."""
    scheduler, gang = cluster.cluster.scheduler, asked.pods > 1
    borrows = ["It borrows: the owners of what it runs on may take that back."] if verdict.outcome == "borrows" else []
    return (
        f"{unit}: {asked.pods} {'pods' if gang else 'pod'} on {flavor.name}. Submit it with `kubectl create -f`.",
        *_needs(scheduler, kind),
        *_starts(scheduler, kind, flavor, topology, gang=gang),
        *_named(scheduler, flavor, author),
        *borrows,
        *([_GRACE.format(**saves)] if kind == "trainjob" and saves else []),
    )


def _needs(scheduler: str, kind: str) -> Iterator[str]:
    own = scheduler == "volcano" and kind != "jobset"
    if kind in NEEDS and not own:
        yield f"The cluster must have {NEEDS[kind]}."


def _starts(scheduler: str, kind: str, flavor: Hardware, topology: Topology | None, *, gang: bool) -> Iterator[str]:
    """How several pods start."""
    if not gang:
        return
    if scheduler == "native":
        yield "Nothing starts its pods together: some may hold what they have while the others wait."
    required = topology is not None and topology.mode == "required" and flavor.name in topology.flavors
    if topology is None or not required:
        return
    if scheduler == "volcano" and kind in ("plain", "jobset"):
        yield f"Its pods may start in several {topology.level}: Volcano reads a topology from its own jobs alone."
    else:
        yield f"All its pods start within one {topology.level}; where none is large enough, none ever does."


def _named(scheduler: str, flavor: Hardware, author: Author) -> Iterator[str]:
    """What is to be done about names of things that are there already."""
    if author.name and scheduler == "volcano":
        yield "Take the name once: Volcano may ignore a job for ever whose name another had just before."
    if flavor.claimed:
        yield "A second job of this size finds the ResourceClaimTemplate there: leave it out then."
