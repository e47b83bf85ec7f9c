"""Random valid organizations as plain dicts, in the shape of org.yaml. Valid by construction: nothing is filtered out.

Budgets are drawn from the top down: a unit gets a part of what its parent has, and a limit that reaches into what its
parent keeps, so that every law holds whatever is drawn. Warnings are possible, errors are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

Amounts: TypeAlias = dict[str, int]
"""What a unit has of a flavor, by budget key; cpu in cores, to which memory follows."""

H100, MIG, CPU = "h100", "a100-mig", "cpu"
LAYOUT = {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2}
GIB_PER_CORE = 4
WORDS = ("alpha", "bravo", "delta", "gamma", "kappa", "omega", "sigma", "theta")
DAEMONS = {"cpu": 2, "memory": "4Gi"}
FENCE = "gpu.acme.example/reserved=training:NoSchedule"
WEIGHTS = st.integers(1, 50) | st.floats(0.01, 50)
POLICY = {
    "borrowing": ("organization", "department", "none"),
    "reclaim": ("any", "lower-priority", "never"),
    "preemption": ("lower-priority", "lower-or-newer-equal", "never"),
    "queueing": ("best-effort", "strict"),
}


@cache  # a strategy is examined when it is first drawn from, which takes longer than to draw
def names(least: int, most: int) -> st.SearchStrategy[list[str]]:
    """Different words without dashes, so that joined names stay different."""
    return st.lists(st.sampled_from(WORDS), min_size=least, max_size=most, unique=True)


@cache
def policies() -> st.SearchStrategy[dict[str, str]]:
    """Some keys of a policy. Strict queues take their quota back, whatever is inherited: other pairs are refused."""
    drawn = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in POLICY.items()})
    return drawn.map(_reclaiming)


def _reclaiming(policy: dict[str, str]) -> dict[str, str]:
    if policy.get("reclaim", "any") != "any":
        return {**policy, "queueing": "best-effort"}
    return {**policy, "reclaim": "any"} if policy.get("queueing") == "strict" else policy


@dataclass(frozen=True)
class Above:
    """What a unit inherits: the amounts of the unit above, and how far it may borrow."""

    amounts: Mapping[str, Amounts]
    borrowing: str
    small: bool = False
    """Whether it has two departments or teams, each with a quarter or more of what is left, seldom departments inside
    and seldom a policy of its own; else it has up to three units of a kind, and many have nothing."""


@st.composite
def organizations(draw: DrawFn) -> dict[str, Any]:
    """A valid organization: one or two clusters, up to three flavors, departments up to two deep, teams, projects."""
    clusters = draw(st.sampled_from((["train"], ["train", "serve"])))
    chosen = draw(st.lists(st.sampled_from((H100, MIG, CPU)), min_size=1, max_size=3, unique=True))
    flavors, capacity = draw(_flavors(clusters, chosen))
    policy = draw(policies())
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {name: {"sharing": draw(st.sampled_from(("weighted", "first-come")))} for name in clusters},
        "flavors": flavors,
        "policy": policy,
        "departments": draw(_units(Above(capacity, policy.get("borrowing", "organization")), "department", 2, 1)),
    }


@st.composite
def small_organizations(draw: DrawFn) -> dict[str, Any]:
    """A valid organization that a test bed of four nodes can hold: one cluster, one or two flavors of two nodes, few
    teams. GPU flavors may be fenced, and one department may be stopped."""
    chosen = draw(st.sampled_from(([CPU], [H100], [H100, CPU], [H100, MIG], [MIG])))
    flavors, capacity = draw(_flavors(["train"], chosen, nodes=2))
    for name, flavor in flavors.items():
        if name != CPU and draw(st.booleans()):
            flavor["taint"] = FENCE
    policy = draw(policies())
    above = Above(capacity, policy.get("borrowing", "organization"), small=True)
    departments = draw(_units(above, "department", 2, 1))
    if draw(st.integers(0, 9)) == 9:
        departments[draw(st.sampled_from(sorted(departments)))]["state"] = draw(st.sampled_from(("held", "draining")))
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {"sharing": draw(st.sampled_from(("weighted", "first-come")))}},
        "flavors": flavors,
        "policy": policy,
        "departments": departments,
    }


@st.composite
def _flavors(
    draw: DrawFn, clusters: list[str], chosen: list[str], nodes: int = 6
) -> tuple[dict[str, Any], dict[str, Amounts]]:
    """Flavors with what may be budgeted of each."""
    flavors: dict[str, Any] = {}
    capacity: dict[str, Amounts] = {}
    for name in chosen:
        count = draw(st.integers(1, nodes))
        spare = draw(st.integers(0, count - 1))
        usable = count - spare
        flavors[name] = {"nodes": count, "spareNodes": spare, "daemons": DAEMONS, **_board(name)}
        if len(clusters) > 1:
            flavors[name]["cluster"] = draw(st.sampled_from(clusters))
        if name == H100:
            capacity[name] = {"gpus": usable * 8}
        elif name == MIG:
            capacity[name] = {profile: usable * 8 * count for profile, count in LAYOUT.items()}
        else:
            capacity[name] = {"cpu": usable * 62}
    return flavors, capacity


def _board(name: str) -> dict[str, Any]:
    if name == H100:
        return {"gpu": "H100-SXM-80GB", "node": {"gpus": 8, "cpu": 192, "memory": "2000Gi"}}
    if name == MIG:
        return {"gpu": "A100-SXM4-80GB", "node": {"gpus": 8, "cpu": 128, "memory": "1000Gi"}, "mig": LAYOUT}
    return {"node": {"cpu": 64, "memory": "256Gi"}}


@st.composite
def _units(draw: DrawFn, above: Above, kind: str, depth: int = 0, least: int = 0) -> dict[str, Any]:
    """Units of one kind that together have at most what there is above."""
    chosen = draw(names(2, 2) if above.small else names(least, 3))
    left = {flavor: dict(amounts) for flavor, amounts in above.amounts.items()}
    own = {name: {flavor: draw(_part(left[flavor], above.small)) for flavor in left} for name in chosen}
    # One team may live on a share of what its siblings leave; a share of nothing at all is refused.
    sharer = draw(st.sampled_from([None, *chosen])) if kind == "team" else None
    return {
        name: draw(_sharer(above)) if name == sharer else draw(_unit(kind, depth, own[name], left, above))
        for name in chosen
    }


@st.composite
def _sharer(draw: DrawFn, above: Above) -> dict[str, Any]:
    """A team whose quotas come from its weight."""
    budget = {flavor: "share" for flavor, amounts in above.amounts.items() if any(amounts.values())}
    return {"weight": draw(st.integers(1, 50)), "budget": budget}


@st.composite
def _part(draw: DrawFn, left: Amounts, some: bool = False) -> Amounts:
    """Takes a part of `left` away; `some` at least a quarter."""
    taken = {key: draw(st.integers(count // 4 if some else 0, count)) for key, count in left.items()}
    for key, count in taken.items():
        left[key] -= count
    return taken


@st.composite
def _unit(
    draw: DrawFn, kind: str, depth: int, own: dict[str, Amounts], left: Mapping[str, Amounts], above: Above
) -> dict[str, Any]:
    """A unit that has `own`, may reach into `left`, and hands on what it has."""
    policy = {} if above.small and draw(st.integers(0, 3)) else draw(policies())
    borrowing = policy.get("borrowing", above.borrowing)
    unit: dict[str, Any] = {"weight": draw(WEIGHTS), "policy": policy}
    inner: bool = kind == "department"
    if inner:
        unit |= draw(_inside(replace(above, amounts=own, borrowing=borrowing), depth))
    elif kind == "team" and draw(st.booleans()):
        inner = draw(st.booleans())
        unit["projects"] = draw(_units(replace(above, amounts=own if inner else {}, borrowing=borrowing), "project"))
    reaches = borrowing == "organization" or (borrowing == "department" and kind != "department")
    unit["budget"] = {
        flavor: draw(_entry(flavor, amounts, left[flavor] if reaches else {}, inner))
        for flavor, amounts in own.items()
        if any(amounts.values()) or draw(st.booleans())
    }
    if kind == "project" and not unit["budget"]:
        return {"budget": {}}  # It shares its team's queue, and may say nothing of one of its own.
    return unit


@st.composite
def _inside(draw: DrawFn, above: Above, depth: int) -> dict[str, Any]:
    """Departments and teams of a department: each side gets a part of what it has."""
    rest = {flavor: dict(amounts) for flavor, amounts in above.amounts.items()}
    inside: dict[str, Any] = {}
    if depth > 1 and draw(st.booleans()) and not (above.small and draw(st.integers(0, 2))):
        part = {flavor: draw(_part(rest[flavor], above.small)) for flavor in rest}
        found = draw(_units(replace(above, amounts=part), "department", depth - 1))
        # A department and a team of one name would have the same joined name.
        inside["departments"] = {f"{name}-group": unit for name, unit in found.items()}
    return inside | {"teams": draw(_units(replace(above, amounts=rest), "team"))}


@st.composite
def _entry(draw: DrawFn, flavor: str, own: Amounts, left: Amounts, inner: bool) -> Any:
    """A budget entry. An inner unit reserves what its children do or, where it says so, all that it has."""
    entry = {"quota": _written(flavor, own)}
    if inner and draw(st.integers(0, 3)) == 0:
        entry["reserved"] = _written(flavor, own)
    elif not inner and draw(st.booleans()):
        entry["reserved"] = _written(flavor, {key: draw(st.integers(0, count)) for key, count in own.items()})
    if draw(st.booleans()) and left:
        reach = {key: count + draw(st.integers(0, left[key])) for key, count in own.items()}
        entry["limit"] = _written(flavor, reach)
    return entry["quota"] if len(entry) == 1 and draw(st.booleans()) else entry


def _written(flavor: str, amounts: Amounts) -> Any:
    """Amounts as budgets say them."""
    if flavor == H100:
        return amounts["gpus"]
    if flavor == CPU:
        return {"cpu": amounts["cpu"], "memory": f"{amounts['cpu'] * GIB_PER_CORE}Gi"}
    return dict(amounts)
