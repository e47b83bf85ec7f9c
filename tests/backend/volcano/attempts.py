"""Requests of people to a cluster with Volcano, in the words of `attacks` and `everyday`: who asks, for what, and what
is there when they do. The organization is that of `policy_requests`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final, NamedTuple

from tests.backend.kueue.policy_requests import every_kind
from tests.backend.volcano.policy_requests import NAMESPACE, QUEUE, WORK, Object, annotated, queued, vcjob

FOREIGN: Final = "default"
"""A namespace that is not the organization's."""
CLOSER: Final = "closer"
"""Somebody who has the role that Volcano's chart brings for authors of jobs, with Commands in it, in one namespace of
the organization and in FOREIGN."""


class Attempt(NamedTuple):
    """A request: what it sends, and part of the message that refuses it."""

    name: str
    object: Object
    """What is created, or what is there and is changed or deleted."""
    refused: str = ""
    """Empty where it is allowed."""
    verb: str = "create"
    """Or `patch`, `delete`."""
    change: Object | None = None
    """The merge patch."""
    part: str = ""
    """The subresource that is patched."""
    who: str = ""
    """In place of a member: CLOSER, `platform` (an administrator of the organization), `root` (of the cluster)."""


def standing() -> tuple[Object, ...]:
    """What runs in NAMESPACE while all of this is tried: a pod, a Deployment and a Volcano job."""
    found = [queued(each) for each in every_kind("stands", WORK)]
    return found[0], found[2], vcjob("stands-vcjob", WORK)


def named(kind: str, name: str, api: str = "v1", namespace: str = NAMESPACE, **body: Any) -> Object:
    """An object, or what is enough to find one; without a namespace one of the whole cluster."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **body}


def command(target: str, name: str, namespace: str = NAMESPACE, action: str = "CloseQueue") -> Object:
    """A Command for a Queue or for a Job of Volcano, as `vcctl` makes them."""
    api = "scheduling.volcano.sh/v1beta1" if target == "Queue" else "batch.volcano.sh/v1alpha1"
    owner = {"apiVersion": api, "kind": target, "name": name, "uid": "00000000-0000-0000-0000-000000000000"}
    item = named("Command", f"{action}-{name}".lower(), "bus.volcano.sh/v1alpha1", namespace)
    return {**item, "action": action, "target": owner}


def cron(item: Object) -> Object:
    """A Volcano CronJob of a Volcano job."""
    body = {"schedule": "0 4 * * *", "jobTemplate": {"spec": item["spec"]}}
    return named("CronJob", "cron", "batch.volcano.sh/v1alpha1", spec=body)


def in_task(queue: str) -> Object:
    """A Volcano job in a queue of its own, the template of whose pods names another one."""
    return annotated(vcjob("task", WORK), {QUEUE: queue})


def privileged() -> Object:
    """The spec of a pod that may do everything on its node."""
    found = deepcopy(WORK)
    found["containers"][0]["securityContext"] = {"privileged": True}
    return found
