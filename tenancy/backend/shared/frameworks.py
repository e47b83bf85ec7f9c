"""The kinds of work that tenants may create: each one is managed by the queue, so that nothing runs beside it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Framework(NamedTuple):
    """A kind of work: its name among Kueue's integrations and its API group and resources."""

    integration: str
    group: str
    resources: tuple[str, ...]


FRAMEWORKS: Final = (
    Framework("batch/job", "batch", ("jobs",)),
    Framework("pod", "", ("pods",)),
    Framework("deployment", "apps", ("deployments", "deployments/scale")),
    Framework("statefulset", "apps", ("statefulsets", "statefulsets/scale")),
    Framework("jobset.x-k8s.io/jobset", "jobset.x-k8s.io", ("jobsets",)),
    Framework("leaderworkerset.x-k8s.io/leaderworkerset", "leaderworkerset.x-k8s.io", ("leaderworkersets",)),
    Framework("kubeflow.org/mpijob", "kubeflow.org", ("mpijobs",)),
    Framework("kubeflow.org/pytorchjob", "kubeflow.org", ("pytorchjobs",)),
    Framework("kubeflow.org/tfjob", "kubeflow.org", ("tfjobs",)),
    Framework("kubeflow.org/jaxjob", "kubeflow.org", ("jaxjobs",)),
    Framework("kubeflow.org/xgboostjob", "kubeflow.org", ("xgboostjobs",)),
    Framework("kubeflow.org/paddlejob", "kubeflow.org", ("paddlejobs",)),
    Framework("trainer.kubeflow.org/trainjob", "trainer.kubeflow.org", ("trainjobs",)),
    Framework("ray.io/rayjob", "ray.io", ("rayjobs",)),
    Framework("ray.io/raycluster", "ray.io", ("rayclusters",)),
    Framework("ray.io/rayservice", "ray.io", ("rayservices",)),
    Framework("workload.codeflare.dev/appwrapper", "workload.codeflare.dev", ("appwrappers",)),
)
"""Integrations of Kueue 0.17 to 0.19 (its configuration, run). A kind that no integration manages is in no role."""
