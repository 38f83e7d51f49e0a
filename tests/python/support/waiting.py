"""Waits for what another thread, process or server does."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    """Returns when a condition is true, or when a number of seconds has passed: the caller asserts what it waits for."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
