"""The stages in their order: from a path to an examined organization.

Only `load` touches files here; every stage hands on a value and its diagnostics, and an error stops the next stage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TypeAlias

from tenancy.backend import CODES, PARITIES, items
from tenancy.backend.gitops import marked, synced
from tenancy.backend.gitops.applications import applications
from tenancy.backend.gitops.sizes import large
from tenancy.backend.losses import losses, not_there, unknown
from tenancy.backend.manifest import Manifest
from tenancy.backend.parity import Promise, lost
from tenancy.backend.parity import parity as promises
from tenancy.check import check
from tenancy.check.finding import placed
from tenancy.diagnostics import Diagnostic, KeyPath, Severity, has_errors, in_file_order
from tenancy.load import load
from tenancy.load.source import Sources
from tenancy.load.templates import Extensions
from tenancy.model.budgets import promise
from tenancy.model.document import Organization
from tenancy.model.organization import Org, organize
from tenancy.model.parse import parse
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tenancy.render.conform import checker
from tenancy.render.files import render

Custom: TypeAlias = Mapping[str, tuple[Manifest, ...]]
"""What users' templates make, by cluster."""


@dataclass(frozen=True, slots=True)
class Examined:
    """An organization with all that was found. `org` is None where there was too little of it to check."""

    org: Org | None
    sources: Sources | None
    diagnostics: tuple[Diagnostic, ...]
    """In file order, without the silenced ones."""
    silenced: int = 0
    custom: Custom = field(default_factory=dict)
    """For `generate`; empty where the organization has errors."""
    plans: tuple[ClusterPlan, ...] = ()
    """For `generate`, where they were made already; empty where nothing needed them."""

    @property
    def sound(self) -> bool:
        """Whether it may be compiled."""
        return self.org is not None and not has_errors(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Options:
    """How an organization is looked at."""

    today: date | None = None
    """What `expires` is compared with; None compares nothing."""
    scheduler: str = ""
    """The scheduler of every cluster, in place of the one that is written; empty for the written ones."""
    accepted: Collection[str] = ()
    """Codes of losses that are accepted, beside those that a cluster accepts."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts that stand in for files on the disk, by the name that diagnostics show: an edit before it is written."""


def examine(path: Path, options: Options = Options()) -> Examined:
    """Load, parse and check the organization at `path`; every finding of every stage that could run."""
    loaded, diagnostics = load(path, options.texts)
    if loaded is None:
        return Examined(None, None, tuple(in_file_order(diagnostics)))
    extensions = loaded.extensions
    if loaded.tree is None:
        return _examined(None, loaded.sources, [*diagnostics, *_customized(None, extensions)[1]])
    parsed, shapes = parse(loaded.tree, loaded.sources, _unread(diagnostics))
    diagnostics = [*diagnostics, *shapes]
    org: Org | None = None
    plans: tuple[ClusterPlan, ...] = ()
    if parsed.organization is not None:
        org = organize(_scheduled(parsed.organization, options.scheduler), parsed.left_out)
        promise(org)
        diagnostics += check(org, loaded.sources, options.today)
        diagnostics += [placed(finding, loaded.sources) for finding in unknown(org, CODES)]
        if not has_errors(diagnostics) and _loses(org):
            plans = plan(org)
            diagnostics += _losses(org, plans, loaded.sources, options)
    custom, found = _customized(None if has_errors(diagnostics) else org, extensions, plans)
    diagnostics += found
    if org is not None and org.document.gitops is not None and not has_errors(diagnostics):
        plans = plans or plan(org)
        diagnostics += _sizes(plans, custom, loaded.sources)
    return _examined(org, loaded.sources, diagnostics, custom, plans)


def parity(org: Org) -> Iterator[Promise]:
    """What becomes of every promise of an organization without errors, cluster by cluster."""
    for cluster in plan(org):
        yield from promises(org, cluster, PARITIES[cluster.cluster.scheduler])


def generate(org: Org, custom: Custom, plans: tuple[ClusterPlan, ...] = ()) -> dict[str, str]:
    """The text of every file of out/ by its path: plan, backend and render of each cluster, with what `Examined` has.

    Raises `tenancy.backend.manifest.Nonconforming` where an object does not fit its schema.
    """
    files: dict[str, str] = {}
    for cluster in plans or plan(org):
        check_object = checker(kubernetes=cluster.kubernetes, kueue=cluster.kueue, volcano=cluster.volcano)
        added = custom.get(cluster.name, ())
        every = synced(cluster, items(cluster), added)
        files |= render(cluster.name, every, check_object, [marked(cluster, manifest) for manifest in added])
    return files


def _scheduled(document: Organization, scheduler: str) -> Organization:
    """The organization with this scheduler in every cluster."""
    if not scheduler:
        return document
    clusters = {
        name: cluster.model_copy(update={"scheduler": scheduler}) for name, cluster in document.clusters.items()
    }
    return document.model_copy(update={"clusters": clusters})


def _loses(org: Org) -> bool:
    """Whether a cluster may lose anything, or accepts that it does. The reference keeps all."""
    return any(cluster.scheduler != "kueue" or cluster.accept for cluster in org.document.clusters.values())


def _losses(org: Org, plans: tuple[ClusterPlan, ...], sources: Sources, options: Options) -> Iterator[Diagnostic]:
    """What schedulers do not keep, and what is accepted without need.

    What a cluster accepts is about the scheduler that is written: it says nothing while another one is tried.
    """
    for cluster in plans:
        found = lost(org, cluster, PARITIES[cluster.cluster.scheduler])
        yield from (placed(finding, sources) for finding in losses(org, cluster, found, options.accepted))
        if not options.scheduler:
            codes = {loss.code for loss in found}
            yield from (placed(finding, sources) for finding in not_there(cluster, codes, CODES))


def _sizes(plans: tuple[ClusterPlan, ...], custom: Custom, sources: Sources) -> Iterator[Diagnostic]:
    """Applications that are too large, with what users' templates add to them."""
    for cluster in plans:
        found = applications(cluster, items(cluster), custom.get(cluster.name, ()))
        yield from (placed(finding, sources) for finding in large(cluster, found))


def _customized(
    org: Org | None, extensions: Extensions, plans: tuple[ClusterPlan, ...] = ()
) -> tuple[Custom, list[Diagnostic]]:
    """What the users' templates make of a sound organization; without one, they are only parsed."""
    diagnostics = list(extensions.diagnostics)
    if not extensions.templates and not extensions.schemas:
        return {}, diagnostics
    # Imported here because jinja2 costs tens of milliseconds, and most organizations have no templates.
    from tenancy.render.compiled import compiled  # noqa: PLC0415
    from tenancy.render.custom import customize  # noqa: PLC0415

    ready, problems = compiled(extensions)
    diagnostics += problems
    if org is None or not ready.templates:
        return {}, diagnostics
    custom, problems = customize(org, ((cluster, items(cluster)) for cluster in plans or plan(org)), ready)
    diagnostics += problems
    return {} if has_errors(diagnostics) else custom, diagnostics


def _unread(diagnostics: list[Diagnostic]) -> frozenset[KeyPath]:
    """The paths that the loader could not read; a file that it could not place leaves some department out."""
    somewhere: KeyPath = ("departments", "")
    return frozenset(diagnostic.place.path or somewhere for diagnostic in diagnostics)


def _examined(
    org: Org | None,
    sources: Sources,
    diagnostics: list[Diagnostic],
    custom: Custom | None = None,
    plans: tuple[ClusterPlan, ...] = (),
) -> Examined:
    shown = [diagnostic for diagnostic in diagnostics if not silenced(diagnostic, sources)]
    return Examined(org, sources, tuple(in_file_order(shown)), len(diagnostics) - len(shown), custom or {}, plans)


def silenced(diagnostic: Diagnostic, sources: Sources) -> bool:
    """Whether a comment silences the finding. No comment silences an error: what it stands for cannot be compiled."""
    place = diagnostic.place
    return diagnostic.severity is not Severity.ERROR and diagnostic.code in sources.ignores.get(
        (place.file, place.line), ()
    )
