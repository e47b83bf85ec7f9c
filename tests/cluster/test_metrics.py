"""What Kueue and Volcano really export, compared with what the emitted rules read, while teams run, wait and borrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.cluster import deploy, jobs, metrics, prometheus, volcano_jobs
from tests.cluster.build import kueue_manifests, volcano_manifests
from tests.cluster.client import Object
from tests.cluster.metrics import Exported, Read
from tests.cluster.plane import Cluster, until
from tests.cluster.prometheus import Prometheus
from tests.cluster.scene import Scene

GPU: Final = "nvidia.com/gpu"
COUNTERS: Final = ("counter", "histogram")
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "metered",
    "clusters": {"train": {}},
    "flavors": {"h100": {"gpu": "H100-SXM-80GB", "nodes": 2, "node": {"gpus": 8, "cpu": 128, "memory": "1024Gi"}}},
    "departments": {
        "lending": {
            "budget": {"h100": 16},
            "teams": {"guest": {"budget": {"h100": 4}}, "owner": {"budget": {"h100": {"quota": 12, "limit": 14}}}},
        },
    },
}


@pytest.fixture(scope="module")
def kueue(cluster: Cluster) -> tuple[Scene, Exported]:
    """A team borrows, another takes back what it lent, and the first waits; what is exported then."""
    scene = jobs.opened(cluster, deploy.compiled_for(cluster, TREE))
    scene.submit("lending/guest", 4, times=2)
    scene.expect({"lending/guest": 8})
    scene.submit("lending/owner", 4, pods=3)
    scene.expect({"lending/guest": 4, "lending/owner": 12})
    held = {"cluster_queue": "lending-owner", "resource": GPU}

    def seen() -> bool:
        found = metrics.scraped(cluster).samples.get("kueue_cluster_queue_resource_reservation", [])
        return any(held.items() <= each.labels.items() and each.value == 12 for each in found)

    until(seen, "what is reserved is exported")
    return scene, metrics.scraped(cluster)


@pytest.fixture(scope="module")
def volcano(cluster: Cluster) -> tuple[Scene, Exported]:
    """A team has what is its own, and another job of it waits; what is exported then."""
    scene = volcano_jobs.opened(cluster, deploy.compiled_for(cluster, TREE))
    scene.gang("lending/guest", 2, 4)
    scene.expect({"lending/guest": 8})
    scene.gang("lending/owner", 3, 5)
    queue = scene.leaf("lending/owner")

    def seen() -> bool:
        found = metrics.scraped(cluster).samples
        waits = found.get("volcano_queue_pod_group_pending_count", []) + found.get(
            "volcano_queue_pod_group_inqueue_count", []
        )
        return any(each.labels == {"queue_name": queue} and each.value == 1 for each in waits)

    until(seen, "what waits is exported")
    return scene, metrics.scraped(cluster)


@pytest.fixture(scope="module")
def over_kueue(kueue: tuple[Scene, Exported]) -> Iterator[Prometheus]:
    """A Prometheus that looks at what `kueue` says."""
    scene, _ = kueue
    yield (started := prometheus.start(scene.cluster, scene.made.objects))
    started.stop()


@pytest.fixture(scope="module")
def over_volcano(volcano: tuple[Scene, Exported]) -> Iterator[Prometheus]:
    """A Prometheus that looks at what `volcano` says."""
    scene, _ = volcano
    yield (started := prometheus.start(scene.cluster, scene.made.objects))
    started.stop()


def wrong(scene: Scene, exported: Exported) -> list[str]:
    """What the rules of a cluster read and the scheduler does not export, or exports as something else."""
    read = {each for rule in metrics.rules(scene.made.objects) for each in metrics.reads(rule["expr"])}
    assert read
    return sorted(filter(None, (_wrong(each, exported) for each in read)))


def _wrong(read: Read, exported: Exported) -> str:
    type_ = exported.type_of(read.name)
    if not type_:
        return f"{read.name} is not exported"
    counts = read.rated or read.name.endswith(("_total", "_bucket"))
    if (type_ in COUNTERS) is not counts:
        return f"{read.name} is a {type_}"
    if lacking := read.labels - exported.labels_of(read.name):
        return f"{read.name} has no {', '.join(sorted(lacking))}, but {sorted(exported.labels_of(read.name))}"
    return ""


@pytest.mark.kueue("0.19", "0.17")
def test_kueue_exports_all_that_rules_read(kueue: tuple[Scene, Exported]) -> None:
    """Every name, with every label that is matched or grouped by, as the kind of metric that it is taken for."""
    assert wrong(*kueue) == []


@pytest.mark.kueue("0.19", "0.17")
def test_kueue_counts_in_the_units_that_rules_say(kueue: tuple[Scene, Exported]) -> None:
    """GPUs in devices, cpu in cores, memory in bytes; jobs that wait and that were evicted one by one."""
    scene, exported = kueue
    flavor = scene.flavor()

    def number(metric: str, queue: str, resource: str) -> float:
        return exported.value(f"kueue_cluster_queue_{metric}", cluster_queue=queue, resource=resource)

    assert number("resource_reservation", "lending-guest", GPU) == 4
    assert number("resource_reservation", "lending-owner", GPU) == 12
    assert number("resource_reservation", "lending-owner", "cpu") == flavor.follows[GPU]["cpu"] * 12 / 1000
    assert number("resource_reservation", "lending-owner", "memory") == flavor.follows[GPU]["memory"] * 12
    assert number("nominal_quota", "lending-owner", GPU) == 12
    assert number("borrowing_limit", "lending-owner", GPU) == 2
    waiting = (
        exported.value("kueue_pending_workloads", cluster_queue="lending-guest", status=status)
        for status in ("active", "inadmissible")
    )
    assert sum(waiting) == 1
    evicted = {"cluster_queue": "lending-guest", "reason": "Preempted"}
    assert exported.value("kueue_evicted_workloads_total", **evicted) == 1
    assert exported.value("kueue_admitted_workloads_total", cluster_queue="lending-guest") == 2


@pytest.mark.kueue("0.19", "0.17")
def test_kueue_says_which_queues_are_active(kueue: tuple[Scene, Exported]) -> None:
    """One of the states is 1."""
    _, exported = kueue
    for queue in ("lending-guest", "lending-owner"):
        assert exported.value("kueue_cluster_queue_status", cluster_queue=queue, status="active") == 1


@pytest.mark.volcano("1.15")
def test_volcano_exports_all_that_rules_read(volcano: tuple[Scene, Exported]) -> None:
    """Every name, with every label that is matched or grouped by, as the gauge that it is taken for."""
    assert wrong(*volcano) == []


@pytest.mark.volcano("1.15")
def test_volcano_counts_in_the_units_that_rules_say(volcano: tuple[Scene, Exported]) -> None:
    """GPUs in thousandths, cpu in milli-cpu, memory in bytes."""
    scene, exported = volcano
    guest = exported.value("volcano_queue_allocated_scalar_resources", queue_name="lending-guest-h100", resource=GPU)
    assert guest == 8000
    cores = exported.value("volcano_queue_allocated_milli_cpu", queue_name="lending-guest-h100")
    assert cores == scene.flavor().follows[GPU]["cpu"] * 8
    for said, value in {"deserved": 12000, "capacity": 14000}.items():
        metric = f"volcano_queue_{said}_scalar_resources"
        assert exported.value(metric, queue_name="lending-owner-h100", resource=GPU) == value


@pytest.mark.kueue("0.19", "0.17")
def test_prometheus_records_what_teams_of_kueue_do(over_kueue: Prometheus) -> None:
    """With the emitted rules over the real manager: use, borrowing, what waits, what was evicted, nothing inactive."""
    expected = {
        f'tenancy:used{{resource="{GPU}"}}': {"lending/guest": 4.0, "lending/owner": 12.0},
        f'tenancy:limit{{resource="{GPU}"}} - tenancy:quota': {"lending/guest": 12.0, "lending/owner": 2.0},
        f'tenancy:borrowed{{resource="{GPU}"}}': {"lending/guest": 0.0, "lending/owner": 0.0},
        "tenancy:pending_jobs": {"lending/guest": 1.0, "lending/owner": 0.0},
        "tenancy:inactive": {"lending/guest": 0.0, "lending/owner": 0.0},
        'round(tenancy:evictions:rate1h{reason="Preempted"} * 3600)': {"lending/guest": 1.0},
        "round(tenancy:admissions:rate1h * 3600)": {"lending/guest": 2.0, "lending/owner": 1.0},
        "tenancy:queue_starting": {"lending/guest": 1.0, "lending/owner": 1.0},
    }
    until(lambda: {each: over_kueue.ask(each) for each in expected} == expected, "all is recorded")
    whole = {"tenancy:department_used": 16.0, "tenancy:flavor_used": 16.0, "tenancy:flavor_promised": 16.0}
    for name, value in whole.items():
        assert over_kueue.ask(f'{name}{{resource="{GPU}"}}', "resource") == {GPU: value}
    until(
        lambda: over_kueue.ask("tenancy:wait_seconds:p90").keys() == {"lending/guest", "lending/owner"},
        "waits are recorded",
    )
    assert over_kueue.samples('ALERTS{alertstate="firing"}') == []


@pytest.mark.volcano("1.15")
def test_prometheus_records_what_teams_of_volcano_do(over_volcano: Prometheus) -> None:
    """With the emitted rules over the real scheduler and controller: use, borrowing, what waits, no Queue unknown."""
    expected = {
        f'tenancy:used{{resource="{GPU}"}}': {"lending/guest": 8.0, "lending/owner": 0.0},
        f'tenancy:limit{{resource="{GPU}"}}': {"lending/guest": 16.0, "lending/owner": 14.0},
        f'tenancy:borrowed{{resource="{GPU}"}}': {"lending/guest": 4.0, "lending/owner": 0.0},
        "tenancy:pending_jobs": {"lending/guest": 0.0, "lending/owner": 1.0},
        "tenancy:inactive": {"lending/guest": 0.0, "lending/owner": 0.0},
    }
    until(lambda: {each: over_volcano.ask(each) for each in expected} == expected, "all is recorded")
    assert over_volcano.samples('ALERTS{alertstate="firing"}') == []


@pytest.mark.kueue("0.19", "0.17")
@pytest.mark.volcano("1.15")
def test_scrape_targets_find_the_services_that_the_scheduler_brings(cluster: Cluster) -> None:
    """Each ServiceMonitor selects exactly one Service of its installation, by labels that it has, with its port."""
    made = deploy.compiled_for(cluster, TREE)
    manifests = kueue_manifests(cluster.kueue) if cluster.kueue else volcano_manifests(cluster.volcano)
    installed = [each for each in yaml.load_all(manifests.read_text(encoding="utf-8"), yaml.CSafeLoader) if each]
    services = [each for each in installed if each["kind"] == "Service"]
    monitors = [each for each in made.objects if each["kind"] == "ServiceMonitor"]
    assert monitors
    for spec in (each["spec"] for each in monitors):
        chosen = [each for each in services if _selects(spec, each)]
        assert [port["name"] for each in chosen for port in each["spec"]["ports"]] == [spec["endpoints"][0]["port"]]


def _selects(monitor: Object, service: Object) -> bool:
    metadata = service["metadata"]
    labels = metadata.get("labels", {}).items()
    return (
        metadata["namespace"] in monitor["namespaceSelector"]["matchNames"]
        and monitor["selector"]["matchLabels"].items() <= labels
    )
