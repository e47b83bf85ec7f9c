"""Variants of the faults of teams that use KEDA."""

from __future__ import annotations

from tests.checks.test_variants import V, codes, findings


def test_the_operators_namespace_is_no_teams() -> None:
    """Where a team uses KEDA: whoever starts pods beside the operator is let in wherever it is, as its account."""
    taken = {f"{V}.namespace": "keda"}
    (found,) = findings({**taken, f"{V}.autoscaling": "keda"})
    assert found.code == "namespace-reserved"
    assert codes({**taken, "network": {"keda": {"namespace": "autoscaling"}}, f"{V}.autoscaling": "keda"}) == []
    assert codes(taken) == []


def test_labels_of_the_operator_are_labels() -> None:
    """A key or a value that is none is found where it stands; an empty mapping is every pod of the namespace."""
    assert codes({"network": {"keda": {"pods": {"app": "keda operator"}}}}) == ["keda-operator"]
    assert codes({"network": {"keda": {"pods": {"app/": "keda"}}}}) == ["keda-operator"]
    assert codes({"network": {"keda": {"pods": {}}}}) == []


def test_its_objects_may_have_other_bounds() -> None:
    """`limits.objects` names them as it names all others."""
    counts = {"count/scaledobjects.keda.sh": 20, "count/horizontalpodautoscalers.autoscaling": 20}
    assert codes({f"{V}.autoscaling": "keda", f"{V}.limits": {"objects": counts}}) == []
