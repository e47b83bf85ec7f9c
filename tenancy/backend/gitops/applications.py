"""Which Application has which files: one for each top-level department, one for the cluster as a whole, and one for
what is measured.

A department's has its queues and its namespaces, because the finalizer of a ClusterQueue is what keeps the namespace
of a removed team, and its running jobs, until they have ended (run on Argo CD 3.2): the waves of one Application wait
for it, those of two do not wait for each other. All Queues of Volcano are in that of the cluster: its webhook judges
each by its parent and its siblings. What is measured is of kinds that not every cluster has: only there does it fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import dirname

from tenancy.backend.gitops.kinds import DEPARTMENT, MONITORING, WHOLE, Kind, Kinds, kind_of
from tenancy.backend.manifest import Manifest, Page, Selection
from tenancy.model.gitops import MONITORING as MONITORING_NAME
from tenancy.model.gitops import application_name
from tenancy.plan.values import ClusterPlan


@dataclass(slots=True)
class Application:
    """What is synced together."""

    name: str
    department: str
    """At the top level; empty for what belongs to the cluster as a whole, or is measured of all."""
    kinds: Kinds
    """All that it may ever hold."""
    holds: set[Kind] = field(default_factory=set)
    """What it holds now."""
    monitoring: bool = False
    """Whether it has what is measured. Nothing waits for it."""
    objects: int = 0
    files: list[str] = field(default_factory=list)

    def selection(self) -> Selection:
        """The folder that the engine is told to apply: the folders of its files, none inside another."""
        found = sorted({dirname(file) for file in self.files})
        chosen = [folder for folder in found if not any(folder.startswith(f"{other}/") for other in found)]
        return Selection(f"apps/{self.name}", tuple(chosen))


@dataclass(slots=True)
class Applications:
    """The Applications of a cluster, which grow with each file that is added."""

    plan: ClusterPlan
    parts: dict[tuple[str, bool], Application] = field(default_factory=dict)
    """By department and whether it is what is measured."""

    def add(self, manifest: Manifest, *, custom: bool = False) -> None:
        """Take up a file; `custom` where a user's template made it."""
        if not manifest.objects:
            return
        monitoring = manifest.path.startswith(f"{MONITORING_NAME}/")
        part = ("" if monitoring else _department(self.plan, manifest, custom=custom), monitoring)
        found = self.parts.get(part)
        if found is None:
            found = self.parts[part] = _application(self.plan, *part)
        found.files.append(manifest.path)
        found.objects += len(manifest.objects)
        for obj in manifest.objects:
            found.holds.add(kind := kind_of(obj))
            if custom:
                cluster, namespaced = found.kinds
                inside = "namespace" in obj["metadata"]
                found.kinds = Kinds(cluster, namespaced | {kind}) if inside else Kinds(cluster | {kind}, namespaced)

    def __iter__(self) -> Iterator[Application]:
        """That of the cluster first, then what is measured, then by department."""
        return iter(self.parts[part] for part in sorted(self.parts))


def applications(
    plan: ClusterPlan, items: Iterable[Manifest | Page], custom: Iterable[Manifest] = ()
) -> tuple[Application, ...]:
    """The Applications of all files of a cluster."""
    found = Applications(plan)
    for item in items:
        if isinstance(item, Manifest):
            found.add(item)
    for manifest in custom:
        found.add(manifest, custom=True)
    return tuple(found)


def labels_of(plan: ClusterPlan, department: str) -> Mapping[str, str]:
    """The labels of what belongs to a top-level department; of the cluster as a whole without one."""
    if not department:
        return plan.labels
    return dict(sorted({**plan.labels, f"{plan.domain}/department": department}.items()))


def _application(plan: ClusterPlan, department: str, monitoring: bool) -> Application:
    kinds = MONITORING if monitoring else (DEPARTMENT if department else WHOLE)[plan.cluster.scheduler]
    name = application_name(plan.organization, plan.name, MONITORING_NAME if monitoring else department)
    return Application(name, department, kinds, monitoring=monitoring)


def _department(plan: ClusterPlan, manifest: Manifest, *, custom: bool) -> str:
    """The top-level department that a file belongs to. A file holds the objects of one unit, whose labels say it."""
    first, second, *_ = (*manifest.path.split("/"), "")
    if (first == "queues" and plan.volcano) or (custom and second in ("organization", "cluster")):
        return ""
    label = manifest.objects[0]["metadata"]["labels"].get(f"{plan.domain}/department", "")
    return plan.departments.get(label, "")
