"""Where numbers come from: each rule by an organization in which it decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenancy.model.budget_origins import origins
from tenancy.model.organization import Org
from tenancy.model.origins import Origin
from tenancy.model.unit_origins import facts
from tenancy.pipeline import Examined, examine

GPU, CPU, MEMORY = "nvidia.com/gpu", "cpu", "memory"
ORG = """\
apiVersion: tenancy/v1alpha1
kind: Organization
name: acme
clusters: {train: {}}
flavors:
  h100:
    gpu: H100-SXM-80GB
    nodes: 9
    spareNodes: 1
    node: {gpus: 8, cpu: 82, memory: 804Gi}
    daemons: {cpu: 2, memory: 4Gi}
  mig:
    gpu: A100-SXM4-80GB
    nodes: 2
    node: {gpus: 8, cpu: 130, memory: 1004Gi}
    daemons: {memory: 4Gi}
    perGpu: {cpu: 8}
    mig: {3g.40gb: 1, 1g.10gb: 4}
  l4:
    gpu: L4
    nodes: 1
    node: {gpus: 4, cpu: 18, memory: 68Gi}
    sharing: {timeSlicing: 2, acrossDepartments: true}
  two:
    gpu: A100-SXM4-80GB
    nodes: 2
    node: {gpus: 8, cpu: 130, memory: 1004Gi}
    mig: [{gpus: 4, 1g.10gb: 1, 3g.40gb: 1}, {gpus: 4, 1g.10gb: 7}]
  cpu: {nodes: 2, node: {cpu: 34, memory: 132Gi}}
policy: {reclaim: lower-priority}
access: {admins: ["group:platform"], auditors: ["group:audit"]}
departments:
  lab:
    weight: 3
    owner: heads
    budget: {h100: 64, mig: {1g.10gb: 8}, cpu: {cpu: 20, memory: 40Gi}, l4: 4}
    policy: {borrowing: department}
    access: {admins: ["group:heads"]}
    state: held
    teams:
      fixed:
        budget: {h100: {reserved: 4, quota: 24, limit: 32}, cpu: {cpu: 4, memory: 8Gi}}
        policy: {reclaim: never}
        namespace: fixed-ns
        access: {members: ["group:fixed", "user:ann"], serviceAccounts: [ci]}
        expires: 2027-01-31
      kept: {budget: {h100: {reserved: 8}}}
      large: {weight: 7, budget: {h100: share}}
      small: {weight: 3, budget: {h100: {quota: share, limit: {gpus: 30, cpu: 60}}}}
      alone: {policy: {borrowing: none}, budget: {h100: 2, mig: {1g.10gb: 4}}}
      split:
        budget: {h100: {reserved: 2, quota: 10}, l4: 2}
        projects:
          own: {budget: {h100: 6}, expires: 2027-03-31}
          rest: {}
  guests: {policy: {borrowing: organization}, teams: {any: {}}}
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Examined:
    """The organization, read from a file."""
    folder = tmp_path_factory.mktemp("org")
    (folder / "org.yaml").write_text(ORG, encoding="utf-8")
    made = examine(folder)
    assert made.org is not None
    assert [each for each in made.diagnostics if each.severity == "error"] == []
    return made


def origin(found: Examined, unit: str, flavor: str, resource: str, number: str) -> Origin:
    """That of one number of a unit; the organization has no name here."""
    assert found.org is not None
    assert found.sources is not None
    node = next(each for each in (found.org.root, *found.org.units) if each.title == unit)
    return getattr(origins(found.org, found.sources, node, found.org.flavors[flavor], resource), number)  # type: ignore[no-any-return]


def texts(origin: Origin) -> list[str]:
    """What stands at the places of an origin."""
    lines = ORG.splitlines()
    return [lines[place.line - 1][place.column - 1 : place.end_column - 1] for place in origin.places]


@pytest.mark.parametrize(
    ("unit", "number", "rule", "detail", "written"),
    [
        ("", "reserved", "default", "the organization keeps nothing for itself", []),
        ("", "quota", "capacity", "9 nodes, less 1 spare, each 8 GPUs", ["9", "1", "8"]),
        ("lab", "quota", "written", "", ["64"]),
        ("lab", "reserved", "sum", "what the units in it reserve: fixed 4, kept 8, split 2", []),
        ("lab", "limit", "policy", "its own quota, by `borrowing: department`", ["department"]),
        ("lab/fixed", "reserved", "written", "", ["4"]),
        ("lab/fixed", "quota", "written", "", ["24"]),
        ("lab/fixed", "limit", "written", "", ["32"]),
        ("lab/kept", "quota", "reserved", "as much as is reserved", ["8"]),
        ("lab/kept", "limit", "policy", "the quota of lab, by `borrowing: department`", ["department"]),
        (
            "lab/large",
            "quota",
            "share",
            "7 of 10 shares of the 20 that 4 fixed quotas leave of 64",
            ["share", "7"],
        ),
        ("lab/small", "quota", "share", "3 of 10 shares of the 20 that 4 fixed quotas leave of 64", ["share", "3"]),
        ("lab/large", "reserved", "default", "nothing is reserved", []),
        ("lab/alone", "limit", "policy", "its own quota, by `borrowing: none`", ["none"]),
        ("lab/split/own", "quota", "written", "", ["6"]),
        (
            "lab/split/rest",
            "quota",
            "left",
            "what projects with a budget leave of quota 10 of lab/split: own 6",
            ["10"],
        ),
        (
            "lab/split/rest",
            "reserved",
            "left",
            "what projects with a budget leave of reserved 2 of lab/split: they take nothing",
            ["2"],
        ),
        ("lab/split/rest", "limit", "policy", "the quota of lab, by `borrowing: department`", ["department"]),
        ("guests/any", "quota", "default", "no budget says any", []),
        ("guests/any", "limit", "limit-above", "the limit of guests, by `borrowing: organization`", ["organization"]),
        ("guests", "limit", "limit-above", "the limit of acme, by `borrowing: organization`", ["organization"]),
    ],
)
def test_whole_gpus(found: Examined, unit: str, number: str, rule: str, detail: str, written: list[str]) -> None:
    """What budgets count is written, or comes by the rule that is named, with what was given to it."""
    made = origin(found, unit, "h100", GPU, number)
    assert (made.rule, made.detail, texts(made)) == (rule, detail, written)


@pytest.mark.parametrize(
    ("unit", "flavor", "resource", "number", "rule", "detail", "written"),
    [
        ("", "h100", CPU, "quota", "capacity", "9 nodes, less 1 spare, each 82 cores less 2 cores of DaemonSets", 4),
        ("", "mig", "nvidia.com/mig-1g.10gb", "quota", "capacity", "2 nodes, each 8 GPUs, each 4 slices", 3),
        (
            "", "two", "nvidia.com/mig-1g.10gb", "quota", "capacity",
            "2 nodes, each 4 GPUs, each 1 slice + 2 nodes, each 4 GPUs, each 7 slices", 4,
        ),
        ("", "l4", "nvidia.com/gpu.shared", "quota", "capacity", "1 node, each 4 GPUs, each 2 shares", 3),
        ("", "cpu", CPU, "limit", "capacity", "2 nodes, each 34 cores less 2 cores of DaemonSets", 2),
        (
            "lab/fixed", "h100", CPU, "quota", "follows",
            "24 nvidia.com/gpu of 10 cores; (82 cores less 2 cores of DaemonSets) ÷ 8 GPUs", 3,
        ),
        (
            "lab/fixed", "h100", MEMORY, "reserved", "follows",
            "4 nvidia.com/gpu of 100 GiB; (804 GiB less 4 GiB of DaemonSets) ÷ 8 GPUs", 3,
        ),
        (
            "lab/alone", "mig", CPU, "quota", "follows",
            "4 nvidia.com/mig-1g.10gb of 1 core; 8 cores a GPU, a slice by its share of the memory", 1,
        ),
        (
            "lab/split", "l4", CPU, "quota", "follows",
            "2 nvidia.com/gpu.shared of 2 cores; (18 cores less 2 cores of DaemonSets) ÷ 4 GPUs, ÷ 2 shares", 2,
        ),
        ("lab/small", "h100", CPU, "limit", "written", "", 1),
        ("lab/fixed", "cpu", MEMORY, "quota", "written", "", 1),
    ],
)  # fmt: skip
def test_cpu_and_memory(
    found: Examined, unit: str, flavor: str, resource: str, number: str, rule: str, detail: str, written: int
) -> None:
    """They follow GPUs, slices and shares, by a node less its DaemonSets or by `perGpu`, and say how."""
    made = origin(found, unit, flavor, resource, number)
    assert (made.rule, made.detail, len(made.places)) == (rule, detail, written)


def test_what_follows_a_share_is_cut_at_a_limit(tmp_path: Path) -> None:
    """cpu that would follow the GPUs of a share goes no further than a limit that is written."""
    text = ORG.replace("limit: {gpus: 30, cpu: 60}", "limit: {gpus: 30, cpu: 50}")
    (tmp_path / "org.yaml").write_text(text, encoding="utf-8")
    made = origin(examine(tmp_path), "lab/small", "h100", CPU, "quota")
    assert (made.rule, made.detail) == ("cut", "cut at its limit: 60 cores would follow its GPUs")


def test_a_share_that_its_limit_holds_back_says_so(tmp_path: Path) -> None:
    """The others then get the rest."""
    (tmp_path / "org.yaml").write_text(ORG.replace("gpus: 30, cpu: 60", "gpus: 5, cpu: 60"), encoding="utf-8")
    made = origin(examine(tmp_path), "lab/small", "h100", GPU, "quota")
    assert made.rule == "share"
    assert made.detail.endswith("of 64, no more than its limit")
    assert len(made.places) == 3


@pytest.mark.parametrize(
    ("unit", "name", "value", "rule", "detail", "written"),
    [
        ("lab", "weight", "3", "written", "", ["3"]),
        ("lab/fixed", "weight", "1", "default", "equal among its siblings", []),
        ("lab/fixed", "state", "held", "written", "said by lab", ["held"]),
        ("guests", "state", "active", "default", "no unit says any", []),
        ("lab/fixed", "reclaim", "never", "written", "", ["never"]),
        ("lab/kept", "reclaim", "lower-priority", "written", "said by the organization", ["lower-priority"]),
        ("lab/kept", "borrowing", "department", "written", "said by lab", ["department"]),
        ("lab/kept", "queueing", "best-effort", "default", "no policy says any", []),
        ("lab/split/own", "expires", "2027-03-31", "written", "", ["2027-03-31"]),
        ("lab/fixed", "owner", "heads", "written", "said by lab", ["heads"]),
        ("lab/fixed", "namespace", "fixed-ns", "written", "", ["fixed-ns"]),
        ("lab/kept", "namespace", "lab-kept", "name", "the path lab/kept, joined by -", []),
        ("lab/fixed", "service account", "ci", "written", "", ["ci"]),
        ("lab/fixed", "admin", "group:heads", "written", "said by lab", ['"group:heads"']),
        ("", "auditor", "group:audit", "written", "", ['"group:audit"']),
    ],
)
def test_what_holds_beside_numbers(
    found: Examined, unit: str, name: str, value: str, rule: str, detail: str, written: list[str]
) -> None:
    """Weight, state, policy, dates, namespaces and people: said here, by a unit above, or by nobody."""
    assert found.org is not None
    assert found.sources is not None
    node = next(each for each in (found.org.root, *found.org.units) if each.title == unit)
    fact = next(each for each in facts(found.org, found.sources, node) if each.name == name)
    assert (fact.value, fact.origin.rule, fact.origin.detail) == (value, rule, detail)
    assert texts(fact.origin) == written


def test_every_subject_has_its_place(found: Examined) -> None:
    """People are told one by one, each where its name stands."""
    assert found.org is not None
    assert found.sources is not None
    node = next(each for each in found.org.units if each.title == "lab/fixed")
    members = [fact for fact in facts(found.org, found.sources, node) if fact.name == "member"]
    assert [(fact.value, texts(fact.origin)) for fact in members] == [
        ("group:fixed", ['"group:fixed"']),
        ("user:ann", ['"user:ann"']),
    ]


def test_the_earliest_date_counts(tmp_path: Path) -> None:
    """A unit inside one that ends earlier ends with it."""
    (tmp_path / "org.yaml").write_text(ORG.replace("state: held", "expires: 2026-12-31"), encoding="utf-8")
    made = examine(tmp_path)
    assert made.sources is not None
    org = made.org
    assert isinstance(org, Org)
    node = next(each for each in org.units if each.title == "lab/split/own")
    (fact,) = [fact for fact in facts(org, made.sources, node) if fact.name == "expires"]
    assert (fact.value, fact.origin.detail) == ("2026-12-31", "said by lab")
