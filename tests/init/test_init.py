"""`tenancy init`: what it writes is whole, clean and in nobody's way."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenancy import __version__
from tenancy.cli import run
from tenancy.commands import init
from tenancy.output.place import in_the_way, place
from tests.init.runner import ROOT, git, loaded

TOOL = "https://github.com/acme/tenancy"
REPO = "https://github.com/acme/gpus"
PAIRS = [
    pair
    for pair in itertools.product(("kueue", "volcano", "native"), ("argocd", "flux", "none"))
    if pair != ("volcano", "flux")  # refused: `flux-volcano`
]
COMBINATIONS = [
    pytest.param(*pair, ci, id=f"{'-'.join(pair)}-{ci}")
    for pair, ci in zip(PAIRS, itertools.cycle(init.CI), strict=False)
]
"""The forges take turns, each with several schedulers and engines: its files say nothing of either."""


def started(folder: Path, *options: str) -> int:
    """Run `tenancy init` there."""
    return run(["init", str(folder), "--name", "Acme AI", "--tool", TOOL, *options])


def names(folder: Path) -> set[str]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("scheduler", "engine", "ci"), COMBINATIONS)
def test_every_combination_is_clean_current_and_written_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scheduler: str, engine: str, ci: str
) -> None:
    """No finding under --strict, out/ is what org/ compiles to, and a second run is refused and changes nothing."""
    options = ("--scheduler", scheduler, "--engine", engine, "--ci", ci, "--repo", REPO)
    assert started(tmp_path, *options) == 0
    org, written = str(tmp_path / "org"), names(tmp_path)
    assert run(["validate", org, "--strict"]) == 0
    assert "no findings" in capsys.readouterr().out
    assert run(["compile", org, "--strict", "--check", "--no-cache"]) == 0
    assert started(tmp_path, *options) == 1
    assert names(tmp_path) == written
    for name, of in ((".github/workflows/tenancy.yml", "github"), (".gitlab-ci.yml", "gitlab")):
        assert (name in written) == (ci == of)
    assert (f"out/train/{engine}/bootstrap.yaml" in written) == (engine != "none")
    ours = [name for name in written if not name.startswith("out/")]  # Prometheus and Grafana have such marks too.
    assert not [name for name in ours if "{{" in (tmp_path / name).read_text().replace("${{ github", "")]


@pytest.mark.parametrize(("scheduler", "engine"), PAIRS)
def test_pages_name_files_that_are_there(tmp_path: Path, scheduler: str, engine: str) -> None:
    """Every link, and every path of org/ and out/ in the two pages and in CODEOWNERS, is one of a file or a folder."""
    assert started(tmp_path, "--scheduler", scheduler, "--engine", engine, "--repo", REPO) == 0
    for page in ("README.md", "BOOTSTRAP.md"):
        text = (tmp_path / page).read_text()
        named = {target for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target}
        named |= set(re.findall(r"(?<![\w./])(?:org|out)/[\w./-]*[\w/]", text))
        assert len(named) > 1
        assert [name for name in named if not (tmp_path / name).exists()] == []
    owned = [line.split() for line in (tmp_path / "CODEOWNERS").read_text().splitlines() if line.strip("# ")]
    lines = {words[0]: words[1:] for words in owned if words[0] != "#"}
    assert [name for name in lines if name != "*" and not (tmp_path / name.strip("/")).exists()] == []
    departments = {f"/{name}" for name in names(tmp_path) if name.startswith("org/departments/")}
    assert departments == {name for name in lines if "/departments/" in name}
    assert all(owner.startswith("@acme/") for owners in lines.values() for owner in owners)
    assert "/out/" in lines


def test_the_schemas_are_those_that_editors_look_for(tmp_path: Path) -> None:
    """The first line of each file names a schema that is there, as `tenancy schema` prints it."""
    assert started(tmp_path) == 0
    for file in (tmp_path / "org").rglob("*.yaml"):
        (name,) = re.findall(r"^# yaml-language-server: \$schema=(.*)$", file.read_text(), re.MULTILINE)
        assert (file.parent / name).is_file()


def test_a_new_folder_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Folders above it, too; the name is the folder's unless one is given."""
    assert run(["init", str(tmp_path / "new" / "acme-gpus"), "--tool", TOOL]) == 0
    assert "\nname: acme-gpus\n" in (tmp_path / "new" / "acme-gpus" / "org" / "org.yaml").read_text()
    assert "README.md says how to go on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("README.md", "README.md"),
        (".github", ".github"),
        (".github/workflows/tenancy.yml", ".github/workflows/tenancy.yml"),
        (".gitlab/CODEOWNERS", ".gitlab/CODEOWNERS"),
        ("org/notes.txt", "org/"),
        ("out/x/y", "out/"),
        ("out", "out"),
    ],
)
def test_whatever_is_in_the_way_is_named_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, there: str
) -> None:
    """A file, a file where a folder would be, another CODEOWNERS, and anything in org/ or out/."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    assert started(tmp_path) == 1
    assert f"\n  {there}\n" in capsys.readouterr().err
    assert names(tmp_path) == {name}
    assert (tmp_path / name).read_text() == "mine"


def test_a_link_that_leads_nowhere_is_in_the_way(tmp_path: Path) -> None:
    """Writing through it would make a file elsewhere."""
    (tmp_path / "README.md").symlink_to(tmp_path / "elsewhere")
    assert started(tmp_path) == 1
    assert not (tmp_path / "elsewhere").exists()


def test_a_repository_keeps_its_own_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a git repository with a README it says which files to leave out, and then writes the others."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "README.md").write_text("mine")
    assert started(tmp_path) == 1
    assert "--skip README.md" in capsys.readouterr().err
    assert started(tmp_path, "--skip", "README.md") == 0
    assert (tmp_path / "README.md").read_text() == "mine"
    assert git(tmp_path, "status", "--porcelain").splitlines()


def test_only_files_around_org_can_be_left_out(tmp_path: Path) -> None:
    """Without a part of org/ or out/ the check would fail at once."""
    for name in ("org/org.yaml", "nothing"):
        assert started(tmp_path, "--skip", name) == 2
    assert names(tmp_path) == set()


def test_a_folder_inside_a_repository_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Workflows and CODEOWNERS are read at the root of a repository; with a repository of its own it is one."""
    git(tmp_path, "init", "--quiet")
    assert started(tmp_path / "gpus") == 2
    assert "inside the git repository" in capsys.readouterr().err
    (tmp_path / "gpus").mkdir()
    git(tmp_path / "gpus", "init", "--quiet")
    assert started(tmp_path / "gpus") == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--engine", "argocd"),
        ("--engine", "flux"),
        ("--engine", "flux", "--scheduler", "volcano", "--repo", REPO),
        ("--repo", "not an address"),
        ("--name", "7"),
        ("--name", "a\nb"),
        ("--name", "x" * 31),
        ("--ci", "jenkins"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(tmp_path: Path, options: tuple[str, ...]) -> None:
    """An engine without a repository, Flux for Volcano's queues, an address that is none, a name that is none."""
    assert started(tmp_path, *options) == 2
    assert names(tmp_path) == set()


def test_names_for_people_stay_as_they_are(tmp_path: Path) -> None:
    """Whatever YAML or Markdown could read into them."""
    assert started(tmp_path, "--name", 'R&D: "AI" #1 {{ x }}') == 0
    assert loaded(tmp_path / "org" / "org.yaml")["displayName"] == 'R&D: "AI" #1 {{ x }}'
    assert loaded(tmp_path / "org" / "org.yaml")["name"] == "r-d-ai-1-x"


@pytest.mark.parametrize(
    ("repo", "file", "owner"),
    [
        ("https://github.com/acme/gpus", ".github/workflows/tenancy.yml", "@acme/"),
        ("git@gitlab.com:acme/ai/gpus.git", ".gitlab-ci.yml", "@acme/ai/"),
        ("https://gitlab.acme.example/acme/gpus.git", ".gitlab-ci.yml", "@acme/"),
    ],
)
def test_the_repository_decides_where_checks_run_and_who_owns(tmp_path: Path, repo: str, file: str, owner: str) -> None:
    """The host picks GitHub or GitLab, the path the teams; with a repository Argo CD syncs it."""
    assert started(tmp_path, "--repo", repo) == 0
    assert (tmp_path / file).is_file()
    assert f"\n* {owner}platform-engineering\n" in (tmp_path / "CODEOWNERS").read_text()
    assert loaded(tmp_path / "org" / "org.yaml")["gitops"] == {"engine": "argocd", "repo": repo, "branch": "main"}


@pytest.mark.parametrize(
    ("tool", "uses", "include"),
    [
        (
            "https://github.com/acme/tenancy@abc",
            "acme/tenancy@abc",
            "https://raw.githubusercontent.com/acme/tenancy/abc/ci/gitlab.yml",
        ),
        (
            "https://git.acme.example/ai/tenancy.git",
            f"ai/tenancy@v{__version__}",
            f"https://git.acme.example/ai/tenancy/-/raw/v{__version__}/ci/gitlab.yml",
        ),
        ("", f"<owner>/tenancy@v{__version__}", f"https://raw.githubusercontent.com/<owner>/tenancy/v{__version__}/ci"),
    ],
)
def test_the_tool_is_taken_from_where_it_is_published(tmp_path: Path, tool: str, uses: str, include: str) -> None:
    """As it is given, or a name that nobody can register, so that a check never runs a stranger's code."""
    options = ["--name", "acme", "--tool", tool]
    assert run(["init", str(tmp_path / "a"), *options, "--ci", "github"]) == 0
    (job,) = loaded(tmp_path / "a" / ".github/workflows/tenancy.yml")["jobs"].values()
    assert job["steps"][-1]["uses"] == uses
    assert run(["init", str(tmp_path / "b"), *options, "--ci", "gitlab"]) == 0
    (included,) = loaded(tmp_path / "b" / ".gitlab-ci.yml")["include"]
    assert included["remote"].startswith(include)


@pytest.mark.parametrize(
    ("origin", "uses"),
    [
        ({"url": "https://github.com/acme/tenancy.git", "vcs_info": {"commit_id": "abc"}}, "acme/tenancy@abc"),
        (
            {"url": "https://github.com/acme/tenancy", "vcs_info": {"commit_id": "abc", "requested_revision": "v9"}},
            "acme/tenancy@v9",
        ),
        ({"url": "file:///home/me/tenancy", "dir_info": {"editable": True}}, f"<owner>/tenancy@v{__version__}"),
        ({"url": "file:///home/me/tenancy", "vcs_info": {"commit_id": "abc"}}, f"<owner>/tenancy@v{__version__}"),
    ],
)
def test_where_pip_took_it_from_is_where_it_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any], uses: str
) -> None:
    """A git repository on a network, at the ref that was asked for; a folder of this machine is of no use elsewhere."""

    class Installed:
        def read_text(self, name: str) -> str | None:
            return json.dumps(origin) if name == "direct_url.json" else None

    monkeypatch.setattr(init, "distribution", lambda _: Installed())
    assert run(["init", str(tmp_path), "--name", "acme"]) == 0
    (job,) = loaded(tmp_path / ".github/workflows/tenancy.yml")["jobs"].values()
    assert job["steps"][-1]["uses"] == uses


def test_on_the_same_gitlab_the_tool_is_included_as_a_project(tmp_path: Path) -> None:
    """A file of a private project has no address that is read without a login."""
    options = (
        "--repo",
        "git@git.acme.example:ai/gpus.git",
        "--tool",
        "https://git.acme.example/ai/tenancy",
        "--ci",
        "gitlab",
    )
    assert started(tmp_path, *options) == 0
    (included,) = loaded(tmp_path / ".gitlab-ci.yml")["include"]
    named = {key: included[key] for key in ("project", "ref", "file")}
    assert named == {"project": "ai/tenancy", "ref": f"v{__version__}", "file": "ci/gitlab.yml"}


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    """Files and folders that were made go again; what was there before stays."""
    (tmp_path / "kept").write_text("mine")

    class Interrupting(dict[str, bytes]):
        def items(self) -> Iterator[tuple[str, bytes]]:  # type: ignore[override]
            yield "a/b/c", b"1"
            yield "d", b"2"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place(tmp_path / "new" / "root", Interrupting())
    with pytest.raises(FileExistsError):
        place(tmp_path, {"x/y": b"1", "kept": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == "mine"


def test_what_is_in_the_way_is_named_once(tmp_path: Path) -> None:
    """A file where a folder would be stands in the way of all that would be in it."""
    (tmp_path / "a").write_text("")
    assert in_the_way(tmp_path, ["a/b", "a/c/d", "e/f", "g"]) == ("a",)


def test_every_template_is_used() -> None:
    """A template that no combination writes would rot."""
    used = {template for template, _ in (*init._ORG, *init._AROUND, *itertools.chain(*init.CI.values()))}
    assert used == {path.name for path in (ROOT / "templates" / "init").iterdir()}


@pytest.mark.slow
def test_a_merge_of_two_branches_compiles(tmp_path: Path) -> None:
    """What .gitattributes says of out/: git stops at it, and one compilation settles it."""
    assert started(tmp_path, "--repo", REPO) == 0
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "init")
    edits = {
        "ours": ("departments/product.yaml", "cpu: {cpu: 128, memory: 512Gi}", "cpu: {cpu: 160, memory: 640Gi}"),
        "theirs": ("org.yaml", "nodes: 6", "nodes: 7"),
    }
    for branch, (file, old, new) in edits.items():  # both change what is left for everybody
        git(tmp_path, "switch", "--quiet", "--create", branch, "main")
        path = tmp_path / "org" / file
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))
        assert run(["compile", str(tmp_path / "org")]) == 0
        git(tmp_path, "commit", "--quiet", "--all", "--message", branch)
    git(tmp_path, "switch", "--quiet", "ours")
    with pytest.raises(AssertionError):
        git(tmp_path, "merge", "--no-edit", "theirs")
    conflicts = git(tmp_path, "diff", "--name-only", "--diff-filter=U").splitlines()
    assert conflicts
    assert all(name.startswith("out/") for name in conflicts)
    assert run(["compile", str(tmp_path / "org")]) == 0
    git(tmp_path, "add", "org", "out")
    git(tmp_path, "commit", "--quiet", "--no-edit")
    assert run(["compile", str(tmp_path / "org"), "--check", "--no-cache"]) == 0
