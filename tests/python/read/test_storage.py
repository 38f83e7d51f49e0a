"""Stored bytes and encodings of columns."""

import io
import json
from pathlib import Path

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.case_loops import each_case
from support.small_tables import in_stripes

DATA = [path for path in sorted((Path(__file__).parents[2] / "data").glob("*.orc")) if "masked" not in path.name]
"""Files of all writers. The bytes of encrypted columns are those of their masks."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = pa.table(
        {
            "id": range(20_000),
            "text": [f"t{number % 5}" for number in range(20_000)],
            "nest": [{"a": number, "b": [number] * (number % 3)} for number in range(20_000)],
        }
    )
    return in_stripes(tmp_path / "a.orc", rows, 5000, bloom_filter_columns=["id"])


@each_case("path", DATA, ids=lambda path: path.name)
def test_all_bytes_are_those_of_a_column(path: Path) -> None:
    file = orcish.ORCFile(path)
    columns = file.column_storage()
    assert [column.name for column in columns] == file.column_paths
    stored = sum(stripe.index_length + stripe.data_length for stripe in file.stripes)
    assert columns[0].total_bytes == stored
    assert sum(column.data_bytes + column.index_bytes for column in columns) == stored
    assert {sum(column.encodings.values()) for column in columns} == {file.num_stripes}
    for column in columns:
        indexes = {kind for kind in column.streams if kind == "ROW_INDEX" or kind.startswith("BLOOM_FILTER")}
        assert sum(column.streams[kind] for kind in indexes) == column.index_bytes
        assert sum(column.streams.values()) == column.data_bytes + column.index_bytes
        assert bool(column.dictionary_entries) <= any("DICTIONARY" in name for name in column.encodings)


def test_columns(path: Path) -> None:
    file = orcish.ORCFile(path)
    assert file.num_stripes == 4
    found = {column.name: column for column in file.column_storage()}
    nest = [found[name] for name in ("nest", "nest.a", "nest.b", "nest.b.element")]
    assert found["nest"].total_bytes == sum(column.data_bytes + column.index_bytes for column in nest)
    assert found["text"].encodings == {"DICTIONARY_V2": file.num_stripes}
    assert found["id"].encodings == {"DIRECT_V2": file.num_stripes}
    assert (found["text"].dictionary_entries, found["id"].dictionary_entries) == (5 * file.num_stripes, 0)
    assert set(found["text"].streams) == {"DATA", "DICTIONARY_DATA", "LENGTH", "ROW_INDEX"}
    assert set(found["id"].streams) == {"DATA", "ROW_INDEX", "BLOOM_FILTER_UTF8"}
    assert found["id"].index_bytes > found["nest.a"].index_bytes
    parts = [file.column_storage(stripes=[stripe]) for stripe in range(file.num_stripes)]
    for id, column in enumerate(file.column_storage()):
        assert sum(part[id].total_bytes for part in parts) == column.total_bytes
    with pytest.raises(ValueError, match="no stripe 99"):
        file.column_storage(stripes=[99])


def test_without_rows() -> None:
    out = io.BytesIO()
    orcish.write_table(pa.table({"a": pa.array([], pa.int64())}), out)
    columns = orcish.ORCFile(out.getvalue()).column_storage()
    assert [(column.total_bytes, column.encodings) for column in columns] == [(0, {})] * 2


def test_command(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command and the method say the same."""
    columns = orcish.ORCFile(path).column_storage()
    assert main(["meta", "--storage", "--json", str(path)]) == 0
    described = json.loads(capsys.readouterr().out)["storage"]
    assert described == [vars(column) for column in columns]
    assert main(["meta", "--storage", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    text = next(line for line in lines if line.split()[1:2] == ["text"] and "DICTIONARY" in line)
    assert text.split()[2] == f"{columns[2].total_bytes:,}"
    assert main(["meta", str(path)]) == 0
    assert "Storage" not in capsys.readouterr().out
