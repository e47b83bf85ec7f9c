"""What syncs out/: the engine, the repository as git and the engines understand it, and the names of Applications."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from tenancy.model.document import GitOps
from tenancy.model.document_hardware import Cluster

NAMESPACES: Final[Mapping[str, str]] = {"argocd": "argocd", "flux": "flux-system"}
"""By engine: where it runs unless the organization says another."""
TITLES: Final[Mapping[str, str]] = {"argocd": "Argo CD", "flux": "Flux"}
"""What the engines are called."""
IN_CLUSTER: Final = "https://kubernetes.default.svc"
"""The destination of the cluster in which Argo CD itself runs."""
IN_CLUSTER_NAME: Final = "in-cluster"
"""The name that Argo CD gives it."""
WHOLE: Final = "cluster"
"""In place of a department: what belongs to the cluster as a whole. `platform` is a usual name of a department."""
MONITORING: Final = "monitoring"
"""In place of a department: what is measured, so that a cluster without Prometheus' operator loses nothing else."""
TENANTS: Final = "tenants"
"""Ends the name of the project for what a department's teams deploy themselves."""

_REMOTE: Final = re.compile(
    r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>[^/\s]\S*|/[^/\s]\S*)"
)
_SCHEMES: Final = ("https", "http", "ssh")


class Repository(NamedTuple):
    """The parts of a repository's address."""

    scheme: str
    """`https`, `http` or `ssh`; empty for `USER@HOST:PATH`, which git takes as ssh."""
    user: str
    password: str
    host: str
    path: str


def repository(text: str) -> Repository | None:
    """The parts of an address that git can fetch over a network; None where it is not one."""
    if re.search(r"[\s\x00-\x1f\x7f\\]", text):
        return None
    if "://" not in text:
        match = _REMOTE.fullmatch(text)
        return Repository("", match["user"] or "", "", match["host"], match["path"]) if match else None
    try:
        parts = urlsplit(text)
        sound = parts.port != 0
    except ValueError:  # a port that is no number, or half of an IPv6 address
        return None
    if not sound or parts.scheme not in _SCHEMES or not parts.hostname or parts.path in ("", "/"):
        return None
    if parts.query or parts.fragment:
        return None
    return Repository(parts.scheme, parts.username or "", parts.password or "", parts.hostname, parts.path)


def bare(address: str) -> str:
    """A URL without credentials. The user of ssh is none."""
    scheme, _, rest = address.partition("://")
    authority, slash, path = rest.partition("/")
    credentials, _, host = authority.rpartition("@")
    user = credentials.partition(":")[0]
    return f"{scheme}://{f'{user}@' if user and scheme == 'ssh' else ''}{host}{slash}{path}"


def is_branch(name: str) -> bool:
    """Whether git takes it as the name of a branch (`git check-ref-format --branch`)."""
    parts = name.split("/")
    return (
        not re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{", name)
        and not any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
        and not name.startswith("-")
        and not name.endswith(".")
        and name != "HEAD"
    )


def engine_namespace(gitops: GitOps) -> str:
    """The namespace of the engine."""
    return gitops.namespace or NAMESPACES[gitops.engine]


def destination(cluster: Cluster) -> dict[str, str]:
    """Where Argo CD finds a cluster: by `name` or by `server`."""
    said = cluster.destination
    if said is not None and said.name:
        return {"name": said.name}
    return {"server": (said.server if said is not None else None) or IN_CLUSTER}


def root_name(organization: str, cluster: str) -> str:
    """The name of the Application that syncs those of a cluster."""
    return f"{organization}-{cluster}"


def application_name(organization: str, cluster: str, department: str = "") -> str:
    """The name of the Application of a top-level department, or of MONITORING; else of the cluster as a whole."""
    return f"{organization}-{cluster}-{department or WHOLE}"


def tenants_name(application: str) -> str:
    """The name of the project for what the teams of a department's Application deploy themselves."""
    return f"{application}-{TENANTS}"
