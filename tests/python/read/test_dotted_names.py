"""A column ``a.b`` and the field ``b`` of a column ``a``: each way to name one of them reads it, in files, tables and
tables of CarbonData.
"""

from __future__ import annotations

import io

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from orcish.filters.text import parse
from orcish.writing.sorting import SortKey, sorted_batches
from support.carbon import CarbonTableWriter

ROWS = [
    {"id": 1, "a.b": 9, "a": {"b": 7, "c.d": 3}, "p.q": {"r": 1}},
    {"id": 2, "a.b": 0, "a": {"b": 9, "c.d": 4}, "p.q": {"r": 2}},
    {"id": 3, "a.b": 8, "a": {"b": 8, "c.d": 5}, "p.q": {"r": 3}},
]
TABLE = pa.Table.from_pylist(ROWS)
COLUMN, FIELD = "a.b", ("a", "b")
VALUES = {COLUMN: [9, 0, 8], FIELD: [7, 9, 8], ("a", "c.d"): [3, 4, 5], ("p.q", "r"): [1, 2, 3]}
NAMES = {
    "a.b": COLUMN,
    ("a.b",): COLUMN,
    ("a", "b"): FIELD,
    "a.c.d": ("a", "c.d"),
    ("a", "c.d"): ("a", "c.d"),
    ("a", "c", "d"): ("a", "c.d"),
    "p.q.r": ("p.q", "r"),
    ("p.q", "r"): ("p.q", "r"),
    ("p", "q", "r"): ("p.q", "r"),
}
"""Names, and the columns and fields that they lead to."""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("names") / "rows.orc"
    orcish.write_table(TABLE, found)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("names") / "table"
    orcish.write_dataset(TABLE, found)
    return found


@pytest.fixture(scope="module")
def carbon(tmp_path_factory):
    written = CarbonTableWriter(tmp_path_factory.mktemp("names") / "carbon", TABLE.schema)
    written.load(TABLE)
    return written.path


@pytest.fixture(params=["path", "folder", "carbon"])
def source(request):
    """A file, a table, and a table of CarbonData."""
    return request.getfixturevalue(request.param)


def in_rows(table: pa.Table) -> list[int]:
    """The values of the only column, which may be within others."""
    (column,) = table.columns
    while pa.types.is_struct(column.type):
        assert column.type.num_fields == 1
        column = pc.struct_field(column, 0)
    return column.to_pylist()


def test_columns(source):
    for name, meant in NAMES.items():
        scan = orcish.scan(str(source))
        for table in (
            orcish.read_table(str(source), columns=[name]),
            scan.select([name]).to_table(),
            orcish.scan(str(source), columns=[list(name) if isinstance(name, tuple) else name]).to_table(),
        ):
            assert in_rows(table) == VALUES[meant], name
            assert table.schema.names == [meant if isinstance(meant, str) else meant[0]]
        assert scan.min(name) == min(VALUES[meant]), name
        assert scan.max(name) == max(VALUES[meant]), name
        assert scan.sum(name) == sum(VALUES[meant]), name
    both = orcish.read_table(str(source), columns=["id", FIELD, COLUMN])
    assert both.to_pylist() == [{"id": row["id"], "a": {"b": row["a"]["b"]}, "a.b": row["a.b"]} for row in ROWS]
    assert orcish.scan(str(source)).select("id", FIELD).to_table().equals(both.select(["id", "a"]))


FILTERS = [
    (col("a.b") == 9, COLUMN),
    (col(("a.b",)) == 9, COLUMN),
    (col("a").field("b") == 9, FIELD),
    (col("a")["b"] == 9, FIELD),
    (col(("a", "b")) == 9, FIELD),
    ("`a.b` = 9", COLUMN),
    ('"a.b" in (9, 10)', COLUMN),
    ("a.b = 9", FIELD),
    ("`a`.b between 9 and 10", FIELD),
    ("a.`b` = 9 or a.b = 10", FIELD),
    (pc.field("a.b") == 9, COLUMN),
    (pc.field("a", "b") == 9, FIELD),
    (pl.col("a.b") == 9, COLUMN),
    (pl.col("a").struct.field("b") == 9, FIELD),
    ([("a.b", "=", 9)], COLUMN),
    ([(("a", "b"), "=", 9)], FIELD),
    ([("a.b", "=", "9")], COLUMN),
]


def test_filters(source):
    for filters, meant in FILTERS:
        want = [row["id"] for row, value in zip(ROWS, VALUES[meant], strict=True) if value == 9]
        assert orcish.read_table(str(source), filters=filters)["id"].to_pylist() == want, str(filters)
        scan = orcish.scan(str(source))
        assert scan.where(filters).select("id").to_table()["id"].to_pylist() == want, str(filters)
        assert scan.limit(2).where(filters).to_table()["id"].to_pylist() == want, str(filters)
        assert scan.where(filters).count() == 1
        assert scan.where("a.b > 0 and `a.b` is not null").where(filters).to_table()["id"].to_pylist() == want
    for field, meant in (("`p.q`.r", ("p.q", "r")), ("p.q.r", ("p.q", "r")), ("a.c.d", ("a", "c.d"))):
        found = orcish.read_table(str(source), filters=f"{field} > {VALUES[meant][1]}", columns=["id"])
        assert found["id"].to_pylist() == [3], field


def test_the_text_of_a_filter_means_the_same(source):
    for filters, _ in FILTERS:
        if isinstance(filters, orcish.Expression):
            assert parse(str(filters)).equals(filters)
            want = orcish.read_table(str(source), filters=filters)
            assert orcish.read_table(str(source), filters=str(filters)).equals(want), str(filters)


def test_datasets_and_frames(source):
    dataset = orcish.dataset(str(source))
    assert dataset.to_table(columns=["id"], filter=pc.field("a.b") == 9)["id"].to_pylist() == [1]
    assert dataset.to_table(columns=["id"], filter=pc.field("a", "b") == 9)["id"].to_pylist() == [2]
    found = dataset.to_table(columns={"f": pc.field("a", "b"), "c": pc.field("a.b")})
    assert found.to_pydict() == {"f": VALUES[FIELD], "c": VALUES[COLUMN]}
    for names in ([FIELD], [COLUMN], [FIELD, COLUMN]):
        frame = orcish.scan_polars(str(source), columns=names).collect()
        assert frame.to_arrow().equals(orcish.read_table(str(source), columns=names).cast(frame.to_arrow().schema))


def test_metadata_of_a_file(path):
    file = orcish.ORCFile(path)
    for name, meant in NAMES.items():
        assert file.statistics(name).min == min(VALUES[meant]), name
        assert file.stripe_statistics(name)[0].max == max(VALUES[meant]), name
        assert file.row_groups(name)[0].statistics.min == min(VALUES[meant]), name
        assert file.attributes(name) == {}
        assert in_rows(file.read(columns=[name])) == VALUES[meant], name
    for name in (("a", "z"), ("z",), ("a", "b", "c")):
        with pytest.raises(orcish.UnknownColumnError, match=repr(".".join(name)).replace("'", '"')):
            file.statistics(name)
        with pytest.raises(orcish.UnknownColumnError):
            file.read(columns=[name])
        with pytest.raises(orcish.UnknownColumnError):
            file.read(filters=col(name) == 1)


def written(**options):
    target = io.BytesIO()
    orcish.write_table(TABLE, target, **options)
    return orcish.ORCFile(target.getvalue())


def test_options_of_columns_that_are_written():
    for name, other in ((COLUMN, FIELD), (FIELD, COLUMN)):
        file = written(bloom_filter_columns=["id", name])
        assert file.row_groups(name)[0].bloom_filter is not None
        assert file.row_groups(other)[0].bloom_filter is None
    texts = pa.table({"a": [{"b": "x" * 1000}], "a.b": ["y" * 1000]})
    for name, at in ((COLUMN, 3), (FIELD, 2)):
        target = io.BytesIO()
        orcish.write_table(
            texts, target, compression="zstd", column_compression={name: "none"}, dictionary={name: False}
        )
        sizes = {id: column.data_bytes for id, column in enumerate(orcish.ORCFile(target.getvalue()).column_storage())}
        assert max(sizes, key=sizes.__getitem__) == at


def test_sorting():
    for name in (COLUMN, FIELD, ("a", "c.d"), "p.q.r"):
        meant = VALUES[NAMES[name]]
        keys = [SortKey(name, is_descending=True)]
        found = pa.Table.from_batches(sorted_batches(TABLE.schema, iter(TABLE.to_batches()), keys))
        assert found["id"].to_pylist() == [1 + meant.index(value) for value in sorted(meant, reverse=True)]
    for name in (("a", "z"), ("id", "b"), "z"):
        with pytest.raises(orcish.UnknownColumnError):
            sorted_batches(TABLE.schema, iter(TABLE.to_batches()), [SortKey(name)])


def test_partition_columns_have_names_with_dots(tmp_path):
    orcish.write_dataset(TABLE, tmp_path / "table", partition_by=["a.b"])
    by_id = {row["id"]: row for row in orcish.read_table(tmp_path / "table").to_pylist()}
    assert [by_id[row["id"]]["a.b"] for row in ROWS] == VALUES[COLUMN]
    for filters, want in (("a.b = 9", [2]), ("`a.b` = 9", [1]), (col("a.b") == 9, [1]), (col("a")["b"] == 9, [2])):
        assert orcish.read_table(tmp_path / "table", filters=filters)["id"].to_pylist() == want, str(filters)
    assert set(in_rows(orcish.read_table(tmp_path / "table", columns=["a.b"]))) == {9, 0, 8}
    assert set(in_rows(orcish.read_table(tmp_path / "table", columns=[("a", "b")]))) == {7, 9, 8}
    orcish.write_dataset(TABLE.drop(["a"]), tmp_path / "other", partition_by=["a.b"])
    assert orcish.read_table(tmp_path / "other", filters="a.b = 9")["id"].to_pylist() == [1]


def test_row_numbers_have_names_with_dots(path):
    for filters in ("n.o = 1", "`n.o` = 1", col("n.o") == 1, col("n")["o"] == 1):
        assert orcish.read_table(path, row_number="n.o", filters=filters)["id"].to_pylist() == [2], str(filters)
    found = orcish.read_table(path, row_number="a.c", filters="a.c = 2")
    assert found["a.c"].to_pylist() == [2]
    with pytest.raises(ValueError, match="already"):
        orcish.read_table(path, row_number="a.b", filters="`a.b` = 1")


def test_deletes(tmp_path):
    for filters, meant in ((col("a.b") == 9, COLUMN), ("a.b = 9", FIELD)):
        folder = tmp_path / "-".join(meant)
        orcish.write_dataset(TABLE, folder)
        orcish.delete(folder, filters)
        kept = [row["id"] for row, value in zip(ROWS, VALUES[meant], strict=True) if value != 9]
        assert sorted(orcish.read_table(folder)["id"].to_pylist()) == kept


def test_names_that_are_none(path):
    for name in ((), ("a", 1), [("a", None)]):
        with pytest.raises(TypeError):
            orcish.read_table(path, columns=[name])
    with pytest.raises(TypeError):
        orcish.ORCFile(path).statistics(("a", 1))
    with pytest.raises(TypeError):
        written(bloom_filter_columns=[("a", 1)])
    with pytest.raises(ValueError, match="given twice"):
        orcish.read_table(path, columns=[("a", "b"), "id", ("a", "b")])
