"""Processes that tests start."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ORCISH = [sys.executable, "-m", "orcish"]
"""The command, in a process of its own."""
LIMITED_ORCISH = [
    sys.executable,
    "-c",
    """
import resource
from orcish_cli import run_program
resource.setrlimit(resource.RLIMIT_AS, (3_200_000_000,) * 2)
run_program()
""",
]
"""The same with an address space of 3.2 GB. Libraries reserve up to 2.7 GB of it, and abort where threads have no room
for their stacks; 2 GiB for a length that a file states do not fit besides the 1.4 GB that they need."""
Run = Callable[..., tuple[int, list[str], str]]
"""The fixture ``run`` of commands: exit code, lines of standard output, and standard error."""


def run_python(code: str, *args: str, timeout: float = 120) -> str:
    """Runs code in an interpreter of its own and gives what it prints."""
    command = [sys.executable, "-c", textwrap.dedent(code), *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_script(name: str, folder: Path, timeout: float = 240, **environment: str) -> list[str]:
    """Runs a module of ``support.spark_scripts`` in an interpreter of its own, and gives the words that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", f"support.spark_scripts.{name}", str(folder)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path]), **environment},
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr[-4000:]}"
    return done.stdout.split()
