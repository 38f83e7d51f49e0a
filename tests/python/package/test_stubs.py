"""The package is typed, and the stubs of its native part say what the module has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# stubtest imports the installed package; mypy must find the same files.
ENVIRONMENT = os.environ | {"MYPYPATH": str(ROOT / "python"), "PYTHONWARNINGS": "ignore"}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["mypy.stubtest", "orcish._native", "--mypy-config-file", "pyproject.toml"], id="stubtest"),
        # `make lint` runs it, too.
        pytest.param(["mypy"], id="mypy", marks=pytest.mark.long),
    ],
)
def test_types(command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_marker():
    import orcish

    assert (Path(orcish.__file__).parent / "py.typed").exists()
