"""What comes out: string types, batches, stripes, and other libraries that take Arrow streams."""

import duckdb
import orcish
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows

ROWS = 30_000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS)),
        "few": pa.array([None if i % 13 == 4 else f"name {i % 7 + i // 10_000}" for i in range(ROWS)]),
        "many": pa.array([f"a longer text that is no short view {i}" for i in range(ROWS)]),
        "bin": pa.array([bytes([i % 256]) * (i % 20) for i in range(ROWS)]),
        "nest": pa.array([{"l": [str(i), None]} for i in range(ROWS)]),
    }
)
FILES = {
    name: write_arrow(TABLE, stripe_size=200_000, batch_size=1000, dictionary_key_size_threshold=threshold)
    for name, threshold in (("direct", 0.0), ("dictionary", 1.0))
}
PLAIN = {"few": pa.string(), "many": pa.string(), "bin": pa.binary(), "nest": TABLE.schema.field("nest").type}


@each_case("stored", FILES)
@each_case(
    ("strings", "text", "binary"),
    [
        ("utf8", pa.string(), pa.binary()),
        ("large", pa.large_string(), pa.large_binary()),
        ("view", pa.string_view(), pa.binary_view()),
        ("dictionary", pa.dictionary(pa.int32(), pa.string()), pa.binary()),
        ("binary", pa.binary(), pa.binary()),
    ],
)
def test_string_types_hold_the_same(stored, strings, text, binary):
    file = orcish.ORCFile(FILES[stored])
    assert file.num_stripes > 3
    table = file.read(strings=strings, batch_size=4000)
    table.validate(full=True)
    assert table.schema == file.arrow_schema(strings=strings)
    assert (table.schema.field("few").type, table.schema.field("bin").type) == (text, binary)
    assert table.schema.field("nest").type.field("l").type.value_type == text
    for name in ("few", "many", "bin"):
        assert table[name].cast(PLAIN[name]).equals(TABLE[name]), name
    nest = [
        value and value.decode() if strings == "binary" else value
        for row in table["nest"].to_pylist()
        for value in row["l"]
    ]
    assert nest == [value for row in TABLE["nest"].to_pylist() for value in row["l"]]


@each_case("stored", FILES)
def test_the_dictionary_type_is_stable(stored):
    """Batches have one schema for any encoding of strings in stripes."""
    file = orcish.ORCFile(FILES[stored])
    schemas = {str(batch.schema) for batch in file.iter_batches(strings="dictionary", batch_size=777)}
    assert len(schemas) == 1
    mixed = file.read(strings="dictionary", columns=["few"])["few"].unify_dictionaries()
    assert mixed.cast(pa.string()).equals(TABLE["few"])


@each_case("batch_size", [1, 100, 9999, 65_536, 10**9])
def test_batch_sizes(batch_size):
    file = orcish.ORCFile(FILES["direct"])
    stripes = [0] if batch_size == 1 else None
    batches = list(file.iter_batches(columns=["id"], batch_size=batch_size, stripes=stripes))
    want = []
    for stripe in file.stripes[:1] if stripes else file.stripes:
        whole, rest = divmod(stripe.num_rows, batch_size)
        want += [batch_size] * whole + [rest] * (rest > 0)
    assert [batch.num_rows for batch in batches] == want
    assert [id for batch in batches for id in batch["id"].to_pylist()] == list(range(sum(want)))


def test_stripes():
    file = orcish.ORCFile(FILES["direct"])
    for index, stripe in enumerate(file.stripes):
        want = TABLE.slice(stripe.first_row, stripe.num_rows)
        assert file.read_stripe(index).combine_chunks().equals(want.combine_chunks())
    order = [2, 0, 2]
    want = pa.concat_tables([file.read_stripe(index) for index in order])
    assert file.read(stripes=order).equals(want)
    assert file.read(stripes=[]).num_rows == 0
    assert file.read(stripes=[]).schema == file.schema


@pytest.mark.long
def test_batches_of_strings_are_bounded_by_bytes():
    """A dictionary entry of 40 KB in 70,000 rows makes 2.8 GB of strings from a few KB, in several batches."""
    long = "x" * 40_000
    rows = 70_000
    file = orcish.ORCFile(
        write_arrow(
            {"s": pa.chunked_array([pa.array([long] * 10_000)] * (rows // 10_000))},
            dictionary_key_size_threshold=1.0,
            compression="zstd",
        )
    )
    lengths = []
    for batch in file.iter_batches(threads=1):
        assert batch.nbytes < 136 << 20
        lengths.append(batch.num_rows)
        assert batch["s"][-1].as_py() == long
        del batch
    assert sum(lengths) == rows
    assert max(lengths) > 3000
    small = [batch.num_rows for batch in file.iter_batches(strings="dictionary")]
    assert small[0] == 65_536


def test_batches_are_smaller_where_memory_is():
    rows = [("y" * 20_000,) for _ in range(2000)]
    data = write_rows("struct<s:string>", rows, dict_key_size_threshold=1.0)
    file = orcish.ORCFile(data, limits={"memory": 8 << 20})
    batches = [(batch.num_rows, batch.nbytes) for batch in file.iter_batches()]
    assert sum(rows for rows, _ in batches) == 2000
    assert max(nbytes for _, nbytes in batches) <= 8 << 20
    one = orcish.ORCFile(data, limits={"memory": 40_000})
    with pytest.raises(orcish.LimitExceededError, match="column s"):
        one.read()


def test_pyarrow_takes_files():
    file = orcish.ORCFile(FILES["direct"])
    assert pa.table(file).equals(TABLE)
    assert pa.schema(file) == file.schema
    with pa.RecordBatchReader.from_stream(file.reader(columns=["few"])) as reader:
        assert reader.read_all().equals(TABLE.select(["few"]))


def test_streams_are_taken_once():
    """As every reader of pyarrow."""
    reader = orcish.ORCFile(FILES["direct"]).reader()
    assert pa.table(reader).equals(TABLE)
    assert pa.table(reader).num_rows == 0


@each_case("stored", FILES)
def test_polars_takes_files(stored):
    file = orcish.ORCFile(FILES[stored])
    assert pl.DataFrame(file).equals(pl.DataFrame(TABLE))
    assert pl.DataFrame(file.reader(strings="view", columns=["many"]))["many"].to_list() == TABLE["many"].to_pylist()


def test_pandas_takes_files():
    frame = pd.DataFrame.from_arrow(orcish.ORCFile(FILES["direct"]))
    pd.testing.assert_frame_equal(frame, pd.DataFrame.from_arrow(TABLE))


def test_duckdb_takes_files():
    with duckdb.connect() as connection:
        file = orcish.ORCFile(FILES["dictionary"])
        counts = connection.from_arrow(file).aggregate("count(*), sum(id), count(few)").fetchall()
        assert counts == [(ROWS, sum(range(ROWS)), ROWS - TABLE["few"].null_count)]
        query = "select few, count(*) from file group by few order by 2 desc, 1 limit 1"
        [(name, count)] = connection.sql(query).fetchall()
        assert count == max(pc.value_counts(TABLE["few"]).field("counts").to_pylist())
        assert name is not None


def test_files_without_rows_reach_other_libraries():
    file = orcish.ORCFile(write_rows("struct<a:int,s:string>", []))
    assert pl.DataFrame(file).shape == (0, 2)
    assert pd.DataFrame.from_arrow(file).shape == (0, 2)
