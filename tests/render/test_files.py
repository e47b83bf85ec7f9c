"""Files of out/: what a backend hands over as a value becomes the text that its reader gets."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tenancy.backend.manifest import Embedded, Manifest, Nonconforming
from tenancy.render.conform import checker
from tenancy.render.files import render

CHECK = checker(kubernetes="1.36")


def config_map(**data: Any) -> Manifest:
    metadata = {"name": "tool", "namespace": "tools", "labels": {}, "annotations": {}}
    return Manifest(
        "platform/tool.yaml", ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},)
    )


def test_a_document_in_a_config_map_is_its_canonical_text() -> None:
    """A literal block that people and the tool can read, quoted as all else is."""
    content = {"version": "v1", "profiles": {"1g.10gb": 7}, "mode": "on", "none": []}
    text = render("train", [config_map(file=Embedded(content))], CHECK)["train/platform/tool.yaml"]
    assert text.endswith(
        'data:\n  file: |\n    version: v1\n    profiles:\n      "1g.10gb": 7\n    mode: "on"\n    none: []\n'
    )
    assert yaml.safe_load(yaml.safe_load(text)["data"]["file"]) == content


def test_text_in_a_config_map_stays_as_it_is() -> None:
    """Only what is said to be a document is written as one."""
    text = render("train", [config_map(plain="a: 1\n", file=Embedded({}))], CHECK)["train/platform/tool.yaml"]
    assert yaml.safe_load(text)["data"] == {"plain": "a: 1\n", "file": "{}\n"}


def test_a_value_that_is_no_text_is_refused() -> None:
    """The API server would refuse it, so that nothing is written."""
    with pytest.raises(Nonconforming, match="ConfigMap tool does not conform"):
        render("train", [config_map(file={"version": "v1"})], CHECK)
