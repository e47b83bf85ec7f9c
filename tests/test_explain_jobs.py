"""`tenancy explain --job`: a job that lands in a unit, or why there is none."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tenancy.backend.job_kinds import ALIASES, KINDS, LEADERS
from tenancy.cli import main, run
from tenancy.resources import data_path

ROOT = Path(__file__).parent.parent
EXAMPLE = str(ROOT / "org")
NODE = "nodes: 2, node: {gpus: 8, cpu: 66, memory: 516Gi}"
ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {main: {scheduler: SCHEDULER, versions: {kubernetes: "1.35"}}}
PRIORITIES
flavors:
  h100: {gpu: H100-SXM-80GB, NODE, taint: "key:NoSchedule", topology: [cloud.example/rack, kubernetes.io/hostname]}
  cpu: {nodes: 1, node: {cpu: 34, memory: 132Gi}}
departments:
  lab:
    budget: {h100: 16, cpu: {cpu: 8, memory: 32Gi}}
    topology: required rack
    teams:
      dev: {budget: {h100: 16, cpu: {cpu: 8, memory: 32Gi}}, access: {serviceAccounts: [ci, runner]}}
"""


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = run(["explain", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def made(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    status, out, _ = asked(capsys, *arguments)
    assert status == 0
    return [item for item in yaml.safe_load_all(out) if item is not None]


def organization(folder: Path, scheduler: str, priorities: str = "") -> str:
    """The path of the organization, with this scheduler in its cluster."""
    text = ORG.replace("SCHEDULER", scheduler).replace("PRIORITIES", priorities).replace("NODE", NODE)
    (folder / "org.yaml").write_text(text, encoding="utf-8")
    return str(folder)


def specs(item: Any) -> list[dict[str, Any]]:
    """Every pod spec inside an object."""
    if isinstance(item, list):
        return [spec for each in item for spec in specs(each)]
    if not isinstance(item, dict):
        return []
    found = [item] if "containers" in item else []
    return found + [spec for each in item.values() for spec in specs(each)]


def test_every_kind_is_an_option_and_a_document() -> None:
    """The command line, the registry and the folder of documents name the same kinds."""
    (option,) = [each for each in main.commands["explain"].params if each.name == "kind"]
    (other,) = [each for each in main.commands["job"].params if each.name == "kind"]
    assert option.type is other.type
    assert isinstance(option.type, click.Choice)
    assert set(option.type.choices) == {kind for kinds in KINDS.values() for kind in kinds} | ALIASES.keys()
    documents = {path.name.removesuffix(".yaml.j2") for path in (data_path("templates") / "jobs").glob("*.yaml.j2")}
    assert documents == {name for kinds in KINDS.values() for name in kinds.values()} | {"parts", "volcano-parts"}


@pytest.mark.parametrize(
    ("scheduler", "kind"), [(name, kind) for name, kinds in KINDS.items() for kind in kinds if kind != "trainjob"]
)
def test_a_job_is_complete_but_for_image_and_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, kind: str
) -> None:
    """Namespace, account, requests that follow, limits of GPUs alone, and the toleration of the fence, in every pod."""
    org = organization(tmp_path, scheduler)
    (item,) = made(capsys, "lab/dev", org, "--gpus", "4", "--pods", "2", "--job", kind)
    assert item["metadata"]["namespace"] == "lab-dev"
    assert item["metadata"]["generateName"] == "lab-dev-"
    found = [spec for spec in specs(item) if "limits" in spec["containers"][0]["resources"]]
    assert len(found) == (2 if (kind in LEADERS and kind != "mpi") or (scheduler, kind) == ("volcano", "mpi") else 1)
    for spec in found:
        (container,) = spec["containers"]
        assert container["image"] == "IMAGE"
        assert container["resources"] == {
            "limits": {"nvidia.com/gpu": "4"},
            "requests": {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "4"},
        }
        assert spec["serviceAccountName"] == "ci"
        assert spec["tolerations"] == [{"key": "key", "operator": "Exists", "effect": "NoSchedule"}]


def test_what_a_person_fills_in_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    """Comments stand only there, and where there is a choice."""
    _, out, _ = asked(capsys, "research/vision", EXAMPLE, "--gpus", "8", "--job", "batch")
    assert re.findall(r"(\S+:) (\S+) # (.*)", out) == [
        ("namespace:", "research-vision-demo", "or research-vision-train"),
        ("kueue.x-k8s.io/priority-class:", "research", "or production, scavenger"),
        ("image:", "IMAGE", "of your program"),
        ("command:", "[COMMAND]", "and its arguments"),
    ]


@pytest.mark.parametrize(("pods", "asks"), [("1", False), ("2", True)])
def test_a_gang_asks_for_the_topology_that_nothing_gives(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, pods: str, asks: bool
) -> None:
    """Before Kubernetes 1.36 it is written, under Kueue and in Volcano's own jobs; one pod needs none."""
    common = ("--gpus", "8", "--pods", pods, "--job")
    (job,) = made(capsys, "lab/dev", organization(tmp_path, "kueue"), *common, "batch")
    annotations = job["spec"]["template"].get("metadata", {}).get("annotations", {})
    assert annotations == ({"kueue.x-k8s.io/podset-required-topology": "cloud.example/rack"} if asks else {})
    (job,) = made(capsys, "lab/dev", organization(tmp_path, "volcano"), *common, "vcjob")
    assert ("networkTopology" in job["spec"]) is asks


def test_the_api_server_of_today_gives_the_topology(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """From Kubernetes 1.36 on nothing is written, so that a change of the unit reaches its jobs."""
    path = organization(tmp_path, "kueue")
    (tmp_path / "org.yaml").write_text((tmp_path / "org.yaml").read_text().replace("1.35", "1.36"), encoding="utf-8")
    _, out, _ = asked(capsys, "lab/dev", path, "--gpus", "8", "--pods", "2", "--job", "batch")
    assert "topology" not in out


def test_a_job_of_volcano_says_what_its_scheduler_needs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """All or none of its pods, restarted as a whole as often as it takes, in the queue of the flavor."""
    org = organization(tmp_path, "volcano", "priorities: {high: 10, low: -10}")
    (job,) = made(capsys, "lab/dev", org, "--gpus", "8", "--pods", "2", "--job", "vcjob")
    spec = job["spec"]
    assert (spec["minAvailable"], spec["maxRetry"], spec["queue"]) == (2, 1000, "lab-dev-h100")
    failed = {"exitCode": 1, "action": "TerminateJob"}
    assert spec["policies"] == [{"event": "PodEvicted", "action": "RestartJob"}, failed]
    assert spec["priorityClassName"] == "high"
    (task,) = spec["tasks"]
    assert (task["replicas"], task["minAvailable"]) == (2, 2)
    assert (task["template"]["spec"]["schedulerName"], task["template"]["spec"]["priorityClassName"]) == (
        "volcano",
        "high",
    )


def test_pods_of_a_job_of_volcano_start_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A Job of Kubernetes says so in an annotation of its own, and its pods name the queue."""
    org = organization(tmp_path, "volcano")
    (job,) = made(capsys, "lab/dev", org, "--gpus", "8", "--pods", "2", "--job", "batch")
    assert job["metadata"]["annotations"] == {"scheduling.volcano.sh/group-min-member": "2"}
    template = job["spec"]["template"]
    assert template["metadata"]["annotations"] == {"scheduling.volcano.sh/queue-name": "lab-dev-h100"}


def test_a_flavor_that_is_chosen_is_selected(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """By its labels under Kueue; without a scheduler always, since nothing else ties pods to it."""
    selector = {"tenancy.internal/flavor": "h100"}
    common = ("--gpus", "8", "--job", "batch")
    (job,) = made(capsys, "lab/dev", organization(tmp_path, "kueue"), *common)
    assert "nodeSelector" not in job["spec"]["template"]["spec"]
    (job,) = made(capsys, "lab/dev", organization(tmp_path, "kueue"), *common, "--flavor", "h100")
    assert job["spec"]["template"]["spec"]["nodeSelector"] == selector
    (job,) = made(capsys, "lab/dev", organization(tmp_path, "native"), *common)
    assert job["spec"]["template"]["spec"]["nodeSelector"] == selector


def test_slices_are_asked_for_by_their_name(capsys: pytest.CaptureFixture[str]) -> None:
    """With what follows their share of the memory."""
    (job,) = made(capsys, "research/notebooks", EXAMPLE, "--profile", "1g.10gb", "--job", "batch")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/mig-1g.10gb": "1"}
    assert container["resources"]["requests"]["cpu"] == "1968m"


def test_gpus_that_are_claimed_come_with_their_template(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The class and the number stand in a template beside the job, and no resource of a device plugin is asked for."""
    path = organization(tmp_path, "kueue")
    text = (tmp_path / "org.yaml").read_text().replace("taint:", "allocation: dra, taint:").replace("1.35", "1.36")
    (tmp_path / "org.yaml").write_text(text.replace("    topology: required rack\n", ""), encoding="utf-8")
    claim, job = (
        item
        for item in yaml.safe_load_all(
            asked(capsys, "lab/dev", path, "--gpus", "2", "--pods", "3", "--job", "batch")[1]
        )
    )
    assert (claim["kind"], claim["metadata"]) == (
        "ResourceClaimTemplate",
        {"name": "h100-sxm-80gb-2", "namespace": "lab-dev"},
    )
    (request,) = claim["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"] == {
        "allocationMode": "ExactCount",
        "count": 2,
        "deviceClassName": "h100-sxm-80gb.tenancy.internal",
    }
    spec = job["spec"]["template"]["spec"]
    assert spec["resourceClaims"] == [{"name": "gpu", "resourceClaimTemplateName": "h100-sxm-80gb-2"}]
    (container,) = spec["containers"]
    assert container["resources"] == {"claims": [{"name": "gpu"}], "requests": {"cpu": "16", "memory": "128Gi"}}
    _, out, _ = asked(capsys, "lab/dev", path)
    assert "names the class (h100-sxm-80gb.tenancy.internal for gpus)" in " ".join(out.split())


@pytest.mark.parametrize(
    ("unit", "job", "said"),
    [
        ("research/vision", ["--gpus", "8", "--pods", "6"], "it NEVER runs: it asks for more than the queue"),
        ("research", ["--gpus", "8"], "It has no queue, so it runs no job itself. Ask:"),
    ],
)
def test_of_a_job_that_never_runs_nothing_is_written(
    capsys: pytest.CaptureFixture[str], unit: str, job: list[str], said: str
) -> None:
    """The reason goes to stderr, and the status is 1."""
    status, out, err = asked(capsys, unit, EXAMPLE, *job, "--job", "batch")
    assert (status, out) == (1, "")
    assert said in " ".join(err.split())


@pytest.mark.parametrize(("old", "kind"), ALIASES.items())
def test_a_kind_keeps_its_old_name(capsys: pytest.CaptureFixture[str], tmp_path: Path, old: str, kind: str) -> None:
    """What was written for the old name is written for both."""
    org = organization(tmp_path, "kueue")
    (before, now) = (asked(capsys, "lab/dev", org, "--gpus", "4", "--job", name) for name in (old, kind))
    assert before == now
    assert now[0] == 0


def test_a_kind_that_the_scheduler_does_not_hold_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason goes to stderr, with the kinds that are."""
    status, out, err = asked(capsys, "research/vision", EXAMPLE, "--gpus", "1", "--job", "vcjob")
    assert (status, out) == (1, "")
    assert "it is a kind of Volcano, which does not run there. What would do: plain, jobset" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--job", "batch"], "say --gpus N"),
        (["--gpus", "1", "--job", "batch", "--format", "json"], "and no --format"),
        (["--gpus", "1", "--job", "spark"], "'spark' is not one of"),
    ],
)
def test_a_job_that_cannot_be_written_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """Status 2, and nothing on stdout."""
    status, out, err = asked(capsys, "research/vision", EXAMPLE, *arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_of_two_clusters_one_is_chosen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A job runs in one; the flavor says in which."""
    org = tmp_path / "org"
    shutil.copytree(ROOT / "tests" / "cases" / "two-clusters" / "org", org)
    text = (org / "org.yaml").read_text(encoding="utf-8")
    flavors = list(yaml.safe_load(text)["flavors"])
    status, _, err = asked(capsys, yaml.safe_load(text)["name"], str(org), "--gpus", "1", "--job", "batch")
    assert status == 2
    assert "is in 2 clusters: choose one by --flavor" in err
    status, _, err = asked(
        capsys, yaml.safe_load(text)["name"], str(org), "--gpus", "1", "--job", "batch", "--flavor", flavors[0]
    )
    assert "clusters" not in err
