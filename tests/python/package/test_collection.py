"""The tests that pytest collects are the same in every process: workers of pytest-xdist refuse to run others.

The workers of `make test` compare theirs, which they collect at one time.
"""

import os
import subprocess
import sys

import pytest


@pytest.mark.long
def test_names_do_not_vary(request: pytest.FixtureRequest) -> None:
    """Names with a time, a random number, an address or the order of a set differ in a process that begins later."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    later = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *request.config.args],
        cwd=request.config.invocation_params.dir,
        env={**environment, "PYTHONHASHSEED": "1", "ORCISH_SEED": os.environ["ORCISH_SEED"]},
        capture_output=True,
        text=True,
        check=True,
    )
    collected = set(later.stdout.splitlines())
    assert not {item.nodeid for item in request.session.items} - collected
