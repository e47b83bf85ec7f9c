"""The admission policies over KEDA: it scales nothing beyond what the queue can run, and acts as itself for nobody.

What a ScaledObject asks for is the largest number that KEDA 2.21 scales to, not only `maxReplicaCount`: the annotation
`paused-replicas` is set as it is (scaledobject_controller.go), and jobs up to `minReplicaCount` are made whatever the
maximum says (getScalingDecision in scale_jobs.go). KEDA's own webhook looks at neither. The Jobs of a ScaledJob are
judged when KEDA makes them, with the labels and annotations of the ScaledJob; what is refused is an event of it.

KEDA's operator reads every Secret of the cluster and has an identity in the cloud. A trigger is sent where its author
says, so whoever may choose both what KEDA proves itself with and where has it: a Vault at an address of theirs gets the
operator's token (hashicorpvault_handler.go; by default no longer since 2.21), `identityOwner: operator` its credentials
(aws_common.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tenancy.backend.manifest import Object
from tenancy.backend.shared import keda
from tenancy.backend.shared.admission import revisions, validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.guards.trust import speakers
from tenancy.backend.shared.pod_templates import PodTemplates
from tenancy.plan.values import ClusterPlan

SCALING: Final = "tenancy-scaling"
IDENTITY: Final = "tenancy-scaling-identity"
DEFAULT_MOST: Final = 100
"""What KEDA takes for the maximum where none is said, of replicas as of jobs."""
PAUSED: Final = "autoscaling.keda.sh/paused-replicas"

_VERSION: Final = "v1alpha1"
_OBJECT: Final = PodTemplates(keda.KEDA, _VERSION, "scaledobjects", "ScaledObject", ())
_JOB: Final = PodTemplates(keda.KEDA, _VERSION, "scaledjobs", "ScaledJob", ())
_AUTHENTICATION: Final = PodTemplates(keda.KEDA, _VERSION, keda.AUTHENTICATION, "TriggerAuthentication", ())

DEPLOYMENT: Final = "Deployment.apps"
STATEFUL_SET: Final = "StatefulSet.apps"
LEADER_WORKER_SET: Final = "LeaderWorkerSet.leaderworkerset.x-k8s.io"
"""What serves and can be scaled, as `Kind.group`."""


def scaling(plan: ClusterPlan, targets: Sequence[str]) -> Iterator[Object]:
    """The policies with their bindings, where some team uses KEDA. `targets`: what the scheduler counts as it grows."""
    if not keda.used(plan):
        return
    mark = f"namespaceObject.metadata.?annotations[?{text(f'{plan.domain}/{keda.MOST_PODS}')}]"
    variables = {
        **revisions(),
        "used": f"{mark}.hasValue()",
        "most": f'int({mark}.orValue("0"))',
        "each": f"variables.revisions.map(it, {_EACH})",
        "pods": f"variables.revisions.transformList(at, it, variables.each[at] * {_REPLICAS})",
        "targets": f"variables.revisions.map(it, {_TARGET})",
    }
    yield from validating(
        plan, SCALING, variables, [_USED, _BOUND, _target(targets)], kinds=(_OBJECT, _JOB), guard="scaling"
    )
    variables = {
        **revisions(),
        "triggers": "variables.revisions.map(it, it.?spec.?triggers.orValue([]))",
        "ways": "variables.revisions.map(it, [it.?spec.orValue({})])",
        "named": _NAMED,
        "platform": f"!(request.userInfo.username in {speakers(plan)}) &&\n  {_PLATFORM}",
    }
    yield from validating(plan, IDENTITY, variables, [_ITSELF], kinds=(_OBJECT, _JOB, _AUTHENTICATION))


_PLATFORM: Final = (
    f'authorizer.group({text(keda.KEDA)}).resource({text(keda.CLUSTER_AUTHENTICATION)}).check("create").allowed()'
)
"""Whoever may make what KEDA proves itself with in every namespace."""

_TEMPLATE: Final = "it.?spec.?jobTargetRef"
_EACH: Final = f"""\
[1, [int({_TEMPLATE}.?parallelism.orValue(1)),
    int({_TEMPLATE}.?completions.or({_TEMPLATE}.?parallelism).orValue(1))].min()].max()"""
"""CEL for the pods of a replica or a job: a job runs no more at once than it has to complete."""

_REPLICAS: Final = f"""\
[int(it.?spec.?maxReplicaCount.orValue({DEFAULT_MOST})),
    int(it.?spec.?minReplicaCount.orValue(0)), int(it.?spec.?idleReplicaCount.orValue(0)),
    [it.kind == {text(_OBJECT.kind)} ? it.metadata.?annotations[?{text(PAUSED)}].orValue("") : ""]
      .map(said, said.matches("^[+]?[0-9]+$") ? int(said) : 0)[0]].max()"""
"""CEL for the replicas or jobs that KEDA scales to at most."""

_TARGET: Final = """\
[[string(it.?spec.?scaleTargetRef.?kind.orValue("")), string(it.?spec.?scaleTargetRef.?apiVersion.orValue(""))]]
    .map(said, (said[0] == "" ? "Deployment" : said[0]) + "." +
      (said[1] == "" ? "apps" : said[1].contains("/") ? said[1].split("/")[0] : ""))[0]"""
"""CEL for what is scaled, as `Kind.group`, with KEDA's defaults (gvkr.go)."""

_USED: Final = (
    'request.operation != "CREATE" || variables.used',
    "This is no namespace of a team that uses KEDA: write `autoscaling: keda` into the team in the organization",
)

_WAY: Final = (
    '(variables.most / variables.each[0] == 0 ? "the unit needs a limit that lets it run any" : '
    '"write maxReplicaCount: " + string(variables.most / variables.each[0]) + " or less, '
    f'and no more into minReplicaCount and the annotation {PAUSED}")'
)
_SAID: Final = 'dyn(object).?spec.?maxReplicaCount.hasValue() ? "" : ' + text(
    f" (maxReplicaCount is {DEFAULT_MOST} where nothing says it)"
)
_BOUND: Final = (
    "variables.pods[0] <= variables.most ||\n  (variables.pods.size() == 2 && variables.pods[0] <= variables.pods[1])",
    "KEDA scales to no more pods than the queue of the namespace can ever run",
    f'"KEDA would make up to " + string(variables.pods[0]) + " pods" + ({_SAID}) + ", and the queue of namespace " + '
    f'request.namespace + " can never run more than " + string(variables.most) + ": " + {_WAY}',
)


def _target(targets: Sequence[str]) -> tuple[str, str, str]:
    known = texts(targets)
    names = ", ".join(target.partition(".")[0] for target in targets)
    return (
        f"variables.targets[0] in {known} ||\n"
        "  (variables.targets.size() == 2 && variables.targets[0] == variables.targets[1])",
        f"KEDA scales only what the queue counts as it grows: {names}",
        f'"KEDA would scale a " + variables.targets[0] + " beside the queue: name one of these in scaleTargetRef, with '
        f'its apiVersion: {names}"',
    )


_CLUSTER_KIND: Final = "ClusterTriggerAuthentication"
_ROLE: Final = "awsRoleArn"
"""The parameter by which KEDA takes another role with its own identity (aws_common.go)."""

_OF_TRIGGER: Final = f"""\
[trigger.?authenticationRef.?kind.orValue("") == {text(_CLUSTER_KIND)} ? {text(f"kind: {_CLUSTER_KIND}")} : "",
    trigger.?metadata.?identityOwner.orValue("pod") in ["", "pod"] ? "" : "identityOwner",
    trigger.?metadata.?credentialsFromEnvFile.orValue("") == "" ? "" : "credentialsFromEnvFile"]"""
"""CEL for what in a trigger is KEDA's own."""

_VAULTS: Final = ("awsSecretManager", "azureKeyVault", "gcpSecretManager")
_PARAMETERS: Final = ("boundServiceAccountToken", "configMapTargetRef", "env", "secretTargetRef")
_OF_AUTHENTICATION: Final = f"""\
["filePath", "hashiCorpVault"].filter(key, spec[?key].hasValue()) +
    (spec.?podIdentity.?provider.orValue("none") == "none" ? [] : ["podIdentity"]) +
    {texts(_VAULTS)}.filter(key, spec[?key].hasValue() && (!spec[?key].?credentials.hasValue() ||
      spec[?key].?podIdentity.?provider.orValue("none") != "none")) +
    ({texts(_PARAMETERS)}.map(key, spec[?key].orValue([])) + {texts(_VAULTS)}.map(key, spec[?key].?secrets.orValue([])))
      .filter(each, each.exists(it, it.?parameter.orValue("") == {text(_ROLE)}))
      .map(each, {text(f"parameter: {_ROLE}")})"""
"""CEL for what in a TriggerAuthentication is KEDA's own."""

_NAMED: Final = f"""\
variables.triggers[0]
  .filter(trigger, variables.triggers.size() == 1 || !(trigger in variables.triggers[1]))
  .map(trigger, {_OF_TRIGGER}.filter(found, found != "")).flatten() +
  (object.kind != {text(_AUTHENTICATION.kind)} ||
    (variables.ways.size() == 2 && variables.ways[0] == variables.ways[1]) ? [] :
    variables.ways[0].map(spec, {_OF_AUTHENTICATION}).flatten())"""
"""CEL for all that an object brings; what was there before stays as it is."""

_ITSELF: Final = (
    "variables.named.size() == 0 || variables.platform",
    "A team gives its triggers secrets of its own: KEDA's identity and its files are the platform's",
    '"remove `" + variables.named[0] + "`: KEDA would act as itself, for whoever chooses where a trigger asks. Put '
    'what the trigger needs into a Secret of namespace " + request.namespace + ", and name that in secretTargetRef of '
    f"a TriggerAuthentication; or ask platform staff for a TriggerAuthentication: whoever may make a {_CLUSTER_KIND} "
    'may write any"',
)
