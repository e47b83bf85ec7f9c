"""The jinja2 environment of users' templates: every value is quoted, nothing is read, and the work is bounded.

A template is untrusted twice: names and texts of the organization pass through it, and a pull request may bring it. So
an expression always writes one whole YAML value, whatever is in it; filters, methods and statements are those below.
jinja2's own sandbox guards the interpreter; the bounds are ours, since it lets loops nest and texts grow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from typing import Any, Final

from jinja2 import StrictUndefined
from jinja2.exceptions import TemplateRuntimeError
from jinja2.filters import FILTERS
from jinja2.runtime import LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS

from tenancy.check.wording import listed
from tenancy.render.yaml import flow

WORK: Final = 4 * 1024 * 1024
"""What one rendering may spend: one for each item of a loop, a filter or a comparison, and for each character of a
joined text."""
LARGEST_INTEGER: Final = 2**63 - 1
_CHARACTERS: Final = 64
"""Of a text that is only read, for one step."""

START, END, LINE = "\x01", "\x02", "\x00"
"""Marks in the rendered text: around a value, and around the number of the template's line. No value or template can
hold them: values are escaped, and the loader refuses templates with control characters."""

COUNTED: Final = "tenancy.counted"
JOINED: Final = "tenancy.joined"
READ: Final = "tenancy.read"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILTERS: Final = _words(
    "abs capitalize count d default dictsort first groupby int items last length list lower map max min reject "
    "rejectattr reverse select selectattr sort sum title trim unique upper"
)
_METHODS: Final[Mapping[type, frozenset[str]]] = {
    str: _words(
        "capitalize endswith isalnum isalpha isdigit lower lstrip removeprefix removesuffix rsplit rstrip split "
        "startswith strip title upper"
    ),
    dict: _words("get items keys values"),
    LoopContext: _words("changed cycle depth first index index0 last length nextitem previtem revindex"),
}


class TooMuch(Exception):
    """The template does more than it may."""


class Unwritable(Exception):
    """A value that has no place in an object; the text says which."""


@dataclass(slots=True)
class Meter:
    """What is left to spend in a rendering."""

    left: int = WORK

    def spend(self, amount: int) -> None:
        """Take steps off what is left. Raises TooMuch where there are not enough."""
        self.left -= amount
        if self.left < 0:
            raise TooMuch(f"the template takes more than {WORK:,} steps")


class _Missing(StrictUndefined):
    """A missing key, in words for a finding: its message, and in a second line its help, which names what there is."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        name, owner = self._undefined_name, self._undefined_obj
        if not isinstance(owner, dict) or not isinstance(name, str):
            return str(super()._undefined_message)
        near = get_close_matches(name, owner, 1, 0.6)
        known = f"did you mean `{near[0]}`?" if near else f"there is {listed([*map(str, owner)]) or 'nothing'}"
        return f"there is no `{name}` here\n{known}"


class Sandbox(ImmutableSandboxedEnvironment):
    """jinja2's sandbox with short lists of what may be called, and a meter."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self) -> None:
        super().__init__(
            undefined=_Missing,
            autoescape=False,  # JSON's quotes are the escape here, and the finalizer sets them
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            optimized=False,
        )
        self.meter = Meter()
        self.globals = {"range": self.globals["range"]}
        self.filters = {name: self._metered(FILTERS[name]) for name in _FILTERS}
        self.tests = {name: self._metered(test) for name, test in dict[str, Any](TESTS).items()}
        self.filters |= {
            COUNTED: self._counted,
            JOINED: self._joined,
            READ: self._read,
            "join": lambda values, between="": self._joined(values, between),
            "replace": self._replaced,
            "string": _text,
            "sum": self._summed,
            "tojson": self._json,
        }
        self.finalize = self._written

    def getattr(self, obj: Any, attribute: str) -> Any:
        """An entry of a mapping before a method of the same name, so that a flavor may be called `items`."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:  # noqa: ARG002
        """Only the listed methods of plain values, and the parts of a group."""
        return attr in _METHODS.get(type(obj), ()) or (isinstance(obj, tuple) and attr in ("grouper", "list"))

    def wrap_str_format(self, value: Any) -> None:
        """No `format`: its widths are unbounded, and jinja2 allows it before it asks `is_safe_attribute`."""

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A method goes over its object, and `strip` over its argument for each character of that."""
        self.meter.spend(_size(getattr(obj, "__self__", None)) * max([1, *map(_size, args)]))
        return super().call(context, obj, *args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """The operator, with bounded operands and a bounded result. Raises TooMuch where they are not."""
        if any(isinstance(each, int) and abs(each) > LARGEST_INTEGER for each in (left, right)):
            raise TooMuch("a number is larger than 64 bits")
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if operator == "+" and not numbers:
            self.meter.spend(_size(left) + _size(right))
        elif operator == "*" and not numbers:
            self.meter.spend(max(_size(left), 1) * abs(right if isinstance(right, int) else left))
        elif operator == "%" and not numbers:
            raise Unwritable("`%` does not format texts; `~` puts them together")
        elif operator == "**" and abs(right) > 64:
            raise TooMuch(f"the power {right} is too high")
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and abs(result) > LARGEST_INTEGER:
            raise TooMuch("a number is larger than 64 bits")
        return result

    def _counted(self, values: Iterable[Any]) -> Iterable[Any]:
        """`values` of a loop, paid for before it begins."""
        if isinstance(values, Undefined):
            str(values)
        sized = values if isinstance(values, Sized) else list(values)
        self.meter.spend(len(sized))
        return sized

    def _joined(self, values: Iterable[Any], between: str = "") -> str:
        texts = []
        for value in values:
            texts.append(value if isinstance(value, str) else _text(value))
            self.meter.spend(len(texts[-1]) + len(between) + 1)
        return between.join(texts)

    def _replaced(self, text: str, old: str, new: str) -> str:
        self.meter.spend(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
        return text.replace(old, new)

    def _summed(self, values: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
        """The sum of numbers. Of lists each step would copy all that came before it."""
        if not isinstance(start, int | float):
            raise Unwritable("`sum` adds numbers; a loop goes over lists in lists")
        self.meter.spend(_size(values))
        return FILTERS["sum"](self, values, attribute, start)

    def _json(self, value: Any) -> str:
        """The value as a JSON text, for programs that read it from a ConfigMap."""
        if isinstance(value, Undefined):
            str(value)
        text = json.dumps(self._read(value), ensure_ascii=False)
        self.meter.spend(len(text))
        return text

    def _written(self, value: Any) -> str:
        """The finalizer: each value as one YAML value, between marks."""
        if isinstance(value, Undefined):
            str(value)
        return f"{START}{_flow(self._read(value))}{END}"

    def _read(self, value: Any) -> Any:
        """`value`, paid for with all that is in it: a list that holds another twice is as long as it is written."""
        waiting = [value]
        while waiting:
            each = waiting.pop()
            if isinstance(each, str):
                self.meter.spend(1 + len(each) // _CHARACTERS)
            elif isinstance(each, Mapping):
                self.meter.spend(1 + len(each))
                waiting += each.values()
            elif isinstance(each, list | tuple):
                self.meter.spend(1 + len(each))
                waiting += each
            else:
                self.meter.spend(_size(each))
        return value

    def _metered(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter or a test that pays for what it goes over. jinja2 may put its own argument before the value."""
        index = 1 if hasattr(function, "jinja_pass_arg") else 0

        @wraps(function)
        def paid(*args: Any, **kwargs: Any) -> Any:
            self._read(args[index:])
            return function(*args, **kwargs)

        return paid


def _flow(value: Any) -> str:
    try:
        return flow(_plain(value))
    except (TypeError, ValueError, RecursionError) as error:
        noun = type(value).__name__
        raise Unwritable(f"a value of type `{noun}` cannot be written into an object") from error


def _plain(value: Any) -> Any:
    """Tuples, as `items` and `groupby` make them, and views of mappings as lists."""
    if type(value) is dict:
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple) or type(value) in (type({}.keys()), type({}.values()), type({}.items())):
        return [_plain(item) for item in value]
    return value


def _text(value: Any) -> str:
    """A value as part of a text: numbers and words as YAML has them, and nothing for null."""
    if isinstance(value, Undefined):
        str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    raise Unwritable(f"a value of type `{type(value).__name__}` cannot be part of a text; `tojson` makes it one")


def _size(value: Any) -> int:
    return len(value) if isinstance(value, Sized) and not isinstance(value, Undefined) else 1


FAILURES: Final = (
    TemplateRuntimeError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What an expression of a template may raise besides `TooMuch` and `Unwritable`."""
