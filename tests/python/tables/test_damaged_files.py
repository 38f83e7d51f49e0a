"""Compaction of files with changed bytes: what contradicts its rows is not replaced."""

import collections
import pathlib

import orcish
import pyarrow as pa
import pytest
from orcish.errors import CorruptFileError, OrcishError
from support.case_loops import each_case

ROWS = pa.table({"id": range(40), "text": [f"v{number * number}" for number in range(40)]})


@each_case("compression", ["uncompressed", "zstd"])
def test_files_that_contradict_their_rows_are_not_replaced(tmp_path: pathlib.Path, compression: str) -> None:
    """The error names the file, and the table is unchanged. With ``rewrite`` the rows are taken as they are read."""
    table = tmp_path / "t"
    table.mkdir()
    for name in ("a.orc", "b.orc"):
        orcish.write_table(ROWS, table / name, compression=compression)
    whole = (table / "a.orc").read_bytes()
    seen: collections.Counter[str] = collections.Counter()
    for at in range(3, len(whole), 3):
        damaged = bytearray(whole)
        damaged[at] ^= 4
        (table / "a.orc").write_bytes(damaged)
        try:
            findings = orcish.ORCFile(table / "a.orc").check()
        except OrcishError:
            findings = None
        if findings is None or any(found.contradicts_rows for found in findings):
            seen["refused"] += findings is not None
            with pytest.raises(CorruptFileError if findings else OrcishError, match=r"a\.orc"):
                orcish.compact(table)
            assert (table / "a.orc").read_bytes() == damaged
    assert sorted(path.name for path in table.glob("*.orc")) == ["a.orc", "b.orc"]
    if compression == "uncompressed":
        assert seen["refused"] > 5


def test_rewrite_takes_the_rows_as_they_are_read(tmp_path: pathlib.Path) -> None:
    """For files whose statistics are wrong."""
    table = tmp_path / "t"
    table.mkdir()
    orcish.write_table(ROWS, table / "b.orc", compression="uncompressed")
    whole = (table / "b.orc").read_bytes()
    for at in range(3, len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 4
        (table / "a.orc").write_bytes(damaged)
        try:
            before = orcish.read_table(table / "a.orc")
            is_wrong = any(found.contradicts_rows for found in orcish.ORCFile(table / "a.orc").check())
        except OrcishError:
            continue
        if is_wrong and before.schema == ROWS.schema:
            break
    with pytest.raises(CorruptFileError, match="a rewrite takes them as they are read"):
        orcish.compact(table)
    (file,) = orcish.compact(table, rewrite=True)
    assert file.action == "rewrite"
    assert orcish.read_table(table).equals(pa.concat_tables([before, ROWS]).combine_chunks())
    assert orcish.ORCFile(table / file.file).check() == []


def test_columns_that_were_renamed_by_damage_are_found(tmp_path: pathlib.Path) -> None:
    """Names of columns have no checksum, but the file has them twice."""
    path = tmp_path / "a.orc"
    orcish.write_table(ROWS, path, compression="uncompressed")
    whole = path.read_bytes()
    # The name in the footer is before that in the Arrow schema.
    at = whole.index(b"text")
    path.write_bytes(whole[:at] + b"tezt" + whole[at + 4 :])
    assert orcish.ORCFile(path).column_paths[2] == "tezt"
    (finding,) = orcish.ORCFile(path).check()
    assert finding.contradicts_rows
    assert "columns are not those of the Arrow schema" in finding.message
