from __future__ import annotations

import pytest

from tenancy.model.quantity import (
    LARGEST,
    QuantityError,
    QuantityProblem,
    canonical,
    canonical_number,
    human,
    number,
    parse,
)

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("value", "resource", "amount"),
    [
        ("0", GPU, 0),
        ("-0", GPU, 0),
        ("+8", GPU, 8),
        ("8.", GPU, 8),
        ("1.5k", GPU, 1500),
        ("1e3", GPU, 1000),
        ("1E3", GPU, 1000),
        ("1E", "memory", 10**18),
        ("25e-1", "cpu", 2500),
        ("12000m", GPU, 12),
        (64, GPU, 64),
        (64.0, GPU, 64),
        (1e3, GPU, 1000),
        ("500m", "cpu", 500),
        (".5", "cpu", 500),
        (0.1, "cpu", 100),
        (0.29, "cpu", 290),
        ("1000000n", "cpu", 1),
        ("2000u", "cpu", 2),
        (192, "cpu", 192_000),
        ("64Gi", "memory", 64 * 2**30),
        ("1.5Gi", "memory", 3 * 2**29),
        ("64G", "memory", 64 * 10**9),
        ("7Ei", "memory", 7 * 2**60),
        ("0e999999999999", "memory", 0),
        (LARGEST, "memory", LARGEST),
        ("2", "requests.cpu", 2000),
        ("2", "limits.cpu", 2000),
    ],
)
def test_every_spelling_is_read_exactly_in_base_units(value: object, resource: str, amount: int) -> None:
    """Each suffix, exponent and YAML number gives the amount that its digits say, in thousandths for cpu only."""
    assert parse(value, resource) == amount


@pytest.mark.parametrize(
    ("value", "resource", "kind"),
    [
        ("-1", GPU, QuantityProblem.NEGATIVE),
        (-1, GPU, QuantityProblem.NEGATIVE),
        ("-0.5", GPU, QuantityProblem.NEGATIVE),
        (2.5, GPU, QuantityProblem.FRACTION),
        ("500m", GPU, QuantityProblem.FRACTION),
        ("0.5", "memory", QuantityProblem.FRACTION),
        ("1.1Gi", "memory", QuantityProblem.FRACTION),
        ("0.1m", "cpu", QuantityProblem.FRACTION),
        (1e-7, "cpu", QuantityProblem.FRACTION),
        ("1e-999999999999999999", "cpu", QuantityProblem.FRACTION),
        (LARGEST + 1, GPU, QuantityProblem.OVERFLOW),
        ("8Ei", "memory", QuantityProblem.OVERFLOW),
        ("9223372036854775808", "memory", QuantityProblem.OVERFLOW),
        ("9223372036854775.808", "cpu", QuantityProblem.OVERFLOW),
        ("1e999999999999999999", GPU, QuantityProblem.OVERFLOW),
        (True, GPU, QuantityProblem.SYNTAX),
        (None, GPU, QuantityProblem.SYNTAX),
        ([], GPU, QuantityProblem.SYNTAX),
        ({}, GPU, QuantityProblem.SYNTAX),
        (float("nan"), GPU, QuantityProblem.SYNTAX),
        (float("-inf"), GPU, QuantityProblem.SYNTAX),
        ("--1", GPU, QuantityProblem.SYNTAX),
        ("1e", GPU, QuantityProblem.SYNTAX),
        ("1e3k", GPU, QuantityProblem.SYNTAX),
        ("1e1.5", GPU, QuantityProblem.SYNTAX),
        (".", GPU, QuantityProblem.SYNTAX),
        ("1Kib", GPU, QuantityProblem.SYNTAX),
        ("8\n", GPU, QuantityProblem.SYNTAX),
        ("٨", GPU, QuantityProblem.SYNTAX),
        ("1" * 101, GPU, QuantityProblem.SYNTAX),
    ],
)
def test_what_is_no_amount_is_refused_by_kind(value: object, resource: str, kind: QuantityProblem) -> None:
    """Negative, too fine, too large and malformed values are told apart, however long their digits are."""
    with pytest.raises(QuantityError) as refused:
        parse(value, resource)
    assert refused.value.kind is kind


@pytest.mark.parametrize(
    ("value", "resource", "reason"),
    [
        ("10 Gi", "memory", "`10 Gi` has a blank in it; did you mean `10Gi`?"),
        (" 8", GPU, "` 8` has a blank in it; did you mean `8`?"),
        ("64GB", "memory", "`64GB` has the unknown suffix `GB`; did you mean `64G` or `64Gi`?"),
        ("64gb", "memory", "`64gb` has the unknown suffix `gb`; did you mean `64G` or `64Gi`?"),
        ("64GiB", "memory", "`64GiB` has the unknown suffix `GiB`; did you mean `64Gi`?"),
        ("2000gi", "memory", "`2000gi` has the unknown suffix `gi`; did you mean `2000Gi`?"),
        ("64K", "memory", "`64K` has the unknown suffix `K`; did you mean `64k` or `64Ki`?"),
        ("64B", "memory", "`64B` has the unknown suffix `B`; did you mean `64`?"),
        ("8gpus", GPU, "`8gpus` has the unknown suffix `gpus`"),
        ("1,000", GPU, "`1,000` has digit separators; did you mean `1000`?"),
        ("1_000Gi", "memory", "`1_000Gi` has digit separators; did you mean `1000Gi`?"),
        ("1,5", "cpu", "`1,5` has a decimal comma; did you mean `1.5`?"),
        ("eight", GPU, "`eight` is not a number with a suffix such as m, k, G or Gi"),
        ("8\x07", GPU, "'8\\x07' is not a number with a suffix such as m, k, G or Gi"),
        ("", GPU, "a quantity must not be empty"),
        (True, GPU, "true and false are not quantities"),
        (None, GPU, "null is not a quantity"),
        ({}, GPU, "a mapping is not a quantity"),
        (-2, GPU, "`-2` is negative"),
        (2.5, GPU, "`2.5` is not a whole number of nvidia.com/gpu"),
        ("0.1m", "cpu", "`0.1m` is not a whole number of thousandths of a core"),
        ("0.5", "memory", "`0.5` is not a whole number of bytes"),
        (
            "128m",
            "memory",
            "`128m` is in thousandths of a byte; did you mean `128M` or `128Mi`?",
        ),
        ("8Ei", "memory", "`8Ei` is more than Kubernetes can count (2^63 - 1 base units)"),
    ],
)
def test_the_reason_names_the_slip_and_the_likely_spelling(value: object, resource: str, reason: str) -> None:
    """A person who mistyped a quantity reads what is wrong with it and, where one can tell, what to write."""
    with pytest.raises(QuantityError) as refused:
        parse(value, resource)
    assert refused.value.reason == str(refused.value) == reason


@pytest.mark.parametrize(("sign", "kind"), [(1, QuantityProblem.OVERFLOW), (-1, QuantityProblem.NEGATIVE)])
def test_a_number_too_long_to_print_is_refused_like_any_other(sign: int, kind: QuantityProblem) -> None:
    """Integers that Python declines to spell out still end as quantity errors, when read and when written."""
    for attempt in (parse, canonical):
        with pytest.raises(QuantityError) as refused:
            attempt(sign * 10**5000, GPU)
        assert refused.value.kind is kind


def test_equal_numbers_of_different_type_are_not_confused() -> None:
    """The cache keeps 1, 1.0 and true apart although Python calls them equal."""
    assert parse(1, GPU) == parse(1.0, GPU) == 1
    with pytest.raises(QuantityError):
        parse(True, GPU)


@pytest.mark.parametrize(
    ("spelling", "resource", "kept"),
    [
        ("0.5", "cpu", "500m"),
        ("1000m", "cpu", "1"),
        ("12000m", "cpu", "12"),
        ("1500", "cpu", "1500"),
        ("2000", "cpu", "2k"),
        ("1024Gi", "memory", "1Ti"),
        ("2048Gi", "memory", "2Ti"),
        ("2000Gi", "memory", "2000Gi"),
        ("1.5Gi", "memory", "1536Mi"),
        ("64G", "memory", "64G"),
        ("1023", "memory", "1023"),
        ("1024", "memory", "1Ki"),
        ("1024000", "memory", "1024k"),
        ("16Ki", "memory", "16Ki"),
        ("10112k", "memory", "9875Ki"),
        ("0Gi", "memory", "0"),
        ("20Ti", "fast.storageclass.storage.k8s.io/requests.storage", "20Ti"),
        ("2Mi", "hugepages-2Mi", "2Mi"),
        ("4.0", GPU, "4"),
        ("1000", GPU, "1k"),
        ("1e3", GPU, "1k"),
        ("1024", GPU, "1024"),
        ("1024", "nvidia.com/mig-1g.10gb", "1024"),
    ],
)
def test_amounts_are_spelt_as_the_cluster_stores_them(spelling: str, resource: str, kept: str) -> None:
    """The canonical text is the one that Kueue's webhook was seen to store, and bytes take the shorter family."""
    assert canonical(parse(spelling, resource), resource) == kept


@pytest.mark.parametrize("amount", [-1, LARGEST + 1])
def test_an_amount_that_no_cluster_would_take_is_not_written(amount: int) -> None:
    """An amount out of range is refused where it would become text, not by the cluster."""
    with pytest.raises(QuantityError):
        canonical(amount, GPU)


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (0, "cpu", "0 cores"),
        (1000, "cpu", "1 core"),
        (1500, "cpu", "1.5 cores"),
        (192_000, "cpu", "192 cores"),
        (-250, "cpu", "-0.25 cores"),
        (0, "memory", "0 GiB"),
        (2000 * 2**30, "memory", "2000 GiB"),
        (2048 * 2**30, "memory", "2 TiB"),
        (1536 * 2**30, "memory", "1.5 TiB"),
        (-(3 * 2**29), "memory", "-1.5 GiB"),
        (12345 * 2**20, "memory", "12345 MiB"),
        (64 * 10**9, "memory", "~59.6 GiB"),
        (-64 * 10**9, "memory", "~-59.6 GiB"),
        (512, "memory", "512 B"),
        (5000 * 2**40, "requests.storage", "5000 TiB"),
        (1000, GPU, "1000"),
        (-8, GPU, "-8"),
    ],
)
def test_plan_texts_show_amounts_in_the_units_people_use(amount: int, resource: str, text: str) -> None:
    """Cores, binary bytes with at most one decimal (rounded ones marked), plain counts; differences keep their sign."""
    assert human(amount, resource) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1, "1"),
        (2.5, "2500m"),
        (1 / 3, "333333u"),
        (12345.6789, "12345678900u"),
        (1000.0, "1k"),
        (0.000001, "1u"),
        (1e9, "1G"),
    ],
)
def test_plain_numbers_are_spelt_as_quantities_to_the_millionth(value: float, text: str) -> None:
    """The spelling is canonical, and read back it is the number that was rounded."""
    assert canonical_number(value) == text
    assert float(number(text)) == pytest.approx(value, abs=5e-7)
