"""`tenancy explain` as a user meets it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tenancy.cli import run

ROOT = Path(__file__).parent.parent
ORG = str(ROOT / "org")
CASES = ROOT / "tests" / "cases"


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = run(["explain", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def job(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    status, out, _ = explained(capsys, *arguments, "--format", "json")
    assert status == 0
    (cluster,) = json.loads(out)["clusters"]
    found: dict[str, object] = cluster["job"]
    return found


def test_the_page_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, golden: bool
) -> None:
    """The examples of docs/explain.md are the output of their commands on the example organization."""
    monkeypatch.chdir(ROOT)
    file = ROOT / "docs" / "explain.md"
    page = file.read_text(encoding="utf-8")

    def printed(block: re.Match[str]) -> str:
        status, out, err = explained(capsys, *shlex.split(block[1]))
        assert (status, err) == (0, "")
        return f"```console\n$ tenancy explain {block[1]}\n{out}```"

    made, blocks = re.subn(r"^```console\n\$ tenancy explain (.*?)\n.*?^```$", printed, page, flags=re.M | re.S)
    assert blocks == 3
    if golden:
        file.write_text(made, encoding="utf-8")
    assert page == made or golden


@pytest.mark.parametrize(
    ("arguments", "outcome", "cause"),
    [
        (["research/vision", "--gpus", "8"], "reserved", ""),
        (["research-vision", "--gpus", "8", "--pods", "3"], "quota", ""),
        (["research/vision/train", "--gpus", "8", "--pods", "5"], "borrows", ""),
        (["research/language/pretraining", "--gpus", "24", "--flavor", "h100"], "never", "topology"),
        (["research/language/evaluation", "--gpus", "8"], "quota", ""),
        (["research/notebooks", "--profile", "1g.10gb"], "quota", ""),
        (["research/vision", "--cpu", "2", "--memory", "4Gi", "--flavor", "h100"], "never", "taint"),
        (["platform/ci", "--cpu", "2"], "quota", ""),
        (["platform/ci", "--gpus", "9", "--cpu", "1", "--memory", "1Gi"], "never", "capacity"),
    ],
)
def test_jobs(capsys: pytest.CaptureFixture[str], arguments: list[str], outcome: str, cause: str) -> None:
    """Units by path, queue or project, and jobs of GPUs, slices or cpu, come to their verdict."""
    found = job(capsys, arguments[0], ORG, *arguments[1:])
    assert (found["outcome"], found["cause"]) == (outcome, cause)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["research/vison"], "did you mean 'research/vision'?"),
        (["research/vision", "--flavor", "h10"], "did you mean 'h100'?"),
        (["research/vision", "--gpus", "1", "--flavor", "cpu"], "flavor 'cpu' has no GPUs"),
        (["research/vision", "--profile", "7g.80gb"], "MIG profile '7g.80gb'"),
        (["research/vision", "--cpu", "many"], "--cpu: "),
        (["research/vision", "--pods", "2"], "--pods needs a job"),
    ],
)
def test_what_does_not_exist_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """Status 2, with the nearest name where there is one, and nothing on stdout."""
    status, out, err = explained(capsys, arguments[0], ORG, *arguments[1:])
    assert (status, out) == (2, "")
    assert said in err


def test_an_organization_with_errors_is_not_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its findings are shown instead, as `diff` does."""
    org = tmp_path / "org"
    shutil.copytree(CASES / "smallest" / "org", org)
    (org / "org.yaml").write_text((org / "org.yaml").read_text().replace("l4: 8", "l4: 9"))
    status, out, err = explained(capsys, "research", str(org))
    assert (status, out) == (1, "")
    assert "org.yaml:" in err


@pytest.mark.parametrize("unit", ["acme", "research", "research/language"])
def test_a_unit_that_holds_others_has_numbers_and_no_verdict(capsys: pytest.CaptureFixture[str], unit: str) -> None:
    """It has no queue; the units inside that have one are named."""
    status, out, _ = explained(capsys, unit, ORG, "--gpus", "8")
    assert status == 0
    assert "h100" in out
    assert "research/language/pretraining" in out[out.index("It has no queue") :]


def test_a_unit_in_two_clusters_is_explained_in_each(capsys: pytest.CaptureFixture[str]) -> None:
    """A flavor narrows it to the cluster that has it."""
    org = str(CASES / "two-clusters" / "org")
    _, out, _ = explained(capsys, "acme", org, "--format", "json")
    both = json.loads(out)["clusters"]
    assert len({each["cluster"] for each in both}) == 2
    flavor = both[1]["promises"][0]["flavor"]
    _, out, _ = explained(capsys, "acme", org, "--flavor", flavor, "--format", "json")
    assert [each["cluster"] for each in json.loads(out)["clusters"]] == [both[1]["cluster"]]


def test_lenders_lie_where_limits_lead(capsys: pytest.CaptureFixture[str]) -> None:
    """Under `borrowing: department` pools and lenders are those of the department; under `none` there are none."""
    _, out, _ = explained(capsys, "research/notebooks", ORG, "--flavor", "a100-mig", "--format", "json")
    slices = next(each for each in json.loads(out)["clusters"][0]["loans"] if each["resource"].endswith("1g.10gb"))
    assert {each["unit"] for each in slices["lenders"]} == {"research/language"}
    _, out, _ = explained(capsys, "product/ads/ranking", ORG, "--flavor", "h100", "--format", "json")
    (gpus,) = json.loads(out)["clusters"][0]["loans"]
    assert (gpus["pools"], gpus["lenders"]) == ([], [])


@pytest.fixture
def scheduled(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The example organization with another scheduler, whose losses nobody has accepted."""
    shutil.copytree(ROOT / "org", tmp_path / "org")
    path = tmp_path / "org" / "org.yaml"
    text = path.read_text(encoding="utf-8").replace("scheduler: kueue", f"scheduler: {request.param}")
    path.write_text(text.replace(', kueue: "0.19"', ""), encoding="utf-8")
    return str(tmp_path / "org")


@pytest.mark.parametrize("scheduled", ["native"], indirect=True)
def test_without_a_scheduler_the_quota_is_all_there_is(capsys: pytest.CaptureFixture[str], scheduled: str) -> None:
    """Nothing beyond it is reachable, no loan is told, and each namespace has a part of its own."""
    status, out, err = explained(capsys, "research/vision", scheduled, "--flavor", "h100", "--format", "json")
    assert status == 0
    assert "error" not in err
    (cluster,) = json.loads(out)["clusters"]
    gpus = next(each for each in cluster["promises"] if each["resource"] == "nvidia.com/gpu")
    assert (gpus["quota"], gpus["limit"], gpus["reachable"]) == ("24", "40", "24")
    assert (cluster["scheduler"], cluster["loans"], cluster["queues"], cluster["sharing"]) == (
        "native",
        [],
        [],
        "first-come",
    )
    assert {name: part["nvidia.com/gpu"] for name, part in cluster["parts"].items()} == {
        "research-vision-demo": "12",
        "research-vision-train": "12",
    }


@pytest.mark.parametrize("scheduled", ["native"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "outcome", "cause"),
    [
        (["research/vision", "--gpus", "4", "--pods", "3"], "quota", ""),
        (["research/vision", "--gpus", "8", "--pods", "2"], "never", "part"),
        (["research/vision/train", "--gpus", "13"], "never", "capacity"),
        (["research/vision", "--cpu", "2", "--flavor", "h100"], "never", "taint"),
        (["platform/ci", "--gpus", "1"], "never", "capacity"),
    ],
)
def test_jobs_without_a_scheduler(
    capsys: pytest.CaptureFixture[str], scheduled: str, arguments: list[str], outcome: str, cause: str
) -> None:
    """They run from the quota of their namespace, or the API server refuses them."""
    found = job(capsys, arguments[0], scheduled, *arguments[1:])
    assert (found["outcome"], found["cause"]) == (outcome, cause)


@pytest.mark.parametrize("scheduled", ["volcano"], indirect=True)
def test_volcano_has_a_queue_for_each_flavor(capsys: pytest.CaptureFixture[str], scheduled: str) -> None:
    """They are named for the unit, and for a job the one that it must name."""
    _, out, _ = explained(capsys, "research/vision", scheduled, "--gpus", "8", "--pods", "5")
    queues = [f"research-vision-{flavor}" for flavor in ("a100-mig", "cpu", "h100")]
    assert f"queues {', '.join(queues)}" in out
    assert "it runs on h100 by borrowing" in " ".join(out.split())
    assert "It must name the queue research-vision-h100." in out
    assert "sharing: weighted" not in out


@pytest.mark.parametrize("scheduled", ["volcano", "native"], indirect=True)
def test_no_other_scheduler_speaks_as_kueue_does(capsys: pytest.CaptureFixture[str], scheduled: str) -> None:
    """Neither of Workloads nor of topologies."""
    _, out, _ = explained(capsys, "research/vision", scheduled, "--gpus", "24", "--flavor", "h100")
    assert "NEVER" in out
    assert [word for word in ("orkload", "topology", "Queue") if word in out] == []


TOPOLOGY = "topology: [cloud.example/block, cloud.example/rack, kubernetes.io/hostname]"


@pytest.mark.parametrize(
    ("scheduler", "kubernetes", "said"),
    [
        (
            "kueue",
            "1.36",
            "GPU jobs of several pods that ask for no topology get `required cloud.example/rack` on h100: each runs "
            "within one, or waits. a100: no such level, so only jobs that select it run there, without a topology.",
        ),
        (
            "kueue",
            "1.35",
            "Its topology is `required cloud.example/rack`, and before Kubernetes 1.36 jobs ask for it by themselves: "
            "`kueue.x-k8s.io/podset-required-topology: cloud.example/rack`.",
        ),
        (
            "volcano",
            "1.36",
            "Volcano jobs of several pods with GPUs that ask for no topology get `required cloud.example/rack` on "
            "h100: each runs within one, or waits. a100: no such level, so jobs in its queue get nothing.",
        ),
        ("volcano", "1.35", "by themselves: `networkTopology: {mode: hard, highestTierAllowed: 1}`."),
    ],
)
def test_what_jobs_get_that_ask_for_no_topology(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, kubernetes: str, said: str
) -> None:
    """It is said with its whole label and its flavors, and what to write where nothing gives it to jobs."""
    node = "nodes: 2, node: {gpus: 8, cpu: 66, memory: 516Gi}"
    tmp_path.joinpath("org.yaml").write_text(
        "apiVersion: tenancy/v1alpha1\nkind: Organization\nname: acme\n"
        f'clusters: {{main: {{scheduler: {scheduler}, versions: {{kubernetes: "{kubernetes}"}}}}}}\n'
        f"flavors:\n  h100: {{gpu: H100-SXM-80GB, {node}, {TOPOLOGY}}}\n  a100: {{gpu: A100-SXM4-80GB, {node}}}\n"
        "departments: {lab: {budget: {h100: 16, a100: 16}, topology: required rack, teams: {dev: {}}}}\n",
        encoding="utf-8",
    )
    status, out, _ = explained(capsys, "lab/dev", str(tmp_path))
    assert status == 0
    assert said in " ".join(out.split())
