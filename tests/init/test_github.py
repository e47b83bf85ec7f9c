"""The workflow that `init` writes and the action that it uses, run step by step against a pull request."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tenancy.compare.views.markdown import MARKER
from tests.init.conftest import Repository, StandIn
from tests.init.forges import Discussion
from tests.init.runner import ROOT, action, git, github, loaded

LIMITS = ("quota: 16, limit: 32", "quota: 16, limit: 28")


def commits(repository: Repository, branch: str) -> list[str]:
    """The subjects of a branch at its origin, the newest first."""
    return git(repository.origin, "log", "--format=%s", branch).splitlines()


@pytest.mark.slow
def test_one_comment_follows_the_pull_request(repository: Repository, on_github: Discussion) -> None:
    """Created by the first run, written anew by the next, removed when the change is taken back."""
    repository.edit(*LIMITS)
    done = github(repository.folder, repository.event(), on_github.url)
    assert done.statuses == {"Validate": 0, "Compile": 0, "Plan": 0, "Comment": 0}, done.printed
    (comment,) = on_github.of("us")
    assert comment.startswith(MARKER)
    assert "| research/vision | h100 GPUs | 8 | 16 | **32 → 28** |" in comment
    assert f"{repository.head[:12]} against" in comment
    assert "https://github.example/acme/gpus/actions/runs/99" in comment
    assert done.summary == comment

    repository.edit("limit: 28", "limit: 24")
    assert github(repository.folder, repository.event(), on_github.url).passed
    (comment,) = on_github.of("us")
    assert "**32 → 24**" in comment

    repository.edit("limit: 24", "limit: 32")
    assert github(repository.folder, repository.event(), on_github.url).passed
    assert on_github.asked == ["create", "update", "delete"]


@pytest.mark.slow
def test_what_was_merged_meanwhile_is_no_part_of_the_plan(repository: Repository, on_github: Discussion) -> None:
    """The branch is compared with where it forked off, whether it is checked out itself or merged with main."""
    repository.edit(*LIMITS)
    git(repository.folder, "switch", "--quiet", "main")
    repository.edit('members: ["group:evaluation"]', 'viewers: ["group:judges"]', file="departments/product.yaml")
    event = repository.event()
    git(repository.folder, "switch", "--quiet", "more-for-vision")
    alone = github(repository.folder, event, on_github.url)
    git(repository.folder, "switch", "--quiet", "--detach", "main")
    git(repository.folder, "merge", "--quiet", "--no-edit", "more-for-vision")
    merged = github(repository.folder, event, on_github.url)
    for done in (alone, merged):
        assert done.passed, done.printed
        assert "research/vision" in done.summary
        assert "judges" not in done.summary


@pytest.mark.slow
def test_a_stale_output_fails_and_is_annotated(repository: Repository, on_github: Discussion) -> None:
    """The plan is there all the same: it is about what org/ says."""
    repository.edit(*LIMITS, compiled=False)
    done = github(repository.folder, repository.event(), on_github.url)
    assert done.statuses == {"Validate": 0, "Compile": 1, "Plan": 0, "Comment": 0}
    assert "::error title=out is not what org compiles to::run `tenancy compile`" in done.printed
    assert len(on_github.of("us")) == 1


@pytest.mark.slow
def test_findings_are_annotations_at_their_lines(repository: Repository, on_github: Discussion) -> None:
    """Where there is no plan, the comment says so, and why; it is no longer what an earlier commit meant."""
    on_github.add(f"{MARKER} acme -->\n<!-- tenancy-ci: org -->\nthe plan of an earlier commit")
    repository.edit("quota: 16, limit: 32", "quota: 90, limit: 32", compiled=False)
    done = github(repository.folder, repository.event(), on_github.url)
    assert done.statuses == {"Validate": 1, "Compile": 1, "Plan": 1, "Comment": 0}
    assert re.search(r"^::error file=org/departments/research\.yaml,line=\d+,", done.printed, re.MULTILINE)
    (comment,) = on_github.of("us")
    assert "### No plan: `org` cannot be compiled\n\n```text\n" in comment
    assert "quota-above-parent" in comment


@pytest.mark.slow
def test_what_a_plan_must_not_do_fails_and_is_shown(repository: Repository, on_github: Discussion) -> None:
    """A team that goes although it was never drained: an error under strict, and the plan says what to do instead."""
    team = re.search(
        r"      language:\n(?:        .*\n)+", (repository.folder / "org/departments/research.yaml").read_text()
    )
    assert team
    repository.edit(team[0], "")
    done = github(repository.folder, repository.event(), on_github.url)
    assert done.statuses["Plan"] == 1
    assert done.statuses["Comment"] == 0
    (comment,) = on_github.of("us")
    assert "draining" in comment


def test_the_output_is_committed_where_that_is_asked_for(
    repository: Repository, on_github: Discussion, stand_in: StandIn
) -> None:
    """To the branch of the pull request, and nothing but out/."""
    repository.edit(*LIMITS, compiled=False)
    (repository.folder / "notes.txt").write_text("of somebody else")
    inputs = {"command": stand_in.command, "commit": "true"}
    done = github(repository.folder, repository.event(), on_github.url, inputs)
    assert done.passed, done.printed
    assert commits(repository, "more-for-vision") == ["Compile org", "edit", "init"]
    changed = git(repository.origin, "show", "--name-only", "--format=", "more-for-vision").splitlines()
    assert changed == ["out/copy"]
    again = github(repository.folder, repository.event(), on_github.url, inputs)
    assert "nothing to commit" in again.printed
    assert again.passed


@pytest.mark.slow
def test_nothing_is_committed_where_it_may_not_be(
    repository: Repository, on_github: Discussion, stand_in: StandIn
) -> None:
    """Not to a fork, not from a merge commit, not on a push: it says so and checks."""
    repository.edit(*LIMITS, compiled=False)
    event, fork = repository.event(), repository.event(fork=True)
    inputs = {"command": stand_in.command, "commit": "true"}
    on_fork = github(repository.folder, fork, on_github.url, inputs)
    pushed = github(repository.folder, {"before": "0" * 40}, on_github.url, inputs)
    git(repository.folder, "commit", "--quiet", "--allow-empty", "--message", "as if merged")
    merged = github(repository.folder, event, on_github.url, inputs)
    for done, reason in ((on_fork, "in a fork"), (pushed, "no pull request"), (merged, "the end of the branch")):
        assert done.statuses["Compile"] == 1
        assert reason in done.printed
    assert commits(repository, "--all") == ["init"]


def test_a_push_that_is_refused_fails(repository: Repository, on_github: Discussion, stand_in: StandIn) -> None:
    """Somebody else was faster; nothing is forced."""
    git(repository.folder, "push", "--quiet", "origin", "more-for-vision")
    repository.edit(*LIMITS, compiled=False)
    other = repository.origin.parent / "other"
    git(repository.origin.parent, "clone", "--quiet", "--branch", "more-for-vision", "origin.git", "other")
    git(other, "commit", "--quiet", "--allow-empty", "--message", "faster")
    git(other, "push", "--quiet", "origin", "more-for-vision")
    inputs = {"command": stand_in.command, "commit": "true"}
    done = github(repository.folder, repository.event(), on_github.url, inputs)
    assert done.statuses["Compile"] == 1
    assert "could not be committed to more-for-vision" in done.printed
    assert commits(repository, "more-for-vision") == ["faster", "init"]


def test_a_merge_to_main_is_planned_in_the_summary(
    repository: Repository, on_github: Discussion, stand_in: StandIn
) -> None:
    """A push has no pull request: no comment, the plan against what was there before."""
    before = repository.head
    repository.edit(*LIMITS, compiled=False)
    done = github(repository.folder, {"before": before}, on_github.url, {"command": stand_in.command})
    assert done.statuses["Comment"] == 0
    assert "## Plan for acme" in done.summary
    assert f"against {before[:12]}" in done.summary
    assert on_github.asked == []


@pytest.mark.slow
def test_a_pull_request_that_brings_the_organization_passes(repository: Repository, on_github: Discussion) -> None:
    """There is nothing to compare with yet; so it is with what `init` wrote, in its first pull request."""
    git(repository.folder, "switch", "--quiet", "--orphan", "empty")
    git(repository.folder, "commit", "--quiet", "--allow-empty", "--message", "empty")
    base = repository.head
    git(repository.folder, "switch", "--quiet", "more-for-vision")
    event = repository.event()
    event["pull_request"]["base"]["sha"] = base
    done = github(repository.folder, event, on_github.url)
    assert done.passed, done.printed
    assert "has no org" in done.printed
    assert on_github.asked == []


def test_a_checkout_of_another_user_is_read(repository: Repository, on_github: Discussion, stand_in: StandIn) -> None:
    """As in a job that runs in a container; git would refuse it."""
    repository.edit(*LIMITS, compiled=False)
    inputs = {"command": stand_in.command}
    done = action(repository.folder, repository.event(), on_github.url, inputs, other_owner=True)
    assert done.statuses["Plan"] == 0
    assert len(on_github.of("us")) == 1


def test_a_commit_that_cannot_be_had_is_never_clean(
    repository: Repository, on_github: Discussion, stand_in: StandIn
) -> None:
    """A shallow clone asks its origin; where that does not help, the check fails instead of comparing nothing."""
    git(repository.origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    base = repository.head
    repository.edit(*LIMITS, compiled=False)
    git(repository.folder, "push", "--quiet", "origin", "more-for-vision")
    git(
        repository.origin.parent,
        "clone",
        "--quiet",
        "--depth=1",
        "--branch",
        "more-for-vision",
        repository.url,
        "shallow",
    )
    shallow = repository.folder.parent / "shallow"
    event = repository.event()
    inputs = {"command": stand_in.command}
    assert f"against {base[:12]}" in github(shallow, event, on_github.url, inputs).summary
    event["pull_request"]["base"]["sha"] = "1" * 40
    done = github(shallow, event, on_github.url, inputs)
    assert done.statuses["Plan"] == 3
    assert "::error title=111111111111 is not in this clone::" in done.printed


def test_text_of_others_is_never_part_of_a_command(
    repository: Repository, on_github: Discussion, stand_in: StandIn
) -> None:
    """What a shell would obey is data: the name of a branch, an input, what the plan and findings say."""
    name = "a;touch${IFS}pwned;`touch${IFS}pwned`;$(touch${IFS}pwned)"
    repository.edit(*LIMITS, compiled=False)
    stand_in.says(f"{MARKER} acme -->\n{name}\n", findings=name)
    event = repository.event()
    event["pull_request"]["head"]["ref"] = name
    inputs = {"command": stand_in.command, "commit": "true", "strict": name, "max-deletions": name}
    done = github(repository.folder, event, on_github.url, inputs)
    assert done.passed, done.printed
    assert commits(repository, name)[0] == "Compile org"
    github(repository.folder, event, on_github.url, {**inputs, "org": name, "out": name})
    assert not (repository.folder / "pwned").exists()


def _expressions(text: str) -> list[str]:
    return re.findall(r"\$\{\{ (.*?) \}\}", text)


@pytest.mark.parametrize("name", ["action.yml", "tenancy.yml"])
def test_no_expression_reaches_a_shell(written: Path, name: str) -> None:
    """Every step that runs names its shell, expressions stand outside of `run`, and of the event they read a number."""
    path = ROOT / name if name == "action.yml" else written / ".github" / "workflows" / name
    document = loaded(path)
    steps = document["runs"]["steps"] if "runs" in document else document["jobs"]["tenancy"]["steps"]
    for step in steps:
        assert ("run" in step) == ("shell" in step)
        assert not _expressions(step.get("run", ""))
        assert {*step} <= {"name", "id", "if", "shell", "env", "run", "uses", "with"}
    known = (
        r"inputs\.[a-z-]+|github\.event\.pull_request\.number \|\| github\.sha|github\.token|steps\.plan\.outputs\.plan"
    )
    conditions = [step.get("if", "") for step in steps]
    for found in _expressions(path.read_text()):
        assert re.fullmatch(known, found) or any(found in condition for condition in conditions)
    assert "pull_request_target" not in path.read_text()


def test_inputs_are_described_and_used() -> None:
    """Each has a description and a use, and the page for users names it."""
    document = loaded(ROOT / "action.yml")
    text = (ROOT / "action.yml").read_text()
    page = (ROOT / "docs" / "ci.md").read_text()
    for name, given in document["inputs"].items():
        assert given["description"].endswith(".")
        assert f"inputs.{name} " in text or f"inputs.{name}\n" in text
        assert f"`{name}`" in page


def test_the_marker_is_the_one_of_the_plan() -> None:
    """ci/ imports nothing of tenancy, so it has the marker a second time."""
    assert f'MARKER: Final = "{MARKER}"' in (ROOT / "ci" / "forges.py").read_text()


def test_scripts_need_only_the_standard_library() -> None:
    """They run under whatever Python a runner has, before or without anything installed."""
    imported = set()
    for path in (ROOT / "ci").glob("*.py"):
        imported |= set(re.findall(r"^(?:from|import) (\w+)", path.read_text(), re.MULTILINE))
    allowed = {
        "__future__",
        "collections",
        "dataclasses",
        "forges",
        "json",
        "os",
        "pathlib",
        "re",
        "shlex",
        "subprocess",
    }
    assert imported <= allowed | {"sys", "typing", "urllib"}
