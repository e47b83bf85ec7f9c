"""The order of changes of Queues: whatever two states stand on both sides, Volcano's webhook refuses nothing of it.

The judge is the model of the webhook (tests/volcano_model.py), which knows nothing of this project. A plain sync, which
sends all that is pending in any order and sends again what was refused, ends in as many passes as the plan says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tenancy.backend import volcano
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.volcano.order import Plan, Step, steps
from tenancy.plan import plan
from tests.orgs import organized, scheduled
from tests.strategies import organizations
from tests.volcano_model import Refused, Webhook

SETTINGS = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(SETTINGS, max_examples=40)
"""Of organizations, which take longer to compile than a tree to draw."""

ORDERS = st.randoms(use_true_random=False)

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


def _queues(tree: dict[str, Any]) -> dict[str, State]:
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


def _pairs(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[State, State]]:
    was, now = _queues(old), _queues(new)
    return [(was.get(name, []), now.get(name, [])) for name in sorted({*was, *now})]


def _webhook(state: State) -> Webhook:
    """The webhook with a state that it has taken, each parent before its children."""
    webhook = Webhook()
    waiting = list(state)
    while waiting:
        ready = [queue for queue in waiting if queue["spec"]["parent"] in webhook.stored]
        for queue in ready:
            webhook.apply(queue)
        waiting = [queue for queue in waiting if queue not in ready]
    return webhook


def _send(webhook: Webhook, step: Step) -> None:
    """Send a step. Only what is there can be updated or deleted, and only what is not there created."""
    assert (step.name in webhook.stored) is (step.action != "create") or step.name == "default"
    if step.action == "delete":
        webhook.delete(step.name)
    else:
        webhook.apply(step.queue)


def _stored(webhook: Webhook) -> dict[str, Any]:
    return {name: queue for name, queue in webhook.stored.items() if name not in ("root", "default")}


def _wanted(state: State) -> dict[str, Any]:
    return {name: queue for queue in state if (name := queue["metadata"]["name"]) != "default"}


def _followed(old: State, new: State) -> Plan:
    """The plan, after every step of it was accepted and nothing was left to do."""
    found, webhook = steps(old, new), _webhook(old)
    for step in [*found.parking, *(step for commit in found.commits for step in commit)]:
        _send(webhook, step)
    assert _stored(webhook) == _wanted(new)
    return found


def _passes(webhook: Webhook, commit: Iterable[Step], order: Random | None) -> int:
    """How many passes a sync takes that sends all that is pending, by name or shuffled: what goes first, and where any
    of that is refused nothing else; then all the rest. Sends again until nothing is refused."""
    pending, passes = sorted(commit, key=lambda step: step.name), 0
    while pending:
        passes += 1
        assert passes <= 50, "a sync that never ends"
        if order is not None:
            order.shuffle(pending)
        going = [step for step in pending if step.action == "delete"]
        left = [step for step in going if not _accepted(webhook, step)]
        others = [step for step in pending if step.action != "delete"]
        pending = left + (others if left else [step for step in others if not _accepted(webhook, step)])
    return passes


def _accepted(webhook: Webhook, step: Step) -> bool:
    try:
        _send(webhook, step)
    except Refused:
        return False
    return True


def _synced(old: State, new: State, order: Random | None) -> Plan:
    """The plan, after a sync of each of its commits has ended in time, whatever the order."""
    found, webhook = steps(old, new), _webhook(old)
    for step in found.parking:
        _send(webhook, step)
    taken = [_passes(webhook, commit, order) for commit in found.commits]
    assert max(taken, default=0) <= found.passes
    assert _stored(webhook) == _wanted(new)
    event(f"{len(found.commits)} commits, {found.passes} passes, parking: {bool(found.parking)}")
    return found


@SETTINGS
@given(trees(), trees())
def test_any_two_trees_have_an_order_of_which_nothing_is_refused(old: State, new: State) -> None:
    """With queues that move, mix growth and cuts, and name other resources; the way from nothing needs one commit."""
    _followed(old, new)
    first = _followed([], new)
    assert (len(first.commits), first.parking, first.mixed) == (bool(new), (), ())


@SETTINGS
@given(crowds(), ORDERS)
def test_what_gives_and_takes_in_a_crowd_is_followed_and_synced(pair: tuple[State, State], order: Random) -> None:
    """Queues that get in each other's way are told: of one commit or two, everything is accepted."""
    _followed(*pair)
    _synced(*pair, None)
    _synced(*pair, order)


@SETTINGS
@given(trees(), trees(), ORDERS)
def test_any_two_trees_are_synced_in_the_passes_of_the_plan(old: State, new: State, order: Random) -> None:
    """In the order of names and in any other; two commits where that is not certain."""
    _synced(old, new, None)
    _synced(old, new, order)


@FEWER
@given(edits(), ORDERS)
def test_an_edited_organization_is_followed_and_synced(
    pair: tuple[dict[str, Any], dict[str, Any]], order: Random
) -> None:
    """One wave of Queues, by name and in any other order, is enough: from nothing, and from any earlier state."""
    for was, now in _pairs(*pair):
        for old, new in (([], was), (was, now)):
            _followed(old, new)
            _synced(old, new, None)
            _synced(old, new, order)


@FEWER
@given(organizations(), organizations(), ORDERS)
def test_any_two_organizations_are_followed_and_synced(old: dict[str, Any], new: dict[str, Any], order: Random) -> None:
    """Hardware, flavors and clusters change too."""
    for was, now in _pairs(old, new):
        _followed(was, now)
        _synced(was, now, order)


@SETTINGS
@given(trees())
def test_nothing_is_done_where_nothing_changes(state: State) -> None:
    """The same on both sides needs no step."""
    assert steps(state, state) == Plan(parking=(), commits=(), passes=0, mixed=(), conversions=())
