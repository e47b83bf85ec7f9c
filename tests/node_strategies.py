"""Random organizations about nodes: boards, MIG layouts, shares, taints, names and autoscalers of every kind.

Valid by construction, as in `tests/strategies.py`; budgets are small, since nodes do not ask for them.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

PLAIN = ("H100-SXM-80GB", "L4", "T4")
LAYOUTS = {
    "A100-SXM4-80GB": ({"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2}, {"1g.10gb": 7}, {"1g.10gb+me": 1, "2g.20gb": 3}),
    "A30": ({"2g.12gb": 1, "1g.6gb": 2}, {"1g.6gb": 4}),
    "RTX-PRO-6000": ({"1g.24gb": 4}, {"1g.24gb+me.all": 1, "1g.24gb-me": 3}),
}
"""Layouts by board; each fits on one GPU."""
KEYS = ("gpu.acme.example/reserved", "gpu-reserved", "nvidia.com/gpu", "node.kubernetes.io/pool", "acme.example/stage")
"""Taint keys that feature rules may and may not set."""
DAEMONS = {"cpu": 2, "memory": "4Gi"}


@st.composite
def taints(draw: DrawFn) -> list[str]:
    """Up to two taints of different keys, with and without a value, of every effect."""
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
    effects = st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule"))
    return [f"{key}{draw(st.sampled_from(('', '=one', '=two')))}:{draw(effects)}" for key in keys]


@st.composite
def flavors(draw: DrawFn, cluster: str, name: str, single: bool) -> dict[str, Any]:
    """A GPU flavor of a cluster, or now and then a CPU flavor."""
    nodes = draw(st.integers(2, 6))
    flavor: dict[str, Any] = {"cluster": cluster, "nodes": nodes, "daemons": DAEMONS, "taints": draw(taints())}
    named = draw(st.booleans())
    if named:
        flavor["nodeNames"] = [f"{name}-*"]
    kind = draw(st.sampled_from(("cpu", "plain", "mig", "shared")))
    if kind == "cpu":
        return {**flavor, "node": {"cpu": 64, "memory": "256Gi"}}
    gpus = draw(st.sampled_from((2, 4)))
    flavor["node"] = {"gpus": gpus, "cpu": 64, "memory": "512Gi"}
    if kind == "mig":
        board = draw(st.sampled_from(sorted(LAYOUTS)))
        return {**flavor, "gpu": board, "mig": draw(_layouts(board, nodes, gpus, single))}
    flavor["gpu"] = draw(st.sampled_from(PLAIN))
    if kind == "shared":
        way = draw(st.sampled_from(("timeSlicing", "mps")))
        flavor["sharing"] = {way: draw(st.integers(2, 8)), "acrossDepartments": True}
    elif draw(st.integers(0, 3)) == 3:
        flavor["autoscaling"] = "karpenter"
    return flavor


@st.composite
def _layouts(draw: DrawFn, board: str, nodes: int, gpus: int, single: bool) -> Any:
    """One layout, or two that divide the nodes or the GPUs of each node; one profile only for the strategy `single`."""
    if single:
        profile, count = draw(st.sampled_from((("1g.10gb", 7),) if board.startswith("A100") else _alike(board)))
        return {profile: count}
    one, other = draw(st.sampled_from(LAYOUTS[board])), draw(st.sampled_from(LAYOUTS[board]))
    by_nodes = [{"nodes": 1, **one}, {"nodes": nodes - 1, **other}]
    by_gpus = [{"gpus": 1, **draw(st.sampled_from((one, {})))}, {"gpus": gpus - 1, **other}]
    return draw(st.sampled_from((one, by_nodes, by_gpus)))


def _alike(board: str) -> tuple[tuple[str, int], ...]:
    return tuple(next(iter(layout.items())) for layout in LAYOUTS[board] if len(layout) == 1)


@st.composite
def node_organizations(draw: DrawFn) -> dict[str, Any]:
    """A valid organization: one or two clusters, up to four flavors in each, and a team that has a little of each."""
    clusters: dict[str, Any] = {}
    drawn: dict[str, Any] = {}
    for cluster in draw(st.sampled_from((["train"], ["train", "serve"]))):
        single = draw(st.booleans())
        clusters[cluster] = {"scheduler": draw(st.sampled_from(("kueue", "volcano")))}
        if single:
            clusters[cluster]["gpuOperator"] = {"migStrategy": "single"}
        for index in range(draw(st.integers(1, 4))):
            name = f"{cluster}-{index}"
            drawn[name] = draw(flavors(cluster, name, single))
    budget = {name: _little(flavor) for name, flavor in drawn.items()}
    return {
        "apiVersion": "tenancy/v1alpha1",
        "kind": "Organization",
        "name": "acme",
        "domain": "gpu.acme.example",
        "clusters": clusters,
        "flavors": drawn,
        "departments": {"lab": {"budget": budget, "teams": {"dev": {"budget": budget}}}},
    }


def _little(flavor: dict[str, Any]) -> Any:
    """One of each thing that the flavor has."""
    if "gpu" not in flavor:
        return {"cpu": 4, "memory": "16Gi"}
    layout = flavor.get("mig")
    if layout is None:
        return 1
    parts = layout if isinstance(layout, list) else [layout]
    keys = {key for part in parts for key in part if key not in ("gpus", "nodes")}
    whole = any(not set(part) - {"gpus", "nodes"} for part in parts)
    return dict.fromkeys(sorted(keys), 1) | ({"gpus": 1} if whole else {})
