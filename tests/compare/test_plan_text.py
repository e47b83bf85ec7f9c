"""The plan as text: one golden file for each kind of edit of a small organization. `--golden` rewrites them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tenancy.cli import main, run
from tenancy.compare.amounts import few
from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.views.text import text
from tenancy.pipeline import examine, generate

PLANS = Path(__file__).parent / "plans"

ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
flavors:
  cpu: {nodes: 4, node: {cpu: 66, memory: 260Gi}, price: 2}
  h100: {gpu: H100-SXM-80GB, nodes: 5, spareNodes: 1, node: {gpus: 8, cpu: 130, memory: 1028Gi}, price: 3}
clusters: {main: {}}
priorities: {high: 100}
departments:
  research:
    budget: {h100: 24, cpu: {cpu: 100, memory: 400Gi}}
    teams:
      vision:
        budget: {h100: {reserved: 4, quota: 8}, cpu: {cpu: 40, memory: 100Gi}}
        access: {members: ["group:vision"]}
      language:
        budget: {h100: {quota: 12, limit: 20}}
        access: {members: ["group:language"]}
  product:
    budget: {h100: 8}
    teams:
      search:
        budget: {h100: 8}
"""

EDITS = {
    "budget-moved": [("{reserved: 4, quota: 8}", "{reserved: 4, quota: 6}"), ("{quota: 12", "{quota: 14")],
    "department-grown": [
        ("budget: {h100: 8}\n    teams", "budget: {h100: 8, cpu: {cpu: 64, memory: 256Gi}}\n    teams")
    ],
    "team-added": [
        ("      search:\n", '      ads: {access: {admins: ["user:ada"]}, budget: {h100: {limit: 4}}}\n      search:\n')
    ],
    "team-removed": [
        ("      language:\n        budget: {h100: {quota: 12, limit: 20}}\n", ""),
        ('        access: {members: ["group:language"]}\n', ""),
    ],
    "team-renamed": [("      language:\n", "      speech:\n")],
    "limit-lowered": [("limit: 20", "limit: 16")],
    "access-changed": [('members: ["group:vision"]', 'viewers: ["group:vision", "user:eve"]')],
    "state-held": [("      search:\n", "      search:\n        state: held\n")],
    "flavor-labels": [("price: 3}", "price: 3, labels: {pool: h100}}")],
    "priority-changed": [("{high: 100}", "{high: 200}")],
    "policy-changed": [("departments:\n", "policy: {reclaim: lower-priority, gang: {retries: 3}}\ndepartments:\n")],
    "nothing": [],
}


def edited(name: str) -> str:
    page = ORG
    for old, new in EDITS[name]:
        assert page.count(old) == 1, old
        page = page.replace(old, new)
    return page


def written(folder: Path, page: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "org.yaml").write_text(page)
    return folder


def compared(folder: Path, old: str, new: str) -> Comparison:
    """The comparison of two organizations."""
    was, now = (examine(written(folder / f"org{index}", page)).org for index, page in enumerate((old, new)))
    assert was is not None
    assert now is not None
    return compare(generate(was, {}), generate(now, {}), now.flavors)


@pytest.mark.parametrize("name", EDITS)
def test_each_kind_of_edit_reads_as_in_its_golden_file(name: str, tmp_path: Path, golden: bool) -> None:
    """The text of the plan is exactly the reviewed one."""
    page = text(compared(tmp_path, ORG, edited(name)))
    if golden:
        (PLANS / f"{name}.txt").write_text(page)
    assert page == (PLANS / f"{name}.txt").read_text()


def test_there_is_a_golden_file_for_each_edit_and_no_other() -> None:
    """No golden file outlives its edit."""
    assert {path.stem for path in PLANS.iterdir()} == EDITS.keys()


def test_the_way_back_gives_what_the_way_there_takes(tmp_path: Path) -> None:
    """Comparing in the other direction turns every creation into a deletion and every gain into a loss."""
    there, back = (compared(tmp_path, *pages) for pages in ((ORG, edited("team-added")), (edited("team-added"), ORG)))
    assert sorted(change.gain for change in there.effects.quotas) == sorted(
        -change.gain for change in back.effects.quotas
    )
    names = [sorted(type(change).__name__ for change in each.changes) for each in (there, back)]
    assert [name.replace("Create", "Delete") for name in names[0]] == names[1]
    assert {change.added for change in there.effects.units} == {True}
    assert {change.added for change in back.effects.units} == {False}


def test_of_two_clusters_each_line_names_its_own(tmp_path: Path) -> None:
    """A unit in both clusters has a cost in each."""
    page = ORG.replace("clusters: {main: {}}", "clusters: {main: {}, edge: {}}").replace(
        "cpu: {", "cpu: {cluster: main, ", 1
    )
    page = page.replace("h100: {gpu", "h100: {cluster: edge, gpu")
    shown = text(compared(tmp_path, page, page.replace("{h100: 24, cpu: {cpu: 100,", "{h100: 25, cpu: {cpu: 110,")))
    assert "\n    edge: research  " in shown
    assert "\n    main: research  " in shown


def test_colour_is_added_around_lines_and_changes_no_text(tmp_path: Path) -> None:
    """Without its escape sequences the coloured plan is the plain one."""
    comparison = compared(tmp_path, ORG, edited("team-removed"))
    coloured = text(comparison, colour=True)
    assert "\x1b[31m  - " in coloured
    assert "\x1b" not in text(comparison)
    for code in ("\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == text(comparison)


def test_nothing_from_outside_drives_the_terminal(tmp_path: Path) -> None:
    """A control character of a name is shown as an escape, so that it can neither hide nor forge a line."""
    org = edited("access-changed").replace("user:eve", "user:e\\u202eve")
    page = text(compared(tmp_path, ORG, org), colour=True)
    assert "\u202e" not in page
    assert "e\\u202eve" in page


def test_long_lists_of_names_are_cut_where_cutting_saves_something() -> None:
    """One name more than the line takes is shown, since counting it would be no shorter."""
    assert few(["a", "b", "c", "d"]) == "a, b, c, d"
    assert few(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["diff", *arguments], standalone_mode=False)
    assert result.exception is None, result.exception
    return int(result.return_value), result.stdout


def test_the_command_compares_with_what_compile_wrote(tmp_path: Path) -> None:
    """First everything is created, after `compile` nothing changes, and an edit shows until it is compiled."""
    org, out = str(written(tmp_path / "org", ORG)), str(tmp_path / "out")
    status, page = invoke(org, "-o", out, "--exit-code", "--no-objects")
    assert status == 1
    assert page.startswith("First compile")
    assert run(["compile", org, "-o", out]) == 0
    assert invoke(org, "-o", out, "--exit-code") == (0, "no changes\n")
    written(tmp_path / "org", edited("budget-moved"))
    status, page = invoke(org, "-o", out)
    assert status == 0
    assert page == (PLANS / "budget-moved.txt").read_text()


def test_a_file_edited_by_hand_is_refused_as_compile_refuses_it(tmp_path: Path) -> None:
    """A plan that compile would not carry out is not shown."""
    org, out = str(written(tmp_path / "org", ORG)), tmp_path / "out"
    assert run(["compile", org, "-o", str(out)]) == 0
    (out / "main/queues/organization/cohort.yaml").write_text("kind: Mine\n")
    assert invoke(org, "-o", str(out)) == (1, "")
