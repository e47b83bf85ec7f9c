"""The rules of mig-parted's file: what NVIDIA ships passes, and each mistake is found where it stands."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import yaml

from tenancy.backend.nodes.mig_rules import violations
from tenancy.model.gpus import CATALOGUE

SHIPPED = yaml.safe_load("""\
version: v1
mig-configs:
  all-disabled:
    - devices: all
      mig-enabled: false
  all-enabled:
    - devices: all
      mig-enabled: true
      mig-devices: {}
  all-1g.5gb.me:
    - devices: all
      mig-enabled: true
      mig-devices: {"1g.5gb+me": 1}
  all-1g.24gb-me:
    - devices: all
      mig-enabled: true
      mig-devices: {"1g.24gb-me": 4}
  all-1g.10gb:
    - device-filter: ["0x20B010DE", "0x20B110DE", "0x20F110DE", "0x20F610DE"]
      devices: all
      mig-enabled: true
      mig-devices: {"1g.10gb": 4}
    - device-filter: ["0x233110DE", "0x233010de"]
      devices: all
      mig-enabled: true
      mig-devices: {"1g.10gb": 7}
  custom-config:
    - devices: [0, 1, 2, 3]
      mig-enabled: false
    - devices: [4]
      mig-enabled: true
      mig-devices: {"1g.10gb": 7}
    - devices: [5, 6, 7]
      device-filter: "0x233010DE:0x16C110DE"
      mig-enabled: true
      mig-devices: {"1g.24gb+me.all": 1, "2g.48gb+gfx": 1}
""")
"""The shapes of the files that NVIDIA ships with the GPU operator and with mig-parted. All 68 configurations of the one
(25.10) and all 81 of the other (0.15) pass, tried once."""


def test_the_shapes_that_nvidia_ships_pass() -> None:
    """The rules refuse nothing that the vendor writes."""
    assert violations(SHIPPED) == []


@pytest.mark.parametrize("profile", sorted({name for gpu in CATALOGUE.values() for name in gpu.profiles}))
def test_every_profile_of_the_catalogue_has_a_name_that_passes(profile: str) -> None:
    """Layouts are made of these."""
    assert violations(file(devices("all", {profile: 1}))) == []


def file(*entries: Any, name: str = "one") -> dict[str, Any]:
    return {"version": "v1", "mig-configs": {name: list(entries)}}


def devices(which: Any, profiles: Any, **more: Any) -> dict[str, Any]:
    return {"devices": which, "mig-enabled": True, "mig-devices": profiles, **more}


OFF = {"devices": "all", "mig-enabled": False}
WHOLE = {"7g.80gb": 1}


class Mistake(NamedTuple):
    """A file and what is said of it."""

    name: str
    file: Any
    said: str


MISTAKES = (
    Mistake("no map", [], "the file: must be a map."),
    Mistake("no version", {"mig-configs": {"one": [OFF]}}, "version: must be v1."),
    Mistake("another version", {**file(OFF), "version": "v2"}, "version: must be v1."),
    Mistake("another field", {**file(OFF), "mig_configs": {}}, "mig_configs: is not a field of the file."),
    Mistake("nothing in it", {"version": "v1", "mig-configs": {}}, "mig-configs: must be a map with at least"),
    Mistake("no configurations", {"version": "v1"}, "mig-configs: must be a map with at least"),
    Mistake("no entry", file(), "mig-configs.one: must be a list with at least one entry."),
    Mistake("an entry that is none", file("all"), "mig-configs.one[0]: must be a map."),
    Mistake("no devices", file({"mig-enabled": False}), "mig-configs.one[0].devices: is missing."),
    Mistake("not said whether", file({"devices": "all"}), "mig-configs.one[0].mig-enabled: is missing."),
    Mistake("said in words", file({**OFF, "mig-enabled": "no"}), "mig-enabled: must be true or false."),
    Mistake(
        "another field of an entry", file({**OFF, "mig-profiles": {}}), "mig-profiles: is not a field of an entry."
    ),
    Mistake("another word for all", file({**OFF, "devices": "every"}), "devices: must be all, or a list"),
    Mistake("indexes as text", file({**OFF, "devices": ["0"]}), "devices: must be all, or a list"),
    Mistake("no index", file({**OFF, "devices": []}), "devices: must be all, or a list"),
    Mistake("an index twice", file({**OFF, "devices": [0, 0]}), "devices: must be all, or a list"),
    Mistake("an index below 0", file({**OFF, "devices": [-1, 0]}), "devices: must be all, or a list"),
    Mistake("enabled without layout", file({**OFF, "mig-enabled": True}), "is missing although MIG is enabled."),
    Mistake("disabled with layout", file({**OFF, "mig-devices": WHOLE}), "must be empty where MIG is disabled."),
    Mistake("a layout as a list", file(devices("all", ["7g.80gb"])), "mig-devices: must be a map."),
    Mistake("no profile", file(devices("all", {"7g80gb": 1})), "7g80gb is no profile of a GPU instance."),
    Mistake("the spelling of labels", file(devices("all", {"1g.10gb.me": 1})), "1g.10gb.me is no profile"),
    Mistake("both signs", file(devices("all", {"1g.24gb+gfx-me": 1})), "1g.24gb+gfx-me is no profile"),
    Mistake("not everything left out", file(devices("all", {"1g.24gb-gfx": 1})), "1g.24gb-gfx is no profile"),
    Mistake("a compute instance", file(devices("all", {"1c.2g.20gb": 1})), "1c.2g.20gb is no profile"),
    Mistake("less than none", file(devices("all", {"1g.10gb": -1})), "mig-devices.1g.10gb: must be a number of 1"),
    Mistake("only none", file(devices("all", {"1g.10gb": 0})), "mig-devices.1g.10gb: must be a number of 1 or more."),
    Mistake(
        "none beside some",
        file(devices("all", {"1g.10gb": 0, "7g.80gb": 1})),
        "mig-devices.1g.10gb: must be a number of 1 or more.",
    ),
    Mistake("half of one", file(devices("all", {"1g.10gb": 1.5})), "must be a number of 1 or more."),
    Mistake(
        "an id without vendor",
        file(devices("all", WHOLE, **{"device-filter": "0x2330"})),
        "device-filter: 0x2330 is no id such as",
    ),
    Mistake(
        "an id of another vendor",
        file(devices("all", WHOLE, **{"device-filter": ["0x23301002"]})),
        "device-filter: 0x23301002 is no id such as",
    ),
    Mistake("an id as a number", file(devices("all", WHOLE, **{"device-filter": 0x233010DE})), "is no id such as"),
    Mistake(
        "no id",
        file(devices("all", WHOLE, **{"device-filter": []})),
        "device-filter: must not be empty.",
    ),
    Mistake("no label value", file(OFF, name="all+me"), "mig-configs.all+me: cannot be the value"),
    Mistake("too long", file(OFF, name="a" * 64), "cannot be the value of a node label."),
    Mistake(
        "two entries for a GPU",
        file(devices([0, 1], WHOLE), devices([1, 2], WHOLE)),
        "mig-configs.one[1]: is for GPUs that entry 0 is for already.",
    ),
    Mistake("all and some", file(OFF, devices([1], WHOLE)), "[1]: is for GPUs that entry 0"),
    Mistake(
        "the same board twice",
        file(
            devices("all", WHOLE, **{"device-filter": ["0x233010DE", "0x233110DE"]}),
            devices("all", WHOLE, **{"device-filter": "0x233110de"}),
        ),
        "[1]: is for GPUs that entry 0",
    ),
    Mistake(
        "a GPU without entry",
        file(devices([0, 2], WHOLE), devices([3], WHOLE)),
        "mig-configs.one: has no entry for GPU 1.",
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_is_named_where_it_stands(mistake: Mistake) -> None:
    """One sentence for each, which says the place; what parses and never comes true is refused as well."""
    (said,) = violations(mistake.file)
    assert mistake.said in said
