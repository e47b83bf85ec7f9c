"""One browser for all tests, from Debian's package; where it cannot be had, the tests are skipped, or fail in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

from tests.browser.chromium import Tab, browser, installed


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A tab of a headless Chromium."""
    if not installed() and shutil.which("apt-get") and os.geteuid() == 0:
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(
                ["apt-get", "-qq", *arguments],
                check=False,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            )
    if not installed():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium")
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core, which judges pages by the rules of accessibility."""
    found = util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("`make test-browser` installs axe-core")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")
