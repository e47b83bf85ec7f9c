"""A scheduler of Volcano with its configuration: what the rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """An entry of a tier."""

    name: str
    tier: int
    path: str
    switches: Mapping[str, bool]
    arguments: Mapping[str, Any]

    def on(self, switch: str) -> bool:
        """Whether a switch is on; only enableHierarchy is off where nothing is said (plugins/defaults.go)."""
        return self.switches.get(switch, switch != "enableHierarchy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """A configuration that can be read: its actions and plugins in their order."""

    minor: str
    actions: tuple[str, ...]
    plugins: tuple[Plugin, ...]

    def plugin(self, name: str) -> Plugin | None:
        """The entry of a plugin; None where it is not there."""
        return next((plugin for plugin in self.plugins if plugin.name == name), None)
