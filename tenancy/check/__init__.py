"""The laws of an organization. A check is a function from the organization to findings; `CHECKS` is their order.

Every check runs in every run; the diagnostics come out in file order. Adding one: a function and its `Rule` in the
module of its concern, a line in `CHECKS`, its rule in that module's `RULES`, and a case under tests/checks/.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from tenancy.check import (
    access,
    amounts,
    autoscaling,
    capacity,
    dra,
    expiry,
    fairness,
    flavors,
    gitops,
    gpus,
    guards,
    karpenter,
    keda,
    kueue,
    labels,
    laws,
    limits,
    names,
    namespaces,
    native,
    network,
    node_names,
    objects,
    policies,
    priorities,
    projects,
    quantities,
    reach,
    references,
    shares,
    sharing,
    storage,
    taints,
    telemetry,
    topology,
    unit_topology,
    versions,
    volcano,
    weights,
)
from tenancy.check.finding import Check, placed
from tenancy.diagnostics import Diagnostic, Rule
from tenancy.load.source import Sources
from tenancy.model.organization import Org

CHECKS: Final[tuple[Check, ...]] = (
    *gpus.CHECKS,
    *sharing.CHECKS,
    *dra.CHECKS,
    *flavors.CHECKS,
    *taints.CHECKS,
    *topology.CHECKS,
    *node_names.CHECKS,
    *autoscaling.CHECKS,
    *karpenter.CHECKS,
    *kueue.CHECKS,
    *priorities.CHECKS,
    *volcano.CHECKS,
    *native.CHECKS,
    *guards.CHECKS,
    *access.CHECKS,
    *objects.CHECKS,
    *storage.CHECKS,
    *network.CHECKS,
    *expiry.CHECKS,
    *names.CHECKS,
    *namespaces.CHECKS,
    *labels.CHECKS,
    *reach.CHECKS,
    *references.CHECKS,
    *amounts.CHECKS,
    *quantities.CHECKS,
    *laws.CHECKS,
    *limits.CHECKS,
    *shares.CHECKS,
    *capacity.CHECKS,
    *policies.CHECKS,
    *projects.CHECKS,
    *weights.CHECKS,
    *unit_topology.CHECKS,
    *keda.CHECKS,
    *fairness.CHECKS,
    *gitops.CHECKS,
    *telemetry.CHECKS,
    *versions.CHECKS,
)

RULES: Final[tuple[Rule, ...]] = (
    *gpus.RULES,
    *sharing.RULES,
    *dra.RULES,
    *flavors.RULES,
    *taints.RULES,
    *topology.RULES,
    *node_names.RULES,
    *autoscaling.RULES,
    *karpenter.RULES,
    *kueue.RULES,
    *priorities.RULES,
    *volcano.RULES,
    *native.RULES,
    *guards.RULES,
    *access.RULES,
    *objects.RULES,
    *storage.RULES,
    *network.RULES,
    *expiry.RULES,
    *names.RULES,
    *namespaces.RULES,
    *labels.RULES,
    *reach.RULES,
    *references.RULES,
    *amounts.RULES,
    *quantities.RULES,
    *laws.RULES,
    *limits.RULES,
    *shares.RULES,
    *capacity.RULES,
    *policies.RULES,
    *projects.RULES,
    *weights.RULES,
    *unit_topology.RULES,
    *keda.RULES,
    *fairness.RULES,
    *gitops.RULES,
    *telemetry.RULES,
    *versions.RULES,
)


def check(org: Org, sources: Sources, today: date | None = None) -> list[Diagnostic]:
    """Every finding of every check. `today` is compared with `expires`; None (as in `compile`) compares nothing."""
    findings = [finding for each in CHECKS for finding in each(org)]
    if today is not None:
        findings += expiry.expired(org, today)
    return [placed(finding, sources) for finding in findings]
