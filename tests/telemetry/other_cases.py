"""Series as Volcano and kube-state-metrics export them, and what must be recorded and fire."""

from __future__ import annotations

from typing import Final

from tests.telemetry.kueue_cases import ADS, VISION, at_unit
from tests.telemetry.scenes import GPU, Case, of_unit, series

NODES: Final = ("a", "b", "c", "d")
"""Of the flavor h100, each with 8 GPUs."""


def of(metric: str, queue: str, **labels: str) -> str:
    """A series of Volcano's about a Queue."""
    return series(f"volcano_queue_{metric}", {"queue_name": queue, **labels})


def use(queue: str, gpus: int, cores: int = 0) -> dict[str, str]:
    """What a Queue has, in thousandths."""
    return {
        of("allocated_milli_cpu", queue): f"{cores * 1000}x300",
        of("allocated_memory_bytes", queue): "1073741824x300",
        of("allocated_scalar_resources", queue, resource=GPU): f"{gpus * 1000}x300",
        of("allocated_scalar_resources", queue, resource="pods"): "3000x300",
        of("deserved_milli_cpu", queue): "96000x300",
        of("deserved_memory_bytes", queue): "2147483648x300",
        of("deserved_scalar_resources", queue, resource=GPU): "8000x300",
        of("capacity_milli_cpu", queue): "384000x300",
        of("capacity_memory_bytes", queue): "4294967296x300",
        of("capacity_scalar_resources", queue, resource=GPU): "32000x300",
    }


def groups(queue: str, pending: int, inqueue: int = 0, running: str = "2x300") -> dict[str, str]:
    """PodGroups of a Queue by phase."""
    return {
        of("pod_group_pending_count", queue): f"{pending}x300",
        of("pod_group_inqueue_count", queue): f"{inqueue}x300",
        of("pod_group_running_count", queue): running,
    }


def nodes(**different: tuple[int, int]) -> dict[str, str]:
    """Nodes as kube-state-metrics sees them, schedulable and ready; by name whether some are cordoned or ready."""
    found: dict[str, str] = {}
    for node in NODES:
        cordoned, ready = different.get(node, (0, 1))
        found |= {
            series("kube_node_status_allocatable", node=node, resource="nvidia_com_gpu", unit="integer"): "8x300",
            series("kube_node_spec_unschedulable", node=node): f"{cordoned}x300",
            series("kube_node_status_condition", node=node, condition="Ready", status="true"): f"{ready}x300",
        }
    return found


def over_promised(more: int) -> tuple[dict[str, str], dict[str, str]]:
    """The alert that so many GPUs are not there."""
    return (
        {"severity": "warning", "resource": GPU},
        {
            "summary": f"More {GPU} are promised than nodes offer",
            "description": f"Departments were promised {more} {GPU} more than the nodes offer that are ready and "
            "schedulable.",
        },
    )


def down(component: str) -> tuple[dict[str, str], dict[str, str]]:
    """The alert that a component is not heard of."""
    return (
        {"severity": "critical", "component": component},
        {
            "summary": f"Nothing is heard of {component}",
            "description": f"For 10m no series of {component} has come: it does not run, or is not scraped.",
        },
    )


def on_nodes(scheduler: str) -> tuple[Case, ...]:
    """The nodes are the same under every scheduler."""
    return (
        Case(
            what="nodes that are cordoned or not ready offer nothing, and what is then promised too much is reported",
            scheduler=scheduler,
            at="35m",
            series=nodes(a=(1, 1), b=(0, 0)),
            fires={"TenancyOverPromised": (over_promised(16),)},
        ),
        Case(
            what="as long as all nodes are there, all that is promised is",
            scheduler=scheduler,
            at="35m",
            series=nodes(),
            silent=("TenancyOverPromised",),
        ),
        Case(
            what="where no node has a GPU at all, everything is promised too much",
            scheduler=scheduler,
            at="35m",
            series={series("kube_node_spec_unschedulable", node="a"): "0x300"},
            fires={"TenancyOverPromised": (over_promised(32),)},
        ),
    )


VOLCANO: Final = (
    Case(
        what="the numbers of each Queue become those of its unit and flavor, in whole cores and GPUs",
        scheduler="volcano",
        at="5m",
        series={**use("research-vision-h100", 12, 100), **use("research-vision-cpu", 0, 3), **use("somebody", 9)},
        recorded={
            f'tenancy:used{{resource="{GPU}"}}': {of_unit("tenancy:used", VISION, flavor="h100", resource=GPU): 12},
            'tenancy:used{resource="cpu"}': {
                of_unit("tenancy:used", VISION, flavor="h100", resource="cpu"): 100,
                of_unit("tenancy:used", VISION, flavor="cpu", resource="cpu"): 3,
            },
            'tenancy:quota{resource="cpu", flavor="h100"}': {
                of_unit("tenancy:quota", VISION, flavor="h100", resource="cpu"): 96
            },
            'tenancy:limit{resource="memory", flavor="h100"}': {
                of_unit("tenancy:limit", VISION, flavor="h100", resource="memory"): 4294967296
            },
            f'tenancy:borrowed{{resource="{GPU}"}}': {
                of_unit("tenancy:borrowed", VISION, flavor="h100", resource=GPU): 4
            },
            'tenancy:department_used{resource="cpu", flavor="cpu"}': {
                series("tenancy:department_used", department="research", flavor="cpu", resource="cpu"): 3
            },
            f'tenancy:department_borrowed{{resource="{GPU}"}}': {
                series("tenancy:department_borrowed", department="research", flavor="h100", resource=GPU): 0
            },
            f'tenancy:department_quota{{resource="{GPU}", department="research"}}': {
                series("tenancy:department_quota", department="research", flavor="h100", resource=GPU): 24
            },
            f'tenancy:flavor_used{{resource="{GPU}"}}': {
                series("tenancy:flavor_used", flavor="h100", resource=GPU): 12
            },
            f'tenancy:flavor_promised{{resource="{GPU}"}}': {
                series("tenancy:flavor_promised", flavor="h100", resource=GPU): 32
            },
            f'tenancy:flavor_capacity{{resource="{GPU}"}}': {
                series("tenancy:flavor_capacity", flavor="h100", resource=GPU): 32
            },
            f'tenancy:queue_info{{queue="{VISION}"}}': {of_unit("tenancy:queue_info", VISION): 1},
            'tenancy:volcano_queue_info{queue_name="research-vision-h100"}': {
                of_unit("tenancy:volcano_queue_info", VISION, flavor="h100", queue_name="research-vision-h100"): 1
            },
            "tenancy:queue_stopped": {of_unit("tenancy:queue_stopped", "research-archive", state="held"): 1},
        },
    ),
    Case(
        what="PodGroups that wait while none starts are reported, those of all flavors together",
        scheduler="volcano",
        series={
            **groups("research-vision-h100", 2, 1),
            **groups("research-vision-cpu", 0, 0),
            **groups("research-archive-h100", 4),
        },
        recorded={
            f'tenancy:pending_jobs{{queue="{VISION}"}}': {of_unit("tenancy:pending_jobs", VISION): 3},
            "tenancy:queue_starting": {},
        },
        fires={
            "TenancyJobsPending": (
                (
                    at_unit(VISION, severity="warning"),
                    {
                        "summary": "Jobs of research/vision wait, and none starts",
                        "description": "3 jobs wait in the queue research-vision; none was started for 1h.",
                    },
                ),
            )
        },
    ),
    Case(
        what="a queue in which the number of running PodGroups changes now and then is not reported",
        scheduler="volcano",
        series=groups("research-vision-h100", 3, running="1x30 2x30 1x30 2x30 1x100"),
        at="1h5m",
        recorded={"tenancy:queue_starting": {of_unit("tenancy:queue_starting", VISION): 1}},
        silent=("TenancyJobsPending",),
    ),
    Case(
        what="a job that takes the place of one that ended counts as started, though as many run as before",
        scheduler="volcano",
        series={
            **groups("research-vision-h100", 3),
            series("process_start_time_seconds", instance="10.0.0.1:8080"): "0x300",
            series(
                "volcano_e2e_job_scheduling_last_time",
                instance="10.0.0.1:8080",
                job_name="second",
                job_namespace=VISION,
                queue="research-vision-h100",
            ): "_x60 3600x200",
        },
        at="1h3m",
        recorded={"tenancy:queue_starting": {of_unit("tenancy:queue_starting", VISION): 1}},
        silent=("TenancyJobsPending",),
    ),
    Case(
        what="a Queue that the scheduler does not know is reported by its unit",
        scheduler="volcano",
        at="20m",
        series={
            **{
                of("allocated_milli_cpu", f"{unit}-{flavor}"): "0x300"
                for unit in ("research-vision", "research-language", "research-archive", ADS)
                for flavor in ("h100", "cpu")
                if (unit, flavor) != (ADS, "h100")
            },
            **groups("research-vision-h100", 0),
        },
        recorded={
            f'tenancy:inactive{{queue=~"{ADS}|{VISION}"}}': {
                of_unit("tenancy:inactive", ADS): 1,
                of_unit("tenancy:inactive", VISION): 0,
            }
        },
        fires={
            "TenancyQueueInactive": (
                (
                    at_unit(ADS, severity="critical"),
                    {
                        "summary": "The queue of product/ads is not active, and no job starts",
                        "description": "The queue product-ads has not been active for 15m: Volcano does not know it.",
                    },
                ),
            )
        },
        silent=("TenancySchedulerDown",),
    ),
    Case(
        what="while nothing is heard of Volcano, each of its two programs is reported, and no queue",
        scheduler="volcano",
        at="20m",
        series={},
        fires={"TenancySchedulerDown": (down("Volcano's scheduler"), down("Volcano's controller"))},
        silent=("TenancyQueueInactive", "TenancyJobsPending", "TenancyOverPromised"),
    ),
    Case(
        what="a flavor that is full while jobs wait that may use it is reported",
        scheduler="volcano",
        series={**use("research-vision-h100", 31), **groups("research-vision-h100", 1)},
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
        scheduler="volcano",
        series={**use("research-vision-h100", 32), **groups("research-vision-h100", 0)},
        silent=("TenancyFlavorSaturated",),
    ),
    *on_nodes("volcano"),
)


def quota(namespace: str, resource: str, kind: str, value: str) -> dict[str, str]:
    """One number of a ResourceQuota, by kube-state-metrics."""
    labels = {"namespace": namespace, "resourcequota": "tenancy-compute", "resource": f"requests.{resource}"}
    return {series("kube_resourcequota", labels, type=kind): f"{value}x300"}


NATIVE: Final = (
    Case(
        what="a unit uses what its namespaces do; a flavor is said where one alone has the resource",
        scheduler="native",
        at="20m",
        series={
            **quota(VISION, GPU, "used", "6"),
            **quota(VISION, GPU, "hard", "8"),
            **quota(VISION, "cpu", "used", "12.5"),
            **quota(VISION, "cpu", "hard", "94"),
            **quota("elsewhere", GPU, "used", "9"),
        },
        recorded={
            f'tenancy:used{{resource="{GPU}"}}': {of_unit("tenancy:used", VISION, flavor="h100", resource=GPU): 6},
            f'tenancy:quota{{resource="{GPU}"}}': {of_unit("tenancy:quota", VISION, flavor="h100", resource=GPU): 8},
            f'tenancy:limit{{resource="{GPU}"}}': {of_unit("tenancy:limit", VISION, flavor="h100", resource=GPU): 8},
            'tenancy:used{resource="cpu"}': {of_unit("tenancy:used", VISION, resource="cpu"): 12.5},
            f'tenancy:department_used{{resource="{GPU}"}}': {
                series("tenancy:department_used", department="research", flavor="h100", resource=GPU): 6
            },
            f'tenancy:department_quota{{resource="{GPU}", department="research"}}': {
                series("tenancy:department_quota", department="research", flavor="h100", resource=GPU): 24
            },
            f'tenancy:flavor_used{{resource="{GPU}"}}': {series("tenancy:flavor_used", flavor="h100", resource=GPU): 6},
            f'tenancy:flavor_promised{{resource="{GPU}"}}': {
                series("tenancy:flavor_promised", flavor="h100", resource=GPU): 32
            },
            f'tenancy:flavor_capacity{{resource="{GPU}"}}': {
                series("tenancy:flavor_capacity", flavor="h100", resource=GPU): 32
            },
            f'tenancy:queue_info{{queue="{VISION}"}}': {of_unit("tenancy:queue_info", VISION): 1},
            f'tenancy:namespace_info{{namespace="{VISION}"}}': {
                of_unit("tenancy:namespace_info", VISION, namespace=VISION): 1
            },
            "tenancy:queue_stopped": {of_unit("tenancy:queue_stopped", "research-archive", state="held"): 1},
        },
        silent=("TenancySchedulerDown",),
    ),
    Case(
        what="without kube-state-metrics nothing is known, and that is reported",
        scheduler="native",
        at="20m",
        series={},
        fires={"TenancySchedulerDown": (down("kube-state-metrics"),)},
        silent=("TenancyFlavorSaturated", "TenancyOverPromised"),
    ),
    Case(
        what="a flavor that is full while pods wait for a node is reported",
        scheduler="native",
        series={
            **quota(VISION, GPU, "used", "31"),
            **quota(VISION, GPU, "hard", "31"),
            series("kube_pod_status_unschedulable", namespace=VISION, pod="one"): "1x300",
        },
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
        what="a full flavor is as it should be while no pod waits for a node, though one pulls its image",
        scheduler="native",
        series={
            **quota(VISION, GPU, "used", "31"),
            **quota(VISION, GPU, "hard", "31"),
            series("kube_pod_status_phase", namespace=VISION, pod="one", phase="Pending"): "1x300",
        },
        silent=("TenancyFlavorSaturated",),
    ),
    *on_nodes("native"),
)

KUEUE_NODES: Final = on_nodes("kueue")
CASES: Final = (*KUEUE_NODES, *VOLCANO, *NATIVE)
