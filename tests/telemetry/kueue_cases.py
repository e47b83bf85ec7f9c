"""Series as Kueue exports them, and what must be recorded and fire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.telemetry.scenes import GPU, UNITS, Case, of_unit, series

MANAGER: Final = {"instance": "10.0.0.1:8443", "replica_role": "leader"}
WATCHED: Final = {series("process_start_time_seconds", instance=MANAGER["instance"]): "0x300"}
"""A manager that has run as long as Prometheus has looked."""


def of(metric: str, queue: str, **labels: str) -> str:
    """A series of Kueue's about a queue."""
    return series(f"kueue_{metric}", MANAGER, cluster_queue=queue, **labels)


def gpus(metric: str, queue: str) -> str:
    """A series about the GPUs of a queue."""
    return of(f"cluster_queue_{metric}", queue, cohort="any", flavor="h100", resource=GPU)


def use(**used: int) -> dict[str, str]:
    """Queues with a quota of 8 GPUs and a limit of 32, and what they use."""
    found: dict[str, str] = {}
    for name, count in used.items():
        queue = name.replace("_", "-")
        numbers = {"resource_reservation": count, "nominal_quota": 8, "borrowing_limit": 24}
        found |= {gpus(f"{metric}", queue): f"{value}x300" for metric, value in numbers.items()}
    return found


def pending(queue: str, active: int, inadmissible: int = 0) -> dict[str, str]:
    """Jobs that wait in a queue."""
    counts = {"active": active, "inadmissible": inadmissible}
    return {of("pending_workloads", queue, status=status): f"{count}x300" for status, count in counts.items()}


def status(**active: int) -> dict[str, str]:
    """Queues that are active or not."""
    return {
        of("cluster_queue_status", name.replace("_", "-"), status="active"): f"{value}x300"
        for name, value in active.items()
    }


def admitted(queue: str, values: str) -> dict[str, str]:
    """How many jobs of a queue were ever admitted."""
    return {of("admitted_workloads_total", queue, priority_class=""): values}


def evicted(queue: str, reason: str, values: str) -> dict[str, str]:
    """How many jobs of a queue were ever evicted for a reason."""
    labels = {"reason": reason, "underlying_cause": "", "priority_class": ""}
    return {of("evicted_workloads_total", queue, **labels): values}


def waited(queue: str, **buckets: str) -> dict[str, str]:
    """How long the jobs of a queue waited, by the upper bound of each bucket."""
    return {
        of("admission_wait_time_seconds_bucket", queue, priority_class="", le=bound.removeprefix("le")): values
        for bound, values in buckets.items()
    }


def missed(at: int, found: Mapping[str, str], *, before: str = "", after: str = "") -> dict[str, str]:
    """Steady series, of which one scrape fails after so many minutes; `before` or `after` it there are none at all."""
    values = {name: text.removesuffix("x300") for name, text in found.items()}
    return {name: f"{before or value}x{at - 1} stale {after or value}x300" for name, value in values.items()}


def elsewhere(found: Mapping[str, str]) -> dict[str, str]:
    """The same series of another manager."""
    return {name.replace("10.0.0.1", "10.0.0.2"): values for name, values in found.items()}


def at_unit(queue: str, **labels: str) -> dict[str, str]:
    """The labels of an alert about a unit."""
    return {**UNITS[queue], **labels}


VISION: Final = "research-vision"
LANGUAGE: Final = "research-language"
ADS: Final = "product-ads"
JOBS_WAIT: Final = (
    at_unit(VISION, severity="warning"),
    {
        "summary": "Jobs of research/vision wait, and none starts",
        "description": "3 jobs wait in the queue research-vision; none was started for 1h.",
    },
)
BUCKETS: Final = {"le1": "0+1x300", "le10": "0+9x300", "le100": "0+10x300", "le+Inf": "0+10x300"}
"""Of ten jobs a minute one waited up to a second, eight up to ten and one up to a hundred."""

USE: Final = (
    Case(
        what="what a queue uses beyond its quota is borrowed, and nothing is at a department that has it left",
        scheduler="kueue",
        at="5m",
        series=use(research_vision=12, product_ads=4),
        recorded={
            "tenancy:used": {
                of_unit("tenancy:used", VISION, flavor="h100", resource=GPU): 12,
                of_unit("tenancy:used", ADS, flavor="h100", resource=GPU): 4,
            },
            f'tenancy:quota{{queue="{VISION}"}}': {of_unit("tenancy:quota", VISION, flavor="h100", resource=GPU): 8},
            f'tenancy:limit{{queue="{VISION}"}}': {of_unit("tenancy:limit", VISION, flavor="h100", resource=GPU): 32},
            "tenancy:borrowed": {
                of_unit("tenancy:borrowed", VISION, flavor="h100", resource=GPU): 4,
                of_unit("tenancy:borrowed", ADS, flavor="h100", resource=GPU): 0,
            },
            "tenancy:department_used": {
                series("tenancy:department_used", department="research", flavor="h100", resource=GPU): 12,
                series("tenancy:department_used", department="product", flavor="h100", resource=GPU): 4,
            },
            f'tenancy:department_quota{{flavor="h100", resource="{GPU}"}}': {
                series("tenancy:department_quota", department="research", flavor="h100", resource=GPU): 24,
                series("tenancy:department_quota", department="product", flavor="h100", resource=GPU): 8,
            },
            "sum(tenancy:department_borrowed)": {"{}": 0},
            "tenancy:flavor_used": {series("tenancy:flavor_used", flavor="h100", resource=GPU): 16},
            f'tenancy:flavor_promised{{flavor="h100", resource="{GPU}"}}': {
                series("tenancy:flavor_promised", flavor="h100", resource=GPU): 32
            },
            f'tenancy:flavor_capacity{{flavor="h100", resource="{GPU}"}}': {
                series("tenancy:flavor_capacity", flavor="h100", resource=GPU): 32
            },
            'tenancy:flavor_capacity{flavor="cpu", resource="cpu"}': {
                series("tenancy:flavor_capacity", flavor="cpu", resource="cpu"): 124
            },
            "count(tenancy:queue_info)": {"{}": 4},
            "tenancy:queue_stopped": {of_unit("tenancy:queue_stopped", "research-archive", state="held"): 1},
        },
    ),
    Case(
        what="a department with more than its quota borrows, whoever of it does",
        scheduler="kueue",
        at="5m",
        series=use(product_ads=11),
        recorded={
            "tenancy:department_borrowed": {
                series("tenancy:department_borrowed", department="product", flavor="h100", resource=GPU): 3
            }
        },
    ),
    Case(
        what="a manager that waits, a second one that takes over and a queue of nobody's count nothing twice",
        scheduler="kueue",
        at="5m",
        series={
            **use(research_vision=5),
            gpus("resource_reservation", VISION).replace("leader", "follower"): "7x300",
            gpus("resource_reservation", VISION).replace("10.0.0.1", "10.0.0.2"): "5x300",
            gpus("resource_reservation", "somebody"): "9x300",
        },
        recorded={"sum(tenancy:used)": {"{}": 5}},
    ),
    Case(
        what="a queue without a limit has none, and one without a quota borrows all that it uses",
        scheduler="kueue",
        at="5m",
        series={
            gpus("nominal_quota", VISION): "8x300",
            gpus("borrowing_limit", VISION): " ".join(["Inf"] * 300),
            gpus("resource_reservation", ADS): "2x300",
        },
        recorded={
            "tenancy:limit": {},
            "tenancy:borrowed": {of_unit("tenancy:borrowed", ADS, flavor="h100", resource=GPU): 2},
        },
    ),
)

WAITING: Final = (
    Case(
        what="jobs that wait while none starts are reported, but not those of a unit that is held",
        scheduler="kueue",
        series={**pending(VISION, 2, 1), **pending("research-archive", 5), **admitted(VISION, "7x300")},
        recorded={
            f'tenancy:pending_jobs{{queue="{VISION}"}}': {of_unit("tenancy:pending_jobs", VISION): 3},
            "tenancy:queue_starting": {},
        },
        fires={"TenancyJobsPending": (JOBS_WAIT,)},
    ),
    Case(
        what="a queue whose jobs start now and then is not reported",
        scheduler="kueue",
        series={**pending(VISION, 3), **admitted(VISION, "1x30 2x30 3x30 4x30 5x100")},
        at="1h5m",
        recorded={"tenancy:queue_starting": {of_unit("tenancy:queue_starting", VISION): 1}},
        silent=("TenancyJobsPending",),
    ),
    Case(
        what="the first job that ever starts counts, though its counter was not there before",
        scheduler="kueue",
        series={**WATCHED, **pending(VISION, 3), **admitted(VISION, "_x60 1x200")},
        at="1h3m",
        recorded={"tenancy:queue_starting": {of_unit("tenancy:queue_starting", VISION): 1}},
        silent=("TenancyJobsPending",),
    ),
    Case(
        what="after a scrape that failed no job has started, and those that wait have waited all the time",
        scheduler="kueue",
        series=missed(40, {**WATCHED, **pending(VISION, 2, 1), **admitted(VISION, "7x300")}),
        at="46m",
        recorded={"tenancy:queue_starting": {}},
    ),
    Case(
        what="jobs that wait are reported though scrapes failed and one manager handed over to another",
        scheduler="kueue",
        series={
            **missed(40, {**WATCHED, **pending(VISION, 2, 1), **admitted(VISION, "7x300")}, after="_"),
            **missed(45, elsewhere(pending(VISION, 2, 1)), before="_"),
        },
        fires={"TenancyJobsPending": (JOBS_WAIT,)},
    ),
    Case(
        what="jobs of a manager that was started anew count as started from the first on",
        scheduler="kueue",
        series={
            series("process_start_time_seconds", instance=MANAGER["instance"]): "_x62 3660x200",
            **admitted(VISION, "_x62 1x200"),
        },
        at="1h4m",
        recorded={"tenancy:queue_starting": {of_unit("tenancy:queue_starting", VISION): 1}},
    ),
    Case(
        what="jobs that have not waited for long are not reported",
        scheduler="kueue",
        series=pending(VISION, 3),
        at="55m",
        silent=("TenancyJobsPending",),
    ),
    Case(
        what="quantiles are taken from the last hour, of a unit and of all of its department together",
        scheduler="kueue",
        series={**WATCHED, **waited(VISION, **BUCKETS), **waited(LANGUAGE, **BUCKETS)},
        recorded={
            f'round(tenancy:wait_seconds_bucket:rate1h{{queue="{VISION}", le="10"}} * 60)': {
                of_unit("", VISION, le="10"): 9
            },
            f'round(tenancy:wait_seconds:p50{{queue="{VISION}"}}, 0.1)': {of_unit("", VISION): 5.5},
            f'round(tenancy:wait_seconds:p90{{queue="{VISION}"}}, 0.1)': {of_unit("", VISION): 10},
            "round(tenancy:department_wait_seconds:p90, 0.1)": {series("", department="research"): 10},
        },
    ),
    Case(
        what="where no job was admitted in the last hour there is no quantile",
        scheduler="kueue",
        series={**WATCHED, **waited(VISION, **{"le1": "1x300", "le10": "2x300", "le+Inf": "2x300"})},
        recorded={"tenancy:wait_seconds:p50": {}, "tenancy:department_wait_seconds:p90": {}},
    ),
    Case(
        what="admissions and evictions are counted from the first on, also of a manager that was started anew",
        scheduler="kueue",
        at="2h",
        series={
            **WATCHED,
            **admitted(VISION, "_x90 12x200"),
            **evicted(VISION, "Preempted", "0x60 1x30 2x15 0x10 1x200"),
            **evicted(VISION, "PodsReadyTimeout", "_x100 3x200"),
        },
        recorded={
            "round(tenancy:admissions:rate1h * 3600)": {of_unit("", VISION): 12},
            "round(tenancy:evictions:rate1h * 3600)": {
                of_unit("", VISION, reason="Preempted"): 3,
                of_unit("", VISION, reason="PodsReadyTimeout"): 3,
            },
        },
    ),
    Case(
        what="what a manager counted before Prometheus looked is not taken for the last hour",
        scheduler="kueue",
        series={
            series("process_start_time_seconds", instance=MANAGER["instance"]): "_x30 0x200",
            **evicted(VISION, "Preempted", "_x30 400x200"),
        },
        recorded={"tenancy:evictions:rate1h": {of_unit("tenancy:evictions:rate1h", VISION, reason="Preempted"): 0}},
    ),
)

ALERTS: Final = (
    Case(
        what="a queue that is not active or not there is reported, but not one that is held",
        scheduler="kueue",
        at="20m",
        series=status(research_vision=1, research_language=0, research_archive=0),
        recorded={
            "tenancy:inactive": {
                of_unit("tenancy:inactive", VISION): 0,
                of_unit("tenancy:inactive", LANGUAGE): 1,
                of_unit("tenancy:inactive", "research-archive"): 1,
                of_unit("tenancy:inactive", ADS): 1,
            }
        },
        fires={
            "TenancyQueueInactive": tuple(
                (
                    at_unit(queue, severity="critical"),
                    {
                        "summary": f"The queue of {unit} is not active, and no job starts",
                        "description": f"The queue {queue} has not been active for 15m: Kueue does not admit from it.",
                    },
                )
                for queue, unit in ((LANGUAGE, "research/language"), (ADS, "product/ads"))
            )
        },
        silent=("TenancySchedulerDown",),
    ),
    Case(
        what="a queue that is not active is reported though a scrape failed meanwhile",
        scheduler="kueue",
        at="25m",
        series=missed(18, status(research_vision=0, research_language=1, product_ads=1)),
        recorded={"count(ALERTS{alertname='TenancyQueueInactive', alertstate='firing'})": {"{}": 1}},
    ),
    Case(
        what="while nothing is heard of Kueue that is reported, and not every queue",
        scheduler="kueue",
        at="20m",
        series={},
        recorded={"tenancy:inactive": {}},
        fires={
            "TenancySchedulerDown": (
                (
                    {"severity": "critical", "component": "Kueue's manager"},
                    {
                        "summary": "Nothing is heard of Kueue's manager",
                        "description": "For 10m no series of Kueue's manager has come: it does not run, "
                        "or is not scraped.",
                    },
                ),
            )
        },
        silent=("TenancyQueueInactive", "TenancyJobsPending", "TenancyOverPromised", "TenancyEvictions"),
    ),
    Case(
        what="a manager that only waits for its turn does not count as one that runs",
        scheduler="kueue",
        at="20m",
        series={name.replace("leader", "follower"): values for name, values in status(research_vision=1).items()},
        recorded={"count(ALERTS{alertname='TenancySchedulerDown', alertstate='firing'})": {"{}": 1}},
    ),
    Case(
        what="a flavor that is full while jobs wait that may use it is reported, though a scrape failed meanwhile",
        scheduler="kueue",
        series=missed(40, {**use(research_vision=23, product_ads=8), **pending(VISION, 1)}),
        fires={
            "TenancyFlavorSaturated": (
                (
                    {"severity": "info", "flavor": "h100", "resource": GPU},
                    {
                        "summary": "h100 is full, and jobs wait for it",
                        "description": f"96.88% of {GPU} of h100 are used, and for 1h jobs have "
                        "waited that may use it.",
                    },
                ),
            )
        },
    ),
    Case(
        what="a full flavor that nobody waits for is as it should be",
        scheduler="kueue",
        series={**use(research_vision=24, product_ads=8), **pending("research-archive", 3)},
        silent=("TenancyFlavorSaturated",),
    ),
    Case(
        what="jobs that wait beside free GPUs are another matter",
        scheduler="kueue",
        series={**use(research_vision=20, product_ads=8), **pending(VISION, 3)},
        silent=("TenancyFlavorSaturated",),
    ),
    Case(
        what="many evictions for one reason, compared with the admissions, are reported",
        scheduler="kueue",
        series={
            **WATCHED,
            **admitted(VISION, "0+1x300"),
            **evicted(VISION, "PodsReadyTimeout", "0+1x300"),
            **evicted(VISION, "Preempted", "0+1x2 2x300"),
        },
        fires={
            "TenancyEvictions": (
                (
                    at_unit(VISION, severity="warning", reason="PodsReadyTimeout"),
                    {
                        "summary": "Jobs of research/vision are evicted again and again",
                        "description": "60 jobs of the queue research-vision were evicted in an hour, "
                        "with the reason PodsReadyTimeout.",
                    },
                ),
            )
        },
    ),
    Case(
        what="evictions are not reported when few, when among very many admissions, or when a queue was or is stopped",
        scheduler="kueue",
        series={
            **WATCHED,
            **evicted(VISION, "Preempted", "0x100 4x300"),
            **admitted(LANGUAGE, "0+10x300"),
            **evicted(LANGUAGE, "Preempted", "0+1x300"),
            **evicted(ADS, "ClusterQueueStopped", "0+1x300"),
            **evicted("research-archive", "Preempted", "0+1x300"),
        },
        silent=("TenancyEvictions",),
    ),
)

CASES: Final = (*USE, *WAITING, *ALERTS)
