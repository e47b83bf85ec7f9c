"""The admission policy over Services: none takes the traffic of others.

Every node sends what any pod or process asks of an address in `externalIPs` to the pods of the Service (CVE-2020-8554):
of the API server, of the cluster's DNS, of another team. Nothing in Kubernetes keeps tenants from writing any address,
unless the admission plugin DenyServiceExternalIPs is switched on. Load balancers and node ports are the quotas'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import revisions, validating
from tenancy.backend.shared.pod_templates import PodTemplates
from tenancy.plan.values import ClusterPlan

SERVICES: Final = "tenancy-external-addresses"

_SERVICE: Final = PodTemplates("", "v1", "services", "Service", ())


def services(plan: ClusterPlan) -> Iterator[Object]:
    """The policy with its binding. Of an update only new addresses are judged."""
    variables = {
        **revisions(),
        "addresses": "variables.revisions.map(it, it.?spec.?externalIPs.orValue([]))",
        "brought": "variables.addresses[0].filter(it, variables.addresses.size() == 1 || "
        "!(it in variables.addresses[1]))",
    }
    yield from validating(plan, SERVICES, variables, [_RULE], kinds=(_SERVICE,), guard="security")


_RULE: Final = (
    "variables.brought.size() == 0",
    "A Service with externalIPs takes what the whole cluster sends to these addresses: remove externalIPs",
    '"remove externalIPs " + variables.brought.map(it, string(it)).join(", ") + ": what the whole cluster sends there '
    "would go to the pods of this Service. To be reached from outside, ask platform staff for a load balancer or a "
    'gateway"',
)
