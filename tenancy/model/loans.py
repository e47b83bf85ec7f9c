"""Who lends to whom, as values in base units: `tenancy.plan.lending` works them out, and views show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What a unit above keeps for all below it."""

    unit: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lender:
    """A unit whose idle quota may be borrowed, and how it takes it back."""

    unit: str
    amount: int
    reclaim: str
    """`any`, `lower-priority` or `never`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrower:
    """Somebody else who may borrow what a unit leaves idle, and how much of it at most."""

    unit: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """Where a unit may borrow a resource of a flavor, and who may borrow of its own."""

    flavor: str
    resource: str
    quota: int
    """What of it is the unit's own."""
    pools: tuple[Pool, ...]
    """Of the units above, the nearest first."""
    lenders: tuple[Lender, ...]
    borrowers: tuple[Borrower, ...] = ()
