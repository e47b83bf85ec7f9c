"""When the guard of interruption is there, what it reads, and what is promised with it.

What it does is shown on a real API server (tests/cluster/test_interruption.py, test_volcano_interruption.py).
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend import BACKENDS, PARITIES
from tenancy.backend.manifest import Manifest, Object
from tenancy.backend.parity import Fate, Promise, parity
from tenancy.model.organization import Org
from tenancy.plan import plan
from tenancy.plan.interruption import interruption
from tenancy.plan.values import ClusterPlan
from tests.backend.kueue.interruptions import ORGANIZATION
from tests.orgs import changed, organized, scheduled

POLICY: Final = "tenancy-interruption"
LENDING: Final = ("kueue", "volcano")
NUMBERS: Final = {"production": 1000, "research": 100, "scavenger": -100}


def both(scheduler: str, changes: dict[str, Any]) -> tuple[Org, ClusterPlan]:
    """The organization under a scheduler, and its plan; `__` in a key stands for a dot."""
    dotted = {key.replace("__", "."): each for key, each in changes.items()}
    org = organized(changed(scheduled(ORGANIZATION, scheduler), dotted))
    (cluster,) = plan(org)
    return org, cluster


def planned(scheduler: str = "kueue", **changes: Any) -> ClusterPlan:
    """The plan alone."""
    return both(scheduler, changes)[1]


def objects(cluster: ClusterPlan, name: str, kind: str = "") -> list[Object]:
    """Those of a name."""
    every = (
        obj
        for item in BACKENDS[cluster.cluster.scheduler](cluster)
        if isinstance(item, Manifest)
        for obj in item.objects
    )
    return [obj for obj in every if obj["metadata"]["name"] == name and kind in ("", obj["kind"])]


def marked(cluster: ClusterPlan) -> dict[str, str | None]:
    """By namespace: what it says of borrowing to the guard."""
    names = [each.name for each in cluster.namespaces]
    found = {name: objects(cluster, name, "Namespace")[0] for name in names}
    return {name: obj["metadata"]["annotations"].get("tenancy.internal/borrows") for name, obj in found.items()}


@pytest.mark.parametrize("scheduler", LENDING)
def test_the_guard_is_there_where_work_is_interrupted(scheduler: str) -> None:
    """A policy with its binding, which refuses; the namespaces that may borrow GPUs say so, and no others."""
    cluster = planned(scheduler)
    _, binding = objects(cluster, POLICY)
    assert binding["spec"]["validationActions"] == ["Deny"]
    assert marked(cluster) == {"lab-nlp": "gpus", "lab-sure": None, "lab-vision": "gpus"}


@pytest.mark.parametrize("scheduler", LENDING)
def test_without_a_word_of_it_there_are_no_demands(scheduler: str) -> None:
    """No priority is preemptible: no policy, and nothing in the namespaces."""
    cluster = planned(scheduler, priorities=NUMBERS)
    assert objects(cluster, POLICY) == []
    assert set(marked(cluster).values()) == {None}


@pytest.mark.parametrize("scheduler", [*LENDING, "native"])
def test_where_nobody_borrows_nothing_is_interrupted(scheduler: str) -> None:
    """By policy, or for want of a scheduler that lends."""
    changes: dict[str, Any] = {} if scheduler == "native" else {"policy": {"borrowing": "none"}}
    assert objects(planned(scheduler, **changes), POLICY) == []


def test_what_others_reserve_is_no_reach() -> None:
    """A unit that may borrow by its limit, while all that is not its own is reserved, can lose nothing."""
    reserved = {"h100": {"reserved": 8, "quota": 8}}
    teams: dict[str, Any] = {f"departments__lab__teams__{name}__budget": reserved for name in ("nlp", "sure")}
    assert marked(planned(**teams)) == {"lab-nlp": "gpus", "lab-sure": None, "lab-vision": None}


@pytest.mark.parametrize(("level", "actions"), [("warn", ["Warn"]), ("audit", ["Audit"]), ("off", None)])
def test_its_level_is_the_clusters(level: str, actions: list[str] | None) -> None:
    """It warns, notes, or is not there."""
    found = objects(planned(clusters__train__guards={"interruption": level}), POLICY)
    assert [each["spec"]["validationActions"] for each in found[1:]] == ([actions] if actions else [])


def test_priorities_without_a_grace_ask_for_no_checkpoint() -> None:
    """Where every preemptible priority is restartable, only the priority is asked for, and an end in time."""
    cluster = planned(priorities={"research": 100, "spare": {"value": -1, "preemptible": "restartable"}})
    policy, _ = objects(cluster, POLICY)
    assert "checkpoint" not in str(policy["spec"]["validations"])
    assert len(policy["spec"]["validations"]) == 2


def test_a_pod_may_take_as_long_to_end_as_a_priority_says() -> None:
    """An hour where none says more."""
    ends = []
    for time in ("2m", "2h"):
        patient = {"value": 100, "preemptible": "checkpointed", "gracePeriod": time}
        ends.append(objects(planned(priorities__research=patient), POLICY))
    said = [policy["spec"]["validations"][-1]["message"] for policy, _ in ends]
    assert ["within 3600 seconds" in said[0], "within 7200 seconds" in said[1]] == [True, True]


@pytest.mark.parametrize(("scheduler", "kind"), [("kueue", "WorkloadPriorityClass"), ("volcano", "PriorityClass")])
def test_the_class_says_what_its_priority_does(scheduler: str, kind: str) -> None:
    """For people, and for a plan that compares objects; one that says nothing has no such annotation."""
    found = {}
    for name in NUMBERS:
        (obj,) = objects(planned(scheduler), name, kind)
        marks = obj["metadata"]["annotations"]
        found[name] = [marks.get(f"tenancy.internal/{key}") for key in ("preemptible", "grace-period")]
    assert found == {
        "production": [None, None],
        "research": ["checkpointed", "2m0s"],
        "scavenger": ["restartable", None],
    }


def promised(key: str, scheduler: str = "kueue", **changes: Any) -> list[Promise]:
    """The promises of a kind."""
    tree = changed(
        scheduled(ORGANIZATION, scheduler), {name.replace("__", "."): each for name, each in changes.items()}
    )
    org = organized(tree)
    (cluster,) = plan(org)
    return [each for each in parity(org, cluster, PARITIES[scheduler]) if each.promise == key]


@pytest.mark.parametrize("scheduler", LENDING)
def test_what_an_interruption_takes_is_promised(scheduler: str) -> None:
    """With the grace of each priority; kept by a policy that refuses, and differently by one that does not."""
    (promise,) = promised("interruption", scheduler)
    assert promise.said.endswith("those of `research` have 2 min to save their state, those of `scavenger` begin again")
    assert promise.fate is Fate.KEPT
    (promise,) = promised("interruption", scheduler, clusters__train__guards={"interruption": "warn"})
    assert (promise.fate, promise.becomes) == (Fate.DIFFERENTLY, "whoever submits other work is only warned")


@pytest.mark.parametrize("changes", [{"priorities": NUMBERS}, {"policy": {"borrowing": "none"}}])
def test_what_nobody_meets_is_not_promised(changes: dict[str, Any]) -> None:
    """Without a preemptible priority, or without anybody who borrows."""
    assert promised("interruption", **changes) == []


@pytest.mark.parametrize("scheduler", PARITIES)
@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["scavenger", "research"], "its jobs have no other priority than `research` or `scavenger`"),
        ([], "its jobs have no priority at all"),
    ],
)
def test_a_unit_promises_its_own_priorities(scheduler: str, names: list[str], said: str) -> None:
    """Where it says any; the others may have all of the organization."""
    (promise,) = promised("unitPriorities", scheduler, departments__lab__teams__vision__priorities=names)
    assert (promise.unit, promise.said, promise.fate) == ("lab/vision", said, Fate.KEPT)


def words(unit: str, scheduler: str = "kueue", **changes: Any) -> str:
    """What a unit is told of interruption."""
    tree = changed(
        scheduled(ORGANIZATION, scheduler), {name.replace("__", "."): each for name, each in changes.items()}
    )
    org = organized(tree)
    (cluster,) = plan(org)
    found = interruption(cluster, next(each for each in org.units if each.title == unit))
    return found.words if found is not None else ""


def test_who_borrows_is_told_of_the_notice() -> None:
    """And whether jobs without it are refused."""
    taken = "What its GPU jobs have beyond its quota may be taken back while they run"
    ways = "a job of research has 2 min to save its state, one of scavenger begins again."
    assert words("lab/vision") == f"{taken}: {ways} Every GPU job here needs one of these priorities."
    assert words("lab/vision", clusters__train__guards={"interruption": "warn"}) == f"{taken}: {ways}"
    only = words("lab/vision", departments__lab__teams__vision__priorities=["production"])
    assert only.startswith(f"{taken}, and it has no `preemptible` priority, so each of them is refused.")


def test_who_borrows_nothing_is_told_that_nobody_evicts_its_jobs() -> None:
    """Where priorities say anything of it, and something is lent."""
    assert words("lab/sure").startswith("It borrows no GPUs, so none of its jobs is ever evicted for another unit")
    assert words("lab/sure", priorities=NUMBERS) == words("lab/sure", "native") == words("lab") == ""
