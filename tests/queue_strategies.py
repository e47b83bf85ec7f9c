"""Random states of Volcano's Queues on both sides of a change, for the model of the webhook and for the real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tenancy.backend import volcano
from tenancy.backend.manifest import Manifest, Object
from tenancy.plan import plan
from tests.orgs import organized, scheduled
from tests.strategies import organizations

State: TypeAlias = list[Object]

RESOURCES = ("cpu", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb")
NAMES = "abcdefg"
INSIDE = ("departments", "teams", "projects")


@st.composite
def trees(draw: DrawFn) -> State:
    """Valid Queues of a few names in any places, though a name is always below smaller ones: no organization turns two
    of its units upside down."""
    names = draw(st.sets(st.sampled_from(NAMES)))
    return draw(_numbered(draw(_places(sorted(names)))))


@st.composite
def crowds(draw: DrawFn) -> tuple[State, State]:
    """Both sides of a tree that is rather full, and of which few queues are in other places: what gives and what takes
    get in each other's way."""
    places = draw(_places(NAMES))
    others = draw(st.sets(st.sampled_from(NAMES), max_size=2))
    moved = places | {name: parent for name, parent in draw(_places(NAMES)).items() if name in others}
    return draw(_numbered(places, greedy=True)), draw(_numbered(moved, greedy=True))


@st.composite
def _places(draw: DrawFn, names: Sequence[str]) -> dict[str, str]:
    """A parent for each name, five levels at most."""
    levels, parents = {"root": 0}, {}
    for name in names:
        parents[name] = draw(st.sampled_from([each for each, level in levels.items() if level < 5]))
        levels[name] = levels[parents[name]] + 1
    return parents


@st.composite
def _numbered(draw: DrawFn, parents: Mapping[str, str], *, greedy: bool = False) -> State:
    """Queues in these places; `greedy` ones take half of what their parent has left, or all of it."""
    resources = RESOURCES[:2] if greedy else draw(st.lists(st.sampled_from(RESOURCES), unique=True, min_size=1))
    left: dict[str, dict[str, dict[str, int]]] = {}
    found: State = []
    for name, parent in parents.items():
        lists, left[name] = draw(_lists(resources, left.get(parent), greedy))
        found.append({"kind": "Queue", "metadata": {"name": name}, "spec": {"parent": parent, **lists}})
    return found


@st.composite
def _lists(
    draw: DrawFn, resources: Sequence[str], above: dict[str, dict[str, int]] | None, greedy: bool
) -> tuple[dict[str, Any], dict[str, dict[str, int]]]:
    """The three lists of a Queue, out of what its parent has left; and what it has for its own children."""
    lists: dict[str, dict[str, int]] = {"guarantee": {}, "deserved": {}, "capability": {}}
    for resource in resources:
        most = {key: 12 if above is None else above[key].get(resource, 0) for key in lists}
        owned = draw(st.integers(most["deserved"] // 2 if greedy else 0, most["deserved"]))
        lists["guarantee"][resource] = draw(st.integers(0, min(owned, most["guarantee"])))
        lists["deserved"][resource] = owned
        lists["capability"][resource] = draw(st.integers(owned, max(owned, most["capability"])))
    if above is not None:
        for key in ("guarantee", "deserved"):
            for resource, count in lists[key].items():
                above[key][resource] -= count
    written = {key: {name: str(count) for name, count in amounts.items()} for key, amounts in lists.items()}
    return {**written, "guarantee": {"resource": written["guarantee"]}}, {
        key: dict(amounts) for key, amounts in lists.items()
    }


@st.composite
def edits(draw: DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """An organization on both sides, each with something of its own taken away: units, or a part of their budgets."""
    tree = draw(organizations())
    return draw(_edited(tree)), draw(_edited(tree))


@st.composite
def _edited(draw: DrawFn, unit: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(unit)
    for key in INSIDE:
        if inside := found.get(key):
            gone = draw(st.sets(st.sampled_from(sorted(inside)), max_size=1))
            found[key] = {name: draw(_edited(each)) for name, each in inside.items() if name not in gone}
    if "budget" in found and not any(found.get(key) for key in INSIDE) and draw(st.booleans()):
        found["budget"] = {flavor: draw(_lowered(entry)) for flavor, entry in found["budget"].items()}
    return found


@st.composite
def _lowered(draw: DrawFn, entry: Any) -> Any:
    """A budget entry with a smaller quota of each kind; what is reserved goes with it, the limit stays."""
    if entry == "share":
        return entry
    triple = entry if isinstance(entry, dict) and "quota" in entry else {"quota": entry}
    quota = draw(_part(triple["quota"]))
    return {**triple, "quota": quota} if "reserved" not in triple else {**triple, "quota": quota, "reserved": quota}


@st.composite
def _part(draw: DrawFn, amount: Any) -> Any:
    """What is left of an amount; cpu and memory in proportion."""
    if isinstance(amount, int):
        return draw(st.integers(0, amount))
    if "cpu" in amount:
        cpu = draw(st.integers(0, amount["cpu"]))
        return {"cpu": cpu, "memory": f"{cpu * 4}Gi"}
    return {key: draw(st.integers(0, count)) for key, count in amount.items()}


def queues(tree: dict[str, Any]) -> dict[str, State]:
    """The Queues that an organization compiles to, by cluster."""
    return {
        cluster.name: [
            obj
            for item in volcano.compile(cluster)
            if isinstance(item, Manifest)
            for obj in item.objects
            if obj["kind"] == "Queue"
        ]
        for cluster in plan(organized(scheduled(tree, "volcano")))
    }
