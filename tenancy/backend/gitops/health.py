"""When an engine may call an object healthy. Without a rule it is healthy as soon as it is there.

The rules for Kueue were run (Argo CD 3.2.11, Kueue 0.19.2): a queue that is stopped on purpose is healthy, or no sync
would ever end; one whose part is missing is degraded, which fails the sync; one that Kueue has not seen yet is on its
way. Cohorts, flavors, topologies and priorities have no condition, so no rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenancy.backend.gitops.kinds import Kind

_CLUSTER_QUEUE: Final = """\
local hs = { status = "Progressing", message = "Kueue has not reported on this queue yet" }
if obj.status == nil or obj.status.conditions == nil then
  return hs
end
for _, c in ipairs(obj.status.conditions) do
  if c.type == "Active" then
    local text = (c.reason or "") .. ": " .. (c.message or "")
    if c.observedGeneration ~= nil and obj.metadata.generation ~= nil
      and c.observedGeneration < obj.metadata.generation then
      hs.message = "Kueue has not seen the last change yet"
    elseif c.status == "True" then
      hs.status = "Healthy"
      hs.message = text
    elseif c.reason == "Stopped" then
      hs.status = "Healthy"
      hs.message = text
      if obj.spec ~= nil and obj.spec.stopPolicy ~= nil then
        hs.message = "stopPolicy " .. obj.spec.stopPolicy .. ": " .. (c.message or "")
      end
    else
      hs.status = "Degraded"
      hs.message = text
    end
    return hs
  end
end
return hs
"""
_LOCAL_QUEUE: Final = """\
local hs = { status = "Progressing", message = "Kueue has not reported on this queue yet" }
if obj.status == nil or obj.status.conditions == nil then
  return hs
end
for _, c in ipairs(obj.status.conditions) do
  if c.type == "Active" then
    hs.message = (c.reason or "") .. ": " .. (c.message or "")
    if c.status == "True" or c.reason == "Stopped" or c.reason == "ClusterQueueIsInactive" then
      hs.status = "Healthy"
    elseif c.reason ~= "ClusterQueueDoesNotExist" then
      hs.status = "Degraded"
    end
    return hs
  end
end
return hs
"""
_ADMISSION_CHECK: Final = """\
local hs = { status = "Progressing", message = "the controller of this check has not reported yet" }
if obj.status == nil or obj.status.conditions == nil then
  return hs
end
for _, c in ipairs(obj.status.conditions) do
  if c.type == "Active" then
    hs.status = "Degraded"
    if c.status == "True" then
      hs.status = "Healthy"
    end
    hs.message = (c.reason or "") .. ": " .. (c.message or "")
    return hs
  end
end
return hs
"""
_QUEUE: Final = """\
local hs = { status = "Progressing", message = "Volcano has not reported on this queue yet" }
if obj.status == nil or obj.status.state == nil or obj.status.state == "" then
  return hs
end
hs.message = "state " .. obj.status.state
if obj.status.state == "Open" or obj.status.state == "Closed" then
  hs.status = "Healthy"
elseif obj.status.state == "Unknown" then
  hs.status = "Degraded"
end
return hs
"""
_APPLICATION: Final = """\
local hs = { status = "Progressing", message = "" }
if obj.status ~= nil and obj.status.health ~= nil then
  if obj.status.health.status ~= nil then
    hs.status = obj.status.health.status
  end
  if obj.status.health.message ~= nil then
    hs.message = obj.status.health.message
  end
end
return hs
"""

LUA: Final[Mapping[Kind, str]] = {
    Kind("argoproj.io", "Application"): _APPLICATION,
    Kind("kueue.x-k8s.io", "AdmissionCheck"): _ADMISSION_CHECK,
    Kind("kueue.x-k8s.io", "ClusterQueue"): _CLUSTER_QUEUE,
    Kind("kueue.x-k8s.io", "LocalQueue"): _LOCAL_QUEUE,
    Kind("scheduling.volcano.sh", "Queue"): _QUEUE,
}
"""Argo CD's rules. A queue of Volcano that is closing still runs work, so it is on its way; that of an Application was
taken out of Argo CD itself in 1.8."""

EXCLUSIONS: Final[tuple[Mapping[str, tuple[str, ...]], ...]] = (
    {"apiGroups": ("", "discovery.k8s.io"), "kinds": ("Endpoints", "EndpointSlice")},
    {"apiGroups": ("coordination.k8s.io",), "kinds": ("Lease",)},
    {
        "apiGroups": ("authentication.k8s.io", "authorization.k8s.io"),
        "kinds": (
            "SelfSubjectReview",
            "TokenReview",
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ),
    },
    {"apiGroups": ("certificates.k8s.io",), "kinds": ("CertificateSigningRequest",)},
    {"apiGroups": ("cert-manager.io",), "kinds": ("CertificateRequest",)},
    {"apiGroups": ("cilium.io",), "kinds": ("CiliumIdentity", "CiliumEndpoint", "CiliumEndpointSlice")},
    {
        "apiGroups": ("kyverno.io", "reports.kyverno.io", "wgpolicyk8s.io"),
        "kinds": (
            "PolicyReport",
            "ClusterPolicyReport",
            "EphemeralReport",
            "ClusterEphemeralReport",
            "AdmissionReport",
            "ClusterAdmissionReport",
            "BackgroundScanReport",
            "ClusterBackgroundScanReport",
            "UpdateRequest",
        ),
    },
    {"apiGroups": ("kueue.x-k8s.io",), "kinds": ("Workload",)},
    {"apiGroups": ("", "events.k8s.io"), "kinds": ("Event",)},
)
"""What Argo CD does not watch: the key replaces the one that it comes with (manifests/base/config/argocd-cm.yaml of
3.2.11), so all of that is here, before what every job makes anew."""


def argocd_cm() -> dict[str, Any]:
    """The keys of the ConfigMap `argocd-cm` by their names, and the exclusions.

    The same for every scheduler: one Argo CD may have several clusters, and a key that one of them sets holds for all.
    """
    return {
        "health": {f"resource.customizations.health.{kind.group}_{kind.kind}": lua for kind, lua in LUA.items()},
        "exclusions": [{key: list(names) for key, names in each.items()} for each in EXCLUSIONS],
    }


def _active(test: str) -> str:
    return f"status.conditions.exists(it, it.type == 'Active' && {test})"


_HEALTHY: Final = "it.status == 'True' || it.reason in"

CEL: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind("kueue.x-k8s.io", "AdmissionCheck"): {
        "current": _active("it.status == 'True'"),
        "failed": _active("it.status == 'False'"),
    },
    Kind("kueue.x-k8s.io", "ClusterQueue"): {
        "current": _active(f"({_HEALTHY} ['Stopped'])"),
        "failed": _active(f"!({_HEALTHY} ['Stopped'])"),
        "inProgress": _active("has(it.observedGeneration) && it.observedGeneration < metadata.generation"),
    },
    Kind("kueue.x-k8s.io", "LocalQueue"): {
        "current": _active(f"({_HEALTHY} ['Stopped', 'ClusterQueueIsInactive'])"),
        "failed": _active(f"!({_HEALTHY} ['Stopped', 'ClusterQueueIsInactive', 'ClusterQueueDoesNotExist'])"),
    },
}
"""Flux's rules, the same in other words: it asks `inProgress`, `failed` and `current` in this order, and what is none
of them is on its way (cel/status_evaluator.go of its package runtime 0.122)."""
