"""The language of network isolation: what units may reach, and facts about the clusters' networks."""

from __future__ import annotations

from pydantic import Field

from tenancy.model.document_base import Document


class Egress(Document):
    """Where the pods of a unit may connect to, beside their team and DNS."""

    internet: bool | None = Field(None, description="Addresses outside the cluster's own ranges (false).")
    api_server: bool | None = Field(
        None, description="The Kubernetes API server (false); needs `network.apiServer` of the organization."
    )
    services: list[str] = Field(
        [], description="Shared services by NAME, or NAMESPACE/APP:PORT for pods labelled app.kubernetes.io/name=APP."
    )


class UnitNetwork(Document):
    """Network isolation of a unit; what ancestors allow is allowed too."""

    egress: Egress = Field(Egress(), description="Outgoing connections.")


class Service(Document):
    """A shared service that units may name."""

    namespace: str | None = Field(None, description="Namespace of its pods.")
    pods: dict[str, str] | None = Field(None, description="Labels of its pods.")
    cidr: str | None = Field(None, description="Or its address range.")
    ports: list[int] = Field(description="TCP ports.", min_length=1)


class Dns(Document):
    """Where the cluster's DNS answers."""

    namespace: str = Field("kube-system", description="Namespace of the DNS pods.")
    pods: dict[str, str] = Field({"k8s-app": "kube-dns"}, description="Labels of the DNS pods.")
    port: int = Field(53, ge=1, le=65535, description="Port that the pods listen on, UDP and TCP.")
    node_local: str | None = Field(
        "169.254.20.10", description="Address of the node-local cache; null where there is none."
    )


class ApiServer(Document):
    """Where the Kubernetes API server answers, as pods see it after address translation."""

    cidrs: list[str] = Field(description="Address ranges of the API server.", min_length=1)
    port: int = Field(6443, ge=1, le=65535, description="Its port.")


class Keda(Document):
    """Where KEDA's operator runs, which asks the services of teams for what they are scaled by."""

    namespace: str = Field("keda", description="Its namespace.")
    pods: dict[str, str] = Field({"app": "keda-operator"}, description="Labels of its pods.")


class Network(Document):
    """Facts about the clusters' networks."""

    services: dict[str, Service] = Field({}, description="Shared services by name.")
    dns: Dns = Field(Dns(), description="The cluster's DNS.")
    api_server: ApiServer | None = Field(None, description="The API server's addresses.")
    keda: Keda = Field(Keda(), description="KEDA's operator, for teams with `autoscaling: keda`.")
    metadata: list[str] = Field(
        ["169.254.169.254/32", "168.63.129.16/32", "fd00:ec2::254/128"],
        description="Addresses of the cloud's metadata service, Azure's second one included: never reachable.",
    )
    cluster_ranges: list[str] = Field(
        ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10"],
        description="Ranges of nodes, pods and services, and link-local ones: not part of the internet.",
    )
