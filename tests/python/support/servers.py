"""Servers that tests install from the registries of packages, and run on this machine.

A server is installed once, into a folder of the project that git ignores, whichever process of pytest comes first. Where
that is not possible, the tests that need the server are skipped.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

SERVERS = Path(__file__).parents[3] / "target" / "test-servers"
RETRY_AFTER = 600
"""Seconds after which an installation that has failed is tried again."""
START_SECONDS = 30
"""How long a server may take until it listens."""


class UnavailableError(Exception):
    """A server cannot be had here."""


def installed(name: str, install: Callable[[Path], None]) -> Path:
    """The folder of a server, which ``install`` fills if there is none.

    Args:
        name: Name and version of the server.
        install: Gets an empty folder, and raises :class:`UnavailableError` where it fails.

    Raises:
        UnavailableError: The server cannot be installed, or could not be some minutes ago.
    """
    folder, failed = SERVERS / name, SERVERS / f"{name}.failed"
    SERVERS.mkdir(parents=True, exist_ok=True)
    with open(SERVERS / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder
        if failed.exists() and time.time() - failed.stat().st_mtime < RETRY_AFTER:
            raise UnavailableError(failed.read_text())
        work = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=SERVERS))
        try:
            install(work)
            work.rename(folder)
        except UnavailableError as error:
            failed.write_text(str(error))
            raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def run_installer(command: list[str], *, timeout: float, environment: Mapping[str, str] | None = None) -> None:
    """Runs the client of a registry.

    Raises:
        UnavailableError: It is not there, fails, or takes longer than ``timeout`` seconds.
    """
    if shutil.which(command[0]) is None:
        raise UnavailableError(f"{command[0]} is not installed")
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, **(environment or {})},
        start_new_session=True,
    )
    text = " ".join(command[:2])
    try:
        printed, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{text} takes longer than {timeout:.0f} seconds") from None
    finally:
        # Its own processes, too.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if process.returncode != 0:
        raise UnavailableError(f"{text} fails: {printed.strip()[-300:]}")


@contextlib.contextmanager
def running(command: Callable[[int], list[str]]) -> Iterator[int]:
    """A server that listens on a free port of this machine as long as the block; gives the port.

    Args:
        command: The command by the port.

    Raises:
        UnavailableError: The server does not start.
    """
    for _ in range(3):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port: int = free.getsockname()[1]
        # Another process may take the port meanwhile.
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(command(port), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            try:
                if listens(process, port):
                    yield port
                    return
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            log.seek(0)
            printed = log.read().decode(errors="replace")
    raise UnavailableError(f"{Path(command(0)[0]).name} does not start: {printed.strip()[-300:]}")


def listens(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether a process listens, in a while."""
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        time.sleep(0.05)
    return False
