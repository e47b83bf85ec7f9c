"""Kueue in the test bed: its installation, its webhooks on loopback, and its manager, configured by an org."""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import urllib3
import yaml

from tenancy.plan.values import ClusterPlan
from tests.cluster import versions
from tests.cluster.build import binary, kueue_manifests
from tests.cluster.client import Object, Refused, condition, holds, label
from tests.cluster.plane import Cluster, restart_controllers, until
from tests.cluster.processes import NotReady

KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta2"
COLLECTIONS: Final = tuple(
    f"{KUEUE}/{kind}"
    for kind in (
        *("clusterqueues", "cohorts", "resourceflavors", "topologies", "workloadpriorityclasses"),
        *("admissionchecks", "provisioningrequestconfigs"),
    )
)
WORK: Final = ()
RETRIES: Final = 0
VALUES: Final = "platform/kueue-values.yaml"
NUDGE: Final = "test-bed/nudge"
NAMESPACE: Final = "kueue-system"
RIGHTS: Final = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount")
WEBHOOKS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
SETTLED: Final = "Starting workers"
METRICS_KEYS: Final = "kueue/metrics/certs"
"""Below /etc: where the manager insists on certificates as soon as it does not make its own."""
ETC_KEPT: Final = ("passwd", "group", "hosts", "nsswitch.conf")


def install(cluster: Cluster, minor: str) -> None:
    """Kueue's CRDs, rights, manager and webhooks, in the order in which each needs the one before."""
    documents = list(yaml.load_all(kueue_manifests(minor).read_text(encoding="utf-8"), yaml.CSafeLoader))
    cluster.kueue = minor
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    crds = [each for each in documents if each["kind"] == "CustomResourceDefinition"]
    install_crds(cluster, crds)
    restart_controllers(cluster)
    for each in documents:
        if each["kind"] in RIGHTS and each["metadata"].get("namespace") in (None, NAMESPACE):
            cluster.client.apply(each)
    configure(cluster, {})
    for each in documents:
        if each["kind"] in WEBHOOKS:
            for webhook in each["webhooks"]:
                on_loopback(cluster, webhook["clientConfig"])
            cluster.client.apply(each)
    until(lambda: _webhooks_answer(cluster), "Kueue's webhooks are asked")


def install_crds(cluster: Cluster, crds: list[Object]) -> None:
    """Apply CustomResourceDefinitions and wait until they are served, to those who look what there is, too."""
    for each in crds:
        webhook = each["spec"].get("conversion", {}).get("webhook")
        if webhook:
            on_loopback(cluster, webhook["clientConfig"])
        cluster.client.apply(each)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
    for each in crds:
        address = path + each["metadata"]["name"]
        until(lambda at=address: holds(cluster.client.get(at), "Established"), f"{address} is established")  # type: ignore[misc]
    until(lambda: all(_served(cluster, each) for each in crds), "the kinds are served")


def _served(cluster: Cluster, crd: Object) -> bool:
    """Whether discovery names an established kind, which it does a moment later: who starts before may never use it."""
    spec = crd["spec"]
    names = [f"{spec['group']}/{each['name']}" for each in spec["versions"] if each["served"]]
    return all(cluster.client.serves(name, spec["names"]["kind"]) for name in names)


def configure(cluster: Cluster, configuration: dict[str, Any]) -> None:
    """Start the manager, or start it anew where the configuration differs. Raises NotReady with its last words."""
    wanted = adapted(cluster, configuration)
    running = cluster.processes.running.get("kueue")
    if running is None or running.poll() is not None or wanted != cluster.configuration:
        start(cluster, wanted)


def start(cluster: Cluster, wanted: dict[str, Any], settled: str = SETTLED) -> None:
    """Start the manager anew, with this very configuration, and wait until it is ready and its log has the words
    `settled`. Raises NotReady with its last words."""
    started = launch(cluster, wanted)
    cluster.processes.wait("kueue", lambda: _ready(cluster) and settled in cluster.processes.since("kueue", started))
    time.sleep(0.5)  # a gate or a port that it cannot have ends it only now
    if cluster.processes.running["kueue"].poll() is not None:
        raise NotReady(f"kueue ended: {cluster.processes.tail('kueue')}")


def launch(cluster: Cluster, wanted: dict[str, Any]) -> int:
    """Begin to start the manager anew, and do not wait for it; where its log of this start begins."""
    cluster.processes.stop("kueue")
    cluster.configuration = wanted
    path = cluster.folder / "kueue.yaml"
    path.write_text(yaml.safe_dump(wanted, sort_keys=False), encoding="utf-8")
    started = cluster.processes.mark("kueue")
    program = f"{binary(versions.kueue(cluster.kueue))} --config {path} --kubeconfig {cluster.kubeconfig('kueue')}"
    # A mount namespace of its own gives the process its own /etc; `exec` keeps the process that is waited for.
    script = f"mount --bind {_etc(cluster)} /etc && exec {program} --zap-log-level=2"
    cluster.processes.start(
        "kueue", ["unshare", "--mount", "--map-root-user", "sh", "-c", script], {"POD_NAMESPACE": NAMESPACE}
    )
    return started


def configuration(files: Mapping[str, str]) -> dict[str, Any]:
    """The manager's configuration, which our values hand to Kueue's chart."""
    values = yaml.safe_load(files[VALUES])
    read: dict[str, Any] = yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])
    return read


def inactive(cluster: Cluster, plan: ClusterPlan) -> dict[str, str]:
    """What Kueue says of each queue that is not as the plan has it: active, or stopped where its unit is. What it said
    before the last change of a queue does not count."""
    stopped = {queue.name for queue in plan.queues if queue.state != "active"}
    wrong: dict[str, str] = {}
    for kind in ("ClusterQueue", "LocalQueue"):
        for item in cluster.client.list(f"{KUEUE}/{kind.lower()}s"):
            name = item["metadata"]["name"] if kind == "ClusterQueue" else item["spec"]["clusterQueue"]
            found = condition(item, "Active")
            if found is None or found.get("observedGeneration", 0) < item["metadata"]["generation"]:
                wrong[label({**item, "kind": kind})] = "no condition"
            elif (found["status"] == "True") != (name not in stopped):
                wrong[label({**item, "kind": kind})] = found["message"]
    return wrong


def emptied(cluster: Cluster) -> bool:
    """Remove every object of Kueue outside namespaces; whether none is left. One in use goes when it is free."""
    left = [f"{path}/{item['metadata']['name']}" for path in COLLECTIONS for item in cluster.client.list(path)]
    remove(cluster, left)
    return left == []


def remove(cluster: Cluster, paths: Iterable[str]) -> None:
    """Delete objects, in this order.

    Each gets a nudge too: Kueue may look at a Topology just before it hears that the last flavor of it is gone, and
    then not again by itself.
    """
    for path in paths:
        cluster.client.delete(path)
        with suppress(Refused):  # It may be gone by now.
            cluster.client.patch(path, {"metadata": {"annotations": {NUDGE: str(time.monotonic())}}})


def adapted(cluster: Cluster, configuration: dict[str, Any]) -> dict[str, Any]:
    """An organization's configuration with what only a loopback without certificates for pods needs to be different."""
    changed = copy.deepcopy(configuration)
    changed |= {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    changed["internalCertManagement"] = {"enable": False}
    keys = str(cluster.certificates.folder)
    changed["webhook"] = {"port": cluster.ports["webhook"], "host": "127.0.0.1", "certDir": keys}
    changed["leaderElection"] = {"leaderElect": False}
    changed["health"] = {"healthProbeBindAddress": f"127.0.0.1:{cluster.ports['health']}"}
    changed["metrics"] = {
        **changed.get("metrics", {}),
        "bindAddress": f"127.0.0.1:{cluster.ports['kueue-metrics']}",
    }
    changed["featureGates"] = {**changed.get("featureGates", {}), "VisibilityOnDemand": False}  # its port is fixed
    return changed


def on_loopback(cluster: Cluster, target: dict[str, Any]) -> None:
    """Let the API server call a webhook at the port where it runs here."""
    service = target.pop("service")
    target["url"] = f"https://127.0.0.1:{cluster.ports['webhook']}{service['path']}"
    target["caBundle"] = cluster.certificates.bundle


def _etc(cluster: Cluster) -> Path:
    etc = cluster.folder / "etc"
    keys = etc / METRICS_KEYS
    if not keys.exists():
        keys.mkdir(parents=True)
        for source in (cluster.certificates.server, cluster.certificates.server_key):
            shutil.copy(source, keys)
        for name in ETC_KEPT:
            if Path("/etc", name).exists():
                shutil.copy(Path("/etc", name), etc)
    return etc


def _ready(cluster: Cluster) -> bool:
    url = f"http://127.0.0.1:{cluster.ports['health']}/readyz"
    try:
        return urllib3.request("GET", url, retries=False, timeout=2).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def _webhooks_answer(cluster: Cluster) -> bool:
    """The API server asks a new webhook only after a moment: then it refuses what only the webhook can refuse."""
    wrong = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "test-bed-probe"}}
    limited = {"name": "cpu", "nominalQuota": "1", "borrowingLimit": "1"}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "none", "resources": [limited]}]}
    try:
        cluster.client.apply({**wrong, "spec": {"resourceGroups": [group]}}, dry_run=True)
    except Refused as refused:
        return "must be nil when parent is empty" in refused.message
    return False
