"""Kubernetes quantities as integers in base units, and back to their canonical spelling.

The base unit of cpu is the thousandth of a core; that of every other resource is the whole unit (bytes, GPUs, MIG
slices). Kueue counts in the same units. Grammar and canonical form are those of `resource.Quantity` in Kubernetes'
apimachinery.
"""

from __future__ import annotations

import re
from enum import Enum, StrEnum
from fractions import Fraction
from functools import lru_cache

LARGEST = 2**63 - 1
"""The most base units that an amount may have: Kubernetes and Kueue count in int64."""

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = ("", *_BINARY)
_HUMAN_BYTES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))

_LONGEST_TEXT = 100
"""Longer texts are refused unread: no amount needs them, and Python's integers would be slow on them."""
_LARGEST_EXPONENT = 200
"""A power of ten beyond this leaves the range of amounts for every text of at most `_LONGEST_TEXT` characters."""

_NUMBER = r"[0-9]+\.?[0-9]*|\.[0-9]+"
_QUANTITY = re.compile(rf"([+-]?)({_NUMBER})(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?[0-9]+))?")
_WITH_WORD = re.compile(rf"([+-]?(?:{_NUMBER}))([A-Za-z]+)")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[,_'][0-9]{3})+")


class QuantityProblem(StrEnum):
    """In which way a text is no amount of its resource."""

    SYNTAX = "syntax"
    NEGATIVE = "negative"
    FRACTION = "fraction"
    """Finer than the base unit: half a GPU, half a byte, a tenth of a milli-cpu."""
    OVERFLOW = "overflow"
    """Above `LARGEST` base units."""


class QuantityError(ValueError):
    """What is wrong with a quantity: `kind` for programs, `reason` (which may end in a suggestion) for people."""

    def __init__(self, kind: QuantityProblem, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class _Unit(Enum):
    MILLI_CPU = "thousandths of a core"
    BYTE = "bytes"
    COUNT = "units"


def parse(value: object, resource: str) -> int:
    """The amount in base units of `resource` that a YAML value (text, int or float) says.

    Exact: a float is read by its shortest decimal spelling, so 0.1 cpu is 100. Raises `QuantityError`.
    """
    if isinstance(value, str | int | float):
        return _parse(value, resource)
    raise QuantityError(QuantityProblem.SYNTAX, f"{_kind_of(value)} is not a quantity")


def amount(value: object, resource: str) -> int | None:
    """A quantity in base units, or None where it cannot be read."""
    try:
        return parse(value, resource)
    except QuantityError:
        return None


@lru_cache(maxsize=1 << 16)  # quotas and limits repeat: a few hundred spellings make up thousands of objects
def canonical(amount: int, resource: str) -> str:
    """The spelling of `amount` base units that Go's `Quantity.String` leaves unchanged (no fraction, largest suffix).

    Depends on the amount alone: bytes take the shorter of the binary and the decimal form, the binary one on a tie.
    Raises `QuantityError` for an amount that no `parse` returns, which would otherwise reach a cluster.
    """
    _require_range(amount, str(amount) if abs(amount) <= LARGEST else "the amount")
    unit = _unit(resource)
    decimal = _canonical_decimal(amount, -3 if unit is _Unit.MILLI_CPU else 0)
    if unit is not _Unit.BYTE or amount == 0 or amount % 1024:
        return decimal
    binary = _canonical_binary(amount)
    return binary if len(binary) <= len(decimal) else decimal


def number(text: str) -> Fraction:
    """The plain number that a quantity such as `2500m` stands for. Raises `QuantityError`."""
    return Fraction(*_ratio(text, 1))


def canonical_number(value: float) -> str:
    """The canonical spelling of a plain number of 0 or more, such as a weight, rounded to millionths."""
    return _canonical_decimal(round(Fraction(str(value)) * 10**6), -6)


def human(amount: int, resource: str) -> str:
    """`amount` base units for a plan text: "1.5 cores", "2000 GiB", "8". Negative amounts (differences) are welcome.

    Bytes have at most one decimal; a leading "~" says that they were rounded to it.
    """
    sign, size = "-" if amount < 0 else "", abs(amount)
    match _unit(resource):
        case _Unit.MILLI_CPU:
            cores = f"{size // 1000}.{size % 1000:03}".rstrip("0").rstrip(".")
            return f"{sign}{cores} {'core' if size == 1000 else 'cores'}"
        case _Unit.BYTE:
            about, text = _human_bytes(size)
            return f"{about}{sign}{text}"
        case _Unit.COUNT:
            return f"{sign}{size}"


@lru_cache(maxsize=256)
def _unit(resource: str) -> _Unit:
    """The base unit of a resource, also behind the prefixes that ResourceQuota puts before names."""
    name = resource.rpartition("/")[2] if resource.endswith("/requests.storage") else resource
    name = name.removeprefix("requests.").removeprefix("limits.")
    if name == "cpu":
        return _Unit.MILLI_CPU
    if name in ("memory", "storage", "ephemeral-storage") or name.startswith("hugepages-"):
        return _Unit.BYTE
    return _Unit.COUNT


# Typed, because 1, 1.0 and True are one key otherwise.
@lru_cache(maxsize=4096, typed=True)
def _parse(value: str | float, resource: str) -> int:
    """An organization repeats few spellings thousands of times; errors are not cached, they are rare."""
    if isinstance(value, bool):
        raise QuantityError(QuantityProblem.SYNTAX, "true and false are not quantities")
    per_unit = 1000 if _unit(resource) is _Unit.MILLI_CPU else 1
    if isinstance(value, int):
        amount = value * per_unit
        _require_range(amount, f"`{value}`" if abs(value) <= LARGEST else "the number")
        return amount
    text = value if isinstance(value, str) else repr(value)
    numerator, denominator = _ratio(text, per_unit)
    amount, over = divmod(numerator, denominator)
    if amount < 0:
        raise QuantityError(QuantityProblem.NEGATIVE, f"{_shown(text)} is negative")
    if over:
        raise QuantityError(QuantityProblem.FRACTION, _fraction_reason(text, resource))
    _require_range(amount, _shown(text))
    return amount


def _ratio(text: str, per_unit: int) -> tuple[int, int]:
    """The quantity times `per_unit` as numerator and positive denominator."""
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if found is None:
        raise QuantityError(QuantityProblem.SYNTAX, _syntax_reason(text))
    sign, number, suffix, power = found.groups()
    whole, _, decimals = number.partition(".")
    digits = int(whole + decimals) * per_unit
    if suffix in _BINARY:
        numerator, denominator = digits << _BINARY[suffix], 10 ** len(decimals)
    else:
        exponent = int(power) if power else _DECIMAL[suffix or ""]
        exponent = max(-_LARGEST_EXPONENT, min(exponent, _LARGEST_EXPONENT)) - len(decimals)
        numerator, denominator = digits * 10 ** max(exponent, 0), 10 ** max(-exponent, 0)
    return (-numerator if sign == "-" else numerator), denominator


def _require_range(amount: int, shown: str) -> None:
    if amount < 0:
        raise QuantityError(QuantityProblem.NEGATIVE, f"{shown} is negative")
    if amount > LARGEST:
        raise QuantityError(
            QuantityProblem.OVERFLOW, f"{shown} is more than Kubernetes can count (2^63 - 1 base units)"
        )


def _canonical_decimal(digits: int, exponent: int) -> str:
    """Digits times ten to the exponent, without a fraction, with the largest suffix that loses nothing."""
    if digits == 0:
        return "0"
    while digits % 1000 == 0:
        digits, exponent = digits // 1000, exponent + 3
    return f"{digits}{_DECIMAL_SUFFIX[exponent]}"


def _canonical_binary(amount: int) -> str:
    """A positive multiple of 1024 with the largest binary suffix that loses nothing."""
    step = 0
    while amount % 1024 == 0:
        amount, step = amount // 1024, step + 1
    return f"{amount}{_BINARY_SUFFIX[step]}"


def _human_bytes(size: int) -> tuple[str, str]:
    """A marker for rounded amounts, and the text: in the largest unit that fits, or exactly in the next smaller one."""
    if size == 0:
        return "", "0 GiB"
    at = next(index for index, (unit, _) in enumerate(_HUMAN_BYTES) if size >= unit)
    unit, name = _HUMAN_BYTES[at]
    if size * 10 % unit:
        smaller, smaller_name = _HUMAN_BYTES[at + 1]
        if size % smaller == 0:
            return "", f"{size // smaller} {smaller_name}"
    tenths = (size * 10 + unit // 2) // unit
    decimal = f".{tenths % 10}" if tenths % 10 else ""
    return ("~" if size * 10 % unit else ""), f"{tenths // 10}{decimal} {name}"


def _fraction_reason(text: str, resource: str) -> str:
    unit = _unit(resource)
    if unit is _Unit.BYTE and text.endswith("m"):
        return f"`{text}` is in thousandths of a byte; did you mean `{text[:-1]}M` or `{text[:-1]}Mi`?"
    return f"`{text}` is not a whole number of {resource if unit is _Unit.COUNT else unit.value}"


def _syntax_reason(text: str) -> str:
    """Why the text is no quantity, with the spelling that was probably meant."""
    if len(text) > _LONGEST_TEXT:
        return f"a quantity has at most {_LONGEST_TEXT} characters"
    if not text or text.isspace():
        return "a quantity must not be empty"
    together = "".join(text.split())
    if together != text:
        meant = f"; did you mean `{together}`?" if _QUANTITY.fullmatch(together) else ""
        return f"{_shown(text)} has a blank in it{meant}"
    if _GROUPED.match(text):
        ungrouped = re.sub(r"[,_']", "", text)
        if _QUANTITY.fullmatch(ungrouped):
            return f"{_shown(text)} has digit separators; did you mean `{ungrouped}`?"
    if "," in text and _QUANTITY.fullmatch(text.replace(",", ".")):
        return f"{_shown(text)} has a decimal comma; did you mean `{text.replace(',', '.')}`?"
    worded = _WITH_WORD.fullmatch(text)
    if worded is None:
        return f"{_shown(text)} is not a number with a suffix such as m, k, G or Gi"
    number, word = worded.groups()
    meant = " or ".join(f"`{number}{suffix}`" for suffix in _similar_suffixes(word))
    return f"{_shown(text)} has the unknown suffix `{word}`" + (f"; did you mean {meant}?" if meant else "")


def _similar_suffixes(word: str) -> list[str]:
    """The suffixes that people mean by "gb", "GiB", "gi", "K" and the like."""
    plain = word.lower().removesuffix("b")
    if not plain:
        return [""]
    decimal, binary = "k" if plain == "k" else plain.upper(), plain[:1].upper() + "i"
    if len(plain) == 1:
        return [suffix for suffix in (decimal, binary) if suffix in _DECIMAL or suffix in _BINARY]
    return [binary] if binary in _BINARY and plain == binary.lower() else []


def _kind_of(value: object) -> str:
    return {type(None): "null", list: "a list", dict: "a mapping"}.get(type(value), f"a {type(value).__name__}")


def _shown(text: str) -> str:
    """The text in quotes; with escapes where it would not print."""
    return f"`{text}`" if text.isprintable() else repr(text)
