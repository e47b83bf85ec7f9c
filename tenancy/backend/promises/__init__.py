"""What an organization promises in one of its clusters, whoever schedules there: a list without a scheduler's name.

A promise is listed only where it is in force: a reserve of 0, a weight among siblings that borrow nothing or a policy
that nothing can fall under promises nothing. Texts and places are made when they are asked for: a compilation asks for
a handful of thousands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tenancy.backend.promises.numbers import NUMBERS
from tenancy.backend.promises.organization import ORGANIZATION
from tenancy.backend.promises.policies import POLICIES
from tenancy.backend.promises.said import KEYS, Key, Look, Said, borrowers, in_words, look

__all__ = ["KEYS", "Key", "Look", "Said", "borrowers", "in_words", "look", "promises"]


def promises(seen: Look, keys: Collection[str] = KEYS) -> Iterator[Said]:
    """Every promise of these kinds: of the organization, of its flavors, then of each unit."""
    for key, make in {**ORGANIZATION, "pool": NUMBERS["pool"]}.items():
        if key in keys:
            yield from make(seen, seen.org.root)
    makers = [make for key, make in {**NUMBERS, **POLICIES}.items() if key in keys]
    for unit in seen.units:
        for make in makers:
            yield from make(seen, unit)
