"""Files merged stripe by stripe: rows, statistics, indexes, and what cannot be merged."""

from __future__ import annotations

import io
import pathlib
from collections.abc import Iterator
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import col
from pyarrow import orc
from support.conformance.pack import PACK, valid
from support.cpp_writers import write_arrow, write_rows
from support.orc_builder import DATA, LONG, STRUCT, column_type, integer, integers, nested
from support.orc_builder import orc as handmade

STRIDE = 1000
OPTIONS: dict[str, Any] = {"row_index_stride": STRIDE, "stripe_size": 20_000, "bloom_filter_columns": ["id", "text"]}


def written(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    orcish.write_table(table, out, **options)
    return out.getvalue()


def merged(*sources: Any) -> bytes:
    out = io.BytesIO()
    orcish.merge(sources, out)
    return out.getvalue()


def rows(start: int, count: int) -> pa.Table:
    ids = range(start, start + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "key": pa.array([i * 7919 % 10_007 for i in ids], pa.int32()),
            "text": [None if i % 11 == 0 else f"text {i % 500}" for i in ids],
            "x": pa.array([None if i % 5 == 0 else i / 4 for i in ids], pa.float64()),
            "list": pa.array([[i, None] if i % 3 else None for i in ids], pa.list_(pa.int64())),
            "when": pa.array([i * 10**6 for i in ids], pa.timestamp("us")),
            "flag": pa.array([i % 7 == 0 for i in ids], pa.bool_()),
        }
    )


TABLE = rows(0, 25_000)
PARTS = [TABLE.slice(0, 10_000), TABLE.slice(10_000, 1), TABLE.slice(10_001, 14_999)]


@pytest.fixture(scope="module")
def parts() -> list[bytes]:
    return [written(part, **OPTIONS) for part in PARTS]


def values(file: orcish.ORCFile) -> list[tuple[Any, ...]]:
    """Statistics of all columns, but the bytes that they take."""
    found = []
    for column in range(len(file.column_paths)):
        statistics = file.statistics(column)
        assert statistics is not None
        found.append(tuple(v for k, v in vars(statistics).items() if k != "bytes_on_disk"))
    return found


def test_rows_stripes_and_statistics(parts: list[bytes], tmp_path: pathlib.Path) -> None:
    path = tmp_path / "merged.orc"
    result = orcish.merge(parts, path)
    file, sources = orcish.ORCFile(path), [orcish.ORCFile(part) for part in parts]
    assert result == (25_000, path.stat().st_size, sum(source.num_stripes for source in sources))
    assert file.num_stripes == result.stripes > 4
    assert file.num_rows == 25_000
    assert file.read().equals(TABLE)
    assert file.check() == []
    assert values(file) == values(orcish.ORCFile(written(TABLE, **OPTIONS)))
    for column in range(len(file.column_paths)):
        own = [statistics for source in sources for statistics in source.stripe_statistics(column)]
        assert file.stripe_statistics(column) == own
        sizes = [statistics.bytes_on_disk for source in sources if (statistics := source.statistics(column))]
        total = file.statistics(column)
        assert total is not None
        assert total.bytes_on_disk == sum(size or 0 for size in sizes)
    assert [stripe.num_rows for stripe in file.stripes] == [s.num_rows for f in sources for s in f.stripes]
    assert file.stripes[-1].first_row + file.stripes[-1].num_rows == 25_000
    assert (file.writer, file.writer_version) == (sources[0].writer, sources[0].writer_version)
    assert file.software_version == sources[0].software_version
    assert file.row_index_stride == STRIDE
    assert orc.read_table(path).select(["id", "text"]).equals(TABLE.select(["id", "text"]))


def test_order(parts: list[bytes]) -> None:
    file = orcish.ORCFile(merged(parts[2], parts[0], parts[0]))
    assert file.read().equals(pa.concat_tables([PARTS[2], PARTS[0], PARTS[0]]))
    assert file.check() == []
    for index in range(file.num_stripes):
        assert file.read_stripe(index).num_rows == file.stripes[index].num_rows


def test_bytes_are_copied(parts: list[bytes]) -> None:
    """The bytes of stripes are equal."""
    data = merged(*parts)
    own = [part[s.offset : s.offset + _length(s)] for part in parts for s in orcish.ORCFile(part).stripes]
    assert [data[s.offset : s.offset + _length(s)] for s in orcish.ORCFile(data).stripes] == own


def _length(stripe: orcish.types.StripeInfo) -> int:
    return stripe.index_length + stripe.data_length + stripe.footer_length


def test_filters_use_the_indexes(parts: list[bytes]) -> None:
    file = orcish.ORCFile(merged(*parts))
    found = file.read(filters=col("id") == 12_345)
    assert found.equals(TABLE.slice(12_345, 1))
    plan = str(file.explain(filters=col("id") == 12_345))
    (only,) = file.explain(filters=col("id") == 12_345).files
    assert sum(stripe.rows_read for stripe in only.stripes) <= STRIDE, plan
    # Every group of rows has keys on both sides of it: only bloom filters know.
    missing = col("text") == "text 77x"
    assert file.read(filters=missing).num_rows == 0
    (only,) = file.explain(filters=missing).files
    plain = orcish.ORCFile(merged(*(written(p, row_index_stride=STRIDE, stripe_size=20_000) for p in PARTS)))
    (without,) = plain.explain(filters=missing).files
    kept, read = (sum(s.rows_read for s in one.stripes) for one in (only, without))
    assert kept < read / 4
    # Groups of the small file in the middle have their own rows.
    assert file.read(filters=col("id") == 10_000).equals(PARTS[1])
    assert file.read(filters=(col("id") >= 9_990) & (col("id") < 10_010)).equals(TABLE.slice(9_990, 20))


def test_one_file_and_files_without_rows(parts: list[bytes]) -> None:
    empty = written(TABLE.slice(0, 0), **OPTIONS)
    for sources, want in (
        ([parts[0]], PARTS[0]),
        ([empty], TABLE.slice(0, 0)),
        ([empty, empty], TABLE.slice(0, 0)),
        ([empty, parts[0]], PARTS[0]),
        ([parts[0], empty, parts[1], empty], pa.concat_tables(PARTS[:2])),
    ):
        file = orcish.ORCFile(merged(*sources))
        assert file.read().equals(want)
        assert file.check() == []
        assert values(file) == values(orcish.ORCFile(written(want, **OPTIONS)))
        assert file.num_rows == want.num_rows
    # Once more.
    assert orcish.ORCFile(merged(merged(*parts[:2]), parts[2])).read().equals(TABLE)


def test_no_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="no files"):
        orcish.merge([], tmp_path / "t.orc")
    for sources in ("t.orc", tmp_path / "t.orc", b"ORC"):
        with pytest.raises(TypeError, match="list of files"):
            orcish.merge(sources, tmp_path / "t.orc")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_sources_of_all_kinds(parts: list[bytes], tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.orc"
    path.write_bytes(parts[0])
    with path.open("rb") as opened:
        sources: list[Any] = [path, str(path), path.as_uri(), opened, io.BytesIO(parts[0]), memoryview(parts[0])]
        assert orcish.ORCFile(merged(*sources)).read().equals(pa.concat_tables([PARTS[0]] * 6))
    out = tmp_path / "out.orc"
    with out.open("wb") as target:
        orcish.merge(tuple(parts), target)
    assert orcish.read_table(out).equals(TABLE)


def test_chunk_sizes() -> None:
    """The merged file has the greatest chunk size."""
    sizes = [4096, 65_536, 262_144, 10_000]
    for codec in ("zlib", "zstd", "none"):
        data = merged(*(written(TABLE, compression=codec, compression_block_size=size) for size in sizes))
        file = orcish.ORCFile(data)
        assert file.compression_chunk_size == (262_144 if codec != "none" else 0)
        assert file.read().equals(pa.concat_tables([TABLE] * 4))
        assert orc.read_table(pa.BufferReader(data)).num_rows == 100_000
        assert file.check() == []


def test_what_may_differ() -> None:
    """Time zones, encodings, bloom filters and compression levels are properties of stripes."""
    options: list[dict[str, Any]] = [
        {"timezone": "America/New_York"},
        {"timezone": "Asia/Tokyo", "dictionary": True},
        {"dictionary": False, "compression_level": 9},
        {"bloom_filter_columns": ["text"], "bloom_filter_fpp": 0.5},
        {"column_compression": {"id": None}},
    ]
    part = TABLE.slice(0, 3000)
    file = orcish.ORCFile(merged(*(written(part, row_index_stride=STRIDE, **each) for each in options)))
    assert file.read().equals(pa.concat_tables([part] * len(options)))
    assert file.check() == []
    assert file.read(filters=col("text") == "text 77").num_rows == 5 * len(options)


def _named(**fields: pa.DataType) -> pa.Table:
    return pa.schema(list(fields.items())).empty_table()


def _refused() -> Iterator[tuple[str, bytes, bytes, list[str]]]:
    small = TABLE.slice(0, 10)

    def case(name: str, *texts: str, first: pa.Table = small, second: pa.Table = small, **options: Any) -> Any:
        return name, written(first), written(second, **options), list(texts)

    yield case("codec", "compression", "zlib", "zstd", compression="zlib")
    yield case("no_codec", "compression", "none", "zstd", compression="none")
    yield case("stride", "stride", "5000", "10000", row_index_stride=5000)
    yield case("no_index", "stride", "0 rows", "10000", row_index_stride=0)
    yield case("version", "version of the format", "11", "12", version="0.11")
    yield case("name", "type", "int1", first=_named(int0=pa.int64()), second=_named(int1=pa.int64()))
    yield case("type", "type", "bigint", "int", first=_named(a=pa.int64()), second=_named(a=pa.int32()))
    yield case(
        "precision",
        "decimal",
        first=_named(a=pa.decimal128(9, 2)),
        second=_named(a=pa.decimal128(9, 3)),
    )
    yield case("order", "type", second=small.select(small.column_names[::-1]))
    yield case("more", "type", second=small.append_column("more", small["id"]))
    yield case("zone", "type", first=_named(a=pa.timestamp("us")), second=_named(a=pa.timestamp("us", "UTC")))
    attributes = pa.schema([pa.field("a", pa.int64(), metadata={"iceberg.id": "1"})]).empty_table()
    yield case("attributes", "attributes", first=_named(a=pa.int64()), second=attributes)
    one = written(small, metadata={"k": "1", "same": "x"})
    yield "metadata", one, written(small, metadata={"k": "2", "same": "x"}), ["user metadata", '"k"']
    arrow = pa.table({"a": pa.array([1], pa.int32())})
    # C++ gives attributes to no column, nor does orcish to a plain one.
    yield "writer", written(arrow, compression="none"), write_arrow(arrow), ["writer"]
    rows_of_pyorc = write_rows("struct<a:int>", [(1,)], compression=pyorc_none())
    yield "writer_of_pyorc", written(arrow, compression="none"), rows_of_pyorc, ["writer"]
    yield "no_file", one, b"no ORC file at all", ["not an ORC file"]
    yield "cut", one, one[: len(one) // 2], [""]


def pyorc_none() -> Any:
    import pyorc

    return pyorc.CompressionKind.NONE


@pytest.mark.parametrize(("first", "second", "texts"), [p[1:] for p in _refused()], ids=[p[0] for p in _refused()])
def test_what_is_refused(tmp_path: pathlib.Path, first: bytes, second: bytes, texts: list[str]) -> None:
    """The message has the file and the difference. No file appears."""
    names = [tmp_path / "first.orc", tmp_path / "second one.orc"]
    names[0].write_bytes(first)
    names[1].write_bytes(second)
    old = tmp_path / "old.orc"
    old.write_bytes(b"old")
    for target in (tmp_path / "new.orc", old):
        for sources in (names, [names[0], *names]):
            with pytest.raises((ValueError, orcish.CorruptFileError)) as raised:
                orcish.merge(sources, target, existing_data="overwrite")
            assert "second one.orc" in str(raised.value)
            assert str(raised.value).startswith(str(names[1]))
            for text in texts:
                assert text in str(raised.value)
    assert old.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.orc", "old.orc", "second one.orc"]


def test_messages_say_which_attributes_differ() -> None:
    plain = _named(a=pa.int64())
    other = pa.schema([pa.field("a", pa.int64(), metadata={"iceberg.id": "1"})]).empty_table()
    with pytest.raises(ValueError, match=r"iceberg\.id"):
        merged(written(plain), written(other))


def test_messages_have_versions_as_they_are_written() -> None:
    with pytest.raises(ValueError, match=r"0\.11.*0\.12"):
        merged(written(TABLE), written(TABLE, version="0.11"))


def test_failures_midway_leave_nothing(tmp_path: pathlib.Path, parts: list[bytes]) -> None:
    """A source is removed while its stripes are copied."""

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() < 1000:
                raise LookupError("gone")
            return super().read(size)

    with pytest.raises(LookupError, match="gone"):
        orcish.merge([parts[0], Failing(parts[2])], tmp_path / "t.orc")
    (tmp_path / "there.orc").write_bytes(parts[0])
    with pytest.raises(FileNotFoundError, match=r"absent\.orc"):
        orcish.merge([tmp_path / "there.orc", tmp_path / "absent.orc"], tmp_path / "t.orc")
    with pytest.raises(orcish.LimitExceededError):
        orcish.merge(parts, tmp_path / "t.orc", limits={"stripes": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["there.orc"]


def test_user_metadata() -> None:
    part = TABLE.slice(0, 10)

    def metadata(*each: dict[str, bytes | str]) -> dict[str, bytes]:
        found = orcish.ORCFile(merged(*(written(part, metadata=one) for one in each))).metadata
        assert found.pop("orcish.arrow.schema")
        return found

    assert metadata({"a": "1"}, {"b": b"\xff\x00"}, {}, {"a": "1", "c": ""}) == {"a": b"1", "b": b"\xff\x00", "c": b""}
    assert metadata({}, {}) == {}


def test_metadata_are_a_part_of_the_memory() -> None:
    """Each key of the user metadata takes memory once."""
    part = TABLE.slice(0, 10)
    own = [written(part, metadata={f"k{at}": bytes(50_000)}, compression="none") for at in range(40)]
    limits = {"memory": 1 << 20}
    about = "the tails of the files take more than the 1048576 bytes of memory allowed"
    with pytest.raises(orcish.LimitExceededError, match=about):
        orcish.merge(own, io.BytesIO(), limits=limits)
    with pytest.raises(orcish.LimitExceededError, match=about):
        orcish.merge([written(part, metadata={"k": bytes(1 << 20)})], io.BytesIO(), limits=limits)
    assert orcish.merge(own[:10], io.BytesIO(), limits=limits).rows == 100
    assert orcish.merge(own[:1] * 40, io.BytesIO(), limits=limits).rows == 400


def test_statistics_of_stripes_are_a_part_of_the_memory() -> None:
    """The decoded statistics count, their position in the file does not."""
    out = io.BytesIO()
    rows_of = [pa.record_batch({"s": [f"{at:01000}"], "b": [bytes(20_000)]}) for at in range(300)]
    with orcish.ORCWriter(out, rows_of[0].schema, compression="none") as writer:
        for batch in rows_of:
            writer.write(batch)
            writer.end_stripe()
    again = io.BytesIO()
    orcish.merge([out.getvalue()], again, limits={"memory": 4 << 20})
    files = [orcish.ORCFile(each.getvalue()) for each in (out, again)]
    assert files[0].stripe_statistics("s") == files[1].stripe_statistics("s")
    assert len(files[1].stripe_statistics("s")) == 300
    with pytest.raises(orcish.LimitExceededError, match="memory"):
        orcish.merge([out.getvalue()], io.BytesIO(), limits={"memory": 500_000})


def test_keys_that_are_not_utf8_or_there_twice() -> None:
    """Keys that are invalid UTF-8 or duplicate are kept and compared as they are."""
    part = TABLE.slice(0, 10)
    data = written(part, metadata={"K1": "one", "K2": "two"}, compression="none")
    other = written(part, metadata={"K1": "one", "K2": "six"}, compression="none")
    assert data.count(b"K1") == data.count(b"K2") == 1
    bytes_of = [data.replace(b"K1", b"\xff1").replace(b"K2", b"\xfe1"), data.replace(b"K2", b"K1")]
    for found in bytes_of:
        again = merged(found, found)
        assert orcish.read_table(again).num_rows == 20
        items = [found[found.rindex(value) - 6 :][:9] for value in (b"one", b"two")]
        assert all(again.count(item) == 1 for item in items)
    both = orcish.ORCFile(merged(written(part, compression="none"), bytes_of[0]))
    assert sorted(both.metadata)[-1:] == ["\ufffd1"]
    with pytest.raises(ValueError, match=r'value of "K1".*cannot be merged'):
        merged(bytes_of[1], other.replace(b"K2", b"K1"))
    # One of two keys that read alike is another key.
    assert merged(bytes_of[0], other.replace(b"K1", b"\xfd1").replace(b"K2", b"\xfc1")).count(b"six") == 1


def repeated_keys(values: list[str]) -> bytes:
    """A file whose user metadata have one key as often as there are values."""
    items = b"".join(nested(5, nested(1, b"k"), nested(2, value.encode())) for value in values)
    types = [column_type(STRUCT, [1], ["a"]), column_type(LONG)]
    return handmade(types, [(1, [(1, DATA, integers([7]))])], footer_fields=items)


@pytest.mark.long
def test_a_key_that_is_there_a_million_times() -> None:
    """The values of a repeated key are compared once."""
    found = repeated_keys([""] * 1_000_000)
    again = merged(found, found)
    assert orcish.read_table(again)["a"].to_pylist() == [7, 7]
    assert orcish.ORCFile(again).metadata == {"k": b""}
    with pytest.raises(ValueError, match=r'value of "k".*cannot be merged'):
        merged(found, repeated_keys([""] * 999_999 + ["x"]))


PLAIN_KINDS = {"boolean": 0, "bigint": LONG, "double": 6, "string": 7, "binary": 8, "date": 15}


@pytest.mark.parametrize("kind", PLAIN_KINDS)
@pytest.mark.parametrize("field", [4, 5, 6], ids=["length", "precision", "scale"])
def test_numbers_that_a_type_has_no_use_for(kind: str, field: int) -> None:
    """Attributes without meaning for a type, which C++ writes for every type, may differ."""
    files = []
    for numbers in (b"", integer(field, 9), integer(field, 18)):
        types = [column_type(STRUCT, [1], ["a"]), column_type(PLAIN_KINDS[kind]) + numbers]
        files.append(handmade(types, []))
    for first in files:
        for second in files:
            assert orcish.ORCFile(merged(first, second)).column_types == [f"struct<a:{kind}>", kind]


@pytest.mark.parametrize(("kind", "field", "numbers"), [(14, 5, (18, 9)), (14, 6, (3, 2)), (17, 4, (3, 4)), (16, 4, (3, 4))])  # fmt: skip
def test_numbers_that_a_type_has_use_for(kind: int, field: int, numbers: tuple[int, int]) -> None:
    """Precision and scale of decimals, and lengths of `char` and `varchar`, have to be equal."""
    plain = {4: integer(4, 9), 5: integer(5, 20), 6: integer(6, 2)}
    files = []
    for number in numbers:
        parts = b"".join(({**plain, field: integer(field, number)}).values())
        files.append(handmade([column_type(STRUCT, [1], ["a"]), column_type(kind) + parts], []))
    with pytest.raises(ValueError, match=r"type is .* cannot be merged"):
        merged(*files)
    assert orcish.ORCFile(merged(files[0], files[0])).num_rows == 0


@pytest.mark.parametrize("codec", ["zlib", "snappy", "lz4", "zstd", "brotli"])
def test_tails_are_compressed(codec: str) -> None:
    wide = pa.table({f"a column with a long name {at}": pa.array([at]) for at in range(500)})
    file = written(wide, compression=codec, arrow_schema=False)
    assert len(merged(file)) <= len(file) * 1.01
    assert len(file) < len(written(wide, compression="none", arrow_schema=False)) * 0.8


def test_files_of_a_codec_that_nobody_writes() -> None:
    path = pathlib.Path(__file__).parents[2] / "data" / "spark.lzo.orc"
    again = orcish.ORCFile(merged(path, path))
    want = orcish.read_table(path)
    assert again.compression == "lzo"
    assert repr(again.read().to_pylist()) == repr(want.to_pylist() * 2)
    assert again.check() == orcish.ORCFile(path).check() == []


def test_stripes_that_overlap(tmp_path: pathlib.Path) -> None:
    """A small file may list a stripe many times, so that copies would have any size."""
    types = [column_type(STRUCT, [1], ["a"]), column_type(LONG)]
    stripe = (512, [(1, DATA, integers(list(range(512))))])
    found = handmade(types, [stripe, stripe], repeat=1000)
    assert orcish.read_table(found).num_rows == 2 * 512 * 1000
    target = tmp_path / "target.orc"
    with pytest.raises(orcish.UnsupportedError, match="stripe 1: it has bytes of stripe 0: stripes that overlap"):
        orcish.merge([found], target)
    assert not target.exists()
    findings = orcish.ORCFile(found).check()
    assert len(findings) == 1000
    assert findings[0].stripe == 1
    assert findings[0].message == "it has bytes of stripe 0, too"
    assert orcish.ORCFile(handmade(types, [stripe, stripe])).check() == []


def test_arrow_schemas() -> None:
    """The Arrow schema is kept if all files have the same."""
    large = pa.table({"s": pa.array(["a", "b"], pa.large_string())})
    plain = pa.table({"s": ["a", "b"]})
    key = "orcish.arrow.schema"

    def types(*sources: bytes) -> tuple[bool, pa.DataType]:
        file = orcish.ORCFile(merged(*sources))
        assert file.read()["s"].to_pylist() == ["a", "b"] * len(sources)
        return key in file.metadata, file.schema.field("s").type

    without = written(large, arrow_schema=False)
    assert types(written(large), written(large)) == (True, pa.large_string())
    assert types(written(large)) == (True, pa.large_string())
    assert types(written(large), written(plain)) == (False, pa.string())
    assert types(written(large), without) == (False, pa.string())
    assert types(without, written(large)) == (False, pa.string())
    assert types(without, without) == (False, pa.string())
    assert types(written(large), written(large), written(plain)) == (False, pa.string())


MEANINGS = [
    pa.duration("s"),
    pa.duration("ms"),
    pa.duration("us"),
    pa.duration("ns"),
    pa.time64("us"),
    pa.time64("ns"),
    pa.int64(),
]


@pytest.mark.parametrize("wrapped", [False, True])
def test_units_that_differ_are_not_merged(wrapped: bool) -> None:
    """Durations and times are stored as integers in the unit of the Arrow schema."""

    def file(kind: pa.DataType, **options: Any) -> bytes:
        values = pa.array([1, None, 86_399], kind)
        column = pa.StructArray.from_arrays([values], ["x"]) if wrapped else values
        return written(pa.table({"a": pa.array([[1]] * 3), "d": column}), **options)

    for first in MEANINGS:
        for second in MEANINGS:
            sources = file(first), file(second)
            if first != second:
                with pytest.raises(ValueError, match="cannot be merged"):
                    merged(*sources)
            else:
                both = pa.concat_tables([orcish.read_table(each) for each in sources])
                assert orcish.read_table(merged(*sources)).equals(both)
    # A file without schema has numbers and nothing else.
    kind = pa.duration("ms")
    with pytest.raises(ValueError, match="cannot be merged"):
        merged(file(kind), file(kind, arrow_schema=False))
    with pytest.raises(ValueError, match="cannot be merged"):
        merged(file(kind, arrow_schema=False), file(kind))


INSTANTS = pa.array([1_762_061_400 * 10**6, None, 0], pa.timestamp("us", "UTC"))


def _clocks(kind: pa.DataType, beside: pa.DataType, wrapped: bool, **options: Any) -> bytes:
    """A column `t` that is stored as `timestamp`, and another one."""
    field = pa.field("t", kind, metadata={"orc.type": "timestamp"} if kind.tz else None)
    values: pa.Array = INSTANTS.cast(kind)
    if wrapped:
        values, field = pa.StructArray.from_arrays([values], fields=[field]), pa.field("w", pa.struct([field]))
    schema = pa.schema([field, pa.field("s", beside)])
    table = pa.table([values, pa.array(["a", "b", "c"], beside)], schema)
    return written(table, timezone="America/New_York", **options)


@pytest.mark.parametrize("wrapped", [False, True])
def test_instants_do_not_become_wall_clocks(wrapped: bool) -> None:
    """Instants with the zone of the writer are instants only by the Arrow schema."""
    micros = pa.timestamp("us", "UTC")
    file = _clocks(micros, pa.string(), wrapped)
    want = orcish.read_table(file)
    assert orcish.read_table(merged(file, file)).equals(pa.concat_tables([want, want]))
    others = [
        _clocks(micros, pa.large_string(), wrapped),
        _clocks(pa.timestamp("ms", "UTC"), pa.string(), wrapped),
        _clocks(pa.timestamp("us", "Asia/Tokyo"), pa.string(), wrapped),
        _clocks(pa.timestamp("us"), pa.string(), wrapped),
        _clocks(micros, pa.string(), wrapped, arrow_schema=False),
    ]
    for other in others:
        for sources in ([file, other], [other, file]):
            with pytest.raises(ValueError, match=r"instants.*cannot be merged"):
                merged(*sources)
    # Wall clocks are such without a schema.
    clocks = [_clocks(pa.timestamp("us"), kind, wrapped) for kind in (pa.string(), pa.large_string())]
    assert orcish.read_table(merged(*clocks)).num_rows == 6


@pytest.mark.parametrize("wrapped", [False, True])
def test_instants_that_are_such_by_their_type(wrapped: bool) -> None:
    """Instants by ORC type need no Arrow schema: a different schema that changes no values is dropped."""

    def file(kind: pa.DataType, beside: pa.DataType, **options: Any) -> bytes:
        values: pa.Array = INSTANTS.cast(kind)
        values = pa.StructArray.from_arrays([values], ["x"]) if wrapped else values
        return written(pa.table({"t": values, "s": pa.array(["a", "b", "c"], beside)}), **options)

    micros = pa.timestamp("us", "UTC")
    files = [
        file(micros, pa.string()),
        file(micros, pa.large_string()),
        file(pa.timestamp("ms", "Asia/Tokyo"), pa.string()),
        file(micros, pa.string(), arrow_schema=False),
    ]
    for first in files:
        for second in files:
            found = orcish.read_table(merged(first, second))["t"].combine_chunks()
            instants = found.field("x") if wrapped else found
            assert instants.cast(micros).to_pylist() == INSTANTS.to_pylist() * 2


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_nanoseconds_are_not_lost(zone: str | None, wrapped: bool) -> None:
    """Timestamps in nanoseconds are read as such only by the Arrow schema."""

    def file(unit: str, beside: pa.DataType, **options: Any) -> bytes:
        values: pa.Array = pa.array([1, None, 1_762_061_400], pa.int64()).cast(pa.timestamp(unit, zone))
        values = pa.StructArray.from_arrays([values], ["x"]) if wrapped else values
        return written(pa.table({"t": values, "s": pa.array(["a", "b", "c"], beside)}), **options)

    first = file("ns", pa.string())
    assert orcish.read_table(merged(first, first)).schema == orcish.ORCFile(first).schema
    for other in (file("us", pa.string()), file("ns", pa.large_string()), file("ns", pa.string(), arrow_schema=False)):
        for sources in ([first, other], [other, first]):
            with pytest.raises(ValueError, match=r"timestamps in nanoseconds.*cannot be merged"):
                merged(*sources)
    coarse = [file(unit, pa.string()) for unit in ("us", "ms")]
    assert orcish.read_table(merged(*coarse)).num_rows == 6


def test_meanings_that_would_be_lost_are_not_merged() -> None:
    """Different schemas are dropped, unless stored integers would lose their meaning."""
    kind = pa.duration("ms")
    large = written(pa.table({"d": pa.array([1], kind), "s": pa.array(["a"], pa.large_string())}))
    plain = written(pa.table({"d": pa.array([1], kind), "s": pa.array(["a"])}))
    with pytest.raises(ValueError, match=r"there would be no Duration.*cannot be merged"):
        merged(large, plain)


# Files of others.


def test_files_of_pyarrow_and_pyorc() -> None:
    table = TABLE.drop_columns(["when"])
    ours = [write_arrow(part.drop_columns(["when"]), compression="zlib") for part in PARTS]
    theirs = [
        write_rows("struct<a:bigint,s:string,l:array<int>>", [(i, f"s{i % 9}", [i, 1]) for i in range(s, s + 12_000)])
        for s in (0, 12_000)
    ]
    for sources, want in ((ours, table), (theirs, orcish.read_table(theirs[0]))):
        data = merged(*sources)
        file = orcish.ORCFile(data)
        assert file.read().slice(0, len(want)).equals(want)
        assert file.num_rows == sum(orcish.ORCFile(source).num_rows for source in sources)
        assert file.check() == []
        assert file.writer == "ORC C++"
        assert orc.read_table(pa.BufferReader(data)).equals(file.read())


def test_files_of_spark(spark: Any, spark_orc: Any, tmp_path: pathlib.Path) -> None:
    query = "select id, cast(id % 100 as string) s, array(id) l, date '2020-01-01' + cast(id % 9 as int) d from range({}, {})"
    options = {"orc.bloom.filter.columns": "id", "orc.row.index.stride": "1000"}
    sources = [spark_orc(query.format(start, start + 9_500), **options) for start in (0, 9_500, 19_000)]
    path = tmp_path / "merged.orc"
    orcish.merge(sources, path)
    file = orcish.ORCFile(path)
    assert file.read().equals(pa.concat_tables([orcish.read_table(source) for source in sources]))
    assert file.check() == []
    assert file.writer == "ORC Java"
    read = spark.read.orc(str(path))
    assert read.count() == 28_500
    # Java skips by the indexes.
    assert [tuple(row)[:2] for row in read.where("id = 12345").collect()] == [(12_345, "45")]
    assert read.where("id = 99999").count() == 0
    assert file.read(filters=col("id") == 12_345).num_rows == 1
    assert file.metadata == orcish.ORCFile(sources[0]).metadata


def test_files_of_orcish_for_spark(spark: Any, parts: list[bytes], tmp_path: pathlib.Path) -> None:
    path = tmp_path / "merged.orc"
    orcish.merge(parts, path)
    read = spark.read.orc(str(path))
    assert read.count() == 25_000
    found = read.where("id between 9998 and 10003 and text is not null").orderBy("id").collect()
    want = {row["id"]: row["text"] for row in TABLE.slice(9998, 6).to_pylist() if row["text"]}
    assert {row["id"]: row["text"] for row in found} == want
    total = read.selectExpr("sum(id)", "count(text)", "sum(x)", "sum(size(list))").collect()[0]
    assert total[0] == sum(range(25_000))
    assert total[1] == 25_000 - TABLE["text"].null_count


@pytest.mark.skipif(not valid(), reason="no conformance pack")
def test_files_of_the_pack() -> None:
    """Each file is merged with itself, also with LZO."""
    options: dict[str, Any] = {"masked": "allow", "null_map_keys": "dictionary"}
    codecs = set()
    for name in valid():
        path = PACK / "files" / name
        source = orcish.ORCFile(path)
        if source.file_length > 1 << 20:
            continue
        if source.encrypted_columns:
            with pytest.raises(orcish.UnsupportedError, match=f"{path.name}.*encrypted"):
                merged(path)
            continue
        file, want = orcish.ORCFile(merged(path, path)), source.read(**options)
        codecs.add(file.compression)
        got = file.read(**options)
        assert got.num_rows == file.num_rows == 2 * want.num_rows, name
        for half in (got.slice(0, len(want)), got.slice(len(want))):
            assert half.equals(want) or repr(half.to_pylist()) == repr(want.to_pylist()), name
        assert file.compression == source.compression, name
        assert file.version == source.version, name
    assert codecs >= {"none", "zlib", "snappy", "lz4", "zstd", "lzo"}
