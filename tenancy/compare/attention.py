"""What a department has of the API server's attention while everybody asks at once, before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.compare.snapshot import Snapshot
from tenancy.compare.strengths import StrengthChange
from tenancy.model.fairness import SEATS, seats

_PREFIX: Final = "tenancy-"


def attention(old: Snapshot, new: Snapshot) -> Iterator[StrengthChange]:
    """Departments of clusters that stay, with other seats than before, or with none of their own on one side."""
    for cluster in sorted(old.clusters & new.clusters):
        was, now = _seats(old, cluster), _seats(new, cluster)
        for name in sorted(was.keys() | now.keys()):
            before, after = was.get(name), now.get(name)
            stays = name in was and name in now
            if before != after and (stays or not was or not now):
                what, stronger = _words(before, after), (after or 0) > (before or 0)
                yield StrengthChange(cluster=cluster, unit=name, flavor="", stronger=stronger, what=what)


def _seats(snapshot: Snapshot, cluster: str) -> dict[str, int]:
    """By department; a department that comes or goes with its level is no news of its own."""
    shares = {
        level["metadata"]["name"].removeprefix(_PREFIX): int(level["spec"]["limited"]["nominalConcurrencyShares"])
        for level in snapshot.of(cluster, "PriorityLevelConfiguration")
        if level["metadata"]["name"].startswith(_PREFIX)
    }
    return {name: seats(count, sum(shares.values())) for name, count in shares.items()}


def _words(before: int | None, after: int | None) -> str:
    if after is None:
        return "its requests to the API server have no seats of their own: they wait behind whoever floods it"
    told = f"{after} of the API server's {SEATS} seats are its own while all ask at once"
    return f"{told}, before {'none' if before is None else before}"
