"""An independent model of Volcano's webhook for Queues: which create, update and delete it accepts, and in what words.

Written from pkg/webhooks/admission/queues/validate of Volcano 1.15.1 (the rules hold from 1.14.2 on), with the messages
seen on the running webhook; it reads plain `Queue` objects and knows nothing of this project. Amounts are counted as
the webhook does: cpu in milli, memory in bytes, every other resource in milli. Left out: the annotations of the older
hierarchy, which nobody here writes.

The webhook looks at the queue that is sent and at what is stored, never at what is still to come. That is why the order
of changes decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

Object: TypeAlias = Mapping[str, Any]
Amounts: TypeAlias = dict[str, int]
"""By resource; a resource that is not named has no entry."""

ROOT, DEFAULT = "root", "default"
LISTS: Final = ("guarantee", "deserved", "capability")
_QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+)|([a-zA-Z]*))")
_SUFFIXES = {"": Fraction(1), "m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "n": Fraction(1, 10**9)} | {
    suffix: Fraction(base**power)
    for base, suffixes in ((1000, "kMGTPE"), (1024, ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
    for power, suffix in enumerate(suffixes, start=1)
}


class Refused(Exception):
    """What the webhook, or the schema of the kind before it, answers to a request that it does not accept."""


@dataclass(slots=True)
class Webhook:
    """The stored queues. `root` and `default` are there from the start, as the scheduler makes them."""

    max_depth: int = 5
    stored: dict[str, Object] = field(default_factory=lambda: {name: _empty(name) for name in (ROOT, DEFAULT)})
    pods: dict[str, int] = field(default_factory=dict)
    """Allocated pods by queue, which an inner queue has of all below it."""
    closing: set[str] = field(default_factory=set)

    def apply(self, queue: Object) -> None:
        """Create the queue or replace the stored one; `Refused` where the webhook says no."""
        name, old = queue["metadata"]["name"], self.stored.get(queue["metadata"]["name"])
        if queue["spec"].get("parent") == "":
            raise Refused("spec.parent in body should match a DNS subdomain")
        _validate_amounts(queue)
        if name in self.closing:
            raise Refused('requestBody.spec.state: Invalid value: "Closing": queue state must be in [Open Closed]')
        if old is None or _parent(old) != _parent(queue):
            self._validate_parent(queue)
        if name == ROOT:
            if any(_raw(queue, each) != _raw(old, each) for each in LISTS if old):
                raise Refused("root queue's resource attributes (capability, deserved, guarantee) cannot be modified")
        elif old is None or _parent(old) != _parent(queue) or any(_raw(queue, x) != _raw(old, x) for x in LISTS):
            self._validate_hierarchy(queue)
        self.stored[name] = deepcopy(queue)

    def delete(self, name: str) -> None:
        """Delete the queue; `Refused` where the webhook says no. Running pods do not stop it."""
        if name in (DEFAULT, ROOT):
            raise Refused(f"`{name}` queue can not be deleted")
        if name not in self.stored:
            raise Refused(f'queue.scheduling.volcano.sh "{name}" not found')
        if children := self.children(name):
            raise Refused(
                f"queue {name} can not be deleted because it has {len(children)} child queues: {', '.join(children)}"
            )
        del self.stored[name]

    def children(self, name: str) -> list[str]:
        """The names of the queues directly below."""
        return [each for each, queue in self.stored.items() if _parent(queue) == name]

    def _validate_parent(self, queue: Object) -> None:
        """Its parent exists, is not itself, is not too deep, and holds no work of its own."""
        name, parent = queue["metadata"]["name"], _parent(queue)
        if parent in ("", ROOT):
            return
        if parent == name:
            raise Refused(f"queue {name} cannot use itself as parent")
        above, depth = parent, 1
        while above not in ("", ROOT):
            depth += 1
            if depth > self.max_depth:
                raise Refused(f"queue {name} exceeds the maximum allowed depth of {self.max_depth}")
            above = _parent(self._get(above, name))
        if not self.children(parent) and (pods := self.pods.get(parent)):
            raise Refused(
                f"queue {parent} cannot be the parent queue of queue {name} because it has allocated Pods: {pods}"
            )

    def _get(self, parent: str, child: str) -> Object:
        if parent not in self.stored:
            raise Refused(
                f"failed to get parent queue {parent} of queue {child}: "
                f'queue.scheduling.volcano.sh "{parent}" not found'
            )
        return self.stored[parent]

    def _validate_hierarchy(self, queue: Object) -> None:
        name, parent = queue["metadata"]["name"], _parent(queue)
        if parent not in ("", ROOT):
            self._validate_against_ancestors(queue)
            siblings = [self.stored[each] for each in self.children(parent) if each != name]
            _validate_sums(self._get(parent, name), [*siblings, queue], f"parent queue {parent}")
        if children := self.children(name):
            self._validate_descendants(queue, children)
            _validate_sums(queue, [self.stored[each] for each in children], f"queue {name}")

    def _validate_against_ancestors(self, queue: Object) -> None:
        for resource, mine in _named(queue).items():
            limit = self._nearest(queue, resource)
            if limit is not None and mine > limit:
                raise Refused(
                    f"queue {queue['metadata']['name']} capability[{resource}]={_shown(resource, mine)} exceeds its "
                    f"ancestor's capability={_shown(resource, limit)}"
                )

    def _nearest(self, queue: Object, resource: str) -> int | None:
        """The capability of the nearest ancestor that names the resource with more than 0."""
        seen, above = set(), _parent(queue)
        while above not in ("", ROOT) and above in self.stored:
            if above in seen:
                raise AssertionError(f"the webhook would walk the cycle of {above} for ever")
            seen.add(above)
            if limit := _named(self.stored[above]).get(resource):
                return limit
            above = _parent(self.stored[above])
        return None

    def _validate_descendants(self, queue: Object, children: Iterable[str]) -> None:
        for resource, mine in _named(queue).items():
            most = max(self._first(child, resource, queue["metadata"]["name"]) for child in children)
            if mine < most:
                raise Refused(
                    f"queue {queue['metadata']['name']} capability[{resource}]={_shown(resource, mine)} is smaller "
                    f"than its descendants' max capability={_shown(resource, most)}"
                )

    def _first(self, name: str, resource: str, top: str) -> int:
        """The largest of the first capabilities that are named on the paths down from the queue."""
        if limit := _named(self.stored[name]).get(resource):
            return limit
        if name == top:
            raise AssertionError(f"the webhook would walk the cycle of {top} for ever")
        return max((self._first(child, resource, top) for child in self.children(name)), default=0)


def amount(quantity: str | int, resource: str) -> int:
    """A quantity in the units that the webhook compares, rounded up as `Value` and `MilliValue` do."""
    return math.ceil(_exact(quantity) * (1 if resource in ("memory", "pods") else 1000))


def _exact(quantity: str | int) -> Fraction:
    found = _QUANTITY.fullmatch(str(quantity))
    assert found is not None, quantity
    number, power, suffix = found.groups()
    return Fraction(number) * (Fraction(10) ** int(power) if power else _SUFFIXES[suffix])


def _empty(name: str) -> Object:
    return {"metadata": {"name": name}, "spec": {} if name == ROOT else {"parent": ROOT}}


def _parent(queue: Object) -> str:
    return str(queue["spec"].get("parent", ""))


def _raw(queue: Object, name: str) -> Amounts:
    """A list as the webhook compares lists: by value, whatever the spelling."""
    found = queue["spec"].get(name) or {}
    quantities = found.get("resource") or {} if name == "guarantee" else found
    return {resource: amount(quantity, resource) for resource, quantity in quantities.items()}


def _counted(queue: Object, name: str) -> Amounts:
    """A list without the names that the scheduler does not know; cpu and memory are always there."""
    found = _raw(queue, name)
    return {"cpu": 0, "memory": 0} | {resource: count for resource, count in found.items() if _known(resource)}


def _known(resource: str) -> bool:
    """cpu, memory and scalars: a bare or `requests.` name is stored and then ignored (run on 1.15.1)."""
    if resource in ("cpu", "memory", "pods", "ephemeral-storage") or resource.startswith("hugepages-"):
        return True
    return "/" in resource and not resource.startswith("requests.")


def _named(queue: Object) -> Amounts:
    """The capability without zeros, which the webhook does not see as naming a resource."""
    return {resource: count for resource, count in _counted(queue, "capability").items() if count}


def _validate_amounts(queue: Object) -> None:
    """What one queue says by itself."""
    for name in LISTS:
        found = queue["spec"].get(name) or {}
        for resource, quantity in (found.get("resource") or {} if name == "guarantee" else found).items():
            where = f"requestBody.spec.{name}{'.resource' if name == 'guarantee' else ''}.{resource}"
            if _exact(quantity) < 0:
                raise Refused(f'{where}: Invalid value: "{quantity}": must be greater than or equal to 0')
            if "/" in resource and _known(resource) and _exact(quantity).denominator != 1:
                raise Refused(f'{where}: Invalid value: "{quantity}": must be an integer')
    guarantee, deserved, capability = (_raw(queue, name) for name in LISTS)
    for resource, least in guarantee.items():
        if resource not in deserved:
            raise Refused(f'Invalid value: "<nil>": deserved[{resource}] must be >= guarantee[{resource}]={least}')
        if deserved[resource] < least:
            raise Refused(f"deserved[{resource}]={deserved[resource]} must be >= guarantee[{resource}]={least}")
    for resource, owned in deserved.items():
        if owned > capability.get(resource, owned):
            raise Refused(f"deserved[{resource}]={owned} must be <= capability[{resource}]={capability[resource]}")


def _validate_sums(parent: Object, children: Iterable[Object], subject: str) -> None:
    """What children have together: in both lists at most what the parent has; a name that it lacks fails even at 0."""
    listed = list(children)
    for name in ("guarantee", "deserved"):
        limit = _counted(parent, name)
        total: Amounts = {}
        for child in listed:
            for resource, count in _counted(child, name).items():
                total[resource] = total.get(resource, 0) + count
        if any(count > limit.get(resource, -1) for resource, count in total.items()):
            raise Refused(
                f"{subject} validation failed: sum of children's {name} ({total}) "
                f"exceeds parent's {name} limit ({limit})"
            )


def _shown(resource: str, count: int) -> str:
    """cpu and memory as quantities, roughly; other resources in thousandths, as the webhook prints them."""
    return str(count) if resource in ("cpu", "memory") else f"{count}.00"
