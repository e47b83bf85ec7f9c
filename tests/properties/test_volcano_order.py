"""The order of changes of Queues: whatever two states stand on both sides, Volcano's webhook refuses nothing of it.

The judge is the model of the webhook (tests/volcano_model.py), which knows nothing of this project. A plain sync, which
sends all that is pending in any order and sends again what was refused, ends in as many passes as the plan says.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tenancy.backend.volcano.order import Plan, Step, steps
from tests.examples import often
from tests.queue_strategies import State, crowds, edits, queues, trees
from tests.strategies import organizations
from tests.volcano_model import Refused, Webhook

SETTINGS = settings(max_examples=often(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(SETTINGS, max_examples=often(15))
"""Of organizations, which take longer to compile than a tree to draw."""

ORDERS = st.randoms(use_true_random=False)


def _pairs(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[State, State]]:
    was, now = queues(old), queues(new)
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
