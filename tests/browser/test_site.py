"""The map in a real browser: on a phone and a desk, in the dark and on paper, by keyboard and for screen readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from tenancy.cli import main
from tests.browser.chromium import Tab
from tools.bench_org import write_org

WIDTHS: Final = {"phone": 360, "tablet": 768, "desk": 1280}
SIZES: Final = {"example": 0, "3": 3, "100": 100, "1000": 1000}
"""Organizations by how many teams they have; the example has seven."""


def made(org: str, target: Path, *options: str) -> Path:
    """The site of an organization."""
    result = CliRunner().invoke(main, ["report", org, "-o", str(target), *options], standalone_mode=False)
    assert result.return_value == 0, result.stderr
    return target


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A site for each size."""
    folder = tmp_path_factory.mktemp("sites")
    found = {}
    for name, teams in SIZES.items():
        if teams:
            write_org(teams, folder / name / "org")
        found[name] = made(str(folder / name / "org") if teams else "org", folder / name / "site")
    return found


def largest(site: Path) -> list[Path]:
    """The pages with most to show: the tree, and the unit with the largest page."""
    units = sorted((site / "units").iterdir(), key=lambda path: path.stat().st_size)
    return [site / "index.html", units[-1]]


def violations(tab: Tab, axe: str) -> list[str]:
    """What axe-core has against the page, with the elements."""
    tab.run(axe + "; true")
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
    found: list[dict[str, Any]] = tab.run(f"axe.run(document, {json.dumps(rules)}).then(it => it.violations)")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(tab: Tab, sites: dict[str, Path], size: str, width: str) -> None:
    """No page scrolls sideways, on a phone neither; only tables may, inside a frame that the keyboard reaches."""
    tab.size(WIDTHS[width], 900)
    tab.media()
    for page in largest(sites[size]):
        tab.open(page)
        assert tab.run("document.scrollingElement.scrollWidth") <= WIDTHS[width]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_keep_the_rules_of_accessibility(
    tab: Tab, axe: str, sites: dict[str, Path], width: str, dark: bool
) -> None:
    """Contrast in the light and in the dark, names of links and fields, order of headings, tables: WCAG 2.1 AA."""
    tab.size(WIDTHS[width], 900)
    tab.media(dark=dark)
    for size in ("example", "3"):
        for page in largest(sites[size]):
            tab.open(page)
            assert violations(tab, axe) == []


def test_a_plan_keeps_them_too(tab: Tab, axe: str, tmp_path: Path) -> None:
    """Its page, and the tree with numbers before and after."""
    write_org(3, tmp_path / "org")
    site = made(str(tmp_path / "org"), tmp_path / "site", "--against", "out", "--out", str(tmp_path / "nothing"))
    for width in WIDTHS.values():
        tab.size(width, 900)
        for dark in (False, True):
            tab.media(dark=dark)
            for page in (site / "plan.html", site / "index.html"):
                tab.open(page)
                assert tab.run("document.scrollingElement.scrollWidth") <= width
                assert violations(tab, axe) == []


def test_dark_is_dark(tab: Tab, sites: dict[str, Path]) -> None:
    """The page follows what the person has chosen for all pages."""
    grounds = []
    for dark in (False, True):
        tab.media(dark=dark)
        tab.open(sites["example"] / "index.html")
        grounds.append(tab.run("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(20, 24, 28)"]


@pytest.mark.parametrize("size", ["example", "1000"])
def test_a_unit_is_found_by_keyboard(tab: Tab, sites: dict[str, Path], size: str) -> None:
    """Tab to the field, type, and only the unit and those around it are left; the count is announced."""
    tab.size(1280, 900)
    tab.media()
    tab.open(sites[size] / "index.html")
    name = tab.run("[...document.querySelectorAll('li.unit')].at(-1).dataset.name.split(' ')[0]")
    for _ in range(4):
        tab.press("Tab")
        if tab.run("document.activeElement.id") == "find":
            break
    assert tab.run("document.activeElement.id") == "find"
    tab.write(name)
    seen = tab.run(
        "[...document.querySelectorAll('li.unit')].filter(it => it.checkVisibility()).map(it => it.dataset.name)"
    )
    assert name in [each.split()[0] for each in seen]
    assert all(name.startswith(each.split()[0]) or name in each for each in seen)
    assert tab.run("document.querySelector('output').textContent").endswith(("match", "matches"))
    tab.run("document.querySelector('#find').value = ''")
    tab.run("document.querySelector('#find').dispatchEvent(new Event('input'))")
    assert tab.run("document.querySelectorAll('li.unit[hidden]').length") == 0


def test_a_department_opens_and_closes_by_keyboard(tab: Tab, sites: dict[str, Path]) -> None:
    """Enter on its line does it: with a thousand teams the tree begins closed."""
    tab.size(1280, 900)
    tab.media()
    tab.open(sites["1000"] / "index.html")
    assert tab.run("document.querySelectorAll('.tree details[open]').length") == 0
    tab.run("document.querySelector('.tree summary').focus()")
    tab.press("Enter", "\r")
    assert tab.run("document.querySelector('.tree details').open") is True


def test_nothing_is_fetched_and_nothing_fails(tab: Tab, sites: dict[str, Path]) -> None:
    """Pages ask for their own files alone, and the script runs without an error."""
    tab.requests.clear()
    for page in largest(sites["example"]):
        tab.open(page)
        tab.run("1")
    assert tab.requests
    assert all(url.startswith(sites["example"].resolve().as_uri()) for url in tab.requests)
    assert tab.errors == []


def test_closed_departments_are_printed_too(tab: Tab, sites: dict[str, Path]) -> None:
    """On paper nobody can open them; colours are printed, and the search field is not."""
    tab.size(1280, 900)
    tab.media()
    tab.open(sites["100"] / "index.html")
    assert tab.run("document.querySelectorAll('.tree details:not([open])').length") > 0
    tab.media(printed=True)
    shown = "[...document.querySelectorAll('li.unit')].every(it => it.getBoundingClientRect().height > 0)"
    assert tab.run(shown) is True
    assert tab.run("getComputedStyle(document.querySelector('.find')).display") == "none"
    assert tab.printed().startswith(b"%PDF")
    tab.media()


@pytest.mark.parametrize("look", [*WIDTHS, "dark"])
def test_pictures_for_people(tab: Tab, sites: dict[str, Path], look: str, tmp_path: Path) -> None:
    """Every look makes a picture that is not of one colour; they lie in the folder of the test for a person to see."""
    tab.size(WIDTHS.get(look, 1280), 900)
    tab.media(dark=look == "dark")
    for page in largest(sites["example"]):
        tab.open(page)
        picture = tmp_path / f"{look}-{page.stem}.png"
        tab.picture(picture)
        assert picture.stat().st_size > 20_000
