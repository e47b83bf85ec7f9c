"""How the time and memory of one compilation divide among the stages, in one process; prints JSON for `tools/bench.py`.

    python tools/bench_stages.py ORG OUT

The stages run one after the other and each finishes before the next begins, so that a timer can stand between them.
`tenancy compile` streams objects from the backend into text: its peak of memory is lower, and is not taken here.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

START = perf_counter()


def stages(path: Path, out: Path) -> dict[str, float]:
    """Seconds of each stage of a first compilation of `path` to `out`, which must not exist."""
    seconds: dict[str, float] = {}

    @contextmanager
    def timed(name: str) -> Iterator[None]:
        before = perf_counter()
        yield
        seconds[name] = seconds.get(name, 0.0) + perf_counter() - before

    from tenancy.backend import BACKENDS  # noqa: PLC0415 - importing is one of the stages
    from tenancy.backend.manifest import Manifest  # noqa: PLC0415
    from tenancy.check import check  # noqa: PLC0415
    from tenancy.load import load  # noqa: PLC0415
    from tenancy.model.budgets import promise  # noqa: PLC0415
    from tenancy.model.organization import organize  # noqa: PLC0415
    from tenancy.model.parse import parse  # noqa: PLC0415
    from tenancy.output.write import survey, write  # noqa: PLC0415
    from tenancy.plan import plan  # noqa: PLC0415
    from tenancy.render.conform import checker  # noqa: PLC0415
    from tenancy.render.kustomize import kustomizations  # noqa: PLC0415
    from tenancy.render.yaml import documents  # noqa: PLC0415

    seconds["import"] = perf_counter() - START
    with timed("load"):
        loaded, _ = load(path)
    if loaded is None:
        raise SystemExit(f"{path} cannot be read")
    with timed("parse"):
        parsed, _ = parse(loaded.tree, loaded.sources)
    if parsed.organization is None:
        raise SystemExit(f"{path} cannot be parsed")
    with timed("organize"):
        org = organize(parsed.organization, parsed.left_out)
        promise(org)
    with timed("check"):
        check(org, loaded.sources, None)
    with timed("plan"):
        plans = plan(org)
    files: dict[str, str] = {}
    for cluster in plans:
        with timed("backend"):
            items = list(BACKENDS[cluster.cluster.scheduler](cluster))
        manifests = {f"{cluster.name}/{item.path}": item.objects for item in items if isinstance(item, Manifest)}
        with timed("conform"):
            violations = checker(kubernetes=cluster.kubernetes, kueue=cluster.kueue, volcano=cluster.volcano)
            if any(violations(each) for objects in manifests.values() for each in objects):
                raise SystemExit("an object does not conform")
        with timed("emit"):
            files |= {path: documents(objects) for path, objects in manifests.items()}
            files |= kustomizations(manifests)
    with timed("survey"):
        surveyed = survey(out, files)
    with timed("write"):
        write(out, files, surveyed)
    return seconds


if __name__ == "__main__":
    gc.disable()
    print(json.dumps(stages(Path(sys.argv[1]), Path(sys.argv[2]))))
