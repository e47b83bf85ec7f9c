"""Quantities against a reference written from the documented rules of Kubernetes' resource.Quantity, on Fractions."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenancy.model.quantity import LARGEST, QuantityError, QuantityProblem, canonical, human, parse

DECIMAL_SI = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]
BINARY_SI = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]


def go_value(text: str) -> tuple[Fraction, str]:
    """The exact value of a well-formed quantity, and the format that Go remembers for it."""
    found = re.fullmatch(r"([+-]?[0-9.]+)(.*)", text)
    assert found
    number, suffix = Fraction(found[1].rstrip(".") if found[1][-1] == "." else found[1]), found[2]
    if suffix[1:] == "i":
        return number * 1024 ** BINARY_SI.index(suffix), "BinarySI"
    if suffix in DECIMAL_SI:
        return number * Fraction(1000) ** (DECIMAL_SI.index(suffix) - 3), "DecimalSI"
    assert suffix[0] in "eE"
    return number * Fraction(10) ** int(suffix[1:]), "DecimalExponent"


def go_canonical(text: str) -> str:
    """What Go's `Quantity.String` makes of a quantity that is a multiple of a nano."""
    value, form = go_value(text)
    if value == 0:
        return "0"
    if form == "BinarySI" and (abs(value) < 1024 or value.denominator != 1):
        form = "DecimalSI"
    if form == "BinarySI":
        step = max(power for power in range(7) if value % 1024**power == 0)
        return f"{value / 1024**step}{BINARY_SI[step]}"
    step = max(power for power in range(-3, 7) if (value / Fraction(1000) ** power).denominator == 1)
    digits = value / Fraction(1000) ** step
    if form == "DecimalSI":
        return f"{digits}{DECIMAL_SI[step + 3]}"
    return f"{digits}e{step * 3}" if step else f"{digits}"


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("0.5", "500m"),
        ("1024Gi", "1Ti"),
        ("4.0", "4"),
        ("1000m", "1"),
        ("2048Gi", "2Ti"),
        ("12000m", "12"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("1024Mi", "1Gi"),
        ("0Gi", "0"),
        ("0.5Ki", "512"),
    ],
)
def test_the_reference_agrees_with_what_a_cluster_stored(sent: str, stored: str) -> None:
    """The reference rewrites quantities as a real API server with Kueue's webhook was seen to do."""
    assert go_canonical(sent) == stored


def outcome(text: str, resource: str) -> int | QuantityProblem:
    """The amount, or the kind of the error in its place."""
    try:
        return parse(text, resource)
    except QuantityError as refused:
        return refused.kind


resources = st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "requests.storage"])
round_amounts = st.builds(
    lambda digits, base, power: digits * base**power,
    st.integers(0, 4096),
    st.sampled_from([10, 1000, 1024]),
    st.integers(0, 6),
)
amounts = (st.integers(0, LARGEST) | round_amounts).filter(lambda amount: amount <= LARGEST)
numbers = st.from_regex(r"([0-9]{1,20}(\.[0-9]{0,9})?|\.[0-9]{1,9})", fullmatch=True, alphabet="0123456789.")
suffixes = st.sampled_from(DECIMAL_SI + BINARY_SI) | st.builds(
    "{}{}".format, st.sampled_from("eE"), st.integers(-12, 20)
)
spellings = st.builds("{}{}{}".format, st.sampled_from(["", "+", "-"]), numbers, suffixes)


@given(amounts, resources)
@example(LARGEST, "memory")
@example(1024, "memory")
def test_canonical_is_a_fixed_point_of_go(amount: int, resource: str) -> None:
    """Nothing that is emitted is rewritten by a webhook or the API server, so nothing drifts."""
    text = canonical(amount, resource)
    assert go_canonical(text) == text


@given(amounts, resources)
def test_canonical_is_read_back_as_the_same_amount(amount: int, resource: str) -> None:
    """The canonical spelling loses nothing."""
    assert parse(canonical(amount, resource), resource) == amount


@given(amounts)
@example(9875 * 1024)
def test_bytes_take_the_shorter_family_and_binary_on_a_tie(amount: int) -> None:
    """The spelling depends on the amount alone, by one rule for both families of suffixes."""
    decimal, binary = go_canonical(str(amount)), go_canonical(f"{amount // 1024}Ki")
    expected = binary if amount % 1024 == 0 and len(binary) <= len(decimal) else decimal
    assert canonical(amount, "memory") == expected


@given(spellings, resources)
@example("9223372036854775807", "memory")
@example("9223372036854775808", "memory")
@example("-0", "cpu")
def test_parse_agrees_with_exact_arithmetic(text: str, resource: str) -> None:
    """A spelling gives exactly the amount that its digits say, or the error that its exact value calls for."""
    value = go_value(text)[0] * (1000 if resource == "cpu" else 1)
    if value < 0:
        expected: Fraction | QuantityProblem = QuantityProblem.NEGATIVE
    elif value.denominator != 1:
        expected = QuantityProblem.FRACTION
    else:
        expected = value if value <= LARGEST else QuantityProblem.OVERFLOW
    assert outcome(text, resource) == expected


@given(st.integers(0, 10**9).map(lambda milli: milli / 1000))
def test_a_float_means_its_shortest_decimal(cores: float) -> None:
    """A YAML number such as 0.1 or 0.29 is taken by its digits, without binary rounding."""
    assert parse(cores, "cpu") == Fraction(repr(cores)) * 1000


@given(st.text() | st.text(alphabet="0123456789.eEkKmMGiIbB+-_, \n"), resources)
def test_any_text_is_an_amount_or_a_quantity_error(text: str, resource: str) -> None:
    """No text escapes as another exception, and what is accepted spells an amount in range."""
    got = outcome(text, resource)
    assert isinstance(got, QuantityProblem) or 0 <= got <= LARGEST


@given(st.integers(-LARGEST, LARGEST))
def test_an_unmarked_plan_text_is_exact(amount: int) -> None:
    """Only a text that begins with "~" was rounded, and then by at most a twentieth of its unit."""
    text = human(amount, "memory")
    number, unit = text.removeprefix("~").split(" ")
    size = 1024 ** ["B", "KiB", "MiB", "GiB", "TiB"].index(unit)
    error = abs(Fraction(number) * size - amount)
    assert error <= Fraction(size, 20) if text.startswith("~") else error == 0
