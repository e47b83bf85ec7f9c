"""Compare what the API server answers to a request of policy_requests.py with what is promised there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.backend.kueue.policy_requests import GPU, SLICE, Request
from tests.cluster.client import Client, Object, Refused

BY_KUBERNETES: Final = "node.kubernetes.io/"
"""Prefix of the tolerations that every pod gets."""


def named(requests: tuple[Request, ...], name: str) -> Request:
    """The request of a name."""
    return next(each for each in requests if each.name == name)


def violations(client: Client, request: Request) -> list[str]:
    """What a dry-run create does against its promise."""
    try:
        stored = client.create(request.object, dry_run=True)
    except Refused as refused:
        expected = bool(request.refused) and request.refused in refused.message
        return [] if expected else [f"{request.name}: {refused}"]
    if request.refused:
        return [f"{request.name}: not refused"]
    return [
        f"{request.name}: {each}" for each in (*wrong_tolerations(request, stored), *wrong_requests(request, stored))
    ]


def wrong_tolerations(request: Request, stored: Object) -> Iterator[str]:
    """Pod specs that ask for GPUs have the promised tolerations, all others those that were sent."""
    sent = pod_specs(request.object)
    for path, spec in pod_specs(stored).items():
        given = [each for each in spec.get("tolerations", []) if not each.get("key", "").startswith(BY_KUBERNETES)]
        promised = list(request.tolerations) if asks_for_gpus(spec) else []
        expected = promised or sent[path].get("tolerations", [])
        if given != expected:
            yield f"{path} tolerates {given}"


def wrong_requests(request: Request, stored: Object) -> Iterator[str]:
    """Every container has the promised requests."""
    if request.requests is None:
        return
    found = [each.get("resources", {}) for spec in pod_specs(stored).values() for each in containers(spec)]
    if request.object["kind"] == "TrainJob":
        found = [stored["spec"]["trainer"]["resourcesPerNode"]]
    assert found
    for resources in found:
        if resources.get("requests", {}) != request.requests:
            yield f"requests are {resources}"


def pod_specs(part: Any, path: str = "") -> dict[str, Object]:
    """Everything below an object that has containers, by its path."""
    if isinstance(part, list):
        inner = {str(index): each for index, each in enumerate(part)}
    else:
        inner = part if isinstance(part, dict) else {}
    found = {path: part} if "containers" in inner else {}
    for key, each in inner.items():
        found |= pod_specs(each, f"{path}/{key}")
    return found


def containers(spec: Object) -> list[Object]:
    """Init containers too."""
    return [*spec.get("initContainers", ()), *spec["containers"]]


def asks_for_gpus(spec: Object) -> bool:
    """Whether any container limits a GPU or a slice of one."""
    limits = [each.get("resources", {}).get("limits", {}) for each in containers(spec)]
    return any(str(each.get(name, 0)) != "0" for each in limits for name in (GPU, SLICE))
