"""What all parts of the language share: strict documents, and amounts as they may be written."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PlainValidator, Tag, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

API_VERSION = "tenancy/v1alpha1"
TRIPLE = ("reserved", "quota", "limit")
NODE_RESOURCES = ("gpus", "cpu", "memory")


def _scalar(value: Any) -> str | int | float:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    raise PydanticCustomError("scalar_type", "Input should be a number or a quantity such as 64Gi")


Scalar: TypeAlias = Annotated[
    Any,
    PlainValidator(_scalar),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}),
]
"""A quantity as written: a number or a text such as `64Gi` or `500m`; `tenancy.check.quantities` judges it."""

Amounts: TypeAlias = Annotated[
    dict[str, Scalar], Field(json_schema_extra={"propertyNames": {"not": {"enum": list(TRIPLE)}}})
]
"""From a resource (`gpus`, `cpu`, `memory`, a MIG profile) to its quantity."""


def _shape_of_amount(value: Any) -> str:
    return "(amounts)" if isinstance(value, Mapping) else "(amount)"


def _shape_of_entry(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "(amount)"
    keys = [key for key in value if isinstance(key, str)]
    if any(key in TRIPLE for key in keys):
        return "(triple)"
    return "(triple)" if any(map(_is_like_triple, keys)) else "(amounts)"


@lru_cache(maxsize=256)
def _is_like_triple(key: str) -> bool:
    """Whether a key is probably a misspelt `reserved`, `quota` or `limit`; the same few keys come in every budget."""
    return key not in NODE_RESOURCES and bool(get_close_matches(key, TRIPLE, 1, 0.7))


def shape_of_text(value: Any) -> str:
    """What a value looks like, to tell the alternatives of a union apart; a number counts as text."""
    if isinstance(value, Mapping):
        return "(mapping)"
    return "(list)" if isinstance(value, list) else "(text)"


Amount: TypeAlias = Annotated[
    Annotated[Scalar, Tag("(amount)")] | Annotated[Amounts, Tag("(amounts)")], Discriminator(_shape_of_amount)
]


class Document(BaseModel):
    """What all parts of the language share: no unknown keys, no silent conversions, read-only once parsed."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=False,
        protected_namespaces=(),
    )

    def __hash__(self) -> int:
        """Equal documents have equal hashes, if few different ones: what counts is to be hashable at all.

        A default that is not hashable is copied, deeply, for every unit that leaves it out.
        """
        return hash(type(self))


class Triple(Document):
    """The three promises of a budget entry: reserved ≤ quota ≤ limit."""

    reserved: Amount | None = Field(
        None,
        description="Never lent: free the moment the unit asks. Default 0 for a team, the children's sum otherwise.",
    )
    quota: Amount | None = Field(
        None,
        description="The unit's own: lent when idle, taken back on demand. `share` splits what the siblings leave by weight.",
    )
    limit: Amount | None = Field(
        None,
        description="Never more than this, borrowing included. Default: what the ancestors and `policy.borrowing` allow.",
    )


BudgetEntry: TypeAlias = Annotated[
    Annotated[Scalar, Tag("(amount)")] | Annotated[Amounts, Tag("(amounts)")] | Annotated[Triple, Tag("(triple)")],
    Discriminator(_shape_of_entry),
]
