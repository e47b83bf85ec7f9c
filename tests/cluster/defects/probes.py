"""What people do under each seeded defect that gets past admission, and what they then see."""

from __future__ import annotations

import copy
from typing import Final

from tests.cluster import deploy, manager
from tests.cluster.client import label
from tests.cluster.defects.forced import find, near
from tests.cluster.defects.stage import Comes, Outcome, Stage, twice
from tests.cluster.manager import KUEUE

VISION: Final = "research/vision"
SPEECH: Final = "research/speech"
ADS: Final = "product/ads"
SLICE: Final = "nvidia.com/mig-1g.10gb"
SMALL: Final = {"cpu": "1", "memory": "1Gi"}
"""What a job without GPUs asks for."""
NO_PLACE: Final = r"topology \"h100\" doesn't allow to fit any of 1 pod\(s\)"


def limit_not_lent(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 8, times=5)
    held = stage.holding(VISION, 24)
    said = stage.says(VISION, r"insufficient unused quota for cpu in flavor h100, 190 more needed")
    return Outcome(Comes.WAITS, f"the team gets {held} of the 40 GPUs of its limit; its next job waits: {said}")


def half_a_gpu(stage: Stage) -> Outcome:
    stage.scene.submit(SPEECH, 1, times=4)
    held = stage.holding(SPEECH, 3)
    stage.scene.settle()
    assert stage.scene.held(SPEECH) == held
    return Outcome(Comes.SILENT, f"{held} jobs of one GPU run on the quota of 2.5")


def absent_profile(stage: Stage) -> Outcome:
    stage.scene.submit(SPEECH, requests={"nvidia.com/mig-7g.80gb": "1", **SMALL})
    said = stage.says(SPEECH, r"topology \"a100-mig\" doesn't allow to fit any of 1 pod\(s\)")
    return Outcome(Comes.WAITS, f"a job within this quota waits for ever: {said}")


def absent_flavor(stage: Stage) -> Outcome:
    stage.scene.submit(SPEECH, 1)
    told = stage.told("ClusterQueue research-speech")
    said = stage.says(SPEECH, "ClusterQueue research-speech is inactive")
    return Outcome(Comes.STATUS, f"`{told}` Every job of the team waits: {said}")


def robotics_works(stage: Stage) -> None:
    """While its file was there, the department had a team, and the team a job."""
    stage.put(near("missing department file", stage.cluster))
    stage.scene.submit("robotics/one", 8)
    stage.running("robotics/one", 1)


def pruned(stage: Stage) -> Outcome:
    path = "/apis/batch/v1/namespaces/robotics-one/jobs"
    stage.scene.wait(lambda: stage.cluster.client.list(path) == [], "the job is gone")
    stage.scene.asked = 0
    return Outcome(Comes.SILENT, "pruning deletes the team's namespace, and the job that runs in it")


def no_cycle_yet(stage: Stage) -> None:
    """The departments are first what they should be, so that it does not depend on which object Kueue sees first."""
    stage.put(near("department cycle through files", stage.cluster))


def cycle(stage: Stage) -> Outcome:
    client, unit = stage.cluster.client, "product/sound/light/one"
    stage.scene.submit(unit, 1)
    late = copy.deepcopy(find(stage.scene.made.objects, "ClusterQueue", "product-sound-light-one"))
    late["metadata"]["name"] = "product-sound-light-late"
    client.apply(late)
    told = stage.told("ClusterQueue product-sound-light-late")
    stage.scene.settle()
    assert stage.scene.held(unit) == 0
    panic = _any_namespace_changes(stage)
    client.delete(client.path(late))
    return Outcome(
        Comes.STATUS,
        f"no job below is admitted, and a queue that is created there is not active (its message: `{told}`); from then "
        f"on the next change of any namespace ends Kueue's manager for the whole cluster: `{panic}`",
    )


def _any_namespace_changes(stage: Stage) -> str:
    """What the manager dies of; it is started again, the cycle is undone, and it is started once more, since it has
    not read the queues of the cycle."""
    processes, namespace = stage.cluster.processes, "/api/v1/namespaces/default"
    stage.cluster.client.patch(namespace, {"metadata": {"labels": {"test-bed/changed": "yes"}}})
    stage.scene.wait(lambda: processes.running["kueue"].poll() is not None, "the manager ends")
    lines = processes.tail("kueue", 20000).splitlines()
    panic = next(line for line in lines if line.startswith("panic: "))
    processes.stop("kueue")
    manager.configure(stage.cluster, stage.healthy.configuration)
    stage.put(near("department cycle through files", stage.cluster))
    processes.stop("kueue")
    manager.configure(stage.cluster, stage.healthy.configuration)
    stage.cluster.client.patch(namespace, {"metadata": {"labels": {"test-bed/changed": None}}})
    return panic.removeprefix("panic: ").partition(" [")[0]


def orphan(stage: Stage) -> Outcome:
    stage.scene.submit("research/light/one", 8, times=2)
    held = stage.holding("research/light/one", 8)
    said = stage.says(
        "research/light/one", r"insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed"
    )
    return Outcome(
        Comes.WAITS,
        f"the department is a tree of its own: {held} GPUs on top of the organization's, and no idle one: {said}",
    )


def two_owners(stage: Stage) -> Outcome:
    client = stage.cluster.client
    labels = client.get("/api/v1/namespaces/product-ads")["metadata"]["labels"]
    owner = "/".join(labels[f"tenancy.internal/{level}"] for level in ("department", "team"))
    queue = client.get(f"{KUEUE}/namespaces/product-ads/localqueues/default")["spec"]["clusterQueue"]
    return Outcome(Comes.SILENT, f"the namespace is then `{owner}`'s by its labels, and its jobs go to `{queue}`")


def overwritten(stage: Stage) -> Outcome:
    client, names = stage.cluster.client, twice(stage.scene.made.objects)
    both = [item for item in deploy.in_waves(stage.scene.made.objects) if label(item) in names]

    def written() -> dict[str, str]:
        return {label(item): client.get(client.path(item))["metadata"]["resourceVersion"] for item in both}

    before = written()
    for item in both:
        client.apply(item)
    changed = sum(before[name] != version for name, version in written().items())
    parent = client.get(f"{KUEUE}/clusterqueues/research-speech-lab")["spec"]["cohortName"]
    return Outcome(
        Comes.SILENT,
        f"the last one written wins: both teams have one queue, in `{parent}`; each sync writes {changed} objects anew",
    )


def unreachable(stage: Stage) -> Outcome:
    stage.scene.submit(ADS, 1, flavor="a100-mig", resource=SLICE)
    said = stage.says(ADS, r"insufficient quota for cpu in flavor a100-mig, .*? > maximum capacity \(0\)")
    return Outcome(Comes.WAITS, f"a job of one of the 4 slices waits for ever: {said}")


def too_few_pods(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 1, pods=40)
    pods = len(stage.running(VISION, 39))
    stage.scene.wait(lambda: any("exceeded quota" in event for event in stage.job_events(VISION)), "an event")
    held = stage.holding(VISION, 40)
    return Outcome(
        Comes.SILENT,
        f"a job of 40 pods is admitted and holds {held} GPUs with {pods} pods; an event of the job says so",
    )


def fenced_cpu(stage: Stage) -> Outcome:
    stage.scene.submit(SPEECH, requests=SMALL)
    stage.scene.submit(ADS, requests=SMALL, pod={"tolerations": [{"key": "acme.example/cpu", "operator": "Exists"}]})
    own, other = (stage.running(unit, 1)[0].rpartition("-")[0] for unit in (SPEECH, ADS))
    return Outcome(
        Comes.SILENT,
        f"jobs of the team that owns the CPU nodes run on `{own}` nodes; one of another team that writes the "
        f"toleration itself runs on `{other}` nodes",
    )


def no_memory(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, requests={"cpu": "1", "memory": "252Gi"}, pods=10)
    stage.scene.submit(VISION, requests={"cpu": "1", "memory": "996Gi"}, pods=4)
    stage.holding(VISION, 14000, "cpu")
    stage.scene.submit(SPEECH, requests=SMALL)
    said = stage.says(SPEECH, r"insufficient unused quota for memory in flavor cpu, 1Gi more needed")
    return Outcome(Comes.WAITS, f"a neighbour borrows the memory, and the team's 100 CPUs stand idle: {said}")


def granted_to_nobody(stage: Stage) -> Outcome:
    real, misspelt = (stage.allowed(f"system:serviceaccount:{home}:ci") for home in ("product-search", "product-serch"))
    words = {True: "may", False: "may not"}
    return Outcome(
        Comes.SILENT,
        f"the account `product-search/ci` {words[real]} submit jobs; whoever makes the namespace `product-serch` has "
        f"an account that {words[misspelt]}",
    )


def above_capacity(stage: Stage) -> Outcome:
    scene = stage.scene
    scene.submit(VISION, 8, pods=3)
    scene.submit(SPEECH, 8, pods=8)
    scene.submit(SPEECH, 1)
    scene.submit("product/search", 8, pods=3)
    scene.submit(ADS, 1, pods=7)
    scene.wait(lambda: sum(scene.holders().values()) == 120, "every GPU is held")
    scene.submit(ADS, 1)
    said = stage.says(ADS, NO_PLACE)
    scene.settle()
    assert scene.evictions() == 0
    held = scene.held(ADS)
    return Outcome(Comes.WAITS, f"with one node lost, a team that holds {held} of its quota of 8 waits: {said}")


def no_such_node(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 1)
    said = stage.says(VISION, "no topology domains at level: kubernetes.io/hostname")
    return Outcome(Comes.WAITS, f"every job of the flavor waits for ever: {said}")


def two_names(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 8)
    stage.scene.submit(SPEECH, 8, flavor="a100-mig", resource=SLICE)
    nodes = [stage.running(unit, 1)[0].rpartition("-")[0] for unit in (VISION, SPEECH)]
    assert nodes == ["h100", "a100-mig"]
    return Outcome(Comes.HARMLESS, "each job runs on its own boards, since these two have no GPU resource in common")


def above_layout(stage: Stage) -> Outcome:
    stage.scene.submit(VISION, 8, pods=8, flavor="a100-mig", resource=SLICE)
    held = stage.holding(VISION, 64, SLICE)
    stage.scene.submit(SPEECH, 1, flavor="a100-mig", resource=SLICE)
    said = stage.says(SPEECH, r"topology \"a100-mig\" doesn't allow to fit any of 1 pod\(s\)")
    return Outcome(Comes.WAITS, f"{held} slices run, and the job for the last one of the quota waits: {said}")


def above_department(stage: Stage) -> Outcome:
    scene = stage.scene
    scene.submit(VISION, 8, pods=3)
    scene.submit(SPEECH, 8, pods=8)
    scene.submit("product/search", 8, pods=3)
    scene.submit(ADS, 1, pods=8)
    scene.wait(lambda: sum(scene.holders().values()) == 120, "every GPU is held")
    scene.submit(ADS, 1)
    held = stage.holding(ADS, 9) + stage.holding("product/search", 24)
    scene.settle()
    return Outcome(
        Comes.SILENT,
        f"the department holds {held} GPUs on a quota of 32; {scene.evictions(SPEECH)} job of 64 GPUs of the other "
        "department is evicted for the last of them",
    )


def spelled(stage: Stage) -> Outcome:
    client = stage.cluster.client
    item = find(stage.scene.made.objects, "ClusterQueue", "research-spelling")
    stored = []
    for _ in range(3):
        found = client.get(client.path(item))
        cpu, memory = (
            each["nominalQuota"] for each in found["spec"]["resourceGroups"][0]["flavors"][0]["resources"][:2]
        )
        stored.append(f"`{cpu}` and `{memory}`")
        client.apply(item)
    created, applied, at_rest = stored
    assert applied == at_rest
    return Outcome(
        Comes.SILENT, f"Kueue stores {created}; the next sync writes {applied} back, once: a drift that nobody made"
    )
