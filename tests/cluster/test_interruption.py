"""Work that others may interrupt is made for it: what a member may submit where GPUs are borrowed, and what follows.

Three nodes of eight GPUs: `vision` and `nlp` own eight each and borrow, `sure` owns eight and borrows nothing.
"""

from __future__ import annotations

import copy
import itertools
from typing import Any, Final

import pytest

from tenancy.backend.job_kinds import KINDS
from tenancy.backend.job_priority import Author
from tenancy.backend.job_request import Job
from tests.backend.kueue.interruptions import ALLOWED, CHECKPOINT, ORGANIZATION, REFUSED, Case, job
from tests.cluster import deploy, jobs
from tests.cluster.build import DIES_FROM, DIES_TO
from tests.cluster.client import Object, Refused, holds
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster, until
from tests.cluster.test_admission import runtime
from tests.cluster.test_job_templates import written

pytestmark = pytest.mark.kueue("0.19")

VISION, NLP = "lab/vision", "lab/nlp"
POLICY: Final = "tenancy-interruption"
NUMBERS: Final = itertools.count(1)
LONG: Final = "20s"
"""How long a pod here takes to end: long enough to look at it."""


@pytest.fixture(scope="module")
def scene(with_frameworks: Cluster) -> Scene:
    """The organization at work."""
    made = deploy.compiled_for(with_frameworks, ORGANIZATION)
    found = jobs.opened(with_frameworks, made)
    with_frameworks.client.apply(runtime("torch-distributed", []))
    deploy.admission_settled(with_frameworks, made.plan.kubernetes)
    until(lambda: all(sent(found, case) != "uncounted" for case in ALLOWED), "the quotas of objects are counted", 60)
    return found


def sent(scene: Scene, case: Case) -> str:
    """The words of the refusal of a request, if any; `uncounted` where a quota has not yet heard of a kind."""
    item = copy.deepcopy(case.item)
    item["metadata"] |= {"name": f"try-{next(NUMBERS)}", "namespace": f"lab-{case.team}"}
    try:
        scene.cluster.client.acting_as("ann", [case.team]).create(item, dry_run=True)
    except Refused as refused:
        if "status unknown for quota" in refused.message or refused.reason == "Conflict":
            return "uncounted"
        return refused.message
    return ""


def changed(scene: Scene, path: str, patch: Object) -> str:
    """The words of the refusal of a change by a member, if any."""
    client = scene.cluster.client.acting_as("ann", ["vision"])
    try:
        client.request("PATCH", path, patch, "application/merge-patch+json", dryRun="All")
    except Refused as refused:
        return refused.message
    return ""


def test_work_that_is_made_for_it_is_let_through(scene: Scene) -> None:
    """What has a preemptible priority, and saves its state where that is checkpointed; and all that borrows no GPUs."""
    assert {case.name: words for case in ALLOWED if (words := sent(scene, case))} == {}


def test_other_work_is_told_what_to_write(scene: Scene) -> None:
    """What would lose its GPUs unprepared is refused with its own words, by the rule that it breaks."""
    found = {case.name: sent(scene, case) for case in REFUSED}
    assert {name: words for name, words in found.items() if POLICY not in words} == {}
    assert {case.name: found[case.name] for case in REFUSED if case.words not in found[case.name]} == {}


@pytest.mark.parametrize("kind", KINDS["kueue"])
@pytest.mark.parametrize("priority", ["", "research", "scavenger"])
def test_the_jobs_that_are_written_for_people_pass(scene: Scene, kind: str, priority: str) -> None:
    """What `tenancy job` prints of each kind has what its priority asks for, also where none was asked for."""
    author = Author(priority=priority, checkpoint="s3://bucket/run")
    for item in written(scene, Job(gpus=8, pods=2), kind, VISION, author=author):
        assert sent(scene, Case(kind, item)) == ""


def test_every_rule_refuses_something(scene: Scene) -> None:
    """Each rule of the policy has a request that it refuses, and the API server finds no type error in any."""
    (policy,) = (
        item
        for item in scene.made.objects
        if item["metadata"]["name"] == POLICY and item["kind"] == "ValidatingAdmissionPolicy"
    )
    assert len(policy["spec"]["validations"]) == len({case.rule for case in REFUSED}) == 4
    assert deploy.policies_checked(scene.cluster)[POLICY] == {}


def test_running_work_from_before_is_left_alone(scene: Scene) -> None:
    """An update is judged by what it changes: a job without a priority is suspended, labelled and finished as ever."""
    scene.clear()
    old = job(priority="")
    old["metadata"] |= {"name": "old", "namespace": "lab-vision"}
    (binding,) = (
        item
        for item in scene.made.objects
        if item["metadata"]["name"] == POLICY and item["kind"].endswith("PolicyBinding")
    )
    scene.cluster.client.delete(scene.cluster.client.path(binding))
    deploy.admission_settled(scene.cluster, scene.made.plan.kubernetes)
    scene.create(old)
    scene.running(VISION, 1)
    scene.cluster.client.apply(binding)
    deploy.admission_settled(scene.cluster, scene.made.plan.kubernetes)
    path = scene.cluster.client.path(old)
    assert changed(scene, path, {"spec": {"suspend": True}}) == ""
    assert changed(scene, path, {"metadata": {"annotations": {"note": "mine"}}}) == ""
    words = changed(scene, path, {"metadata": {"labels": {jobs.PRIORITY_LABEL: "production"}}})
    assert "name a preemptible priority" in words
    (pod,) = scene.pods(VISION)
    assert (
        changed(
            scene,
            scene.cluster.client.path({"apiVersion": "v1", "kind": "Pod", **pod}),
            {"metadata": {"labels": {"note": "mine"}}},
        )
        == ""
    )
    scene.cluster.client.delete(path, propagationPolicy="Foreground")
    scene.clear()


def test_what_is_taken_back_has_its_time(scene: Scene) -> None:
    """The pod of a borrowed job that is reclaimed ends with the grace of its priority. Kueue hands its quota on at
    once: the owner's job is admitted while that pod still ends, and its pods start when it is gone."""
    scene.clear()
    ends = {CHECKPOINT: "s3://bucket/run", DIES_FROM: LONG, DIES_TO: LONG}
    slow: dict[str, Any] = {"marks": ends, "pod": {"terminationGracePeriodSeconds": 120}, "priority": "research"}
    scene.submit(VISION, 8, times=3, **slow)
    scene.expect({VISION: 24})
    scene.running(VISION, 3)
    nodes_of = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in scene.pods(VISION)}
    scene.submit(NLP, 8, priority="research", marks=ends, pod=slow["pod"])
    seen: dict[str, Object] = {}

    def admitted_while_it_ends() -> bool:
        ending = [pod for pod in scene.pods(VISION) if "deletionTimestamp" in pod["metadata"]]
        seen.update({pod["metadata"]["name"]: pod for pod in ending})
        return bool(ending) and any(holds(item, "Admitted") for item in scene.workloads(NLP))

    scene.wait(admitted_while_it_ends, "the owner's job is admitted while the other ends")
    (victim,) = seen.values()
    assert victim["metadata"]["deletionGracePeriodSeconds"] == 120
    assert scene.hosts(NLP) == []
    assert scene.running(NLP, 1) == [nodes_of[victim["metadata"]["name"]]]
    assert victim["metadata"]["name"] not in {pod["metadata"]["name"] for pod in scene.pods(VISION)}
    assert scene.evictions(VISION) == 1
    scene.clear()
