"""KEDA, for teams that scale their work with it: where its operator is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.organization import Org
from tenancy.model.syntax import is_dns_label, is_label_key, is_label_value

KEDA_OPERATOR: Final = Rule(
    "keda-operator",
    Severity.ERROR,
    "A place where KEDA's operator cannot be",
    "Teams with `autoscaling: keda` let these pods in. The API server refuses a policy with what is no name or no "
    "label, and KEDA gets no answer from their services.",
)


def operator(org: Org) -> Iterator[Finding]:
    """The operator's namespace and labels can be ones."""
    written = org.document.network.keda
    path: KeyPath = ("network", "keda")
    if not is_dns_label(written.namespace):
        message = f"`{written.namespace}` cannot be the namespace of KEDA's operator"
        help_ = "write lower-case letters, digits and `-`, at most 63 characters"
        yield Finding(KEDA_OPERATOR, (*path, "namespace"), message, help_)
    for key, value in written.pods.items():
        if not (is_label_key(key) and is_label_value(value)):
            message = f"`{key}: {value}` cannot be a label of KEDA's operator"
            help_ = "write letters, digits, `-`, `_` and `.`, at most 63 characters"
            yield Finding(KEDA_OPERATOR, (*path, "pods", key), message, help_)


CHECKS: Final[tuple[Check, ...]] = (operator,)
RULES: Final[tuple[Rule, ...]] = (KEDA_OPERATOR,)
