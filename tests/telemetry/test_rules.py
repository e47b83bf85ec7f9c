"""The rules as Prometheus takes them, and what comes of series that are made for them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import promql_parser
import pytest

from tests.telemetry import kueue_cases, other_cases, promtool
from tests.telemetry.scenes import Case, names, planned, rules, written

SCHEDULERS: Final = ("kueue", "volcano", "native")
CASES: Final[tuple[Case, ...]] = (*kueue_cases.CASES, *other_cases.CASES)


@pytest.fixture(scope="module")
def program() -> str:
    """Promtool, where it can be had."""
    return promtool.needed()


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_promtool_takes_every_rule(scheduler: str, program: str, tmp_path: Path) -> None:
    """Each file of rules passes `promtool check rules`."""
    assert promtool.check(program, written(planned(scheduler), tmp_path)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_rules_say_what_they_should(scheduler: str, program: str, tmp_path: Path) -> None:
    """Of made series exactly the expected ones are recorded, and exactly the expected alerts fire."""
    tests = [case.test() for case in CASES if case.scheduler == scheduler]
    assert promtool.run(program, written(planned(scheduler), tmp_path), tests, tmp_path) == ""


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_recording_rule_has_a_case(scheduler: str) -> None:
    """Whatever is recorded is looked at in a case, with a value."""
    tried = {
        name
        for case in CASES
        if case.scheduler == scheduler
        for expression, values in case.recorded.items()
        if values
        for name in re.findall(r"tenancy:[a-z0-9_:]+", expression)
    }
    assert names(rules(planned(scheduler)), "record") - tried == set()


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not(scheduler: str) -> None:
    """No alert fires for ever or never."""
    cases = [case for case in CASES if case.scheduler == scheduler]
    every = names(rules(planned(scheduler)), "alert")
    assert every - {name for case in cases for name in case.fires} == set()
    assert every - {name for case in cases for name in case.silent} == set()


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_second_parser_takes_every_expression(scheduler: str) -> None:
    """Promql-parser, which is not Prometheus' own, reads each expression too."""
    for rule in rules(planned(scheduler)):
        promql_parser.parse(rule["expr"])


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_alert_says_where_it_goes_and_what_to_do(scheduler: str) -> None:
    """Severity, summary, a description with a number, and the section of the documentation."""
    for rule in (each for each in rules(planned(scheduler)) if "alert" in each):
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"]["summary"]
        assert re.search(r"\$value|\d+m", rule["annotations"]["description"])
        assert rule["annotations"]["runbook"] == f"docs/telemetry.md#{rule['alert'].lower()}"
