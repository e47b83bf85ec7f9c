"""A flood of requests, what the API server says of it, and how long others wait meanwhile.

Admission of the flood's creates is slow, as behind a webhook in trouble: each holds a seat of the API server and costs
this machine next to nothing, so that what others wait for is seats and not processors.
"""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import quantiles
from typing import Any, Final, NamedTuple

import urllib3

from tests.cluster.client import Client, Object, Refused
from tests.cluster.plane import Cluster
from tests.cluster.processes import free_ports

SLOW: Final = 0.5
"""Seconds that admission of a ConfigMap of the flooded namespace takes."""
PATIENCE: Final = "8s"
"""What a flooding client waits for. A quarter of it may be spent in a queue, then the server says 429."""
_SAMPLE: Final = re.compile(r"(?P<name>\w+)\{(?P<labels>[^}]*)\} (?P<value>\S+)")
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
_PREFIX: Final = "apiserver_flowcontrol_"


class Latency(NamedTuple):
    """Of a number of requests, one after the other, in seconds."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """What the API server counts of priority and fairness, at one moment."""

    samples: Sequence[tuple[str, dict[str, str], float]]

    def sum(self, name: str, **labels: str) -> float:
        """The sum of all series of a metric that have these labels."""
        return sum(
            value
            for found, has, value in self.samples
            if found == _PREFIX + name and all(has.get(key) == each for key, each in labels.items())
        )

    def schemas(self, name: str) -> dict[str, float]:
        """The sum of a metric by FlowSchema."""
        found: dict[str, float] = {}
        for each, has, value in self.samples:
            if each == _PREFIX + name:
                found[has["flow_schema"]] = found.get(has["flow_schema"], 0) + value
        return found


def metrics(client: Client) -> Metrics:
    """Asked as the admin, who never waits."""
    text: str = client.get("/metrics")["text"]
    found = (match for line in text.splitlines() if line.startswith(_PREFIX) and (match := _SAMPLE.match(line)))
    return Metrics([(each["name"], dict(_LABEL.findall(each["labels"])), float(each["value"])) for each in found])


def latency(client: Client, requests: Sequence[Object], path: str) -> Latency:
    """Of dry creates of the given objects and as many reads of a path."""
    took = []
    for item in requests:
        start = time.perf_counter()
        client.create(item, dry_run=True)
        between = time.perf_counter()
        client.get(path)
        took += [between - start, time.perf_counter() - between]
    cuts = quantiles(took, n=20, method="inclusive")
    return Latency(cuts[9], cuts[18])


@dataclass(slots=True)
class Flood:
    """Clients that ask as fast as they are answered, until it ends."""

    cluster: Cluster
    namespace: str
    ended: threading.Event = field(default_factory=threading.Event)
    refused: dict[int, int] = field(default_factory=dict)
    """By status code."""

    def run(self, who: Sequence[tuple[str, Sequence[str]]]) -> list[threading.Thread]:
        """A thread for each user with their groups: of ten, eight create, one lists and one sends what is invalid."""
        pool = urllib3.PoolManager(
            ca_certs=str(self.cluster.certificates.authority),
            maxsize=len(who),
            timeout=urllib3.Timeout(60),
            retries=urllib3.Retry(0, redirect=0),
        )
        admin = self.cluster.client
        client = Client(admin.server, pool, admin.headers, admin.kinds)
        threads = [
            threading.Thread(target=self._ask, args=(client.acting_as(user, groups), index % 10), daemon=True)
            for index, (user, groups) in enumerate(who)
        ]
        for each in threads:
            each.start()
        return threads

    def _ask(self, client: Client, turn: int) -> None:
        maps = f"/api/v1/namespaces/{self.namespace}/configmaps"
        body = config_map(self.namespace, "wave")
        while not self.ended.is_set():
            try:
                if turn == 0:
                    client.request("GET", maps, timeout=PATIENCE)
                elif turn == 1:
                    client.request("POST", maps, {**body, "data": "no map"}, timeout=PATIENCE)
                else:
                    client.request("POST", maps, body, dryRun="All", timeout=PATIENCE)
            except Refused as refused:
                self.refused[refused.code] = self.refused.get(refused.code, 0) + 1
            except urllib3.exceptions.HTTPError:
                self.refused[0] = self.refused.get(0, 0) + 1


@contextmanager
def flooding(cluster: Cluster, namespace: str, who: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Flood]:
    """A flood while the block runs; afterwards every client of it has stopped."""
    flood = Flood(cluster, namespace)
    threads = flood.run(who)
    try:
        yield flood
    finally:
        flood.ended.set()
        for each in threads:
            each.join()


def config_map(namespace: str, name: str, size: int = 10) -> Object:
    """A ConfigMap of about `size` bytes."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"x": "x" * size},
    }


@contextmanager
def slow_admission(cluster: Cluster, namespace: str) -> Iterator[None]:
    """A webhook that takes its time to allow ConfigMaps of a namespace."""
    (port,) = free_ports(1)
    server = ThreadingHTTPServer(("127.0.0.1", port), _Slow)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cluster.certificates.server, cluster.certificates.server_key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    item = _webhook(namespace, f"https://127.0.0.1:{port}/", cluster.certificates.bundle)
    cluster.client.create(item)
    try:
        yield
    finally:
        cluster.client.delete(cluster.client.path(item))
        server.shutdown()
        server.server_close()


class _Slow(BaseHTTPRequestHandler):
    """Allows everything, later."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        uid = re.search(rb'"uid":"([^"]+)"', self.rfile.read(size))
        threading.Event().wait(SLOW)
        answer = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":true,"uid":"%s"}}'
        body = answer % (uid[1] if uid else b"")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: there are thousands of requests."""


def _webhook(namespace: str, url: str, bundle: str) -> Object:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    webhook = {
        "name": "slow.flood.test",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "timeoutSeconds": 30,
        "failurePolicy": "Ignore",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "slow"},
        "webhooks": [webhook],
    }
