"""Volcano in the test bed: its installation, its webhooks on loopback, and its three programs, configured by an org."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import urllib3
import yaml

from tenancy.backend.volcano.configuration import ADMISSIONS
from tenancy.plan.values import ClusterPlan
from tests.cluster import versions
from tests.cluster.build import binary, volcano_manifests
from tests.cluster.client import Object, Refused, label
from tests.cluster.manager import install_crds, on_loopback
from tests.cluster.plane import Cluster, answers, restart_controllers, until
from tests.cluster.processes import NotReady

SCHEDULING: Final = "/apis/scheduling.volcano.sh/v1beta1"
QUEUES: Final = f"{SCHEDULING}/queues"
PODGROUPS: Final = f"{SCHEDULING}/podgroups"
HYPERNODES: Final = "/apis/topology.volcano.sh/v1alpha1/hypernodes"
JOBS: Final = "/apis/batch.volcano.sh/v1alpha1"
COLLECTIONS: Final = (QUEUES, HYPERNODES)
WORK: Final = (
    f"{JOBS}/namespaces/{{}}/jobs",
    "/apis/apps/v1/namespaces/{}/deployments",
    f"{SCHEDULING}/namespaces/{{}}/podgroups",
)
RETRIES: Final = 20
"""A tree of Queues whose numbers move up and down is refused in any one order: a parent grows before its children and
shrinks after them. By name children come before their parents, so each level takes an attempt, and another one where
the webhook has not heard of its parent."""
BUILT_IN: Final = ("default", "root")
"""Queues that Volcano makes and refuses to delete."""
NAMESPACE: Final = "volcano-system"
KINDS: Final = ("ConfigMap", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount")
WEBHOOKS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
VALUES: Final = "platform/volcano-values.yaml"
CONFIGURATION: Final = "volcano-controller.conf"
CONFIG_MAP: Final = f"/api/v1/namespaces/{NAMESPACE}/configmaps/volcano-controller-configmap"
"""Where the controller looks for its configuration, through the API."""
CYCLES: Final = "volcano_e2e_scheduling_latency_milliseconds_count"
"""The scheduler's metric that goes up by one at the end of each cycle."""
DEFAULTS: Final[dict[str, Any]] = {
    "scheduler": "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n",
    "controller": "",
    "admissions": ADMISSIONS,
}
"""Before an organization says more."""


def configuration(files: Mapping[str, str]) -> dict[str, Any]:
    """What our values hand to Volcano's chart."""
    custom = yaml.safe_load(files[VALUES])["custom"]
    discovered = custom.get("controller_config_override")
    return {
        "scheduler": custom["scheduler_config_override"],
        "controller": yaml.safe_dump(discovered) if discovered else "",
        "admissions": custom["enabled_admissions"],
    }


def install(cluster: Cluster, minor: str) -> None:
    """Volcano's CRDs, rights, webhooks and programs, in the order in which each needs the one before."""
    documents = [
        each for each in yaml.load_all(volcano_manifests(minor).read_text(encoding="utf-8"), yaml.CSafeLoader) if each
    ]
    cluster.volcano = minor
    for each in documents:
        if each["kind"] == "Namespace":
            cluster.client.apply(each)
    install_crds(cluster, [each for each in documents if each["kind"] == "CustomResourceDefinition"])
    restart_controllers(cluster)
    for each in documents:
        if each["kind"] in KINDS:
            cluster.client.apply(each)
    webhooks = [each for each in documents if each["kind"] in WEBHOOKS]
    for webhook in (each for item in webhooks for each in item["webhooks"]):
        on_loopback(cluster, webhook["clientConfig"])
    for each in webhooks:
        cluster.client.apply(each)
    configure(cluster, {})
    until(lambda: _webhooks_answer(cluster), "Volcano's webhooks are asked")


def configure(cluster: Cluster, configuration: dict[str, Any]) -> None:
    """Start what does not run, and start anew what has another configuration. Raises NotReady with its last words."""
    before, cluster.configuration = cluster.configuration, {**DEFAULTS, **configuration}
    programs = {"webhook-manager": "admissions", "controller-manager": "controller", "scheduler": "scheduler"}
    for program, key in programs.items():
        running = cluster.processes.running.get(f"volcano-{program}")
        if running is None or running.poll() is not None or before.get(key) != cluster.configuration[key]:
            _start(cluster, program)


def inactive(cluster: Cluster, plan: ClusterPlan) -> dict[str, str]:
    """Each Queue that is not Open, or that the scheduler has not looked at: then it says what is allocated there.

    What a unit's state says is said to admission, not to its Queues.
    """
    del plan
    wrong: dict[str, str] = {}
    for item in cluster.client.list(QUEUES):
        status = item.get("status", {})
        if status.get("state") != "Open" or "allocated" not in status:
            wrong[label({**item, "kind": "Queue"})] = status.get("state", "no state")
    return wrong


def emptied(cluster: Cluster) -> bool:
    """Remove Queues and HyperNodes; whether only Volcano's own Queues are left. Children go before their parents."""
    left = _removable(cluster)
    while left and len(refused := [path for path in left if not _deleted(cluster, path)]) < len(left):
        left = refused
    return _removable(cluster) == []


def _removable(cluster: Cluster) -> list[str]:
    names = ((path, item["metadata"]["name"]) for path in COLLECTIONS for item in cluster.client.list(path))
    return [f"{path}/{name}" for path, name in names if name not in BUILT_IN]


def _deleted(cluster: Cluster, path: str) -> bool:
    try:
        cluster.client.delete(path)
    except Refused:
        return False
    return True


def cycles(cluster: Cluster) -> int:
    """How many cycles the scheduler has finished since it was started."""
    url = f"http://127.0.0.1:{cluster.ports['volcano-metrics']}/metrics"
    text = urllib3.request("GET", url, retries=False, timeout=60).data.decode()
    return sum(int(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(f"{CYCLES} "))


def _cycled(cluster: Cluster) -> bool:
    """Whether the scheduler has finished a cycle. It says that it is well before it reads its configuration, which may
    end it, and before its metrics are sure to be there."""
    try:
        return cycles(cluster) > 0
    except urllib3.exceptions.HTTPError:
        return False


def _start(cluster: Cluster, program: str) -> None:
    name = f"volcano-{program}"
    cluster.processes.stop(name)
    arguments, url = {
        "webhook-manager": (_admission, f"https://127.0.0.1:{cluster.ports['webhook']}/"),
        "controller-manager": (_controllers, f"http://127.0.0.1:{cluster.ports['volcano-controllers']}/healthz"),
        "scheduler": (_scheduler, f"http://127.0.0.1:{cluster.ports['volcano-scheduler']}/healthz"),
    }[program]
    command = [str(binary(versions.volcano(cluster.volcano)) / program), *arguments(cluster)]
    started = cluster.processes.mark(name)
    cluster.processes.start(name, command, {"DEBUG_SOCKET_DIR": "sockets", "KUBE_POD_NAMESPACE": NAMESPACE})
    cluster.processes.wait(name, answers(lambda: cluster.client.pool.request("GET", url, retries=False)))
    if program == "scheduler":
        cluster.processes.wait(name, lambda: _cycled(cluster))
        if "Failed to get plugin" in cluster.processes.since(name, started):  # It runs on without.
            raise NotReady(f"{name} lacks a plugin: {cluster.processes.tail(name)}")


def _admission(cluster: Cluster) -> Iterator[str]:
    keys = cluster.certificates
    yield from ("--kubeconfig", str(cluster.kubeconfig("volcano-admission")))
    yield from ("--enabled-admission", cluster.configuration["admissions"])
    yield from ("--tls-cert-file", str(keys.server), "--tls-private-key-file", str(keys.server_key))
    yield from ("--ca-cert-file", str(keys.authority), "--listen-address", "127.0.0.1")
    yield from ("--port", str(cluster.ports["webhook"]), "--webhook-url", "https://127.0.0.1")


def _controllers(cluster: Cluster) -> Iterator[str]:
    cluster.client.patch(CONFIG_MAP, {"data": {CONFIGURATION: cluster.configuration["controller"]}})
    yield from ("--kubeconfig", str(cluster.kubeconfig("volcano-controllers")), "--leader-elect=false")
    # With the chart's 50 and 100 the creation of jobs is throttled, and evictions look slow.
    yield from ("--kube-api-qps", "1000", "--kube-api-burst", "2000")
    yield from ("--enable-healthz", "--healthz-address", f"127.0.0.1:{cluster.ports['volcano-controllers']}")
    yield from ("--enable-metrics", "--listen-address", f"127.0.0.1:{cluster.ports['volcano-controllers-metrics']}")


def _scheduler(cluster: Cluster) -> Iterator[str]:
    # The scheduler reloads whenever anything in the folder of its configuration changes: its log must not lie there.
    path = cluster.folder / "volcano-scheduler" / "volcano-scheduler.conf"
    path.parent.mkdir(exist_ok=True)
    path.write_text(cluster.configuration["scheduler"], encoding="utf-8")
    yield from ("--kubeconfig", str(cluster.kubeconfig("volcano-scheduler")), "--leader-elect=false")
    yield from ("--scheduler-conf", str(path), "--cache-dumper=false")
    # Otherwise a configuration that cannot be read is replaced by the built-in one, with one line in the log.
    yield "--disable-default-scheduler-config"
    yield from ("--enable-healthz", "--healthz-address", f"127.0.0.1:{cluster.ports['volcano-scheduler']}")
    yield from ("--enable-metrics", "--listen-address", f"127.0.0.1:{cluster.ports['volcano-metrics']}")


def _webhooks_answer(cluster: Cluster) -> bool:
    """The API server asks a new webhook only after a moment: then it refuses what only the webhook can refuse."""
    try:
        cluster.client.apply(queue("test-bed-probe", {"parent": "test-bed-probe"}), dry_run=True)
    except Refused as refused:
        return "cannot use itself as parent" in refused.message
    return False


def queue(name: str, spec: Object) -> Object:
    """A Queue."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": spec,
    }
