"""A defect forced past our checks: from which organization its objects are compiled, and what is then edited by hand.

Where the model can say the mistake, the organization is compiled although it has an error. Where it cannot (a word that
it does not know, a number that it drops), the mistake is written into the compiled objects of a healthy organization,
as somebody would who writes Kueue's YAML.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.cluster import deploy
from tests.cluster.client import Object
from tests.cluster.defects.stage import Probe, Stage
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.defects.test_defects import DEFECTS, Defect, edited

Edit: TypeAlias = Callable[[list[Object]], None]
"""Writes a mistake into compiled objects, in place."""

GPU: Final = "nvidia.com/gpu"
H100: Final = "h100"
NEW: Final = "-new"
"""A flavor with a topology cannot be edited, so one that is written differently gets a name of its own."""
HEALTHY: Final = Defect(name="none", code="", line="")
WEIGHTED: Final = Defect(name="weighted", code="", line="", old="    sharing: first-come\n")
"""No mistake: the trial organization with weighted sharing."""
BY_NAME: Final = {defect.name: defect for defect in (HEALTHY, WEIGHTED, *DEFECTS)}
API_SERVER: Final = "API server"
WEBHOOK: Final = "Kueue's webhook"


ASIDE: Final = ("tenancy-queueing", "tenancy-priorities")
"""Guards of ours that would answer before Kueue does: the page says what happens without us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forced:
    """One row: a mistake, our code for it, and what to look at once it is applied."""

    name: str
    """Of the seeded defect, or of a further mistake."""
    code: str
    """That we refuse it with; empty for the one that is accepted."""
    written: str
    """What stands in the objects, in Markdown."""
    refused: str = ""
    """Who refuses an object on its own, as far as is known: API_SERVER, WEBHOOK or nobody."""
    base: str = "bad"
    """Of the defect: compiled from its `bad` or its `near` edit, or from the `trial` organization."""
    of: str = ""
    """The defect, where it is not the one of this name."""
    edits: tuple[Edit, ...] = ()
    before: Callable[[Stage], None] | None = None
    """What happens while all is well, before the defect is applied."""
    probe: Probe | None = None
    """What is done and seen then; None where nothing of it gets past admission."""


def compiled(forced: Forced, cluster: Cluster) -> Compiled:
    """The objects that would have been applied had nobody refused them, for the versions of a cluster."""
    name = HEALTHY.name if forced.base == "trial" else forced.of or forced.name
    made = _compiled(name, forced.base, cluster.kubernetes, cluster.kueue)
    objects = copy.deepcopy(list(made.objects))
    for edit in forced.edits:
        edit(objects)
    return replace(made, objects=tuple(objects))


def healthy(cluster: Cluster) -> Compiled:
    """The trial organization as it is."""
    return _compiled(HEALTHY.name, "trial", cluster.kubernetes, cluster.kueue)


def near(name: str, cluster: Cluster) -> Compiled:
    """The nearest organization to a defect that has none."""
    return _compiled(name, "near", cluster.kubernetes, cluster.kueue)


@cache
def _compiled(name: str, base: str, kubernetes: str, kueue: str) -> Compiled:
    defect = BY_NAME[name]
    text, files = (defect.near, defect.near_files) if base == "near" else (defect.bad, defect.bad_files)
    with tempfile.TemporaryDirectory() as folder:
        found = edited(defect, text, files, Path(folder))
    assert found.org is not None
    made = deploy.compiled(found.org, kueue=kueue, kubernetes=kubernetes)
    return replace(made, objects=tuple(item for item in made.objects if item["metadata"]["name"] not in ASIDE))


# Words for edits.


def find(objects: Iterable[Object], kind: str, name: str, namespace: str | None = None) -> Object:
    """The object of a kind and a name; the first of several."""
    return next(
        item
        for item in objects
        if item["kind"] == kind
        and item["metadata"]["name"] == name
        and namespace in (None, item["metadata"].get("namespace"))
    )


def spec(objects: Iterable[Object], kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
    """Its spec."""
    found: dict[str, Any] = find(objects, kind, name, namespace)["spec"]
    return found


def group(objects: Iterable[Object], kind: str, name: str) -> dict[str, Any]:
    """The one resource group of a ClusterQueue or Cohort."""
    (found,) = spec(objects, kind, name)["resourceGroups"]
    result: dict[str, Any] = found
    return result


def quota_of(
    objects: Iterable[Object], queue: str, flavor: str = H100, resource: str = GPU, kind: str = "ClusterQueue"
) -> dict[str, Any]:
    """The quota of a resource on a flavor in a ClusterQueue or a Cohort."""
    flavors = group(objects, kind, queue)["flavors"]
    resources = next(each for each in flavors if each["name"] == flavor)["resources"]
    found: dict[str, Any] = next(each for each in resources if each["name"] == resource)
    return found


def renamed(flavor: str) -> Edit:
    """Give a flavor a new name, and so a life of its own beside the one that is in use."""
    new = flavor + NEW

    def edit(objects: list[Object]) -> None:
        for item in objects:
            if item["kind"] == "ResourceFlavor" and item["metadata"]["name"] == flavor:
                item["metadata"]["name"] = item["spec"]["topologyName"] = new
            elif item["kind"] == "Topology" and item["metadata"]["name"] == flavor:
                item["metadata"]["name"] = new
            elif item["kind"] in ("ClusterQueue", "Cohort"):
                for each in item["spec"].get("resourceGroups", ()):
                    for entry in each["flavors"]:
                        entry["name"] = new if entry["name"] == flavor else entry["name"]

    return edit
