"""Datasets of pyarrow over scans: rows, columns and filters are those of pyarrow over the same table in memory."""

import io
import pickle
import subprocess
import sys

import numpy as np
import orcish
import polars as pl
import pyarrow as pa
import pyarrow.acero as acero
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from orcish import col
from support.case_loops import each_case
from support.small_tables import put

ROWS = 6000
A, K, N, S = pc.field("a"), pc.field("k"), pc.field("n"), pc.field("s")


def rows(start, count):
    at = range(start, start + count)
    nested = [None if i % 7 == 0 else {"x": i % 5, "y": f"y{i % 3}"} for i in at]
    return pa.table(
        {
            "a": pa.array([None if i % 11 == 0 else i for i in at], pa.int64()),
            "f": pa.array([float("nan") if i % 13 == 0 else i / 8 for i in at]),
            "s": pa.array([None if i % 5 == 0 else f"s{i % 17}" for i in at]),
            "n": pa.array(nested, pa.struct([("x", pa.int64()), ("y", pa.string())])),
            "l": pa.array([[i] * (i % 3) for i in at], pa.list_(pa.int32())),
            "d": pa.array([f"d{i % 4}" for i in at]).dictionary_encode(),
            "t": pa.array([i * 10**6 for i in at], pa.timestamp("us", "UTC")),
        }
    )


def written(table, **options):
    out = io.BytesIO()
    orcish.write_table(table, out, row_index_stride=1000, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    parts = {f"k={i}/{i}.orc": written(rows(i * 2000, 2000)) for i in range(3)}
    return put(tmp_path_factory.mktemp("dataset"), parts)


@pytest.fixture(scope="module")
def dataset(folder):
    return orcish.dataset(folder)


@pytest.fixture(scope="module")
def memory(folder):
    """The same rows in memory, as a dataset of pyarrow."""
    return ds.InMemoryDataset(orcish.scan(folder).to_table())


COLUMNS = [
    None,
    [],
    ["k", "a"],
    ["s", "s"],
    ["n"],
    ["n.x", "a"],
    [".n.y"],
    {},
    {"b": A + 1, "k": K},
    {"x": pc.field("n", "x"), "n": N},
    {"one": pc.scalar(1)},
    {"a": S, "s": A},
    {"up": pc.utf8_upper(S), "t": pc.field("t")},
]
FILTERS = [
    None,
    A > 4321,
    (A < 50) | S.isin(["s3", "s4"]),
    ~S.isin(["s3", "s4"]),
    pc.if_else(S.is_valid(), S.isin(["s3", "s4"]), pa.scalar(None, pa.bool_())),
    ~pc.if_else(S.is_valid(), S.isin(["s3", "s4"]), pa.scalar(None, pa.bool_())),
    ~pc.if_else(S.is_valid(), A < 100, pa.scalar(None, pa.bool_())),
    pc.if_else(S.is_valid(), A < 100, pa.scalar(False)),
    pc.if_else(A < 100, S.is_valid(), pa.scalar(None, pa.bool_())),
    (K == 1) & (pc.field("n", "x") == 3),
    pc.bit_wise_and(A, 1) == 0,
    N.is_null() & ~pc.is_nan(pc.field("f")),
    pc.field("d") == "d3",
    A == -1,
    pc.scalar(True),
    pc.scalar(False),
    S.is_null(),
]


@each_case("columns", COLUMNS, ids=str)
def test_tables_are_those_of_pyarrow(dataset, memory, columns):
    for filters in FILTERS:
        want = memory.to_table(columns, filters)
        wanted = plain(want)
        found = dataset.to_table(columns, filters)
        assert (found.schema, found.num_rows) == (want.schema, want.num_rows), filters
        assert plain(found) == wanted, filters
        for read in (
            dataset.scanner(columns, filters).to_table(),
            dataset.scanner(columns=columns, filter=filters).to_reader().read_all(),
            pa.Table.from_batches(dataset.to_batches(columns, filters), want.schema) if want.num_columns else want,
            dataset.filter(filters).to_table(columns) if filters is not None else want,
        ):
            assert read.num_rows == want.num_rows, filters
            assert plain(read) == wanted, filters
        assert sum(len(batch) for batch in dataset.to_batches(columns, filters)) == want.num_rows
        head = dataset.head(7, columns, filters)
        assert same_values(head, want.slice(0, 7)), filters
        assert head.num_rows == min(7, want.num_rows)


def same_values(found, want):
    """Whether tables are equal, NaN included, however they are cut into chunks."""
    return pickle.dumps(plain(found)) == pickle.dumps(plain(want))


def plain(table):
    return [(name, str(column.to_pylist())) for name, column in zip(table.schema.names, table.columns, strict=True)]


def test_the_whole_dataset_is_the_scan(folder, dataset):
    scan = orcish.scan(folder)
    assert dataset.schema.equals(scan.schema, check_metadata=True)
    assert dataset.to_table().schema.equals(scan.schema, check_metadata=True)
    assert same_values(dataset.to_table(), scan.to_table())
    assert [len(batch) for batch in dataset.to_batches()] == [len(batch) for batch in scan.to_batches()]
    assert isinstance(dataset, ds.Dataset)
    assert dataset.partition_expression.equals(pc.scalar(True))


def test_counts(dataset, memory):
    assert dataset.count_rows() == ROWS
    for filters in FILTERS:
        assert (
            dataset.count_rows(filters)
            == memory.count_rows(filter=filters)
            == dataset.scanner(columns=[], filter=filters).count_rows()
        ), filters


@each_case("columns", [None, ["s", "k"], [], {"b": A + 1}], ids=str)
def test_rows_by_position(dataset, memory, columns):
    for indices in ([5999, 0, 2000, 1999, 0, 17], [], range(10), np.array([4000, 3]), pa.array([1], pa.uint8())):
        found = dataset.take(pa.array(indices) if isinstance(indices, range) else indices, columns)
        assert found.num_rows == len(indices)
        given = indices if isinstance(indices, pa.Array) else pa.array(list(indices), pa.int64())
        assert same_values(found, memory.to_table(columns).take(given)) or not found.num_columns
    found = dataset.take([3, 1], columns, A > 3000)
    assert same_values(found, memory.to_table(columns, A > 3000).take([3, 1]))


def test_rows_that_are_not_there(dataset):
    with pytest.raises(IndexError, match="index 6000: the dataset has 6000 rows"):
        dataset.take([3, 6000])
    with pytest.raises(IndexError, match="index -1"):
        dataset.take([-1], columns=[])
    with pytest.raises(ValueError, match="null"):
        dataset.take([1, None])
    with pytest.raises(TypeError, match="must be integers"):
        dataset.take([1.5])


def test_fragments_are_the_dataset(dataset, memory, folder):
    parts = list(dataset.get_fragments())
    assert len(parts) == 3
    assert sum(part.count_rows() for part in parts) == ROWS
    assert [part.count_rows(filter=K == 1) for part in parts] == [0, 2000, 0]
    for columns, filters in ((None, None), (["k", "a"], A > 2500), ({"b": A + 1}, K == 2)):
        want = memory.to_table(columns, filters)
        pieces = [part.to_table(None, columns, filters) for part in pickle.loads(pickle.dumps(parts))]
        assert same_values(pa.concat_tables(pieces), want)
        pieces = [part.scanner(dataset.schema, columns=columns, filter=filters).to_table() for part in parts]
        assert same_values(pa.concat_tables(pieces), want)
    left = list(dataset.get_fragments(K == 1))
    assert [part.count_rows() for part in left] == [2000]
    assert [part.count_rows() for part in dataset.get_fragments(A > 4321)] == [2000]
    assert [part.to_table().num_rows for part in dataset.get_fragments(A == -1)] == [0]
    filtered = dataset.filter(A < 10)
    assert [part.count_rows() for part in filtered.get_fragments()] == [9]
    assert parts[1].head(2, ["k"]).to_pydict() == {"k": [1, 1]}
    assert parts[1].take([5], ["a"]).to_pydict() == {"a": [2005]}
    assert parts[1].physical_schema == dataset.schema
    assert sum(len(batch) for batch in parts[0].to_batches()) == 2000


def test_fragments_of_what_is_about_all_rows(folder):
    limited = orcish.dataset(folder, limit=2500)
    (part,) = limited.get_fragments(A > 100)
    assert part.count_rows() == 2500
    (part,) = orcish.dataset(folder, filters=pl.col("a") > pl.col("a").mean()).get_fragments()
    assert part.count_rows() == orcish.scan(folder, filters=pl.col("a") > pl.col("a").mean()).count()


@each_case(
    "options",
    [
        {"limit": 100},
        {"columns": ["n.x", "s", "a"]},
        {"columns": ["n.y", "a", "n.x"], "filters": col("a") > 10, "row_number": True},
        {"filters": pl.col("a") % 7 == 3, "row_number": "row"},
        {"filters": pl.col("a") > pl.col("a").mean()},
        {"timestamps": "instant", "limit": 0},
        {"strings": "large", "batch_size": 77},
    ],
    # Texts of expressions of polars have addresses.
    ids=lambda options: "-".join(options),
)
def test_options_of_the_scan_come_first(folder, options):
    dataset, memory = orcish.dataset(folder, **options), ds.InMemoryDataset(orcish.scan(folder, **options).to_table())
    assert dataset.schema == memory.schema
    names = dataset.schema.names
    for columns in (None, names[::-1], names[:1], [], {"b": A + 1}, [names[-1]], ["n.x"]):
        for filters in (None, A > 50, (A < 5000) & S.is_valid() if "s" in names else A.is_valid()):
            want = memory.to_table(columns, filters)
            assert same_values(dataset.to_table(columns, filters), want), (columns, filters)
            assert dataset.scanner(columns, filters).to_table().num_rows == want.num_rows
            assert dataset.head(3, columns, filters).num_rows == min(3, want.num_rows)
            assert dataset.count_rows(filters) == want.num_rows
    assert dataset.to_table(columns=names[::-1]).schema.names == names[::-1]


def test_columns_given_by_position(dataset, memory):
    """pyarrow does not serialize their expressions, which are evaluated after the read."""
    for columns, filters in ((None, pc.field(0) > 5000), (["s"], pc.field(0) > 5000), ({"a": pc.field(2)}, None)):
        want = memory.to_table(columns, filters)
        assert same_values(dataset.to_table(columns, filters), want)
        assert same_values(dataset.head(5, columns, filters), want.slice(0, 5))
    assert dataset.count_rows(pc.field(0) > 5000) == memory.count_rows(filter=pc.field(0) > 5000)


def test_filters_of_datasets_are_a_conjunction(dataset, memory):
    found = dataset.filter(A > 100).filter(K == 1)
    assert same_values(found.to_table(filter=S == "s3"), memory.filter((A > 100) & (K == 1)).to_table(filter=S == "s3"))
    assert found.count_rows() == memory.filter((A > 100) & (K == 1)).count_rows()
    assert found.schema == dataset.schema
    assert "k == 1" in repr(found)


def test_pickles(dataset, tmp_path):
    for given in (dataset, dataset.filter(A < 100)):
        copy = pickle.loads(pickle.dumps(given))
        assert same_values(copy.to_table(), given.to_table())
        assert repr(copy) == repr(given)
    count = "import pickle, sys; print(pickle.load(sys.stdin.buffer).count_rows())"
    given = pickle.dumps(dataset.filter(A < 100))
    said = subprocess.run([sys.executable, "-c", count], input=given, capture_output=True, check=True).stdout
    assert int(said) == dataset.count_rows(A < 100)


def test_texts(dataset, folder):
    assert repr(dataset) == f"<orcish.dataset of {folder}/k=0/0.orc and 2 more>"
    assert "<td>k</td>" in dataset._repr_html_()
    assert "fragment of" in repr(next(dataset.get_fragments()))


def test_other_schemas(dataset, memory):
    fields = {field.name: field for field in dataset.schema}
    wider = pa.schema([pa.field("new", pa.int32()), fields["k"], pa.field("a", pa.float64()), fields["n"]])
    found = dataset.replace_schema(wider)
    assert found.schema == wider
    assert found.to_table().schema == wider
    assert found.to_table(filter=A > 5990.5).select(["new", "k", "a"]).to_pylist()[0] == {
        "new": None,
        "k": 2,
        "a": 5991,
    }
    assert found.count_rows(pc.field("new").is_valid()) == 0
    assert dataset.replace_schema(dataset.schema) is dataset
    numbered = orcish.dataset(written(rows(0, 10)), row_number=True)
    number = numbered.schema.field("row_number")
    for schema in (pa.schema([fields["a"], number]), pa.schema([fields["s"]])):
        assert numbered.replace_schema(schema).to_table().schema == schema
    with pytest.raises(ValueError, match="row_number is the column of row numbers, which comes last"):
        numbered.replace_schema(pa.schema([number, fields["a"]]))
    assert dataset.filter(A > 100).replace_schema(pa.schema([fields["a"]])).count_rows() == memory.count_rows(
        filter=A > 100
    )


def test_sorts_and_joins(dataset, memory):
    keys = [("k", "descending"), ("a", "ascending")]
    left = ["a", "k", "s"]
    ours = dataset.replace_schema(pa.schema([dataset.schema.field(name) for name in left]))
    theirs = ds.InMemoryDataset(memory.to_table(left))
    assert ours.sort_by(keys).to_table() == theirs.sort_by(keys).to_table()
    other = ds.InMemoryDataset(pa.table({"a": [5, 4000], "o": ["x", "y"]}))
    want = theirs.join(other, "a", join_type="inner").to_table().sort_by("a")
    assert ours.join(other, "a", join_type="inner").to_table().sort_by("a") == want
    assert ours.join(ours, "a", join_type="inner", right_suffix="_r", left_suffix="_l").count_rows() > 0


def test_consumers_in_cpp_get_an_error(dataset):
    """They look past the methods, at an object that a class of Python cannot give."""
    for read in (
        lambda: ds.Scanner.from_dataset(dataset).to_table(),
        lambda: ds.Scanner.from_dataset(dataset).count_rows(),
        lambda: ds.dataset([dataset, dataset]).to_table(),
        lambda: acero.Declaration("scan", acero.ScanNodeOptions(dataset)).to_table(),
        lambda: ds.InMemoryDataset(pa.table({"a": [1]})).join(
            dataset.replace_schema(pa.schema([dataset.schema.field("a")])), "a"
        ),
    ):
        with pytest.raises(TypeError, match=r"is read by its methods, .* scanner\(\)\.to_reader\(\)"):
            read()
    with pytest.raises(TypeError):
        ds.Scanner.from_fragment(next(dataset.get_fragments()))


def test_writers_of_pyarrow_read_datasets(dataset, tmp_path):
    for given in (dataset, dataset.scanner(["a", "k"], A > 10).to_reader()):
        ds.write_dataset(given, tmp_path / "out", format="parquet", existing_data_behavior="delete_matching")
    assert ds.dataset(tmp_path / "out").count_rows() == dataset.count_rows(A > 10)


def test_writers_of_orcish_read_datasets(dataset, tmp_path):
    orcish.write_table(dataset.filter(K == 1), tmp_path / "a.orc")
    assert same_values(orcish.read_table(tmp_path / "a.orc"), dataset.to_table(filter=K == 1))
    orcish.write_dataset(dataset, tmp_path / "table", partition_by=["k"])
    assert orcish.count_rows(tmp_path / "table") == ROWS


def test_no_rows_and_no_columns(tmp_path):
    empty = orcish.dataset(written(rows(0, 0)))
    assert empty.to_table().num_rows == empty.count_rows() == empty.head(3).num_rows == 0
    assert empty.to_table(["a"], A > 1).schema == pa.schema([("a", pa.int64())])
    assert list(empty.scanner({"b": A + 1}).to_batches()) in ([], [pa.record_batch({"b": pa.array([], pa.int64())})])
    assert empty.take([]).schema == empty.schema
    bare = orcish.dataset(written(rows(0, 9)), columns=[])
    assert bare.to_table().shape == bare.scanner().to_table().shape == (9, 0)
    assert bare.count_rows() == bare.to_table({"one": pc.scalar(1)}).num_rows == 9
    assert (bare.head(2).num_rows, bare.take([3, 3]).num_rows) == (2, 2)


def test_errors(dataset, folder, tmp_path):
    for read in (dataset.to_table, dataset.scanner, dataset.to_batches, lambda *a, **k: dataset.head(1, *a, **k)):
        with pytest.raises(orcish.UnknownColumnError, match='no column is named "aa"; nearest: a'):
            read(["aa"])
        with pytest.raises(orcish.UnknownColumnError, match="zzz"):
            read({"b": pc.field("zzz") + 1})
        with pytest.raises(orcish.UnknownColumnError, match="zzz"):
            read(None, pc.field("zzz") == 1)
        with pytest.raises(ValueError, match=r"fit|compare"):
            read(None, A == "text")
        for columns in ("a", [A], {"a": "a"}, 5):
            with pytest.raises(TypeError, match="columns"):
                read(columns)
        for filters in ("a > 5", col("a") > 5, pl.col("a") > 5):
            with pytest.raises(TypeError, match="must be an expression of pyarrow"):
                read(None, filters)
        with pytest.raises(TypeError, match="bogus=1"):
            read(bogus=1)
        with pytest.raises(ValueError, match="batch_size=0"):
            read(batch_size=0)
    with pytest.raises(TypeError, match="must be an expression of pyarrow"):
        dataset.filter("a > 5")
    with pytest.raises(TypeError, match="fragment_scan_options"):
        dataset.to_table(fragment_scan_options=ds.ParquetFragmentScanOptions())
    with pytest.raises(TypeError, match="must be a schema of pyarrow, not list"):
        next(dataset.get_fragments()).to_table(["a"])
    with pytest.raises(ValueError, match="num_rows=-1"):
        dataset.head(-1)
    with pytest.raises(FileNotFoundError):
        orcish.dataset(tmp_path / "none.orc")


def test_keywords_of_pyarrow(dataset, memory):
    given = {"batch_readahead": 2, "fragment_readahead": 1, "use_threads": False, "memory_pool": None}
    given["fragment_scan_options"] = None
    assert max(len(batch) for batch in dataset.to_batches(batch_size=100, **given)) == 100
    assert max(len(batch) for batch in dataset.scanner(batch_size=100, **given).to_batches()) == 100
    assert same_values(dataset.to_table({"a": A}, A > 50, **given), memory.to_table({"a": A}, A > 50))


def test_damage_is_an_error(folder, tmp_path):
    whole = bytearray(written(rows(0, 3000), compression="none"))
    whole[100:3000] = b"\xff" * 2900
    bad = orcish.dataset(bytes(whole))
    for read in (
        bad.to_table,
        lambda: list(bad.to_batches()),
        lambda: bad.to_table({"b": A + 1}),
        lambda: bad.take([1]),
    ):
        with pytest.raises(orcish.CorruptFileError):
            read()
    with pytest.raises(Exception, match="column"):
        bad.scanner().to_reader().read_all()


def test_scanners(dataset, memory):
    columns, filters = {"b": A + 1, "s": S}, A > 100
    scanner, want = dataset.scanner(columns, filters), memory.scanner(columns, filters)
    for _ in range(2):
        assert scanner.projected_schema == want.projected_schema
        assert scanner.dataset_schema == want.dataset_schema
        assert same_values(scanner.to_table(), want.to_table())
        assert same_values(scanner.to_reader().read_all(), want.to_table())
        assert same_values(pa.Table.from_batches(each.record_batch for each in scanner.scan_batches()), want.to_table())
        assert same_values(pa.table(scanner), want.to_table())
        assert same_values(scanner.take([7, 1]), want.take(pa.array([7, 1])))
        assert same_values(scanner.head(3), want.head(3))
        assert scanner.count_rows() == want.count_rows()


LEFT_AT_THE_END = """
import orcish, sys
import pyarrow.compute as pc
dataset = orcish.dataset(sys.argv[1], batch_size=10)
left = [
    iter(scanner)
    for options in ({}, {"filter": pc.bit_wise_and(pc.field("a"), 1) == 0}, {"columns": {"b": pc.field("a") + 1}})
    for scanner in (dataset.scanner(**options).to_reader(), dataset.to_batches(**options))
]
print([len(next(each)) > 0 for each in left])
"""


def test_processes_end_while_scanners_are_read(folder):
    """Threads that read ahead would wait for an interpreter that is gone."""
    for _ in range(4):
        command = [sys.executable, "-c", LEFT_AT_THE_END, folder]
        said = subprocess.run(command, capture_output=True, check=True, timeout=60, text=True).stdout
        assert said == f"{[True] * 6}\n"


@each_case(
    "column",
    [
        pa.array([b"0123456789abcdef", None], pa.uuid().storage_type).cast(pa.binary(16)),
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16))),
        pa.array(["a", None], pa.string_view()),
        pa.array([[1], None], pa.list_view(pa.int64())),
        pc.run_end_encode(pa.array([1, 1])),
        pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([1, None], pa.uint64()),
        pa.array([1, None], pa.time64("ns")),
        pa.array([1, None], pa.decimal256(50, 2)),
        pa.array([None, None]),
        pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["x"])]
        ),
    ],
    ids=lambda column: str(column.type),
)
def test_types(column):
    table = pa.table({"i": pa.array([1, 2]), "x": column})
    data = written(table)
    dataset, want = orcish.dataset(data), orcish.read_table(data)
    assert dataset.schema == want.schema
    for read in (dataset.to_table(), dataset.scanner().to_table(), dataset.to_table(["x", "i"]).select([1, 0])):
        assert read.schema == want.schema
        assert read.to_pylist() == want.to_pylist()
    assert dataset.to_table(filter=pc.field("i") == 2).to_pylist() == want.slice(1).to_pylist()
    assert dataset.to_table(["x"], pc.field("i") == 2).to_pylist() == want.slice(1).select(["x"]).to_pylist()
    assert dataset.head(1).to_pylist() == want.slice(0, 1).to_pylist()
    assert dataset.take([1, 0]).to_pylist() == want.to_pylist()[::-1]
    limited = orcish.dataset(data, limit=2)
    assert limited.to_table(filter=pc.field("i") == 2).to_pylist() == want.slice(1).to_pylist()
    assert limited.scanner(["x"], pc.field("i") == 2).to_table().to_pylist() == want.slice(1).select(["x"]).to_pylist()


def test_the_module_of_datasets_is_imported_late():
    code = "import sys, orcish; assert 'pyarrow.dataset' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
