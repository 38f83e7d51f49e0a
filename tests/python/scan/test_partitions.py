"""Columns whose values are in the paths of files."""

import datetime as dt

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.http_server import serve
from support.small_tables import put, rows

NULL = "__HIVE_DEFAULT_PARTITION__"


def values(folder, name, **options):
    table = orcish.scan(folder, **options).to_table()
    return table.schema.field(name).type, table[name].to_pylist()


@each_case(
    ("texts", "kind", "want"),
    [
        (["1", "20", "-3"], pa.int64(), [1, 20, -3]),
        (["1", NULL], pa.int64(), [1, None]),
        (["1", "007"], pa.string(), ["1", "007"]),
        (["1", "a"], pa.string(), ["1", "a"]),
        (["9223372036854775808", "1"], pa.string(), ["9223372036854775808", "1"]),
        (["2026-01-31", "1969-02-01"], pa.date32(), [dt.date(2026, 1, 31), dt.date(1969, 2, 1)]),
        (["2026-01-31", "2026-02-30"], pa.string(), ["2026-01-31", "2026-02-30"]),
        (["1.5", "x%3Dy%2Fz", "a b", "ü%20", "100%", ""], pa.string(), ["1.5", "x=y/z", "a b", "ü ", "100%", None]),
        ([NULL], pa.string(), [None]),
    ],
)
def test_values_have_the_type_that_all_of_them_have(tmp_path, texts, kind, want):
    put(tmp_path, {f"k={text}/f.orc": rows(0, 1) for text in texts})
    found, got = values(tmp_path, "k")
    assert found == kind
    assert sorted(got, key=str) == sorted(want, key=str)


def test_columns_of_paths_are_behind_those_of_files(tmp_path):
    put(tmp_path, {f"year={y}/c={c}/f.orc": rows(y, 2) for y in (2024, 2025) for c in ("DE", "FR")})
    table = orcish.scan(tmp_path)
    assert table.schema.names == ["id", "text", "x", "year", "c"]
    assert table.to_table()["c"].to_pylist() == ["DE", "DE", "FR", "FR"] * 2
    some = table.select("c", "id", "year").where((col("c") == "FR") & (col("year") > 2024))
    assert some.to_table().to_pydict() == {"c": ["FR"] * 2, "id": [2025, 2026], "year": [2025] * 2}
    assert table.select("year").to_table()["year"].to_pylist() == [2024] * 4 + [2025] * 4


def test_when_paths_have_columns(tmp_path, monkeypatch):
    put(tmp_path, {"k=1/f.orc": rows(0, 1)})
    path = tmp_path / "k=1" / "f.orc"
    monkeypatch.chdir(tmp_path)
    for folder in (
        tmp_path,
        f"{tmp_path}/*",
        f"{tmp_path}/k=*/f.orc",
        tmp_path.as_uri(),
        "k=*",
        f"{tmp_path}/**/*.orc",
    ):
        assert "k" in orcish.scan(folder).schema.names, folder
        assert "k" not in orcish.scan(folder, partitions=False).schema.names
    for file in (path, str(path), path.as_uri(), "k=1/f.orc", [path]):
        assert "k" not in orcish.scan(file).schema.names, file
        assert "k" in orcish.scan(file, partitions=True).schema.names
    assert orcish.read_table(path, partitions=True)["k"].to_pylist() == [1]
    assert "k" not in orcish.read_table(path).column_names


def test_paths_stand_above_files(tmp_path):
    put(tmp_path, {"k=1/f.orc": rows(0, 2, k="in the file"), "k=2/f.orc": rows(2, 1)})
    table = orcish.scan(tmp_path)
    assert table.schema.names == ["id", "text", "x", "k"]
    assert table.to_table()["k"].to_pylist() == [1, 1, 2]
    assert table.where(col("k") == 1).count() == 2
    assert orcish.scan(tmp_path / "k=1" / "f.orc").to_table()["k"].to_pylist() == ["in the file"] * 2


def test_files_that_differ_in_their_columns_are_named(tmp_path):
    put(tmp_path, {"k=1/f.orc": rows(0, 1), "k=2/j=1/g.orc": rows(0, 1)})
    with pytest.raises(ValueError, match=r"g\.orc.*\(k, j\).*f\.orc.*\(k\)"):
        orcish.scan(tmp_path)
    with pytest.raises(ValueError, match=r"<bytes"):
        orcish.scan([f"{tmp_path}/*/f.orc", write_arrow(rows(0, 1))])


def test_the_first_folder_of_a_name_counts(tmp_path):
    put(tmp_path, {"k=1/k=a/f.orc": rows(0, 1)})
    table = orcish.scan(tmp_path)
    assert table.schema.names == ["id", "text", "x", "k"]
    assert table.where(col("k") == 1).to_table()["k"].to_pylist() == [1]


def test_folders_above_the_table_are_not_of_it(tmp_path):
    put(tmp_path, {"k=1/j=2/f.orc": rows(0, 1)})
    assert orcish.scan(tmp_path / "k=1").schema.names[-1] == "j"
    assert orcish.scan(tmp_path / "k=1/j=*").schema.names[-1] == "j"
    assert "k" not in orcish.scan(tmp_path / "k=1/*/f.orc").schema.names
    assert orcish.scan(tmp_path / "k=1", partitions=True).schema.names[-2:] == ["k", "j"]


@each_case(
    ("filters", "want"),
    [
        (col("k") == 1, [0, 1]),
        (col("k") != 1, [10, 11]),
        (col("k").is_null(), [20, 21]),
        (~col("k").is_null(), [0, 1, 10, 11]),
        (col("k").is_in([1, 7]), [0, 1]),
        (col("k") > 1.5, [10, 11]),
        ((col("k") == 1) | (col("id") == 21), [0, 1, 21]),
        ((col("k") == 2) & (col("id") == 11), [11]),
        (~((col("k") == 1) | (col("id") == 11)), [10]),
        (pc.field("k") == 2, [10, 11]),
        ((pl.col("k") == 2) | (pl.col("id") * 2 == 40), [10, 11, 20]),
        ([("k", "in", [1])], [0, 1]),
        ([[("k", "=", 2), ("id", "=", 10)], [("id", "=", 0)]], [0, 10]),
        (pl.col("k") % 2 == 1, [0, 1]),
    ],
)
def test_filters_ask_values_of_paths(tmp_path, filters, want):
    put(tmp_path, {"k=1/f.orc": rows(0, 2), "k=2/f.orc": rows(10, 2), f"k={NULL}/f.orc": rows(20, 2)})
    for columns in (None, ["id"], ["x", "id"]):
        table = orcish.scan(tmp_path, filters=filters, columns=columns)
        assert sorted(table.to_table()["id"].to_pylist()) == want
        assert table.count() == len(want)


def test_dates_and_texts_of_paths_are_compared(tmp_path):
    put(tmp_path, {f"d=2026-01-0{i}/c={'ab'[i % 2]}/f.orc": rows(i, 1) for i in range(1, 5)})
    table = orcish.scan(tmp_path)
    assert table.where(col("d") >= dt.date(2026, 1, 3)).to_table()["id"].to_pylist() == [3, 4]
    assert table.where(col("c").starts_with("b")).to_table()["id"].to_pylist() == [1, 3]
    assert table.where(pc.field("d") == dt.date(2026, 1, 2)).count() == 1
    with pytest.raises(ValueError, match="c of type"):
        table.where(col("c") == 5).to_table()


def test_files_that_no_row_is_wanted_of_are_not_opened(tmp_path):
    put(tmp_path, {"k=1/f.orc": rows(0, 2), "k=2/bad.orc": b"no ORC", "k=3/gone.orc": rows(9, 1)})
    table = orcish.scan(tmp_path).where(col("k") == 1)
    (tmp_path / "k=3" / "gone.orc").unlink()
    assert table.to_table()["id"].to_pylist() == [0, 1]
    assert table.count() == 2
    assert [split.rows for split in table.splits()] == [2]
    plan = table.explain()
    assert [len(file.stripes) for file in plan.files] == [1, 0, 0]
    assert [file.skipped for file in plan.files] == [False, True, True]
    assert str(plan).count("skipped: the filter is not true of its partition") == 2
    assert table.where(col("id") == 1).select("text").to_table().num_rows == 1
    with pytest.raises(orcish.CorruptFileError, match=r"bad\.orc"):
        orcish.scan(tmp_path).where((col("k") == 2) | (col("id") == 1)).to_table()


def test_files_without_stripes_are_not_those_that_are_skipped(tmp_path):
    put(tmp_path, {"k=1/f.orc": rows(0, 1).slice(1), "k=2/f.orc": b"", "k=3/f.orc": rows(0, 2)})
    plan = orcish.scan(tmp_path).where(col("k") < 3).explain()
    assert [(file.skipped, len(file.stripes)) for file in plan.files] == [(False, 0), (False, 0), (True, 0)]
    assert str(plan).count("no stripes") == 2
    assert str(plan).count("skipped: the filter is not true of its partition") == 1


def test_splits_have_the_types_of_the_table(tmp_path):
    put(tmp_path, {f"k={k}/d=2026-01-01/f.orc": rows(0, 1) for k in ("1", "a", NULL)})
    put(tmp_path, {"k=1/d=x/f.orc": rows(0, 1)})
    table = orcish.scan(tmp_path)
    assert [table.schema.field(name).type for name in "kd"] == [pa.string()] * 2
    parts = [split.scan() for split in table.splits()]
    assert all(part.schema == table.schema for part in parts)
    assert pa.concat_tables(part.to_table() for part in parts).equals(table.to_table())
    (part,) = table.where((col("k") == "1") & (col("d") == "x")).splits()
    assert part.scan().to_table()["k"].to_pylist() == ["1"]
    numbers = orcish.scan(f"{tmp_path}/k=[!a]*", schema=pa.schema([("id", pa.int64()), ("k", pa.int16())]))
    assert {part.scan().schema.field("k").type for part in numbers.splits()} == {pa.int16()}


@each_case(
    ("kind", "texts", "want", "literal"),
    [
        (pa.string(), ["1", "20"], ["1", "20"], "20"),
        (pa.large_string(), ["1", "x"], ["1", "x"], "x"),
        (pa.dictionary(pa.int32(), pa.string()), ["1", "x"], ["1", "x"], "x"),
        (pa.int8(), ["-3", "007", NULL], [-3, 7, None], 7),
        (pa.uint32(), ["4294967295", "1"], [2**32 - 1, 1], 2**32 - 1),
        (pa.bool_(), ["true", "False", NULL], [True, False, None], True),
        (pa.date32(), [NULL, "2026-01-31"], [None, dt.date(2026, 1, 31)], dt.date(2026, 1, 31)),
        (pa.date32(), [NULL], [None], dt.date(2026, 1, 31)),
    ],
)
def test_the_schema_of_the_caller_decides_on_types(tmp_path, kind, texts, want, literal):
    put(tmp_path, {f"k={text}/f.orc": rows(i, 1) for i, text in enumerate(texts)})
    schema = pa.schema([pa.field("k", kind, metadata={"of": "k"}), ("id", pa.int64())])
    table = orcish.scan(tmp_path, schema=schema)
    assert table.schema.names == ["id", "k"]
    assert table.schema.field("k").metadata == {b"of": b"k"}
    got = table.to_table().sort_by("id")
    assert (got["k"].type, got["k"].to_pylist()) == (kind, want)
    kept = [i for i, value in enumerate(want) if value == literal]
    assert table.where(col("k") == literal).to_table()["id"].to_pylist() == kept
    assert table.where(col("k").is_null()).count() == want.count(None)


@each_case(
    ("kind", "text"), [(pa.int64(), "a"), (pa.int8(), "128"), (pa.date32(), "2026-2-30"), (pa.bool_(), "yes")], ids=str
)
def test_values_that_are_not_of_the_type_name_the_file(tmp_path, kind, text):
    put(tmp_path, {f"k={NULL}/f.orc": rows(0, 1), f"k={text}/bad.orc": rows(0, 1)})
    with pytest.raises(ValueError, match=rf"bad\.orc: column k: the partition value \"{text}\" is no"):
        orcish.scan(tmp_path, schema=pa.schema([("k", kind)]))


def test_types_that_no_path_has(tmp_path):
    put(tmp_path, {"k=1/f.orc": rows(0, 1)})
    with pytest.raises(orcish.UnsupportedError, match="partition columns are not of list"):
        orcish.scan(tmp_path, schema=pa.schema([("k", pa.list_(pa.int8()))]))


@each_case("text", ["+2026-1-01", " 2026-1-1", "2026- 1- 1", "100%+5", "%-1"])
def test_what_is_no_date_and_no_sign_stays_text(tmp_path, text):
    put(tmp_path, {f"k={text}/f.orc": rows(0, 1), "k=2026-01-01/f.orc": rows(0, 1)})
    found, got = values(tmp_path, "k")
    assert found == pa.string()
    assert sorted(got) == sorted([text, "2026-01-01"])


def test_queries_of_urls_are_no_folders():
    with serve({"/k=a%3Ab/f.orc": write_arrow(rows(0, 1))}) as server:
        table = orcish.scan(f"{server.url}/k=a%253Ab/f.orc?sign=a/x=1/", partitions=True)
        assert table.schema.names[3:] == ["k"]
        assert table.to_table()["k"].to_pylist() == ["a:b"]


def test_columns_of_paths_come_in_batches_too(tmp_path):
    """No column of the file is read. A file may state any number of rows."""
    (tmp_path / "k=1").mkdir()
    (tmp_path / "k=1" / "a.orc").write_bytes(write_arrow({"a": list(range(1000))}))
    batches = list(orcish.scan(tmp_path, columns=["k"], batch_size=300))
    assert [batch.num_rows for batch in batches] == [300, 300, 300, 100]
    assert set(orcish.scan(tmp_path, columns=["k"], batch_size=300).to_table()["k"].to_pylist()) == {1}
