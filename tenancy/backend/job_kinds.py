"""The kinds of jobs that `tenancy job` and `tenancy explain --job` have a document for, by scheduler.

A kind is here for a scheduler only where its pods reach the queue of the unit as a gang whatever else the platform has
installed; docs/jobs.md says of each how.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "kueue": {
        kind: kind
        for kind in (
            *("plain", "jobset", "pytorch", "tensorflow", "jax", "mpi", "ray", "trainjob"),
            "leaderworkerset",
        )
    },
    "volcano": {
        "vcjob": "volcano",
        "plain": "plain",
        "jobset": "jobset",
        "pytorch": "volcano-pytorch",
        "tensorflow": "volcano-tensorflow",
        "mpi": "volcano-mpi",
        "ray": "volcano-ray",
    },
    "native": {"plain": "plain"},
}
"""By the `scheduler` of a cluster: its kinds, each with the name of its document under templates/jobs/."""

ALIASES: Final[Mapping[str, str]] = {"batch": "plain", "rayjob": "ray"}
"""What kinds were called before, and still are."""

LEADERS: Final = ("pytorch", "tensorflow", "mpi", "ray")
"""Kinds of Kueue whose first pod has a template of its own: two pod sets, which topologies place apart unless they are
one group."""

_WITHOUT: Final[Mapping[str, str]] = {
    "kueue": "it is a kind of Volcano, which does not run there",
    "volcano": (
        "there its operator decides about queue and gang, by options that the platform starts it with and the "
        "organization does not say"
    ),
    "native": "there is no batch scheduler there, so that teams have the rights to Kubernetes' own kinds alone",
}
"""By scheduler: why a kind has no document there."""


def known(kind: str) -> str:
    """A kind by its own name."""
    return ALIASES.get(kind, kind)


def lacking(scheduler: str, kind: str) -> str:
    """Why a scheduler has no document for a kind; empty where it has one."""
    return "" if known(kind) in KINDS[scheduler] else _WITHOUT[scheduler]
