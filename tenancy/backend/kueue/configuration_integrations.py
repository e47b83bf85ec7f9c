"""The rules of integrations, managed namespaces and MultiKueue in Kueue's manager Configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tenancy.backend.kueue.configuration_start import Start
from tenancy.backend.kueue.configuration_values import duplicates, value_at
from tenancy.model.syntax import is_label_key, is_label_value

FRAMEWORKS = {
    "batch/job": "Job.v1.batch",
    "deployment": "Deployment.v1.apps",
    "jobset.x-k8s.io/jobset": "JobSet.v1alpha2.jobset.x-k8s.io",
    "kubeflow.org/jaxjob": "JAXJob.v1.kubeflow.org",
    "kubeflow.org/mpijob": "MPIJob.v2beta1.kubeflow.org",
    "kubeflow.org/paddlejob": "PaddleJob.v1.kubeflow.org",
    "kubeflow.org/pytorchjob": "PyTorchJob.v1.kubeflow.org",
    "kubeflow.org/tfjob": "TFJob.v1.kubeflow.org",
    "kubeflow.org/xgboostjob": "XGBoostJob.v1.kubeflow.org",
    "leaderworkerset.x-k8s.io/leaderworkerset": "LeaderWorkerSet.v1.leaderworkerset.x-k8s.io",
    "pod": "Pod.v1.",
    "ray.io/raycluster": "RayCluster.v1.ray.io",
    "ray.io/rayjob": "RayJob.v1.ray.io",
    "ray.io/rayservice": "RayService.v1.ray.io",
    "sparkoperator.k8s.io/sparkapplication": "SparkApplication.v1beta2.sparkoperator.k8s.io",
    "statefulset": "StatefulSet.v1.apps",
    "trainer.kubeflow.org/trainjob": "TrainJob.v1alpha1.trainer.kubeflow.org",
    "workload.codeflare.dev/appwrapper": "AppWrapper.v1beta2.workload.codeflare.dev",
}
"""Every integration of the managers 0.17 to 0.19, with the kind that it manages as `Kind.version.group`."""

_WITHOUT_MULTIKUEUE = frozenset({"deployment", "sparkoperator.k8s.io/sparkapplication"})
_SPARK = "sparkoperator.k8s.io/sparkapplication"
_INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"


def frameworks(start: Start) -> Iterator[str]:
    """Every framework is known and stands there once; external ones are well written and not built in."""
    names = start.at("integrations.frameworks") or ["batch/job"]
    for name in names:
        if name not in FRAMEWORKS:
            yield f"integrations.frameworks: {name} is not an integration of Kueue; it knows {', '.join(FRAMEWORKS)}."
    for name in duplicates(names):
        yield f"integrations.frameworks: {name} stands there twice."
    if _SPARK in names and not start.enabled("SparkApplicationIntegration"):
        yield f"integrations.frameworks: {_SPARK} needs the gate SparkApplicationIntegration."
    taken = [FRAMEWORKS.get(name, "") for name in names]
    yield from _external_frameworks(
        "integrations.externalFrameworks", start.at("integrations.externalFrameworks"), taken
    )


def _external_frameworks(path: str, names: Iterable[str | None] | None, taken: Iterable[str]) -> Iterator[str]:
    seen = set(taken)
    for index, name in enumerate(names or ()):
        if (name or "").count(".") < 2:
            yield f"{path}[{index}]: {name} is not written as Kind.version.group."
        elif name in seen:
            yield f"{path}[{index}]: {name} is managed by another entry or by a built-in integration."
        seen.add(name or "")


def namespace_selector(start: Start) -> Iterator[str]:
    """The selector is valid and matches neither kube-system nor Kueue's own namespace."""
    path = "managedJobsNamespaceSelector"
    selector = start.at(path)
    if selector is None:
        return
    wrong = list(_selector(path, selector))
    yield from wrong
    own = start.at("namespace")
    for namespace in ("kube-system", "kueue-system" if own is None else own):
        if namespace and not wrong and _matches(selector, {"kubernetes.io/metadata.name": namespace}):
            yield f"{path}: must not match the namespace {namespace}."


def _selector(path: str, selector: Mapping[str, Any]) -> Iterator[str]:
    for key, value in (selector.get("matchLabels") or {}).items():
        if not is_label_key(key) or not is_label_value(value):
            yield f"{path}.matchLabels.{key}: is not a valid label."
    for index, requirement in enumerate(selector.get("matchExpressions") or ()):
        where = f"{path}.matchExpressions[{index}]"
        operator, values = requirement.get("operator"), requirement.get("values") or ()
        if not is_label_key(requirement.get("key") or ""):
            yield f"{where}.key: is not a valid label key."
        if (operator in ("In", "NotIn")) != bool(values):
            yield f"{where}.values: In and NotIn need values, Exists and DoesNotExist allow none."
        for value in values:
            if not is_label_value(value):
                yield f"{where}.values: {value} is not a valid label value."


def _matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(requirement, labels) for requirement in selector.get("matchExpressions") or ())


def _meets(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(requirement["key"]), requirement.get("values") or ()
    match requirement["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case _:
            return value is None


def multikueue(start: Start) -> Iterator[str]:
    """Origin, external frameworks and dispatcher of MultiKueue."""
    if not is_label_value(start.at("multiKueue.origin") or ""):
        yield "multiKueue.origin: is not a valid label value."
    enabled = set(start.at("integrations.frameworks") or ["batch/job"]) - _WITHOUT_MULTIKUEUE
    external = [entry.get("name") for entry in start.at("multiKueue.externalFrameworks") or ()]
    taken = [FRAMEWORKS.get(name, "") for name in enabled]
    yield from _external_frameworks("multiKueue.externalFrameworks", external, taken)
    dispatcher = start.at("multiKueue.incrementalDispatcherConfig")
    if dispatcher is not None and start.at("multiKueue.dispatcherName") != _INCREMENTAL:
        yield f"multiKueue.incrementalDispatcherConfig: needs dispatcherName {_INCREMENTAL}."
    if dispatcher is not None and dispatcher.get("stepSize") is not None and dispatcher["stepSize"] < 1:
        yield "multiKueue.incrementalDispatcherConfig.stepSize: must be at least 1."


def cluster_profile(start: Start) -> Iterator[str]:
    """Each provider has a name and an exec plugin, and only one of the two lists is used."""
    access = start.at("multiKueue.clusterProfile.accessProviders") or ()
    credentials = start.at("multiKueue.clusterProfile.credentialsProviders") or ()
    if access and credentials:
        yield "multiKueue.clusterProfile.credentialsProviders: must be absent next to accessProviders."
    name = "accessProviders" if access else "credentialsProviders"
    for index, provider in enumerate(access or credentials):
        path = f"multiKueue.clusterProfile.{name}[{index}]"
        for key in ("name", "execConfig.command", "execConfig.apiVersion"):
            if not value_at(provider, key):
                yield f"{path}.{key}: is required."
        if any(not variable.get("name") for variable in value_at(provider, "execConfig.env") or ()):
            yield f"{path}.execConfig.env: every variable needs a name."
        if value_at(provider, "execConfig.interactiveMode") not in ("Never", "IfAvailable", "Always"):
            yield f"{path}.execConfig.interactiveMode: must be Never, IfAvailable or Always."
