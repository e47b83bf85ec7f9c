"""What we take for granted of NVIDIA's GPU operator, against its published chart and the files that it brings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenancy.backend.nodes import mig_rules
from tenancy.backend.nodes.mig import DISABLED, ENABLED, KEY
from tenancy.backend.nodes.operator_rules import DEFAULTS
from tests.cluster import versions
from tools.golang import ModuleError, module_folder
from tools.schemas import MODULES, VERSIONS

OF_MASTER = "node-feature-discovery.master.config"


@pytest.fixture(scope="module")
def operator() -> Path:
    """The published module: a skip where it cannot be had, a failure where CI insists."""
    try:
        return module_folder(*versions.GPU_OPERATOR)
    except ModuleError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no GPU operator: {error}")


def test_every_key_that_we_set_is_one_of_the_chart_with_the_default_that_we_know(operator: Path) -> None:
    """Helm passes over keys that a chart does not have, and a list of ours replaces the one that stands there."""
    chart = yaml.safe_load((operator / "deployments/gpu-operator/values.yaml").read_text(encoding="utf-8"))
    for path, default in DEFAULTS.items():
        if not path.startswith(f"{OF_MASTER}."):
            assert _at(chart, path) == (list(default) if isinstance(default, tuple) else default)


def test_feature_discovery_knows_the_key_that_lets_it_set_taints(operator: Path) -> None:
    """The chart hands `master.config` on as the file of the master, which lists its keys as comments."""
    chart = operator / "deployments/gpu-operator/charts/node-feature-discovery"
    template = (chart / "templates/nfd-master-conf.yaml").read_text(encoding="utf-8")
    assert ".Values.master.config" in template
    discovery = module_folder(MODULES["nfd"], max(VERSIONS["nfd"].values()))
    example = (discovery / "deployment/components/master-config/nfd-master.conf.example").read_text(encoding="utf-8")
    (key,) = (path.removeprefix(f"{OF_MASTER}.") for path in DEFAULTS if path.startswith(f"{OF_MASTER}."))
    assert f"# {key}: {str(DEFAULTS[f'{OF_MASTER}.{key}']).lower()}\n" in example


def test_our_rules_of_layouts_take_the_file_that_the_operator_brings(operator: Path) -> None:
    """The rules are no stricter than the configurations of NVIDIA itself, of which we repeat the two general ones."""
    (config_map,) = yaml.safe_load_all((operator / "assets/state-mig-manager/0400_configmap.yaml").read_text("utf-8"))
    file = yaml.safe_load(config_map["data"][KEY])
    assert mig_rules.violations(file) == []
    assert {DISABLED, ENABLED} <= file["mig-configs"].keys()


def _at(values: Any, path: str) -> Any:
    for key in path.split("."):
        values = values[key]
    return values
