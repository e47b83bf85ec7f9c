"""The admission policy that says at once what Pod Security would say of every pod of a job.

Pod Security refuses pods. A job whose template it would refuse is created with a warning, which programs drop; its pods
never come, and Kueue holds quota for it until it gives up. So templates are held to the level of the namespace, by the
controls of `baseline` and `restricted` (pod-security-admission of Kubernetes 1.36, policy/check_*.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tenancy.backend.manifest import Object
from tenancy.backend.shared.admission import templates, validating
from tenancy.backend.shared.cel import text, texts
from tenancy.backend.shared.guards.facts import news
from tenancy.backend.shared.pod_templates import POD_TEMPLATES, PodTemplates
from tenancy.plan.values import ClusterPlan

SECURITY: Final = "tenancy-template-security"
LEVEL: Final = "pod-security.kubernetes.io/enforce"


class Control(NamedTuple):
    """What a level forbids: the field, as people write it, and CEL that holds where it is used.

    CEL of a control of pods reads `pod`, a pod spec; of one of containers `each`, a container.
    """

    field: str
    used: str


_CONTEXT: Final = "each.?securityContext"
_ADDED: Final = f"{_CONTEXT}.?capabilities.?add.orValue([])"
_CAPABILITIES: Final = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
_SELINUX: Final = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_SYSCTLS: Final = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start"),
    *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
    *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
)
_VOLUMES: Final = (
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"),
    "secret",
)


def _selinux(context: str) -> str:
    options = f"{context}.?seLinuxOptions"
    return (
        f'!({options}.?type.orValue("") in {texts(_SELINUX)}) || {options}.?user.orValue("") != "" ||\n'
        f'    {options}.?role.orValue("") != ""'
    )


def _hosts(context: str) -> str:
    """A probe or a hook that connects to another host than the pod."""
    ways = [f'{context}.?{way}.?host.orValue("") != ""' for way in ("httpGet", "tcpSocket")]
    return " || ".join(ways)


_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle.?postStart", "lifecycle.?preStop")

BASELINE_PODS: Final = (
    *(Control(name, f"pod.?{name}.orValue(false)") for name in ("hostNetwork", "hostPID", "hostIPC")),
    Control("a hostPath volume", "pod.?volumes.orValue([]).exists(it, it.?hostPath.hasValue())"),
    Control(
        "securityContext.windowsOptions.hostProcess",
        "pod.?securityContext.?windowsOptions.?hostProcess.orValue(false)",
    ),
    Control("securityContext.seLinuxOptions", _selinux("pod.?securityContext")),
    Control(
        "securityContext.seccompProfile of type Unconfined",
        'pod.?securityContext.?seccompProfile.?type.orValue("") == "Unconfined"',
    ),
    Control(
        "securityContext.appArmorProfile of type Unconfined",
        'pod.?securityContext.?appArmorProfile.?type.orValue("") == "Unconfined"',
    ),
    Control(
        "securityContext.sysctls beyond the safe ones",
        f"pod.?securityContext.?sysctls.orValue([]).exists(it, !(it.name in {texts(_SYSCTLS)}))",
    ),
)
BASELINE_CONTAINERS: Final = (
    Control("securityContext.privileged", f"{_CONTEXT}.?privileged.orValue(false)"),
    Control(
        "securityContext.capabilities.add beyond those of containers",
        f"{_ADDED}.exists(it, !(it in {texts(_CAPABILITIES)}))",
    ),
    Control("a hostPort", "each.?ports.orValue([]).exists(it, it.?hostPort.orValue(0) != 0)"),
    Control("the host of a probe or hook", " || ".join(_hosts(f"each.?{where}") for where in _PROBES)),
    Control("securityContext.windowsOptions.hostProcess", f"{_CONTEXT}.?windowsOptions.?hostProcess.orValue(false)"),
    Control("securityContext.seLinuxOptions", _selinux(_CONTEXT)),
    Control(
        "securityContext.seccompProfile of type Unconfined",
        f'{_CONTEXT}.?seccompProfile.?type.orValue("") == "Unconfined"',
    ),
    Control(
        "securityContext.appArmorProfile of type Unconfined",
        f'{_CONTEXT}.?appArmorProfile.?type.orValue("") == "Unconfined"',
    ),
    Control(
        "securityContext.procMount",
        f'!({_CONTEXT}.?procMount.orValue("") in ["", "Default"]) && pod.?hostUsers.orValue(true)',
    ),
)
RESTRICTED_PODS: Final = (
    Control(
        "a volume of a kind that is not for restricted pods",
        f"pod.?volumes.orValue([]).exists(it, !{texts(_VOLUMES)}.exists(kind, it[?kind].hasValue()))",
    ),
    Control("securityContext.runAsUser: 0", "pod.?securityContext.?runAsUser.orValue(1) == 0"),
)
_PROFILES: Final = '["RuntimeDefault", "Localhost"]'
RESTRICTED_CONTAINERS: Final = (
    Control(
        "a container without securityContext.allowPrivilegeEscalation: false",
        f"{_CONTEXT}.?allowPrivilegeEscalation.orValue(true)",
    ),
    Control(
        "a container without securityContext.runAsNonRoot: true",
        f"!{_CONTEXT}.?runAsNonRoot.orValue(pod.?securityContext.?runAsNonRoot.orValue(false))",
    ),
    Control("securityContext.runAsUser: 0", f"{_CONTEXT}.?runAsUser.orValue(1) == 0"),
    Control(
        "a container without securityContext.seccompProfile of type RuntimeDefault or Localhost",
        f"!({_CONTEXT}.?seccompProfile.?type.orValue("
        f'pod.?securityContext.?seccompProfile.?type.orValue("")) in {_PROFILES})',
    ),
    Control(
        "a container without securityContext.capabilities.drop: [ALL]",
        f'!("ALL" in {_CONTEXT}.?capabilities.?drop.orValue([]))',
    ),
    Control(
        "securityContext.capabilities.add beyond NET_BIND_SERVICE", f'{_ADDED}.exists(it, it != "NET_BIND_SERVICE")'
    ),
)


def security(plan: ClusterPlan, kinds: Sequence[PodTemplates] = POD_TEMPLATES) -> Iterator[Object]:
    """The policy with its binding, for the templates of all kinds but pods, which Pod Security judges itself.

    What only `restricted` forbids is looked at where some namespace of the cluster has that level.
    """
    levels = {namespace.pod_security for namespace in plan.namespaces}
    if levels <= {"privileged"}:
        return
    kinds = [kind for kind in kinds if kind.kind != "Pod"]
    key = text(LEVEL)
    facts = _found(BASELINE_PODS, BASELINE_CONTAINERS)
    if "restricted" in levels:
        more = _found(RESTRICTED_PODS, RESTRICTED_CONTAINERS)
        facts = f'{facts} +\n  (variables.level == "restricted" ?\n{more} : [])'
    variables = {
        **templates(kinds),
        "level": f'namespaceObject.metadata.?labels[?{key}].orValue("baseline")',
        **news(f'variables.level == "privileged" ? [] :\n{facts}'),
    }
    rule = (
        "variables.news.size() == 0",
        "Pods of this template would be refused by the Pod Security level of the namespace",
        '"the pods of this template would all be refused: namespace " + request.namespace + " is at Pod Security '
        'level " + variables.level + ". Remove or change " + variables.news.map(it, it.what).join(", ") + " at " + '
        "variables.news[0].at",
    )
    yield from validating(plan, SECURITY, variables, [rule], kinds=kinds, guard="security")


def _found(pods: Sequence[Control], containers: Sequence[Control]) -> str:
    """CEL for a list of what the templates of an object use: the field and where."""
    of_pod = ",\n      ".join(_fact(control, "one.path") for control in pods)
    of_container = ",\n      ".join(_fact(control, 'one.path + "/" + each.name') for control in containers)
    return f"""\
  variables.templates[at].map(one, [one.spec].map(pod,
    [{of_pod}] +
    (pod.?containers.orValue([]) + pod.?initContainers.orValue([])).map(each,
      [{of_container}]).flatten()
  ).flatten()).flatten().filter(it, it.used != "")"""


def _fact(control: Control, at: str) -> str:
    return f'{{"at": string({at}), "what": {text(control.field)}, "used": ({control.used}) ? "yes" : ""}}'
