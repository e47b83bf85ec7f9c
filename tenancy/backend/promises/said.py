"""What a promise is, and what it is read from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from tenancy.check.wording import amount_of, number_path, policy_path
from tenancy.diagnostics import KeyPath
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.reach import Borrowers, borrows
from tenancy.plan.values import ClusterPlan, Group, Queue

Key: TypeAlias = Literal[
    "gang",
    "priorities",
    "interruption",
    "placement",
    "flavors",
    "reclaimTime",
    "reclaimGangs",
    "reclaimEvictions",
    "reclaimBounds",
    "cpuJobs",
    "spareNodes",
    "wholeNodes",
    "topology",
    "topologyDefault",
    "unitPriorities",
    "reserved",
    "quota",
    "limit",
    "borrowing",
    "pool",
    "weight",
    "reclaim",
    "preemption",
    "borrowingPreemption",
    "queueing",
    "state",
]
"""What can be promised: mostly a key of the language. `topologyDefault` and `unitPriorities` are of a unit, `pool`
is a quota that is not handed on, `flavors` the choice among them, `interruption` what work takes that is `preemptible`,
and `reclaim…` what taking back costs and brings, whoever does it."""

KEYS: Final[tuple[Key, ...]] = get_args(Key)

Weights: TypeAlias = tuple[float, bool]
"""The weights of siblings that borrow, together; and whether they differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """An organization as one of its clusters sees it."""

    org: Org
    plan: ClusterPlan
    flavors: tuple[Hardware, ...]
    units: tuple[Node, ...]
    """Those with numbers of their own here."""
    groups: Mapping[str, Group]
    queues: Mapping[str, Queue]
    known: Borrowers = field(default_factory=dict)
    weights: dict[KeyPath, Weights] = field(default_factory=dict)
    """By the path of the unit that holds the siblings."""
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    """Of the queues that borrow, by flavor and resource."""


class Said(NamedTuple):
    """One promise. `unit` is the root where the organization makes it, `value` what a policy or a state says."""

    key: Key
    unit: Node
    words: str
    """What is promised; `{}` stands for the amounts."""
    flavor: Hardware | None = None
    amounts: Mapping[str, int] = {}
    value: str = ""
    at: KeyPath | None = None
    """Where it is said; None where that follows from the key."""

    @property
    def text(self) -> str:
        """What is promised, in words."""
        return self.words.replace("{}", in_words(self.amounts))

    @property
    def sentence(self) -> str:
        """The same with the flavor of the amounts."""
        where = f" on `{self.flavor.name}`" if self.flavor is not None else ""
        return self.words.replace("{}", f"{in_words(self.amounts)}{where}")

    @property
    def path(self) -> KeyPath:
        """Where it is said."""
        if self.at is not None:
            return self.at
        if self.flavor is not None:
            resource = next(iter(self.amounts), self.flavor.mains[0])
            return number_path(self.unit, self.flavor, _NUMBERS[self.key], resource)
        return policy_path(self.unit, "borrowing_preemption" if self.key == "borrowingPreemption" else self.key)


_NUMBERS: Final[Mapping[str, str]] = {
    "reserved": "reserved",
    "quota": "quota",
    "limit": "limit",
    "borrowing": "limit",
    "pool": "quota",
}
"""The number of a budget that a promise is about."""

Maker: TypeAlias = Callable[[Look, Node], Iterable[Said]]


def look(org: Org, plan: ClusterPlan) -> Look:
    """What the promises of one cluster are read from."""
    here = (unit for unit in org.units if plan.name in unit.clusters)
    return Look(
        org=org,
        plan=plan,
        flavors=tuple(plan.flavors.values()),
        units=tuple(unit for unit in here if unit.kind != "project" or unit.budget),
        groups={group.name: group for group in plan.groups},
        queues={queue.name: queue for queue in plan.queues},
    )


def borrows_here(seen: Look, unit: Node) -> bool:
    """Whether a unit borrows anything in this cluster."""
    return any(borrows(unit, flavor, main) for flavor in seen.flavors for main in flavor.mains)


def borrowers(seen: Look, flavor: Hardware, resource: str, but: str = "") -> int:
    """How many queues may use more than their own, without the one of the name `but`."""
    key = (flavor.name, resource)
    if key not in seen.counts:
        seen.counts[key] = sum(_borrows(queue, *key) for queue in seen.plan.queues)
    return seen.counts[key] - (but in seen.queues and _borrows(seen.queues[but], *key))


def _borrows(queue: Queue, flavor: str, resource: str) -> bool:
    amounts = queue.quotas[flavor][resource]
    return amounts.limit > amounts.quota


def in_words(amounts: Mapping[str, int]) -> str:
    """`8 GPUs`; "4 slices of `1g.10gb` and 2 slices of `3g.40gb`"; `nothing`."""
    each = [amount_of(count, resource) for resource, count in amounts.items()]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each) or "nothing"
