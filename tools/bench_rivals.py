"""What `tools/bench.py` measures tenancy against: two programs that do less, from the same input to the same output.

    python tools/bench_rivals.py prepare ORG DATA    compile ORG in this process; keep its objects and its texts in DATA
    python tools/bench_rivals.py script ORG DATA OUT
    python tools/bench_rivals.py floor ORG DATA OUT

`script` is what a platform team usually has: load the organization with PyYAML's C loader, dump the objects with its C
dumper, write. It checks nothing. Its objects are read from DATA, which is cheaper than building them (no reference is
shared, so that the dumper writes no anchors): its cost is load, dump and write alone.

`floor` is the least that a Python program with positions could do: visit libyaml's events of the organization, write
the bytes of tenancy's output. It builds nothing, checks nothing, and makes no text.
"""

from __future__ import annotations

import gc
import json
import marshal
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def prepare(org: Path, data: Path) -> None:
    """Keep one record a file of output, so that a rival holds no more than one at a time."""
    from tenancy.backend import BACKENDS  # noqa: PLC0415 - the rivals themselves must not pay for it
    from tenancy.backend.manifest import Manifest  # noqa: PLC0415
    from tenancy.pipeline import examine, generate  # noqa: PLC0415
    from tenancy.plan import plan  # noqa: PLC0415

    gc.disable()
    data.mkdir()
    found = examine(org)
    if found.org is None or found.diagnostics:
        raise SystemExit(f"the generated organization has findings: {[each.message for each in found.diagnostics[:5]]}")
    with open(data / "objects", "wb") as file:
        for cluster in plan(found.org):
            for item in BACKENDS[cluster.cluster.scheduler](cluster):
                if isinstance(item, Manifest):
                    marshal.dump((f"{cluster.name}/{item.path}", json.loads(json.dumps(item.objects))), file)
    with open(data / "texts", "wb") as file:
        for path, text in generate(found.org, found.custom).items():
            marshal.dump((path, text.encode()), file)


def script(org: Path, data: Path, out: Path) -> None:
    """Load with CSafeLoader, dump with CSafeDumper, write; the collector stays on, as in any script."""
    import yaml  # noqa: PLC0415 - `prepare` must not pay for it

    for source in _sources(org):
        yaml.load(source.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    for path, objects in _records(data / "objects"):
        _write(out, path, yaml.dump_all(objects, Dumper=yaml.CSafeDumper, sort_keys=False).encode())


def floor(org: Path, data: Path, out: Path) -> None:
    """Visit the events, write the bytes."""
    import yaml  # noqa: PLC0415 - as above

    gc.disable()
    for source in _sources(org):
        for _ in yaml.parse(source.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
            pass
    for path, text in _records(data / "texts"):
        _write(out, path, text)


def _sources(org: Path) -> list[Path]:
    return [org / "org.yaml", *sorted((org / "departments").glob("*.yaml"))]


def _records(file: Path) -> Iterator[tuple[str, Any]]:
    with open(file, "rb") as opened:
        while opened.peek(1):
            yield marshal.load(opened)


def _write(out: Path, path: str, content: bytes) -> None:
    name = f"{out}/{path}"
    os.makedirs(name.rpartition("/")[0], exist_ok=True)
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    os.write(descriptor, content)
    os.close(descriptor)


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"prepare": prepare, "script": script, "floor": floor}
    commands[sys.argv[1]](*map(Path, sys.argv[2:]))
