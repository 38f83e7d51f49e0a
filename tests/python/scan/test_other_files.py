"""Files of other formats: alone, and beside the files of a table."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet
import pytest
from support.case_loops import each_case
from support.random_cases import pairs

ROWS = pa.table({"day": [1, 2], "x": [5, 6]})
FORMATS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a.parquet": ("parquet", lambda path: pyarrow.parquet.write_table(ROWS, path)),
    "parquet": ("parquet", lambda path: pyarrow.parquet.write_table(ROWS, path)),
    "a.orc": ("parquet", lambda path: pyarrow.parquet.write_table(ROWS, path)),
    "a.feather": ("ipc", lambda path: pyarrow.feather.write_feather(ROWS, path)),
    "a.csv": ("csv", lambda path: pyarrow.csv.write_csv(ROWS, path)),
    "a.jsonl": ("json", lambda path: path.write_text('{"day": 1, "x": 5}\n{"day": 2, "x": 6}\n') and None),
}
VERBS: dict[str, Callable[[Path, Path], Any]] = {
    "read_table": lambda path, _: orcish.read_table(path),
    "ORCFile": lambda path, _: orcish.ORCFile(path),
    "scan": lambda path, _: orcish.scan(path),
    "scan_polars": lambda path, _: orcish.scan_polars(path),
    "convert": lambda path, target: orcish.convert(path, target),
    "merge": lambda path, target: orcish.merge([path], target),
}


@each_case("verb", VERBS)
@each_case("name", FORMATS)
def test_what_reads_a_file_of_another_format(name: str, verb: str, tmp_path: Path) -> None:
    """The error says it, and it is so."""
    kind, write = FORMATS[name]
    write(tmp_path / name)
    with pytest.raises(
        orcish.CorruptFileError, match=f"dataset\\(path, format='{kind}'\\) reads .*write_dataset"
    ) as caught:
        VERBS[verb](tmp_path / name, tmp_path / "t")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert str(orcish.CorruptFileError(f"t: {caught.value}")) == f"t: {caught.value}"
    orcish.write_dataset(ds.dataset(tmp_path / name, format=kind), tmp_path / "t")
    assert orcish.read_table(tmp_path / "t").equals(ROWS)


READS: dict[str, Callable[[Path], Any]] = {
    "read_table": orcish.read_table,
    "batches": lambda path: list(orcish.scan(path)),
    "count": lambda path: orcish.scan(path).count(),
    "max": lambda path: orcish.scan(path).max("x"),
    "explain": lambda path: orcish.scan(path).explain(),
    "splits": lambda path: orcish.scan(path).splits(),
    "stream": lambda path: pa.table(orcish.scan(path)),
    "convert": lambda path: orcish.convert(path, f"{path}_copy"),
    "delete": lambda path: orcish.delete(path, "x = 1"),
}


@each_case(("name", "by", "has_log", "verb"), pairs(["readme.txt", "a.txt"], [[], ["day"]], [True, False], READS))
def test_a_file_beside_those_of_a_table(name: str, by: list[str], has_log: bool, verb: str, tmp_path: Path) -> None:
    """The error names it, and says how it is left out."""
    table = tmp_path / "t"
    orcish.write_dataset(ROWS, table, partition_by=by)
    if not has_log:
        shutil.rmtree(table / "_orcish")
    (table / name).write_text("These are orders.\n")
    with pytest.raises((orcish.CorruptFileError, ValueError), match=r"name begins with '_' or '\.'") as caught:
        READS[verb](table)
    assert name in str(caught.value)
    assert orcish.read_table(f"{table}/**/*.orc").select(["day", "x"]).sort_by("x").equals(ROWS)
    (table / name).rename(table / f"_{name}")
    READS[verb](table)


def test_appends_name_the_file_that_is_no_partition(tmp_path: Path) -> None:
    """A folder without a log has the partition columns of its files."""
    orcish.write_dataset(ROWS, tmp_path / "t", partition_by="day")
    shutil.rmtree(tmp_path / "t" / "_orcish")
    (tmp_path / "t" / "a.txt").write_text("These are orders.\n")
    with pytest.raises(ValueError, match=r"partition columns are: none; partition_by is: day; such a file is a\.txt"):
        orcish.write_dataset(ROWS, tmp_path / "t", partition_by="day", existing_data="append")
