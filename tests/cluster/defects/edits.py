"""Mistakes as somebody writes them into the YAML of Kueue and Kubernetes, each into compiled objects, in place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, Final

from tests.cluster import client
from tests.cluster.client import Object
from tests.cluster.defects.forced import GPU, H100, Edit, find, group, quota_of, spec

KUEUE: Final = "kueue.x-k8s.io/v1beta2"
VISION: Final = "research-vision"
SPEECH: Final = "research-speech"
ADS: Final = "product-ads"


def put(kind: str, name: str, path: str, value: Any, namespace: str | None = None) -> Edit:
    """Write a value at a path of an object's spec, `a.b.0.c`."""

    def edit(objects: list[Object]) -> None:
        *way, last = path.split(".")
        target: Any = spec(objects, kind, name, namespace)
        for step in way:
            target = target[int(step)] if isinstance(target, list) else target.setdefault(step, {})
        target[last] = value

    return edit


def drop(kind: str, name: str, key: str) -> Edit:
    """Leave a key of an object's spec out."""

    def edit(objects: list[Object]) -> None:
        del spec(objects, kind, name)[key]

    return edit


def quota(queue: str, flavor: str = H100, resource: str = GPU, kind: str = "ClusterQueue", **values: str) -> Edit:
    """Write nominalQuota, borrowingLimit or lendingLimit of a ClusterQueue or a Cohort."""

    def edit(objects: list[Object]) -> None:
        quota_of(objects, queue, flavor, resource, kind).update(values)

    return edit


def hard(namespace: str, key: str, count: str) -> Edit:
    """Write a count of a namespace's ResourceQuota."""

    def edit(objects: list[Object]) -> None:
        spec(objects, "ResourceQuota", "tenancy", namespace)["hard"][key] = count

    return edit


def subject(home: str, **values: str) -> Edit:
    """Let somebody else be a member of a namespace."""

    def edit(objects: list[Object]) -> None:
        find(objects, "RoleBinding", "tenancy-member", home)["subjects"] = [values]

    return edit


def label(kind: str, name: str, key: str, value: str) -> Edit:
    """Write a label of an object."""

    def edit(objects: list[Object]) -> None:
        find(objects, kind, name)["metadata"]["labels"][key] = value

    return edit


def add(version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Edit:
    """One more object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return lambda objects: objects.append({"apiVersion": version, "kind": kind, "metadata": metadata, **rest})


def new_class(version: str, kind: str, name: str, value: int) -> Edit:
    """One more class of priority."""
    return add(version, kind, name, value=value, description="A mistake.")


def again(kind: str, name: str, new: str, *edits: Edit) -> Edit:
    """A copy of an object under another name, with its own mistakes."""

    def edit(objects: list[Object]) -> None:
        made = copy.deepcopy(find(objects, kind, name))
        made["metadata"]["name"] = new
        objects.append(made)
        for each in edits:
            each([made])

    return edit


def with_flavors(queue: str, change: Callable[[list[dict[str, Any]]], None]) -> Edit:
    """Change the list of flavors of a ClusterQueue."""
    return lambda objects: change(group(objects, "ClusterQueue", queue)["flavors"])


def flavor_twice(flavors: list[dict[str, Any]]) -> None:
    """A flavor that stands in the list already."""
    flavors.append(copy.deepcopy(next(each for each in flavors if each["name"] == H100)))


def flavor_misspelt(flavors: list[dict[str, Any]]) -> None:
    """A flavor that does not exist, in place of one that does."""
    next(each for each in flavors if each["name"] == H100)["name"] = "h10"


def with_resource(queue: str, resource: str, flavor: str, count: str) -> Edit:
    """One more resource in a ClusterQueue, with a quota on one of its flavors."""

    def edit(objects: list[Object]) -> None:
        found = group(objects, "ClusterQueue", queue)
        found["coveredResources"].append(resource)
        for each in found["flavors"]:
            mine = count if each["name"] == flavor else "0"
            each["resources"].append({"name": resource, "nominalQuota": mine})

    return edit


def twin(queue: str) -> Edit:
    """A second flavor of the same nodes, of which a ClusterQueue has all."""
    every = {"cpu": "2850", "memory": "29940Gi", GPU: "120"}

    def edit(objects: list[Object]) -> None:
        for kind in ("ResourceFlavor", "Topology"):
            again(kind, H100, f"{H100}-twin")(objects)
        spec(objects, "ResourceFlavor", f"{H100}-twin")["topologyName"] = f"{H100}-twin"
        found = group(objects, "ClusterQueue", queue)
        mine = copy.deepcopy(next(each for each in found["flavors"] if each["name"] == H100))
        mine["name"] = f"{H100}-twin"
        for each in mine["resources"]:
            each |= {"nominalQuota": every.get(each["name"], "0"), "borrowingLimit": "0", "lendingLimit": "0"}
        found["flavors"] = [mine]

    return edit


def kept(namespace: str, of: str) -> Edit:
    """A namespace that the mistake would empty stays, as a copy of another: it is not what the row is about."""

    def edit(objects: list[Object]) -> None:
        homes = [item for item in objects if of in (item["metadata"]["name"], item["metadata"].get("namespace"))]
        there = {client.label(item) for item in objects}
        for item in homes:
            made = json.loads(json.dumps(item).replace(of, namespace))
            if made["kind"] != "ClusterQueue" and client.label(made) not in there:
                objects.append(made)

    return edit


def many_flavors(queue: str, count: int) -> Edit:
    """A ClusterQueue of so many flavors."""

    def change(flavors: list[dict[str, Any]]) -> None:
        one = flavors[0]
        flavors[:] = [{**copy.deepcopy(one), "name": f"{one['name']}-{number}"} for number in range(count)]

    return with_flavors(queue, change)


def many_resources(queue: str, count: int) -> Edit:
    """A ClusterQueue of one flavor with so many resources."""

    def edit(objects: list[Object]) -> None:
        found = group(objects, "ClusterQueue", queue)
        names = [f"acme.example/gpu-{number}" for number in range(count)]
        found["coveredResources"] = names
        found["flavors"] = [{"name": H100, "resources": [{"name": name, "nominalQuota": "0"} for name in names]}]

    return edit
