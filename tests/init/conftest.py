"""A repository as `init` writes it, with a branch, and the forges that serve its pull request."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tenancy.cli import run
from tenancy.compare.views.markdown import MARKER
from tests.init.forges import Discussion, GitHub, GitLab, served
from tests.init.runner import git

STAND_IN = """#!/bin/sh
# As much of tenancy as the steps around it see: one output file, and a plan.
case "$*" in
  validate*) exit 0 ;;
  compile*--check*) cmp -s org/departments/research.yaml out/copy || { echo "stale: out/copy" >&2; exit 1; } ;;
  compile*) cp org/departments/research.yaml out/copy ;;
  diff*) cat "$(dirname "$0")/plan"; cat "$(dirname "$0")/findings" >&2; exit "$(cat "$(dirname "$0")/status")" ;;
esac
"""


@dataclass(frozen=True)
class StandIn:
    """A tenancy that says what it is told to, in a moment."""

    command: str
    folder: Path

    def says(self, plan: str, findings: str = "", status: int = 0) -> None:
        """What `diff` prints from now on."""
        for name, text in (("plan", plan), ("findings", findings), ("status", str(status))):
            (self.folder / name).write_text(text)


@dataclass
class Repository:
    """A repository with a branch `more-for-vision` whose commits are in a pull request, 7."""

    folder: Path
    origin: Path

    def edit(self, old: str, new: str, *, file: str = "departments/research.yaml", compiled: bool = True) -> None:
        """Change a file of org/ on the branch, and commit it with or without its output."""
        path = self.folder / "org" / file
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))
        if compiled:
            assert run(["compile", str(self.folder / "org")]) == 0
        git(self.folder, "add", "--all", "org", "out")
        git(self.folder, "commit", "--quiet", "--message", "edit")

    @property
    def url(self) -> str:
        """The origin, over git's protocol: a path would be copied whole."""
        return self.origin.as_uri()

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return git(self.folder, "rev-parse", "HEAD")

    def event(self, *, fork: bool = False) -> dict[str, Any]:
        """What GitHub says of a push to the branch."""
        home = {"full_name": "acme/gpus"}
        head = {"sha": self.head, "ref": "more-for-vision", "repo": {"full_name": "eve/gpus"} if fork else home}
        base = {"sha": git(self.folder, "rev-parse", "main"), "repo": home}
        return {"pull_request": {"number": 7, "head": head, "base": base}}

    def variables(self, *, fork: bool = False) -> dict[str, str]:
        """What GitLab says of a push to the branch."""
        return {
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(self.folder, "merge-base", "HEAD", "main"),
            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "more-for-vision",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "43" if fork else "42",
            "CI_PROJECT_URL": str(self.origin.with_suffix("")),
        }


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `init` writes, with the checks of both forges, in a repository with one commit."""
    folder = tmp_path_factory.mktemp("written")
    for name, ci in (("other", "gitlab"), ("gpus", "github")):
        options = [
            "--name",
            "acme",
            "--tool",
            "https://github.com/acme/tenancy",
            "--repo",
            "https://github.com/acme/gpus",
        ]
        assert run(["init", str(folder / name), *options, "--ci", ci]) == 0
    shutil.copy(folder / "other" / ".gitlab-ci.yml", folder / "gpus")
    git(folder / "gpus", "init", "--quiet")
    git(folder / "gpus", "add", "--all")
    git(folder / "gpus", "commit", "--quiet", "--message", "init")
    return folder / "gpus"


@pytest.fixture
def repository(written: Path, tmp_path: Path) -> Repository:
    """A clone, on a branch without a commit of its own yet."""
    git(tmp_path, "clone", "--quiet", "--bare", str(written), "origin.git")
    git(tmp_path, "clone", "--quiet", "origin.git", "gpus")
    git(tmp_path / "gpus", "switch", "--quiet", "--create", "more-for-vision")
    return Repository(tmp_path / "gpus", tmp_path / "origin.git")


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A stand-in for tenancy, whose plan is one line."""
    folder = tmp_path / "stand in"
    folder.mkdir()
    (folder / "tenancy").write_text(STAND_IN)
    (folder / "tenancy").chmod(0o755)
    found = StandIn(f"'{folder / 'tenancy'}'", folder)
    found.says(f"{MARKER} acme -->\n## Plan for acme: low risk\n")
    return found


@pytest.fixture
def on_github() -> Iterator[Discussion]:
    """GitHub with an empty pull request."""
    with served(GitHub) as discussion:
        yield discussion


@pytest.fixture
def on_gitlab() -> Iterator[Discussion]:
    """GitLab with an empty merge request."""
    with served(GitLab) as discussion:
        yield discussion
