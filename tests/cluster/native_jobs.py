"""The words of the behaviour tests on Kubernetes alone: pods and Jobs of teams, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from tenancy.backend.native.quotas import COMPUTE
from tests.cluster import deploy, scene
from tests.cluster.client import Object, Refused
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster
from tests.cluster.scene import PATIENCE, limits
from tests.kueue_model import amount

ENDLESS: Final = {"cpu": "1M", "memory": "1Gi"}
"""More than anybody owns."""


@dataclass(slots=True)
class Scene(scene.Scene):
    """An organization at work on a cluster without a batch scheduler."""

    QUIET: ClassVar = 2.0

    # What people do.

    def clear(self) -> None:
        """Everybody ends everything, and the quotas have heard of it.

        A quota counts a claim until the garbage collector has followed its pod, and anything until its controller has
        looked again; before that the API server refuses what there is room for. It refuses by what it has heard of the
        quota, which is a moment older than what is stored: both are asked.
        """
        super(Scene, self).clear()
        spaces = [item["metadata"]["namespace"] for item in self.made.objects if _is_compute(item)]
        self.wait(lambda: all(map(self._free, spaces)), "all is free")

    def pod(self, unit: str, requests: Mapping[str, str] | None = None, *, project: str = "", **spec: Any) -> str:
        """A pod of a unit, and its name; without requests a container that says nothing. Raises Refused."""
        name = f"pod-{next(self.numbers)}"
        metadata = {"name": name, "namespace": self.namespace(unit, project).name}
        self.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _spec(requests, spec)})
        return name

    def job(self, unit: str, pods: int, requests: Mapping[str, str], *, project: str = "", **spec: Any) -> str:
        """A Job of equal pods that want to run at once, and its name."""
        name = f"job-{next(self.numbers)}"
        metadata = {"name": name, "namespace": self.namespace(unit, project).name}
        template = {"spec": _spec(requests, spec)}
        body = {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}
        self.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": body})
        return name

    def foreign(self, name: str, requests: Mapping[str, str]) -> str:
        """A pod outside of the organization that runs on a node; its path."""
        metadata = {"name": name, "namespace": "default"}
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _spec(requests, {})}
        self.create(item)
        path = self.cluster.client.path(item)
        self.wait(lambda: self.cluster.client.get(path)["status"].get("phase") == "Running", f"{name} runs", PATIENCE)
        return path

    # What is seen.

    def holders(self, resource: str = "") -> dict[str, int]:
        """Who holds how many GPUs (or of another resource) with pods that are bound."""
        found: dict[str, int] = {}
        for pod in self.pods():
            for container in pod["spec"]["containers"] if pod["spec"].get("nodeName") else ():
                for name, count in container["resources"].get("requests", {}).items():
                    if name == resource or (not resource and "/" in name):
                        unit = self.title(pod["metadata"]["namespace"])
                        found[unit] = found.get(unit, 0) + amount(count, name)
        return found

    def work(self) -> list[Object]:
        """The Jobs of all units."""
        return [
            item
            for space in self.made.plan.namespaces
            for item in self.cluster.client.list(f"/apis/batch/v1/namespaces/{space.name}/jobs")
        ]

    def picture(self) -> object:
        """Every pod with its node and its phase."""
        return sorted(
            (pod["metadata"]["uid"], pod["spec"].get("nodeName", ""), pod.get("status", {}).get("phase", ""))
            for pod in self.pods()
        )

    def quota(self, unit: str, name: str = "tenancy-compute", project: str = "") -> Object:
        """A ResourceQuota of a unit's namespace as it is stored."""
        return self.cluster.client.get(f"/api/v1/namespaces/{self.namespace(unit, project).name}/resourcequotas/{name}")

    def told(self, unit: str, name: str, words: str) -> None:
        """Wait until an event of a pod or a Job of the unit, or of one of its pods, holds these words."""

        def said(event: Object) -> bool:
            about = event["involvedObject"]["name"]
            return words in event.get("message", "") and (about == name or about.startswith(f"{name}-"))

        path = f"/api/v1/namespaces/{self.namespace(unit).name}/events"
        self.wait(lambda: any(map(said, self.cluster.client.list(path))), f"{name} is told: {words}", PATIENCE)

    def refusal(self, unit: str, requests: Mapping[str, str], **spec: Any) -> str:
        """What the API server would say to a pod of the unit; empty where it would let it in."""
        return self._refusal(self.namespace(unit).name, requests, spec)

    def tolerated(self, unit: str, requests: Mapping[str, str]) -> list[str]:
        """The keys of the taints that the API server would let a pod of the unit tolerate, beside those of nodes that
        are not ready. Raises Refused."""
        pod = self._asked(self.namespace(unit).name, requests, {})
        keys = [each["key"] for each in pod["spec"]["tolerations"]]
        return [key for key in keys if not key.startswith("node.kubernetes.io/")]

    def _free(self, namespace: str) -> bool:
        quota = self.cluster.client.get(f"/api/v1/namespaces/{namespace}/resourcequotas/{COMPUTE}")
        return not _used(quota) and "used: requests.cpu=0," in self._refusal(namespace, ENDLESS, {})

    def _refusal(self, namespace: str, requests: Mapping[str, str], spec: Mapping[str, Any]) -> str:
        try:
            self._asked(namespace, requests, spec)
        except Refused as refused:
            return refused.message
        return ""

    def _asked(self, namespace: str, requests: Mapping[str, str], spec: Mapping[str, Any]) -> Object:
        metadata = {"name": "asked", "namespace": namespace}
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _spec(requests, spec)}
        return self.cluster.client.create(item, dry_run=True)


def opened(cluster: Cluster, made: Compiled) -> Scene:
    """A scene on an empty cluster, once every quota is counted: before that the API server refuses every pod."""
    scene.stage(cluster, made)
    deploy.counted(cluster)
    return Scene(cluster, made)


def _is_compute(item: Object) -> bool:
    return bool(item["kind"] == "ResourceQuota" and item["metadata"]["name"] == COMPUTE)


def _used(quota: Object) -> list[str]:
    """The resources of a quota of which something is used."""
    return [name for name, value in quota["status"]["used"].items() if amount(value, name)]


def _spec(requests: Mapping[str, str] | None, spec: Mapping[str, Any]) -> dict[str, Any]:
    resources = {"requests": dict(requests), "limits": limits(requests)} if requests is not None else {}
    container = {"name": "main", "image": "none", "resources": resources}
    return {"restartPolicy": "Never", "containers": [container], **spec}
