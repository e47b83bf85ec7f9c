"""The domain, and what units put on their namespaces: label and annotation keys, and words for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from tenancy.check.finding import Check, Finding
from tenancy.diagnostics import KeyPath, Rule, Severity
from tenancy.model.organization import Node, Org
from tenancy.model.syntax import is_dns_subdomain, is_label_key, is_label_value

DOMAIN_SYNTAX: Final = Rule(
    "domain-syntax",
    Severity.ERROR,
    "A domain that cannot be the prefix of a label",
    "Every label and annotation begins with it, so the API server would refuse every object.",
)
DOMAIN_RESERVED: Final = Rule(
    "domain-reserved",
    Severity.ERROR,
    "A domain that belongs to Kubernetes or to a component",
    "Kubernetes keeps these prefixes: kubelets may not set such labels on their nodes, and a component that reads "
    "them takes ours for its own.",
)
LABEL_SYNTAX: Final = Rule(
    "label-syntax",
    Severity.ERROR,
    "A label or annotation that Kubernetes does not take",
    "The API server refuses the namespace that carries it, and with it everything that belongs there.",
)
LABEL_RESERVED: Final = Rule(
    "label-reserved",
    Severity.ERROR,
    "A label or annotation that a tool reads",
    "These keys say whose a namespace is, which pods it takes or how it is synced: a unit could set its own security "
    "level or join somebody else's queue with them.",
)
CONTROL_CHARACTERS: Final = Rule(
    "control-characters",
    Severity.ERROR,
    "Characters that are not shown",
    "Such characters break lines in reports, or turn the direction of the text around so that a reviewer reads "
    "something else than what is there.",
)

RESERVED_DOMAINS: Final = ("kubernetes.io", "k8s.io", "nvidia.com", "kueue.x-k8s.io", "x-k8s.io", "volcano.sh")
_OF_TOOLS: Final = (
    *RESERVED_DOMAINS,
    "argocd.argoproj.io",
    "capsule.clastix.io",
    "cattle.io",
    "cilium.io",
    "gatekeeper.sh",
    "iam.amazonaws.com",
    "kyverno.io",
    "openshift.io",
    "projectcalico.org",
    "toolkit.fluxcd.io",
)
"""A namespace with their keys may have other rights: `resource.kubernetes.io/admin-access` opens the devices of others
(dynamic resource allocation), a key of a policy engine can turn it off, one of a tenancy tool moves the namespace."""
_WORDS: Final = "app.kubernetes.io"
"""Keys of Kubernetes that only describe, but for two."""
_SINGLE: Final = ("app.kubernetes.io/managed-by", "app.kubernetes.io/instance")
"""The second is that by which Argo CD may know its own objects: a copy of it makes the namespace another's to prune."""
_TURNING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


def domain(org: Org) -> Iterator[Finding]:
    """The domain is a DNS subdomain of the organization's own."""
    said = org.document.domain
    if not is_dns_subdomain(said):
        help_text = "write a DNS name in lower case without `/`, such as `gpu.acme.example`"
        yield Finding(DOMAIN_SYNTAX, ("domain",), f"`{said}` is not a DNS name", help_text)
        return
    owner = next((each for each in RESERVED_DOMAINS if _below(said, each)), None)
    if owner is not None:
        help_text = (
            "write a DNS name of your own, such as `gpu.acme.example`; without `domain` it is `tenancy.internal`"
        )
        yield Finding(DOMAIN_RESERVED, ("domain",), f"the domain `{said}` belongs to `{owner}`", help_text)


def _below(name: str, domain_: str) -> bool:
    return name == domain_ or name.endswith(f".{domain_}")


def of_units(org: Org) -> Iterator[Finding]:
    """Keys and values of labels and annotations of units."""
    for unit in org.units:
        if unit.document is None or not (unit.document.labels or unit.document.annotations):
            continue
        for kind, pairs in (("labels", unit.document.labels), ("annotations", unit.document.annotations)):
            for key, value in pairs.items():
                yield from _pair(org, unit, kind, key, value)


def _pair(org: Org, unit: Node, kind: str, key: str, value: str) -> Iterator[Finding]:
    path: KeyPath = (*unit.path, kind, key)
    noun = kind.removesuffix("s")
    if not is_label_key(key):
        help_text = (
            "write NAME or DOMAIN/NAME; letters, digits, `-`, `_` and `.`, a letter or digit at both ends, at most "
            "63 characters in NAME"
        )
        yield Finding(LABEL_SYNTAX, path, f"`{unit.title}`: `{key}` is not the key of a {noun}", help_text, at_key=True)
        return
    prefix = key.rpartition("/")[0]
    taken = prefix != _WORDS and any(_below(prefix, each) for each in (*_OF_TOOLS, org.document.domain))
    if key in _SINGLE or (prefix and taken):
        owner = "this tool" if key == _SINGLE[0] or _below(prefix, org.document.domain) else f"`{prefix or key}`"
        yield Finding(
            LABEL_RESERVED,
            path,
            f"`{unit.title}` sets the {noun} `{key}`, which belongs to {owner}",
            "use a key under a domain of your own, such as `acme.example/team`",
            at_key=True,
        )
    if kind == "labels" and not is_label_value(value):
        help_text = (
            "write letters, digits, `-`, `_` and `.`, a letter or digit at both ends, at most 63 characters; other "
            "text belongs in `annotations`"
        )
        yield Finding(LABEL_SYNTAX, path, f"`{unit.title}`: `{value}` is not the value of a label", help_text)


def words(org: Org) -> Iterator[Finding]:
    """Words for people consist of characters that are shown."""
    name = org.document.display_name
    if name is not None:
        yield from _hidden(("displayName",), org.document.name, name)
    for unit in org.units:
        document = unit.document
        if document is None:
            continue
        if document.display_name is not None:
            yield from _hidden((*unit.path, "displayName"), unit.title, document.display_name)
        if document.owner is not None:
            yield from _hidden((*unit.path, "owner"), unit.title, document.owner)
        if document.cost_center is not None:
            yield from _hidden((*unit.path, "costCenter"), unit.title, document.cost_center)
        for key, value in document.annotations.items():
            lines = value.replace("\n", " ").replace("\t", " ")  # of a text that some tool reads
            yield from _hidden((*unit.path, "annotations", key), unit.title, lines)


def _hidden(path: KeyPath, title: str, text: str) -> Iterator[Finding]:
    if text.isprintable():
        return
    found = next((each for each in text if each in _TURNING or unicodedata.category(each) in ("Cc", "Cs", "Co")), None)
    if found is not None:
        yield Finding(
            CONTROL_CHARACTERS,
            path,
            f"`{path[-1]}` of `{title}` contains the character U+{ord(found):04X}",
            "delete the character",
        )


RULES: Final = (DOMAIN_SYNTAX, DOMAIN_RESERVED, LABEL_SYNTAX, LABEL_RESERVED, CONTROL_CHARACTERS)
CHECKS: Final[tuple[Check, ...]] = (domain, of_units, words)
