"""What members of a team try on a cluster with Volcano, all of it refused, and what they do every day, all of it taken.

The lists are in tests/backend/volcano (attacks.py, everyday.py). Rights, webhooks of Volcano, Pod Security and our
policies work together here; whoever refuses must say so with words that help.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.backend.volcano.attacks import ATTACKS
from tests.backend.volcano.attempts import CLOSER, FOREIGN, Attempt, standing
from tests.backend.volcano.everyday import ORDINARY
from tests.backend.volcano.policy_requests import HELD, NAMESPACE, ORGANIZATION, POLITE, TOLERATIONS
from tests.cluster import deploy, volcano_jobs
from tests.cluster.client import MERGE, Client, Object, Refused
from tests.cluster.plane import Cluster, until
from tests.cluster.scene import PATIENCE
from tests.cluster.volcano_jobs import Scene

pytestmark = pytest.mark.volcano("1.15")

VISION: Final = "research/vision"
EDITOR: Final = (
    {"apiGroups": ["batch.volcano.sh"], "resources": ["jobs"], "verbs": ["create", "get", "list", "update", "delete"]},
    {"apiGroups": ["bus.volcano.sh"], "resources": ["commands"], "verbs": ["create", "get", "list"]},
)
"""What matters here of the role for authors of jobs in Volcano's chart (vcjob_editor_role.yaml of 1.15.1)."""


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Scene:
    """The organization at work: what the attempts change is there, and somebody has the role of Volcano's chart."""
    scene = volcano_jobs.opened(cluster, deploy.compiled_for(cluster, ORGANIZATION))
    polite = {"metadata": {"name": POLITE}, "value": 1}
    cluster.client.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", **polite})
    for item in _rights_of_the_chart():
        cluster.client.apply(item)
    member = _as(scene, Attempt("", {}))
    for item in standing():
        until(lambda item=item: _created(member, item), "the quotas of objects are counted", PATIENCE)  # type: ignore[misc]
    scene.wait(lambda: len(scene.hosts(VISION)) == 4, "what is to be changed runs", PATIENCE)
    return scene


def _rights_of_the_chart() -> Iterator[Object]:
    """Bound in a namespace of the organization, where our own levels have no Commands, and in another one."""
    api, name = "rbac.authorization.k8s.io", "test-bed-vcjob-editor"
    yield {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(EDITOR)}
    for namespace in (NAMESPACE, FOREIGN):
        metadata = {"name": name, "namespace": namespace}
        role = {"apiGroup": api, "kind": "ClusterRole", "name": name}
        whom = {"roleRef": role, "subjects": [{"apiGroup": api, "kind": "User", "name": CLOSER}]}
        yield {"apiVersion": f"{api}/v1", "kind": "RoleBinding", "metadata": metadata, **whom}


def _created(client: Client, item: Object) -> bool:
    try:
        client.create(item)
    except Refused as refused:
        return refused.reason == "AlreadyExists"
    return True


def _as(scene: Scene, attempt: Attempt) -> Client:
    """Whoever makes an attempt."""
    client = scene.cluster.client
    if attempt.who == "root":
        return client
    return client.acting_as(attempt.who or "ada", ["platform"] if attempt.who == "platform" else ["vision"])


def _answer(scene: Scene, attempt: Attempt) -> str:
    """Why an attempt is refused, without it changing anything; empty where it is not."""
    client = _as(scene, attempt)
    try:
        if attempt.verb == "create":
            client.create(attempt.object, dry_run=True)
        else:
            method = {"patch": "PATCH", "delete": "DELETE"}[attempt.verb]
            path = client.path(attempt.object) + (f"/{attempt.part}" if attempt.part else "")
            client.request(method, path, attempt.change, MERGE, dryRun="All")
    except Refused as refused:
        return refused.message
    return ""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_refused(attack: Attempt, scene: Scene) -> None:
    """With words that say what is wrong."""
    assert attack.refused in (_answer(scene, attack) or "it is allowed")


@pytest.mark.parametrize("work", ORDINARY, ids=lambda work: work.name)
def test_everyday_work_is_taken(work: Attempt, scene: Scene) -> None:
    """Nobody is in its way."""
    assert _answer(scene, work) == ""


def test_after_all_of_it_everybody_goes_on(scene: Scene) -> None:
    """What ran runs, every queue is open, and a new job is bound."""
    assert len(scene.hosts(VISION)) == 4
    assert deploy.inactive(scene.cluster, scene.made.plan) == {}
    (job,) = scene.gang("research/nlp", 1, pod={"tolerations": [TOLERATIONS["training"]]})
    scene.wait(lambda: scene.bound(job) == 1, "a new job is bound", PATIENCE)
    assert HELD not in {pod["metadata"]["namespace"] for pod in scene.pods()}
