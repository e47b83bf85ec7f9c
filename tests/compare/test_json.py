"""The plan as JSON against its published schema."""

from __future__ import annotations

import json as stdlib_json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tenancy.compare.effects import QuotaChange
from tenancy.compare.views.json import json
from tenancy.model.organization import Quota
from tests.compare.build import GPU, comparison, effects, finding, named
from tests.compare.test_markdown import EDITS, KINDS, found_of

SCHEMA = stdlib_json.loads((Path(__file__).parents[2] / "schemas/plan.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
GOLDEN = {"gpus-moved", "mig-layout-changed", "team-removed"}
"""Kinds of edits whose JSON was reviewed, too."""


def read(page: str) -> dict[str, Any]:
    found: dict[str, Any] = stdlib_json.loads(page)
    VALIDATOR.validate(found)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_edit_is_as_in_the_schema_and_three_as_in_their_golden_file(
    kind: str, tmp_path: Path, golden: bool
) -> None:
    """Every plan is valid; the reviewed ones are exactly what they were."""
    page = json(*found_of(kind, tmp_path))
    read(page)
    path = EDITS / kind / "plan.json"
    if golden and kind in GOLDEN:
        path.write_text(page)
    assert path.exists() is (kind in GOLDEN)
    assert kind not in GOLDEN or page == path.read_text()


def test_the_schema_is_strict() -> None:
    """A key that it does not know is refused at every level, and so is another version."""
    Draft202012Validator.check_schema(SCHEMA)
    whole = read(json(named("a"), [finding("a")]))
    assert not VALIDATOR.is_valid({**whole, "extra": 1})
    assert not VALIDATOR.is_valid({**whole, "version": 2})
    lists = [key for key, value in whole.items() if isinstance(value, list) and key not in ("clusters", "drift")]
    assert all(whole[key] for key in lists)
    for key in (*lists, "clusters"):
        found = deepcopy(whole)
        found[key][0]["extra"] = 1
        assert not VALIDATOR.is_valid(found), key
    for key in ("risk", "summary", "costs"):
        assert not VALIDATOR.is_valid({**whole, key: {**whole[key], "extra": 1}}), key


def test_two_equal_sides_are_a_valid_plan_of_nothing() -> None:
    """Every key is there, so that a reader never has to ask whether it is."""
    found = read(json(comparison()))
    assert found.keys() == SCHEMA["properties"].keys()
    assert found["summary"] == {"before": 10, "delete": 0, "update": 0, "create": 0, "refused": 0}
    assert found["risk"] == {"level": "none", "reasons": []}


def test_amounts_are_exact_and_readable() -> None:
    """Base units for programs, and the words of the text for people; a side without the unit is null."""
    place: dict[str, Any] = {"cluster": "main", "unit": "lab", "flavor": "cpu"}
    gone = QuotaChange(**place, resource="memory", before=Quota(0, 1536 * 1024**3, 2 * 1024**4), after=None)
    come = QuotaChange(**place, resource=GPU, before=None, after=Quota(0, 4, 8))
    memory, gpus = read(json(comparison(effects=effects(quotas=(gone, come)))))["quotas"]
    assert memory["before"]["quota"] == {"base": 1649267441664, "human": "1.5 TiB"}
    assert memory["gain"] == {"base": -1649267441664, "human": "-1.5 TiB"}
    assert (memory["after"], gpus["before"], gpus["measure"]) == (None, None, "GPUs")
    assert gpus["after"]["limit"] == {"base": 8, "human": "8"}


def test_objects_that_go_and_come_are_whole_and_a_change_says_what_differs() -> None:
    """A side on which nothing stands has no key, since null is a value."""
    gone, changed, come = read(json(named("a")))["changes"]
    assert (gone["change"], gone["object"]) == ("delete", {"data": {"a": ["a"]}})
    assert (come["change"], come["object"]) == ("create", {"data": {"a": {"name": "a"}}})
    assert changed["differences"] == [{"path": "data.a", "new": {"name": "a"}}, {"path": "data[a]", "old": ["a"]}]


def test_the_text_is_ascii_without_control_characters() -> None:
    """Whatever a name holds, printing the plan drives no terminal, and the name is kept."""
    evil = "研\x9b1m\x1b[2J\u202e"
    page = json(named(evil))
    assert page.isascii()
    assert page.replace("\n", "").isprintable()
    assert read(page)["namespaces"][0]["namespace"] == evil
