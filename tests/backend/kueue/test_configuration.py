"""The manager's configuration: what an organization says reaches it, and every version would start with it."""

from __future__ import annotations

from typing import Any

import pytest

from tenancy.backend import kueue
from tenancy.backend.kueue.configuration import configuration
from tenancy.backend.kueue.configuration_schema import MINORS, violations
from tenancy.backend.manifest import Nonconforming
from tenancy.plan import plan
from tenancy.plan.values import ClusterPlan
from tests.orgs import organized


def _plan(kueue_minor: str, *, sharing: str = "weighted", policy: dict[str, Any] | None = None) -> ClusterPlan:
    tree = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "domain": "gpu.acme.example",
        "clusters": {"train": {"versions": {"kueue": kueue_minor}, "sharing": sharing}},
        "flavors": {"cpu": {"nodes": 2, "node": {"cpu": 8, "memory": "32Gi"}}},
        "policy": policy or {},
        "departments": {},
    }
    org = organized(tree)
    (cluster,) = plan(org)
    return cluster


@pytest.mark.parametrize("sharing", ["weighted", "first-come"])
@pytest.mark.parametrize("minor", MINORS)
def test_every_manager_would_start(minor: str, sharing: str) -> None:
    """The configuration has no key, value or gate that this minor refuses."""
    assert violations(configuration(_plan(minor, sharing=sharing)), minor) == []


def test_gates_belong_to_their_version() -> None:
    """The two gates that explain pending work exist from 0.19 on; an older manager stops on them."""
    assert set(configuration(_plan("0.19"))["featureGates"]) == {
        "UnadmittedWorkloadsExplicitStatus",
        "UnadmittedWorkloadsObservability",
    }
    assert "featureGates" not in configuration(_plan("0.17"))
    assert violations(
        {**configuration(_plan("0.17")), "featureGates": {"UnadmittedWorkloadsObservability": True}}, "0.17"
    )


def test_the_gang_policy_becomes_the_timeout_in_full() -> None:
    """Every key of waitForPodsReady is stated, since the defaults differ by version."""
    found = configuration(_plan("0.19", policy={"gang": {"startTimeout": "1h30m", "retries": 2}}))
    assert found["waitForPodsReady"] == {
        "timeout": "1h30m0s",
        "recoveryTimeout": "1h30m0s",
        "blockAdmission": False,
        "requeuingStrategy": {
            "timestamp": "Eviction",
            "backoffLimitCount": 2,
            "backoffBaseSeconds": 60,
            "backoffMaxSeconds": 3600,
        },
    }


def test_sharing_by_weight_is_a_choice() -> None:
    """`first-come` leaves fair sharing out; present, it names both strategies in the one legal order."""
    assert "fairSharing" not in configuration(_plan("0.19", sharing="first-come"))
    strategies = configuration(_plan("0.19"))["fairSharing"]["preemptionStrategies"]
    assert strategies == ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]


def test_only_our_namespaces_are_managed() -> None:
    """By a label that only platform staff may write."""
    selector = configuration(_plan("0.19"))["managedJobsNamespaceSelector"]
    assert selector == {"matchLabels": {"gpu.acme.example/organization": "acme"}}


def test_a_configuration_that_would_stop_the_manager_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours ends the compilation instead of the manager."""
    broken = {**configuration(_plan("0.19")), "fairSharing": {"enable": True}}
    monkeypatch.setattr(kueue, "configuration", lambda _: broken)
    with pytest.raises(Nonconforming, match="fairSharing"):
        list(kueue.compile(_plan("0.19")))
