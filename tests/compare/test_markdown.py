"""The plan as Markdown: one golden file for each kind of edit, and a page that no name can break."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tenancy.compare.balance import Cost
from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.diff import ABSENT, Create, Difference, Update
from tenancy.compare.effects import AccessChange, QuotaChange, UnitChange
from tenancy.compare.procedures import Mark, Procedure
from tenancy.compare.removals import removals
from tenancy.compare.risk import Level, Risk
from tenancy.compare.snapshot import Identity
from tenancy.compare.strengths import StrengthChange
from tenancy.compare.usage import Overrun
from tenancy.compare.views.markdown import LEAST, LIMIT, MARKER, markdown
from tenancy.diagnostics import Diagnostic, Severity
from tenancy.model.organization import Quota
from tenancy.pipeline import examine, generate
from tests.compare.build import GPU, RULE, comparison, effects, finding, named
from tests.examples import often

EDITS = Path(__file__).parent / "edits"
KINDS = sorted(path.name for path in EDITS.iterdir())


def found_of(kind: str, folder: Path) -> tuple[Comparison, tuple[Diagnostic, ...]]:
    """What `tenancy diff` finds in the two organizations of a kind of edit."""
    sides = []
    for name in ("before", "after"):
        (folder / name).mkdir()
        (folder / name / "org.yaml").write_text((EDITS / kind / f"{name}.yaml").read_text())
        found = examine(folder / name)
        assert found.org is not None, found.diagnostics
        sides.append(found.org)
    old, new = sides
    made = compare(generate(old, {}), generate(new, {}), new.flavors, old_flavors=old.flavors)
    return made, removals(made, strict=False)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_edit_reads_as_in_its_golden_file(kind: str, tmp_path: Path, golden: bool) -> None:
    """The page is exactly the reviewed one."""
    page = markdown(*found_of(kind, tmp_path), title="acme")
    path = EDITS / kind / "plan.md"
    if golden:
        path.write_text(page)
    assert page == path.read_text()


TAGS = re.compile(r"<!-- tenancy-plan( [A-Za-z0-9-]+)? -->|</?details>|</?summary>|</?code>|<br>")
"""All the HTML that is ours."""

SETTINGS = settings(max_examples=often(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])

HOSTILE = (
    *("@everyone", "#1", "!1", "GH-1", "deadbeef", "https://a.example", "www.a.example", "ada@a.example", ":tada:"),
    *("|", "`", "```", "<b>", "</details>", "-->", "<!--", "[x](y)", "![](y)", "**", "~~", "$a$", "\\", "&lt;", "# "),
    *("\n", "\r\n", "\t", "\u2028", "\u202e", "\x1b[2J", " ", "- ", "1. ", "> ", "~~~", "@@ ", "(", ")", ".", "/"),
)
NAMES = st.one_of(
    st.lists(st.sampled_from((*HOSTILE, "a", "research")), min_size=1, max_size=12).map("".join),
    st.text(min_size=1, max_size=200),
    st.text(st.characters(categories=["Cc", "Cf", "Zs", "P", "S"]), min_size=1, max_size=80),
)


def blocks(page: str) -> tuple[list[str], list[str]]:
    """The lines outside fences, each fence as one line, and those inside."""
    outside, inside, fence = [], [], ""
    for line in page.split("\n"):
        if fence:
            inside.append(line)
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.rstrip("dif")
            outside.append("(fence)")
        else:
            outside.append(line)
    assert not fence
    return outside, inside


def skeleton(page: str) -> list[str]:
    """What each line is: a heading, a tag, a row with its number of cells."""
    shapes = []
    for line in blocks(page)[0]:
        first = line[:1] if line[:1] in "|-" else line
        shapes.append(f"{first}{line.count('|')}{TAGS.findall(line)}" if first != line else line)
    return shapes


@SETTINGS
@given(NAMES)
@example("`|<b>\n@everyone #1 ```")
def test_no_name_changes_the_shape_of_the_page(name: str) -> None:
    """Headings, lists, tables with their columns, and tags are those of a page with a harmless name."""
    page = markdown(named(name), [finding(name)], title="acme")
    assert skeleton(page) == skeleton(markdown(named("a"), [finding("a")], title="acme"))


@SETTINGS
@given(NAMES, st.sampled_from([("main",), ("main", "edge")]))
@example("@everyone", ("main",))
@example("#1", ("main",))
@example("<script>", ("main",))
@example("deadbeef", ("main",))
@example("gh-1", ("main",))
@example("aGH-1", ("main",))
@example("awww.x", ("main",))
def test_no_name_is_html_or_a_reference(name: str, clusters: tuple[str, ...]) -> None:
    """Outside of code there are no tags but ours, and nothing that pings, links or starts a code span."""
    page = markdown(named(name, clusters=clusters), [finding(name)], title=name)
    lines, _ = blocks(page)
    assert page.isascii() or all(each.isprintable() or each == "\n" for each in page)
    assert TAGS.fullmatch(lines[0])
    for line in lines[1:]:
        plain = re.sub("`[^`]+`", "", TAGS.sub("", line)).lstrip("#")
        assert not set(plain) & set("<`@#$\\[]!~_&^"), line
        assert not re.search(r"://|www\.|\b[0-9a-f]{7,40}\b|gh-\d|:\w+:", plain, re.IGNORECASE), line


@SETTINGS
@given(NAMES, st.integers(1, 12), st.integers(LEAST, 20_000))
@example("a", 300, LIMIT)
@example("`" * 300, 30, LEAST)
def test_the_page_is_never_longer_than_its_limit_and_always_whole(name: str, several: int, limit: int) -> None:
    """However much there is to say: what is left out is named, and no table, fence or tag stays open."""
    comparison = named(name, several=several)
    page = markdown(comparison, [finding(name)], limit=limit, title=name)
    assert len(page) <= limit
    lines, _ = blocks(page)
    assert sum(line.count("<details>") - line.count("</details>") for line in lines) == 0
    titles = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    every = [line[4:] for line in blocks(markdown(comparison, limit=10**9))[0] if line.startswith("### ")]
    assert titles == every[: len(titles)]
    assert all(title in page for title in every)


@pytest.mark.parametrize("limit", [LEAST, 5_000, 12_000])
def test_what_is_left_out_is_named_with_the_command_that_shows_it(limit: int) -> None:
    """Whole sections go from the end, the objects first, and the last line says which."""
    comparison = named("research/vision", several=90)
    whole = markdown(comparison, limit=10**6)
    every = re.findall("^### (.*)$", whole, re.MULTILINE)
    assert "Left out" not in whole
    page = markdown(comparison, limit=limit)
    shown = re.findall("^### (.*)$", page, re.MULTILINE)
    last = page.splitlines()[-1]
    assert last.startswith(f"**Left out, so that this stays below {limit:,} characters**: ")
    assert f": {', '.join(every[len(shown) :])}. `tenancy diff` with the same options shows them" in last
    assert every[-1] == "Objects"


def test_objects_are_cut_whole() -> None:
    """As many as there is room for, and the number of the others."""
    changes = tuple(
        Create(Identity("main", "", "ConfigMap", "a", f"map-{number:04}"), {"data": {}}) for number in range(3000)
    )
    page = markdown(comparison(changes=changes))
    _, inside = blocks(page)
    assert len(page) > LIMIT - 1000
    assert all(re.fullmatch(r"\+ ConfigMap a/map-\d{4}|```", line) for line in inside)
    assert f"and {3000 - (len(inside) - 1):,} more, which `tenancy diff` lists." in page


def test_long_tables_show_their_first_rows_and_collapse_the_rest() -> None:
    """Worst first: ten rows stand open; beyond what the limit allows for, rows are counted."""
    gone = [
        AccessChange(cluster="main", subject=f"group:{number}", level="member", gained=False, namespaces=("a",))
        for number in range(150)
    ]
    created = (Create(Identity("main", "", "Namespace", "", "a"), {}),)
    page = markdown(comparison(effects=effects(access=tuple(gone)), changes=created))
    assert "<details><summary>90 more rows</summary>" in page
    assert "… and 50 more rows, which are not shown here." in page
    assert page.index("`group:9`") < page.index("<details>") < page.index("`group:10`")


def test_equal_sides_change_nothing() -> None:
    """The page says so in its heading, and there is nothing else to read."""
    page = markdown(comparison(), title="acme")
    assert page.splitlines()[:2] == ["<!-- tenancy-plan acme -->", "## ⚪ Plan for acme: no changes"]
    assert "###" not in page
    assert "changes nothing on the clusters" in page


def test_the_first_line_is_the_same_for_one_organization_and_differs_between_two() -> None:
    """A pipeline finds its comment by it, whatever else the page says; no name can end the comment of HTML."""
    first = [markdown(each, title=title).split("\n")[0] for each, title in ((named("a"), "acme"), (named("b"), "acme"))]
    assert first == ["<!-- tenancy-plan acme -->"] * 2
    assert markdown(comparison(), title="--> <b>").startswith(f"{MARKER} b -->\n")
    assert markdown(comparison()).startswith(f"{MARKER} -->\n")


def gained(**amounts: int) -> tuple[QuotaChange, ...]:
    """Changes of GPUs by unit; a dash in a keyword is a slash in the name."""
    return tuple(
        QuotaChange(
            cluster="main",
            unit=unit.replace("_", "/"),
            flavor="h100",
            resource=GPU,
            before=Quota(0, 20, 40),
            after=Quota(0, 20 + gain, 40),
        )
        for unit, gain in amounts.items()
    )


def head(**parts: Any) -> str:
    """The lines before the first section, of a comparison with some change."""
    created = (Create(Identity("main", "", "Namespace", "", "a"), {}),)
    return markdown(comparison(changes=created, **parts)).partition("\n### ")[0]


def test_the_head_names_the_highest_unit_that_gains_or_loses_with_those_below_it() -> None:
    """So that nothing counts twice: a team stands with its department only where both go one way."""
    quotas = gained(research=8, research_vision=10, research_speech=-2, product=-8, product_search=-8)
    page = head(effects=effects(quotas=quotas))
    assert "- **Gains**: research **+8 GPUs** on h100 (vision +10)\n" in page
    assert "- **Loses**: product **-8 GPUs** on h100 (search -8); research/speech **-2 GPUs** on h100\n" in page


def test_a_renamed_unit_neither_gains_nor_loses_in_the_head() -> None:
    """Only what differs between the two names would."""
    common: dict[str, Any] = {"cluster": "main", "state": "active", "inner": False}
    units = (
        UnitChange(**common, unit="lab/a", added=False, partner="lab/b"),
        UnitChange(**common, unit="lab/b", added=True, partner="lab/a"),
    )
    was, now = gained(lab_a=0, lab_b=0)
    quotas = (replace(was, after=None), replace(now, before=None))
    page = head(effects=effects(quotas=quotas, units=units))
    assert "- **Quota**: nobody gains or loses any\n" in page
    assert "lab/a (becomes lab/b?)" in page


def test_a_reserve_alone_is_told_unless_it_only_follows_a_unit_that_goes() -> None:
    """The sum of a department changes with its teams; that is not news of its own."""
    (change,) = gained(research=0)
    lower = replace(change, before=Quota(8, 20, 40), after=Quota(0, 20, 40))
    words = "- **Reserves less, and the rest may be lent**: research **-8 GPUs** on h100\n"
    assert words in head(effects=effects(quotas=(lower,)))
    gone = UnitChange(cluster="main", unit="research/a", added=False, state="active", inner=False)
    assert words not in head(effects=effects(quotas=(lower,), units=(gone,)))


def test_the_cost_of_a_month_stands_in_the_head_where_there_are_prices() -> None:
    """Before, after and the difference of all departments; equal amounts say that they are."""
    cost = Cost(cluster="main", unit="research", before=Fraction(1000), after=Fraction(2500))
    assert "- **Cost per month**: 1,000 → 2,500 (+1,500)" in head(costs=(cost,))
    assert "- **Cost per month**: 1,000, as before" in head(costs=(replace(cost, after=Fraction(1000)),))
    assert "Cost" not in head()


@pytest.mark.parametrize("level", Level)
def test_every_level_of_risk_has_a_colour_and_words(level: Level) -> None:
    """The colour alone would not be read by everybody."""
    heading = head(risk=Risk(level, ("because",))).splitlines()[1]
    assert re.fullmatch(r"## [⚪🟢🟡🟠🔴] Plan: (\w+ risk|destructive)", heading)


def test_findings_stand_first_and_errors_before_warnings() -> None:
    """What stops the merge is read before what the merge does."""
    error = replace(finding("b"), rule=replace(RULE, code="too-many-deletions", severity=Severity.ERROR))
    page = markdown(named("a"), [finding("a"), error])
    assert "- **Findings**: 1 error, 2 warnings\n" in page
    assert page.index("too-many-deletions") < page.index("removed-undrained") < page.index("### Before you merge")


def test_values_are_shown_as_lines_of_yaml_below_their_path() -> None:
    """Lists by name, sets and nested values read as in the file."""
    identity = Identity("main", "", "ConfigMap", "a", "b")
    differences = (
        Difference("spec.flavors[h100].quota", 8, 6),
        Difference("spec.flavors[h100].limit", ABSENT, {"gpus": [1, 2]}),
        Difference("spec.flavors[l4]", {"name": "l4", "quota": 1}, ABSENT),
        Difference("spec.labels[a.b/c]", "x", "y"),
        Difference("spec.list[]", ABSENT, "z"),
        Difference("spec.list (order)", [1, 2], [2, 1]),
        Difference("value", "", True),
    )
    page = markdown(comparison(changes=(Update(identity, {}, {}, differences),)))
    assert blocks(page)[1] == [
        "@@ ConfigMap a/b @@",
        "  spec.flavors[h100]:",
        "-   quota: 8",
        "+   quota: 6",
        "+   limit:",
        "+     gpus:",
        "+       - 1",
        "+       - 2",
        "  spec.flavors:",
        "-   - name: l4",
        "-     quota: 1",
        "  spec.labels:",
        "-   a.b/c: x",
        "+   a.b/c: y",
        "  spec.list:",
        "+   - z",
        "  spec:",
        "-   list (order):",
        "-     - 1",
        "-     - 2",
        "+   list (order):",
        "+     - 2",
        "+     - 1",
        '- value: ""',
        "+ value: true",
        "```",
    ]


def test_no_line_ends_the_fence_that_it_stands_in() -> None:
    """The fence is longer than any row of backticks inside."""
    page = markdown(comparison(drift=("a", "````", "b")))
    assert "\n`````\na\n````\nb\n`````\n" in page


def test_of_two_clusters_each_name_stands_with_its_own() -> None:
    """In the head and in every section."""
    page = markdown(named("a", clusters=("edge", "main")))
    assert "- **Loses**: main: a **-1 GPUs** on a\n" in page
    assert "| main: a | a GPUs | **1 → 0** |" in page
    assert "namespace `a` of a in main" in page
    assert "| `a` | a | `a`, `a` in main |" in page
    assert "| main: a GPUs | 8 |" in page


def test_what_is_special_is_said() -> None:
    """The whole cluster, cpu that follows, namespaces that outlive their unit, steps by hand, nobody's promise."""
    unit = UnitChange(
        cluster="main", unit="a", added=False, state="held", inner=False, partner="b", keeps_namespaces=True
    )
    everywhere = AccessChange(cluster="main", subject="user:x", level="admin", gained=True, namespaces=())
    by_hand = Procedure(mark=Mark.WARNING, subjects=("x",), happens="It waits.", do="Go.", by_hand=True)
    nobody = StrengthChange(cluster="main", unit="", flavor="h100", stronger=True, what="more may fail")
    page = markdown(
        comparison(
            effects=effects(units=(unit,), access=(everywhere,), followers=(("main", "h100", 2),)),
            procedures=(by_hand,),
            strengths=(nobody,),
        )
    )
    assert "- unit **a**: becomes b? (its namespaces stay)" in page
    assert "| `user:x` | admin | the whole cluster |" in page
    assert "- h100: the cpu and memory of 2 units follow other amounts; GPUs stay" in page
    assert "- **Warning, a step by hand**: `x`. It waits.<br>**What to do**: Go." in page
    assert "<details><summary>1 stronger</summary>\n\n- the organization on h100: more may fail\n" in page


@pytest.mark.parametrize("certain", [True, False])
def test_who_uses_too_much_is_told_from_who_only_might(certain: bool) -> None:
    """What is known stands open; what is only possible is collapsed, and not said of units that go."""
    common: dict[str, Any] = {"cluster": "main", "flavor": "h100", "resource": GPU, "used": 9, "quota": 4, "limit": 8}
    gone = UnitChange(cluster="main", unit="b", added=False, state="active", inner=False)
    found = [Overrun(**common, unit=unit, certain=certain) for unit in "ab"]
    page = markdown(comparison(overruns=tuple(found), effects=effects(units=(gone,))))
    assert ("### Over quota after the merge\n\n| Unit" in page) is certain
    assert ("### Could be over quota after the merge\n\n<details>" in page) is not certain
    assert "| a | h100 GPUs | 9 | 4 | 8 |" in page
    assert ("| b | h100 GPUs | 9 | 4 | 8 |" in page) is certain


def test_drift_is_shown_though_nothing_is_to_change() -> None:
    """Somebody has changed the cluster, and the page does not say that all is well."""
    page = markdown(comparison(drift=("Changed:", "  ~ Namespace a")))
    assert "## ⚪ Plan: no changes" in page
    assert "It does not run so everywhere." in page
    assert "<details><summary>2 lines</summary>\n\n```\nChanged:\n  ~ Namespace a\n```" in page
