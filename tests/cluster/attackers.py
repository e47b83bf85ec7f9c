"""The words of the tests of attacks on a cluster with Kueue: members of teams, what they send, what becomes of it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from tests.backend.kueue.attacks import KUEUE, ORGANIZATION, Attempt, container, namespace, pod, spec
from tests.cluster import deploy, nodes
from tests.cluster.client import Client, Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.jobs import Scene, usage
from tests.cluster.plane import Cluster, until

HERE: Final = namespace("vision")
UNIT: Final = "lab/vision"
STOPPING: Final = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "WorkloadPriorityClass",
    "metadata": {"name": "huge"},
    "value": 3_000_000_000,
}
"""A priority that Kueue cannot read."""


CRD: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloadpriorityclasses.kueue.x-k8s.io"


@contextmanager
def unread_format(cluster: Cluster) -> Iterator[None]:
    """As before Kubernetes 1.36, whose API server was the first to look at `format: int32` of a custom resource."""
    before = cluster.client.get(CRD)
    versions = copy.deepcopy(before["spec"]["versions"])
    for each in versions:
        del each["schema"]["openAPIV3Schema"]["properties"]["value"]["format"]
    try:
        cluster.client.patch(CRD, {"spec": {"versions": versions}})
        until(lambda: _takes(cluster, STOPPING), "the API server takes any number")
        yield
    finally:
        cluster.client.patch(CRD, {"spec": {"versions": before["spec"]["versions"]}})


def _takes(cluster: Cluster, item: Object) -> bool:
    """Whether the kind itself lets an object in; a policy may still refuse it."""
    try:
        cluster.client.create(item, dry_run=True)
    except Refused as refused:
        return "format int32" not in refused.message
    return True


def is_policy(item: Object) -> bool:
    """Whether it is an admission policy or its binding."""
    return "AdmissionPolicy" in item["kind"]


def unguarded(cluster: Cluster) -> Scene:
    """The organization without its policies, at work on its nodes."""
    made: Compiled = deploy.compiled_for(cluster, ORGANIZATION)
    nodes.make(cluster, made)
    made.scheduler.configure(cluster, made.configuration)
    deploy.apply(cluster, deploy.in_waves(item for item in made.objects if not is_policy(item)))
    until(lambda: deploy.inactive(cluster, made.plan) == {}, "every queue is active")
    return Scene(cluster, made)


def acting(cluster: Cluster, team: str = "vision") -> Client:
    """A member of a team."""
    return cluster.client.acting_as("mallory", [team])


def named(item: Object, name: str, where: str = HERE) -> Object:
    """The object with its name and namespace."""
    found = copy.deepcopy(item)
    found["metadata"] |= {"name": name, "namespace": where}
    return found


def known(item: Any, before: dict[str, Object]) -> Any:
    """The same with the uids of owners that are there."""
    for owner in (item.get("metadata", {}).get("ownerReferences") or ()) if isinstance(item, dict) else ():
        owner["uid"] = before[owner["name"]]["metadata"]["uid"] if owner["name"] in before else "none"
    return item


def create(client: Client, item: Object) -> Object:
    """Create an object, again where it is refused because its quota is not counted yet."""
    found: list[Object] = []

    def there() -> bool:
        try:
            found.append(client.create(item))
        except Refused as refused:
            if "status unknown for quota" not in refused.message and refused.reason != "Conflict":
                raise
        return bool(found)

    until(there, "the namespace's quota is counted", 60)
    return found[0]


def send(cluster: Cluster, before: dict[str, Object], attempt: Attempt) -> str:
    """Try it; the words of the refusal, or nothing."""
    client = acting(cluster, attempt.team)
    item = known(copy.deepcopy(attempt.item), before)
    try:
        if attempt.of:
            sort = "json-patch" if isinstance(item, list) else "merge-patch"
            path = client.path({"apiVersion": "v1", "kind": "Pod", **before[attempt.of]})
            client.request("PATCH", path, item, f"application/{sort}+json", dryRun="All")
        else:
            name = attempt.name.replace("'", "").replace(" ", "-").lower()
            client.create(named(item, name, namespace(attempt.team)), dry_run=True)
    except Refused as refused:
        return refused.message
    return ""


def rules(made: Compiled) -> list[tuple[str, str]]:
    """Every rule of every policy: the policy's name and the rule's message."""
    found = [item for item in made.objects if item["kind"] == "ValidatingAdmissionPolicy"]
    return [(item["metadata"]["name"], each["message"]) for item in found for each in item["spec"]["validations"]]


def wrongly_answered(
    cluster: Cluster, made: Compiled, before: dict[str, Object], attempts: Iterable[Attempt]
) -> dict[str, str]:
    """By name: attacks that are not refused by the policy of their rule with their words, ordinary work that is; with
    what was said."""
    wrong = {}
    for attempt in attempts:
        answer = send(cluster, before, attempt)
        policy = next(name for name, message in rules(made) if attempt.rule in message)
        right = f"'{policy}'" in answer and attempt.told in answer if attempt.told else not answer
        if not right:
            wrong[attempt.name] = answer or "allowed"
    return wrong


def pods(scene: Scene) -> dict[str, Object]:
    """The pods of the team, by name."""
    return {each["metadata"]["name"]: each for each in scene.pods(UNIT)}


def phase(scene: Scene, name: str) -> str:
    """Of a pod; nothing where it is not there or was not looked at yet."""
    found: str = pods(scene).get(name, {}).get("status", {}).get("phase", "")
    return found


def owners(scene: Scene) -> set[str]:
    """The uids of what the team's Workloads belong to."""
    return {each["uid"] for item in scene.workloads(UNIT) for each in item["metadata"].get("ownerReferences", ())}


def end(scene: Scene, *names: str) -> None:
    """End pods at once, and wait until they are gone."""
    for name in names:
        scene.cluster.client.delete(f"/api/v1/namespaces/{HERE}/pods/{name}", gracePeriodSeconds="0")
    until(lambda: not {*names} & pods(scene).keys(), f"{', '.join(names)} are gone")


def charge_of_a_group(scene: Scene) -> int:
    """What Kueue counts for two pods of one group, of 1 and 6 cpu, that both say that they have the same role; in
    thousandths of a cpu, once both run. Then they are ended."""
    metadata = {
        "labels": {f"{KUEUE}/pod-group-name": "two"},
        "annotations": {f"{KUEUE}/pod-group-total-count": "2", f"{KUEUE}/role-hash": "a-role"},
    }
    for name, cpu in {"small": "1", "large": "6"}.items():
        create(acting(scene.cluster), named(pod(spec(container({"cpu": cpu, "memory": "1Gi"})), metadata), name))
    until(lambda: phase(scene, "small") == phase(scene, "large") == "Running", "both pods run")
    (own,) = (item for item in scene.workloads(UNIT) if item["metadata"]["name"] == "two")
    found = sum(count for (_, resource), count in usage(own).items() if resource == "cpu")
    end(scene, "small", "large")
    return found
