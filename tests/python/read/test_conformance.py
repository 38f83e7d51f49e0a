"""The pack of files that other implementations wrote, where it is at hand."""

import subprocess
import sys

import pytest
from support.conformance.pack import NONE, PACK


def test_every_file_of_the_pack():
    if not (PACK / "check.py").exists():
        pytest.skip(NONE)
    command = [sys.executable, str(PACK / "check.py"), str(PACK)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    print(last)
    assert last.endswith(", 0 failed"), done.stdout[-4000:] + done.stderr[-4000:]
