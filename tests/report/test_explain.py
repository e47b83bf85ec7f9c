"""A unit explained, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from textwrap import dedent

import pytest

from tenancy.diagnostics import Place
from tenancy.model.loans import Borrower, Lender, Loan, Pool
from tenancy.model.origins import Origin
from tenancy.model.unit_origins import Fact
from tenancy.report.explain import Answer, Explanation, Fragmentation, Hint, Number, Promise
from tenancy.report.explain import json as json_view
from tenancy.report.explain_text import job, text
from tenancy.report.explain_words import WORDS

GPU = "nvidia.com/gpu"
UNIT = Explanation(
    unit="research/vision",
    kind="team",
    cluster="train",
    queue="research-vision",
    queues=("research-vision",),
    shared=False,
    namespaces=("research-vision",),
    state="active",
    reclaim="any",
    weighted=False,
    promises=(
        Promise(flavor="h100", resource=GPU, reserved=8, quota=24, limit=40, reachable=32),
        Promise(flavor="h100", resource="cpu", reserved=0, quota=1500, limit=2000, reachable=2000),
    ),
    loans=(
        Loan(
            flavor="h100",
            resource=GPU,
            quota=24,
            pools=(Pool(unit="research", amount=4),),
            lenders=(
                Lender(unit="ops", amount=2, reclaim="never"),
                Lender(unit="ads", amount=1, reclaim="any"),
                Lender(unit="nlp", amount=9, reclaim="any"),
            ),
            borrowers=(Borrower(unit="nlp", amount=16),),
        ),
    ),
    fragmentation=(),
)
JOB = Answer(
    pod={GPU: 8, "cpu": 1500},
    pods=2,
    outcome="quota",
    flavor="h100",
    cause="",
    message="",
    waits="insufficient unused quota for it, ",
    fragmented="",
    toleration="",
)


def test_the_whole_text() -> None:
    """Who it is, numbers with units, where each may come from by how it is taken back, and what becomes of a job."""
    assert text([replace(UNIT, answer=JOB)], 100) == dedent("""\
        research/vision (team) in train, queue research-vision, namespaces research-vision

        FLAVOR  RESOURCE        RESERVED  QUOTA      LIMIT    REACHABLE
        h100    nvidia.com/gpu  8         24         40       32
        h100    cpu             0 cores   1.5 cores  2 cores  2 cores

        h100 nvidia.com/gpu
          research keeps 4 in its pool, for all below it.
          It may borrow what is idle of nlp (9), ads (1); they take it back at once, by evicting what runs
          on it (`reclaim: any`).
          It may borrow what is idle of ops (2); they take it back when the jobs that run on it end
          (`reclaim: never`).
          What it leaves idle may be borrowed by nlp (16).

        Its own quota, lent while it is idle, comes back on demand, at about a second for each workload that
        is evicted (`reclaim: any`).

        2 pods of 8 nvidia.com/gpu, 1500m cpu: it runs on h100 from the quota. What others have borrowed of
        it comes back on demand, at about a second for each workload that is evicted (`reclaim: any`).
          While it waits: insufficient unused quota for it,…
        """)


def test_a_message_stays_on_one_line() -> None:
    """It can be searched and copied, however narrow the terminal is."""
    message = "insufficient quota " * 9 + "(40)"
    never = replace(JOB, outcome="never", cause="capacity", message=message, waits="")
    lines = text([replace(UNIT, answer=never)], 40).splitlines()
    assert lines[-1] == f"  It says: {message}"
    assert "NEVER" in lines[-4]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"shared": True}, "which it shares; the numbers are those of the queue."),
        ({"state": "held"}, "It is held: nothing new starts."),
        ({"promises": ()}, "It reaches no flavor here."),
        ({"loans": (Loan(flavor="h100", resource=GPU, quota=0, pools=(), lenders=()),)}, "It borrows from nobody."),
        ({"loans": (Loan(flavor="h100", resource=GPU, quota=1, pools=(), lenders=()),)}, "Nobody may borrow what it"),
        ({"hints": (Hint(flavor="h100", autoscaler="karpenter", device_classes={}),)}, "h100: nodes are made for pods"),
        (
            {"hints": (Hint(flavor="h100", autoscaler="provisioning-request", device_classes={}),)},
            "it gets its place on nodes after they have come.",
        ),
        (
            {"hints": (Hint(flavor="h100", autoscaler="", device_classes={"gpus": "h100.acme"}),)},
            "names the class (h100.acme for gpus)",
        ),
        ({"weighted": True}, "shares by weight"),
        ({"reclaim": "never"}, "comes back when the jobs that run on it end"),
        ({"unasked": ("a/b", "a/c")}, "It has no queue, so it runs no job itself. Ask: a/b, a/c."),
        ({"answer": replace(JOB, toleration="a=b:NoSchedule")}, "Its pods must tolerate a=b:NoSchedule by themselves."),
        ({"queues": ("a-h100", "a-cpu")}, "in train, queues a-h100, a-cpu, namespaces"),
        (
            {"parts": {"a": {GPU: 2}, "b": {GPU: 0}}},
            "Each of its namespaces has a part of its own: a: 2 of nvidia.com/gpu",
        ),
        ({"scheduler": "volcano"}, "comes back within about 10 seconds"),
        ({"scheduler": "native"}, "nobody borrows from it"),
        ({"answer": replace(JOB, queue="a-h100")}, "It must name the queue a-h100."),
        (
            {"fragmentation": (Fragmentation(flavor="h100", gpus=8, neighbours=1, message="no place"),)},
            "1 other queue may run smaller jobs there",
        ),
    ],
)
def test_what_is_said_where_it_holds(change: dict[str, object], sentence: str) -> None:
    """Each fact has its sentence, and none is told where it does not hold."""
    shown, plain = (" ".join(text([each], 1000).split()) for each in (replace(UNIT, **change), UNIT))  # type: ignore[arg-type]
    assert sentence in shown
    assert sentence not in plain


@pytest.mark.parametrize("scheduler", WORDS)
def test_every_scheduler_has_its_words(scheduler: str) -> None:
    """For each outcome that it knows, and for each reason why a job never runs, all blanks are filled."""
    words = WORDS[scheduler]
    unit = replace(UNIT, scheduler=scheduler, loans=())
    told = [text([replace(unit, answer=replace(JOB, outcome=outcome))], 1000) for outcome in words.outcomes]
    never = replace(JOB, outcome="never", queue="a-h100", started=1)
    told += [text([replace(unit, answer=replace(never, cause=cause))], 1000) for cause in words.causes]
    assert len({each.splitlines()[-2] for each in told}) == len(told)
    assert [each for each in told if "{" in each] == []


def test_a_job_of_which_a_part_starts_never_runs_as_a_whole() -> None:
    """How many pods start is told; the queue that a job never gets into is not named."""
    part = replace(JOB, outcome="never", cause="part", started=1, queue="q", waits="")
    shown = " ".join(text([replace(UNIT, scheduler="native", answer=part)], 1000).split())
    assert "it NEVER runs as a whole: the API server lets in 1 of its 2 pods" in shown
    assert "It must name" not in shown


def test_many_lenders_are_counted() -> None:
    """Six are named, those with the most."""
    lenders = tuple(Lender(unit=f"u{number}", amount=number, reclaim="any") for number in range(1, 9))
    loan = Loan(flavor="h100", resource=GPU, quota=0, pools=(), lenders=lenders)
    assert "u8 (8), u7 (7), u6 (6), u5 (5), u4 (4), u3 (3) and 2 more;" in text([replace(UNIT, loans=(loan,))], 1000)


def test_json_has_quantities_and_every_lender() -> None:
    """Amounts are Kubernetes quantities; the job is null where none was asked about."""
    told = json.loads(json_view([UNIT, replace(UNIT, answer=JOB)]))
    first, second = told["clusters"]
    assert told["version"] == 1
    assert first["promises"][1] == {
        "flavor": "h100", "resource": "cpu", "reserved": "0", "quota": "1500m", "limit": "2", "reachable": "2"
    }  # fmt: skip
    assert first["loans"][0]["lenders"][0] == {"unit": "ops", "amount": "2", "reclaim": "never"}
    assert first["loans"][0]["borrowers"] == [{"unit": "nlp", "amount": "16"}]
    assert first["loans"][0]["quota"] == "24"
    assert first["job"] is None
    assert (second["job"]["outcome"], second["job"]["pod"]) == ("quota", {GPU: "8", "cpu": "1500m"})


WRITTEN = Origin("written", "", (Place("org.yaml", 4, 9),))
FOLLOWS = Origin("follows", "8 GPUs of 2 cores", (Place("org.yaml", 2, 3), Place("org.yaml", 3, 5), Place("a.yaml", 1)))


def number(name: str, amount: int, origin: Origin, resource: str = GPU) -> Number:
    return Number(flavor="h100", resource=resource, number=name, amount=amount, origin=origin)


SOURCED = replace(
    UNIT,
    promises=(),
    loans=(),
    numbers=(
        number("reserved", 0, Origin("default", "nothing is reserved")),
        number("quota", 8, WRITTEN),
        number("limit", 8, WRITTEN),
        number("quota", 16000, FOLLOWS, "cpu"),
    ),
    facts=(
        Fact("weight", "1", Origin("default", "equal among its siblings")),
        Fact("member", "group:vision", Origin("written", "said by research", (Place("a.yaml", 7, 1),))),
    ),
)


def test_origins_are_tables() -> None:
    """Each number with its place or its rule; those of one origin together, a 0 that nobody says in a sentence."""
    assert text([SOURCED], 100, origins=True).partition("here.\n\n")[2] == dedent("""\
        FLAVOR  RESOURCE        PROMISE       AMOUNT    COMES FROM
        h100    nvidia.com/gpu  quota, limit  8         org.yaml:4:9
                cpu             quota         16 cores  8 GPUs of 2 cores (org.yaml:2:3, :3:5, a.yaml:1:1)
        Every other promise is 0, because nothing says any.

        WHAT HOLDS                COMES FROM
        weight      1             equal among its siblings
        member      group:vision  a.yaml:7:1, said by research
        """)


def test_origins_are_shown_where_they_are_asked_for() -> None:
    """The text of a job has none unless asked; JSON has them all."""
    assert "COMES FROM" not in text([SOURCED], 100)
    (told,) = json.loads(json_view([SOURCED]))["clusters"]
    assert told["origins"][3] == {
        "flavor": "h100",
        "resource": "cpu",
        "number": "quota",
        "amount": "16",
        "rule": "follows",
        "detail": "8 GPUs of 2 cores",
        "places": [
            {"file": "org.yaml", "line": 2, "column": 3},
            {"file": "org.yaml", "line": 3, "column": 5},
            {"file": "a.yaml", "line": 1, "column": 1},
        ],
    }
    assert [(fact["name"], fact["value"], fact["rule"]) for fact in told["facts"]] == [
        ("weight", "1", "default"),
        ("member", "group:vision", "written"),
    ]


def test_long_origins_stay_in_their_column() -> None:
    """They are wrapped under themselves."""
    long = Origin("sum", " and ".join(f"unit{at} 8" for at in range(12)))
    shown = text([replace(SOURCED, numbers=(number("quota", 8, long),), facts=())], 80, origins=True)
    lines = shown.partition("FLAVOR")[2].splitlines()
    column = lines[0].index("COMES") + len("FLAVOR")
    assert len(lines) > 3
    assert all(line[:column].endswith(" ") and line[column] != " " for line in lines[1:-1])
    assert max(map(len, lines)) <= 80


def test_a_job_alone_says_only_what_becomes_of_it() -> None:
    """Its unit and its verdict, no tables."""
    never = replace(JOB, outcome="never", cause="capacity", message="insufficient quota", waits="")
    shown = job(replace(SOURCED, answer=never), 1000)
    assert shown.splitlines()[0].startswith("research/vision (team)")
    assert "it NEVER runs" in shown
    assert "COMES FROM" not in shown
