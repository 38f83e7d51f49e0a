"""The pack of files that other implementations wrote, where it is at hand."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]


def test_every_file_of_the_pack():
    pack = pathlib.Path(os.environ.get("ORCISH_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
    if not (pack / "check.py").exists():
        pytest.skip(f"no conformance pack at {pack}; ORCISH_CONFORMANCE says where one is")
    command = [sys.executable, str(pack / "check.py"), str(pack)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    print(last)
    assert last.endswith(", 0 failed"), done.stdout[-4000:] + done.stderr[-4000:]
