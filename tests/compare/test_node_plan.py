"""The plan of changes to how GPUs are divided, shared and tolerated. `--golden` rewrites the files of `node_plans/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenancy.compare.comparison import Comparison, compare
from tenancy.compare.procedures import Mark
from tenancy.compare.views.objects import object_lines
from tenancy.compare.views.text import text
from tenancy.pipeline import Options, examine, generate

PLANS = Path(__file__).parent / "node_plans"

ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {main: {}}
flavors:
  a100: {gpu: A100-SXM4-80GB, nodes: 2, node: {gpus: 8, cpu: 130, memory: 1028Gi},
         mig: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}
  h100: {gpu: H100-SXM-80GB, nodes: 2, node: {gpus: 8, cpu: 130, memory: 1028Gi}}
  l4: {gpu: L4, nodes: 4, node: {gpus: 1, cpu: 18, memory: 68Gi}, sharing: {timeSlicing: 4, acrossDepartments: true}}
departments:
  research:
    budget: {a100: {3g.40gb: 8, 1g.10gb: 16}, h100: 8, l4: 8}
    teams:
      vision: {budget: {a100: {3g.40gb: 8}, h100: 8}}
      speech: {budget: {a100: {1g.10gb: 16}, l4: 8}}
"""

LAYOUT = "mig: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}"
SPLIT = [
    (LAYOUT, "mig: [{nodes: 2, 3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}, {nodes: 1, 1g.10gb: 7}]"),
    ("A100-SXM4-80GB, nodes: 2", "A100-SXM4-80GB, nodes: 3"),
]
"""Three nodes with two layouts."""

EDITS = {
    "layout-changed": [
        (LAYOUT, "mig: {2g.20gb: 2, 1g.10gb: 3}"),
        ("{3g.40gb: 8, 1g.10gb: 16}", "{2g.20gb: 8, 1g.10gb: 16}"),
        ("{a100: {3g.40gb: 8}", "{a100: {2g.20gb: 8}"),
    ],
    "layout-removed": [
        (f",\n         {LAYOUT}", ""),
        ("{3g.40gb: 8, 1g.10gb: 16}", "8"),
        ("{a100: {3g.40gb: 8}", "{a100: 8"),
        ("{a100: {1g.10gb: 16}, l4: 8}", "{l4: 8}"),
    ],
    "layout-added": [
        ("h100: {gpu: H100-SXM-80GB, nodes: 2, node: {gpus: 8, cpu: 130, memory: 1028Gi}", "&, mig: {1g.10gb: 7}"),
        ("h100: 8, l4", "h100: {1g.10gb: 56}, l4"),
        ("{3g.40gb: 8}, h100: 8}", "{3g.40gb: 8}, h100: {1g.10gb: 56}}"),
    ],
    "layout-by-gpus": [(LAYOUT, "mig: [{gpus: 1}, {gpus: 7, 3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}]")],
    "layout-by-nodes": [(LAYOUT, "mig: [{nodes: 1, 3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}, {nodes: 1, 1g.10gb: 7}]")],
    "shares-changed": [("timeSlicing: 4", "timeSlicing: 8")],
    "shares-removed": [(", sharing: {timeSlicing: 4, acrossDepartments: true}", ""), ("l4: 8", "l4: 4")],
    "taint-added": [
        ("{gpu: H100-SXM-80GB, ", "{gpu: H100-SXM-80GB, taint: acme.example/reserved=research:NoSchedule, ")
    ],
    "strategy-changed": [
        ("clusters: {main: {}}", "clusters: {main: {gpuOperator: {migStrategy: single}}}"),
        (LAYOUT, "mig: {1g.10gb: 7}"),
        ("{3g.40gb: 8, 1g.10gb: 16}", "{1g.10gb: 24}"),
        ("{a100: {3g.40gb: 8}", "{a100: {1g.10gb: 8}"),
    ],
}


def edited(name: str) -> str:
    page = ORG
    for old, new in EDITS[name]:
        assert old in page, old
        page = page.replace(old, new.replace("&", old))
    return page


def compared(folder: Path, old: str, new: str, scheduler: str = "") -> Comparison:
    """The comparison of two organizations, whatever a scheduler loses of them."""
    sides = []
    for index, page in enumerate((old, new)):
        (folder / f"{index}").mkdir(exist_ok=True)
        (folder / f"{index}" / "org.yaml").write_text(page)
        org = examine(folder / f"{index}", Options(scheduler=scheduler)).org
        assert org is not None
        sides.append(org)
    was, now = sides
    return compare(generate(was, {}), generate(now, {}), now.flavors)


def said(comparison: Comparison) -> list[tuple[Mark, tuple[str, ...]]]:
    return [(each.mark, each.subjects) for each in comparison.procedures]


@pytest.mark.parametrize("name", EDITS)
def test_each_kind_of_edit_reads_as_in_its_golden_file(name: str, tmp_path: Path, golden: bool) -> None:
    """The text of the plan is exactly the reviewed one."""
    page = text(compared(tmp_path, ORG, edited(name)), objects=False)
    if golden:
        (PLANS / f"{name}.txt").write_text(page)
    assert page == (PLANS / f"{name}.txt").read_text()


def test_there_is_a_golden_file_for_each_edit_and_no_other() -> None:
    """No golden file outlives its edit."""
    assert {path.stem for path in PLANS.iterdir()} == EDITS.keys()


def changed(page: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert old in page, old
        page = page.replace(old, new)
    return page


def test_nodes_that_move_between_the_layouts_of_a_flavor_are_a_maintenance_window(tmp_path: Path) -> None:
    """The file stays as it is, and yet a node gets another label."""
    old = changed(ORG, *SPLIT)
    new = changed(old, ("[{nodes: 2,", "[{nodes: 1,"), ("{nodes: 1, 1g.10gb: 7}", "{nodes: 2, 1g.10gb: 7}"))
    (only,) = (each for each in compared(tmp_path, old, new).procedures if each.mark is Mark.MAINTENANCE)
    assert only.subjects == ("a100",)
    assert "to {1g.10gb: 2, 2g.20gb: 1, 3g.40gb: 1} on 2 → 1 nodes, {1g.10gb: 7} on 1 → 2 nodes." in only.happens
    assert "3g.40gb 16 → 8 (fewer)" in only.happens


def test_another_strategy_renames_slices_without_another_layout(tmp_path: Path) -> None:
    """The file of layouts stays as it is, and yet no job finds the slices that it asks for."""
    old = changed(ORG, (LAYOUT, "mig: {1g.10gb: 7}"), ("3g.40gb: 8, 1g.10gb: 16", "1g.10gb: 24"))
    old = changed(old, ("{a100: {3g.40gb: 8}", "{a100: {1g.10gb: 8}"))
    new = changed(old, ("clusters: {main: {}}", "clusters: {main: {gpuOperator: {migStrategy: single}}}"))
    (only,) = (each for each in compared(tmp_path, old, new).procedures if each.mark is Mark.MAINTENANCE)
    assert only.subjects == ("a100",)
    assert "from mixed to single" in only.happens


def test_more_nodes_of_one_layout_disturb_none_that_are_there(tmp_path: Path) -> None:
    """A node that comes has no work on it."""
    old = changed(ORG, *SPLIT)
    new = changed(old, ("{nodes: 1, 1g.10gb: 7}", "{nodes: 3, 1g.10gb: 7}"), ("80GB, nodes: 3", "80GB, nodes: 5"))
    assert Mark.MAINTENANCE not in {mark for mark, _ in said(compared(tmp_path, old, new))}


def without_a100() -> str:
    return changed(
        ORG,
        (ORG[ORG.index("  a100:") : ORG.index("  h100:")], ""),
        ("a100: {3g.40gb: 8, 1g.10gb: 16}, ", ""),
        ("a100: {3g.40gb: 8}, ", ""),
        ("a100: {1g.10gb: 16}, ", ""),
    )


def test_a_new_flavor_with_a_layout_disturbs_nobody(tmp_path: Path) -> None:
    """Its nodes have no work yet; the operator must be told where the file is."""
    marks = said(compared(tmp_path, without_a100(), ORG))
    assert (Mark.RESTART, ("platform/gpu-operator-values.yaml",)) in marks
    assert Mark.MAINTENANCE not in {mark for mark, _ in marks}


def test_a_flavor_that_goes_needs_no_new_layout(tmp_path: Path) -> None:
    """Of what runs on a removed flavor the plan warns already."""
    marks = said(compared(tmp_path, ORG, without_a100()))
    assert Mark.MAINTENANCE not in {mark for mark, _ in marks}
    assert (Mark.WARNING, ("ResourceFlavor a100",)) in marks


def test_the_first_compile_needs_no_upgrade(tmp_path: Path) -> None:
    """Whoever sets up a cluster installs the charts anyway."""
    (tmp_path / "org.yaml").write_text(ORG)
    org = examine(tmp_path).org
    assert org is not None
    assert compare({}, generate(org, {}), org.flavors).procedures == ()


@pytest.mark.parametrize(("scheduler", "drains"), [("kueue", True), ("volcano", False), ("native", False)])
def test_only_where_draining_ends_work_it_empties_the_nodes(scheduler: str, drains: bool, tmp_path: Path) -> None:
    """Under the other schedulers `state: draining` ends nothing, so that nodes are drained by hand."""
    found = compared(tmp_path, ORG, edited("layout-changed"), scheduler)
    (only,) = (each for each in found.procedures if each.mark is Mark.MAINTENANCE)
    assert ("state: draining" in only.do) is drains
    assert "cordon and drain" in only.do
    assert "research/vision" in only.happens


def test_of_two_clusters_each_window_names_its_own(tmp_path: Path) -> None:
    """A layout is changed in one cluster, and the other one has nothing to do."""
    two = ORG.replace("clusters: {main: {}}", "clusters: {main: {}, edge: {}}")
    two = two.replace("a100: {gpu", "a100: {cluster: main, gpu").replace("h100: {gpu", "h100: {cluster: edge, gpu")
    two = two.replace("l4: {gpu", "l4: {cluster: edge, gpu")
    new = changed(two, *EDITS["layout-changed"])
    marks = said(compared(tmp_path, two, new))
    assert [subjects for mark, subjects in marks if mark is Mark.MAINTENANCE] == [("main: a100",)]


def test_karpenter_replaces_nodes_by_itself(tmp_path: Path) -> None:
    """Its nodes have their label from the start, so that nobody sets one."""
    old = ORG.replace(f"{LAYOUT}}}", f"{LAYOUT}, autoscaling: karpenter}}")
    (only,) = (
        each
        for each in compared(tmp_path, old, changed(old, *EDITS["layout-changed"])).procedures
        if each.mark is Mark.MAINTENANCE
    )
    assert "Karpenter replaces nodes" in only.happens
    assert "tenancy nodes" not in only.do


def test_the_files_of_the_tools_are_compared_key_by_key(tmp_path: Path) -> None:
    """What changes in them is a configuration, not a text of forty lines."""
    lines = object_lines(compared(tmp_path, ORG, edited("shares-changed")))
    start = lines.index("  ~ ConfigMap gpu-operator/tenancy-device-plugin") + 1
    assert [line.split(":")[0].rpartition("-")[0] for line in lines[start : start + 2]] == ["      data.l4"] * 2
    assert [line.split(": ")[1][0] for line in lines[start : start + 2]] == ["-", "+"]
