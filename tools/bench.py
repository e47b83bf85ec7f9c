"""How fast `tenancy compile` is, against what a script would do and against a floor; budgets are checked in ratios.

    python tools/bench.py [--teams 10,100,1000,10000] [--rounds 5]

Whole processes are measured in turn (first run, unchanged run, the same with --no-cache, script, floor, and again),
each into a fresh folder on a memory file system where there is one: wall time from spawn to reap, CPU time and peak
memory from wait4. Ratios are of CPU time, since every program here is one thread that waits for nothing, and wall time
counts the machine's neighbours too; they are taken round by round, so that a slow minute hits both sides. Every process
finds its modules compiled, as installed ones are (a run that is not counted compiles them). What the rivals do is in
`bench_rivals.py`, the organizations in `bench_org.py`, the division among stages in `bench_stages.py`. This process
stays small and imports nothing of ours: the kernel counts the parent's pages as a child's peak until it has started.

Exit status: 0 within the budgets, 1 beyond one. Never part of the tests: the numbers depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

TOOLS: Final = Path(__file__).parent
MIB: Final = 1024 * 1024
MEMORY_FILE_SYSTEM: Final = Path("/dev/shm")

OF_SCRIPT: Final = {1000: 0.35, 10000: 0.25}
"""At most this part of the script's time, by number of teams, with all checks on."""
OF_FIRST: Final = 0.8
"""An unchanged run takes at most this part of a first one (measured at 1,000 and at 10,000 teams)."""
PEAK: Final = 400 * MIB
GROWTH: Final = 9.0
"""10,000 teams take at most this many times as long as 1,000."""

HEAVY: Final = frozenset({"pydantic", "yaml", "jinja2", "jsonschema", "jsonschema_rs", "kubernetes", "ruamel", "rich"})
"""What `--help` and `--version` must not import."""


@dataclass(frozen=True, slots=True)
class Run:
    """One process: seconds of wall time and of CPU, bytes of memory at its peak."""

    wall: float
    cpu: float
    peak: int


@dataclass(frozen=True, slots=True)
class Budget:
    """One promise about speed, and how it was kept."""

    name: str
    most: float
    measured: float

    @property
    def kept(self) -> bool:
        return self.measured <= self.most


def main() -> int:
    """Measure, print, compare with the budgets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--teams", default="10,100,1000,10000", help="numbers of teams (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (default: %(default)s)")
    options = parser.parse_args()
    place = MEMORY_FILE_SYSTEM if os.access(MEMORY_FILE_SYSTEM, os.W_OK) else None
    budgets: list[Budget] = []
    with tempfile.TemporaryDirectory(prefix="tenancy-bench-", dir=place) as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}/modules"
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        _start_up(options.rounds)
        firsts: dict[int, float] = {}
        for teams in map(int, options.teams.split(",")):
            runs = _measure(teams, options.rounds, Path(folder) / str(teams))
            firsts[teams] = median(run.cpu for run in runs["first"])
            budgets += _of_size(teams, runs)
        if {1000, 10000} <= firsts.keys():
            budgets.append(Budget("10,000 teams / 1,000 teams", GROWTH, firsts[10000] / firsts[1000]))
    return verdict(budgets)


def _measure(teams: int, rounds: int, folder: Path) -> dict[str, list[Run]]:
    """Every command once a round, in turn; prints the table of this size."""
    org, data, out = folder / "org", folder / "data", folder / "out"
    folder.mkdir()
    _python("bench_org.py", str(teams), str(org))
    _python("bench_rivals.py", "prepare", str(org), str(data))
    runs: dict[str, list[Run]] = {"first": [], "unchanged": [], "no-cache": [], "script": [], "floor": []}
    compilation = [sys.executable, "-m", "tenancy", "compile", str(org), "-o", str(out)]
    _run([*compilation, "--no-cache"])
    shutil.rmtree(out)
    for _ in range(rounds):
        runs["first"].append(_run(compilation))
        before = _state(out)
        runs["unchanged"].append(_run(compilation))
        runs["no-cache"].append(_run([*compilation, "--no-cache"]))
        if _state(out) != before:
            raise SystemExit("an unchanged run touched a file")
        shutil.rmtree(out)
        for rival in ("script", "floor"):
            runs[rival].append(_run(_command("bench_rivals.py", rival, str(org), str(data), str(out))))
            shutil.rmtree(out)
    size = sum(file.stat().st_size for file in (data / "texts", *org.rglob("*.yaml")))
    print(f"\n{teams:,} teams: {size / 1e6:.1f} MB read and written")
    _print_runs(runs)
    _print_stages(json.loads(_python("bench_stages.py", str(org), str(out))))
    shutil.rmtree(folder)
    return runs


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of change of every file and folder."""
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in (folder, *folder.rglob("*"))}


def _of_size(teams: int, runs: dict[str, list[Run]]) -> list[Budget]:
    budgets = []
    if teams in OF_SCRIPT:
        budgets.append(Budget(f"{teams:,} teams / script", OF_SCRIPT[teams], _ratio(runs["first"], runs["script"])))
        budgets.append(Budget(f"{teams:,} teams unchanged / first", OF_FIRST, _ratio(runs["unchanged"], runs["first"])))
        peak = max(run.peak for run in runs["first"] + runs["unchanged"])
        budgets.append(Budget(f"{teams:,} teams, peak MiB", PEAK / MIB, peak / MIB))
    return budgets


def _ratio(these: Sequence[Run], those: Sequence[Run]) -> float:
    return median(this.cpu / that.cpu for this, that in zip(these, those, strict=True))


def _start_up(rounds: int) -> None:
    """What a person waits for `--help`, and that it imports nothing heavy."""
    for argument in ("--help", "--version"):
        command = [sys.executable, "-X", "importtime", "-m", "tenancy", argument]
        log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in log.splitlines()}
        if found := modules & HEAVY:
            raise SystemExit(f"tenancy {argument} imports {', '.join(sorted(found))}")
        runs = [_run([sys.executable, "-m", "tenancy", argument]) for _ in range(rounds)]
        print(f"tenancy {argument}: {_spread([run.wall for run in runs])} s")


def _print_runs(runs: dict[str, list[Run]]) -> None:
    print(f"  {'':10} {'wall s: median (min-max)':26} {'cpu s':>7} {'peak MiB':>9} {'/ script':>9} {'/ floor':>8}")
    for name, measured in runs.items():
        wall, cpu = _spread([run.wall for run in measured]), median(run.cpu for run in measured)
        peak = max(run.peak for run in measured) / MIB
        against = f"{_ratio(measured, runs['script']):9.2f} {_ratio(measured, runs['floor']):8.2f}"
        print(f"  {name:10} {wall:26} {cpu:7.2f} {peak:9.0f} {against}")


def _print_stages(seconds: dict[str, float]) -> None:
    total = sum(seconds.values())
    parts = [f"{name} {value:.2f} ({value / total:.0%})" for name, value in seconds.items()]
    print(f"  stages, {total:.2f} s: {', '.join(parts)}")


def verdict(budgets: Sequence[Budget]) -> int:
    print("\nbudgets")
    for budget in budgets:
        verdict = "kept" if budget.kept else "MISSED"
        print(f"  {budget.name:32} at most {budget.most:7.2f}  measured {budget.measured:7.2f}  {verdict}")
    return 0 if all(budget.kept for budget in budgets) else 1


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.3f} ({min(values):.3f}-{max(values):.3f})"


def _run(command: Sequence[str]) -> Run:
    """Run a command to its end and take what wait4 says of it."""
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    wall = perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{error.decode(errors='replace')}")
    scale = 1 if sys.platform == "darwin" else 1024
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * scale)


def _command(tool: str, *arguments: str) -> list[str]:
    return [sys.executable, str(TOOLS / tool), *arguments]


def _python(tool: str, *arguments: str) -> str:
    """What a tool of ours prints."""
    return subprocess.run(_command(tool, *arguments), check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
