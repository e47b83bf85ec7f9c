"""Which Application has which files: one for each top-level department, and one for the cluster as a whole.

A department's has its queues and its namespaces, because the finalizer of a ClusterQueue is what keeps the namespace
of a removed team, and its running jobs, until they have ended (run on Argo CD 3.2): the waves of one Application wait
for it, those of two do not wait for each other. All Queues of Volcano are in that of the cluster: its webhook judges
each by its parent and its siblings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import dirname

from tenancy.backend.gitops.kinds import DEPARTMENT, WHOLE, Kind, Kinds, kind_of
from tenancy.backend.manifest import Manifest, Page, Selection
from tenancy.model.gitops import application_name
from tenancy.plan.values import ClusterPlan


@dataclass(slots=True)
class Application:
    """What is synced together."""

    name: str
    department: str
    """At the top level; empty for what belongs to the cluster as a whole."""
    kinds: Kinds
    """All that it may ever hold."""
    holds: set[Kind] = field(default_factory=set)
    """What it holds now."""
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
    by_department: dict[str, Application] = field(default_factory=dict)

    def add(self, manifest: Manifest, *, custom: bool = False) -> None:
        """Take up a file; `custom` where a user's template made it."""
        if not manifest.objects:
            return
        department = _department(self.plan, manifest, custom=custom)
        found = self.by_department.get(department)
        if found is None:
            found = self.by_department[department] = _application(self.plan, department)
        found.files.append(manifest.path)
        found.objects += len(manifest.objects)
        for obj in manifest.objects:
            found.holds.add(kind := kind_of(obj))
            if custom:
                cluster, namespaced = found.kinds
                inside = "namespace" in obj["metadata"]
                found.kinds = Kinds(cluster, namespaced | {kind}) if inside else Kinds(cluster | {kind}, namespaced)

    def __iter__(self) -> Iterator[Application]:
        """That of the cluster first, then by department."""
        return iter(self.by_department[department] for department in sorted(self.by_department))


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


def _application(plan: ClusterPlan, department: str) -> Application:
    kinds = (DEPARTMENT if department else WHOLE)[plan.cluster.scheduler]
    return Application(application_name(plan.organization, plan.name, department), department, kinds)


def _department(plan: ClusterPlan, manifest: Manifest, *, custom: bool) -> str:
    """The top-level department that a file belongs to. A file holds the objects of one unit, whose labels say it."""
    first, second, *_ = (*manifest.path.split("/"), "")
    if (first == "queues" and plan.volcano) or (custom and second in ("organization", "cluster")):
        return ""
    label = manifest.objects[0]["metadata"]["labels"].get(f"{plan.domain}/department", "")
    return plan.departments.get(label, "")
