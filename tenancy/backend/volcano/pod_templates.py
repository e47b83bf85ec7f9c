"""Where the work of a cluster with Volcano keeps its pod templates and says its queue (types of Volcano 1.14 and 1.15).

JobFlows have none here: the jobs that they make are judged.
"""

from __future__ import annotations

from typing import Final

from tenancy.backend.shared.admission import templates
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates, whole
from tenancy.backend.volcano.work import BATCH, FLOW, SCHEDULING

QUEUE: Final = f"{SCHEDULING}/queue-name"
"""The annotation of a pod that names its queue; Volcano does not look at that of an owner."""

GROUP: Final = "scheduling.k8s.io/group-name"
"""The annotation of a pod that names its PodGroup. Then the PodGroup's queue counts (job_info.go of 1.15.1)."""

_TASKS: Final = ("spec.tasks[].template.spec",)
_CRON_TASKS: Final = ("spec.jobTemplate.spec.tasks[].template.spec",)

KINDS: Final = (
    *POD_TEMPLATES,
    PodTemplates(BATCH, "v1alpha1", "jobs", "Job", _TASKS),
    PodTemplates(BATCH, "v1alpha1", "cronjobs", "CronJob", _CRON_TASKS),
    PodTemplates(FLOW, "v1alpha1", "jobtemplates", "JobTemplate", _TASKS),
)
"""With Kubernetes' own Job and CronJob, whose names are the same, but not their paths."""

TRAIN_JOB: Final = PodTemplates("trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob", ())
POD_GROUP: Final = PodTemplates(SCHEDULING, "v1beta1", "podgroups", "PodGroup", ())


def whole_templates() -> dict[str, str]:
    """The variable `templates` as for every scheduler, but for each `path` the `template` with its metadata; that of a
    pod is the pod."""
    return templates(whole(KINDS), "template")
