"""Commands on a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
from typing import Any


def on_terminal(command: list[str], *arguments: Any) -> tuple[int, str]:
    """Exit code, and what a terminal shows."""
    parent, child = pty.openpty()
    process = subprocess.Popen([*command, *map(str, arguments)], stdout=child, stderr=child, stdin=child)
    os.close(child)
    shown = b""
    # The end of a terminal is an error.
    with contextlib.suppress(OSError):
        while part := os.read(parent, 4096):
            shown += part
    os.close(parent)
    return process.wait(60), shown.decode()
