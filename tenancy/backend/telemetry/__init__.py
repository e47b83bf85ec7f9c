"""What is measured: recording rules, alerts and scrape targets as kinds of Prometheus' operator.

The same names under every scheduler (`names`), as far as it says what they need: what it does not say is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenancy.backend.manifest import Manifest
from tenancy.backend.telemetry.dashboards import config_maps
from tenancy.backend.telemetry.rules import rules
from tenancy.backend.telemetry.targets import targets
from tenancy.plan.values import ClusterPlan


def compile(plan: ClusterPlan) -> Iterator[Manifest]:
    """The files of `monitoring/`; paths are relative to the cluster's folder."""
    if plan.cluster.telemetry.prometheus == "operator":
        yield Manifest("monitoring/rules.yaml", tuple(rules(plan)))
        if found := tuple(targets(plan)):
            yield Manifest("monitoring/targets.yaml", found)
        # Dashboards show what the rules record; without them all would be empty.
        if plan.cluster.telemetry.grafana == "sidecar":
            yield Manifest("monitoring/dashboards.yaml", tuple(config_maps(plan)))
