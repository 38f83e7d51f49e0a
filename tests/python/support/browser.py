"""A browser without a window, driven by the DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 60


def browser_path() -> str:
    """The path of a browser; skips the test where there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"there is no browser: none of {', '.join(NAMES)}")
    return found


class Browser:
    """A page of a browser."""

    def __init__(self, process: subprocess.Popen[bytes], requests: int, answers: int) -> None:
        self._process = process
        self._requests, self._answers = requests, answers
        self._buffer = b""
        self._next = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a method of the protocol."""
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._requests, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._next:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + TIMEOUT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._answers, 1 << 20)
            assert read, "the browser has ended"
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        found = json.loads(message)
        if "id" not in found:
            self.events.append(found)
        return found

    def open(self, page: pathlib.Path, fragment: str = "") -> None:
        """Opens a file, and waits until it is loaded."""
        # A page of which only the fragment changes is not loaded again.
        for url in ("about:blank", page.as_uri() + fragment):
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not any(event["method"] == "Page.loadEventFired" for event in self.events):
                self._read()

    def evaluate(self, script: str) -> Any:
        """The value of an expression of JavaScript."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Clicks on the middle of an element with the mouse."""
        x, y = self.evaluate(
            f"(() => {{ const each = document.querySelector({json.dumps(selector)}); each.scrollIntoView();"
            "const at = each.getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def press(self, key: str) -> None:
        """Presses a key."""
        text = {"text": "\r", "windowsVirtualKeyCode": 13} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **text)
        self.settle()

    def settle(self) -> None:
        """Waits until the page has drawn what has changed."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")

    def resize(self, width: int, height: int) -> None:
        """Sets the size of the screen."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def scheme(self, name: str) -> None:
        """Sets the preferred colours: ``light`` or ``dark``."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path: pathlib.Path) -> None:
        """Writes a picture of the whole page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def problems(self) -> list[dict[str, Any]]:
        """What the page has written to the console, and its exceptions."""
        methods = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event for event in self.events if event["method"] in methods]

    def urls(self) -> list[str]:
        """The URLs of all requests."""
        sent = (event for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]


def _high(descriptor: int) -> int:
    """A descriptor with another number than those of the protocol."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(descriptor)
    return high


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Starts a browser; skips the test where there is none."""
    path = browser_path()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        commands_out, commands_in, answers_out, answers_in = map(_high, (*os.pipe(), *os.pipe()))

        def connect() -> None:
            # The protocol has the descriptors 3 and 4.
            os.dup2(commands_out, 3)
            os.dup2(answers_in, 4)

        options = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        )
        process = subprocess.Popen(
            [path, *options, "about:blank"],
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands_out)
        os.close(answers_in)
        try:
            yield Browser(process, commands_in, answers_out)
        finally:
            os.close(commands_in)
            os.close(answers_out)
            process.terminate()
            process.wait(30)
