"""`set`, `transfer` and `rename` as a user meets them: what is written, what is said, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenancy.cli import run
from tenancy.pipeline import Options, examine
from tests.edit.organizations import FILES

Capture = pytest.CaptureFixture[str]
ROOT, RESEARCH, ROBOTS = "org/org.yaml", "org/departments/research.yaml", "org/departments/robots.yaml"


def _texts() -> dict[str, str]:
    return {name: Path(name).read_bytes().decode() for name in FILES}


def _expected(*changes: tuple[str, str, str]) -> dict[str, str]:
    """The files with the first occurrence of a text replaced, for each change of (file, old, new)."""
    texts = dict(FILES)
    for name, old, new in changes:
        assert old in texts[name]
        texts[name] = texts[name].replace(old, new, 1)
    return texts


SETS: dict[str, tuple[list[str], tuple[tuple[str, str, str], ...]]] = {
    "a bare number stays bare": (["research/vision", "budget.h100.quota=10"], ((RESEARCH, "h100: 12", "h100: 10"),)),
    "a bare number is named by its flavor": (
        ["research/vision", "budget.h100=10"],
        ((RESEARCH, "h100: 12", "h100: 10"),),
    ),
    "a second number makes a triple": (
        ["research/vision", "budget.h100.limit=16"],
        ((RESEARCH, "h100: 12", "h100: {quota: 12, limit: 16}"),),
    ),
    "a reserve goes first": (
        ["research/vision", "budget.h100.reserved=4"],
        ((RESEARCH, "h100: 12", "h100: {reserved: 4, quota: 12}"),),
    ),
    "a bare number is the quota of a triple": (
        ["product/search", "budget.h100=7"],
        ((ROOT, "quota: 6, limit: 10", "quota: 7, limit: 10"),),
    ),
    "slices by their name, dots and all": (
        ["product/search", "budget.mig.1g.10gb=6"],
        ((ROOT, "mig: {1g.10gb: 8}\n                access", "mig: {1g.10gb: 6}\n                access"),),
    ),
    "a limit of slices": (
        ["product/search", "budget.mig.limit.1g.10gb=12"],
        (
            (
                ROOT,
                "mig: {1g.10gb: 8}\n                access",
                "mig: {quota: {1g.10gb: 8}, limit: {1g.10gb: 12}}\n                access",
            ),
        ),
    ),
    "cpu of its own beside GPUs": (
        ["research/vision", "budget.h100.cpu=200"],
        ((RESEARCH, "h100: 12", "h100: {gpus: 12, cpu: 200}"),),
    ),
    "without its limit": (
        ["product/search", "budget.h100.limit-"],
        ((ROOT, "{reserved: 2, quota: 6, limit: 10}", "{reserved: 2, quota: 6}"),),
    ),
    "as an option": (
        ["product/search", "--unset", "budget.h100.limit"],
        ((ROOT, "{reserved: 2, quota: 6, limit: 10}", "{reserved: 2, quota: 6}"),),
    ),
    "several keys": (
        ["research/vision", "weight=30", "policy.reclaim=lower-priority", "state=draining"],
        (
            (RESEARCH, "        # asked", "        weight: 30\n        # asked"),
            (RESEARCH, "          h100: 12\n", "          h100: 12\n        policy: {reclaim: lower-priority}\n"),
            (RESEARCH, "serviceAccounts: [ci]}\n", "serviceAccounts: [ci]}\n        state: draining\n"),
        ),
    ),
    "a list in lines gets a line": (
        ["product/search", "access.members+=group:ads"],
        (
            (
                ROOT,
                '"serviceaccount:research-vision/ci"\n',
                '"serviceaccount:research-vision/ci"\n                    - "group:ads"\n',
            ),
        ),
    ),
    "and loses one": (
        ["product/search", "access.members-=group:search"],
        ((ROOT, '                    - "group:search"\n', ""),),
    ),
    "a list in brackets keeps its quotes": (
        ["research/vision", "access.members+=group:x"],
        ((RESEARCH, '["group:vision"]', '["group:vision", "group:x"]'),),
    ),
    "a new list": (
        ["research/vision", "access.viewers+=[group:a, user:b]"],
        ((RESEARCH, '["group:vision"], ', '["group:vision"], viewers: ["group:a", "user:b"], '),),
    ),
    "a version is text": (
        ["clusters/train", "versions.kubernetes=1.35", "versions.kueue=0.18"],
        ((ROOT, "{kubernetes: \"1.36\", kueue: '0.19'}", "{kubernetes: \"1.35\", kueue: '0.18'}"),),
    ),
    "a price as it was typed": (["flavors/h100", "price=2.90"], ((ROOT, "price: 3.20", "price: 2.90"),)),
    "a day": (
        ["research/speech/demo", "expires=2027-04-30"],
        ((RESEARCH, "expires: 2027-03-31", "expires: 2027-04-30"),),
    ),
    "the organization": (["acme", "priorities.batch=10"], ((ROOT, "research: 100}", "research: 100, batch: 10}"),)),
    "a priority may be interrupted": (
        ["priorities/research", "preemptible=checkpointed", "gracePeriod=5m"],
        ((ROOT, "research: 100}", "research: {value: 100, preemptible: checkpointed, gracePeriod: 5m}}"),),
    ),
    "the value of a priority that says no more": (
        ["priorities/research", "value=200"],
        ((ROOT, "research: 100}", "research: 200}"),),
    ),
    "a priority by the name of the organization": (
        ["acme", "priorities.production.preemptible=restartable"],
        ((ROOT, "production: 1000", "production: {value: 1000, preemptible: restartable}"),),
    ),
    "the priorities of a unit": (
        ["research/vision", "priorities=[research]"],
        ((RESEARCH, "[ci]}\n", "[ci]}\n        priorities: [research]\n"),),
    ),
    "the name of the organization and more": (
        ["acme", "name=zenith", "displayName='Zenith #1'"],
        ((ROOT, "name: acme\n", "name: zenith\ndisplayName: 'Zenith #1'\n"),),
    ),
    "a label with dots": (
        ["research/robots", "labels.acme.example/room=12"],
        ((ROBOTS, "    teams:\n", '    labels: {acme.example/room: "12"}\n    teams:\n'),),
    ),
    "a new project": (
        ["research/speech", "projects.new={}"],
        ((RESEARCH, "2027-03-31\n", "2027-03-31\n          new: {}\n"),),
    ),
}


@pytest.mark.parametrize("title", SETS)
def test_set_writes_what_it_says_and_nothing_else(title: str, org: Path, capsys: Capture) -> None:
    """Every other byte of every file stays, and the difference is printed."""
    del org
    arguments, changes = SETS[title]
    assert run(["set", *arguments, "--today", "2026-06-15"]) == 0, capsys.readouterr().err
    assert _texts() == _expected(*changes)
    captured = capsys.readouterr()
    assert captured.out.startswith(f"--- a/{changes[0][0]}\n+++ b/{changes[0][0]}\n@@")
    assert "`tenancy diff`" in captured.err


REFUSED: dict[str, tuple[list[str], int, str]] = {
    "an unknown key": (
        ["research/vision", "bugdet.h100=8"],
        2,
        "unknown key `bugdet` in `departments.research.teams.vision`; did you mean `budget`?",
    ),
    "an unknown key of a list": (["research/vision", "access.members.name=x"], 2, "has no keys"),
    "an unknown unit": (
        ["research/visoin", "weight=1"],
        2,
        "there is no unit `research/visoin`; did you mean `research/vision`?",
    ),
    "a unit without its department": (["vision", "weight=1"], 2, "did you mean `research/vision`?"),
    "an unknown flavor": (["flavors/h10", "nodes=1"], 2, "there is no `flavors/h10`; did you mean `flavors/h100`?"),
    "an unknown unit below": (["research", "teams.visoin.weight=2"], 2, "has no `visoin`; did you mean `vision`?"),
    "no assignment": (["research/vision"], 2, "nothing to set"),
    "no value": (["research/vision", "weight="], 2, "`weight-` removes it"),
    "no YAML": (["research/vision", "weight=[1"], 2, "is no YAML value: a bracket is not closed"),
    "an alias": (["research/vision", "weight=*x"], 2, "the alias `*x` has no anchor"),
    "a comment in place of a name": (
        ["research/vision", "displayName=Team #1"],
        2,
        "a part of `Team #1` is a comment in YAML",
    ),
    "no list": (["research/vision", "weight+=1"], 2, "is no list"),
    "nobody in the list": (["research/vision", "access.members-=group:visoin"], 2, "did you mean `group:vision`?"),
    "nothing there": (
        ["research/vision", "weight-"],
        2,
        "`departments.research.teams.vision.weight` is not written anywhere",
    ),
    "no number of a share": (["research/robots/arms", "budget.h100.cpu=8"], 2, "is a share"),
    "a budget that is not there": (["research/vision", "budget.h200=8"], 1, "error[unknown-flavor]"),
    "more than there is": (["research/vision", "budget.h100=13"], 1, "error[quota-above-parent]"),
    "a wrong value": (["research/vision", "state=gone"], 1, "error[unknown-value]"),
    "a wrong type": (["research/vision", "access.members=group:x"], 1, "write a list: `[group:x]`"),
    "a day that is over": (["research/speech/demo", "expires=2026-06-01"], 1, "[expired]"),
}


@pytest.mark.parametrize("title", REFUSED)
def test_set_writes_nothing_that_brings_a_finding(title: str, org: Path, capsys: Capture) -> None:
    """Status 2 for what cannot be understood, 1 for what would be wrong; the files stay."""
    del org
    arguments, status, why = REFUSED[title]
    assert run(["set", *arguments, "--today", "2026-06-15"]) == status
    assert why in capsys.readouterr().err
    assert _texts() == FILES


def test_findings_that_were_there_do_not_stand_in_the_way(org: Path, capsys: Capture) -> None:
    """Only a finding that the change brings counts; a bare number that becomes a triple moves none."""
    path = org / "departments" / "research.yaml"
    path.write_text(path.read_text().replace("h100: 21", "h100: 20"))
    assert run(["validate"]) == 1
    assert run(["set", "research", "budget.h100.limit=40", "displayName=Labs"]) == 1
    assert "error[limit-above-parent]" in capsys.readouterr().err
    assert run(["set", "research", "budget.h100.limit=30", "displayName=Labs"]) == 0
    assert 'displayName: "Labs"\n    budget:\n      h100: {quota: 20, limit: 30}\n' in path.read_text()


def test_what_is_said_already_is_no_change(org: Path, capsys: Capture) -> None:
    """Status 0, and not even the time of a file changes."""
    before = (org / "org.yaml").stat().st_mtime_ns
    assert run(["set", "flavors/h100", "price=3.2", "nodes=4"]) == 0
    assert "nothing to change" in capsys.readouterr().err
    assert (org / "org.yaml").stat().st_mtime_ns == before


def test_a_dry_run_writes_nothing(org: Path, capsys: Capture) -> None:
    """It prints the difference that the real run would make."""
    del org
    assert run(["set", "flavors/h100", "price=2.90", "--dry-run"]) == 0
    captured = capsys.readouterr()
    assert "-        price: 3.20\n+        price: 2.90\n" in captured.out
    assert "this is a dry run" in captured.err
    assert _texts() == FILES


def test_several_assignments_are_all_or_none(org: Path) -> None:
    """The first is fine, the second is not: neither is written."""
    del org
    assert run(["set", "research/vision", "weight=3", "wieght=4"]) == 2
    assert _texts() == FILES


def test_another_organization_is_named_by_an_option(org: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its folder or its file."""
    monkeypatch.chdir(org / "departments")
    assert run(["set", "flavors/h100", "price=2.90", "--org", ".."]) == 0
    assert run(["set", "flavors/h100", "nodes=5", "--org", os.path.join("..", "org.yaml")]) == 0
    text = Path("../org.yaml").read_text()
    assert "price: 2.90\n" in text
    assert "nodes: 5\n" in text


TRANSFERS: dict[str, tuple[list[str], tuple[tuple[str, str, str], ...]]] = {
    "inside a department": (
        ["--from", "research/vision", "--to", "research/speech", "--flavor", "h100", "--gpus", "4"],
        ((RESEARCH, "h100: 12", "h100: 8"), (RESEARCH, "h100: {quota: 4}", "h100: {quota: 8}")),
    ),
    "between departments": (
        ["--from", "research/vision", "--to", "product/search", "--flavor", "h100", "--gpus", "2"],
        (
            (RESEARCH, "h100: 21", "h100: 19"),
            (RESEARCH, "h100: 12", "h100: 10"),
            (ROOT, "h100: {quota: 8}", "h100: {quota: 10}"),
            (ROOT, "quota: 6, limit: 10", "quota: 8, limit: 10"),
        ),
    ),
    "the reserve goes down with the quota": (
        ["--from", "product/search", "--to", "research/speech", "--flavor", "h100", "--gpus", "5"],
        (
            (RESEARCH, "h100: 21", "h100: 26"),
            (RESEARCH, "h100: {quota: 4}", "h100: {quota: 9}"),
            (ROOT, "h100: {quota: 8}", "h100: {quota: 3}"),
            (ROOT, "{reserved: 2, quota: 6, limit: 10}", "{reserved: 1, quota: 1, limit: 10}"),
        ),
    ),
    "from what a department keeps": (
        ["--from", "product", "--to", "product/search", "--flavor", "h100", "--gpus", "2"],
        ((ROOT, "quota: 6, limit: 10", "quota: 8, limit: 10"),),
    ),
    "to what a department keeps": (
        ["--from", "research/vision", "--to", "research", "--flavor", "h100", "--gpus", "2"],
        ((RESEARCH, "h100: 12", "h100: 10"),),
    ),
    "from what nobody has": (
        ["--from", "acme", "--to", "research/vision", "--flavor", "h100", "--gpus", "3"],
        ((RESEARCH, "h100: 21", "h100: 24"), (RESEARCH, "h100: 12", "h100: 15")),
    ),
    "slices to a team without any": (
        ["--from", "research", "--to", "research/vision", "--flavor", "mig", "--amount", "1g.10gb=4"],
        ((RESEARCH, "          h100: 12\n", "          h100: 12\n          mig: {1g.10gb: 4}\n"),),
    ),
    "cpu and memory in the unit they are written in": (
        ["--from", "product", "--to", "acme", "--flavor", "cpu", "--amount", "cpu=10", "--amount", "memory=40Gi"],
        ((ROOT, "{cpu: 60, memory: 240Gi}", "{cpu: 50, memory: 200Gi}"),),
    ),
}


@pytest.mark.parametrize("title", TRANSFERS)
def test_a_transfer_moves_the_numbers_on_the_way(title: str, org: Path, capsys: Capture) -> None:
    """Of the two units and of those between them and the unit that holds both, and no others."""
    del org
    arguments, changes = TRANSFERS[title]
    assert run(["transfer", *arguments]) == 0, capsys.readouterr().err
    assert _texts() == _expected(*changes)


NO_TRANSFERS: dict[str, tuple[list[str], int, str]] = {
    "more than there is": (
        ["--from", "research/vision", "--to", "research/speech", "--flavor", "h100", "--gpus", "13"],
        1,
        "`research/vision` has only 12 GPUs on `h100`",
    ),
    "what was handed on": (
        ["--from", "product", "--to", "research/speech", "--flavor", "h100", "--gpus", "4"],
        1,
        "`product` has 8 GPUs on `h100`, but only 2 GPUs that its own units do not have",
    ),
    "what the organization does not have": (
        ["--from", "acme", "--to", "research/speech", "--flavor", "h100", "--gpus", "5"],
        1,
        "`acme` has 32 GPUs on `h100`, but only 3 GPUs that its own units do not have",
    ),
    "above a limit": (
        ["--from", "research/vision", "--to", "product/search", "--flavor", "h100", "--gpus", "5"],
        1,
        "`product/search` has a limit of 10 GPUs on `h100`, below the 11 GPUs that it would own",
    ),
    "to a department whose units share the rest": (
        ["--from", "research/robots/hands", "--to", "research/robots", "--flavor", "h100", "--gpus", "1"],
        1,
        "`research/robots` keeps nothing of `h100` for itself: `research/robots/arms` and `research/robots/legs`",
    ),
    "a share": (
        ["--from", "research/vision", "--to", "research/robots/arms", "--flavor", "h100", "--gpus", "1"],
        1,
        "the quota of `research/robots/arms` on `h100` is a share",
    ),
    "whole GPUs of a divided flavor": (
        ["--from", "product/search", "--to", "research", "--flavor", "mig", "--gpus", "1"],
        2,
        "`mig` has no whole GPUs; it has",
    ),
    "an unknown flavor": (
        ["--from", "product/search", "--to", "research", "--flavor", "h10", "--gpus", "1"],
        2,
        "there is no flavor `h10`; did you mean `h100`?",
    ),
    "to itself": (
        ["--from", "research", "--to", "research", "--flavor", "h100", "--gpus", "1"],
        2,
        "are the same unit",
    ),
    "a flavor as a unit": (
        ["--from", "flavors/h100", "--to", "research", "--flavor", "h100", "--gpus", "1"],
        2,
        "is no unit with a budget",
    ),
    "nothing": (["--from", "research", "--to", "product", "--flavor", "h100"], 2, "nothing to hand over"),
    "half an amount": (
        ["--from", "research", "--to", "product", "--flavor", "mig", "--amount", "1g.10gb"],
        2,
        "is not KEY=N",
    ),
    "half a slice": (
        ["--from", "research", "--to", "product", "--flavor", "mig", "--amount", "1g.10gb=0.5"],
        2,
        "the amount of 1g.10gb",
    ),
}


@pytest.mark.parametrize("title", NO_TRANSFERS)
def test_a_transfer_that_cannot_be_says_why(title: str, org: Path, capsys: Capture) -> None:
    """Who has how much, or what stands against it; the files stay."""
    del org
    arguments, status, why = NO_TRANSFERS[title]
    assert run(["transfer", *arguments]) == status
    assert why in capsys.readouterr().err
    assert _texts() == FILES


RENAMES: dict[str, tuple[list[str], tuple[tuple[str, str, str], ...], str]] = {
    "a team keeps its namespace": (
        ["research/vision", "sight"],
        (
            (RESEARCH, "      vision:", "      sight:"),
            (RESEARCH, "serviceAccounts: [ci]}\n", "serviceAccounts: [ci]}\n        namespace: research-vision\n"),
        ),
        "namespace `research-vision` stays",
    ),
    "or takes a new one, wherever it is named": (
        ["research/vision", "sight", "--new-namespaces"],
        (
            (RESEARCH, "      vision:", "      sight:"),
            (ROOT, "serviceaccount:research-vision/ci", "serviceaccount:research-sight/ci"),
            (ROOT, "[research-vision/registry:443]", "[research-sight/registry:443]"),
        ),
        "namespace `research-vision` is deleted with all that it holds, `research-sight` is made empty",
    ),
    "a department with its reference and what is inside": (
        ["research", "labs"],
        (
            (ROOT, "    research:\n", "    labs:\n"),
            (RESEARCH, "  research:\n", "  labs:\n"),
            (RESEARCH, "serviceAccounts: [ci]}\n", "serviceAccounts: [ci]}\n        namespace: research-vision\n"),
            (RESEARCH, "train: {}", "train: {namespace: research-speech-train}"),
            (RESEARCH, "2027-03-31\n", "2027-03-31\n            namespace: research-speech-demo\n"),
            (ROBOTS, "parent: research", "parent: labs"),
            (ROBOTS, "arms: {budget: {h100: share}}", "arms: {budget: {h100: share}, namespace: research-robots-arms}"),
            (ROBOTS, "weight: 3}", "weight: 3, namespace: research-robots-legs}"),
        ),
        "queue `research-vision` goes once its jobs have ended, `labs-vision` is made",
    ),
    "a project": (
        ["research/speech/train", "training"],
        ((RESEARCH, "train: {}", "training: {namespace: research-speech-train}"),),
        "namespace `research-speech-train` stays",
    ),
    "a flavor in every budget": (
        ["flavors/h100", "hopper"],
        (
            (ROOT, "    h100:\n", "    hopper:\n"),
            (ROOT, "h100: {quota: 8}", "hopper: {quota: 8}"),
            (ROOT, "h100: {reserved", "hopper: {reserved"),
            (RESEARCH, "h100: 21", "hopper: 21"),
            (RESEARCH, "h100: 12", "hopper: 12"),
            (RESEARCH, "h100: {quota: 4}", "hopper: {quota: 4}"),
            (ROBOTS, "h100: 5", "hopper: 5"),
            (ROBOTS, "h100: 1", "hopper: 1"),
            (ROBOTS, "h100: share", "hopper: share"),
            (ROBOTS, "h100: share", "hopper: share"),
        ),
        "its nodes get the label `tenancy.internal/flavor=hopper` in place of `tenancy.internal/flavor=h100`",
    ),
    "a cluster": (
        ["clusters/train", "eu"],
        ((ROOT, "    train:\n", "    eu:\n"),),
        "the output moves from `train/` to `eu/`",
    ),
    "a priority": (
        ["priorities/research", "normal"],
        ((ROOT, "research: 100", "normal: 100"),),
        "the priority class `research` is deleted and `normal` is made",
    ),
}


@pytest.mark.parametrize("title", RENAMES)
def test_a_rename_reaches_every_mention(title: str, org: Path, capsys: Capture) -> None:
    """And nothing else; it says what the clusters do about it."""
    del org
    arguments, changes, said = RENAMES[title]
    assert run(["rename", *arguments]) == 0, capsys.readouterr().err
    assert _texts() == _expected(*changes)
    assert said in capsys.readouterr().err


def test_a_rename_finds_the_cluster_of_a_flavor_and_the_priorities_of_a_unit(org: Path, capsys: Capture) -> None:
    """Where they are named, by list or by value."""
    path = org / "org.yaml"
    path.write_text(
        path.read_text()
        .replace("        gpu: H100", "        cluster: train\n        gpu: H100")
        .replace(
            "                access:\n", "                priorities: [production, research]\n                access:\n"
        )
    )
    old = path.read_text()
    assert run(["rename", "clusters/train", "eu"]) == 0, capsys.readouterr().err
    assert path.read_text() == old.replace("cluster: train", "cluster: eu").replace("    train:\n", "    eu:\n")
    assert run(["rename", "priorities/research", "normal"]) == 0, capsys.readouterr().err
    assert "priorities: [production, normal]" in path.read_text()


def test_a_priority_that_says_more_is_changed_key_by_key(org: Path, capsys: Capture) -> None:
    """Its value, its grace, its name: what else it says stays as it is written."""
    path = org / "org.yaml"
    whole = "research: {value: 100, preemptible: checkpointed, gracePeriod: 2m}"
    path.write_text(path.read_text().replace("research: 100}", f"{whole}}}"))
    assert run(["set", "priorities/research", "value=200", "gracePeriod=5m"]) == 0, capsys.readouterr().err
    assert "research: {value: 200, preemptible: checkpointed, gracePeriod: 5m}}" in path.read_text()
    assert run(["set", "priorities/research", "preemptible=restartable", "gracePeriod-"]) == 0, capsys.readouterr().err
    assert "research: {value: 200, preemptible: restartable}}" in path.read_text()
    assert run(["rename", "priorities/research", "normal"]) == 0, capsys.readouterr().err
    assert "normal: {value: 200, preemptible: restartable}}" in path.read_text()


def test_a_template_that_mentions_the_old_name_is_pointed_out(org: Path, capsys: Capture) -> None:
    """Templates are programs: nobody but their author can tell whether the word is the name."""
    folder = org / "templates" / "team"
    folder.mkdir(parents=True)
    (folder / "note.yaml.j2").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note, namespace: {{ team.namespaces[0].name }}}\n# h100\n"
    )
    run(["rename", "flavors/h100", "hopper", "--dry-run"])
    assert "`org/templates/team/note.yaml.j2` mentions `h100`" in capsys.readouterr().err


NO_RENAMES: dict[str, tuple[list[str], int, str]] = {
    "a name that is taken": (["research/vision", "speech"], 2, "there is a `speech` in `departments.research.teams`"),
    "taken in another file": (["product", "research"], 2, "there is a `research` in `departments` already"),
    "the same name": (["research/vision", "vision"], 2, "is called so already"),
    "no name": (["research/vision", "Sight!"], 1, "error[name-syntax]"),
    "the organization": (["acme", "other"], 2, "`tenancy set acme name=other`"),
    "nothing": (["flavors/h10", "x"], 2, "did you mean `flavors/h100`?"),
}


@pytest.mark.parametrize("title", NO_RENAMES)
def test_a_rename_that_cannot_be_says_why(title: str, org: Path, capsys: Capture) -> None:
    """The files stay."""
    del org
    arguments, status, why = NO_RENAMES[title]
    assert run(["rename", *arguments]) == status
    assert why in capsys.readouterr().err
    assert _texts() == FILES


def test_a_limit_that_the_policy_binds_to_the_quota_goes_down_with_it(org: Path, capsys: Capture) -> None:
    """Under `borrowing: none` a limit above the quota would contradict it."""
    path = org / "org.yaml"
    path.write_text(
        path.read_text()
        .replace("{reserved: 2, quota: 6, limit: 10}", "{quota: 6, limit: 6}")
        # what the department does not hand on is nobody's either way
        .replace("                access:\n", "                policy: {borrowing: none}\n                access:\n")
    )
    old = path.read_text()
    arguments = ["--from", "product/search", "--to", "product", "--flavor", "h100", "--gpus", "2"]
    assert run(["transfer", *arguments]) == 0, capsys.readouterr().err
    assert path.read_text() == old.replace("{quota: 6, limit: 6}", "{quota: 4, limit: 4}")
    assert "product/search on h100: limit 6 → 4" in capsys.readouterr().err


def test_a_rename_follows_references_from_file_to_file(org: Path, capsys: Capture) -> None:
    """A department whose reference stands in the file of the department above."""
    research, robots = org / "departments" / "research.yaml", org / "departments" / "robots.yaml"
    robots.write_text(robots.read_text().replace("parent: research\n", ""))
    research.write_text(
        research.read_text() + "    departments:\n      robots: {file: departments/robots.yaml} # their own\n"
    )
    old = research.read_text(), robots.read_text()
    assert run(["rename", "research/robots", "machines", "--new-namespaces"]) == 0, capsys.readouterr().err
    assert research.read_text() == old[0].replace("      robots: {file", "      machines: {file")
    assert robots.read_text() == old[1].replace("  robots:\n", "  machines:\n")


def test_what_an_anchor_shares_is_said(org: Path, capsys: Capture) -> None:
    """The change is made where the text stands, and whoever has it by an alias is named."""
    path = org / "departments" / "robots.yaml"
    path.write_text(
        path.read_text()
        .replace("arms: {budget: {", "arms: {budget: &even {")
        .replace("legs: {budget: {h100: share}, weight: 3}", "legs: {budget: *even, weight: 3}")
    )
    old = path.read_text()
    assert run(["set", "research/robots/arms", "budget.mig={1g.10gb: 0}"]) == 0, capsys.readouterr().err
    assert path.read_text() == old.replace("&even {h100: share}", "&even {h100: share, mig: {1g.10gb: 0}}")
    assert "the same text is used through aliases at org/departments/robots.yaml:9" in capsys.readouterr().err
    assert run(["set", "research/robots/legs", "budget.h100=1"]) == 2
    assert "write the value out in place of the alias" in capsys.readouterr().err


def test_text_that_is_only_examined_is_read_in_place_of_the_file(org: Path) -> None:
    """An edit is judged before it is written, and the disk is not asked for files that are given."""
    text = FILES[ROOT].replace("nodes: 4\n        node: {gpus", "nodes: 1\n        node: {gpus")
    found = examine(org, Options(texts={ROOT: text}))
    assert "quota-above-capacity" in {each.code for each in found.diagnostics}
    assert examine(org).diagnostics == ()
