"""What Kueue makes of each promise. It is the reference: all are kept, and three have a weakness to be known."""

from __future__ import annotations

from typing import Final

from tenancy.backend.parity import KEPT, Answer, Answers, Fate, Made, differently, kept
from tenancy.backend.promises import Look, Said
from tenancy.backend.shared.admission import mutates
from tenancy.backend.shared.losses import guarded


def _state(seen: Look, said: Said) -> Made:
    """Kueue evicts nothing from a queue that is stopped (run on 0.19.2)."""
    del seen
    if said.value == "draining":
        return KEPT
    return Made(Fate.DIFFERENTLY, "what it has borrowed stays with it until its jobs end: nobody takes it back")


def _topology_default(seen: Look, said: Said) -> Made:
    """The API server gives it, if it has mutating policies."""
    del said
    return KEPT if mutates(seen.plan) else Made(Fate.DIFFERENTLY, "nothing gives it to them: a job asks by itself")


ANSWERS: Final[Answers] = {
    "gang": kept(),
    "priorities": kept(),
    "interruption": guarded("interruption"),
    "placement": kept(),
    "flavors": kept(),
    "reclaimTime": kept(),
    "reclaimGangs": kept(),
    "reclaimEvictions": differently("a job too many may go while another is still ending; it starts again at once"),
    "reclaimBounds": kept(),
    "cpuJobs": kept(),
    "spareNodes": kept(),
    "wholeNodes": kept(),
    "topology": kept(),
    "topologyDefault": Answer("before Kubernetes 1.36 a job asks by itself", _topology_default),
    "unitPriorities": guarded("priorities"),
    "reserved": kept(),
    "quota": kept(),
    "limit": kept(),
    "borrowing": kept(),
    "pool": kept(),
    "weight": kept(),
    "reclaim": kept(),
    "preemption": kept(),
    "borrowingPreemption": kept(),
    "queueing": kept(),
    "state": Answer("a held unit keeps what it has borrowed until its jobs end", _state),
}
