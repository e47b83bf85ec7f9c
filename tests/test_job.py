"""`tenancy job`: a job that lands in a unit's queue as a gang, or why none ever would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenancy.backend.job_kinds import KINDS, LEADERS
from tenancy.cli import run
from tests.test_explain_jobs import specs
from tests.test_readme import ELLIPSIS, _steps

ROOT = Path(__file__).parent.parent
EXAMPLE = str(ROOT / "org")
GPU = "nvidia.com/gpu"
EVERY = [(scheduler, kind) for scheduler, kinds in KINDS.items() for kind in kinds]
ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {main: {scheduler: SCHEDULER, versions: {kubernetes: "1.36"}}}
PRIORITIES
flavors:
  h100: {gpu: H100-SXM-80GB, SIZE, taint: "key:NoSchedule", topology: [cloud.example/rack, kubernetes.io/hostname]}
  l4: {gpu: L4, nodes: 1, node: {gpus: 4, cpu: 42, memory: 164Gi}, daemons: {cpu: 2, memory: 4Gi}}
  cpu: {nodes: 1, node: {cpu: 34, memory: 132Gi}, daemons: {cpu: 2, memory: 4Gi}}
departments:
  lab:
    budget: {h100: 24, l4: 4, cpu: {cpu: 8, memory: 32Gi}}
    UNIT
    teams:
      dev:
        budget: {h100: 16, l4: 4, cpu: {cpu: 4, memory: 16Gi}}
        access: {serviceAccounts: [ci]}
      ops:
        budget: {h100: 8, cpu: {cpu: 4, memory: 16Gi}}
"""
SIZE = "nodes: 3, node: {gpus: 8, cpu: 66, memory: 516Gi}, daemons: {cpu: 2, memory: 4Gi}"
PRIORITIES = """\
priorities:
  production: 1000
  research: {value: 100, preemptible: checkpointed, gracePeriod: 2m}
  scavenger: {value: -100, preemptible: restartable}"""


def organization(folder: Path, scheduler: str = "kueue", *, priorities: str = "", unit: str = "", **more: str) -> str:
    """The path of the organization, with this scheduler in its cluster and `unit` among what the department says."""
    text = ORG.replace("SCHEDULER", scheduler).replace("PRIORITIES", priorities).replace("SIZE", SIZE)
    text = text.replace("    UNIT\n", f"    {unit}\n" if unit else "")
    for before, after in more.items():
        text = text.replace(before, after)
    (folder / "org.yaml").write_text(text, encoding="utf-8")
    return str(folder)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Status, what is printed, and what is told in one line."""
    status = run(["job", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, " ".join(printed.err.split())


def made(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The job that is printed."""
    status, out, err = asked(capsys, *arguments)
    assert status == 0, err
    (item,) = yaml.safe_load_all(out)
    assert isinstance(item, dict)
    return item


def gpus(item: Any, times: int = 1) -> list[int]:
    """What each pod of a job gets, for every pod."""
    if isinstance(item, list):
        return [each for inside in item for each in gpus(inside, times)]
    if not isinstance(item, dict):
        return []
    if "numNodes" in item:
        return [int(item["resourcesPerNode"]["limits"][GPU])] * int(item["numNodes"])
    if "containers" in item:
        (container,) = item["containers"]
        return [int(container["resources"].get("limits", {}).get(GPU, 0))] * times
    times *= next((int(item[key]) for key in ("parallelism", "replicas", "size") if key in item), 1)
    return [each for inside in item.values() for each in gpus(inside, times)]


def templates(item: Any) -> list[dict[str, Any]]:
    """Every pod template inside a job."""
    if isinstance(item, list):
        return [each for inside in item for each in templates(inside)]
    if not isinstance(item, dict):
        return []
    found = [item] if "containers" in item.get("spec", {}) else []
    return found + [each for inside in item.values() for each in templates(inside)]


@pytest.mark.parametrize(("scheduler", "kind"), EVERY)
def test_the_gpus_are_those_of_all_pods(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, kind: str
) -> None:
    """Sixteen are two whole nodes, in the namespace and the queue of the unit; a launcher gets none."""
    item = made(capsys, "lab/dev", organization(tmp_path, scheduler), "--framework", kind, "--gpus", "16")
    assert sorted(gpus(item["spec"])) == [*([0] if (scheduler, kind) == ("kueue", "mpi") else []), 8, 8]
    assert item["metadata"]["namespace"] == "lab-dev"
    assert item["metadata"].get("labels", {}) == (
        {"kueue.x-k8s.io/queue-name": "default"} if scheduler == "kueue" else {}
    )
    assert {spec["serviceAccountName"] for spec in specs(item)} <= {"ci"}


@pytest.mark.parametrize(("scheduler", "kind"), EVERY)
def test_of_one_pod_there_is_one(capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, kind: str) -> None:
    """A leader has nobody beside it, and a launcher starts on one."""
    item = made(capsys, "lab/dev", organization(tmp_path, scheduler), "--framework", kind, "--gpus", "3")
    assert [each for each in gpus(item["spec"]) if each] == [3]


@pytest.mark.parametrize(
    ("options", "pods"),
    [
        ("--gpus 1", [1]),
        ("--gpus 8", [8]),
        ("--gpus 12", [6, 6]),
        ("--gpus 16", [8, 8]),
        ("--gpus 16 --pods 4", [4, 4, 4, 4]),
        ("--gpus 4 --flavor l4", [4]),
        ("--cpu 1 --memory 1Gi --pods 2", [0, 0]),
    ],
)
def test_pods_are_as_few_as_fit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: str, pods: list[int]
) -> None:
    """They are all alike, whole nodes where that is possible, unless their number is said."""
    assert gpus(made(capsys, "lab/dev", organization(tmp_path), *options.split())["spec"]) == pods


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--gpus 13", "for the 2 pods that they take: ask for 8, 12, 14 or 16, or say --pods 13"),
        ("--gpus 16 --pods 3", "16 GPUs are not equal parts for 3 pods: ask for 15 or 18"),
        ("--gpus 1 --pods 2", "ask for 2"),
        ("--gpus 1 --profile 1g.10gb", "has no MIG profile '1g.10gb'"),
        ("--gpus 1 --flavor h10", "did you mean 'h100'?"),
        ("--gpus 1 --cluster mian", "did you mean 'main'?"),
        ("--gpus 1 --priority high", "no priority 'high' in the organization; there is"),
        ("--gpus 1 --name A_b", "of lower-case letters, digits and dashes"),
        (f"--gpus 1 --name {'a' * 41}", "at most 40"),
        ("--pods 2", "say --gpus N, or --cpu and --memory"),
        ("--cpu many", "--cpu:"),
    ],
)
def test_what_makes_no_job_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: str, said: str
) -> None:
    """Status 2, with the nearest that does; nothing on standard output."""
    org = organization(tmp_path, priorities=PRIORITIES)
    status, out, err = asked(capsys, "lab/dev", org, *options.split())
    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--gpus 32", "it asks for more than the queue lab-dev can come to on h100. It says: insufficient quota"),
        ("--gpus 32", "What would do: --gpus 24 --pods 3."),
        ("--gpus 16 --pods 1", "the nodes of h100 have no place for all its pods"),
        ("--gpus 16 --pods 1", "What would do: --pods 2."),
        ("--gpus 8 --pods 2 --flavor l4", "What would do: --flavor h100; --gpus 4 --pods 1."),
        (
            "--gpus 1 --framework vcjob",
            "it is a kind of Volcano, which does not run there. What would do: plain, jobset",
        ),
    ],
)
def test_a_job_that_is_never_admitted_is_not_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: str, said: str
) -> None:
    """Status 1, the reason, and options with which it would be; each of them is tried by this test."""
    org = organization(tmp_path)
    status, out, err = asked(capsys, "lab/dev", org, *options.split())
    assert (status, out) == (1, "")
    assert said in err
    ways = err.partition("What would do: ")[2].rstrip(".").split("; ")
    for way in (each for each in ways if each.startswith("--")):
        assert asked(capsys, "lab/dev", org, *options.split(), *way.split())[0] == 0


def test_a_job_for_whole_nodes_asks_for_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Where the API server refuses parts of a node, the next larger job is named."""
    alone = {next(line for line in ORG.splitlines(keepends=True) if "gpu: L4" in line): "", " l4: 4,": ""}
    org = organization(tmp_path, **{SIZE: f"{SIZE}, wholeNodes: true"}, **alone)
    status, _, err = asked(capsys, "lab/dev", org, "--gpus", "4")
    assert status == 1
    assert "each pod must take all GPUs of a node" in err
    assert "What would do: --gpus 8." in err


def test_a_department_runs_no_job(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It has no queue; the units inside are named."""
    status, out, err = asked(capsys, "lab", organization(tmp_path), "--gpus", "1")
    assert (status, out) == (1, "")
    assert "Ask: lab/dev, lab/ops." in err


def test_a_stopped_unit_runs_no_job(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its jobs would wait for as long as it is held."""
    status, out, err = asked(capsys, "lab/dev", organization(tmp_path, unit="state: held"), "--gpus", "1")
    assert (status, out) == (1, "")
    assert "the queue lab-dev is held" in err


@pytest.mark.parametrize("scheduler", ["kueue", "volcano", "native"])
@pytest.mark.parametrize("kind", ["jax", "trainjob", "leaderworkerset", "jobset"])
def test_kinds_that_reach_no_queue_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, kind: str
) -> None:
    """With the kinds that do; whatever is offered is written."""
    org = organization(tmp_path, scheduler)
    status, out, err = asked(capsys, "lab/dev", org, "--gpus", "8", "--framework", kind)
    assert (status == 0) is (kind in KINDS[scheduler])
    if status:
        assert (status, out) == (1, "")
        assert f"What would do: {', '.join(KINDS[scheduler])}." in err


@pytest.mark.parametrize("size", [99_991, 1_000_000])
def test_a_size_that_nobody_has_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, size: int
) -> None:
    """What would do is looked for among the sizes that there are nodes for."""
    status, out, err = asked(capsys, "lab/dev", organization(tmp_path), "--gpus", str(size), "--flavor", "h100")
    assert (status, out) in ((1, ""), (2, ""))
    assert "What would do: --gpus 24 --pods 3" in err or "are not equal parts" in err


@pytest.mark.parametrize("size", ["0", "-1", "1000001", "99999999999999999999999"])
def test_no_job_has_so_many_gpus(capsys: pytest.CaptureFixture[str], tmp_path: Path, size: str) -> None:
    """A number that is no size is a mistake in the command line."""
    status, out, err = asked(capsys, "lab/dev", organization(tmp_path), "--gpus", size)
    assert (status, out) == (2, "")
    assert f"{int(size)} is not in the range 1<=x<=1000000" in err


@pytest.mark.parametrize(("amount", "pods"), [("0", 1), ("16", 2)])
def test_fewer_pods_without_gpus_are_a_number(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, amount: str, pods: int
) -> None:
    """What would do is said as options, also of pods that ask for nothing at all."""
    org = organization(tmp_path, unit="topology: required host")
    status, _, err = asked(capsys, "lab/dev", org, "--cpu", amount, "--memory", "0", "--pods", "3")
    assert status == 1
    assert err.endswith(f"What would do: --pods {pods}.")


def test_nodes_beyond_the_reach_of_a_unit_are_not_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without a batch scheduler work without GPUs may come to them, unless it selects them: the guard of places refuses
    that."""
    text = {", cpu: {cpu: 4, memory: 16Gi}": "", ", cpu: {cpu: 8, memory: 32Gi}": ""}
    org = organization(tmp_path, "native", unit="policy: {borrowing: none}", **text)
    item = made(capsys, "lab/ops", org, "--cpu", "1", "--memory", "1Gi")
    assert "nodeSelector" not in item["spec"]["template"]["spec"]
    status, out, err = asked(capsys, "lab/ops", org, "--cpu", "1", "--memory", "1Gi", "--flavor", "cpu")
    assert (status, out) == (1, "")
    assert "no node of cpu is for the unit" in err
    assert "What would do: --flavor h100" in err


# Gangs and their places.


@pytest.mark.parametrize("kind", sorted(KINDS["kueue"]))
def test_all_pods_of_a_gang_come_to_one_place(capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str) -> None:
    """Two pod sets are one group and say the topology themselves, since each alone would be given a place of its own;
    so does a TrainJob, which has no templates. All others are given it by the API server."""
    org = organization(tmp_path, unit="topology: required rack")
    item = made(capsys, "lab/dev", org, "--framework", kind, "--gpus", "16")
    text = yaml.safe_dump(item)
    apart = (kind in LEADERS and kind != "mpi") or kind == "trainjob"
    assert text.count("kueue.x-k8s.io/podset-required-topology: cloud.example/rack") == (
        0 if not apart else 1 if kind == "trainjob" else 2
    )
    assert text.count("kueue.x-k8s.io/podset-group-name: job") == (2 if apart and kind != "trainjob" else 0)


def test_pods_that_no_node_holds_together_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Of a rack the organization does not say how large it is; of a node it does."""
    org = organization(tmp_path, unit="topology: required host")
    status, out, err = asked(capsys, "lab/dev", org, "--gpus", "16")
    assert (status, out) == (1, "")
    assert "a node of h100 has place for 1 of its pods" in err
    assert made(capsys, "lab/dev", org, "--gpus", "8", "--pods", "2")["spec"]["parallelism"] == 2


@pytest.mark.parametrize("kind", ["vcjob", "pytorch", "tensorflow", "mpi", "ray"])
def test_jobs_of_volcano_are_gangs_of_all_pods(capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str) -> None:
    """All or none start, whatever their tasks are; all start again when one is evicted, and end when one fails."""
    spec = made(capsys, "lab/dev", organization(tmp_path, "volcano"), "--framework", kind, "--gpus", "24")["spec"]
    assert (spec["minAvailable"], spec["queue"], spec["maxRetry"]) == (3, "lab-dev-h100", 1000)
    assert sum(task["minAvailable"] for task in spec["tasks"]) == 3
    assert all(task["minAvailable"] == task["replicas"] for task in spec["tasks"])
    failed = {"exitCode": 1, "action": "TerminateJob"}
    assert spec["policies"] == [{"event": "PodEvicted", "action": "RestartJob"}, failed]
    assert [*spec.get("plugins", {})] == {
        "vcjob": [],
        "pytorch": ["pytorch", "svc"],
        "tensorflow": ["tensorflow", "svc"],
        "mpi": ["mpi", "ssh", "svc"],
        "ray": ["ray", "svc"],
    }[kind]


@pytest.mark.parametrize(("kind", "leader"), [("mpi", "master"), ("ray", "head")])
def test_workers_that_wait_for_ever_end_with_their_leader(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str, leader: str
) -> None:
    """The daemons of MPI and Ray do not end, so the job does when its program has."""
    spec = made(capsys, "lab/dev", organization(tmp_path, "volcano"), "--framework", kind, "--gpus", "16")["spec"]
    ends = {task["name"]: task.get("policies") for task in spec["tasks"]}
    assert ends == {leader: [{"event": "TaskCompleted", "action": "CompleteJob"}], "worker": None}


def test_a_job_set_of_volcano_says_its_gang_where_its_jobs_get_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its controller copies the annotations of the template to the Job, which is what Volcano reads."""
    item = made(capsys, "lab/dev", organization(tmp_path, "volcano"), "--framework", "jobset", "--gpus", "16")
    (job,) = item["spec"]["replicatedJobs"]
    assert job["template"]["metadata"]["annotations"] == {"scheduling.volcano.sh/group-min-member": "2"}


# What frameworks need.


@pytest.mark.parametrize(("options", "processes"), [("--gpus 16", 8), ("--gpus 4 --pods 2", 2), ("--cpu 1", 1)])
def test_each_gpu_has_a_process(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: str, processes: int
) -> None:
    """What starts the processes of a pod is told how many."""
    org = organization(tmp_path)
    spec = {
        kind: made(capsys, "lab/dev", org, *options.split(), "--framework", kind)["spec"]
        for kind in ("pytorch", "mpi", "trainjob")
    }
    assert spec["pytorch"]["nprocPerNode"] == str(processes)
    assert spec["mpi"]["slotsPerWorker"] == processes
    assert spec["trainjob"]["trainer"]["numProcPerNode"] == processes


def test_a_flavor_of_slices_is_asked_by_profile(capsys: pytest.CaptureFixture[str]) -> None:
    """Who asks for GPUs of nodes that have only slices of them is told which."""
    for profile in ((), ("--profile", "7g.80gb")):
        status, out, err = asked(capsys, "platform/ci", EXAMPLE, "--gpus", "1", "--flavor", "a100-mig", *profile)
        assert (status, out) == (2, "")
        assert "to ask for: --profile 1g.10gb or --profile 2g.20gb or --profile 3g.40gb" in err


def test_a_slice_has_one_process(capsys: pytest.CaptureFixture[str]) -> None:
    """One process cannot use two slices, and two processes would use one."""
    options = ("--gpus", "2", "--profile", "1g.10gb", "--framework", "pytorch")
    assert made(capsys, "research/notebooks", EXAMPLE, *options)["spec"]["nprocPerNode"] == "1"


def test_a_launcher_takes_no_gpu_where_other_nodes_take_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It has the default requests of its namespace and no toleration, so it goes to the flavor without GPUs."""
    spec = made(capsys, "lab/dev", organization(tmp_path), "--framework", "mpi", "--gpus", "16")["spec"]
    launcher = spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    assert launcher["containers"][0]["resources"] == {"requests": {"cpu": "1", "memory": "4Gi"}}
    assert "tolerations" not in launcher
    assert "runLauncherAsWorker" not in spec


def test_a_launcher_is_a_worker_where_none_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """On nodes with GPUs it would take cpu that follows the GPUs of others, and be refused by the fence."""
    text = {", cpu: {cpu: 4, memory: 16Gi}": "", ", cpu: {cpu: 8, memory: 32Gi}": ""}
    spec = made(capsys, "lab/dev", organization(tmp_path, **text), "--framework", "mpi", "--gpus", "16")["spec"]
    assert spec["runLauncherAsWorker"] is True
    assert {name: each["replicas"] for name, each in spec["mpiReplicaSpecs"].items()} == {"Launcher": 1, "Worker": 1}


def test_a_restricted_namespace_gets_what_it_asks_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every pod and container says what the level wants, launchers too."""
    org = organization(tmp_path, unit="podSecurity: {level: restricted}")
    for spec in specs(made(capsys, "lab/dev", org, "--framework", "mpi", "--gpus", "8")):
        assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        assert spec["containers"][0]["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }


# Priorities, and what an interruption takes.


@pytest.mark.parametrize(
    ("scheduler", "kind"), [each for each in EVERY if each[0] != "native" and each[1] != "trainjob"]
)
def test_what_borrows_may_be_interrupted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, kind: str
) -> None:
    """The default is a preemptible priority, and where it is checkpointed every template says where and how long."""
    org = organization(tmp_path, scheduler, priorities=PRIORITIES)
    options = ("--framework", kind, "--gpus", "16", "--checkpoint", "s3://bucket/run")
    item = made(capsys, "lab/dev", org, *options)
    text = yaml.safe_dump(item)
    assert "priority-class: research" in text or "priorityClassName: research" in text
    found = templates(item)
    assert found
    for template in found:
        assert template["metadata"]["annotations"]["tenancy.internal/checkpoint"] == "s3://bucket/run"
        assert template["spec"]["terminationGracePeriodSeconds"] == 120


def test_a_train_job_leaves_the_grace_period_to_its_runtime(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Where its state is saved it says itself, and the comment what the runtime must say."""
    org = organization(tmp_path, priorities=PRIORITIES)
    _, out, _ = asked(capsys, "lab/dev", org, "--gpus", "8", "--framework", "trainjob", "--checkpoint", "pvc:state")
    assert "# Its runtime must say terminationGracePeriodSeconds: 120, or more" in out
    assert yaml.safe_load(out)["metadata"]["annotations"] == {"tenancy.internal/checkpoint": "pvc:state"}


def test_where_the_state_is_saved_is_for_a_person_to_say(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The place is marked, and the comment says what for."""
    org = organization(tmp_path, priorities=PRIORITIES)
    _, out, _ = asked(capsys, "lab/dev", org, "--gpus", "16")
    assert "tenancy.internal/checkpoint: WHERE # it saves its state, such as s3://bucket/run" in out
    assert "# SIGTERM comes first: save the state and exit" in out
    assert "priority-class: research # or scavenger" in out


@pytest.mark.parametrize(
    ("unit", "options", "priority"),
    [
        ("", "--gpus 8 --priority scavenger", "scavenger"),
        ("", "--cpu 1 --memory 1Gi", "research"),
        ("policy: {borrowing: none}", "--gpus 8 --priority production", "production"),
        ("priorities: [production, scavenger]", "--gpus 8", "scavenger"),
        ("priorities: [production, scavenger]", "--cpu 1 --memory 1Gi", "production"),
    ],
)
def test_a_restartable_job_says_nothing_of_its_state(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, unit: str, options: str, priority: str
) -> None:
    """Nor does one that is not interrupted; what is checkpointed does, even where nothing asks for it."""
    org = organization(tmp_path, priorities=PRIORITIES, unit=unit)
    item = made(capsys, "lab/dev", org, *options.split())
    assert item["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == priority
    (template,) = templates(item)
    assert ("terminationGracePeriodSeconds" in template["spec"]) is (priority == "research")


@pytest.mark.parametrize(
    ("unit", "options", "said"),
    [
        ("", "--gpus 8 --priority production", "What would do: --priority research; --priority scavenger; `borrowing:"),
        (
            "priorities: [production]",
            "--gpus 8",
            "every priority of the unit is for work that should not be interrupted",
        ),
        ("priorities: []", "--gpus 8", "the unit has no priority that says how its jobs are interrupted"),
        ("priorities: [production]", "--gpus 8 --priority research", "priority research is not one of the unit's"),
    ],
)
def test_a_priority_that_the_cluster_refuses_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, unit: str, options: str, said: str
) -> None:
    """Status 1, with the priorities that would do and the way out in the organization."""
    org = organization(tmp_path, priorities=PRIORITIES, unit=unit)
    status, out, err = asked(capsys, "lab/dev", org, *options.split())
    assert (status, out) == (1, "")
    assert said in err


def test_a_guard_that_only_warns_refuses_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The job is written as it was asked for."""
    weak = {"scheduler: kueue": "scheduler: kueue, guards: {interruption: warn, priorities: warn}"}
    org = organization(tmp_path, priorities=PRIORITIES, unit="priorities: [scavenger]", **weak)
    item = made(capsys, "lab/dev", org, "--gpus", "8", "--priority", "production")
    assert item["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "production"


# What is told.


def test_a_person_may_say_the_rest(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A name in place of one that is generated, and the image."""
    item = made(capsys, "lab/dev", organization(tmp_path), "--gpus", "8", "--name", "run-1", "--image", "r.example/a:1")
    assert item["metadata"]["name"] == "run-1"
    assert "generateName" not in item["metadata"]
    assert specs(item)[0]["containers"][0]["image"] == "r.example/a:1"


@pytest.mark.parametrize(
    ("scheduler", "options", "comment"),
    [
        ("kueue", "--gpus 24", "# It borrows: the owners of what it runs on may take that back."),
        ("kueue", "--gpus 8 --framework ray", "# The cluster must have KubeRay."),
        ("kueue", "--gpus 16", "# All its pods start within one cloud.example/rack; where none is large enough"),
        ("volcano", "--gpus 16", "# Its pods may start in several cloud.example/rack: Volcano reads a topology"),
        ("volcano", "--gpus 8 --name a", "# Take the name once: Volcano may ignore a job for ever"),
        ("native", "--gpus 16", "# Nothing starts its pods together"),
    ],
)
def test_what_is_to_be_known_stands_above(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, options: str, comment: str
) -> None:
    """As comments, so that it goes with the file."""
    unit = "topology: required rack" if scheduler != "native" else ""
    _, out, _ = asked(capsys, "lab/dev", organization(tmp_path, scheduler, unit=unit), *options.split())
    assert comment in out[: out.index("apiVersion")]


def test_what_becomes_of_it_is_told_beside(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """On standard error, so that the job alone goes into a file."""
    _, _, err = asked(capsys, "lab/dev", organization(tmp_path), "--gpus", "16")
    assert "it runs on h100 from the quota" in err
    assert "While it waits: insufficient unused quota for nvidia.com/gpu in flavor h100" in err


def test_of_two_clusters_one_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    """By its name, or by one of its flavors."""
    org = ROOT / "tests" / "cases" / "two-clusters" / "org"
    text = yaml.safe_load((org / "org.yaml").read_text(encoding="utf-8"))
    status, _, err = asked(capsys, text["name"], str(org), "--gpus", "1")
    assert status == 2
    assert "is in 2 clusters: choose one by --flavor or --cluster" in err
    status, _, err = asked(capsys, text["name"], str(org), "--gpus", "1", "--cluster", next(iter(text["clusters"])))
    assert "clusters: choose" not in err


def test_an_organization_with_errors_is_not_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """They are shown instead."""
    status, out, err = asked(capsys, "lab/dev", organization(tmp_path, **{"l4: 4": "l4: 5"}), "--gpus", "1")
    assert (status, out) == (1, "")
    assert "error[" in err


def test_the_documentation_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command of docs/jobs.md, on the example."""
    found = _steps((ROOT / "docs" / "jobs.md").read_text(encoding="utf-8"))
    assert len(found) > 1
    for command, shown in found:
        words = command.removesuffix(" 2>/dev/null").removeprefix("tenancy job ").split()
        run(["job", words[0], EXAMPLE, *words[1:]])
        printed = capsys.readouterr()
        text = (printed.out if command.endswith("null") else printed.err + printed.out).rstrip("\n")
        parts = "\n".join(shown).rstrip("\n").split(f"\n{ELLIPSIS}\n")
        assert re.fullmatch(r"\n(?:.*\n)*?".join(map(re.escape, parts)), text), f"$ {command}\n{text}"
