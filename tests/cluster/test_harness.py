"""The test bed itself: it runs side by side, ends what it started whatever happens, and keeps the logs of a failure."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from tests.cluster import build, plane, versions
from tests.cluster.build import CannotBuild, binary
from tests.cluster.plane import Cluster
from tests.cluster.processes import NotReady, Processes, free_ports
from tests.cluster.scene import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import signal, sys, time
from pathlib import Path
from tests.cluster import plane
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start without it
plane.start(Path(sys.argv[1]))
print("up", flush=True)
time.sleep(300)
"""


@pytest.fixture
def pair(means: None, tmp_path: Path) -> Iterator[tuple[Cluster, Cluster]]:  # noqa: ARG001
    first = plane.start(tmp_path / "first")
    second = plane.start(tmp_path / "second")
    yield first, second
    for each in (first, second):
        each.stop(keep_logs=False)


def test_two_control_planes_know_nothing_of_each_other(pair: tuple[Cluster, Cluster]) -> None:
    """A namespace of the one is not there in the other."""
    first, second = pair
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "here"}}
    first.client.apply(namespace)
    assert first.client.find("/api/v1/namespaces/here") is not None
    assert second.client.find("/api/v1/namespaces/here") is None


@pytest.mark.kueue(versions.DEFAULT_KUEUE)
@pytest.mark.volcano(versions.DEFAULT_VOLCANO)
def test_the_versions_that_run_are_those_of_the_table(cluster: Cluster) -> None:
    """The API server and the scheduler say the versions that the schemas were made for."""
    assert cluster.client.get("/version")["gitVersion"] == versions.KUBERNETES[cluster.kubernetes]
    assert cluster.kubectl("version", "-o", "json").count(versions.KUBERNETES[cluster.kubernetes]) == 2
    table = {"kueue": versions.KUEUE, "volcano": versions.VOLCANO}[cluster.scheduler]
    running = [str(word) for each in cluster.processes.running.values() for word in cast("list[object]", each.args)]
    minor = cluster.kueue or cluster.volcano
    assert any(f"{cluster.scheduler}-{minor}-{table[minor]}" in word for word in running)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_run_that_started_it(means: None, tmp_path: Path, end: signal.Signals) -> None:  # noqa: ARG001
    """Whether the run is interrupted, ended or killed, none of its processes is left."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "held")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"up\n"
        assert len(_processes(tmp_path)) == 5
        run.send_signal(end)
        run.wait(PATIENCE)
    plane.until(lambda: _processes(tmp_path) == [], "every process has ended")


def _processes(folder: Path) -> list[str]:
    """The command lines that name a folder, other than the run's own."""
    lines = (Path(entry, "cmdline") for entry in Path("/proc").iterdir() if entry.name.isdigit())
    found = []
    for line in lines:
        try:
            words = line.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(str(folder) in word for word in words) and HOLD not in words:
            found.append(" ".join(words[:2]))
    return found


def test_a_process_that_ends_is_reported_with_its_last_words(tmp_path: Path) -> None:
    """Waiting for what has ended says so at once, and the log stays."""
    processes = Processes(tmp_path)
    start = time.monotonic()
    processes.start("broken", ["sh", "-c", "echo no such flag; exit 3"])
    with pytest.raises(NotReady, match=r"(?s)broken ended.*no such flag"):
        processes.wait("broken", lambda: False, 30)
    assert time.monotonic() - start < 20
    assert "no such flag" in processes.tail("broken")


def test_a_process_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    """Stopping ends even what ignores the polite signal."""
    processes = Processes(tmp_path)
    processes.start("deaf", ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"])
    processes.wait("deaf", lambda: "ready" in processes.tail("deaf"))
    running = processes.running["deaf"]
    processes.stop("deaf")
    assert running.returncode == -signal.SIGKILL


def test_ports_are_free_and_different() -> None:
    """Every port can be listened on."""
    ports = free_ports(8)
    assert len(set(ports)) == 8
    for port in ports:
        with closing(socket.create_server(("127.0.0.1", port))) as listener:
            assert listener.getsockname()[1] == port


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_a_machine_without_the_means_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ci: str, status: int
) -> None:
    """It is a failure where CI insists, and never a silent pass."""
    monkeypatch.setattr(build, "TOOLS", {"no-such-program": "is needed for this test"})
    monkeypatch.setenv("CI", ci)
    assert build.main([]) == status
    assert "no-such-program" in capsys.readouterr().err
    with pytest.raises(CannotBuild):
        build.check_machine()


def test_what_is_built_is_named_by_its_version_and_our_source() -> None:
    """Another version, or another program of ours around the same module, is built anew."""
    names = [binary(part).name for part in versions.parts()]
    assert len(set(names)) == len(names)
    for part, name in zip(versions.parts(), names, strict=True):
        assert part.version in name
    assert os.sep not in "".join(names)
