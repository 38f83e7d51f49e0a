"""Scans: what a source may be, which rows and columns come of it, and in which order."""

import functools
import io
import pathlib
import pickle

import fsspec
import orcish
import pandas
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.orc_layout import layout
from support.processes import run_python
from support.small_tables import native_threads, put, rows, threads_end

PARTS = [rows(0, 300), rows(300, 200), rows(500, 1), rows(501, 499)]
WHOLE = pa.concat_tables(PARTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    files = {f"part-{i}.orc": part for i, part in enumerate(PARTS)}
    files |= {"_SUCCESS": b"", ".part-0.orc.crc": b"x", "_temporary/0/part-9.orc": b"not ORC", ".hive/part-8.orc": b"-"}
    return put(tmp_path_factory.mktemp("scan") / "table", files)


def test_folders_give_their_files_in_order_of_their_names(folder):
    for source in (folder, str(folder), f"{folder}/", folder.as_uri(), pathlib.PurePosixPath(folder)):
        table = orcish.scan(source)
        assert [pathlib.Path(file).name for file in table.files] == [f"part-{i}.orc" for i in range(4)]
        assert table.to_table().equals(WHOLE)
        assert orcish.read_table(source).equals(WHOLE)
    assert table.schema == WHOLE.schema


def test_nested_folders(tmp_path):
    put(tmp_path, {"b/c/2.orc": PARTS[2], "a.orc": PARTS[0], "b/1.orc": PARTS[1], "b/_c/9.orc": b"-", "b/.9.orc": b"-"})
    assert orcish.scan(tmp_path).to_table().equals(pa.concat_tables(PARTS[:3]))


def test_patterns(folder):
    def ids(pattern):
        return orcish.scan(f"{folder}/{pattern}").to_table()["id"].to_pylist()

    assert ids("part-[13].orc") == [*range(300, 500), *range(501, 1000)]
    assert ids("part-?.orc") == ids("*.orc") == ids("**/*.orc") == ids("**") == list(range(1000))
    assert orcish.scan(f"{folder.parent}/t*").to_table().equals(WHOLE)


@each_case("name", ["d[1]", "q?", "a*b", "[", "_x[!y]"])
def test_names_that_look_like_patterns_are_taken_literally(tmp_path, name):
    put(tmp_path, {f"{name}/day=1/a.orc": PARTS[0], "d1/b.orc": PARTS[1], "qq/b.orc": PARTS[1], "aab/b.orc": PARTS[1]})
    put(tmp_path, {f"{name}.orc": PARTS[2], "d1.orc": PARTS[1], "qq.orc": PARTS[1]})
    file, folder = tmp_path / f"{name}.orc", tmp_path / name
    for source in (file, str(file), [file]):
        assert orcish.scan(source).files == [str(file)]
        assert orcish.read_table(source).equals(PARTS[2])
    for source in (folder, f"{folder}/", folder.as_uri(), f"file://{folder}"):
        table = orcish.scan(source)
        assert table.files == [f"{folder}/day=1/a.orc"]
        assert table.schema.names == [*WHOLE.schema.names, "day"]
        assert orcish.read_table(source).num_rows == table.count() == 300
    (inner,) = (folder / "day=1").iterdir()
    assert orcish.scan(inner).schema.names == WHOLE.schema.names


def test_folders_above_are_no_columns_of_urls_either(tmp_path):
    put(tmp_path, {"year=1/t/day=2/a.orc": PARTS[0]})
    for source in (tmp_path / "year=1/t", (tmp_path / "year=1/t").as_uri(), f"file://{tmp_path}/year=1/t/d*/?.orc"):
        assert orcish.scan(source).schema.names == [*WHOLE.schema.names, "day"]
        assert orcish.read_table(source).column_names == [*WHOLE.schema.names, "day"]


def test_lists_keep_their_order(folder):
    files = [folder / f"part-{i}.orc" for i in (3, 0, 3)]
    want = pa.concat_tables([PARTS[i] for i in (3, 0, 3)])
    assert orcish.scan(files).to_table().equals(want)
    assert orcish.read_table([str(file) for file in files]).equals(want)
    assert orcish.scan(tuple(files)).count() == len(want)
    # One file that is named so is a file, whatever it is called.
    assert orcish.scan(files[:1]).to_table().equals(PARTS[3])


def test_sources_of_all_kinds_in_one_list(folder):
    data = [write_arrow(part) for part in PARTS]
    memory = fsspec.filesystem("memory")
    memory.pipe("/orcish-scan/t.orc", data[3])
    with memory.open("/orcish-scan/t.orc", "rb") as remote:
        sources = [data[0], folder / "part-1.orc", io.BytesIO(data[2]), remote, memoryview(data[1]), f"{folder}/*0.orc"]
        want = pa.concat_tables([*PARTS, PARTS[1], PARTS[0]])
        table = orcish.scan(sources)
        for threads in (1, 4):
            assert orcish.scan(sources, threads=threads).to_table().equals(want)
        assert table.to_table().equals(want)
        assert sum(len(split.scan().to_table()) for split in table.splits()) == len(want)
    memory.rm("/orcish-scan", recursive=True)


@each_case("kind", [bytes, bytearray, memoryview, pa.py_buffer, io.BytesIO])
def test_bytes_and_file_objects(kind):
    table = orcish.scan(kind(write_arrow(PARTS[0])))
    assert table.to_table().equals(PARTS[0])
    assert table.to_table().equals(PARTS[0])
    assert table.splits()[0].scan().to_table().equals(PARTS[0])


def test_without_a_file_there_is_no_scan(folder, tmp_path):
    for source in (f"{folder}/*.none", tmp_path, f"{tmp_path}/none", [], f"{folder}/none-*/", [tmp_path]):
        with pytest.raises(FileNotFoundError):
            orcish.scan(source)
    with pytest.raises(FileNotFoundError, match=r"none\.orc"):
        orcish.read_table([folder / "part-0.orc", folder / "none.orc"])


def test_options_are_checked_at_once(folder):
    with pytest.raises(orcish.UnknownColumnError, match="id"):
        orcish.scan(folder, columns=["idd"])
    with pytest.raises(orcish.UnknownColumnError, match="idd"):
        orcish.scan(folder, filters=col("idd") == 5)
    with pytest.raises(ValueError, match="text"):
        orcish.scan(folder, filters=col("text") == 5)
    with pytest.raises(TypeError, match="nonsense"):
        orcish.scan(folder, nonsense=1)
    with pytest.raises(TypeError, match="stripes are those of one file"):
        orcish.scan(folder, stripes=[0])
    with pytest.raises(ValueError, match="ids"):
        orcish.scan(folder, columns=[1])
    with pytest.raises(ValueError, match="row_number"):
        orcish.scan(folder, row_number="id")


@each_case(
    ("ask", "error", "text"),
    [
        (lambda f: orcish.scan(f).select("id", ["x"]), TypeError, r"by their names, not by \['x'\]"),
        (lambda f: orcish.scan(f).select(1), TypeError, "by their names, not by 1"),
        (lambda f: orcish.scan(f).where(b"id > 5"), TypeError, "filters are an expression .* not bytes"),
        (lambda f: orcish.scan(f).where("id >"), ValueError, 'filters: "id >" ends where a value should be'),
        (lambda f: orcish.scan(f).limit(-1), ValueError, "^rows=-1: must be at least 0"),
        (lambda f: orcish.scan(f, limit=-1), ValueError, "^limit=-1: must be at least 0"),
        (lambda f: orcish.ORCFile(f"{f}/part-0.orc").read(limit=-1), ValueError, "^limit=-1: must be at least 0"),
        (lambda f: orcish.scan(f).head(-1), ValueError, "^rows=-1: must be at least 0"),
        (lambda f: orcish.scan(f).limit("a"), TypeError, "str"),
        (lambda f: orcish.scan(f).limit(2.5), TypeError, "float"),
        (lambda f: orcish.scan(path for path in [f]), TypeError, "a source is a path, .* not generator"),
        (lambda f: orcish.scan({f}), TypeError, "a source is a path, .* not set"),
        (lambda f: orcish.read_table(None), TypeError, "a source is a path, .* not NoneType"),
        (lambda f: orcish.scan([f, 5]), TypeError, "a source is a path, .* not int"),
    ],
)
def test_wrong_arguments_are_said_to_be_so_at_once(folder, ask, error, text):
    with pytest.raises(error, match=text):
        ask(folder)


def test_one_list_of_columns_can_be_selected(folder):
    assert orcish.scan(folder).select(["x", "id"]).to_table().equals(WHOLE.select(["x", "id"]))


def test_select_where_and_limit_compose(folder):
    table = orcish.scan(folder)
    picked = table.where(col("id") >= 250).select("x", "id").where(col("text") == "t3").limit(50).limit(40)
    mask = pc.and_(pc.greater_equal(WHOLE["id"], 250), pc.equal(WHOLE["text"], "t3"))
    want = WHOLE.filter(mask).select(["x", "id"]).slice(0, 40)
    assert picked.to_table().equals(want)
    assert picked.to_table().equals(want)
    assert picked.count() == 40
    assert picked.schema == want.schema
    # The scan it was made from is as it was.
    assert table.to_table().equals(WHOLE)
    assert table.head().equals(WHOLE.slice(0, 10))
    assert table.head(310).equals(WHOLE.slice(0, 310))
    assert table.limit(0).to_table().equals(WHOLE.slice(0, 0))


@each_case("first", range(4))
@each_case("second", range(4))
def test_filters_of_several_libraries_are_joined(folder, first, second):
    low = [col("id") > 200, pc.field("id") > 200, pl.col("id") > 200, [("id", ">", 200)]][first]
    odd = [col("text") != "t1", pc.field("text") != "t1", pl.col("text") != "t1", [("text", "!=", "t1")]][second]
    mask = pc.and_(pc.greater(WHOLE["id"], 200), pc.not_equal(WHOLE["text"], "t1"))
    assert orcish.scan(folder, filters=low).where(odd).to_table().equals(WHOLE.filter(mask))


def test_what_the_core_cannot_ask_is_joined_too(folder):
    table = orcish.scan(folder).where(pl.col("id") % 3 == 0).where(col("id") > 500).where(pc.field("id") * 2 < 1200)
    assert table.select("text", "id").to_table()["id"].to_pylist() == list(range(501, 600, 3))
    assert table.count() == 33
    assert table.limit(5).count() == 5
    assert "%" in table.explain().after_read
    with pytest.raises(TypeError, match="all rows"):
        orcish.scan(folder).where(col("id") > 5).where(pl.col("id") > pl.col("id").mean()).to_table()


def test_projections_come_in_the_order_asked_for(folder, tmp_path):
    assert orcish.scan(folder).select("x", "id").to_table().equals(WHOLE.select(["x", "id"]))
    nested = pa.table({"n": [{"a": 1, "b": {"c": 2, "d": "x"}}], "l": [[{"p": 1, "q": 2}]], "m": [5]})
    put(tmp_path, {"day=1/1.orc": nested, "day=2/2.orc": nested})
    table = orcish.scan(tmp_path).select("day", "n.b.d", "m", "n.a").to_table()
    assert table.to_pylist() == [{"day": i, "n": {"b": {"d": "x"}, "a": 1}, "m": 5} for i in (1, 2)]
    assert table.column_names == ["day", "n", "m"]
    listed = orcish.scan(tmp_path).select("l.element.q", "day").to_table().to_pylist()
    assert listed[0] in ({"l": [{"q": 2}], "day": 1}, {"l": [{"p": 1, "q": 2}], "day": 1})
    assert orcish.scan(tmp_path).select().to_table().num_rows == 2
    with pytest.raises(orcish.UnknownColumnError, match=r"n\.z"):
        orcish.scan(tmp_path).select("n.z").to_table()


def test_row_numbers_are_those_within_the_file(folder):
    numbers = [i for part in PARTS for i in range(len(part))]
    for options in ({}, {"threads": 1}, {"threads": 4, "batch_size": 7}):
        table = orcish.scan(folder, row_number=True, **options).to_table()
        assert table.column_names == [*WHOLE.column_names, "row_number"]
        assert table["row_number"].to_pylist() == numbers
    kept = orcish.scan(folder, row_number="at", filters=col("id").is_in([0, 299, 300, 999]), columns=["id"])
    assert kept.to_table().to_pydict() == {"id": [0, 299, 300, 999], "at": [0, 299, 0, 498]}
    late = kept.where(pl.col("at") * 2 > 500)
    assert late.to_table().to_pydict() == {"id": [299, 999], "at": [299, 498]}
    assert late.count() == 2


@each_case("filters", [None, col("text") != "t4"])
def test_threads_and_sizes_of_batches_do_not_change_rows(folder, filters):
    want = orcish.scan(folder, threads=1, filters=filters).to_table()
    for threads in (0, 1, 2, 4, 9):
        for size in (1, 64, 100_000):
            batches = list(orcish.scan(folder, threads=threads, filters=filters).batch_size(size))
            assert all(0 < len(batch) <= size for batch in batches)
            assert pa.Table.from_batches(batches).equals(want), (threads, size)


@each_case("threads", [1, 3])
def test_a_limit_leaves_further_files_alone(folder, tmp_path, threads):
    """Files after the limit are not opened: one is not an ORC file."""
    files = {f"{i:02}.orc": PARTS[i % 2] for i in range(3)} | {f"{i:02}.orc": b"not ORC" for i in range(20, 40)}
    # As many as threads may look ahead.
    put(tmp_path, files | {f"{i:02}.orc": PARTS[2] for i in range(3, 20)})
    table = orcish.scan(tmp_path, threads=threads)
    assert table.head(5)["id"].to_pylist() == list(range(5))
    assert len(table.select("id").limit(700).to_table()) == 700
    with pytest.raises(orcish.CorruptFileError, match=r"20\.orc"):
        table.to_table()


def test_a_count_leaves_files_behind_the_limit_alone(tmp_path):
    put(tmp_path, {"1.orc": PARTS[0], "2.orc": PARTS[1], "3.orc": b"not ORC"})
    assert orcish.scan(tmp_path, threads=1).limit(301).count() == 301


@each_case("threads", [1, 3])
def test_errors_name_the_file_and_come_in_their_place(tmp_path, threads):
    put(tmp_path, {"1.orc": PARTS[0], "2.orc": PARTS[1], "3.orc": b"no ORC" * 10, "4.orc": PARTS[3]})
    seen = []
    with pytest.raises(orcish.CorruptFileError, match=r"3\.orc"):
        seen.extend(len(batch) for batch in orcish.scan(tmp_path, threads=threads))
    assert sum(seen) == 500
    for ask in (orcish.Scan.to_table, orcish.Scan.count, orcish.Scan.explain, orcish.Scan.splits):
        with pytest.raises(orcish.CorruptFileError, match=r"3\.orc"):
            ask(orcish.scan(tmp_path, threads=threads))
    broken = bytearray(write_arrow(PARTS[1]))
    broken[3 : layout(bytes(broken)).tail_start] = b"\xff" * (layout(bytes(broken)).tail_start - 3)
    put(tmp_path, {"3.orc": bytes(broken)})
    with pytest.raises(orcish.CorruptFileError, match=r"3\.orc.*stripe 0"):
        orcish.scan(tmp_path, threads=threads).to_table()
    (tmp_path / "3.orc").unlink()
    # With a schema, a file is first opened when it is read.
    table = orcish.scan(tmp_path, schema=orcish.read_schema(tmp_path / "1.orc"), threads=threads)
    (tmp_path / "4.orc").unlink()
    with pytest.raises(FileNotFoundError, match=r"4\.orc"):
        table.to_table()


@each_case("threads", [1, 2, 5])
def test_scans_that_are_left_early_leave_no_threads(folder, threads):
    for part in orcish.scan(folder, threads=threads, batch_size=10):
        assert part.num_rows == 10
        break
    del part
    before = native_threads()
    for taken in (0, 1, 7):
        batches = orcish.scan(folder, threads=threads, batch_size=10).to_batches()
        for _ in range(taken):
            next(batches)
        del batches
        reader = pa.RecordBatchReader.from_stream(orcish.scan(folder, threads=threads))
        reader.close()
        del reader
        orcish.scan(folder, threads=threads).head(3)
    assert threads_end(before)


def test_file_objects_that_are_left_early_do_not_hang():
    """Threads wait for the interpreter lock, which the thread that drops the scan holds."""
    out = run_python("""
        import io, time, orcish, pyarrow as pa, pyarrow.orc
        out = pa.BufferOutputStream()
        pyarrow.orc.write_table(pa.table({"a": range(100_000)}), out, stripe_size=20_000)
        class Slow(io.BytesIO):
            def read(self, size=-1):
                time.sleep(0.001)
                return super().read(size)
        data = out.getvalue().to_pybytes()
        for _ in range(5):
            table = orcish.scan([Slow(data) for _ in range(4)], threads=3, batch_size=1000)
            batches = iter(table)
            next(batches)
            del batches
            print(table.limit(10).to_table().num_rows)
    """)
    assert out.split() == ["10"] * 5


def test_counts(folder, tmp_path):
    table = orcish.scan(folder)
    assert table.count() == 1000
    assert table.where(col("id") >= 990).count() == 10
    assert table.where(pc.field("x").is_null()).count() == WHOLE["x"].null_count
    assert table.select("text").where(col("id") < 5).limit(3).count() == 3
    assert table.limit(301).count() == 301
    assert table.where(col("id") < 0).count() == 0
    assert orcish.scan(folder, row_number=True).count() == 1000
    # Of a file of which all rows are counted by its tail, nothing else needs to be right.
    data = bytearray(write_arrow(PARTS[0]))
    data[3 : layout(bytes(data)).tail_start] = b"\xff" * (layout(bytes(data)).tail_start - 3)
    put(tmp_path, {"a.orc": bytes(data), "b.orc": PARTS[3]})
    assert orcish.scan(tmp_path).count() == 799
    assert orcish.scan(tmp_path).where(col("id") > 500).count() == 499


def test_arrow_streams(folder):
    table = orcish.scan(folder, columns=["id", "text"])
    want = WHOLE.select(["id", "text"])
    for _ in range(2):
        assert pa.table(table).equals(want)
        assert pa.RecordBatchReader.from_stream(table).read_all().equals(want)
        assert pl.DataFrame(table).equals(pl.from_arrow(want))
        assert pandas.DataFrame.from_arrow(table).equals(want.to_pandas())
    assert pa.schema(table) == want.schema
    assert table.to_pandas().equals(want.to_pandas())
    residual = table.where(pl.col("id") % 2 == 1)
    assert pa.table(residual).equals(want.filter(pa.array([False, True] * 500)))
    assert residual.to_pandas(types_mapper=pandas.ArrowDtype)["id"].sum() == 250_000


def test_the_representation_names_a_file(folder):
    assert repr(orcish.scan(folder)) == f"<orcish.Scan of {folder}/part-0.orc and 3 more>"
    assert repr(orcish.scan(folder / "part-1.orc")) == f"<orcish.Scan of {folder}/part-1.orc>"


@each_case("threads", [1, 2])
def test_types_that_pyarrow_cannot_import_in_one(threads):
    value = 5
    for _ in range(90):
        value = [value]
    file = write_rows(f"struct<a:{'array<' * 90}int{'>' * 90}>", [(value,), (None,)])
    scan = orcish.scan([file, file], threads=threads)
    assert scan.to_table().num_rows == scan.count() == 4
    assert sum(len(batch) for batch in scan) == 4


@each_case("filters", [None, col("value").is_not_null()])
def test_no_column_of_a_root_that_is_a_list(filters):
    path = pathlib.Path(__file__).parents[2] / "data" / "root.zlib.orc"
    assert orcish.ORCFile(path).type_string == "array<bigint>"
    scan = orcish.scan(path, filters=filters)
    rows = len(scan.to_table())
    assert rows > 0
    assert scan.count() == rows
    assert [len(batch) for batch in scan.select()] == [rows]


@each_case("name", ["row_number", "at"])
def test_the_column_of_row_numbers_cannot_be_selected(tmp_path, name):
    """The message says what can select it."""
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({"id": [1, 2]}), path)
    number = True if name == "row_number" else name
    scan, file = orcish.scan(path, row_number=number), orcish.ORCFile(path)
    for read in (
        lambda: scan.select(name).to_table(),
        lambda: orcish.read_table(path, columns=["id", name], row_number=number),
        lambda: file.read(columns=[name], row_number=number),
    ):
        with pytest.raises(orcish.UnknownColumnError, match=f"column {name} has the row numbers, .* scan_polars"):
            read()


LANGUAGES = {
    "orcish": lambda name, low: col(name) >= low,
    "text": lambda name, low: f"{name} >= {low}",
    "lists": lambda name, low: [(name, ">=", low)],
    "pyarrow": lambda name, low: pc.field(name) >= low,
    "polars": lambda name, low: pl.col(name) >= low,
}


@each_case("name", ["row_number", "at"])
@each_case("language", LANGUAGES)
def test_filters_of_row_numbers(folder, name, language):
    """All verbs and all languages find the same rows. Numbers are those of rows of a file."""
    number = True if name == "row_number" else name
    filters, first = LANGUAGES[language](name, 95), folder / "part-0.orc"
    numbered = orcish.scan(folder, row_number=number)
    want = numbered.to_table().filter(pc.field(name) >= 95)
    assert want["id"].to_pylist() == [*range(95, 300), *range(395, 500), *range(596, 1000)]
    options = {"row_number": number, "filters": filters}
    for table in (
        numbered.where(filters).to_table(),
        orcish.scan(folder, **options).to_table(),
        orcish.read_table(folder, **options),
        orcish.dataset(folder, **options).to_table(),
        orcish.scan_polars(folder, **options).collect().to_arrow().cast(want.schema),
        pa.concat_tables([split.scan().to_table() for split in numbered.where(filters).splits(1)]),
        numbered.where(filters).where(f"{name} >= 3 and id >= 0").to_table(),
        numbered.where(f"{name} >= 95 or id < 0").to_table(),
    ):
        assert table.replace_schema_metadata(None).equals(want.replace_schema_metadata(None))
    selected = orcish.scan(folder, columns=["text"], **options)
    assert selected.to_table().equals(want.select(["text", name]).replace_schema_metadata(selected.schema.metadata))
    assert numbered.where(filters).count() == len(want)
    assert numbered.where(filters).max("id") == pc.max(want["id"]).as_py()
    assert numbered.where(filters).min(name) == 95
    assert numbered.where(filters).limit(3).to_table()["id"].to_pylist() == want["id"].to_pylist()[:3]
    file = orcish.ORCFile(first)
    assert file.read(**options)[name].to_pylist() == [at for at in range(file.num_rows) if at >= 95]
    assert sum(map(len, file.iter_batches(**options))) == len(file.read(**options))
    # Without the column, there is none.
    with pytest.raises((orcish.UnknownColumnError, ValueError), match=name):
        orcish.read_table(folder, filters=filters)


def test_a_stored_column_of_the_name_is_meant(tmp_path):
    orcish.write_table(pa.table({"row_number": [5, 6], "id": [1, 2]}), tmp_path / "a.orc")
    for language in LANGUAGES.values():
        scan = orcish.scan(tmp_path / "a.orc", columns=["id"], filters=language("row_number", 6), row_number="at")
        assert scan.to_table().to_pydict() == {"id": [2], "at": [1]}


@each_case("language", LANGUAGES)
def test_limits_and_filters_are_applied_in_the_order_of_the_calls(folder, language):
    """As in polars and Spark, and in all verbs."""
    filters, scan = LANGUAGES[language]("id", 3), orcish.scan(folder)
    limited = scan.limit(5).where(filters)
    assert limited.to_table().equals(WHOLE.slice(3, 2))
    assert [len(batch) for batch in limited] == [2]
    assert limited.count() == limited.select("text").to_table().num_rows == pa.table(limited).num_rows == 2
    assert limited.min("id") == 3
    assert limited.max("id") == 4
    assert limited.sum("id") == 7
    assert limited.tail(1).equals(WHOLE.slice(4, 1))
    assert limited.sample(2).equals(WHOLE.slice(3, 2))
    assert limited.limit(1).to_table().equals(WHOLE.slice(3, 1))
    assert limited.limit(1).where("id > 3").count() == limited.where("id > 4").count() == 0
    assert limited.where("id > 3").to_table().equals(limited.where(pc.field("id") > 3).to_table())
    assert pickle.loads(pickle.dumps(limited)).to_table().equals(WHOLE.slice(3, 2))
    assert "limit 5" in repr(limited)
    assert "id" in limited.explain().after_read
    # Keywords are a filter, and then a limit.
    both = orcish.scan(folder, filters=filters, limit=2)
    assert both.to_table().equals(scan.where(filters).limit(2).to_table())
    assert both.to_table().equals(WHOLE.slice(3, 2))
    pyarrow = {"filter": pc.field("id") >= 3}
    assert orcish.dataset(folder, limit=5).to_table(**pyarrow).equals(limited.to_table())
    assert orcish.dataset(folder, limit=5).count_rows(**pyarrow) == 2
    lazy = orcish.scan_polars(folder, limit=5).filter(pl.col("id") >= 3)
    assert lazy.select("id").collect()["id"].to_list() == [3, 4]


@each_case("columns", [["id", "text", "id"], ["text", "text"]])
def test_a_column_is_selected_once(folder, columns):
    """What is read has no column twice, and none is dropped in silence."""
    first = folder / "part-0.orc"
    for read in (
        lambda: orcish.read_table(folder, columns=columns),
        lambda: orcish.scan(folder, columns=columns),
        lambda: orcish.scan(folder).select(columns).to_table(),
        lambda: orcish.scan(folder).select(*columns).count(),
        lambda: orcish.dataset(folder, columns=columns),
        lambda: orcish.scan_polars(folder, columns=columns),
        lambda: orcish.ORCFile(first).read(columns=columns),
        lambda: next(orcish.ORCFile(first).iter_batches(columns=columns)),
    ):
        with pytest.raises(ValueError, match=f"columns: {columns[-1]!r} is given twice"):
            read()
    with pytest.raises(ValueError, match="columns: 1 is given twice"):
        orcish.ORCFile(first).read(columns=[1, 2, 1])
    # Queries of pyarrow repeat it, as pyarrow does.
    assert orcish.dataset(folder).to_table(columns=columns).schema.names == columns


TWICE = pa.Table.from_arrays([pa.array([1, 2]), pa.array([20, 10]), pa.array(["a", "b"])], names=["x", "x", "y"])
NESTED = pa.table({"s": pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([20, 10])], names=["x", "x"])})


@each_case("language", LANGUAGES)
@each_case("form", ["file", "scan", "files", "dataset"])
def test_filters_on_one_of_several_columns_of_a_name_are_errors(tmp_path, language, form):
    """As in pyarrow and polars: the first of them is not meant more than the others."""
    for at in range(2):
        orcish.write_table(TWICE, tmp_path / f"{at}.orc")
    filters = LANGUAGES[language]("x", 2)
    read = {
        "file": lambda filters: orcish.ORCFile(tmp_path / "0.orc").read(filters=filters),
        "scan": lambda filters: orcish.scan(tmp_path / "0.orc").where(filters).count(),
        "files": lambda filters: orcish.read_table(tmp_path, filters=filters),
        "dataset": lambda filters: orcish.dataset(tmp_path, filters=filters).to_table(columns=["y"]),
    }[form]
    with pytest.raises((ValueError, TypeError), match="x"):
        read(filters)
    assert read(LANGUAGES[language]("y", "'b'" if language == "text" else "b")) is not None


def test_row_numbers_with_the_name_of_several_columns(tmp_path):
    """A filter on the name would be one on the row numbers."""
    orcish.write_table(TWICE, tmp_path / "a.orc")
    asked = {"columns": ["y"], "row_number": "x", "filters": "x = 0"}
    for read in (
        lambda: orcish.ORCFile(tmp_path / "a.orc").read(**asked),
        lambda: orcish.read_table(tmp_path / "a.orc", **asked),
        lambda: orcish.read_table(tmp_path, **asked),
        lambda: orcish.scan([tmp_path / "a.orc"] * 2, **asked).count(),
    ):
        with pytest.raises(ValueError, match='there is a column "x" already'):
            read()


def test_fields_and_aggregates_of_several_columns_of_a_name(tmp_path):
    path = tmp_path / "a.orc"
    orcish.write_table(NESTED, path)
    for read in (orcish.ORCFile(path).read, functools.partial(orcish.scan, path)):
        with pytest.raises(ValueError, match=r'"s\.x": several columns have this name'):
            read(filters="s.x > 1")
    orcish.write_table(TWICE, path, existing_data="overwrite")
    scan = orcish.scan(path)
    for filtered in (scan, scan.where("y = 'b'"), scan.where(pl.col("y").str.len_chars() > 0), scan.limit(1)):
        for verb in (filtered.min, filtered.max, filtered.sum):
            with pytest.raises(ValueError, match='"x": several columns have this name'):
                verb("x")
        assert filtered.max("y") is not None
    with pytest.raises(ValueError, match='"x": several columns have this name'):
        scan.select("x").to_table()
    assert scan.to_table().equals(TWICE)
