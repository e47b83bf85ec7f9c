"""The node lists under tests/live/nodes: made for the tests, in the form of `kubectl get nodes -o yaml`."""

from __future__ import annotations

import functools
from pathlib import Path

from tenancy.backend import CODES
from tenancy.live.nodes import LiveNode
from tenancy.live.proposal import Proposal
from tenancy.live.proposal_text import text
from tenancy.live.source import nodes_of_file
from tenancy.pipeline import Examined, Options, examine
from tenancy.render.yaml import document

LISTS = Path(__file__).parent / "nodes"
NAMES = sorted(path.name for path in LISTS.iterdir() if path.is_dir())


@functools.cache
def nodes_of(name: str) -> tuple[LiveNode, ...]:
    """The nodes of a list; each is read once in a run."""
    return tuple(nodes_of_file(LISTS / name / "nodes.yaml"))


def organization_of(proposal: Proposal, folder: Path) -> Examined:
    """A minimal organization with the proposal, as a person would paste it, examined."""
    head = {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "clusters": {"main": {"scheduler": "kueue", **proposal.cluster}},
        "departments": {"research": {"teams": {"vision": {}}}},
    }
    path = folder / "org.yaml"
    path.write_text(document(head) + text(proposal), encoding="utf-8")
    return examine(path, Options(accepted=CODES))
