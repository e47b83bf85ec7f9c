"""What a unit says of its default topology, and what its level means among the labels of flavors."""

from __future__ import annotations

import pytest

from tenancy.model.unit_topology import UnitTopology, meanings, parse_topology

RACK, OTHER, HOST = "cloud.example/rack", "old.example/rack", "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("required rack", UnitTopology("required", "rack")),
        ("  preferred   cloud.example/rack ", UnitTopology("preferred", RACK)),
        ("require rack", None),
        ("Required rack", None),
        ("required", None),
        ("rack", None),
        ("required rack block", None),
        ("", None),
    ],
)
def test_a_topology_is_a_mode_and_a_level(text: str, said: UnitTopology | None) -> None:
    """Nothing else is read, so that a misspelt mode is never taken for a level."""
    assert parse_topology(text) == said


@pytest.mark.parametrize(
    ("level", "keys", "meant"),
    [
        ("rack", [RACK, HOST], [RACK]),
        (RACK, [RACK, OTHER], [RACK]),
        ("rack", [OTHER, RACK, RACK], [RACK, OTHER]),
        ("rack", ["rack", RACK], ["rack"]),
        ("hostname", [RACK, HOST], [HOST]),
        ("host", [RACK, HOST], [HOST]),
        ("ack", [RACK], []),
        ("example/rack", [RACK], []),
        ("host", [RACK], []),
    ],
)
def test_a_level_is_a_label_or_how_labels_end(level: str, keys: list[str], meant: list[str]) -> None:
    """A whole key means itself alone; a last part means every label that ends in it, `host` the name of the host."""
    assert meanings(level, keys) == meant
