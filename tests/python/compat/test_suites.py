"""The tests of pyarrow and pandas for ORC pass with the replacement of ``pyarrow.orc``, but for those that are listed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.conformance.pack import PACK

REPLACEMENT = Path(__file__).parents[1] / "support" / "pyarrow_orc"
PYARROW_FAILURES = {
    "test_timezone_database_absent": "asks for an error without time zone files; orcish has time zones built in",
    "test_timezone_absent": "asks for an error without the file of a time zone; orcish has time zones built in",
}
"""Tests of pyarrow that fail with the replacement, and why. Those of pandas all pass."""


def folder_of(package: str) -> Path:
    """The folder of an installed package."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def environment() -> dict[str, str]:
    """The environment of an interpreter in which the replacement has the place of ``pyarrow.orc``."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPLACEMENT), *sys.path])}


def outcomes(tests: Path, folder: Path, *options: str) -> dict[str, str]:
    """Runs a file of tests. Gives the outcome of each test by its name: ``passed``, ``failed`` or ``skipped``."""
    report = folder / "report.xml"
    arguments = [str(tests), "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], env=environment(), cwd=folder, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = {}
    for case in ET.parse(report).iter("testcase"):
        bad = {each.tag for each in case} & {"failure", "error", "skipped"}
        found[str(case.get("name"))] = "passed" if not bad else "skipped" if bad == {"skipped"} else "failed"
    print(done.stdout)
    return found


def check(found: dict[str, str], failures: set[str]) -> None:
    """All tests pass but those that are listed, which all fail."""
    assert {name: outcome for name, outcome in found.items() if outcome != "passed"} == dict.fromkeys(
        failures, "failed"
    )


def test_the_replacement_is_in_place() -> None:
    for code in ("from pyarrow import orc", "import pyarrow.orc as orc", "import pandas, pyarrow.orc as orc"):
        done = subprocess.run(
            [sys.executable, "-c", f"{code}; print(orc.__name__)"], env=environment(), capture_output=True, text=True
        )
        assert done.stdout.strip() == "orcish.compat.pyarrow_orc", done.stderr


def test_suite_of_pyarrow(tmp_path: Path) -> None:
    tests = folder_of("pyarrow") / "tests" / "test_orc.py"
    if not tests.exists():
        pytest.skip("this build of pyarrow is without its tests")
    found = outcomes(tests, tmp_path, "-W", "error", "--enable-orc", "--enable-pandas", "--enable-snappy")
    check(found, set(PYARROW_FAILURES))
    assert len(found) >= 15


PANDAS_DATA = {
    "TestOrcFile.emptyFile.orc": "TestOrcFile.emptyFile.orc",
    "TestOrcFile.test1.orc": "TestOrcFile.test1.orc",
    "TestOrcFile.testDate1900.orc": "TestOrcFile.testDate1900.orc",
    "TestOrcFile.testDate2038.orc": "TestOrcFile.testDate2038.orc",
    "TestOrcFile.testSnappy.orc": "TestOrcFile.testSnappy.orc",
    "TestOrcFile.decimal.orc": "decimal.orc",
}
"""Files of the tests of pandas, which its package does not have, and their names at Apache ORC."""
TESTS_OF_DATA = {
    "TestOrcFile.testDate2038.orc": "test_orc_reader_date_high",
    "TestOrcFile.testSnappy.orc": "test_orc_reader_snappy_compressed",
}
"""Tests of the files that the package of pyarrow does not have either. They fail where there is no pack."""


def test_suite_of_pandas(tmp_path: Path) -> None:
    """A copy of the tests has data beside it: the examples of Apache ORC, from the package of pyarrow or the pack."""
    pandas, tree = folder_of("pandas"), tmp_path / "pandas"
    if not (pandas / "tests" / "io" / "test_orc.py").exists():
        pytest.skip("this build of pandas is without its tests")
    data = tree / "tests" / "io" / "data" / "orc"
    data.mkdir(parents=True)
    shutil.copy(pandas / "conftest.py", tree)
    shutil.copy(pandas / "tests" / "io" / "test_orc.py", tree / "tests" / "io")
    folders = [folder_of("pyarrow") / "tests" / "data" / "orc", PACK / "files" / "apache+orc"]
    missing = set()
    for name, original in PANDAS_DATA.items():
        path = next((folder / original for folder in folders if (folder / original).exists()), None)
        if path is None:
            missing.add(name)
        else:
            shutil.copy(path, data / name)
    if not missing <= set(TESTS_OF_DATA):
        pytest.skip("this build of pyarrow is without its tests, which have the data")
    found = outcomes(tree / "tests" / "io" / "test_orc.py", tmp_path)
    check(found, {TESTS_OF_DATA[name] for name in missing})
    assert len(found) >= 20
