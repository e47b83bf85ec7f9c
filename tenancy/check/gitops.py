"""Where out/ lives, and where an engine applies it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tenancy.check.finding import Check, Finding
from tenancy.diagnostics import Edit, KeyPath, Rule, Severity
from tenancy.model.document import Cluster, GitOps
from tenancy.model.gitops import (
    IN_CLUSTER,
    IN_CLUSTER_NAME,
    MONITORING,
    NAMESPACES,
    TITLES,
    application_name,
    bare,
    destination,
    engine_namespace,
    is_branch,
    repository,
    root_name,
    tenants_name,
)
from tenancy.model.organization import Org
from tenancy.model.syntax import is_dns_label

GITOPS_REPO: Final = Rule(
    "gitops-repo",
    Severity.ERROR,
    "A repository that the engine cannot fetch",
    "Every Application has its address: none of them would ever be synced, and the clusters stay as they are.",
)
GITOPS_CREDENTIALS: Final = Rule(
    "gitops-credentials",
    Severity.ERROR,
    "Credentials in the address of a repository",
    "The address is written into org.yaml and into every Application: whoever may read either could use them.",
)
GITOPS_BRANCH: Final = Rule(
    "gitops-branch",
    Severity.ERROR,
    "A branch that git cannot have",
    "The engine finds no such revision: nothing would ever be synced, and the clusters stay as they are.",
)
GITOPS_PATH: Final = Rule(
    "gitops-path",
    Severity.ERROR,
    "A folder outside of the repository",
    "The engine looks for the output inside the repository alone and refuses every other path.",
)
GITOPS_NAMESPACE: Final = Rule(
    "gitops-namespace",
    Severity.ERROR,
    "A namespace of the engine that Kubernetes cannot have",
    "The API server refuses every object of the engine, and nothing is ever synced.",
)
FLUX_VOLCANO: Final = Rule(
    "flux-volcano",
    Severity.ERROR,
    "Queues of Volcano that Flux would have to apply",
    "Flux asks the API server about all objects in a dry run before it applies the first (`ApplyAll` of its package "
    "ssa 0.83), and Volcano refuses a queue whose parent is not there yet or has no room yet. Nothing would ever be "
    "applied, however often Flux tries.",
)
TENANT_REPOS_OPEN: Final = Rule(
    "tenant-repos-open",
    Severity.WARNING,
    "Repositories of tenants that anybody can own",
    "Teams could run whatever stands in a repository that nobody of the organization reviews, with the rights of Argo "
    "CD in their namespaces.",
)
TENANT_REPOS_IGNORED: Final = Rule(
    "tenant-repos-ignored",
    Severity.ERROR,
    "Repositories of tenants where no project holds them",
    "Flux has no projects: what a team may apply there is what its service account may, and the list has no effect.",
)
DESTINATION_IGNORED: Final = Rule(
    "destination-ignored",
    Severity.ERROR,
    "A destination that nothing uses",
    "Only Applications of Argo CD have one. Somebody would rely on it, and the cluster is not synced from there.",
)
DESTINATION_FORM: Final = Rule(
    "destination-form",
    Severity.ERROR,
    "A destination that Argo CD cannot find",
    "It knows a cluster by its name or by the URL of its API server. With neither or both it refuses the Application.",
)
DESTINATION_TWICE: Final = Rule(
    "destination-twice",
    Severity.ERROR,
    "Two clusters with one destination",
    "The objects of both would go to the same API server: what both have is applied by two Applications in turn, and "
    "queues of one would count on nodes of the other.",
)
DESTINATION_ASSUMED: Final = Rule(
    "destination-assumed",
    Severity.WARNING,
    "Several clusters that are where Argo CD runs",
    "That is right where each cluster runs an Argo CD of its own. One Argo CD for all would apply everything to the "
    "cluster that it runs in.",
)
APPLICATION_NAME_LONG: Final = Rule(
    "application-name-long",
    Severity.ERROR,
    "An Application with a name of more than 63 characters",
    "Engines write it into a label of each object, and the API server refuses longer ones.",
)
APPLICATION_NAME_TWICE: Final = Rule(
    "application-name-twice",
    Severity.ERROR,
    "Two Applications of one name",
    "They would be one object: the second overwrites the first, and what that one held is pruned.",
)
APPLICATION_LARGE: Final = Rule(
    "application-large",
    Severity.WARNING,
    "An Application with many objects",
    "It still works, but everything about it takes longer: the first sync of 500 objects took Argo CD 46 s (run), one "
    "team that waits for its jobs to end holds up all others of the same Application, and 1,000 are refused.",
)
APPLICATION_TOO_LARGE: Final = Rule(
    "application-too-large",
    Severity.ERROR,
    "An Application with too many objects",
    "Argo CD keeps the state of all objects in the Application itself, which the API server bounds; a few thousand "
    "objects have stopped whole installations.",
)

_LONGEST: Final = 63
_EVERYTHING: Final = re.compile(r"[*/:.]*\*[*/:.]*|(?:https?|ssh)://\*.*|(?:https?|ssh)://[^/]*\*[^/]*(?:/.*)?")
"""Patterns that say nothing of the host."""


def source(org: Org) -> Iterator[Finding]:
    """The engine can fetch the output."""
    gitops = org.document.gitops
    if gitops is None:
        return
    yield from _repository(gitops, gitops.repo, ("gitops", "repo"))
    if not is_branch(gitops.branch) or gitops.branch.startswith("refs/"):
        name = gitops.branch.removeprefix("refs/heads/")
        path: KeyPath = ("gitops", "branch")
        meant = is_branch(name) and name != gitops.branch
        instead = f"write `{name}`" if meant else "write its name, such as `main`"
        edits = (Edit("set", path, name),) if meant else ()
        yield Finding(GITOPS_BRANCH, path, f"`{gitops.branch}` is no name of a branch", instead, edits=edits)
    if (why := _outside(gitops.path)) is not None:
        yield Finding(
            GITOPS_PATH, ("gitops", "path"), f"`{gitops.path}` {why}", "write it from the root, such as `out`"
        )
    namespace = engine_namespace(gitops)
    if not is_dns_label(namespace):
        message = f"`{namespace}` cannot be the namespace of {TITLES[gitops.engine]}"
        help_ = f"write lower-case letters, digits and dashes, such as `{NAMESPACES[gitops.engine]}`"
        yield Finding(GITOPS_NAMESPACE, ("gitops", "namespace"), message, help_)


def _repository(gitops: GitOps, text: str, path: KeyPath) -> Iterator[Finding]:
    """An address; in a pattern `*` stands for any text."""
    found = repository(text.replace("*", "x"))
    if found is None:
        example = "https://git.example/acme/gpus.git"
        yield Finding(GITOPS_REPO, path, f"`{text}` is no address of a git repository", f"write it as `{example}`")
    elif found.password or (found.user and found.scheme in ("http", "https")):
        # The message shows no secret a second time; only the excerpt of the file does.
        without = bare(text)
        help_ = f"write `{without}`, give {TITLES[gitops.engine]} a Secret for it, and replace what was written here"
        message = f"the address of `{found.host}` has credentials inside"
        yield Finding(GITOPS_CREDENTIALS, path, message, help_, edits=(Edit("set", path, without),))
    elif not found.scheme and gitops.engine == "flux":
        user = f"{found.user}@" if found.user else ""
        message, instead = f"Flux takes no address without `://`, as `{text}`", f"ssh://{user}{found.host}/"
        instead += found.path.lstrip("/")
        yield Finding(GITOPS_REPO, path, message, f"write `{instead}`", edits=(Edit("set", path, instead),))


def _outside(path: str) -> str | None:
    """Why a path is not that of a folder in a repository."""
    if re.search(r"[\x00-\x1f\x7f\\]", path) or not path.strip():
        return "is no path"
    if path.startswith("/"):
        return "is a path of a machine, not of the repository"
    normal = posixpath.normpath(path)
    return "leads out of the repository" if normal == ".." or normal.startswith("../") else None


def tenant_repos(org: Org) -> Iterator[Finding]:
    """Teams deploy from repositories that somebody answers for."""
    gitops = org.document.gitops
    if gitops is None or gitops.tenant_repos is None:
        return
    path: KeyPath = ("gitops", "tenantRepos")
    if gitops.engine == "flux":
        message, help_ = "Flux has no projects that `tenantRepos` could hold", "remove it"
        yield Finding(TENANT_REPOS_IGNORED, path, message, help_, at_key=True, edits=(Edit("remove", path),))
        return
    for index, pattern in enumerate(gitops.tenant_repos):
        if _EVERYTHING.fullmatch(pattern):
            message = f"`{pattern}` matches repositories of any host"
            help_ = "name the host and the owner: `https://git.example/acme/*`"
            yield Finding(TENANT_REPOS_OPEN, (*path, index), message, help_)
        else:
            yield from _repository(gitops, pattern, (*path, index))


def schedulers(org: Org) -> Iterator[Finding]:
    """The engine can apply what the scheduler gets."""
    gitops = org.document.gitops
    if gitops is None or gitops.engine != "flux":
        return
    for name, cluster in org.document.clusters.items():
        if cluster.scheduler == "volcano":
            message = f"Flux cannot apply the queues of cluster `{name}`: Volcano refuses a dry run of a whole tree"
            help_ = "use `engine: argocd`, which applies one after the other and tries again, or `scheduler: kueue`"
            related = (("the engine", ("gitops", "engine")),)
            yield Finding(FLUX_VOLCANO, ("clusters", name, "scheduler"), message, help_, related)


def destinations(org: Org) -> Iterator[Finding]:
    """Each cluster has a destination of its own, where Argo CD asks for one."""
    gitops, sound = org.document.gitops, dict[str, Cluster]()
    for name, cluster in org.document.clusters.items():
        path: KeyPath = ("clusters", name, "destination")
        if cluster.destination is not None and (gitops is None or gitops.engine != "argocd"):
            yield _ignored(name, path, flux=gitops is not None)
        elif (why := _malformed(cluster)) is not None:
            help_ = "write one of both: `{name: NAME}` as `argocd cluster list` shows it, or `{server: https://…}`"
            yield Finding(DESTINATION_FORM, path, f"the destination of cluster `{name}` {why}", help_)
        else:
            sound[name] = cluster
    if gitops is not None and gitops.engine == "argocd":
        yield from _shared(sound)


def _ignored(name: str, path: KeyPath, *, flux: bool) -> Finding:
    if flux:
        message = f"cluster `{name}` has a destination, but Flux applies to the cluster that it runs in"
        help_ = "remove it, and bootstrap Flux there"
        return Finding(DESTINATION_IGNORED, path, message, help_, at_key=True, edits=(Edit("remove", path),))
    message = f"cluster `{name}` has a destination, but the organization has no `gitops`"
    help_ = "add `gitops: {repo: https://git.example/acme/gpus.git}`, or remove the destination"
    return Finding(DESTINATION_IGNORED, path, message, help_, at_key=True)


def _malformed(cluster: Cluster) -> str | None:
    said = cluster.destination
    if said is None:
        return None
    if bool(said.name) == bool(said.server):
        return "has both `name` and `server`" if said.name else "has neither `name` nor `server`"
    if said.server and not re.fullmatch(r"https?://[^\s/@]+(?:/\S*)?", said.server):
        return f"is no URL of an API server: `{said.server}`"
    return None


def _shared(clusters: dict[str, Cluster]) -> Iterator[Finding]:
    """Two clusters in one place: written so, or by default."""
    first: dict[str, str] = {}
    for name, cluster in clusters.items():
        place = _place(cluster)
        other = first.setdefault(place, name)
        if other == name:
            continue
        related: tuple[tuple[str, KeyPath], ...] = ((f"cluster `{other}`", ("clusters", other)),)
        path: KeyPath = ("clusters", name) if cluster.destination is None else ("clusters", name, "destination")
        if place == IN_CLUSTER:
            message = f"clusters `{other}` and `{name}` are both where Argo CD runs"
            help_ = f"give `{name}` a `destination`; with an Argo CD in each, silence this with a comment"
            yield Finding(DESTINATION_ASSUMED, path, message, help_, related, at_key=True)
        else:
            message = f"clusters `{other}` and `{name}` have one destination, `{place}`"
            help_ = "give each its own; `argocd cluster list` shows those that Argo CD knows"
            yield Finding(DESTINATION_TWICE, path, message, help_, related)


def _place(cluster: Cluster) -> str:
    (place,) = destination(cluster).values()
    return IN_CLUSTER if place.rstrip("/") in (IN_CLUSTER, IN_CLUSTER_NAME) else place.rstrip("/")


class _Named(NamedTuple):
    """What an engine knows by a name."""

    name: str
    what: str
    path: KeyPath


def names(org: Org) -> Iterator[Finding]:
    """Each Application and each project has a name of its own that fits into a label."""
    if org.document.gitops is None:
        return
    first: dict[str, _Named] = {}
    for each in _named(org):
        other = first.setdefault(each.name, each)
        if other is not each:
            message = f"{other.what} and {each.what} would have one Application, `{each.name}`"
            related = ((other.what, other.path),)
            yield Finding(APPLICATION_NAME_TWICE, each.path, message, "rename one of them", related, at_key=True)
        elif len(each.name) > _LONGEST:
            message = f"the Application of {each.what} comes to {len(each.name)} characters: `{each.name}`"
            help_ = "shorten the name of the organization, the cluster or the department"
            yield Finding(APPLICATION_NAME_LONG, each.path, message, help_, at_key=True)


def _named(org: Org) -> Iterator[_Named]:
    """In the order of the clusters; the project of a department's tenants is told by the department."""
    name, tenants = org.document.name, org.document.gitops is not None and org.document.gitops.tenant_repos is not None
    for cluster, said in org.document.clusters.items():
        whole = _Named(root_name(name, cluster), f"the Applications of cluster `{cluster}`", ("clusters", cluster))
        yield whole
        yield whole._replace(name=application_name(name, cluster), what=f"cluster `{cluster}` as a whole")
        if (said.telemetry.prometheus, said.telemetry.grafana) != ("off", "off"):
            measured = application_name(name, cluster, MONITORING)
            yield whole._replace(name=measured, what=f"what is measured in cluster `{cluster}`")
    for unit in org.root.children:
        for cluster in sorted(unit.clusters):
            own = application_name(name, cluster, unit.name)
            yield _Named(own, f"department `{unit.name}` in cluster `{cluster}`", unit.path)
            if tenants:
                yield _Named(tenants_name(own), f"the teams of `{unit.name}` in cluster `{cluster}`", unit.path)


RULES: Final = (
    GITOPS_REPO,
    GITOPS_CREDENTIALS,
    GITOPS_BRANCH,
    GITOPS_PATH,
    GITOPS_NAMESPACE,
    FLUX_VOLCANO,
    TENANT_REPOS_OPEN,
    TENANT_REPOS_IGNORED,
    DESTINATION_IGNORED,
    DESTINATION_FORM,
    DESTINATION_TWICE,
    DESTINATION_ASSUMED,
    APPLICATION_NAME_LONG,
    APPLICATION_NAME_TWICE,
    APPLICATION_LARGE,
    APPLICATION_TOO_LARGE,
)
CHECKS: Final[tuple[Check, ...]] = (source, tenant_repos, schedulers, destinations, names)
