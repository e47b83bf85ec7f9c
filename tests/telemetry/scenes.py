"""An organization, its rules as files of Prometheus, and made series with what must come of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tenancy.backend import telemetry
from tenancy.backend.manifest import Object
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized, scheduled

GPU: Final = "nvidia.com/gpu"
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"train": {}},
    "flavors": {
        "cpu": {"cluster": "train", "nodes": 2, "node": {"cpu": 64, "memory": "256Gi"}},
        "h100": {
            "cluster": "train",
            "gpu": "H100-SXM-80GB",
            "nodes": 4,
            "node": {"gpus": 8, "cpu": 96, "memory": "1Ti"},
        },
    },
    "departments": {
        "research": {
            "budget": {"h100": 24, "cpu": {"cpu": 40, "memory": "160Gi"}},
            "teams": {
                "vision": {"budget": {"h100": 8}},
                "language": {"budget": {"h100": 8, "cpu": {"cpu": 20, "memory": "64Gi"}}},
                "archive": {"state": "held", "budget": {"h100": 4}},
            },
        },
        "product": {"budget": {"h100": 8}, "teams": {"ads": {"budget": {"h100": 8}}}},
    },
}
"""32 GPUs, all promised."""
UNITS: Final[Mapping[str, Mapping[str, str]]] = {
    f"{department}-{team}": {
        "queue": f"{department}-{team}",
        "unit": f"{department}/{team}",
        "department": department,
        "team": team,
    }
    for department, team in (
        ("research", "vision"),
        ("research", "language"),
        ("research", "archive"),
        ("product", "ads"),
    )
}
"""The labels of each unit, by its queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Series as they come in, and what is recorded and fires after a while."""

    what: str
    """Stated as behaviour."""
    scheduler: str
    series: Mapping[str, str]
    """By name and labels; promtool's values, one a minute."""
    at: str = "1h10m"
    recorded: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By the name of a recording rule and what is looked for of it, the values by labels: all that there are."""
    fires: Mapping[str, tuple[tuple[dict[str, str], dict[str, str]], ...]] = field(default_factory=dict)
    """By alert: all that fire, each with its labels and its annotations but for the link to the documentation."""
    silent: tuple[str, ...] = ()
    """Alerts that do not fire."""

    def test(self) -> dict[str, Any]:
        """In the form of promtool."""
        samples = [
            {
                "expr": expression,
                "eval_time": self.at,
                "exp_samples": [{"labels": labels, "value": value} for labels, value in values.items()],
            }
            for expression, values in self.recorded.items()
        ]
        fires = [
            {
                "eval_time": self.at,
                "alertname": name,
                "exp_alerts": [
                    {
                        "exp_labels": labels,
                        "exp_annotations": {**words, "runbook": f"docs/telemetry.md#{name.lower()}"},
                    }
                    for labels, words in alerts
                ],
            }
            for name, alerts in self.fires.items()
        ]
        silent = [{"eval_time": self.at, "alertname": name, "exp_alerts": []} for name in self.silent]
        return {
            "name": self.what,
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in self.series.items()],
            "promql_expr_test": samples,
            "alert_rule_test": fires + silent,
        }


def planned(scheduler: str, tree: dict[str, Any] = TREE, **said: Any) -> ClusterPlan:
    """The plan of an organization under a scheduler, with this telemetry."""
    given = scheduled(tree, scheduler)
    given["clusters"]["train"] |= {"telemetry": said} if said else {}
    (made,) = plan(organized(given))
    return made


def objects(made: ClusterPlan, kind: str = "PrometheusRule") -> list[Object]:
    """The objects of a kind that are emitted."""
    return [each for item in telemetry.compile(made) for each in item.objects if each["kind"] == kind]


def rules(made: ClusterPlan) -> list[dict[str, Any]]:
    """Every rule of a cluster."""
    return [rule for each in objects(made) for group in each["spec"]["groups"] for rule in group["rules"]]


def written(made: ClusterPlan, folder: Path) -> list[Path]:
    """The rules as the operator hands them to Prometheus: a file for each object."""
    files = []
    for each in objects(made):
        path = folder / f"{each['metadata']['name']}.yaml"
        path.write_text(yaml.dump(each["spec"], Dumper=yaml.CSafeDumper, sort_keys=False), encoding="utf-8")
        files.append(path)
    return files


def series(name: str, labels: Mapping[str, str] | None = None, **more: str) -> str:
    """A series as Prometheus writes it."""
    pairs = ", ".join(f'{key}="{value}"' for key, value in {**(labels or {}), **more}.items())
    return f"{name}{{{pairs}}}" if pairs else name


def of_unit(name: str, queue: str, **more: str) -> str:
    """A recorded series of a unit."""
    return series(name, UNITS[queue], **more)


def names(found: Iterable[dict[str, Any]], key: str) -> set[str]:
    """The names of recording rules or alerts."""
    return {rule[key] for rule in found if key in rule}
