"""The tests that pytest collects are the same in every process: workers of pytest-xdist refuse to run others.

The workers of `make test` compare theirs, which they collect at one time.
"""

import itertools
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import random_cases
from support.case_loops import each_case


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


@each_case("sizes", [(2, 2, 2), (5, 4, 10, 2), (6, 6, 5), (20, 1, 3)], ids=str)
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


LOOPS = """
import pytest
from support.case_loops import each_case

@each_case("number", [1, 2, pytest.param(3, marks=pytest.mark.xfail(reason="known")), pytest.param(0, marks=pytest.mark.skip)])
@each_case("name, other", [("a", "a"), ("a", "b")], ids=["same", "other"])
def test_some_fail(number, name, other, tmp_path, monkeypatch, capsys):
    (tmp_path / "new").mkdir()
    assert capsys.readouterr().out == ""
    print(number)
    assert number < 3 and name == other

@each_case("number", [pytest.param(1, marks=pytest.mark.xfail(reason="known"))])
def test_none_fails_as_expected(number):
    pass

@each_case("number", [1, 2])
@pytest.mark.parametrize("other", [1, 2])
def test_all_pass(number, other):
    pass

@each_case("number", [])
def test_nothing(number):
    pass
"""


def test_each_case_that_fails_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "test_loops.py"
    path.write_text(LOOPS)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/temp"]
    settings = ["-c", os.devnull, f"--rootdir={tmp_path}", "-o", f"pythonpath={Path(__file__).parents[1]}", str(path)]
    done = subprocess.run([*command, *settings], capture_output=True, text=True, check=False)
    found = {re.sub(r"\S*test_loops.py::", "", line.partition(" - ")[0]) for line in done.stdout.splitlines()}
    assert {line for line in found if line.startswith(("PASSED", "FAILED", "SUBFAILED", "SKIPPED"))} == {
        "SUBFAILED[1-other] test_some_fail",
        "SUBFAILED[2-other] test_some_fail",
        "FAILED test_some_fail",
        "SUBFAILED[1] test_none_fails_as_expected",
        "FAILED test_none_fails_as_expected",
        "PASSED test_all_pass[1]",
        "PASSED test_all_pass[2]",
        next(line for line in found if line.endswith("there are no cases")),
    }, done.stdout + done.stderr
