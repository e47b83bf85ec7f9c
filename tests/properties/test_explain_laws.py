"""What holds of the origins and the loans of every organization."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenancy.backend.job_kinds import KINDS
from tenancy.backend.job_request import Job
from tenancy.backend.manifest import Page
from tenancy.commands.explained import Look, document
from tenancy.load.source import Sources
from tenancy.model.budget_origins import numbers, origins
from tenancy.model.budgets import followers
from tenancy.model.hardware import Hardware
from tenancy.model.organization import Node, Org
from tenancy.model.origins import Origin
from tenancy.model.quantity import parse
from tenancy.model.unit_origins import facts
from tenancy.pipeline import examine
from tenancy.plan import plan
from tenancy.plan.lending import held_by, loans
from tenancy.render.pages import page, pages
from tests.examples import often
from tests.orgs import organized, scheduled
from tests.strategies import organizations

SETTINGS = settings(max_examples=often(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(tree: dict[str, Any]) -> tuple[Org, Sources]:
    """The organization as it is read from a file."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "org.yaml").write_text(
            yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False), encoding="utf-8"
        )
        found = examine(Path(folder))
    assert found.org is not None
    assert found.sources is not None
    return found.org, found.sources


def text_at(sources: Sources, origin: Origin) -> str:
    """What stands at the only place of an origin."""
    (place,) = origin.places
    line = sources.line(place.file, place.line)
    assert line is not None
    return str(yaml.load(line[place.column - 1 : place.end_column - 1], yaml.CSafeLoader))


def holds(node: Node, flavor: Hardware, resource: str, number: str, origin: Origin, sources: Sources) -> bool:
    """Whether a number of a unit is what the rule of its origin makes."""
    entry = node.entries[flavor.name]
    own = entry.amounts[resource]
    amount: int = getattr(own, number)
    parent = node.parent
    made: dict[str, Callable[[], bool]] = {
        "written": lambda: parse(text_at(sources, origin), resource) == amount,
        "default": lambda: amount == 0 and not origin.places,
        "reserved": lambda: amount == own.reserved,
        "share": lambda: entry.share and number == "quota",
        "sum": lambda: amount == sum(child.entries[flavor.name].amounts[resource].reserved for child in node.children),
        "follows": lambda: amount == following(node, flavor, resource, number),
        "cut": lambda: amount < following(node, flavor, resource, number),
        "policy": lambda: (
            amount in {each.entries[flavor.name].amounts[resource].quota for each in (node, *node.ancestors())}
        ),
        "limit-above": lambda: parent is not None and amount == parent.entries[flavor.name].amounts[resource].limit,
        "capacity": lambda: parent is None and amount == flavor.capacity[resource],
    }
    return made[origin.rule]()


def following(node: Node, flavor: Hardware, resource: str, number: str) -> int:
    """What of cpu or memory goes with the GPUs of a number."""
    amounts = node.entries[flavor.name].amounts
    return followers(flavor, {main: getattr(amounts[main], number) for main in flavor.mains})[resource]


@SETTINGS
@given(tree=organizations())
def test_every_number_has_an_origin_that_makes_it(tree: dict[str, Any]) -> None:
    """A written one stands at its place, a derived one is what its rule says; nothing is without a rule."""
    org, sources = read(tree)
    wrong = []
    for node in (org.root, *org.units):
        if node.kind == "project" and not node.budget:
            continue  # it has the numbers of a queue that it shares
        for flavor in org.flavors.values():
            for resource in flavor.resources:
                for number, origin in numbers(origins(org, sources, node, flavor, resource)):
                    if not holds(node, flavor, resource, number, origin, sources):
                        wrong.append((node.title, flavor.name, resource, number, origin))
    assert wrong == []


@SETTINGS
@given(tree=organizations())
def test_what_was_written_stands_where_its_fact_says(tree: dict[str, Any]) -> None:
    """Weights and policies too: the text at the place is the value."""
    org, sources = read(tree)
    for node in (org.root, *org.units):
        for fact in facts(org, sources, node):
            if fact.origin.rule == "written":
                said = text_at(sources, fact.origin)
                assert said == fact.value or float(said) == float(fact.value)


@SETTINGS
@given(tree=organizations())
def test_who_lends_to_whom_is_told_from_both_sides(tree: dict[str, Any]) -> None:
    """A unit is among the lenders of another exactly where that one is among its borrowers, and nobody borrows of
    themselves."""
    org = organized(tree)
    for cluster in plan(org):
        lent: set[tuple[str, str, str, str]] = set()
        borrowed: set[tuple[str, str, str, str]] = set()
        for queue in cluster.queues:
            for loan in loans(cluster, queue, cluster.flavors.values()):
                key = (loan.flavor, loan.resource)
                borrowed |= {(*key, lender.unit, queue.title) for lender in loan.lenders}
                lent |= {(*key, queue.title, borrower.unit) for borrower in loan.borrowers}
        titles = [queue.title for queue in cluster.queues]
        assert lent == borrowed
        assert all(lender != borrower or titles.count(lender) > 1 for _, _, lender, borrower in lent)


@SETTINGS
@given(tree=organizations())
def test_nobody_lends_what_is_reserved(tree: dict[str, Any]) -> None:
    """What one lends to one other is at most what it does not reserve, on every level."""
    org = organized(tree)
    for cluster in plan(org):
        for node in org.units:
            if cluster.name in node.clusters:
                held = held_by(cluster, node)
                for loan in loans(cluster, held, cluster.flavors.values()):
                    own = held.quotas[loan.flavor][loan.resource]
                    assert all(0 < each.amount <= own.quota - own.reserved for each in loan.borrowers)


@settings(SETTINGS, max_examples=often(15))
@given(
    tree=organizations(),
    written=st.sampled_from([(scheduler, kind) for scheduler, kinds in KINDS.items() for kind in kinds]),
    pods=st.integers(1, 3),
)
def test_a_job_that_is_written_is_the_one_that_was_asked_about(
    tree: dict[str, Any], written: tuple[str, str], pods: int
) -> None:
    """Of every kind, its pods together ask for what the verdict is about, in a namespace of the unit."""
    scheduler, kind = written
    org = organized(scheduled(tree, scheduler))
    environment = pages()
    for cluster in plan(org):
        for node in (each for each in org.units if not each.inner and cluster.name in each.clusters):
            look = Look(org, Sources((), {}, {}), cluster, node)
            assert look.queue is not None
            made = document(look, look.queue, Job(cpu="1", memory="1Gi", pods=pods), kind)
            if not isinstance(made, Page):
                continue
            item = yaml.load(page(environment, made.template, {"job": made.values}), yaml.CSafeLoader)
            assert item["metadata"]["namespace"] in {each.name for each in look.namespaces}
            assert asked_for(item["spec"]) == pods + (made.values["launcher"] is not None)


def asked_for(spec: Any, times: int = 1) -> int:
    """The cores that all pods inside a spec ask for together; a launcher without GPUs asks for one."""
    if isinstance(spec, list):
        return sum(asked_for(each, times) for each in spec)
    if not isinstance(spec, dict):
        return 0
    if "containers" in spec:
        return times * sum(int(each["resources"]["requests"]["cpu"]) for each in spec["containers"])
    if "resourcesPerNode" in spec:
        return int(spec["numNodes"]) * int(spec["resourcesPerNode"]["requests"]["cpu"])
    times *= next((int(spec[key]) for key in ("parallelism", "replicas", "size") if key in spec), 1)
    return sum(asked_for(each, times) for each in spec.values())
