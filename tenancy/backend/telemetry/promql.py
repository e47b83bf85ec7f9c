"""Expressions of PromQL that several rules share. They are texts, as Prometheus' operator takes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from tenancy.backend.telemetry.names import UNIT
from tenancy.model.hardware import CPU

RECENT: Final = "5m"
"""Several scrapes at the usual interval, and as long as Prometheus looks back for a sample."""
UNHEARD: Final = "10m"
"""Silence that is no alert of its own: a scrape that failed, or a manager that hands over to another."""


class Source(NamedTuple):
    """How the samples of a scheduler are told apart by unit: by a label that they share with a series of ours."""

    label: str
    info: str
    gives: tuple[str, ...]
    """The labels that only the series of ours has."""

    def of_units(self, expression: str, *kept: str) -> str:
        """The samples that belong to units, added up by unit and by the labels `kept`."""
        return _by((*UNIT, *kept), f"{expression} * {self._joined()}")

    def any_of_units(self, expression: str) -> str:
        """1 for each unit with a sample."""
        return _by(UNIT, f"({expression}) * {self._joined()}", "group")

    def _joined(self) -> str:
        return f"on ({self.label}) group_left ({', '.join(self.gives)}) {self.info}"


def record(name: str, expression: str, **labels: str) -> dict[str, Any]:
    """A recording rule."""
    rule: dict[str, Any] = {"record": name, "expr": expression}
    return {**rule, "labels": labels} if labels else rule


def constant(name: str, value: str = "1", **labels: str) -> dict[str, Any]:
    """A recording rule for what the organization says itself."""
    return record(name, f"vector({value})", **labels)


def number(amount: int, resource: str) -> str:
    """Base units as Prometheus counts them: cores, bytes, devices."""
    return f"{amount / 1000:.3f}".rstrip("0").rstrip(".") if resource == CPU else str(amount)


def renamed(expression: str, label: str, new: str) -> str:
    """The samples with one more label, which has the value of another."""
    return f'label_replace({expression}, "{new}", "$1", "{label}", "(.+)")'


def per_second(counter: str) -> str:
    """How fast a counter has grown in the last hour.

    `rate` sees no growth in the first sample of a series, and Kueue makes a series with the first event: where the
    process was watched an hour ago already, or did not run then, all of a new series has happened since.
    """
    return f"{_new(counter, '1h', 3600)} / 3600 or rate({counter}[1h])"


def born(series: str) -> str:
    """The series that were not there a moment ago. After a scrape that failed then, none of them is new."""
    return _new(series, RECENT, 300)


def lately(series: str) -> str:
    """The samples as last heard of. Prometheus forgets a series with the first scrape that fails, and an alert that
    waits for an hour would wait for another one."""
    return f"last_over_time({series}[{UNHEARD}])"


def changed(series: str) -> str:
    """The series with another value than a moment ago."""
    return f"changes({series}[{RECENT}]) > 0"


def one_of(values: Iterable[str]) -> str:
    """A regular expression, in quotes, for exactly these names of Kubernetes."""
    escaped = (value.replace(".", r"\\.") for value in sorted(values))
    return f'"{"|".join(escaped)}"'


def _new(series: str, ago: str, seconds: int) -> str:
    watched = f"process_start_time_seconds offset {ago} or process_start_time_seconds > time() - {seconds}"
    return f"(({series} unless {series} offset {ago}) and on (instance) ({watched}))"


def _by(labels: Iterable[str], expression: str, operation: str = "sum") -> str:
    return f"{operation} by ({', '.join(labels)}) ({expression})"
