"""The organization as a tree of units with every default filled in: what the checks judge and the plan is made from.

Three promises per unit, flavor and resource, in base units: reserved ≤ quota ≤ limit (docs/concepts.md). Numbers that
the organization does not say are derived here and marked as such, so that a law is reported only where somebody wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from tenancy.diagnostics import KeyPath
from tenancy.model.document import BudgetEntry, Department, Organization, Policy, Project, Team, Unit
from tenancy.model.hardware import Hardware, hardware
from tenancy.model.unit_topology import UnitTopology, parse_topology

STATES: Final = ("active", "held", "draining")
"""From least to most restrictive; a unit is in the most restrictive state of its ancestors and its own."""

BASELINE: Final = "baseline"
"""The level of the Pod Security Standards where the organization says none."""


class Quota(NamedTuple):
    """reserved, quota and limit of one resource, in base units."""

    reserved: int
    quota: int
    limit: int


@dataclass(slots=True, eq=False)
class Entry:
    """The promises of one unit on one flavor."""

    path: KeyPath
    """Of the budget entry; of the unit where it says nothing about the flavor."""
    amounts: dict[str, Quota]
    """Per resource name of the flavor."""
    written: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What the organization says itself: from `reserved`, `quota`, `limit` to amounts per resource."""
    stated: bool = False
    """Whether the unit says anything about the flavor."""
    share: bool = False
    """Whether the quota comes from the weights."""
    broken: bool = False
    """Whether something about it could not be read, so that comparing it would mislead."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The policy in force for a unit, with nothing left open."""

    borrowing: str = "organization"
    reclaim: str = "any"
    preemption: str = "lower-priority"
    borrowing_preemption: str = "never"
    queueing: str = "best-effort"

    def overridden(self, policy: Policy) -> Rules:
        """These rules with what `policy` says instead; the same object where it says nothing."""
        said = {name: value for name in Rules.__slots__ if (value := getattr(policy, name)) is not None}
        return Rules(**{**{name: getattr(self, name) for name in Rules.__slots__}, **said}) if said else self


@dataclass(slots=True, eq=False)
class Node:
    """A unit of the organization: a department, a team or a project, with what it inherits."""

    name: str
    kind: str
    """`organization`, `department`, `team` or `project`."""
    names: tuple[str, ...]
    """Names from the top department down; empty for the organization."""
    path: KeyPath
    document: Unit | None
    """What the organization says of it; None for the organization itself."""
    parent: Node | None
    rules: Rules
    state: str
    children: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    clusters: frozenset[str] = frozenset()
    """Clusters in which it has a queue."""
    topology: UnitTopology | None = None
    """What its jobs get that ask for no topology: as it says itself, else as the nearest unit above that does."""
    priorities: tuple[str, ...] = ()
    """Names of the priorities that its jobs may have: as it says itself, else as the nearest unit above that does."""
    pod_security: str = BASELINE
    """The level that its pods are held to: as it says itself, else as the nearest unit above that does."""

    @property
    def queue(self) -> str:
        """The name of its queue: the path joined by `-`."""
        return "-".join(self.names)

    @property
    def title(self) -> str:
        """The name for messages: the path joined by `/`."""
        return "/".join(self.names)

    @property
    def budget(self) -> Mapping[str, BudgetEntry]:
        """What it says of each flavor; empty for the organization."""
        return self.document.budget if self.document is not None else {}

    @property
    def inner(self) -> bool:
        """Whether it holds units with queues of their own, instead of running work itself."""
        return self.kind in ("organization", "department") or any(child.budget for child in self.children)

    @property
    def lender(self) -> Node | None:
        """The unit whose quota bounds what it may use; None where the whole organization lends."""
        if self.rules.borrowing == "organization":
            return None
        if self.rules.borrowing == "none" or self.kind == "department":
            return self
        return next(above for above in self.ancestors() if above.kind == "department")

    def reaches(self, flavor: Hardware) -> bool:
        """Whether it may ever use a part of the flavor."""
        if flavor.cluster not in self.clusters:
            return False
        amounts = self.entries[flavor.name].amounts
        for main in flavor.mains:  # noqa: SIM110 - asked of every unit several times; any() costs three times as much
            if amounts[main].limit > 0:
                return True
        return False

    def owns(self, flavor: Hardware) -> bool:
        """Whether a part of the flavor is its own."""
        return any(self.entries[flavor.name].amounts[main].quota for main in flavor.mains)

    def ancestors(self) -> Iterator[Node]:
        """Its parent, the parent's parent and so on, without the organization."""
        node = self.parent
        while node is not None and node.parent is not None:
            yield node
            node = node.parent

    def chain(self) -> list[Node]:
        """The units from the top department down to this one, both included."""
        return [self, *self.ancestors()][::-1]

    def inherited(self, key: Literal["owner", "cost_center"]) -> str:
        """What the nearest unit that says it says, from this one upwards; empty where none does."""
        documents = (unit.document for unit in (self, *self.ancestors()))
        return next((text for each in documents if each is not None and (text := getattr(each, key))), "")


@dataclass(frozen=True, slots=True)
class Org:
    """An organization with every default filled in."""

    document: Organization
    flavors: Mapping[str, Hardware]
    root: Node
    units: tuple[Node, ...]
    """Every department, team and project, parents before children, siblings by name."""
    left_out: frozenset[KeyPath]
    """Paths that could not be read."""
    damaged: frozenset[KeyPath]
    """Those paths and every path around one, so that thousands of faults do not make each question slow."""

    def hides(self, path: KeyPath) -> bool:
        """Whether the value at `path`, or something around or inside it, could not be read."""
        return path in self.damaged or any(path[:depth] in self.left_out for depth in range(len(path)))


def organize(document: Organization, left_out: frozenset[KeyPath] = frozenset()) -> Org:
    """Build the tree of units; budgets are filled in by `tenancy.model.budgets`."""
    root = Node(
        name=document.name,
        kind="organization",
        names=(),
        path=(),
        document=None,
        parent=None,
        rules=Rules().overridden(document.policy),
        state="active",
        priorities=tuple(sorted(document.priorities)),
    )
    units: list[Node] = []
    _departments(root, document.departments, ("departments",), units)
    damaged = frozenset(path[:depth] for path in left_out for depth in range(len(path) + 1))
    return Org(document, hardware(document), root, tuple(units), left_out, damaged)


def _departments(parent: Node, departments: Mapping[str, Department], path: KeyPath, units: list[Node]) -> None:
    for name in sorted(departments):
        department = departments[name]
        node = _node(parent, "department", name, department, (*path, name), units)
        _departments(node, department.departments, (*node.path, "departments"), units)
        for team_name in sorted(department.teams):
            _team(node, team_name, department.teams[team_name], units)


def _team(parent: Node, name: str, team: Team, units: list[Node]) -> None:
    node = _node(parent, "team", name, team, (*parent.path, "teams", name), units)
    for project in sorted(team.projects):
        _node(node, "project", project, team.projects[project], (*node.path, "projects", project), units)


def _node(parent: Node, kind: str, name: str, document: Unit, path: KeyPath, units: list[Node]) -> Node:
    node = Node(
        name=name,
        kind=kind,
        names=(*parent.names, name),
        path=path,
        document=document,
        parent=parent,
        rules=parent.rules.overridden(document.policy),
        state=max(parent.state, document.state, key=STATES.index),
        topology=(parse_topology(document.topology) if document.topology else None) or parent.topology,
        priorities=parent.priorities if document.priorities is None else tuple(sorted(set(document.priorities))),
        pod_security=document.pod_security.level if document.pod_security is not None else parent.pod_security,
    )
    parent.children.append(node)
    units.append(node)
    return node


def namespaces(node: Node) -> Iterator[tuple[str, Node]]:
    """The namespaces of a team (or of one of its projects) with the unit that each belongs to."""
    if node.kind == "team" and node.children:
        for child in node.children:
            yield from namespaces(child)
    elif isinstance(node.document, Team | Project):
        yield node.document.namespace or node.queue, node
