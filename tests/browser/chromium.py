"""A headless Chromium, driven through its debugging pipe: what a page does and looks like, without a driver."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any, Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-sync"),
    *("--disable-dev-shm-usage", "--disable-background-networking", "--remote-debugging-pipe"),
)
_PIPES: Final = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'
"""The protocol is spoken on the file descriptors 3 and 4."""
PATIENCE: Final = 120
"""Seconds for an answer: the machine may be busy with other tests."""


class BrowserError(Exception):
    """What the browser refused, or that it did not answer."""


class Tab:
    """One page. Commands are those of the DevTools protocol."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._number, self._buffer = read, write, 0, b""
        self._session = ""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requests: list[str] = []
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result. Raises BrowserError."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path) -> None:
        """Load a file and wait until it is there."""
        self.ask("Page.navigate", url=path.resolve().as_uri())
        self.run(
            "new Promise(done => document.readyState === 'complete' ? done() : window.addEventListener('load', done))"
        )

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited. Raises BrowserError where it throws."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def size(self, width: int, height: int) -> None:
        """The window, in CSS pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def media(self, *, dark: bool = False, printed: bool = False) -> None:
        """What the page is shown on."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media="print" if printed else "", features=[scheme])

    def press(self, key: str, text: str = "") -> None:
        """One key, as a person presses it."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27}.get(key, 0)
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text}
        self.ask("Input.dispatchKeyEvent", **{name: value for name, value in down.items() if value != ""})
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Text, as a person types it."""
        for character in text:
            self.press(character, character)

    def picture(self, path: Path) -> None:
        """A PNG of the whole page."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def printed(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.ask("Page.printToPDF")["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select([self._read], [], [], PATIENCE)[0]:
                raise BrowserError(f"no answer within {PATIENCE} s")
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise BrowserError("the browser has ended")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(message["params"])[:500])
        return message


def installed() -> str:
    """The path of a Chromium; empty where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    """A browser with one tab and a profile of its own in `folder`; it ends with the block."""
    process = subprocess.Popen(
        ["sh", "-c", _PIPES, "sh", installed(), *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(folder / "chromium.log").open("wb"),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Tab(process.stdout.fileno(), process.stdin.fileno())
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
