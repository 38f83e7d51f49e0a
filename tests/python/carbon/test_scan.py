"""Tables of CarbonData by the verbs that ORC files have, and what the tables say of themselves."""

import datetime
import multiprocessing
import pickle
from pathlib import Path

import duckdb
import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.carbon import CarbonTableWriter, write_folder
from support.carbon_tables import some, writer
from support.case_loops import each_case
from support.http_server import serve
from support.splits import read

ROWS = 400


def rows(start=0, count=ROWS):
    ids = range(start, start + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "city": [["Bern", "Chur", None][i % 3] for i in ids],
            "total": [i / 4 for i in ids],
        }
    )


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    """A table of two segments, of which one has lost a row."""
    path = tmp_path_factory.mktemp("carbon") / "sales"
    written = CarbonTableWriter(path, rows().schema, sort_columns=("id",), page_rows=50, blocklet_rows=100)
    written.load(rows())
    written.load(rows(ROWS), files=2)
    written.delete("0", [5])
    return written


WANTED = pa.concat_tables([rows().slice(0, 5), rows().slice(6), rows(ROWS)])


def test_what_a_table_says_of_itself(sales):
    table = orcish.CarbonTable(sales.path)
    assert table.num_rows == table.count() == len(WANTED)
    assert table.schema == pa.schema(table)
    assert table.schema.names == ["id", "city", "total"]
    assert table.sort_columns == ["id"]
    assert table.partition_columns == []
    assert table.is_transactional
    assert table.properties["sort_columns"] == "id"
    assert len(table.files) == 3
    assert all(Path(file).is_file() for file in table.files)
    first, second = table.segments
    assert (first.id, first.state, first.is_readable, first.format) == ("0", "Success", True, "columnar_v3")
    assert (first.rows, first.deleted_rows, first.files) == (ROWS - 1, 1, 1)
    assert (second.rows, second.deleted_rows, second.files) == (ROWS, 0, 2)
    assert first.ended - first.started == datetime.timedelta(milliseconds=200)
    assert first.started.tzinfo == datetime.timezone.utc
    assert first.merged_into is None
    assert first.data_bytes > 0 < first.index_bytes
    with pytest.raises(AttributeError):
        first.rows = 3
    assert repr(table) == f"<orcish.CarbonTable {sales.path}: 2 segments, 3 files>"


def test_a_table_is_what_it_was(sales, tmp_path):
    written = CarbonTableWriter(tmp_path / "t", rows().schema)
    written.load(rows())
    table = orcish.CarbonTable(written.path)
    written.load(rows(ROWS))
    assert len(table.read()) == len(table.scan().to_table()) == ROWS
    assert len(orcish.read_table(written.path)) == 2 * ROWS


def test_a_file_says_what_it_is(sales):
    path = orcish.CarbonTable(sales.path).files[0]
    file = orcish.CarbonFile(path)
    assert file.version == 3
    assert file.num_rows == ROWS
    assert [(blocklet.rows, blocklet.pages) for blocklet in file.blocklets] == [(100, 2)] * 4
    assert file.schema.names == ["id", "city", "total"]
    assert isinstance(file.written_by, dict)
    assert repr(file) == f"<orcish.CarbonFile {path}: {ROWS} rows, 4 blocklets>"
    # What is deleted is in the file, and not read.
    assert file.read(columns=["id"])["id"].to_pylist() == [id for id in range(ROWS) if id != 5]


@each_case("form", [str, Path, lambda path: f"{path}/", lambda path: path.as_uri()])
def test_where_a_table_is(sales, form):
    source = form(sales.path)
    for found in (orcish.read_table(source), orcish.scan(source).to_table(), orcish.CarbonTable(source).read()):
        assert found.equals(WANTED)


def test_folders_and_files_without_metadata(tmp_path):
    (file,) = write_folder(tmp_path / "t", rows())
    for source in (tmp_path / "t", tmp_path / "t" / file.name):
        assert orcish.read_table(source).equals(rows())
        assert orcish.scan(str(source)).where(col("id") < 3).count() == 3
        table = orcish.CarbonTable(source)
        assert not table.is_transactional
        assert table.segments == []
        assert table.num_rows == ROWS


def test_scans_have_all_verbs(sales):
    scan = orcish.scan(sales.path)
    assert scan.schema == orcish.CarbonTable(sales.path).schema
    assert scan.select("total", "id").to_table().equals(WANTED.select(["total", "id"]))
    assert scan.where(col("id") >= 790).select("id").to_table()["id"].to_pylist() == list(range(790, 800))
    assert scan.limit(7).to_table().equals(WANTED.slice(0, 7))
    assert scan.head(3).equals(WANTED.slice(0, 3))
    assert scan.count() == len(WANTED)
    assert scan.where(col("city") == "Bern").count() == WANTED["city"].to_pylist().count("Bern")
    assert scan.where(col("id") > 10).limit(4).count() == 4
    assert (scan.min("id"), scan.max("total"), scan.max("city")) == (0, 199.75, "Chur")
    assert scan.where(col("id") < 10).sum("id") == sum(range(10)) - 5
    assert max(len(batch) for batch in scan.batch_size(30)) <= 30
    assert pa.table(scan).equals(WANTED)
    assert len(scan.to_pandas()) == len(WANTED)
    assert repr(scan).startswith("<orcish.Scan of ")


@each_case(
    "filters",
    [
        col("id").between(10, 12),
        (pc.field("id") >= 10) & (pc.field("id") <= 12),
        pc.is_in(pc.add(pc.field("id"), 1), pa.array([11, 12, 13])),
        (pl.col("id") >= 10) & (pl.col("id") <= 12),
        [("id", ">=", 10), ("id", "<=", 12)],
        "id between 10 and 12",
    ],
)
def test_filters_of_all_kinds(sales, filters):
    table = orcish.CarbonTable(sales.path)
    assert table.read(columns=["id"], filters=filters)["id"].to_pylist() == [10, 11, 12]
    assert table.scan(filters=filters).count() == 3
    assert sum(map(len, table.to_batches(filters=filters))) == 3


def test_other_libraries(sales):
    frame = orcish.scan_polars(sales.path).filter(pl.col("id") >= 797).select("id", "city").collect()
    assert frame["id"].to_list() == [797, 798, 799]
    table = orcish.CarbonTable(sales.path)
    assert duckdb.from_arrow(pa.RecordBatchReader.from_stream(table)).aggregate("count(*)").fetchall() == [
        (len(WANTED),)
    ]
    assert pl.DataFrame(table).height == len(WANTED)


def test_what_would_be_read(sales):
    plan = orcish.CarbonTable(sales.path).scan(columns=["city"], filters=col("id") == 150).explain()
    text = str(plan)
    assert "stripe" not in text
    assert "row group" not in text
    assert "blocklet" in text
    assert "index of the blocklet" in text
    assert plan.rows_read <= 100
    assert "no blocklets" not in str(orcish.scan(sales.path).explain())


def test_a_lookup_reads_the_pages_that_may_have_rows(tmp_path):
    """The bytes read are those of the plan, plus the footer and the heads of chunks."""
    count, page = 60_000, 2000
    wide = pa.table(
        {"id": range(count), "text": [f"text {i}" for i in range(count)], "n": [i * i for i in range(count)]}
    )
    (file,) = write_folder(tmp_path / "t", wide, page_rows=page, blocklet_rows=20_000)
    data = (tmp_path / "t" / file.name).read_bytes()
    options = {"orcish.coalesce_gap": 0, "orcish.first_read": 4096}
    with serve({f"/{file.name}": data}) as server:
        scan = (
            orcish.scan(f"{server.url}/{file.name}", storage_options=options).where(col("id") == 34_567).select("text")
        )
        plan = scan.explain()
        (blocklet,) = [stripe for stripe in plan.files[0].stripes if stripe.outcome != "skipped"]
        assert plan.rows_read == page
        server.take()
        assert scan.to_table()["text"].to_pylist() == ["text 34567"]
        log, sent = server.take()
        # The tail, the header, and two heads.
        assert len(log) == plan.requests + 4
        assert 0 < blocklet.filter_bytes < blocklet.other_bytes < len(data) // 50
        assert plan.bytes < sent < plan.bytes + 4096 + 32_768 + 4096
        assert orcish.read_table(f"{server.url}/{file.name}", storage_options=options).equals(wide)


def test_splits(sales):
    for condition in (None, col("id") >= 350):
        scan = orcish.scan(sales.path, filters=condition)
        splits = scan.splits(1)
        assert len(splits) > 3
        assert pa.concat_tables([split.scan().to_table() for split in splits]).equals(scan.to_table())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(read, [pickle.dumps(split) for split in splits])
    assert pa.concat_tables(found).equals(scan.to_table())
    assert len(orcish.scan(sales.path).splits()) == 3
    assert all(split.stripes and split.size > 0 for split in splits)


def test_splits_of_a_file_that_is_replaced(tmp_path):
    """The other file has the same bytes: only its version tells that it may have other rows."""
    written = CarbonTableWriter(tmp_path / "t", rows().schema, page_rows=50, blocklet_rows=100)
    written.load(rows(), files=2)
    splits = orcish.scan(written.path).splits(1)
    file = Path(splits[0].location)
    of_file = [split.location == str(file) for split in splits]
    assert set(of_file) == {True, False}
    content = file.read_bytes()
    file.rename(tmp_path / "before")
    file.write_bytes(content)
    for split, is_replaced in zip(splits, of_file, strict=True):
        if is_replaced:
            with pytest.raises(OSError, match=r"the file was replaced"):
                split.scan().to_table()
        else:
            assert split.scan().to_table().num_rows


OF_ORC = {
    "arrow_schema": False,
    "masked": "allow",
    "match": "position",
    "null_map_keys": "dictionary",
    "partitions": False,
    "row_number": True,
    "schema": pa.schema([("id", pa.int64())]),
    "stripes": [0],
    "strings": "large",
    "timestamp_unit": "ns",
    "timestamps": "instant",
    "timezone": "UTC",
    "trim_char": True,
    "unions": "sparse",
}


@each_case("name", OF_ORC)
def test_options_of_orc_files(sales, name):
    # Scans have no stripes.
    with pytest.raises(TypeError if name == "stripes" else ValueError, match=name):
        orcish.scan(sales.path, **{name: OF_ORC[name]})
    # These are options of a scan of many files, and no keywords here.
    error = TypeError if name in ("match", "partitions", "schema") else ValueError
    with pytest.raises(error, match=name):
        orcish.CarbonTable(sales.path).scan(**{name: OF_ORC[name]})


def test_timestamps_have_all_digits(sales, tmp_path):
    expected = orcish.scan(sales.path).to_table()
    assert orcish.scan(sales.path, timestamp_unit="exact").to_table().equals(expected)
    assert orcish.CarbonTable(sales.path).scan(timestamp_unit="exact").to_table().equals(expected)
    with pytest.raises(ValueError, match="timestamp_unit"):
        orcish.scan(sales.path, timestamp_unit="auto")


def test_one_table_at_a_time(sales, tmp_path):
    path = str(sales.path)
    for source in ([path, path], [path], f"{path}/Fact/*/*", f"{path}/Fact/Part0/Segment_0/*.carbondata"):
        with pytest.raises(ValueError, match="one at a time"):
            orcish.scan(source)
    orcish.write_table(rows(), tmp_path / "t.orc")
    with pytest.raises(ValueError, match="one at a time"):
        orcish.read_table([tmp_path / "t.orc", path])


def test_what_is_wrong(sales, tmp_path):
    with pytest.raises(orcish.UnknownColumnError, match="nothing"):
        orcish.scan(sales.path, columns=["nothing"])
    with pytest.raises(ValueError, match="city"):
        orcish.scan(sales.path, filters=col("city") == 5)
    with pytest.raises(FileNotFoundError):
        orcish.CarbonTable(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        orcish.read_table(tmp_path / "nothing.carbondata")
    orcish.write_table(rows(), tmp_path / "t.orc")
    with pytest.raises((ValueError, orcish.OrcishError)):
        orcish.CarbonTable(tmp_path)


# Conversion, beyond what test_convert.py has.


def ids(folder):
    return sorted(orcish.read_table(folder, columns=["id"])["id"].to_pylist())


def test_a_part_is_converted(sales, tmp_path):
    written = orcish.convert(
        sales.path,
        tmp_path / "t",
        columns=["city", "id"],
        filters="id >= 790",
        partition_by=["city"],
        compression="zlib",
    )
    assert sum(file.rows for file in written) == 10
    assert {file.partition["city"] for file in written} == {"Bern", "Chur", None}
    assert orcish.ORCFile(written[0].path).compression == "zlib"
    assert ids(tmp_path / "t") == list(range(790, 800))


def test_overwriting(sales, tmp_path):
    target = tmp_path / "t"
    orcish.convert(sales.path, target, max_rows_per_file=300)
    assert len(list(target.glob("*.orc"))) == 3
    with pytest.raises(FileExistsError):
        orcish.convert(sales.path, target)
    orcish.convert(sales.path, target, filters=col("id") < 3, existing_data="overwrite")
    assert ids(target) == [0, 1, 2]
    assert len(list(target.glob("*.orc"))) == 1
    orcish.convert(sales.path, target, filters=col("id") < 3, existing_data="append")
    assert ids(target) == [0, 0, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="existing_data"):
        orcish.convert(sales.path, target, existing_data="delete")


def test_orc_files_are_converted(tmp_path):
    orcish.write_dataset(rows().drop_columns(["total"]), tmp_path / "a", partition_by=["city"])
    written = orcish.convert(tmp_path / "a", tmp_path / "b")
    assert {file.partition["city"] for file in written} == {"Bern", "Chur", None}
    assert ids(tmp_path / "b") == list(range(ROWS))
    assert orcish.convert(tmp_path / "a", tmp_path / "c", partition_by=[])[0].partition == {}


def test_the_target_is_elsewhere(sales, tmp_path, monkeypatch):
    path = sales.path
    (tmp_path / "link").symlink_to(path)
    data = orcish.CarbonTable(path).files[0]
    monkeypatch.chdir(path.parent)
    for source, target in [
        (path, path),
        (path, path / "orc"),
        (path, f"{path}/../sales/orc"),
        (path, path.as_uri()),
        (path, tmp_path / "link"),
        (path, "sales/orc"),
        ("sales", path),
        (path, path.parent),
        (data, path),
    ]:
        with pytest.raises(ValueError, match="target"):
            orcish.convert(source, target, existing_data="overwrite")
    assert orcish.read_table(path).num_rows == len(WANTED)
    orcish.write_table(rows(), tmp_path / "a.orc")
    for source in ([tmp_path / "a.orc"], f"{tmp_path}/*.orc"):
        with pytest.raises(ValueError, match="target"):
            orcish.convert(source, tmp_path, existing_data="overwrite")
    orcish.convert(path, f"{path}_orc")


def test_datasets_are_those_of_scans(sales):
    dataset = orcish.dataset(sales.path)
    assert dataset.to_table().equals(WANTED)
    for keep in (pc.field("id") > 700, pc.field("city") == "Bern", pc.if_else(pc.field("id") > 5, True, False)):
        assert dataset.to_table(["total", "id"], keep).equals(WANTED.filter(keep).select(["total", "id"]))
        assert dataset.count_rows(keep) == WANTED.filter(keep).num_rows
    assert duckdb.sql("select sum(id) from dataset where city = 'Chur' and id < 10").fetchall() == [(12,)]
    pieces = [part.to_table(columns=["id"]) for part in pickle.loads(pickle.dumps(list(dataset.get_fragments())))]
    assert sorted(pa.concat_tables(pieces)["id"].to_pylist()) == WANTED["id"].to_pylist()
    with pytest.raises(orcish.UnsupportedError, match="its own"):
        dataset.replace_schema(pa.schema([("id", pa.int32())]))


def test_pickles(sales, tmp_path, monkeypatch):
    """Tables, scans, datasets and files are what they were, in another folder too, or an error."""
    table = orcish.CarbonTable(sales.path)
    monkeypatch.chdir(sales.path.parent)
    scan = orcish.scan(sales.path.name).where(col("id") > 700).select("total", "id").limit(5)
    given = [table, table.scan(), orcish.scan(sales.path), scan, orcish.dataset(sales.path)]
    texts = [pickle.dumps(each) for each in given]
    monkeypatch.chdir(tmp_path)
    for text, each in zip(texts, given, strict=True):
        found = pickle.loads(text)
        assert found.schema == each.schema
        if each is not scan:
            assert (found.read() if each is table else found.to_table()).equals(WANTED)
    assert pickle.loads(texts[3]).to_table()["id"].to_pylist() == list(range(701, 706))
    assert [segment.id for segment in pickle.loads(texts[0]).segments] == [segment.id for segment in table.segments]
    file = orcish.CarbonFile(table.files[0])
    again = pickle.loads(pickle.dumps(file))
    assert (again.blocklets, again.schema, again.read().num_rows) == (file.blocklets, file.schema, file.read().num_rows)


def test_pickles_of_a_table_that_changes(tmp_path):
    """A pickle does not become a table of other rows."""
    written = writer(tmp_path)
    written.load(some(0, 50))
    changes = [
        lambda: written.load(some(50, 50)),
        lambda: written.delete("0", [0, 40]),
        lambda: written.alter_add("new", pa.int32(), 5),
    ]
    for change in changes:
        texts = [pickle.dumps(each) for each in (orcish.CarbonTable(written.path), orcish.scan(written.path))]
        assert all(pickle.loads(text).count() for text in texts)
        change()
        for text in texts:
            with pytest.raises(orcish.OrcishError, match="the table has changed since it was opened"):
                pickle.loads(text)
