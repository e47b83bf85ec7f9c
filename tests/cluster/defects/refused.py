"""Further mistakes that the admission of the API server or of Kueue refuses, as far as is known."""

from __future__ import annotations

from typing import Any, Final

from tests.cluster.defects.edits import (
    KUEUE,
    SPEECH,
    VISION,
    add,
    again,
    drop,
    hard,
    label,
    many_flavors,
    many_resources,
    new_class,
    put,
    quota,
    subject,
    with_resource,
)
from tests.cluster.defects.forced import API_SERVER, WEBHOOK, Edit, Forced

HOSTNAME: Final = "kubernetes.io/hostname"
RANGE: Final = {"ipBlock": {"cidr": "10.1.0.0/16"}}


def _refused(by: str, name: str, code: str, written: str, *edits: Edit) -> Forced:
    return Forced(name=name, code=code, written=written, refused=by, base="trial", edits=edits)


def _flavor(path: str, value: Any) -> Edit:
    return put("ResourceFlavor", "h100", path, value)


def _levels(*labels: str) -> Edit:
    return put("Topology", "h100", "levels", [{"nodeLabel": each} for each in labels])


def _egress(**rule: Any) -> Edit:
    policy = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [rule]}
    return add("networking.k8s.io/v1", "NetworkPolicy", "allow-service", VISION, spec=policy)


REFUSED: Final[tuple[Forced, ...]] = (
    _refused(
        WEBHOOK,
        "quota above the limit",
        "quota-above-limit",
        "`borrowingLimit: -4`: a limit of 12 less the quota of 16",
        quota(SPEECH, borrowingLimit="-4"),
    ),
    _refused(
        API_SERVER,
        "limit of a queue without a department",
        "limit-above-borrowing",
        "`borrowingLimit` without `cohortName`",
        drop("ClusterQueue", VISION, "cohortName"),
    ),
    _refused(
        API_SERVER,
        "nine labels of a flavor",
        "flavor-limit",
        "nine `nodeLabels`",
        _flavor("nodeLabels", {f"acme.example/{number}": "yes" for number in range(9)}),
    ),
    _refused(
        WEBHOOK,
        "node label with a blank",
        "flavor-label-syntax",
        "`nodeLabels: {acme pool: gpu}`",
        _flavor("nodeLabels", {"acme pool": "gpu"}),
    ),
    _refused(
        API_SERVER,
        "taint with an unknown effect",
        "taint-syntax",
        "`effect: NoRun`",
        _flavor("nodeTaints.0.effect", "NoRun"),
    ),
    _refused(
        API_SERVER,
        "topology level given twice",
        "topology-levels",
        "one label twice in `levels`",
        _levels("acme.example/rack", "acme.example/rack"),
    ),
    _refused(
        API_SERVER,
        "seventeen topology levels",
        "topology-levels",
        "17 `levels`",
        _levels(*(f"acme.example/{number}" for number in range(17))),
    ),
    _refused(
        API_SERVER,
        "host name that is not the last level",
        "topology-hostname",
        "a level below `kubernetes.io/hostname`",
        _levels(HOSTNAME, "acme.example/rack"),
    ),
    _refused(
        API_SERVER,
        "priority above int32",
        "priority-range",
        "a WorkloadPriorityClass with `value: 3000000000`",
        new_class(KUEUE, "WorkloadPriorityClass", "urgent", 3000000000),
    ),
    _refused(
        API_SERVER,
        "PriorityClass above 1000000000",
        "priority-range",
        "a PriorityClass with `value: 1000000001`",
        new_class("scheduling.k8s.io/v1", "PriorityClass", "urgent", 1000000001),
    ),
    _refused(
        API_SERVER,
        "PriorityClass of the system",
        "priority-name",
        "a PriorityClass `system-urgent`",
        new_class("scheduling.k8s.io/v1", "PriorityClass", "system-urgent", 30),
    ),
    _refused(
        WEBHOOK,
        "weight too small",
        "weight-ratio",
        "`fairSharing: {weight: 1n}`",
        put("ClusterQueue", VISION, "fairSharing", {"weight": "1n"}),
    ),
    _refused(
        API_SERVER,
        "label with a blank",
        "label-syntax",
        "a label `cost center` of a namespace",
        label("Namespace", VISION, "cost center", "1"),
    ),
    _refused(
        API_SERVER,
        "domain that is none",
        "domain-syntax",
        "a label `acme_gpu/team`",
        label("Namespace", VISION, "acme_gpu/team", "vision"),
    ),
    _refused(
        API_SERVER,
        "name in capitals",
        "name-syntax",
        "a ClusterQueue `Research-Vision`",
        again("ClusterQueue", VISION, "Research-Vision"),
    ),
    _refused(
        API_SERVER,
        "object count that is not known",
        "object-key",
        "`hard: {gpus: 8}` in a ResourceQuota",
        hard(VISION, "gpus", "8"),
    ),
    _refused(
        API_SERVER,
        "storage class that is none",
        "storage-class-name",
        "`hard` for the storage class `Fast_SSD`",
        hard(VISION, "Fast_SSD.storageclass.storage.k8s.io/requests.storage", "1Ti"),
    ),
    _refused(
        API_SERVER,
        "service account in capitals",
        "service-account-name",
        "a ServiceAccount `CI_Robot`",
        add("v1", "ServiceAccount", "CI_Robot", VISION),
    ),
    _refused(
        API_SERVER,
        "port out of range",
        "service-port",
        "`port: 70000` in a NetworkPolicy",
        _egress(to=[RANGE], ports=[{"port": 70000}]),
    ),
    _refused(
        API_SERVER,
        "range that is none",
        "network-range",
        "`cidr: 10.1.0.0/33` in a NetworkPolicy",
        _egress(to=[{"ipBlock": {"cidr": "10.1.0.0/33"}}]),
    ),
    _refused(
        API_SERVER,
        "service with two targets",
        "service-target",
        "pods and a range in one peer of a NetworkPolicy",
        _egress(to=[{"podSelector": {}, **RANGE}]),
    ),
    _refused(
        API_SERVER,
        "subject without a kind",
        "subject-syntax",
        "a subject of a RoleBinding without `kind`",
        subject(VISION, name="vision", apiGroup="rbac.authorization.k8s.io"),
    ),
    _refused(
        API_SERVER,
        "65 flavors",
        "kueue-flavors",
        "65 flavors in a ClusterQueue",
        many_flavors(VISION, 65),
    ),
    _refused(
        API_SERVER,
        "65 resources",
        "kueue-resources",
        "65 resources in a ClusterQueue",
        many_resources(VISION, 65),
    ),
    _refused(
        WEBHOOK,
        "resource with a blank",
        "gpu-resource",
        "a quota of `acme.example/my gpu`",
        with_resource(VISION, "acme.example/my gpu", "h100", "8"),
    ),
    _refused(
        WEBHOOK,
        "quantity with a blank",
        "quantity-syntax",
        "`nominalQuota: 10 Gi`",
        quota(SPEECH, "cpu", "memory", nominalQuota="10 Gi"),
    ),
)
