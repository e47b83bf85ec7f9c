"""A flavor beside its nodes, and nodes in words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from tenancy.check.wording import node_count
from tenancy.live.nodes import LiveNode
from tenancy.model.document import Flavor
from tenancy.model.hardware import Hardware
from tenancy.plan.nodes import FlavorNodes

_SHOWN: Final = 3
"""So many nodes are named in a message; of more only the number is told."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A flavor with the nodes that are its own."""

    document: Flavor
    flavor: Hardware
    wanted: FlavorNodes
    nodes: tuple[LiveNode, ...]

    @property
    def name(self) -> str:
        """Of the flavor."""
        return self.flavor.name

    @property
    def running(self) -> tuple[LiveNode, ...]:
        """The nodes whose kubelet reports: what the others offer is old news."""
        return tuple(node for node in self.nodes if node.ready)


def named(nodes: Iterable[LiveNode]) -> str:
    """The first few nodes by name and how many more there are."""
    return few(sorted(node.name for node in nodes))


def few(names: Sequence[str]) -> str:
    """The first few names and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(f"`{name}`" for name in names[:_SHOWN]) + more


def doing(nodes: Sequence[LiveNode], verb: str) -> str:
    """`1 node offers`, `2 nodes offer`; the verb is given as for several."""
    singular = {"have": "has", "are": "is", "lack": "lacks"}.get(verb, f"{verb}s")
    return f"{node_count(len(nodes))} {singular if len(nodes) == 1 else verb}"


def grouped(nodes: Iterable[LiveNode], key: Callable[[LiveNode], Key | None]) -> dict[Key, list[LiveNode]]:
    """The nodes by a key, in the order in which keys appear; those without one are left out."""
    found: dict[Key, list[LiveNode]] = {}
    for node in nodes:
        if (value := key(node)) is not None:
            found.setdefault(value, []).append(node)
    return found
