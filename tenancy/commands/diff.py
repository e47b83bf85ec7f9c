"""Show what a compilation would change, in promises first; or what a running cluster has otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tenancy.commands.findings import colour, print_all, show, status, width
from tenancy.commands.nodes import chosen, unread
from tenancy.commands.sides import LIVE, OUT, NoSide, Old, missing, of_output, of_revision
from tenancy.commands.status import Status
from tenancy.commands.where import organization, output
from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.diff import diff as differences
from tenancy.compare.effects import Side, sides
from tenancy.compare.removals import over_budget, removals
from tenancy.compare.snapshot import snapshots
from tenancy.compare.usage import Usage
from tenancy.compare.views.json import json
from tenancy.compare.views.markdown import LIMIT, markdown
from tenancy.compare.views.text import text
from tenancy.diagnostics import Diagnostic
from tenancy.live.source import Unreadable
from tenancy.live.usage import Sides, usage_of_cluster, usage_of_file
from tenancy.model.gitops import IN_CLUSTER
from tenancy.model.organization import Org
from tenancy.output.revision import NotRead
from tenancy.pipeline import Examined, Options, examine, generate
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.report.terminal import visible

if TYPE_CHECKING:
    from tenancy.live.client import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is compared with what."""

    against: str = OUT
    """`out`, `live` or a revision of git."""
    usage: str = ""
    """`live`, a file, or empty where it is not known."""
    cluster: str | None = None
    kubeconfig: Path | None = None
    context: str | None = None

    @property
    def live(self) -> bool:
        """Whether an API server is asked."""
        return LIVE in (self.against, self.usage)

    @property
    def one(self) -> bool:
        """Whether the comparison is of one cluster: a cluster knows nothing of the others."""
        return self.live or bool(self.usage) or self.cluster is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How the plan is shown."""

    format: str = "text"
    limit: int = LIMIT
    """Characters of Markdown."""
    objects: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What makes the command fail."""

    strict: bool = False
    most: str = ""
    """The most deletions, such as `20` or `10%`; empty for any number."""
    exit_code: bool = False


def diff(
    org: Path | None,
    out: Path | None,
    asked: Asked,
    shown: Shown,
    judged: Judged,
    *,
    today: date,
    accepted: Collection[str] = (),
) -> Status:
    """Print the plan on standard output and what there is to say against it on standard error."""
    if not asked.live and (asked.kubeconfig or asked.context):
        raise click.UsageError("--kubeconfig and --context are of a cluster: with --against live or --usage live")
    path = organization(org)
    found = examine(path, Options(today=today, accepted=accepted))
    show(found, "text", stream=sys.stderr, quiet=True)
    result = status(found.diagnostics)
    if result is not Status.CLEAN or found.org is None:
        return result
    try:
        made = _compared(path, out, asked, found, found.org)
    except (NoSide, NotRead) as error:
        return missing(error)
    except Unreadable as error:
        return unread(error)
    if made.diagnostics:
        print_all(made.diagnostics, None, 0, "text", stream=sys.stderr)
        return Status.UNCHECKED
    against = (*removals(made, strict=judged.strict), *(over_budget(made, judged.most) if judged.most else ()))
    diagnostics = (*found.diagnostics, *against)
    click.echo(_VIEWS[shown.format](made, diagnostics, shown, found.org), nl=False)
    if against:
        print_all(against, found.sources, 0, "text", stream=sys.stderr)
    result = status(diagnostics, strict=judged.strict)
    differs = judged.exit_code and (made.changes or made.drift)
    return Status.FINDINGS if result is Status.CLEAN and differs else result


def _compared(path: Path, out: Path | None, asked: Asked, found: Examined, org: Org) -> Comparison:
    """Both sides, of one cluster where only one is asked for, and what is known of its usage."""
    plans = found.plans or plan(org)
    cluster = chosen(plans, asked.cluster) if asked.one else None
    every = generate(org, found.custom, plans)
    files = _of(every, cluster)
    api = _server(asked) if asked.live else None
    drift: tuple[str, ...] = ()
    if asked.against == LIVE and cluster is not None and api is not None:
        old, drift = _running(api, files, cluster)
    elif asked.against == OUT:
        old = of_output(output(out, path), every)
    else:
        old = of_revision(asked.against, path, output(out, path))
    for note in old.notes:
        click.echo(f"note: {visible(note)}", err=True)
    before = _of(old.files, cluster)
    usage = _usage(asked, api, cluster, before, files) if asked.usage and cluster is not None else None
    try:
        made = compare(before, files, org.flavors, usage, old_flavors=old.flavors)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        if asked.against != LIVE:
            raise
        made = _unmeant(before, files, org, error)
    return replace(made, drift=drift)


def _unmeant(old: Mapping[str, str], new: Mapping[str, str], org: Org, error: Exception) -> Comparison:
    """Only the changes of objects: the API server takes amounts and forms that no compilation writes."""
    click.echo(f"note: what runs cannot be read as promises: {visible(str(error))}; only objects are shown", err=True)
    return replace(compare(new, new, org.flavors), changes=differences(*snapshots(old, new)))


def _of(files: Mapping[str, str], cluster: ClusterPlan | None) -> Mapping[str, str]:
    """The files of one cluster, or all of them."""
    if cluster is None:
        return files
    return {path: text for path, text in files.items() if path.partition("/")[0] == cluster.name}


def _server(asked: Asked) -> Api:
    """Imported here because `kubernetes` takes a third of a second, and no other side needs it."""
    from tenancy.live.client import Api  # noqa: PLC0415

    return Api(asked.kubeconfig, asked.context)


def _running(api: Api, files: Mapping[str, str], cluster: ClusterPlan) -> tuple[Old, tuple[str, ...]]:
    """What runs, and how it came to be otherwise."""
    from tenancy.live.drift import ARGOCD, FLUX, drift  # noqa: PLC0415 - imports the client
    from tenancy.live.drift_text import drift_lines  # noqa: PLC0415

    gitops = cluster.gitops
    elsewhere: Mapping[str, str] = {}
    if gitops is not None and gitops.engine == "argocd" and gitops.destination.get("server") != IN_CLUSTER:
        elsewhere = {path: text for path, text in files.items() if path.startswith(f"{cluster.name}/argocd/")}
    here = {path: text for path, text in files.items() if path not in elsewhere}
    manager = FLUX if gitops is not None and gitops.engine == "flux" else ARGOCD
    found = drift(api, here, cluster.organization, manager)
    notes = ("the objects of argocd/ are in the cluster of Argo CD and are not compared",) if elsewhere else ()
    return Old(files={**found.files, **elsewhere}, notes=notes), drift_lines(found, api.server)


def _usage(
    asked: Asked, api: Api | None, cluster: ClusterPlan, old: Mapping[str, str], new: Mapping[str, str]
) -> Usage:
    nobody = Side({})
    try:
        before, after = (sides(each).get(cluster.name, nobody) for each in snapshots(old, new))
    except (ValueError, LookupError, TypeError, AttributeError):  # of a running cluster, as in `_compared`
        before = after = nobody
    if api is not None and asked.usage == LIVE:
        return usage_of_cluster(api, cluster, Sides(before, after))
    return usage_of_file(Path(asked.usage), cluster, Sides(before, after))


def _text(made: Comparison, diagnostics: tuple[Diagnostic, ...], shown: Shown, org: Org) -> str:
    del diagnostics, org  # on standard error
    page = text(made, colour=colour(sys.stdout), width=width(sys.stdout), objects=shown.objects)
    drift = "".join(f"{visible(line)}\n" for line in made.drift)
    return f"{page}\n{drift}" if drift else page


def _markdown(made: Comparison, diagnostics: tuple[Diagnostic, ...], shown: Shown, org: Org) -> str:
    return markdown(made, diagnostics, limit=shown.limit, title=org.document.name)


def _json(made: Comparison, diagnostics: tuple[Diagnostic, ...], shown: Shown, org: Org) -> str:
    del shown, org
    return json(made, diagnostics)


View = Callable[[Comparison, tuple[Diagnostic, ...], Shown, Org], str]
_VIEWS: Final[Mapping[str, View]] = {"text": _text, "markdown": _markdown, "json": _json}
