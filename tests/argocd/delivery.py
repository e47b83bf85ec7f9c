"""The words of these tests: an organization is compiled and committed, Argo CD brings it to the cluster, and then what?

Everything is read from the Applications and from the objects that they own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import yaml

from tenancy.pipeline import Custom, generate
from tests.argocd.repository import BRANCH, OUT, Repository
from tests.cluster import argocd, deploy
from tests.cluster.argocd import APPLICATIONS
from tests.cluster.client import Object, label
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster

PATIENCE: Final = 300.0
"""Seconds. A machine that is busy makes a sync last, and a sync of many waves lasts by itself."""
REFRESH: Final = "argocd.argoproj.io/refresh"
APPROVED: Final = "argocd.argoproj.io/deletion-approved"
WITH_STATUS: Final = ("ClusterQueue", "Cohort", "LocalQueue", "Queue", "ResourceQuota")
"""Kinds whose status says what is used: it moves with the work of the tenants."""
ASKS: Final = "Waiting for pruning confirmation"
"""What an operation says that waits for somebody's approval."""
CONFIG: Final = "argocd/argocd-cm.yaml"
"""What the compiler wants in Argo CD's own ConfigMap: a merge patch."""
BOOTSTRAP: Final = "argocd/bootstrap.yaml"
"""The Application that syncs all others, with its project."""


@dataclass(slots=True)
class Delivery:
    """An organization on its way from its repository to a cluster."""

    cluster: Cluster
    repository: Repository
    made: Compiled | None = None
    revision: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Of the cluster's folder in `out/`, by the path there."""

    def gitops(self) -> dict[str, str]:
        """What an organization says of this repository."""
        return {"repo": self.repository.url, "branch": BRANCH, "path": OUT}

    def compiled(self, tree: Mapping[str, Any]) -> Compiled:
        """An organization as plain data, for what runs here."""
        return deploy.compiled_for(self.cluster, {**tree, "gitops": self.gitops()})

    # What people do.

    def push(self, made: Compiled, custom: Custom | None = None, broken: Callable[[str], str] | None = None) -> None:
        """Commit what an organization comes to, each file `broken` by somebody if so wanted, and let Argo CD look. The
        scheduler's own configuration comes by its chart, not from the repository."""
        self.made = made
        made.scheduler.configure(self.cluster, made.configuration)
        files = generate(made.org, custom or {}, (made.plan,))
        if broken is not None:
            files = {path: broken(text) if path.endswith(".yaml") else text for path, text in files.items()}
        self.files = {path.removeprefix(f"{made.plan.name}/"): text for path, text in files.items()}
        self.revision = self.repository.commit(files)
        self.refresh()

    def deliver(self, made: Compiled, custom: Custom | None = None) -> None:
        """Commit, and wait until all of it is there and well."""
        self.push(made, custom)
        self.settled()

    def bootstrap(self, made: Compiled, custom: Custom | None = None) -> None:
        """What a person does once: Argo CD is configured, and told of the first Application by hand."""
        self.push(made, custom)
        self.cluster.client.patch(argocd.CONFIG_MAP, yaml.safe_load(self.files[CONFIG]))
        for item in yaml.safe_load_all(self.files[BOOTSTRAP]):
            self.cluster.client.apply(item, manager="kubectl")
        self.settled()

    def restore(self, made: Compiled) -> None:
        """Commit, approve whatever is to be deleted, and wait until all is there and well."""
        self.push(made)

        def arrived() -> bool:
            for name in self.applications():
                if self.says(name, ASKS):
                    self.confirm(name)
            return self.unsettled() == []

        self.wait(arrived, "every Application is at rest")

    def refresh(self) -> None:
        """Ask every Application to look into the repository now, and not only in some minutes."""
        for name in self.applications():
            self._annotate(name, REFRESH, "hard")

    def confirm(self, name: str) -> None:
        """Approve what an Application wants to delete."""
        self._annotate(name, APPROVED, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))

    def _annotate(self, name: str, key: str, value: str) -> None:
        self.cluster.client.patch(f"{APPLICATIONS}/{name}", {"metadata": {"annotations": {key: value}}})

    # What is seen.

    def silent(self, seconds: float) -> None:
        """Nothing happens for so long: every Application stays as it is, starts nothing, and nothing is written."""
        before, started = self.live(), self._started()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.unsettled() == []
            time.sleep(1)
        after = self.live()
        assert self._started() == started
        assert differing(before, after) == set()
        versions = {name: item["metadata"]["resourceVersion"] for name, item in after.items()}
        moved = {name for name, item in before.items() if item["metadata"]["resourceVersion"] != versions[name]}
        assert {name for name in moved if after[name]["kind"] not in WITH_STATUS} == set()

    def _started(self) -> dict[str, object]:
        """By Application: which operation was the last one, and how many there were."""
        statuses = {name: item["status"] for name, item in self.applications().items()}
        return {
            name: (status.get("operationState", {}).get("startedAt"), len(status.get("history", ())))
            for name, status in statuses.items()
        }

    def applications(self) -> dict[str, Object]:
        """All that there are, by name."""
        return {item["metadata"]["name"]: item for item in self.cluster.client.list(APPLICATIONS)}

    def declared(self) -> dict[str, Object]:
        """Every object that is in the repository for the cluster itself, by its label."""
        return {label(item): item for item in deploy.objects(self.files)}

    def live(self) -> dict[str, Object]:
        """Those of them that are there, by their label."""
        found: dict[str, Object] = {}
        wanted = self.declared()
        for version, kind in sorted({(item["apiVersion"], item["kind"]) for item in wanted.values()}):
            for item in self.cluster.client.list(self.cluster.client.collection(version, kind)):
                whole = {"apiVersion": version, "kind": kind, **item}
                found |= {label(whole): whole} if label(whole) in wanted else {}
        return found

    def unsettled(self) -> list[str]:
        """What each Application that is not at the last commit, Synced, Healthy and at rest says of itself."""
        found = self.applications()
        there = {name: _story(item, self.revision) for name, item in found.items()}
        missing = dict.fromkeys(self.named() - there.keys(), "is not there")
        return [f"{name}: {story}" for name, story in sorted({**there, **missing}.items()) if story]

    def named(self) -> set[str]:
        """The names of the Applications that the repository has."""
        texts = (text for path, text in self.files.items() if path.startswith("argocd/") and path != CONFIG)
        documents = (each for text in texts for each in yaml.safe_load_all(text))
        return {each["metadata"]["name"] for each in documents if each["kind"] == "Application"}

    def settled(self) -> None:
        """Wait until every Application has brought the last commit, and all is well."""
        self.wait(lambda: self.unsettled() == [], "every Application is at rest")

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for something that is known to come. Raises AssertionError with what the Applications say."""
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"after {PATIENCE:.0f} s still not: {what}\n" + "\n".join(self.unsettled()))
            time.sleep(0.5)

    def operation(self, name: str) -> Object:
        """What an Application does now or did last; nothing where it is gone."""
        found: Object = self.applications().get(name, {}).get("status", {}).get("operationState", {})
        return found

    def says(self, name: str, words: str) -> bool:
        """Whether what an Application does now says so."""
        now = self.operation(name)
        return now.get("phase") == "Running" and words in now.get("message", "")

    def owner(self, wanted: str) -> str:
        """The Application that has an object, by its label."""
        owners = [name for name, item in self.applications().items() if wanted in resources(item)]
        assert len(owners) == 1, f"{wanted} is in {owners}"
        return owners[0]


def fingerprint(item: Object) -> object:
    """What changes with every write that is not one of a status alone."""
    metadata = item["metadata"]
    fields = [each for each in metadata.get("managedFields", ()) if each.get("subresource") != "status"]
    return metadata["uid"], metadata.get("generation"), metadata.get("deletionTimestamp"), fields


def differing(before: Mapping[str, Object], after: Mapping[str, Object]) -> set[str]:
    """The labels of the objects that are on one side only or were written between, their status left out."""
    return {
        name
        for name in before.keys() | after.keys()
        if name not in before or name not in after or fingerprint(before[name]) != fingerprint(after[name])
    }


def resources(application: Object) -> dict[str, Object]:
    """What an Application says of each of its objects, by label."""
    listed = application.get("status", {}).get("resources", ())
    return {label({"kind": each["kind"], "metadata": each}): each for each in listed}


def _story(item: Object, revision: str) -> str:
    """Nothing where an Application is at rest."""
    status = item.get("status", {})
    sync, health = status.get("sync", {}), status.get("health", {}).get("status", "")
    operation = status.get("operationState", {})
    phase = operation.get("phase", "none")
    if (
        sync.get("status") == "Synced"
        and sync.get("revision") == revision
        and health == "Healthy"
        and (phase in ("Succeeded", "none") and "operation" not in item)
    ):
        return ""
    bad = [
        f"{name} {each.get('status')} {each.get('health', {}).get('status', '')}"
        for name, each in resources(item).items()
        if each.get("status") != "Synced" or each.get("health", {}).get("status", "Healthy") != "Healthy"
    ]
    said = [operation.get("message", ""), *(each["message"] for each in status.get("conditions", ())), *bad[:20]]
    at = "at the last commit" if sync.get("revision") == revision else f"at {sync.get('revision')}"
    return f"{sync.get('status')} {at}, {health}, {phase}: " + "; ".join(said)
