"""Dictionaries with keys of few bits: whatever can be written can be read, however many values there are."""

import io
import pathlib
from collections.abc import Iterator
from typing import Any

import orcish
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from orcish import col

KEYS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
SMALL = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16()]


def texts(start: int, count: int = 100) -> list[str]:
    return [f"value {number}" for number in range(start, start + count)]


def encoded(values: list[Any], keys: pa.DataType, kind: pa.DataType | None = None) -> pa.Array:
    """Different values, each with a key of its own."""
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), keys), pa.array(values, kind))


def in_batches(keys: pa.DataType, count: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, count, 100):
        yield pa.record_batch({"x": encoded(texts(start), keys)})


@pytest.mark.parametrize("keys", KEYS, ids=str)
def test_types_of_keys(keys: pa.DataType) -> None:
    """Keys that are read have 32 bits at least. The type does not depend on the values."""
    out = io.BytesIO()
    orcish.write_table(pa.table({"x": encoded(["a"], keys)}), out)
    read = pa.int32() if keys in SMALL else keys
    assert orcish.ORCFile(out.getvalue()).schema.field("x").type == pa.dictionary(read, pa.string())


@pytest.mark.parametrize(("keys", "count"), [(pa.int8(), 300), (pa.uint8(), 300), (pa.int16(), 40_000)], ids=str)
def test_files_with_more_values_than_keys(tmp_path: pathlib.Path, keys: pa.DataType, count: int) -> None:
    path = tmp_path / "a.orc"
    with orcish.ORCWriter(path, pa.schema({"x": pa.dictionary(keys, pa.string())}), verify=True) as writer:
        writer.write(in_batches(keys, count))
    expected = texts(0, count)
    file = orcish.ORCFile(path)
    assert file.read()["x"].to_pylist() == expected
    assert [value for batch in file.iter_batches(batch_size=1000) for value in batch["x"].to_pylist()] == expected
    assert orcish.read_table(path)["x"].unify_dictionaries().to_pylist() == expected
    assert orcish.scan(path).to_pandas()["x"].tolist() == expected
    assert orcish.scan_polars(path).collect()["x"].cast(pl.String).to_list() == expected
    assert pl.DataFrame(orcish.scan(path))["x"].cast(pl.String).to_list() == expected


@pytest.mark.parametrize(
    "made",
    [
        lambda start: encoded(texts(start), pa.int8()),
        lambda start: encoded(list(range(start, start + 100)), pa.int8(), pa.duration("s")),
        lambda start: pa.ListArray.from_arrays(pa.array(range(101), pa.int32()), encoded(texts(start), pa.int8())),
        lambda start: pa.StructArray.from_arrays([encoded(texts(start), pa.uint8())], ["a"]),
        lambda start: pa.array(pd.Categorical(texts(start))),
    ],
    ids=["plain", "durations", "list", "struct", "pandas"],
)
@pytest.mark.parametrize("arrow_schema", [True, False])
def test_tables_with_more_values_than_keys(tmp_path: pathlib.Path, made: Any, arrow_schema: bool) -> None:
    """Each append has few values, and the table, or a compacted file, has many."""
    table = tmp_path / "t"
    expected = []
    # Without an Arrow schema, durations are integers.
    arrow_schema = arrow_schema or pa.types.is_duration(getattr(made(0).type, "value_type", None) or pa.null())
    for start in range(0, 400, 100):
        rows = pa.table({"id": range(start, start + 100), "x": made(start)})
        orcish.write_dataset(rows, table, existing_data="append", arrow_schema=arrow_schema or start > 200)
        expected += rows["x"].to_pylist()

    def check(values: list[Any]) -> None:
        found = orcish.read_table(table).sort_by("id")
        assert found["x"].to_pylist() == values
        assert found.combine_chunks()["x"].to_pylist() == values
        assert len(orcish.scan(table).to_pandas()) == len(values)

    check(expected)
    orcish.compact(table)
    check(expected)
    orcish.compact(table, rewrite=True)
    check(expected)
    orcish.delete(table, col("id") >= 390)
    check(expected[:390])


def test_categories_of_pandas(tmp_path: pathlib.Path) -> None:
    """The keys of pandas have 8 bits where there are few categories."""
    frames = [pd.DataFrame({"x": pd.Categorical(texts(start))}) for start in (0, 100, 200)]
    for frame in frames:
        orcish.write_dataset(frame, tmp_path / "t", existing_data="append")
    found = orcish.read_table(tmp_path / "t").to_pandas()["x"]
    assert isinstance(found.dtype, pd.CategoricalDtype)
    assert sorted(found) == sorted(texts(0, 300))


def test_categories_of_polars(tmp_path: pathlib.Path) -> None:
    """An enumeration comes back as one."""
    kind = pl.Enum(texts(0))
    frame = pl.DataFrame({"x": pl.Series(texts(0), dtype=kind)})
    orcish.write_table(frame, tmp_path / "a.orc")
    assert pl.DataFrame(orcish.read_table(tmp_path / "a.orc"))["x"].dtype == pl.DataFrame(frame.to_arrow())["x"].dtype
