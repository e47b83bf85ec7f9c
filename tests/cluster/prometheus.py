"""A Prometheus beside a control plane: it scrapes the scheduler as it does in a cluster, with the emitted rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import urllib3
import yaml

from tests.cluster.client import Object
from tests.cluster.metrics import bearer
from tests.cluster.plane import Cluster
from tests.cluster.processes import free_ports
from tests.telemetry import promtool

NAME: Final = "prometheus"
OFTEN: Final = "1s"


@dataclass(frozen=True, slots=True)
class Prometheus:
    """One that runs."""

    cluster: Cluster
    port: int

    def ask(self, expression: str, label: str = "unit") -> dict[str, float]:
        """The samples of an expression now, by one of their labels."""
        return {labels.get(label, ""): value for labels, value in self.samples(expression)}

    def samples(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The samples of an expression now, each with its labels."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query"
        answer = urllib3.request("GET", url, fields={"query": expression}, retries=False, timeout=10).json()
        assert answer["status"] == "success", json.dumps(answer)
        return [(each["metric"], float(each["value"][1])) for each in answer["data"]["result"]]

    def stop(self) -> None:
        """End it."""
        self.cluster.processes.stop(NAME)


def start(cluster: Cluster, objects: Iterable[Object]) -> Prometheus:
    """Start one with the rules among some objects, and wait until it answers."""
    program = promtool.needed(NAME)
    folder = cluster.folder / NAME
    folder.mkdir(exist_ok=True)
    files = []
    for item in (each for each in objects if each["kind"] == "PrometheusRule"):
        path = folder / f"{item['metadata']['name']}.yaml"
        path.write_text(yaml.safe_dump(item["spec"]), encoding="utf-8")
        files.append(str(path))
    settings = {
        "global": {"scrape_interval": OFTEN, "evaluation_interval": OFTEN},
        "rule_files": files,
        "scrape_configs": list(_targets(cluster)),
    }
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    (port,) = free_ports(1)
    command = [program, f"--config.file={path}", f"--storage.tsdb.path={folder / 'data'}", "--log.level=warn"]
    cluster.processes.start(NAME, [*command, f"--web.listen-address=127.0.0.1:{port}"])
    cluster.processes.wait(NAME, lambda: _ready(port))
    return Prometheus(cluster, port)


def _ready(port: int) -> bool:
    try:
        return urllib3.request("GET", f"http://127.0.0.1:{port}/-/ready", retries=False, timeout=2).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def _targets(cluster: Cluster) -> Iterable[Mapping[str, Any]]:
    """The exporters at their ports on loopback, which in a cluster ServiceMonitors lead to."""
    if cluster.scheduler == "kueue":
        token = bearer(cluster)["Authorization"].removeprefix("Bearer ")
        secured = {"scheme": "https", "tls_config": {"insecure_skip_verify": True}}
        yield _target("kueue", cluster.ports["kueue-metrics"], {**secured, "authorization": {"credentials": token}})
    else:
        for program in ("volcano-metrics", "volcano-controllers-metrics"):
            yield _target(program, cluster.ports[program], {})


def _target(job: str, port: int, more: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}], **more}
