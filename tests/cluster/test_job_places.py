"""A job with a leader comes to one rack as a whole: as `tenancy job` writes it, and by the default of its unit; a job
that asks for the rack alone does not."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tenancy.backend.job_kinds import LEADERS
from tenancy.backend.job_request import Job
from tests.cluster import deploy, jobs
from tests.cluster.client import Object
from tests.cluster.jobs import Scene
from tests.cluster.plane import Cluster
from tests.cluster.test_job_templates import admitted, submit, written
from tests.cluster.test_unit_topology import ANTS, ORG, RACK, requests

pytestmark = pytest.mark.kueue("0.19")

GROUP: Final = "kueue.x-k8s.io/podset-group-name"
ASKS: Final = "kueue.x-k8s.io/podset-required-topology"
KINDS: Final = [kind for kind in LEADERS if kind != "mpi"]
"""Those whose leader asks for GPUs; a launcher of MPI has none, and no place to share."""
ROOT: Final = ("root", ["system:masters"])


@pytest.fixture(scope="module")
def scene(with_frameworks: Cluster) -> Scene:
    """A rack of four free nodes and one of two."""
    return jobs.opened(with_frameworks, deploy.compiled_for(with_frameworks, ORG))


def racks(scene: Scene) -> list[set[str]]:
    """The racks of each pod set of the only Workload of the unit."""
    nodes = scene.cluster.client.list("/api/v1/nodes")
    named = {item["metadata"]["name"]: item["metadata"]["labels"].get(RACK, "") for item in nodes}
    (workload,) = scene.workloads(ANTS)
    assigned = (each["topologyAssignment"] for each in workload["status"]["admission"]["podSetAssignments"])
    return [{named[host] for part in each["slices"] for host in hosts(part["valuesPerLevel"][-1])} for each in assigned]


def hosts(values: dict[str, Any]) -> list[str]:
    """The names that Kueue has packed into a prefix, a suffix and what is between."""
    if "universal" in values:
        return [values["universal"]]
    each = values["individual"]
    return [f"{each.get('prefix', '')}{root}{each.get('suffix', '')}" for root in each["roots"]]


def without(part: Any, *keys: str) -> Any:
    """The object without these annotations of its pod templates."""
    if isinstance(part, list):
        return [without(each, *keys) for each in part]
    if not isinstance(part, dict):
        return part
    return {key: without(each, *keys) for key, each in part.items() if key not in keys}


def ended(scene: Scene, job: Object) -> None:
    """The job is gone with all that it held."""
    scene.cluster.client.delete(scene.cluster.client.path(job), propagationPolicy="Background")
    scene.asked = 0


@pytest.mark.parametrize(
    ("kind", "unsaid", "leader"),
    [
        *((kind, (), "h100-rack-0") for kind in KINDS),
        *((kind, (ASKS, GROUP), "h100-rack-1" if kind == "ray" else "h100-rack-0") for kind in KINDS),
        *((kind, (GROUP,), "h100-rack-1") for kind in KINDS),
    ],
)
def test_a_leader_is_in_the_rack_of_its_workers(scene: Scene, kind: str, unsaid: tuple[str, ...], leader: str) -> None:
    """It asks for a rack as a group, or for nothing and gets the default of the unit. One that asks for a rack without
    a group is left as it is, and those of Ray get no group: alone the leader goes to the small rack, which it fills
    best, and the workers find no place there beside it."""
    scene.clear()
    (item,) = written(scene, Job(gpus=8, pods=3, flavor="h100"), kind, ANTS)
    stored = submit(scene, [without(item, *unsaid)], ROOT)
    admitted(scene, ANTS)
    assert racks(scene) == [{leader}, {"h100-rack-0"}]
    ended(scene, stored)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ray"])
def test_a_second_apply_leaves_the_default(scene: Scene, kind: str) -> None:
    """A GitOps tool that applies the same job again, while it waits or runs, takes nothing of it away."""
    scene.clear()
    (item,) = written(scene, Job(gpus=8, pods=3, flavor="h100"), kind, ANTS)
    metadata = {key: value for key, value in item["metadata"].items() if key != "generateName"}
    job = without({**item, "metadata": {**metadata, "name": "applied"}}, ASKS, GROUP)
    first = scene.cluster.client.apply(job)
    assert requests(first) == [{ASKS: RACK, GROUP: "job"}] * 2
    assert requests(scene.cluster.client.apply(job, force=False)) == requests(first)
    admitted(scene, ANTS)
    assert requests(scene.cluster.client.apply(job, force=False)) == requests(first)
    ended(scene, first)
