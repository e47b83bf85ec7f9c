"""What the pages of the site show, as plain values: every number is text already, and every bar a part of its scale."""

from __future__ import annotations

from dataclasses import dataclass

from tenancy.model.organization import Quota


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The three promises of a unit on one flavor and resource; `before` only where a plan changes them."""

    flavor: str
    measure: str
    """What is counted: `GPUs`, a MIG profile, `cores`."""
    now: Quota
    texts: tuple[str, str, str]
    """reserved, quota and limit for people."""
    before: Quota | None
    before_texts: tuple[str, str, str] | None
    scale: int
    """What the full width stands for: the same for all units beside each other."""

    def percent(self, amount: int) -> str:
        """The width of an amount, of 100."""
        return f"{min(100.0, 100 * amount / self.scale):.2f}".rstrip("0").rstrip(".") if self.scale else "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """A unit or a pool whose idle quota may be used, or who may use it."""

    page: str
    """The page of the unit, relative to the folder of units; empty for the organization."""
    name: str
    amount: str
    pool: bool
    """Whether it is what a unit above does not hand on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loans:
    """Those of one flavor and resource, the largest first."""

    flavor: str
    measure: str
    loans: tuple[Loan, ...]
    more: int
    """How many smaller ones are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The subjects of one level of access, and the unit that says it."""

    level: str
    subjects: tuple[str, ...]
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One resource of one flavor on the page of a unit."""

    flavor: str
    measure: str
    reserved: str
    quota: str
    limit: str
    reach: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPage:
    """A unit in one cluster."""

    cluster: str
    scheduler: str
    title: str
    name: str
    kind: str
    page: str
    label: str
    """Its name for people."""
    parents: tuple[tuple[str, str], ...]
    """Name and page of the units above, the top one first."""
    queue: str
    state: str
    owner: str
    cost_center: str
    expires: str
    cost: str
    """Per month; empty where nothing has a price."""
    topology: str
    policy: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]
    rows: tuple[Row, ...]
    borrows: tuple[Loans, ...]
    lends: tuple[Loans, ...]
    interruption: str
    """What becomes of its GPU jobs when GPUs are taken back; empty where no priority says."""
    people: tuple[People, ...]
    namespaces: tuple[str, ...]
    children: tuple[UnitPage, ...]
    teams: int
    """Units below that run work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What there is of a flavor, and what of it is promised."""

    flavor: str
    gpu: str
    measure: str
    installed: str
    spare: str
    promised: str
    free: str
    before: str
    """The promise before, where a plan changes it."""
    promised_percent: str
    spare_percent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPage:
    """A cluster with its stock and its tree of units."""

    name: str
    scheduler: str
    stock: tuple[Stock, ...]
    departments: tuple[UnitPage, ...]
