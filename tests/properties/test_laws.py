"""The laws that judge the real cluster can fail: wrong states, made up here, are called wrong, right ones are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tenancy.backend import kueue
from tenancy.backend.manifest import Manifest
from tenancy.check import check
from tenancy.diagnostics import Severity
from tenancy.load.source import Sources
from tenancy.plan import plan
from tests.cluster.at_rest import Eviction, Flavor, Job, State
from tests.cluster.laws import LAWS, owners, savers
from tests.cluster.observed import units
from tests.cluster.submissions import Story, stories
from tests.examples import often
from tests.kueue_model import QUEUE, build
from tests.orgs import organized

GPU = "nvidia.com/gpu"
NODES = 3


def _org(**vision: Any) -> dict[str, Any]:
    """24 GPUs: research 8/12/20 with vision 4/6/10 and nlp 0/4/20, product with ads 0/8/24, 4 in the root pool."""
    teams = {"vision": {"budget": {"h100": {"reserved": 4, "quota": 6, "limit": 10}}, **vision}, "nlp": _budget(4)}
    research = {"budget": {"h100": {"reserved": 8, "quota": 12, "limit": 20}}, "teams": teams}
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"train": {}},
        "flavors": {
            "h100": {
                "gpu": "H100-SXM-80GB",
                "nodes": NODES,
                "node": {"gpus": 8, "cpu": 80, "memory": "800Gi"},
                "daemons": {"cpu": 0, "memory": "0Gi"},
            }
        },
        "departments": {"research": research, "product": {**_budget(8), "teams": {"ads": _budget(8)}}},
    }


def _budget(quota: int) -> dict[str, Any]:
    return {"budget": {"h100": quota}}


def _state(*jobs: Job, tree: dict[str, Any] | None = None, nodes: tuple[int, ...] = ()) -> State:
    """A state in which Kueue's books are right; `nodes` has the free GPUs of each node, packed where it is left out."""
    (made,) = plan(organized(tree or _org()))
    objects = [obj for item in kueue.compile(made) if isinstance(item, Manifest) for obj in item.objects]
    books: dict[str, dict[tuple[str, str], int]] = {}
    for job in jobs:
        cells = books.setdefault(job.queue, {})
        for resource, count in job.wants.items() if job.flavor else ():
            cells["h100", resource] = cells.get(("h100", resource), 0) + count
    used = sum(cells.get(("h100", GPU), 0) for cells in books.values())
    free = nodes or tuple(max(0, min(8, 8 * (index + 1) - used)) for index in range(NODES))
    flavor = Flavor(
        capacity=made.flavors["h100"].capacity,
        mains=frozenset({GPU}),
        fenced=False,
        node=_gpus(8),
        free=tuple(_gpus(count) for count in free),
    )
    return State(units=units(made), flavors={"h100": flavor}, tree=build(objects), reserved=books, jobs=jobs)


def _gpus(count: int) -> Mapping[str, int]:
    return {GPU: count, "cpu": 10_000 * count, "memory": count * (100 << 30)}


def _runs(queue: str, pods: int, size: int = 1) -> Job:
    return Job(uid=f"{queue}-{pods}", name="j", queue=queue, pods=pods, pod=_gpus(size), flavor="h100", bound=pods)


def _waits(queue: str, pods: int, size: int = 1) -> Job:
    return replace(_runs(queue, pods, size), name="w", flavor="", bound=0)


def _broken(state: State) -> set[str]:
    """The names of the laws that are broken."""
    return {law.__name__ for law in LAWS if list(law(state))}


VISION, NLP, ADS = "research-vision", "research-nlp", "product-ads"

RIGHT = {
    "nothing": _state(),
    "all as promised": _state(_runs(VISION, 6), _runs(NLP, 6), _runs(ADS, 12)),
    "at the limit": _state(_runs(VISION, 10), _waits(VISION, 1)),
    "at the department's limit": _state(_runs(NLP, 10), _runs(VISION, 10), _waits(NLP, 1)),
    "what is reserved for others is not idle": _state(_runs(NLP, 16), _runs(ADS, 4), _waits(NLP, 1)),
    "too big for what is free": _state(_runs(VISION, 6), _runs(NLP, 6), _runs(ADS, 10), _waits(NLP, 3)),
    "free GPUs on too many nodes": _state(_runs(VISION, 4), _runs(ADS, 12), _waits(VISION, 1, 4), nodes=(3, 3, 2)),
    "the same of a whole quota": _state(_runs(NLP, 16), _waits(VISION, 1, 4), nodes=(2, 3, 3)),
    "the head of a strict queue is too big": _state(
        _waits(VISION, 11), _waits(VISION, 1), tree=_org(policy={"queueing": "strict"})
    ),
    "held": _state(_waits(VISION, 1), tree=_org(state="held")),
    "quota that does not come back": _state(
        _runs(NLP, 4), _runs(ADS, 16), _waits(VISION, 6), tree=_org(policy={"reclaim": "never"})
    ),
}

WRONG = {
    "books": (
        replace(_state(_runs(VISION, 2)), reserved={VISION: {("h100", GPU): 3}}),
        {"books"},
    ),
    "over a team's limit": (_state(_runs(VISION, 11)), {"limits"}),
    "over a department's limit": (_state(_runs(VISION, 9), _runs(NLP, 12)), {"limits"}),
    "more than there is": (_state(_runs(VISION, 9), _runs(ADS, 16)), {"capacity"}),
    "more on a node than it has": (_state(_runs(VISION, 9), nodes=(-1, 8, 8)), {"capacity"}),
    "a pod without a node": (_state(replace(_runs(VISION, 2), bound=1)), {"places"}),
    "reserved, and lent": (_state(_runs(NLP, 4), _runs(ADS, 20), _waits(VISION, 4)), {"reserved", "quota"}),
    "reserved by a department, and lent": (
        _state(_runs(ADS, 24), _waits(NLP, 4), tree=_org(policy={"reclaim": "never"})),
        {"reserved", "quota"},
    ),
    "quota lent, and not given back": (_state(_runs(NLP, 4), _runs(ADS, 16), _waits(VISION, 6)), {"quota"}),
    "a department's quota lent, and not given back": (_state(_runs(ADS, 16), _waits(NLP, 8)), {"quota"}),
    "idle": (_state(_runs(VISION, 6), _waits(VISION, 2)), {"idle"}),
    "idle behind a strict head that fits": (
        _state(_runs(VISION, 6), _waits(VISION, 2), _waits(VISION, 1), tree=_org(policy={"queueing": "strict"})),
        {"idle"},
    ),
}


@pytest.mark.parametrize("state", RIGHT.values(), ids=RIGHT)
def test_a_right_state_breaks_no_law(state: State) -> None:
    """A job that must wait, and all that is as promised, is not called wrong."""
    assert _broken(state) == set()


@pytest.mark.parametrize(("state", "laws"), WRONG.values(), ids=WRONG)
def test_a_wrong_state_breaks_its_law(state: State, laws: set[str]) -> None:
    """Each broken promise is seen by the law that speaks of it."""
    assert laws <= _broken(state)


def test_every_law_can_fail() -> None:
    """No law is without a state that breaks it."""
    assert {law for _, laws in WRONG.values() for law in laws} == {law.__name__ for law in LAWS}


@pytest.mark.parametrize(
    ("asked", "preemptor", "told"),
    [
        ({VISION: 6}, ADS, "research/vision"),
        ({VISION: 7}, ADS, "research"),
        ({VISION: 7, NLP: 6}, ADS, ""),
        ({VISION: 7}, NLP, ""),
        ({VISION: 6}, NLP, "research/vision"),
        ({VISION: 6}, VISION, ""),
    ],
)
def test_an_owner_is_never_evicted(asked: dict[str, int], preemptor: str, told: str) -> None:
    """Who asked for no more than a quota, team or department, loses nothing to outsiders; a borrower may."""
    state = _state()
    books = {queue: {("h100", key): count for key, count in _gpus(gpus).items()} for queue, gpus in asked.items()}
    found = list(owners(state.units, books, [Eviction(victim=VISION, preemptor=preemptor, flavors=("h100",))]))
    assert [sentence.split(" asked")[0] for sentence in found] == ([told] if told else [])


@pytest.mark.parametrize(("gpus", "wrong"), [(4, 1), (5, 0)])
def test_what_is_reserved_costs_nobody_anything(gpus: int, wrong: int) -> None:
    """A queue that asks for no more than it has reserved evicts nobody; beyond that it may."""
    state = _state()
    books = {VISION: {("h100", key): count for key, count in _gpus(gpus).items()}}
    evictions = [Eviction(victim=ADS, preemptor=VISION, flavors=("h100",))]
    assert len(list(savers(state.units, books, evictions))) == wrong


@given(stories())
@settings(max_examples=often(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_stories_are_of_valid_organizations(story: Story) -> None:
    """Every drawn organization passes all checks, and all work is asked of a queue that it has."""
    org = organized(story.tree)
    (made,) = plan(org)
    assert [each for each in check(org, Sources((), story.tree, {})) if each.rule.severity is Severity.ERROR] == []
    titles = {queue.title for queue in made.queues}
    assert {one.unit for each in story.rounds for one in each.submitted} <= titles
    assert all((QUEUE, queue.name) in units(made) for queue in made.queues)
