"""What guards a cluster: admission policies, the API server's attention, and what is measured."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from tenancy.model.document_base import Document, shape_of_text

Level: TypeAlias = Literal["deny", "warn", "audit", "off"]


class Priority(Document):
    """A priority, and what its jobs take when their GPUs are taken back."""

    value: int = Field(description="A higher value goes first.")
    preemptible: Literal["checkpointed", "restartable"] | None = Field(
        None,
        description="`checkpointed`: its jobs save their state when they are told to end, and go on from it. "
        "`restartable`: they begin again. Without it: they should not be interrupted.",
    )
    grace_period: str | None = Field(
        None, description="How long a `checkpointed` job may take to save its state, as `90s` or `5m` (1m)."
    )


PriorityEntry: TypeAlias = Annotated[
    Annotated[int, Tag("(text)")] | Annotated[Priority, Tag("(mapping)")], Discriminator(shape_of_text)
]


class Guards(Document):
    """Admission policies over what tenants create, each with what happens to work that breaks it: `deny` refuses it,
    `warn` tells its author, `audit` tells the audit log, `off` leaves the policy out."""

    queueing: Level = Field("deny", description="Work is in a queue of its namespace, and stays in it.")
    placement: Level = Field(
        "deny", description="Work names no node, no other scheduler, and no nodes of flavors that are not for its unit."
    )
    priorities: Level = Field("deny", description="Work has only the priorities of its unit.")
    interruption: Level = Field(
        "deny",
        description="GPU jobs of units that may borrow have a priority that is `preemptible`, and say how they save "
        "their state if it is `checkpointed`. Only where a priority says `preemptible`.",
    )
    security: Level = Field(
        "deny", description="Pod templates ask for no more of the host than the pods of their namespace may."
    )
    fences: Level = Field("deny", description="Only pods that ask for GPUs of a fenced flavor tolerate its taint.")
    whole_nodes: Level = Field("deny", description="Pods ask for whole nodes of flavors with `wholeNodes`.")
    scaling: Level = Field("deny", description="KEDA scales nothing beyond what its queue may ever have.")
    cluster: Level = Field(
        "deny", description="Nobody makes an object by which the scheduler of the whole cluster would stop."
    )


class PodSecurity(Document):
    """What pods may ask of the host, as a level of the Pod Security Standards."""

    level: Literal["privileged", "baseline", "restricted"] = Field(description="The level that is enforced.")
    reason: str | None = Field(None, description="Why; `privileged` needs it.")


class Telemetry(Document):
    """What is measured, and where that is declared."""

    prometheus: Literal["operator", "off"] = Field(
        "operator",
        description="`operator`: recording rules, alerts and scrape targets as kinds of Prometheus' operator.",
    )
    grafana: Literal["sidecar", "off"] = Field(
        "sidecar", description="`sidecar`: dashboards as ConfigMaps that Grafana's sidecar collects."
    )
    namespace: str = Field("monitoring", description="The namespace in which they are made; it must be there.")
    labels: dict[str, str] = Field(
        {}, description="Labels that Prometheus selects rules and targets by, such as `release: kube-prometheus-stack`."
    )
    pending_after: str = Field("1h", description="How long jobs of a queue may wait on and on before an alert.")
