"""The kinds of work of a cluster without a batch scheduler: those of Kubernetes itself."""

from __future__ import annotations

from typing import Final

from tenancy.backend.shared.work import PLAIN, STATEFUL_SCALE, WRITE, Rule, Work

WORK: Final = Work(
    frameworks=(*PLAIN, STATEFUL_SCALE),
    platform_admin=(Rule("scheduling.k8s.io", ("priorityclasses",), WRITE),),
)
