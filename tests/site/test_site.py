"""The map as files: links lead somewhere, nothing leaves the folder, numbers are those of the organization."""

from __future__ import annotations

import copy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from hypothesis import given, settings

from tenancy.backend import WAITING
from tenancy.cli import main
from tenancy.model.organization import Org
from tenancy.model.reach import queue_node
from tenancy.plan import plan
from tenancy.site.pages import site
from tenancy.site.reading import clusters
from tenancy.site.values import ClusterPage, UnitPage
from tests.examples import often
from tests.orgs import changed, organized, scheduled
from tests.strategies import organizations

VOID: Final = {"meta", "link", "input", "rect"}
TREE: Final[dict[str, Any]] = {
    "apiVersion": "tenancy/v1alpha1",
    "kind": "Organization",
    "name": "acme",
    "clusters": {"main": {}},
    "flavors": {
        "h100": {"gpu": "H100-SXM-80GB", "nodes": 4, "node": {"gpus": 8, "cpu": 66, "memory": "516Gi"}, "price": 3}
    },
    "departments": {
        "research": {
            "budget": {"h100": 24},
            "access": {"admins": ["group:leads"]},
            "teams": {
                "vision": {"budget": {"h100": {"reserved": 4, "quota": 8, "limit": 20}}, "projects": {"train": {}}},
                "language": {"budget": {"h100": 12}},
            },
        },
        "product": {"budget": {"h100": 8}, "policy": {"borrowing": "none"}, "teams": {"ads": {"budget": {"h100": 8}}}},
    },
}


class Page(HTMLParser):
    """A page as its links and texts; unbalanced tags fail."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += [] if tag in VOID else [tag]
        for name, value in attrs:
            self.links += [value or ""] if name in ("href", "src") else []
            self.ids += [value or ""] if name == "id" else []

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data.split()


def pages(tree: dict[str, Any]) -> tuple[Org, tuple[ClusterPage, ...]]:
    """An organization and its pages."""
    org = organized(copy.deepcopy(tree))
    return org, clusters(org, plan(org))


def every(page: ClusterPage | UnitPage) -> list[UnitPage]:
    """All units of a page."""
    inside = page.departments if isinstance(page, ClusterPage) else page.children
    return [each for unit in inside for each in (unit, *every(unit))]


def unit(tree: dict[str, Any], title: str) -> UnitPage:
    """The page of one unit."""
    _, (cluster,) = pages(tree)
    return next(each for each in every(cluster) if each.title == title)


@pytest.mark.parametrize("name", ["example", "two-clusters"])
def test_every_link_leads_to_a_page_of_the_site(name: str, tmp_path: Path) -> None:
    """Also below folders; nothing is fetched from elsewhere, and no id stands twice in a page."""
    org = "org" if name == "example" else f"tests/cases/{name}/org"
    target = tmp_path / "site"
    result = CliRunner().invoke(main, ["report", org, "-o", str(target)], standalone_mode=False)
    assert result.return_value == 0, result.stderr
    found = {path.relative_to(target).as_posix(): path for path in target.rglob("*.html")}
    assert len(found) > 5
    for path in found.values():
        page = Page(path.read_text(encoding="utf-8"))
        assert len(set(page.ids)) == len(page.ids)
        for link in page.links:
            file, _, fragment = link.partition("#")
            assert "//" not in file
            assert not file or (path.parent / file).is_file()
            assert not fragment or fragment in page.ids


def test_a_name_is_text_wherever_it_stands() -> None:
    """What people write in displayName, owner or a subject never becomes a tag."""
    nasty = '<script>alert("x")</script>&'
    tree = changed(
        TREE,
        {
            "displayName": nasty,
            "departments.research.displayName": nasty,
            "departments.research.owner": nasty,
            "departments.research.access.admins": [f"group:{nasty}"],
        },
    )
    _, made = pages(tree)
    for path, html in site(nasty, made).items():
        if path.endswith(".html"):
            assert "<script>" not in html
            assert 'alert("' not in html
            Page(html)


def test_the_numbers_of_a_unit_are_its_promises() -> None:
    """In words, and as widths of the most that a sibling may use."""
    (bar,) = unit(TREE, "research/vision").bars
    assert bar.texts == ("4", "8", "20")
    assert [bar.percent(amount) for amount in bar.now] == ["12.5", "25", "62.5"]


def test_lenders_and_borrowers_are_named_with_what_they_may_give_and_take() -> None:
    """Up the tree as far as limits go; who borrows nothing has no lenders, and what is reserved is not lent."""
    vision = unit(TREE, "research/vision")
    (borrows,), (lends,) = vision.borrows, vision.lends
    assert [(each.name, each.amount, each.pool) for each in borrows.loans] == [
        ("research/language", "12", False),
        ("product", "8", False),
        ("research", "4", True),
    ]
    assert [(each.name, each.amount) for each in lends.loans] == [("research/language", "4")]
    assert unit(TREE, "product/ads").borrows == ()
    assert unit(scheduled(TREE, "native"), "research/vision").borrows == ()


def test_people_are_those_of_the_unit_and_of_all_above() -> None:
    """With the unit that says it."""
    assert [(each.level, each.subjects, each.unit) for each in unit(TREE, "research/vision").people] == [
        ("admins", ("group:leads",), "research")
    ]


@settings(max_examples=often(20), deadline=None)
@given(organizations())
def test_whoever_reaches_more_than_its_quota_is_shown_a_lender(tree: dict[str, Any]) -> None:
    """And who is shown none reaches no more: the page tells the same as `explain`."""
    org, made = pages(tree)
    plans = {each.name: each for each in plan(org)}
    nodes = {node.title: node for node in org.units}
    for cluster in made:
        for page in every(cluster):
            node = nodes[page.title]
            if node.inner or queue_node(node) is not node:
                continue
            chosen = plans[cluster.name]
            queue = next(each for each in chosen.queues if each.name == node.queue)
            shown = {(each.flavor, each.measure) for each in page.borrows}
            reach = WAITING[cluster.scheduler].reach
            for flavor in chosen.flavors.values():
                for bar in page.bars:
                    if bar.flavor == flavor.name and len(flavor.mains) == 1:
                        more = reach(chosen, queue, flavor.name, flavor.mains[0]) > bar.now.quota
                        assert ((flavor.name, bar.measure) in shown) is more


def test_a_plan_shows_what_was(tmp_path: Path) -> None:
    """Bars have a mark at the old quota, and a page tells the change; without a change there is no such page."""
    org, target = tmp_path / "org", tmp_path / "site"
    org.mkdir()
    path = org / "org.yaml"
    text = Path("tests/cases/smallest/org/org.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert CliRunner().invoke(main, ["compile", str(org)], standalone_mode=False).return_value == 0
    arguments = ["report", str(org), "-o", str(target), "--against", "out"]
    assert CliRunner().invoke(main, arguments, standalone_mode=False).return_value == 0
    assert not (target / "plan.html").exists()
    assert 'class="before"' not in (target / "index.html").read_text(encoding="utf-8")
    path.write_text(text.replace("budget: {l4: 8}", "budget: {l4: 6}"), encoding="utf-8")
    assert CliRunner().invoke(main, arguments, standalone_mode=False).return_value == 0
    index = Page((target / "index.html").read_text(encoding="utf-8"))
    assert "plan.html" in index.links
    assert "→" in index.words
    assert 'class="before"' in (target / "index.html").read_text(encoding="utf-8")


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    """A file in the way that no earlier site had is an error, and nothing is written."""
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(main, ["report", "org", "-o", str(tmp_path)], standalone_mode=False)
    assert result.return_value == 1
    assert "output-foreign" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
