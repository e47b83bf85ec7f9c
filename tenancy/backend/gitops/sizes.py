"""How many objects an Application may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tenancy.backend.gitops.applications import Application
from tenancy.check.finding import Finding
from tenancy.check.gitops import APPLICATION_LARGE, APPLICATION_TOO_LARGE
from tenancy.plan.values import ClusterPlan

LARGE: Final = 500
MOST: Final = 1000


def large(plan: ClusterPlan, applications: Iterable[Application]) -> Iterator[Finding]:
    """The Applications of a cluster with more objects than they should have."""
    for each in applications:
        if each.objects > LARGE:
            rule = APPLICATION_TOO_LARGE if each.objects > MOST else APPLICATION_LARGE
            whose = f"department `{each.department}`" if each.department else "all that no department has"
            message = f"the Application of {whose} in cluster `{plan.name}` has {each.objects:,} objects"
            if each.department:
                help_ = f"divide `{each.department}` into departments at the top level: each has its own Application"
            else:
                help_ = "write fewer with templates for the organization, or divide the units over several clusters"
            path = ("departments", each.department) if each.department else ("gitops",)
            yield Finding(rule, path, message, help_, at_key=True)
