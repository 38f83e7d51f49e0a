"""Columns that are one column to some readers: verbs neither double them nor mix their values."""

import pathlib
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.errors import UnsupportedError
from support.case_loops import each_case


def write(path: pathlib.Path, numbers: list[int], name: str, value: str, iceberg: int | None, nested: bool) -> None:
    """A file whose second column has a name and an id."""
    metadata = None if iceberg is None else {"iceberg.id": str(iceberg)}
    field = pa.field(name, pa.string(), metadata=metadata)
    column: Any = [value] * len(numbers)
    if nested:
        own = None if iceberg is None else {"iceberg.id": "9"}
        field, column = pa.field("s", pa.struct([field]), metadata=own), [{name: value}] * len(numbers)
    first = pa.field("id", pa.int64(), metadata=None if iceberg is None else {"iceberg.id": "1"})
    schema = pa.schema([first, field])
    orcish.write_table(pa.table([pa.array(numbers), pa.array(column, field.type)], schema), path)


CASES = [("Name", None, "name", None), ("n", 2, "renamed", 2), ("n", 2, "n", 3)]


@each_case("rewrite", [False, True])
@each_case("has_log", [False, True])
@each_case("nested", [False, True])
@each_case(("name", "iceberg", "other", "other_id"), CASES)
def test_twins(
    tmp_path: pathlib.Path,
    name: str,
    iceberg: int | None,
    other: str,
    other_id: int | None,
    nested: bool,
    has_log: bool,
    rewrite: bool,
) -> None:
    """Files are not combined. Deletions keep what readers find, by all kinds of matching."""
    table = tmp_path / "t"
    table.mkdir()
    write(table / "a.orc", [1], name, "a", iceberg, nested)
    if has_log:
        orcish.write_dataset(orcish.read_table(table), tmp_path / "u", basename_template="a{i}.orc")
        table = tmp_path / "u"
    write(table / "b.orc", [2, 3], other, "b", other_id, nested)
    by: list[Any] = ["name", "name_ignoring_case"] if iceberg is None else ["name", "iceberg.id"]
    before = {match: orcish.read_table(table, match=match).sort_by("id").to_pylist() for match in by}
    files = sorted(path.name for path in table.glob("*.orc"))
    with pytest.raises(UnsupportedError, match=r"b\.orc: column .* so that the files are not combined"):
        orcish.compact(table, rewrite=rewrite, target_file_size="1GB")
    assert sorted(path.name for path in table.glob("*.orc")) == files
    # A file that is written again keeps its column, and gets no twin of it.
    assert orcish.delete(table, "id = 3").files_rewritten == 1
    after = {match: orcish.read_table(table, match=match).sort_by("id").to_pylist() for match in by}
    assert after == {match: rows[:2] for match, rows in before.items()}
