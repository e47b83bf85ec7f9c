"""Shared services that units name in their network rules."""

from __future__ import annotations

import re

from tenancy.model.document import Network, Service

_INLINE = re.compile(
    r"(?P<namespace>[a-z0-9]([-a-z0-9]*[a-z0-9])?)/(?P<app>[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?):(?P<port>[0-9]{1,5})"
)


def service(network: Network, text: str) -> Service | None:
    """The service that a unit names: a key of the organization's services, or NAMESPACE/APP:PORT; else None."""
    if text in network.services:
        return network.services[text]
    match = _INLINE.fullmatch(text)
    if match is None or not 1 <= int(match["port"]) <= 65535:
        return None
    return Service(
        namespace=match["namespace"],
        pods={"app.kubernetes.io/name": match["app"]},
        ports=[int(match["port"])],
    )
