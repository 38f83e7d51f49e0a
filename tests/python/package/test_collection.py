"""The tests that pytest collects are the same in every process: workers of pytest-xdist refuse to run others.

The workers of `make test` compare theirs, which they collect at one time.
"""

import itertools
import math
import os
import subprocess
import sys

import pytest
from support import random_cases


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


@pytest.mark.parametrize("sizes", [(2, 2, 2), (5, 4, 10, 2), (6, 6, 5), (20, 1, 3)], ids=str)
def test_parts_of_products_have_each_pair(sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the values of any two parameters. With all random cases there are all combinations."""
    parameters = [[(at, number) for number in range(size)] for at, size in enumerate(sizes)]
    monkeypatch.setattr(random_cases, "FACTOR", 0.2)
    part = random_cases.pairs(*parameters)
    assert part == random_cases.pairs(*parameters)
    for one, other in itertools.combinations(range(len(sizes)), 2):
        assert len({(each[one], each[other]) for each in part}) == sizes[one] * sizes[other]
    assert len({*part}) == len(part) < math.prod(sizes) + (1 in sizes)
    monkeypatch.setattr(random_cases, "FACTOR", 1)
    assert random_cases.pairs(*parameters) == [*itertools.product(*parameters)]
