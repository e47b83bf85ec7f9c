"""Namespaces with the people, rights, limits and isolation that belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tenancy.model.document import Team, Unit
from tenancy.model.hardware import CPU, MEMORY, Hardware, amount
from tenancy.model.network import service
from tenancy.model.organization import Node, Org, namespaces
from tenancy.model.reach import borrows_gpus, most_gpu_pods, most_pods, queue_node
from tenancy.plan.labels import unit_labels
from tenancy.plan.queues import folder
from tenancy.plan.topology import default_topology
from tenancy.plan.values import Grant, Isolation, Namespace

LEVELS: Final = (("admin", "admins"), ("member", "members"), ("viewer", "viewers"))
"""Access levels and the keys of the language that fill them, from most to least."""

OBJECTS: Final[Mapping[str, int]] = {
    "configmaps": 500,
    "count/cronjobs.batch": 100,
    "count/jobs.batch": 1000,
    "persistentvolumeclaims": 200,
    "pods": 2000,
    "secrets": 500,
    "services": 200,
    "services.loadbalancers": 0,
    "services.nodeports": 0,
}
"""Objects that a namespace may hold, so that no tenant fills the API server's store. Load balancers and node ports
open the cluster to the outside and are for platform staff."""

SCALED: Final[Mapping[str, int]] = {
    "count/horizontalpodautoscalers.autoscaling": 100,
    "count/scaledjobs.keda.sh": 100,
    "count/scaledobjects.keda.sh": 100,
    "count/triggerauthentications.keda.sh": 100,
}
"""The same of a namespace whose members use KEDA, which makes a HorizontalPodAutoscaler of each ScaledObject."""

PODS: Final = ("pods", "count/pods")
"""Either key counts pods."""

PODS_PER_GPU: Final = 2
"""Room for the pods of one GPU each that a queue can admit, beside others: the pods quota never undercuts the queue."""

CONTAINER: Final[Mapping[str, int]] = {CPU: 1000, MEMORY: 4 << 30}
"""Default requests of a container, cut to what follows the smallest GPU slice that its queue may use."""


def tenant_namespaces(org: Org, cluster: str, flavors: Mapping[str, Hardware]) -> Iterator[Namespace]:
    """Every namespace of `cluster`, in the order of the units."""
    classes = dict.fromkeys(sorted({name for unit in org.units if unit.document for name in unit.document.storage}), 0)
    for team in org.units:
        if team.kind == "team" and cluster in team.clusters:
            found = list(namespaces(team))
            names = tuple(sorted(name for name, _ in found))
            shared = _shared_storage(team, [node for _, node in found])
            for name, node in found:
                none = classes if any(unit.document and unit.document.storage for unit in node.chain()) else {}
                storage = {**none, **shared, **_storage(node, team)}
                yield _namespace(org, team, node, name, names, storage, flavors)


def _namespace(
    org: Org,
    team: Node,
    node: Node,
    name: str,
    names: tuple[str, ...],
    storage: Mapping[str, int],
    flavors: Mapping[str, Hardware],
) -> Namespace:
    units = [unit.document for unit in node.chain() if unit.document is not None]
    queue = queue_node(node)
    keda = isinstance(team.document, Team) and team.document.autoscaling == "keda"
    objects, container = _objects(queue, units, flavors, keda=keda), _container(queue, units, flavors)
    return Namespace(
        name=name,
        queue=queue.queue,
        title=node.title,
        labels=unit_labels(org, node),
        own_labels={key: value for unit in units for key, value in unit.labels.items()},
        annotations=_annotations(org, node, units),
        service_accounts=tuple(sorted({account for unit in units for account in unit.access.service_accounts})),
        grants=tuple(_grants(units)),
        isolation=_isolation(org, units, names),
        objects=objects,
        storage=storage,
        container=container,
        topology=default_topology(org, node.topology, queue, flavors),
        priorities=node.priorities,
        borrows=borrows_gpus(queue, flavors.values()),
        pod_security=node.pod_security,
        keda=keda,
        most_pods=min(most_pods(queue, flavors, container), *(objects[key] for key in PODS if key in objects)),
        folder=folder(team),
        file=team.name,
    )


def _annotations(org: Org, node: Node, units: list[Unit]) -> dict[str, str]:
    domain = org.document.domain
    annotations = {key: value for unit in units for key, value in unit.annotations.items()}
    if units[-1].display_name:
        annotations[f"{domain}/display-name"] = units[-1].display_name
    if center := node.inherited("cost_center"):
        annotations[f"{domain}/cost-center"] = center
    if owner := node.inherited("owner"):
        annotations[f"{domain}/owner"] = owner
    dates = [unit.expires for unit in units if unit.expires]
    if dates:
        annotations[f"{domain}/expires"] = min(dates)
    return {**annotations, f"{domain}/unit": node.title}


def _grants(units: list[Unit]) -> Iterator[Grant]:
    for level, key in LEVELS:
        subjects = {subject for unit in units for subject in getattr(unit.access, key)}
        if subjects:
            yield Grant(level=level, subjects=tuple(sorted(subjects)))


def _isolation(org: Org, units: list[Unit], names: tuple[str, ...]) -> Isolation:
    egress = [unit.network.egress for unit in units]
    named = sorted({text for rules in egress for text in rules.services})
    found = [service(org.document.network, text) for text in named]
    return Isolation(
        team=names,
        services=tuple(each for each in found if each is not None),
        internet=_last([rules.internet for rules in egress]),
        api_server=_last([rules.api_server for rules in egress]),
    )


def _last(values: list[bool | None]) -> bool:
    """The nearest unit that says something decides."""
    said = [value for value in values if value is not None]
    return said[-1] if said else False


def _objects(queue: Node, units: list[Unit], flavors: Mapping[str, Hardware], *, keda: bool) -> dict[str, int]:
    said = {
        key: count
        for unit in units
        for key, value in unit.limits.objects.items()
        if (count := amount(value, key)) is not None
    }
    pods = max(OBJECTS["pods"], PODS_PER_GPU * most_gpu_pods(queue, flavors))
    return dict(sorted({**OBJECTS, **(SCALED if keda else {}), "pods": pods, **said}.items()))


def _container(queue: Node, units: list[Unit], flavors: Mapping[str, Hardware]) -> dict[str, int]:
    """Default requests; never more than what follows the smallest slice, or a node would lose its last GPU."""
    defaults = dict(CONTAINER)
    for flavor in flavors.values():
        for follows in flavor.follows.values() if queue.reaches(flavor) else ():
            defaults = {name: min(most, follows[name]) or most for name, most in defaults.items()}
    said = {
        key: count
        for unit in units
        for key, value in unit.limits.container.items()
        if (count := amount(value, key)) is not None
    }
    return dict(sorted({**defaults, **said}.items()))


def _storage(node: Node, team: Node) -> dict[str, int]:
    if node is team or node.document is None:
        return {}
    return _bytes(node.document)


def _bytes(unit: Unit) -> dict[str, int]:
    return {name: count for name, value in unit.storage.items() if (count := amount(value, MEMORY)) is not None}


def _shared_storage(team: Node, nodes: list[Node]) -> dict[str, int]:
    """What each namespace without storage of its own gets of the team's, in equal parts of whole GiB (MiB below one).

    A ResourceQuota counts one namespace, so a team's storage must be divided to hold for the team.
    """
    whole = _bytes(team.document) if team.document is not None else {}
    shares: dict[str, int] = {}
    for name, count in whole.items():
        own = [_storage(node, team).get(name) for node in nodes]
        without = own.count(None)
        left = max(0, count - sum(part or 0 for part in own))
        part = left // without if without else 0
        unit = 1 << 30 if part >= 1 << 30 else 1 << 20
        shares[name] = part // unit * unit if without > 1 else part
    return shares
