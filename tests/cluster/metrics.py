"""What schedulers export, as Prometheus scrapes it, and what rules read of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import promql_parser as promql
import urllib3

from tests.cluster.client import Object
from tests.cluster.node_tools import MONITORING
from tests.cluster.plane import Cluster

OURS: Final = "tenancy:"
ELSEWHERE: Final = ("kube_",)
"""Of kube-state-metrics, which does not run here."""
READER: Final = "kueue-metrics-reader"
"""The ClusterRole that Kueue brings for whoever scrapes it."""
_LINE: Final = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL: Final = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_PARTS: Final = ("_bucket", "_count", "_sum")


class Sample(NamedTuple):
    """One line of what is exported."""

    labels: Mapping[str, str]
    value: float


@dataclass(slots=True)
class Exported:
    """All lines of some exporters, by the name of the series, and the type of each metric."""

    samples: dict[str, list[Sample]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)

    def read(self, text: str) -> None:
        """Add the answer of an exporter."""
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, type_ = line.split()
                self.types[name] = type_
            elif match := _LINE.fullmatch(line):
                labels = dict(_LABEL.findall(match["labels"] or ""))
                self.samples.setdefault(match["name"], []).append(Sample(labels, float(match["value"])))

    def type_of(self, series: str) -> str:
        """The type of the metric that a series is of."""
        base = next((series.removesuffix(part) for part in _PARTS if series.endswith(part)), series)
        return self.types.get(series) or self.types.get(base, "")

    def labels_of(self, series: str) -> frozenset[str]:
        """The labels that every series of a name has; empty where there is none."""
        found = [frozenset(sample.labels) for sample in self.samples.get(series, ())]
        return frozenset.intersection(*found) if found else frozenset()

    def value(self, series: str, **labels: str) -> float:
        """The one sample with these labels. Raises AssertionError where there is none or are several."""
        found = [each.value for each in self.samples.get(series, ()) if labels.items() <= each.labels.items()]
        assert len(found) == 1, f"{series} {labels}: {found}"
        return found[0]


@dataclass(frozen=True, slots=True)
class Read:
    """What an expression reads of a metric that is not ours."""

    name: str
    labels: frozenset[str]
    rated: bool
    """Whether it takes it for a counter."""


def scraped(cluster: Cluster) -> Exported:
    """What the scheduler of a cluster exports now."""
    found = Exported()
    if cluster.scheduler == "kueue":
        address, headers = f"https://127.0.0.1:{cluster.ports['kueue-metrics']}/metrics", bearer(cluster)
        found.read(_text(cluster.client.pool, address, headers))
    else:
        for program in ("volcano-metrics", "volcano-controllers-metrics"):
            found.read(_text(urllib3.PoolManager(), f"http://127.0.0.1:{cluster.ports[program]}/metrics", {}))
    return found


def bearer(cluster: Cluster) -> dict[str, str]:
    """The header with which Prometheus shows who it is: its service account may read what Kueue exports."""
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "prometheus", "namespace": MONITORING},
    }
    cluster.client.apply(account)
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "test-bed-prometheus"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER},
        "subjects": [{"kind": "ServiceAccount", "name": "prometheus", "namespace": MONITORING}],
    }
    cluster.client.apply(binding)
    path = f"/api/v1/namespaces/{MONITORING}/serviceaccounts/prometheus/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return {"Authorization": f"Bearer {cluster.client.request('POST', path, request)['status']['token']}"}


def rules(objects: Iterable[Object]) -> Iterator[dict[str, Any]]:
    """Every rule of the PrometheusRules among some objects."""
    for item in (each for each in objects if each["kind"] == "PrometheusRule"):
        for group in item["spec"]["groups"]:
            yield from group["rules"]


def reads(expression: str) -> list[Read]:
    """What a rule reads of others: each selector with the labels that it and the aggregations around it name."""
    return list(_reads(promql.parse(expression), frozenset(), rated=False))


def _reads(node: Any, grouped: frozenset[str], *, rated: bool) -> Iterator[Read]:
    match node:
        case promql.VectorSelector():
            name = node.name or ""
            if not name.startswith((OURS, *ELSEWHERE)):
                matched = frozenset(each.name for each in node.matchers.matchers)
                yield Read(name, matched | grouped, rated)
        case promql.MatrixSelector():
            yield from _reads(node.vector_selector, grouped, rated=rated)
        case promql.AggregateExpr():
            # What is joined with a series of ours has its labels from there.
            labels = frozenset(node.modifier.labels) if node.modifier is not None else frozenset()
            joined = OURS in node.expr.prettify()
            yield from _reads(node.expr, frozenset() if joined else grouped | labels, rated=rated)
        case promql.Call():
            if node.func.name == "label_replace":
                grouped = grouped - {node.args[1].val} | ({node.args[3].val} - {""})
            for each in node.args:
                yield from _reads(each, grouped, rated=rated or node.func.name == "rate")
        case promql.BinaryExpr():
            # The right side of these only decides which samples there are.
            decides = str(node.op) in ("and", "unless")
            yield from _reads(node.lhs, grouped, rated=rated)
            yield from _reads(node.rhs, frozenset() if decides else grouped, rated=rated)
        case promql.ParenExpr() | promql.UnaryExpr():
            yield from _reads(node.expr, grouped, rated=rated)
        case promql.NumberLiteral() | promql.StringLiteral():
            pass
        case _:
            raise AssertionError(f"nothing reads {type(node).__name__} yet")


def _text(pool: Any, address: str, headers: Mapping[str, str]) -> str:
    response = pool.request("GET", address, headers=headers, retries=False, timeout=10)
    assert response.status == 200, f"{address}: {response.status} {response.data[:200]!r}"
    text: str = response.data.decode()
    return text
