"""Write a repository to start with: an organization, its output, checks for pull requests, and how to go on."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click

from tenancy import __version__
from tenancy.commands.status import Status
from tenancy.model import gitops, schema
from tenancy.model.versions import DEFAULT_KUBERNETES, DEFAULT_KUEUE, DEFAULT_VOLCANO
from tenancy.output.place import in_the_way, place
from tenancy.output.write import survey, write
from tenancy.pipeline import examine, generate
from tenancy.render.pages import page, pages

_ORG: Final = (
    ("org.yaml.j2", "org/org.yaml"),
    ("research.yaml.j2", "org/departments/research.yaml"),
    ("product.yaml.j2", "org/departments/product.yaml"),
)
_PAGES: Final = ("README", "BOOTSTRAP")
_AROUND: Final = (
    *((f"{name}.md.j2", f"{name}.md") for name in _PAGES),
    ("CODEOWNERS.j2", "CODEOWNERS"),
    ("gitattributes.j2", ".gitattributes"),
    ("gitignore.j2", ".gitignore"),
    ("pre-commit-config.yaml.j2", ".pre-commit-config.yaml"),
)
CI: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "github": (("github.yml.j2", ".github/workflows/tenancy.yml"),),
    "gitlab": (("gitlab-ci.yml.j2", ".gitlab-ci.yml"),),
    "none": (),
}
_SHADOWS: Final = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
"""Other places of CODEOWNERS: GitHub and GitLab read one of them, so a second file is of no effect or takes it away."""

UNKNOWN: Final = "https://github.com/<owner>/tenancy"
"""In place of where tenancy is published, if nothing says it. No account can have that name, so that a check fails with
it; a name that anybody could register would run what they publish."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the repository is to be."""

    name: str
    """For people; names on the cluster are made of it."""
    scheduler: str
    engine: str
    """`argocd`, `flux` or `none`."""
    repo: str
    """Where it will be; empty where that is not known."""
    ci: str
    """A key of CI; empty for what fits `repo`."""
    tool: str
    """Where tenancy itself is published, as URL or URL@REF; empty for where this one was installed from."""
    skip: Collection[str] = ()
    """Files to leave out."""


def init(root: Path, wanted: Wanted) -> Status:
    """Write all of it, or nothing where a file is in the way."""
    _refuse_inner(root)
    values = _values(wanted)
    around = dict(_around(values))
    if unknown := sorted(set(wanted.skip) - set(around)):
        raise click.UsageError(f"{unknown[0]!r} cannot be left out; these can: {', '.join(sorted(around))}")
    files = {**_organization(values), **around}
    for name in wanted.skip:
        del files[name]
    taken = _taken(root, files)
    if taken:
        _refuse(root, taken, set(around))
        return Status.FINDINGS
    try:
        place(root, files)
    except OSError as error:
        click.echo(f"{error.filename}: {error.strerror}; nothing was written", err=True)
        return Status.UNCHECKED
    _report(root, files, values)
    return Status.CLEAN


def slug(name: str) -> str:
    """The name as labels and queues have it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _values(wanted: Wanted) -> dict[str, Any]:
    """What the templates know."""
    name = slug(wanted.name)
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,29}", name) or not wanted.name.isprintable():
        raise click.UsageError(f"{wanted.name!r} is no name: it needs a letter first, and 30 of a-z, 0-9 and - at most")
    gitops_wanted = wanted.engine != "none"
    repository = gitops.repository(wanted.repo) if wanted.repo else None
    if wanted.repo and repository is None:
        raise click.UsageError(f"{wanted.repo!r} is no address of a git repository")
    if gitops_wanted and repository is None:
        raise click.UsageError(f"--engine {wanted.engine} needs --repo: the engine reads out/ from there")
    if (wanted.engine, wanted.scheduler) == ("flux", "volcano"):
        raise click.UsageError("Flux cannot apply Volcano's queues (`flux-volcano`); --engine argocd can")
    host, path = (repository.host, repository.path) if repository else ("", "")
    owner = path.strip("/").removesuffix(".git").rpartition("/")[0] or name
    ci = wanted.ci or ("gitlab" if "gitlab" in host else "github")
    forge = ci if ci != "none" else "gitlab" if "gitlab" in host else "github"
    tool, ref = _tool(wanted.tool)
    return {
        "name": name,
        "title": wanted.name,
        "domain": f"gpu.{name}.example",
        "scheduler": wanted.scheduler,
        "versions": {"kubernetes": DEFAULT_KUBERNETES, "kueue": DEFAULT_KUEUE, "volcano": DEFAULT_VOLCANO},
        "gitops": gitops_wanted,
        "engine": wanted.engine,
        "engine_name": gitops.TITLES.get(wanted.engine, "`kubectl apply`"),
        "repo": wanted.repo,
        "branch": "main",
        "ci": ci,
        "ci_file": "".join(path for _, path in CI[ci]) or "the check",
        "forge": forge,
        "request": "merge request" if forge == "gitlab" else "pull request",
        "owners": f"@{owner}",
        "tool": tool,
        "ref": ref,
        "action": urlsplit(tool).path.strip("/").removesuffix(".git"),
        "raw": _raw(tool, ref),
        "same_host": host not in ("", "github.com") and urlsplit(tool).hostname == host,
    }


def _tool(given: str) -> tuple[str, str]:
    """Where tenancy is published, and the ref of this version of it."""
    released = f"v{__version__}"
    if given:
        head, slash, last = given.rpartition("/")
        last, _, ref = last.partition("@")
        return f"{head}{slash}{last}", ref or released
    try:
        origin = json.loads(distribution("tenancy").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    if (vcs := origin.get("vcs_info")) and (url := str(origin["url"])).startswith("https://"):
        return url, vcs.get("requested_revision") or vcs["commit_id"]
    return UNKNOWN, released


def _raw(tool: str, ref: str) -> str:
    """Where single files of a repository are read, as GitHub and GitLab have it."""
    parts = urlsplit(tool.removesuffix(".git"))
    if parts.netloc == "github.com":
        return f"https://raw.githubusercontent.com{parts.path}/{ref}"
    return f"{parts.geturl()}/-/raw/{ref}"


def _around(values: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """What stands around an organization and its output."""
    environment = pages()
    for template, path in (*_AROUND, *CI[values["ci"]]):
        yield path, page(environment, f"init/{template}", values).encode()


def _organization(values: Mapping[str, Any]) -> dict[str, bytes]:
    """The organization with its schemas, and what it compiles to."""
    environment = pages()
    texts = {path: page(environment, f"init/{template}", values) for template, path in _ORG}
    texts |= {f"org/{name}.schema.json": schema.text(name) for name in ("organization", "departments")}
    with tempfile.TemporaryDirectory(prefix="tenancy-init-") as folder:
        root = Path(folder)
        place(root, {path: text.encode() for path, text in texts.items()})
        found = examine(root / "org")
        if found.org is None or found.diagnostics:
            raise ValueError(
                "the templates of init have findings: " + "; ".join(str(each) for each in found.diagnostics)
            )
        compiled = generate(found.org, found.custom, found.plans)
        write(root / "out", compiled, survey(root / "out", compiled))
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in _files(root)}


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def _refuse_inner(root: Path) -> None:
    """A folder inside a repository is no place for what belongs to the root of one."""
    if root.exists() and not root.is_dir():
        raise click.UsageError(f"{str(root)!r} is a file")
    here = root.absolute()
    outer = [folder for folder in here.parents if (folder / ".git").exists()]
    if outer and not (here / ".git").exists():
        raise click.UsageError(
            f"{str(root)!r} is inside the git repository {str(outer[0])!r}, whose root is where checks and owners are"
            f" read: run `tenancy init` there, or `git init` in {str(root)!r} first"
        )


def _taken(root: Path, files: Mapping[str, bytes]) -> list[str]:
    """What is in the way. Any other file in org/ could change what it means, so that folder and out/ must be empty."""
    taken = {name for name in in_the_way(root, files) if name.partition("/")[0] not in ("org", "out")}
    for folder in ("org", "out"):
        path = root / folder
        if path.is_symlink() or (os.path.lexists(path) and (not path.is_dir() or any(path.iterdir()))):
            taken.add(f"{folder}/" if path.is_dir() else folder)
    if "CODEOWNERS" in files:
        taken |= {name for name in _SHADOWS if os.path.lexists(root / name)}
    return sorted(taken)


def _refuse(root: Path, taken: Collection[str], around: Collection[str]) -> None:
    click.echo(f"{root}: nothing was written; in the way:", err=True)
    for name in taken:
        click.echo(f"  {name}", err=True)
    ours = sorted({"CODEOWNERS" if name in _SHADOWS else name for name in taken})
    if set(ours) <= set(around):
        click.echo(f"To keep these and leave ours out: {' '.join(f'--skip {name}' for name in ours)}", err=True)


def _report(root: Path, files: Collection[str], values: Mapping[str, Any]) -> None:
    click.echo(f"{root}: {len(files)} files written")
    for name in sorted({name.partition("/")[0] + "/" * ("/" in name) for name in files}):
        click.echo(f"  {name}")
    if values["tool"] == UNKNOWN and values["ci"] != "none":
        click.echo(f"Nothing says where tenancy is published: put it in place of <owner> in {values['ci_file']} and")
        click.echo(".pre-commit-config.yaml, or start again with --tool URL.")
    click.echo("README.md says how to go on." if "README.md" in files else "Next: tenancy validate --strict")
