"""Compare what the API server answers to a request for Volcano (policy_requests.py) with what is promised there."""

from __future__ import annotations

from collections.abc import Iterator

from tests.backend.volcano.policy_requests import QUEUE, TOLERATIONS, Request, templates
from tests.cluster.answers import BY_KUBERNETES
from tests.cluster.client import Client, Object, Refused


def violations(admin: Client, request: Request) -> list[str]:
    """What a dry-run create does against its promise."""
    client = admin if request.admin else admin.acting_as("ada", ["vision"])
    try:
        stored = client.create(request.object, dry_run=True)
    except Refused as refused:
        expected = bool(request.refused) and request.refused in refused.message
        return [] if expected else [f"{request.name}: {refused}"]
    if request.refused:
        return [f"{request.name}: not refused"]
    return [f"{request.name}: {each}" for each in _wrong(request, stored)]


def _wrong(request: Request, stored: Object) -> Iterator[str]:
    found = set(_queues(stored))
    if request.queue and found != {request.queue}:
        yield f"in {found}"
    for template in templates(stored):
        spec = template["spec"]
        if request.scheduler and spec["schedulerName"] != request.scheduler:
            yield f"scheduler {spec['schedulerName']}"
        if request.tolerations is not None:
            tolerations = spec.get("tolerations", [])
            given = [each for each in tolerations if not each.get("key", "").startswith(BY_KUBERNETES)]
            promised = [TOLERATIONS[name] for name in request.tolerations]
            if sorted(map(repr, given)) != sorted(map(repr, promised)):
                yield f"tolerates {given}"


def _queues(stored: Object) -> Iterator[str]:
    """The queue of a Volcano job, or that of each pod template."""
    if ".volcano.sh/" in stored["apiVersion"]:
        spec = stored["spec"].get("jobTemplate", stored)["spec"]
        yield spec.get("queue", "")
    else:
        for template in templates(stored):
            yield template.get("metadata", {}).get("annotations", {}).get(QUEUE, "")
