"""Write schemas/kueue-manager/MINOR/gates.json: every feature gate that a Kueue manager of that minor knows.

    python tools/kueue_gates.py 0.19 KUEUE_MODULE [KUBERNETES_MODULE ...]

A module is a folder of the Go module cache. The first is Kueue's; the others are Kubernetes modules whose gates are
linked into the same binary and therefore accepted too (k8s.io/apiserver always, k8s.io/kubernetes from Kueue 0.19 on).
The last specification of a gate counts: its versions lie below the Kubernetes version that the binary emulates.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TypeAlias

Gates: TypeAlias = dict[str, dict[str, str | bool]]

_FEATURES = Path("pkg/features/kube_features.go")
_NAME = re.compile(r'^\s*(\w+)\s+(?:featuregate\.Feature\s*)?=\s*"(\w+)"', re.MULTILINE)
_ENTRY = re.compile(r"^\t(\w+):\s*\{\n(.*?)^\t\},?", re.MULTILINE | re.DOTALL)
_SPEC = re.compile(r"\{Version:[^\n]*?Default:\s*(true|false),\s*PreRelease:\s*([^\s,}]+)([^\n]*)")
_STAGES = {"Alpha": "alpha", "Beta": "beta", "GA": "GA", "Deprecated": "deprecated"}


def gates_of(module: Path) -> Gates:
    """The gates that the module declares, by name: stage, default, and whether the default is locked."""
    source = (module / _FEATURES).read_text(encoding="utf-8")
    source = re.sub(r"^\s*//.*\n", "", source, flags=re.MULTILINE)
    names = dict(_NAME.findall(source))
    gates: Gates = {}
    for constant, body in _ENTRY.findall(source):
        specifications = _SPEC.findall(body)
        if constant in names and specifications:
            default, stage, rest = specifications[-1]
            gates[names[constant]] = {
                "default": default == "true",
                "locked": "LockToDefault: true" in rest,
                "stage": _STAGES.get(stage.removeprefix("featuregate."), "GA"),
            }
    return gates


def main(arguments: list[str]) -> None:
    """Write the file of one minor."""
    minor, kueue, *kubernetes = arguments
    linked: Gates = {}
    for module in kubernetes:
        linked.update(gates_of(Path(module)))
    folder = Path(__file__).parents[1] / "schemas" / "kueue-manager" / minor
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"kubernetes": linked, "kueue": gates_of(Path(kueue))}, indent=1, sort_keys=True)
    (folder / "gates.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
