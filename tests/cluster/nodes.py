"""Fake nodes as an organization's flavors say: labels, taints, topology, devices, and what DaemonSets use."""

from __future__ import annotations

from typing import Final

from tenancy.model.hardware import DEFAULT_DAEMONS, GPUS, HOSTNAME, Hardware, amount
from tests.cluster.client import Object
from tests.cluster.deploy import Compiled
from tests.cluster.plane import Cluster

NODE_GROUP: Final = "volcano.sh/nodegroup-name"
"""By this label Volcano's nodegroup plugin knows which nodes are a flavor's."""
RACK: Final = 4
"""Nodes in the narrowest group of a topology; each wider group holds two of the narrower ones."""


def make(cluster: Cluster, made: Compiled, counts: dict[str, int] | None = None) -> None:
    """Every node of every flavor, or as many as `counts` says, each with the pod of a DaemonSet on it."""
    for name, flavor in made.plan.flavors.items():
        sizes = _allocatable(made, name)
        for index, gpus in enumerate(_devices(flavor)[: (counts or {}).get(name, flavor.nodes)]):
            node = f"{name}-{index}"
            allocatable = {**sizes, **{resource: str(count) for resource, count in gpus.items()}, "pods": "250"}
            labels = {**_labels(flavor, node, index), **({NODE_GROUP: name} if cluster.volcano else {})}
            cluster.client.create(_node(node, labels, allocatable))
            # Admission adds a taint that only the node lifecycle controller, which is off here, would lift.
            taints = [{"key": t.key, "value": t.value, "effect": t.effect} for t in flavor.taints]
            cluster.client.patch(f"/api/v1/nodes/{node}", {"spec": {"taints": taints or None}})
            daemon(cluster, node, _daemons(made, name))


def daemon(cluster: Cluster, node: str, requests: dict[str, str], name: str = "daemon") -> str:
    """A pod of a DaemonSet on a node; its path."""
    item = _daemon(f"{name}-{node}", node, requests)
    cluster.client.create(item)
    return cluster.client.path(item)


def _allocatable(made: Compiled, name: str) -> dict[str, str]:
    node = made.org.document.flavors[name].node
    return {"cpu": str(node.cpu), "memory": str(node.memory)}


def _daemons(made: Compiled, name: str) -> dict[str, str]:
    """What the flavor says that DaemonSets use, in milli-cpu and bytes."""
    said = made.org.document.flavors[name].daemons
    cpu, memory = (getattr(said, key, None) if said else None for key in ("cpu", "memory"))
    used = {"cpu": amount(cpu, "cpu"), "memory": amount(memory, "memory")}
    whole = {key: DEFAULT_DAEMONS[key] if value is None else value for key, value in used.items()}
    return {"cpu": f"{whole['cpu']}m", "memory": str(whole["memory"])}


def _devices(flavor: Hardware) -> list[dict[str, int]]:
    """What each node's device plugin would report, layouts laid onto the first nodes that have GPUs left."""
    nodes: list[dict[str, int]] = [{} for _ in range(flavor.nodes)]
    free = [flavor.node[GPUS]] * flavor.nodes
    for number, layout in enumerate(flavor.layouts):
        offered = [each for each in flavor.devices if number in each.per_gpu and not each.device_class]
        for index in [at for at, left in enumerate(free) if left >= layout.gpus][: layout.nodes]:
            free[index] -= layout.gpus
            for device in offered:
                count = device.per_gpu[number] * layout.gpus
                nodes[index][device.resource] = nodes[index].get(device.resource, 0) + count
    return nodes


def _labels(flavor: Hardware, node: str, index: int) -> dict[str, str]:
    labels = {**flavor.labels, HOSTNAME: node}
    above = [level for level in flavor.levels if level != HOSTNAME]
    for distance, level in enumerate(reversed(above)):
        labels[level] = f"{flavor.name}-{level.rpartition('/')[2]}-{index // (RACK * 2**distance)}"
    return labels


def _node(name: str, labels: dict[str, str], allocatable: dict[str, str]) -> Object:
    ready = {"type": "Ready", "status": "True", "reason": "TestBed", "message": "a fake node"}
    status = {"allocatable": allocatable, "capacity": allocatable, "conditions": [ready]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _daemon(name: str, node: str, requests: dict[str, str]) -> Object:
    container = {"name": "agent", "image": "none", "resources": {"requests": requests}}
    spec = {"nodeName": node, "tolerations": [{"operator": "Exists"}], "containers": [container]}
    metadata = {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
