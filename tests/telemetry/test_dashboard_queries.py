"""What the dashboards show of made series: no panel is empty where there is something to see, and numbers are right.

The series are the scheduler's own; the rules record them and Prometheus answers the queries of the panels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.telemetry import kueue_cases as kueue
from tests.telemetry import other_cases as other
from tests.telemetry import promtool
from tests.telemetry.boards import boards, options, panels, queries
from tests.telemetry.scenes import GPU, UNITS, planned, series, written

pytestmark = pytest.mark.slow

SERVER: Final = {
    f"tenancy-{department}": {
        series("apiserver_flowcontrol_current_executing_seats", priority_level=f"tenancy-{department}"): "6x300",
        series("apiserver_flowcontrol_nominal_limit_seats", priority_level=f"tenancy-{department}"): "4x300",
        **{
            series(
                "apiserver_flowcontrol_request_wait_duration_seconds_bucket",
                priority_level=f"tenancy-{department}",
                execute="true",
                le=bound,
            ): "0+60x300"
            for bound in ("1", "+Inf")
        },
    }
    for department in ("research", "product")
}
"""By priority level: what the API server says of it. It never refused anything."""


def of_kueue() -> dict[str, str]:
    """All units work: one uses more than its quota, one was evicted, all wait."""
    found = {**kueue.WATCHED, **kueue.use(research_vision=12, research_language=2, research_archive=0, product_ads=4)}
    for queue in UNITS:
        found |= kueue.pending(queue, 3, 1) | kueue.admitted(queue, "0+1x300") | kueue.waited(queue, **kueue.BUCKETS)
        found |= kueue.status(**{queue.replace("-", "_"): int(queue != kueue.ADS)})
    return found | kueue.evicted(kueue.VISION, "Preempted", "0+0.1x300")


def of_volcano() -> dict[str, str]:
    """The same of Volcano, as far as it says it."""
    used = {"research-vision": 12, "research-language": 2, "research-archive": 0, "product-ads": 4}
    found: dict[str, str] = {}
    for queue, count in used.items():
        name = f"{queue}-h100"
        found |= other.use(name, count) | other.groups(name, 3, 1)
    return found


def of_native() -> dict[str, str]:
    """Quotas of Kubernetes in the namespace of each unit."""
    found = {}
    for namespace, count in {"research-vision": 8, "research-language": 2, "product-ads": 4}.items():
        quota = {"namespace": namespace, "resourcequota": "tenancy-compute", "resource": f"requests.{GPU}"}
        found[series("kube_resourcequota", quota, type="used")] = f"{count}x300"
        found[series("kube_resourcequota", quota, type="hard")] = "8x300"
    return found


SERIES: Final = {"kueue": of_kueue, "volcano": of_volcano, "native": of_native}
ABOUT: Final = dict.fromkeys(("kueue", "volcano"), 'flavor="h100",resource="nvidia.com/gpu"') | {
    "native": f'resource="{GPU}"'
}
UNHEARD: Final = ("research/archive", "cpu", "memory")
"""A unit that is held has no series in some schedulers, and of cpu and memory none are made here."""


def _answers(scheduler: str, tests: Mapping[str, Mapping[str, float]], folder: Path) -> str:
    """What promtool says against these answers of Prometheus, each sample by its labels."""
    server = {name: values for level in SERVER.values() for name, values in level.items()}
    expressions = [
        {
            "expr": text,
            "eval_time": "1h10m",
            "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()],
        }
        for text, samples in tests.items()
    ]
    made = {**SERIES[scheduler](), **server}
    test: dict[str, Any] = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in made.items()],
        "promql_expr_test": expressions,
    }
    return promtool.run(promtool.needed(), written(planned(scheduler), folder), [test], folder)


@pytest.mark.parametrize("scheduler", SERIES)
def test_no_panel_is_empty(scheduler: str, tmp_path: Path) -> None:
    """Each query of each panel has an answer, when GPUs are looked at and every unit has done something."""
    asked = {}
    for board in boards(planned(scheduler)):
        assert ABOUT[scheduler] in options(board).values()
        for query in queries(board, ABOUT[scheduler], "research/vision"):
            if not any(word in f"{query.panel} {query.text}" for word in UNHEARD):
                asked[f"count({query.text}) > bool 0"] = {"{}": 1.0}
    assert len(asked) > 20
    assert _answers(scheduler, asked, tmp_path) == ""


def _texts(board: int, title: str) -> list[str]:
    """The queries of a panel of a dashboard of Kueue."""
    chosen = boards(planned("kueue"))[board]
    assert title in {panel["title"] for panel in panels(chosen)}
    return [query.text for query in queries(chosen, ABOUT["kueue"]) if query.panel == title]


def test_the_numbers_of_the_overview(tmp_path: Path) -> None:
    """Departments with what they own, use, borrow and leave idle, and whose jobs wait; queues that do not work; seats
    in use against own ones, and no request refused."""
    quota, used, borrowed, idle, pending, wait, evicted, inactive = _texts(0, "Departments")
    research, product = (f'{{department="{name}"}}' for name in ("research", "product"))
    in_use, _, refused = (_texts(0, title)[0] for title in ("Seats in use", "Wait for a seat", "Requests refused"))
    levels = [f'{{department="{name}", priority_level="tenancy-{name}"}}' for name in ("research", "product")]
    asked: dict[str, dict[str, float]] = {
        quota: {research: 24, product: 8},
        used: {research: 14, product: 4},
        borrowed: {research: 0, product: 0},
        idle: {research: 10, product: 4},
        pending: {research: 12, product: 4},
        f"round({wait})": {research: 10, product: 10},
        f"round({evicted})": {research: 6, product: 0},
        inactive: {research: 0, product: 1},
        _texts(0, "Queues that do not work")[0]: {"{}": 1},
        in_use: dict.fromkeys(levels, 1.5),
        refused: dict.fromkeys(levels, 0),
    }
    assert _answers("kueue", asked, tmp_path) == ""


def test_the_numbers_of_a_department(tmp_path: Path) -> None:
    """Who of a department uses how much; a unit that uses more than its quota, with what it borrows of it."""
    (parts,) = _texts(2, "research: who uses it")
    used, borrowed, quota, limit = _texts(2, "research/vision: use")
    (reasons,) = _texts(2, "research/vision: evictions an hour")
    asked = {
        parts: {f'{{part="{name}"}}': count for name, count in (("vision", 12), ("language", 2), ("archive", 0))},
        used: {"{}": 12},
        borrowed: {"{}": 4},
        quota: {"{}": 8},
        limit: {"{}": 32},
        f"round({reasons})": {'{reason="Preempted"}': 6, '{reason="none"}': 0},
    }
    assert _answers("kueue", asked, tmp_path) == ""
