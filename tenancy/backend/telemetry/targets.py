"""ServiceMonitors: where Prometheus finds what the scheduler measures, by the Services that its chart makes.

Kueue answers whoever may `get` the path `/metrics` (the ClusterRole `kueue-metrics-reader` of its chart), with a
certificate of its own; Volcano answers everybody. kube-state-metrics comes with Prometheus.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.metadata import obj
from tenancy.backend.telemetry.rules import API
from tenancy.plan.values import ClusterPlan

TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"

_KUEUE: Final = {"app.kubernetes.io/component": "metrics-service", "app.kubernetes.io/name": "kueue"}
"""Of the Service, in the chart (templates/_helpers.tpl) and in the manifests (config/default) of 0.17 to 0.19."""


def targets(plan: ClusterPlan) -> Iterator[Object]:
    """What is scraped in a cluster."""
    if plan.kueue:
        secured = {"scheme": "https", "bearerTokenFile": TOKEN, "tlsConfig": {"insecureSkipVerify": True}}
        yield _monitor(plan, "tenancy-kueue", "kueue-system", _KUEUE, {"port": "https", **secured})
    if plan.volcano:
        for program in ("scheduler", "controller"):
            labels = {"app": f"volcano-{program}"}
            yield _monitor(plan, f"tenancy-volcano-{program}", "volcano-system", labels, {"port": "metrics"})


def _monitor(plan: ClusterPlan, name: str, namespace: str, service: dict[str, str], endpoint: dict[str, Any]) -> Object:
    telemetry = plan.cluster.telemetry
    spec = {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": service},
        "endpoints": [{"path": "/metrics", **endpoint}],
    }
    labels = dict(sorted({**telemetry.labels, **plan.labels}.items()))
    return obj(API, "ServiceMonitor", name, labels, namespace=telemetry.namespace, spec=spec)
