"""Processes that end with the test run, whatever ends it, and the ports that they listen on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

DIE_WITH_PARENT: Final = ("setpriv", "--pdeathsig", "KILL")
"""Asks the kernel to kill the program when this process ends, however it ends."""

LAZY_COLLECTOR: Final = {"GOGC": "300"}
"""Go collects garbage half as often, at the price of memory: on two cores that is a fifth of all work."""


class NotReady(Exception):
    """A process did not become ready in time, or ended; the message has the end of its log."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The running processes of one control plane, by name. Each has its own session, log file and working folder."""

    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
        """Start a process; the kernel kills it when this one ends, even by SIGKILL."""
        clean = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log(name).open("ab") as log:
            self.running[name] = subprocess.Popen(
                [*DIE_WITH_PARENT, *(str(part) for part in command)],
                cwd=self.folder,
                env={**clean, **LAZY_COLLECTOR, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log(self, name: str) -> Path:
        """The file with everything that a process wrote."""
        return self.folder / f"{name}.log"

    def wait(self, name: str, ready: Callable[[], bool], seconds: float = 180) -> None:
        """Wait until `ready`. Raises NotReady when the process ends before, or the time is over."""
        end = time.monotonic() + seconds
        while not ready():
            ended = self.running[name].poll() is not None
            if ended or time.monotonic() > end:
                state = "ended" if ended else f"was not ready after {seconds:.0f} s"
                raise NotReady(f"{name} {state}; the end of {self.log(name)}:\n{self.tail(name)}")
            time.sleep(0.05)

    def tail(self, name: str, size: int = 2000) -> str:
        """The end of a log."""
        return self.log(name).read_text(encoding="utf-8", errors="replace")[-size:]

    def mark(self, name: str) -> int:
        """Where a log ends now."""
        return self.log(name).stat().st_size if self.log(name).exists() else 0

    def since(self, name: str, mark: int) -> str:
        """What a log says after a mark."""
        return self.log(name).read_bytes()[mark:].decode(errors="replace")

    def stop(self, name: str, *, kill: bool = False) -> None:
        """End a process; one that does not listen within eight seconds is killed."""
        process = self.running.pop(name, None)
        if process is None:
            return
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(8)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop_all(self) -> None:
        """End everything, the last started first. Kubernetes hangs in a graceful stop once its etcd is gone."""
        for name in reversed(list(self.running)):
            self.stop(name, kill=True)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on. Nothing keeps them free: whoever loses a race starts again."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
