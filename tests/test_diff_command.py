"""`tenancy diff` against the output folder, revisions and a cluster: sides, status, and where things are printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenancy.cli import run
from tests.live.api import FakeApi, kubeconfig, serving
from tests.output.test_revision import Repo

ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters:
  main: {}
flavors:
  l4: {gpu: L4, nodes: 4, node: {gpus: 8, cpu: 130, memory: 1028Gi}, daemons: {cpu: 2, memory: 4Gi}, price: 1}
departments:
  lab:
    budget: {l4: 16}
    teams:
      dev: {budget: {l4: 8}}
      ops: {budget: {l4: 4}}
"""


SHOP = "departments: {shop: {budget: {l4: 4}, teams: {web: {budget: {l4: 2}}}}}\n"


class Project(Repo):
    """An organization in a repository, and the command in it."""

    def __init__(self, root: Path, out: pytest.CaptureFixture[str]) -> None:
        super().__init__(root)
        self.out = out
        self.org = root / "org" / "org.yaml"
        self.commit(readme="an empty project")
        self.say(ORG)

    def say(self, text: str, *, commit: bool = True, compile_: bool = True) -> None:
        """Make this the organization."""
        self.org.parent.mkdir(exist_ok=True)
        self.org.write_text(text)
        if compile_:
            assert run(["compile", "org"]) == 0
        if commit:
            self.commit()
        self.out.readouterr()

    def edit(self, old: str, new: str) -> None:
        """Change the organization, as in a pull request, and leave the output alone."""
        text = self.org.read_text()
        assert old in text
        self.say(text.replace(old, new), commit=False, compile_=False)

    def diff(self, *options: str) -> tuple[int, str, str]:
        """Status, the plan, and what stands beside it."""
        self.out.readouterr()
        status = run(["diff", "org", *options])
        shown = self.out.readouterr()
        return status, shown.out, shown.err


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """With its output, all committed."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    return Project(root, capsys)


def test_a_revision_is_compiled_as_it_was(project: Project) -> None:
    """Its organization, not the output folder, is the old side; its prices are known, which no object says."""
    project.edit("ops: {budget: {l4: 4}}", "ops: {budget: {l4: 8}}")
    project.edit("price: 1}", "price: 2}")
    assert run(["compile", "org"]) == 0
    status, shown, error = project.diff("--against", "HEAD")
    assert (status, error) == (0, "")
    assert "lab/ops" in shown
    assert "4 → 8" in shown
    assert project.diff()[1] == "no changes\n"
    assert project.diff("--against", "HEAD", "--exit-code")[0] == 1
    project.commit()
    assert project.diff("--against", "HEAD", "--exit-code")[:2] == (0, "no changes\n")
    assert project.diff("--against", "main~1", "--exit-code")[1] == shown


def test_a_file_of_its_own_is_read_at_the_revision(project: Project) -> None:
    """The organization may be named by its root file, and departments may have files of their own."""
    folder = project.root / "org" / "departments"
    folder.mkdir()
    (folder / "shop.yaml").write_text(f"apiVersion: tenancy/v1alpha1\nkind: Departments\n{SHOP}")
    status, shown, error = project.diff("--against", "HEAD")
    assert status == 0, error
    assert "shop/web" in shown
    project.commit()
    project.edit("ops: {budget: {l4: 4}}", "ops: {budget: {l4: 3}}")
    shown = project.diff("--against", "HEAD")[1]
    assert "shop/web" not in shown
    assert "lab/ops" in shown
    project.out.readouterr()
    assert run(["diff", "org/org.yaml", "--against", "HEAD"]) == 0
    assert project.out.readouterr().out == shown


def test_what_the_language_no_longer_reads_is_compared_by_its_output(project: Project) -> None:
    """With a note that says so, at the name that git has for the file."""
    project.say(ORG.replace("l4: 4", "l4: 4, h1: 1"), compile_=False)
    project.edit(", h1: 1", "")
    project.edit("l4: 4", "l4: 8")
    status, shown, error = project.diff("--against", "HEAD")
    assert status == 0
    assert "4 → 8" in shown
    assert error.startswith("note: `org` of `HEAD` is not what this version of tenancy reads: HEAD:org/org.yaml:13: ")
    assert "[unknown-flavor]" in error
    assert "compared with its committed `out` instead" in error


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ("main/platform/roles.yaml", "`main/platform/roles.yaml` is not what its tenancy.lock lists"),
        ("main/platform/own.yaml", ""),
        ("tenancy.lock", "tenancy.lock does not start with"),
    ],
)
def test_an_output_that_its_lock_does_not_confirm_is_no_side(project: Project, spoil: str, message: str) -> None:
    """A file that the lock does not list is nobody's; a listed one must be as it was written."""
    (project.root / "out" / spoil).write_text("# by hand\n")
    project.say(ORG.replace("l4: 4", "l5: 4"), compile_=False)
    project.say(ORG, commit=False, compile_=False)
    status, shown, error = project.diff("--against", "HEAD")
    if not message:
        assert (status, shown) == (0, "no changes\n")
        return
    assert (status, shown) == (3, "")
    assert message in error


def test_a_revision_without_any_of_it_could_not_be_checked(project: Project) -> None:
    """The organization and its output came later; or elsewhere."""
    status, shown, error = project.diff("--against", "HEAD~1")
    assert (status, shown) == (3, "")
    assert error == "error: `HEAD~1` has no `org`\n"


def test_a_revision_with_the_output_alone_is_compared_with_that(project: Project) -> None:
    """The organization may have moved within the repository."""
    project.git("mv", "org", "chart")
    project.commit()
    project.git("mv", "chart", "org")
    status, shown, error = project.diff("--against", "HEAD")
    assert (status, shown) == (0, "no changes\n")
    assert "`HEAD` has no `org`; compared with its committed `out` instead" in error


def test_an_output_that_the_tool_would_write_otherwise_is_told(project: Project) -> None:
    """What a new version of the tool changes by itself is in no comparison of two compilations."""
    lock, page = project.root / "out" / "tenancy.lock", "main/platform/roles.yaml"
    lines = [line for line in lock.read_text().splitlines() if not line.endswith(page)]
    lock.write_text("\n".join(lines) + "\n")
    project.commit()
    status, shown, error = project.diff("--against", "HEAD")
    assert (status, shown) == (0, "no changes\n")
    assert error == (
        "note: `out` of `HEAD` differs in a file from what this version makes of it: no part of the plan\n"
    )


def test_a_mistaken_revision_is_status_2(project: Project) -> None:
    """So is every option that goes with nothing else that is given."""
    assert project.diff("--against", "nonsense")[0] == 2
    assert "`nonsense` is no revision" in project.diff("--against", "nonsense")[2]
    assert "--against live" in project.diff("--context", "x")[2]
    assert project.diff("--context", "x")[0] == 2
    assert project.diff("--max-deletions", "many")[0] == 2
    assert project.diff("--cluster", "nowhere")[0] == 2


def test_a_repository_is_needed_for_a_revision(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one nothing was checked."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "org.yaml").write_text(ORG)
    status = run(["diff", str(tmp_path / "plain"), "--against", "HEAD"])
    assert status == 3
    assert "is in no git repository" in project.out.readouterr().err


def test_errors_of_the_organization_come_first(project: Project) -> None:
    """Nothing is compared with what cannot be compiled."""
    project.edit("l4: 4", "l4: 400")
    status, shown, error = project.diff("--against", "HEAD")
    assert (status, shown) == (1, "")
    assert "error[" in error


def test_one_cluster_alone_is_compared(project: Project) -> None:
    """What changes in the other one does not show, nor what is there no longer."""
    two = ORG.replace("  main: {}\n", "  main: {}\n  east: {}\n").replace("gpu: L4", "gpu: L4, cluster: main")
    both = two.replace(
        "departments:",
        "  t4: {gpu: T4, cluster: east, nodes: 2, node: {gpus: 8, cpu: 66, memory: 132Gi}}\ndepartments:",
    )
    project.say(both)
    project.edit("ops: {budget: {l4: 4}}", "ops: {budget: {l4: 2}}")
    for against in ("out", "HEAD"):
        assert "lab/ops" in project.diff("--against", against, "--cluster", "main")[1]
        assert project.diff("--against", against, "--cluster", "east")[1] == "no changes\n"


def test_the_plan_is_on_standard_output_in_every_format(project: Project) -> None:
    """Notes and findings are not, so that the plan can be piped."""
    project.edit("l4: 4", "l4: 2")
    (project.root / "org" / "org.yaml").write_text(
        project.org.read_text().replace("dev: {", "dev: {expires: 2020-01-01, ")
    )
    for format_ in ("markdown", "json"):
        status, shown, error = project.diff("--format", format_, "--today", "2026-11-30")
        assert status == 0
        assert "unit-expired" in error or "expire" in error
        if format_ == "json":
            json.loads(shown)
        else:
            assert shown.startswith("<!-- tenancy")
    assert project.diff("--strict", "--today", "2026-11-30")[0] == 1


def _usage(*, organization: str = "acme", total: str = "16", **queues: str) -> str:
    """What `kubectl get clusterqueues -o json` prints, by title of the unit."""
    items = [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "ClusterQueue",
            "metadata": {
                "name": title.replace("/", "-"),
                "labels": {"tenancy.internal/organization": organization},
                "annotations": {"tenancy.internal/unit": title},
            },
            "status": {
                "flavorsReservation": [
                    {"name": "l4", "resources": [{"name": "nvidia.com/gpu", "total": used or total}]}
                ]
            },
        }
        for title, used in queues.items()
    ]
    return json.dumps({"kind": "List", "items": items})


def test_usage_of_the_wrong_organization_is_refused(project: Project) -> None:
    """Everybody would seem idle."""
    path = project.root / "usage.json"
    project.edit("ops: {budget: {l4: 4}}", "ops: {budget: {l4: 2}}")
    path.write_text(_usage(organization="other", **{"lab/dev": "8"}))
    status, shown, error = project.diff("--usage", str(path))
    assert (status, shown) == (3, "")
    assert "no ClusterQueue of `acme`: nobody would seem to use anything" in " ".join(error.split())
    path.write_text(_usage(**{"lab/dev": "8"}))
    assert project.diff("--usage", str(path))[0] == 0


@pytest.fixture
def live(project: Project, tmp_path: Path) -> Iterator[tuple[FakeApi, Path]]:
    """A cluster where the output is deployed, and its kubeconfig."""
    fake = FakeApi()
    for path in sorted((project.root / "out" / "main").rglob("*.yaml")):
        fake.deploy(path)
    with serving(fake, tmp_path) as config:
        yield fake, config


def _live(fake: FakeApi, kind: str, name: str) -> dict[str, Any]:
    (found,) = [each for each in fake.objects.values() if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def test_a_cluster_as_it_was_deployed_has_no_changes(project: Project, live: tuple[FakeApi, Path]) -> None:
    """Nothing is written; what a pull request changes is then compared with what runs."""
    _, config = live
    asked = ("--against", "live", "--kubeconfig", str(config))
    assert project.diff(*asked, "--exit-code") == (0, "no changes\n", "")
    project.edit("l4: 4", "l4: 2")
    status, shown, error = project.diff(*asked, "--exit-code")
    assert (status, error) == (1, "")
    assert "lab/ops" in shown
    assert "4 → 2" in shown


def test_a_cluster_that_was_edited_is_shown_with_the_editor(project: Project, live: tuple[FakeApi, Path]) -> None:
    """In promises first, as every plan, then who has changed what."""
    fake, config = live
    asked = ("--against", "live", "--kubeconfig", str(config))
    queue = _live(fake, "ClusterQueue", "lab-ops")
    groups = json.loads(json.dumps(queue["spec"]["resourceGroups"]))
    gpus = next(each for each in groups[0]["flavors"][0]["resources"] if each["name"] == "nvidia.com/gpu")
    gpus["nominalQuota"] = "8"
    fake.edit(queue, "kubectl-edit", "spec", "resourceGroups", value=groups)
    status, shown, error = project.diff(*asked)
    assert (status, error) == (0, "")
    assert "8 → 4" in shown
    line = "spec.resourceGroups[0].flavors[l4].resources[nvidia.com/gpu].nominalQuota: 8 → 4 (by kubectl-edit, "
    assert line in shown
    for format_ in ("markdown", "json"):
        assert "kubectl-edit" in project.diff(*asked, "--format", format_)[1]


def test_a_label_of_somebody_else_differs_without_a_change(project: Project, live: tuple[FakeApi, Path]) -> None:
    """The plan is empty, and still it is said."""
    fake, config = live
    fake.edit(_live(fake, "Namespace", "lab-dev"), "kubectl-label", "metadata", "labels", "x", value="y")
    status, shown, _ = project.diff("--against", "live", "--kubeconfig", str(config), "--exit-code")
    assert status == 1
    assert shown.startswith("no changes\n\nhttp://127.0.0.1:")
    assert "metadata.labels.x: y (by kubectl-label" in shown


def test_applications_are_looked_for_where_argo_cd_runs(project: Project, live: tuple[FakeApi, Path]) -> None:
    """In this cluster by default; what is in another one is said not to be compared."""
    fake, config = live
    asked = ("--against", "live", "--kubeconfig", str(config))
    gitops = "gitops: {engine: argocd, repo: 'https://git.example/acme.git', path: out}\n"
    project.say(ORG + gitops, commit=False)
    for path in sorted((project.root / "out" / "main").rglob("*.yaml")):
        fake.deploy(path)
    assert project.diff(*asked, "--exit-code") == (0, "no changes\n", "")
    fake.kinds = {version: kinds for version, kinds in fake.kinds.items() if not version.startswith("argoproj.io")}
    status, shown, error = project.diff(*asked)
    assert (status, error) == (0, "")
    assert "! Application (argoproj.io): the API server has no such kind; " in shown
    project.say(ORG.replace("main: {}", "main: {destination: {name: far}}") + gitops, commit=False, compile_=False)
    status, shown, error = project.diff(*asked, "--exit-code")
    assert (status, shown) == (0, "no changes\n")
    assert error == "note: the objects of argocd/ are in the cluster of Argo CD and are not compared\n"


def test_odd_amounts_in_a_cluster_are_no_fault_of_the_tool(project: Project, live: tuple[FakeApi, Path]) -> None:
    """The API server takes quantities that the language has no word for."""
    fake, config = live
    for odd in ("1500m", "-1", "x"):
        _live(fake, "ClusterQueue", "lab-ops")["spec"]["resourceGroups"][0]["flavors"][0]["resources"][-1] = {
            "name": "nvidia.com/gpu",
            "nominalQuota": odd,
        }
        status, shown, error = project.diff("--against", "live", "--kubeconfig", str(config))
        assert status == 0
        assert "what runs cannot be read as promises: " in error
        assert "~ ClusterQueue lab-ops" in shown
        assert f"nominalQuota: {odd} → 4" in shown


def test_usage_of_a_cluster_goes_with_every_side(project: Project, live: tuple[FakeApi, Path]) -> None:
    """Against the output folder as well."""
    fake, config = live
    project.edit("dev: {budget: {l4: 8}}", "dev: {budget: {l4: 2}}")
    told = [{"name": "l4", "resources": [{"name": "nvidia.com/gpu", "total": "5"}]}]
    _live(fake, "ClusterQueue", "lab-dev")["status"] = {"flavorsReservation": told}
    for against in ("out", "HEAD", "live"):
        options = ("--against", against, "--usage", "live", "--kubeconfig", str(config), "--format", "json")
        status, shown, error = project.diff(*options)
        assert (status, error) == (0, "")
        (overrun,) = [each for each in json.loads(shown)["overruns"] if each["unit"] == "lab/dev"]
        assert (overrun["used"]["base"], overrun["certain"]) == (5, True)


def test_a_cluster_that_cannot_be_reached_is_status_3(project: Project, tmp_path: Path) -> None:
    """Nothing is known then, of what runs or of what is used."""
    config = kubeconfig(tmp_path, 9)
    for option in ("--against", "--usage"):
        status, shown, error = project.diff(option, "live", "--kubeconfig", str(config))
        assert (status, shown) == (3, "")
        assert "refused" in error.lower()


def test_removals_are_judged_and_the_plan_is_shown_all_the_same(project: Project) -> None:
    """A unit that was not drained is a warning, an error under --strict; too many deletions are one."""
    project.edit("      ops: {budget: {l4: 4}}\n", "")
    plan = project.diff()[1]
    for options, expected, code in (
        ((), 0, "warning[removed-undrained]"),
        (("--strict",), 1, "[removed-undrained]"),
        (("--max-deletions", "0"), 1, "error[too-many-deletions]"),
        (("--max-deletions", "100%"), 0, "warning[removed-undrained]"),
        (("--against", "HEAD", "--max-deletions", "1%"), 1, "error[too-many-deletions]"),
    ):
        status, shown, error = project.diff(*options)
        assert (status, shown) == (expected, plan)
        assert code in error
