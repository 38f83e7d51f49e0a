"""The Python that Spark runs: that of the program, also where another one is first on the ``PATH``."""

import os
import subprocess
import sys
from pathlib import Path

import orcish
import pyarrow as pa
import pytest

JOB = """
import sys
import orcish.spark
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(spark.read.format("orcish").load(sys.argv[1]).count())
"""


def environment(tmp_path: Path, **variables: str) -> dict[str, str]:
    """The variables of this process without its Python: ``python3`` is one that has no packages."""
    other = tmp_path / "bin" / "python3"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    other.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")}
    return {**kept, "PATH": f"{other.parent}:{os.environ['PATH']}", **variables}


@pytest.mark.long
def test_programs_of_environments_that_are_not_activated(tmp_path: Path) -> None:
    orcish.write_table(pa.table({"id": range(7)}), tmp_path / "t.orc")
    command = [sys.executable, "-c", JOB, str(tmp_path / "t.orc")]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["7"], done.stderr[-2000:]


@pytest.mark.parametrize("chosen", [None, "/opt/python3"])
def test_a_choice_is_kept(tmp_path: Path, chosen: str | None) -> None:
    given = {} if chosen is None else {"PYSPARK_PYTHON": chosen}
    code = "import os, orcish.spark; print(os.environ['PYSPARK_PYTHON'])"
    command = [sys.executable, "-c", code]
    found = subprocess.check_output(command, env=environment(tmp_path, **given), text=True).strip()
    assert found == (chosen or sys.executable)
