"""Argo CD in the test bed: Redis, the repo-server and the application controller, and what they are told.

Neither its API server nor its user interface runs: it is asked by its objects alone, as `kubectl` asks it.
"""

from __future__ import annotations

import copy
import os
import shutil
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import urllib3
import yaml

from tests.cluster import versions
from tests.cluster.build import REDIS, argocd_manifests, binary
from tests.cluster.client import Object
from tests.cluster.manager import install_crds
from tests.cluster.plane import Cluster
from tests.cluster.processes import free_ports

NAMESPACE: Final = "argocd"
API: Final = f"/apis/argoproj.io/v1alpha1/namespaces/{NAMESPACE}"
APPLICATIONS: Final = f"{API}/applications"
PROJECTS: Final = f"{API}/appprojects"
CONFIG_MAP: Final = f"/api/v1/namespaces/{NAMESPACE}/configmaps/argocd-cm"
PROGRAMS: Final = ("argocd-application-controller", "argocd-repo-server", "redis")
"""The order in which they end."""
FOLDERS: Final = {
    "ARGOCD_TLS_DATA_PATH": "tls",
    "ARGOCD_SSH_DATA_PATH": "ssh",
    "ARGOCD_GNUPGHOME": "gpg",
    "ARGOCD_PLUGINSOCKFILEPATH": "plugins",
    "HOME": "home",
    "TMPDIR": "tmp",
}
RESYNC: Final = 5
"""Seconds after which an Application is compared again; in production it is two minutes."""


def start(cluster: Cluster) -> None:
    """Argo CD as installed and without any Application, its three processes started anew. Raises NotReady."""
    documents = list(yaml.load_all(argocd_manifests().read_text(encoding="utf-8"), yaml.CSafeLoader))
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    install_crds(cluster, [each for each in documents if each["kind"] == "CustomResourceDefinition"])
    for each in documents:
        if each["kind"] != "CustomResourceDefinition":
            cluster.client.apply(_at_home(each))
    _start(cluster)


def stop(cluster: Cluster) -> None:
    """End it and forget its Applications; what they brought stays."""
    for name in PROGRAMS:
        cluster.processes.stop(name)
    for path in (APPLICATIONS, PROJECTS):
        for item in cluster.client.list(path):
            each = f"{path}/{item['metadata']['name']}"
            if item["metadata"].get("finalizers"):
                cluster.client.patch(each, {"metadata": {"finalizers": None}})
            cluster.client.delete(each)
    cluster.client.delete(CONFIG_MAP)


def _at_home(item: Object) -> Object:
    """An object of the installation, which is written for whatever namespace it is put into."""
    if item["kind"] == "ClusterRole":
        return item
    made = copy.deepcopy(item)
    if item["kind"] == "ClusterRoleBinding":
        made["subjects"] = [{**each, "namespace": NAMESPACE} for each in item["subjects"]]
    else:
        made["metadata"]["namespace"] = NAMESPACE
    return made


def _start(cluster: Cluster) -> None:
    home = cluster.folder / "argocd"
    shutil.rmtree(home, ignore_errors=True)
    for name in FOLDERS.values():
        (home / name).mkdir(parents=True)
    (home / "ssh" / "ssh_known_hosts").touch()
    (home / "bin").mkdir()
    (home / "bin" / "kustomize").symlink_to(binary(versions.KUSTOMIZE))
    redis, repo, repo_metrics, metrics = free_ports(4)
    environment = _environment(cluster, home)
    processes, program = cluster.processes, binary(versions.ARGOCD)
    cache = ("--redis", f"127.0.0.1:{redis}", "--logformat", "text")

    listening = ("--port", str(redis), "--bind", "127.0.0.1", "--dir", str(home))
    processes.start("redis", [REDIS, *listening, "--save", "", "--appendonly", "no"])
    processes.wait("redis", lambda: _listens(redis))
    processes.start(
        "argocd-repo-server",
        [
            *(program, "--address", "127.0.0.1", "--port", str(repo), "--disable-tls", *cache),
            *("--metrics-address", "127.0.0.1", "--metrics-port", str(repo_metrics)),
        ],
        {**environment, "ARGOCD_BINARY_NAME": "argocd-repo-server"},
    )
    processes.wait("argocd-repo-server", lambda: _listens(repo))
    processes.start(
        "argocd-application-controller",
        [
            *(program, "--kubeconfig", str(cluster.kubeconfig("argocd")), "--namespace", NAMESPACE, *cache),
            *("--repo-server", f"127.0.0.1:{repo}", "--repo-server-plaintext", "--metrics-port", str(metrics)),
            *("--app-resync", str(RESYNC), "--app-resync-jitter", "0", "--self-heal-timeout-seconds", "1"),
        ],
        {**environment, "ARGOCD_BINARY_NAME": "argocd-application-controller"},
    )
    url = f"http://127.0.0.1:{metrics}/healthz"
    processes.wait("argocd-application-controller", lambda: _healthy(url))


def _environment(cluster: Cluster, home: Path) -> dict[str, str]:
    return {
        **{name: str(home / folder) for name, folder in FOLDERS.items()},
        "KUBECONFIG": str(cluster.kubeconfig("argocd")),
        "ARGOCD_FAKE_IN_CLUSTER": "true",  # `https://kubernetes.default.svc` is the cluster of that kubeconfig
        "ARGOCD_GPG_ENABLED": "false",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
    }


def _listens(port: int) -> bool:
    with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
        return True
    return False


def _healthy(url: str) -> bool:
    try:
        return urllib3.request("GET", url, retries=False, timeout=5).status == 200
    except urllib3.exceptions.HTTPError:
        return False
