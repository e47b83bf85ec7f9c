"""What CI does in a repository with an organization: `check.py STEP…`, of validate, compile, plan and comment.

Run by the action for GitHub (action.yml) and the template for GitLab (ci/gitlab.yml), and by whatever else sets the
same variables. Python's standard library, git and a `tenancy` are all it needs. Whatever it is told comes through the
environment and leaves as one argument of a program: names of branches and units are other people's text, and no shell
ever reads them. Every step runs, whatever became of the one before; the status is the worst of all.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from forges import MARKER, Failed, Forge, GitHub, GitLab, Refused, publish

_UNCHECKED: Final = 3
_LONGEST: Final = 60_000
"""Characters of findings in a comment; GitHub takes 65,536 in all."""

_NOTHING: Final = re.compile(r"\A.*\n## .*: no changes$", re.MULTILINE)
"""How a plan begins that has nothing to say."""
_CREDENTIALS: Final = '!f() { echo username=oauth2; echo "password=$TENANCY_TOKEN"; }; f'
"""What git runs to learn the token: in no argument of a program, where others on the machine could read it."""


@dataclass(frozen=True, slots=True)
class Review:
    """What the run is about: a pull request, or a push where `number` is None."""

    number: int | None = None
    base: str = ""
    """The commit that the branch is compared with, before looking for where it forked off; empty for none."""
    head: str = ""
    branch: str = ""
    fork: bool = False
    """Whether the branch is in another repository, where a run has no rights here."""


class Setup:
    """What the environment says."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.github = environment.get("GITHUB_ACTIONS") == "true"
        self.gitlab = environment.get("GITLAB_CI") == "true"
        self.tenancy = shlex.split(environment.get("TENANCY_COMMAND") or "tenancy")
        self.org = environment.get("TENANCY_ORG") or "org"
        self.out = environment.get("TENANCY_OUT") or ""
        self.strict = ["--strict"] if self.flag("STRICT") else []
        self.deletions = environment.get("TENANCY_MAX_DELETIONS") or ""
        self.token = environment.get("TENANCY_TOKEN") or ""
        folder = environment.get("RUNNER_TEMP") or "."
        self.plan = Path(environment.get("TENANCY_PLAN") or Path(folder) / "tenancy-plan.md")
        self.mark = f"<!-- tenancy-ci: {self.org.replace('--', '-')} -->"
        self.review = _of_github(environment) if self.github else _of_gitlab(environment)

    def flag(self, name: str) -> bool:
        """Whether a switch is on."""
        return (self.environment.get(f"TENANCY_{name}") or "").strip().lower() in ("true", "1", "yes", "on")

    def folders(self) -> list[str]:
        """The arguments that say where the organization and its output are."""
        return [self.org, *(["--out", self.out] if self.out else [])]

    def output(self) -> str:
        """The output folder."""
        return self.out or os.path.normpath(os.path.join(self.org, "..", "out"))

    def run_url(self) -> str:
        """The page of this run; empty where nothing says it."""
        if self.github:
            names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
            server, repository, run = (self.environment.get(name, "") for name in names)
            return f"{server}/{repository}/actions/runs/{run}"
        return self.environment.get("CI_JOB_URL", "")


def _of_github(environment: Mapping[str, str]) -> Review:
    event: dict[str, Any] = {}
    if path := environment.get("GITHUB_EVENT_PATH"):
        event = json.loads(Path(path).read_text(encoding="utf-8"))
    if pull := event.get("pull_request"):
        head = pull["head"]
        home = (head.get("repo") or {}).get("full_name")  # null where the fork is gone
        fork = home != pull["base"]["repo"]["full_name"]
        return Review(int(pull["number"]), pull["base"]["sha"], head["sha"], head["ref"], fork)
    head_sha = environment.get("GITHUB_SHA", "")
    if group := event.get("merge_group"):
        return Review(base=group["base_sha"], head=head_sha)
    return Review(base=event.get("before") or "", head=head_sha)


def _of_gitlab(environment: Mapping[str, str]) -> Review:
    head = environment.get("CI_COMMIT_SHA", "")
    if not (number := environment.get("CI_MERGE_REQUEST_IID")):
        return Review(base=environment.get("CI_COMMIT_BEFORE_SHA", ""), head=head)
    fork = environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID") != environment.get("CI_PROJECT_ID")
    # Set in pipelines of merged results only, where the commit that is checked out is not of the branch.
    head = environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or head
    branch = environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "")
    return Review(int(number), environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", ""), head, branch, fork)


def validate(setup: Setup) -> int:
    """Every finding, at its line: as annotations on GitHub, as a code quality report on GitLab."""
    command = [*setup.tenancy, "validate", setup.org, *setup.strict]
    if setup.github:
        return _run([*command, "--format", "github"]).returncode
    if setup.gitlab:
        done = _run([*command, "--format", "gitlab"], stdout=subprocess.PIPE)
        if done.stdout:
            Path("gl-code-quality-report.json").write_text(done.stdout, encoding="utf-8")
    return _run(command).returncode


def compile_(setup: Setup) -> int:
    """The output folder is what the organization compiles to; or, where that is asked for, is made so and committed."""
    if setup.flag("COMMIT"):
        if (reason := _uncommitted(setup)) is None:
            return _commit(setup)
        _say(setup, "notice", "out/ is not committed here", reason)
    done = _run([*setup.tenancy, "compile", *setup.folders(), "--check", "--no-cache"], stderr=subprocess.PIPE)
    print(done.stderr, end="", file=sys.stderr, flush=True)
    if re.search(r"^stale: ", done.stderr, re.MULTILINE):
        _say(
            setup,
            "error",
            f"{setup.output()} is not what {setup.org} compiles to",
            "run `tenancy compile`, and commit what it writes",
        )
    return done.returncode


def _uncommitted(setup: Setup) -> str | None:
    """Why this run may not commit; None if it may."""
    review = setup.review
    if review.number is None:
        return "this is no pull request; the output folder is only checked"
    if review.fork:
        return "the branch is in a fork, where this run may not push: run `tenancy compile` there"
    if _git("rev-parse", "HEAD").stdout.strip() != review.head:
        return f"the commit that is checked out is not {review.head}, the end of the branch: see docs/ci.md"
    return None


def _commit(setup: Setup) -> int:
    """Compile, and put what that changed on top of the branch."""
    if status := _run([*setup.tenancy, "compile", *setup.folders(), "--no-cache"]).returncode:
        return status
    out = setup.output()
    _git("add", "--all", "--", out)
    if _git("diff", "--cached", "--quiet", "--", out).returncode == 0:
        print(f"{out} was up to date: nothing to commit", flush=True)
        return 0
    author = setup.environment.get("TENANCY_AUTHOR") or "tenancy <tenancy@users.noreply.github.com>"
    name, _, address = author.rstrip(">").partition(" <")
    said = ["-c", f"user.name={name}", "-c", f"user.email={address}"]
    remote = "origin"
    if setup.gitlab and setup.token:  # a job's clone has a token that may not push
        said += ["-c", "credential.helper=", "-c", f"credential.helper={_CREDENTIALS}"]
        remote = f"{setup.environment.get('CI_PROJECT_URL')}.git"
    for command in (
        ["commit", "--quiet", "--message", f"Compile {setup.org}", "--", out],
        ["push", "--quiet", remote, f"HEAD:refs/heads/{setup.review.branch}"],
    ):
        done = _git(*said, *command)
        if done.returncode:
            print(done.stderr, end="", file=sys.stderr, flush=True)
            advice = "the run needs the right to push (docs/ci.md), and nobody else may have pushed meanwhile"
            _say(setup, "error", f"{out} could not be committed to {setup.review.branch}", advice)
            return 1
    print(f"{out} is compiled and committed to {setup.review.branch}", flush=True)
    return 0


def plan(setup: Setup) -> int:
    """What the change means, as Markdown: into a file for the comment, and the summary of the run."""
    base = setup.review.base
    setup.plan.write_text("", encoding="utf-8")
    if not base.strip("0"):
        print("no commit to compare with: no plan", flush=True)
        return 0
    if not _there(base):
        _say(
            setup, "error", f"{base[:12]} is not in this clone", "nothing to compare with: check out the whole history"
        )
        return _UNCHECKED
    base = _git("merge-base", "HEAD", base).stdout.strip() or base
    if _git("cat-file", "-e", f"{base}:./{os.path.relpath(setup.org)}").returncode:
        print(f"{base[:12]} has no {setup.org} yet: no plan", flush=True)
        return 0
    command = [*setup.tenancy, "diff", *setup.folders(), "--against", base, "--format", "markdown", *setup.strict]
    if setup.deletions:
        command += ["--max-deletions", setup.deletions]
    done = _run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print(done.stderr, end="", file=sys.stderr, flush=True)
    text = done.stdout if done.stdout.startswith(MARKER) else ""
    if not text and done.returncode:
        text = _no_plan(setup, done.stderr, done.returncode)
    if not done.returncode and _NOTHING.search(text):
        text = ""
    if text:
        first, _, rest = text.partition("\n")
        text = f"{first}\n{setup.mark}\n{rest.rstrip()}\n\n{_footer(setup, base)}\n"
    setup.plan.write_text(text, encoding="utf-8")
    if outputs := setup.environment.get("GITHUB_OUTPUT"):
        with Path(outputs).open("a", encoding="utf-8") as file:
            file.write(f"plan={setup.plan}\n")
    if summary := setup.environment.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text or f"`{setup.org}` means the same as in {base[:12]}.\n")
    if not setup.github:
        print(text, end="", flush=True)
    return done.returncode


def _no_plan(setup: Setup, findings: str, status: int) -> str:
    """What stands in the place of a plan that could not be made."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", findings))])
    if len(findings) > _LONGEST:
        findings = findings[:_LONGEST].rpartition("\n")[0] + "\n… (the log of the run has the rest)\n"
    reason = f"`{setup.org}` cannot be compiled" if status == 1 else "the comparison failed"
    return f"{MARKER} -->\n### No plan: {reason}\n\n{fence}text\n{findings.rstrip()}\n{fence}\n"


def _footer(setup: Setup, base: str) -> str:
    """Which commits the plan is about: a comment that is edited has no date of its own."""
    head = setup.review.head or _git("rev-parse", "HEAD").stdout.strip()
    url = setup.run_url()
    return f"<sub>{head[:12]} against {base[:12]}{f' · [run]({url})' if url else ''}</sub>"


def _there(commit: str) -> bool:
    """Whether a commit is in this clone, once its origin has been asked for it."""
    present = ("cat-file", "-e", f"{commit}^{{commit}}")
    if _git(*present).returncode:
        _git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", commit)
    return _git(*present).returncode == 0


def comment(setup: Setup) -> int:
    """One comment with the plan, kept up to date; none where there is nothing to say."""
    if (forge := _forge(setup)) is None:
        return 0
    body = setup.plan.read_text(encoding="utf-8") if setup.plan.exists() else ""
    try:
        done = publish(forge, body, setup.mark)
    except Refused as error:
        needed = "pull-requests: write" if setup.github else "the scope `api` and the role Reporter"
        if setup.review.fork:
            _say(setup, "notice", "the plan is not posted", "the token of a fork's run may only read; see the summary")
            return 0
        _say(setup, "error", "the plan could not be posted", f"{error}; the token needs {needed} (docs/ci.md)")
        return _UNCHECKED
    except Failed as error:
        _say(setup, "error", "the plan could not be posted", f"{error}; run the job again")
        return _UNCHECKED
    print(f"comment with the plan: {done}", flush=True)
    return 0


def _forge(setup: Setup) -> Forge | None:
    """The comments of the pull request; None where there is none, or no token for it."""
    review, environment = setup.review, setup.environment
    if review.number is None:
        print("no pull request: no comment", flush=True)
        return None
    if not setup.token:
        _say(setup, "notice", "the plan is not posted", "TENANCY_TOKEN is empty here (docs/ci.md); see the log")
        return None
    if setup.github:
        return GitHub(environment["GITHUB_GRAPHQL_URL"], setup.token, environment["GITHUB_REPOSITORY"], review.number)
    return GitLab(environment["CI_API_V4_URL"], setup.token, environment["CI_PROJECT_ID"], review.number)


def _say(setup: Setup, severity: str, title: str, text: str) -> None:
    """A message to whoever reads the run; an annotation on GitHub."""
    if setup.github:
        print(f"::{severity} title={_escaped(title, ':,')}::{_escaped(text)}", flush=True)
    else:
        print(f"{severity}: {title}: {text}", file=sys.stderr, flush=True)


def _escaped(text: str, more: str = "") -> str:
    """As the runner unescapes it."""
    return "".join(f"%{ord(each):02X}" if each in "%\r\n" + more else each for each in text)


def _run(command: Sequence[str], **streams: Any) -> subprocess.CompletedProcess[str]:
    """Run a command whose standard output and error are ours unless said otherwise."""
    try:
        return subprocess.run(command, text=True, encoding="utf-8", errors="replace", check=False, **streams)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return subprocess.CompletedProcess(command, _UNCHECKED, "", "")


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _run(["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


STEPS: Final[Mapping[str, Callable[[Setup], int]]] = {
    "validate": validate,
    "compile": compile_,
    "plan": plan,
    "comment": comment,
}


def _trust_checkout() -> None:
    """Let git read the folder that CI checked out, although in a container another user may own it."""
    count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    os.environ[f"GIT_CONFIG_KEY_{count}"] = "safe.directory"
    os.environ[f"GIT_CONFIG_VALUE_{count}"] = os.getcwd()
    os.environ["GIT_CONFIG_COUNT"] = str(count + 1)


def main(names: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the steps; the worst of their statuses."""
    if not names or any(name not in STEPS for name in names):
        print(f"usage: check.py STEP…, of {', '.join(STEPS)}", file=sys.stderr)
        return 2
    _trust_checkout()
    setup = Setup(environment)
    return max(STEPS[name](setup) for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
