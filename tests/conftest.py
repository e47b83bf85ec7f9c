"""Options of the test run."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite the golden files instead of comparing with them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are rewritten in this run."""
    return bool(request.config.getoption("--golden"))
