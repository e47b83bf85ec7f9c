"""A control plane on loopback: etcd, kube-apiserver, its controllers and scheduler, and kwok for the nodes.

The flags are those that make the parts run side by side without root, without a kubelet, and without waiting.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import urllib3
import yaml

from tests.cluster import certificates, versions
from tests.cluster.build import binary, kwok_stages
from tests.cluster.certificates import Certificates
from tests.cluster.client import Client, Refused, connect
from tests.cluster.processes import NotReady, Processes, free_ports

ADMIN: Final = "admin"
ACCOUNTS: Final = {
    "argocd": ("argocd", "argocd-application-controller"),
    "kueue": ("kueue-system", "kueue-controller-manager"),
    "volcano-admission": ("volcano-system", "volcano-admission"),
    "volcano-controllers": ("volcano-system", "volcano-controllers"),
    "volcano-scheduler": ("volcano-system", "volcano-scheduler"),
}
"""By token: the namespace and the name of a ServiceAccount. Argo CD, Kueue and Volcano have the very rights that their
installations give them, no more."""
TOKENS: Final = "".join(
    (
        f'{ADMIN},test-admin,{ADMIN},"system:masters"\n',
        "controllers,system:kube-controller-manager,controllers\n",
        "scheduler,system:kube-scheduler,scheduler\n",
        *(
            f'{token},system:serviceaccount:{home}:{name},{token},"system:serviceaccounts,system:serviceaccounts:{home}"\n'
            for token, (home, name) in ACCOUNTS.items()
        ),
    )
)
"""Token, user, uid and groups."""

TYPE_CHECKER: Final = "validatingadmissionpolicy-status-controller"
"""What looks for type errors in policies: more work than all other controllers have here, so it runs when asked."""
CONTROLLERS_OFF: Final = (
    TYPE_CHECKER,
    *("node-lifecycle-controller", "taint-eviction-controller"),  # they would evict from nodes without a kubelet
    *("node-ipam-controller", "node-route-controller", "cloud-node-lifecycle-controller", "service-lb-controller"),
)
PORTS: Final = (
    *("etcd", "peer", "api", "controllers", "scheduler", "kwok", "webhook", "health"),
    *("volcano-controllers", "volcano-scheduler", "volcano-metrics"),
    *("kueue-metrics", "volcano-controllers-metrics", "type-checker"),
)
INFLIGHT: Final = (2000, 1000)
"""Requests that the API server works on at a time, those that read and those that write: tests ask fast."""
ATTEMPTS: Final = 3
"""A port may be taken between its choice and its use."""


@dataclass(slots=True)
class Cluster:
    """A running control plane and what the tests know of it."""

    folder: Path
    kubernetes: str
    """Minor version."""
    kueue: str
    """Minor version of the manager; empty where it is not installed."""
    volcano: str
    """Minor version; empty where it is not installed."""
    ports: dict[str, int]
    certificates: Certificates
    processes: Processes
    client: Client
    configuration: dict[str, Any] = field(default_factory=dict)
    """What the running manager, or Volcano, was started with."""
    inflight: tuple[int, int] = INFLIGHT

    @property
    def scheduler(self) -> str:
        """What organizations on this cluster are compiled for."""
        if self.volcano:
            return "volcano"
        return "kueue" if self.kueue else "native"

    def kubeconfig(self, token: str) -> Path:
        """A file that lets a program act as the user of a token."""
        path = self.folder / f"{token}.kubeconfig"
        named = {"name": "test"}
        server = {"server": self.client.server, "certificate-authority": str(self.certificates.authority)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{**named, "cluster": server}],
            "users": [{**named, "user": {"token": token}}],
            "contexts": [{**named, "context": {"cluster": "test", "user": "test"}}],
        }
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        return path

    def kubectl(self, *arguments: str) -> str:
        """What the real kubectl prints, as the admin. Raises CalledProcessError."""
        command = [str(binary(versions.kubernetes(self.kubernetes))), "kubectl", *arguments]
        environment = {"KUBECONFIG": str(self.kubeconfig(ADMIN)), "HOME": str(self.folder)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    def stop(self, *, keep_logs: bool) -> None:
        """End every process and remove the state; the logs stay where they are of use."""
        self.processes.stop_all()
        if keep_logs:
            shutil.rmtree(self.folder / "etcd", ignore_errors=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def start(folder: Path, kubernetes: str = versions.DEFAULT_KUBERNETES, inflight: tuple[int, int] = INFLIGHT) -> Cluster:
    """A control plane whose state, keys and logs lie in a new folder. Raises NotReady."""
    for attempt in range(ATTEMPTS):
        cluster = _prepared(folder / str(attempt), kubernetes)
        cluster.inflight = inflight
        try:
            _start(cluster)
        except NotReady as error:
            cluster.stop(keep_logs=True)
            if "address already in use" not in str(error) or attempt == ATTEMPTS - 1:
                raise
        except BaseException:
            cluster.stop(keep_logs=True)
            raise
        else:
            return cluster
    raise AssertionError("unreachable")


def _prepared(folder: Path, kubernetes: str) -> Cluster:
    keys = certificates.make(folder / "keys")
    (folder / "keys" / "tokens.csv").write_text(TOKENS, encoding="utf-8")
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    client = connect(ports["api"], keys.authority, ADMIN)
    return Cluster(folder, kubernetes, "", "", ports, keys, Processes(folder), client)


def _start(cluster: Cluster) -> None:
    processes, kube = cluster.processes, binary(versions.kubernetes(cluster.kubernetes))
    processes.start("etcd", [binary(versions.ETCD), *_etcd(cluster)])
    processes.start("kube-apiserver", [kube, "kube-apiserver", *_api_server(cluster)])
    processes.wait("kube-apiserver", answers(lambda: cluster.client.get("/readyz")))
    processes.start("kube-controller-manager", [kube, "kube-controller-manager", *_controllers(cluster)])
    processes.start("kube-scheduler", [kube, "kube-scheduler", *_scheduler(cluster)])
    processes.start("kwok", [binary(versions.KWOK), *_kwok(cluster)])
    processes.wait(
        "kube-controller-manager",
        answers(lambda: cluster.client.get("/api/v1/namespaces/default/serviceaccounts/default")),
    )


@contextmanager
def type_checker(cluster: Cluster) -> Iterator[None]:
    """Meanwhile the types of policies are checked."""
    kube, only = binary(versions.kubernetes(cluster.kubernetes)), _controllers(cluster, "type-checker", TYPE_CHECKER)
    cluster.processes.start("type-checker", [kube, "kube-controller-manager", *only])
    yield
    cluster.processes.stop("type-checker", kill=True)


def restart_controllers(cluster: Cluster) -> None:
    """Let the garbage collector see new kinds now: it looks for them at its start, then every thirty seconds."""
    cluster.processes.stop("kube-controller-manager", kill=True)
    kube = binary(versions.kubernetes(cluster.kubernetes))
    cluster.processes.start("kube-controller-manager", [kube, "kube-controller-manager", *_controllers(cluster)])


def answers(ask: Callable[[], object]) -> Callable[[], bool]:
    """Whether a request succeeds; while nobody listens it does not."""

    def asked() -> bool:
        try:
            ask()
        except (Refused, urllib3.exceptions.HTTPError):
            return False
        return True

    return asked


def until(holds: Callable[[], bool], what: str, seconds: float = 120, pause: float = 0.25) -> None:
    """Wait until something holds. Raises AssertionError with what was waited for."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"after {seconds:.0f} s still not: {what}"
        time.sleep(pause)


def _etcd(cluster: Cluster) -> list[str]:
    client, peer = (f"http://127.0.0.1:{cluster.ports[name]}" for name in ("etcd", "peer"))
    return [
        *("--data-dir", str(cluster.folder / "etcd"), "--unsafe-no-fsync", "--log-level", "warn"),
        *("--listen-client-urls", client, "--advertise-client-urls", client),
        *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"),
    ]


def _api_server(cluster: Cluster) -> list[str]:
    keys, (reading, writing) = cluster.certificates, cluster.inflight
    return [
        *("--etcd-servers", f"http://127.0.0.1:{cluster.ports['etcd']}"),
        *("--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none"),
        *("--secure-port", str(cluster.ports["api"]), "--cert-dir", str(cluster.folder / "apiserver")),
        *("--tls-cert-file", str(keys.server), "--tls-private-key-file", str(keys.server_key)),
        *("--service-account-key-file", str(keys.account_public)),
        *("--service-account-signing-key-file", str(keys.account_key)),
        *("--service-account-issuer", "https://kubernetes.default.svc", "--service-cluster-ip-range", "10.0.0.0/24"),
        *("--authorization-mode", "RBAC", "--token-auth-file", str(keys.folder / "tokens.csv"), "--allow-privileged"),
        *("--max-requests-inflight", str(reading), "--max-mutating-requests-inflight", str(writing)),
    ]


def _controllers(cluster: Cluster, name: str = "controllers", which: str = "") -> list[str]:
    keys = cluster.certificates
    which = which or ",".join(("*", *(f"-{name}" for name in CONTROLLERS_OFF)))
    return [
        *("--kubeconfig", str(cluster.kubeconfig("controllers")), "--leader-elect=false", "--controllers", which),
        *("--service-account-private-key-file", str(keys.account_key), "--root-ca-file", str(keys.authority)),
        *("--bind-address", "127.0.0.1", "--secure-port", str(cluster.ports[name])),
        *("--use-service-account-credentials", "--cert-dir", str(cluster.folder / name)),
        *("--kube-api-qps", "500", "--kube-api-burst", "1000"),
    ]


def _scheduler(cluster: Cluster) -> list[str]:
    return [
        *("--kubeconfig", str(cluster.kubeconfig("scheduler")), "--leader-elect=false"),
        *("--bind-address", "127.0.0.1", "--secure-port", str(cluster.ports["scheduler"])),
        *("--authentication-skip-lookup", "--cert-dir", str(cluster.folder / "scheduler")),
        *("--kube-api-qps", "500", "--kube-api-burst", "1000"),
    ]


def _kwok(cluster: Cluster) -> list[str]:
    return [
        *("--kubeconfig", str(cluster.kubeconfig(ADMIN)), "--manage-all-nodes=true", "--config", str(kwok_stages())),
        *("--server-address", f"127.0.0.1:{cluster.ports['kwok']}", "--node-lease-duration-seconds", "0"),
    ]
