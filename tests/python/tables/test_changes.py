"""Compaction, deletion and appends of tables, outside of Spark."""

from __future__ import annotations

import datetime as dt
import pathlib
import re
import subprocess
import sys
import threading
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import _native, col
from orcish.errors import CommitError, CorruptFileError, OptionError, UnfinishedCommitError, UnsupportedError
from orcish.tables import delete as deleting
from orcish.tables.commit import Job
from orcish.tables.compaction import CompactionPlan
from orcish.tables.deletion import DeletionPlan
from orcish.tables.target import DatasetTarget
from orcish.types import Progress
from support.carbon_tables import some, writer
from support.case_loops import each_case
from support.random_cases import random_cases
from support.staged_commits import staged

TYPES = pa.table(
    {
        "id": pa.array(range(40), pa.int64()),
        "k": pa.array([i % 3 for i in range(40)], pa.int32()),
        "text": pa.array([None if i % 7 == 0 else f"text {i % 5}" for i in range(40)]),
        "amount": pa.array([None if i % 11 == 0 else Decimal(i) / 4 for i in range(40)], pa.decimal128(10, 2)),
        "at": pa.array([dt.datetime(2026, 1, 1) + dt.timedelta(hours=i) for i in range(40)], pa.timestamp("us", "UTC")),
        "day": pa.array([dt.date(2026, 1, 1 + i % 4) for i in range(40)]),
        "small": pa.array([i % 128 for i in range(40)], pa.uint8()),
        "values": pa.array([[i, None] if i % 3 else None for i in range(40)], pa.list_(pa.int32())),
    }
)


def read(table: pathlib.Path, **options: Any) -> pa.Table:
    found = orcish.read_table(table, **options)
    return found.select(sorted(found.column_names)).sort_by("id")


def files(table: pathlib.Path) -> list[str]:
    return sorted(str(path.relative_to(table)) for path in table.rglob("*.orc"))


def in_parts(table: pathlib.Path, parts: int = 4, **options: Any) -> pathlib.Path:
    size = len(TYPES) // parts
    for at in range(parts):
        orcish.write_dataset(TYPES.slice(at * size, size), table, existing_data="append" if at else "error", **options)
    return table


def left_over(table: pathlib.Path) -> list[pathlib.Path]:
    jobs = table / "_orcish" / "jobs"
    return [path for path in jobs.rglob("*") if path.is_file()] if jobs.exists() else []


# Compaction.


@each_case("rewrite", [False, True])
@each_case("by", [[], ["k"]])
def test_compaction(tmp_path: pathlib.Path, by: list[str], rewrite: bool) -> None:
    table = in_parts(tmp_path / "t", partition_by=by)
    before = read(table)
    done = orcish.compact(table, rewrite=rewrite)
    assert len(done) == len(files(table)) == (3 if by else 1)
    assert {file.action for file in done} == {"rewrite" if rewrite else "merge"}
    assert sum(file.rows for file in done) == len(TYPES)
    assert sum(file.files for file in done) == (12 if by else 4)
    assert read(table).equals(before)
    assert all(orcish.ORCFile(table / name).check() == [] for name in files(table))
    assert left_over(table) == []
    assert orcish.compact(table) == []
    with pytest.raises(ValueError, match="compression: options of files need rewrite=True"):
        orcish.compact(table, compression="zlib")
    (only, *_) = orcish.compact(table, rewrite=True, compression="zlib")
    assert orcish.ORCFile(table / only.folder / only.file).compression == "zlib"


def test_progress(tmp_path: pathlib.Path) -> None:
    table = in_parts(tmp_path / "t", partition_by=["k"])
    seen: list[Progress] = []
    orcish.compact(table, progress=seen.append)
    total = seen[0].total
    assert seen[0] == (0, total)
    assert seen[-1] == (total, total)
    assert [each.done for each in seen] == sorted({each.done for each in seen})
    seen.clear()
    orcish.delete(table, "id < 3", progress=seen.append)
    assert seen[-1].done == seen[-1].total > 0
    code = f"import orcish; orcish.compact({str(table)!r}, rewrite=True, progress=True)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (found.stdout, found.stderr) == (b"", b""), "there is no bar without a terminal"


def test_paths_of_compactions(tmp_path: pathlib.Path) -> None:
    table = in_parts(tmp_path / "t", partition_by=["k"])
    before = read(table)
    written = writer(tmp_path / "carbon")
    written.load(some())
    (file,) = orcish.compact(table / "k=0")
    assert file.folder == "k=0"
    assert read(table).equals(before)
    assert not (table / "k=0" / "_orcish").exists()
    for call in (orcish.compact, lambda path: orcish.delete(path, "id = 1")):
        with pytest.raises(FileNotFoundError, match="no such folder"):
            call(tmp_path / "typo")
        with pytest.raises(NotADirectoryError, match="is a file, and no folder"):
            call(table / "k=0" / file.file)
        with pytest.raises(UnsupportedError, match="CarbonData"):
            call(written.path)
    (tmp_path / "none").mkdir()
    assert orcish.compact(tmp_path / "none") == []
    assert list((tmp_path / "none").iterdir()) == []
    for size in (0, "5 apples", "-1", ""):
        with pytest.raises(ValueError, match=r"is no size|must be at least 1"):
            orcish.compact(table, target_file_size=size)


def damage(path: pathlib.Path) -> None:
    """Changes bytes such that the rows cannot be read."""
    data = path.read_bytes()
    for at in range(3, len(data), 10):
        path.write_bytes(data[:at] + bytes(byte ^ 0x55 for byte in data[at : at + 10]) + data[at + 10 :])
        try:
            orcish.read_table(path)
        except CorruptFileError:
            return
    raise AssertionError("no damage is found")


def has_findings(path: pathlib.Path) -> bool:
    """Whether a file that can be read contradicts itself."""
    file = orcish.ORCFile(path)
    try:
        return bool(file.check()) and 0 < file.read().num_rows < 100_000
    except orcish.OrcishError:
        return False


def test_files_that_are_damaged_are_not_merged(tmp_path: pathlib.Path) -> None:
    """A merged file would have the damage of one file, and the rows of all."""
    table = in_parts(tmp_path / "t", compression="zlib")
    bad = table / files(table)[1]
    damage(bad)
    before = {name: (table / name).read_bytes() for name in files(table)}
    for rewrite in (False, True):
        with pytest.raises(CorruptFileError, match=bad.name):
            orcish.compact(table, rewrite=rewrite)
        assert {name: (table / name).read_bytes() for name in files(table)} == before
        assert left_over(table) == []


ODD = [
    path for path in sorted((pathlib.Path(__file__).parents[2] / "data" / "odd").glob("*.orc")) if has_findings(path)
]


@each_case("path", ODD, ids=lambda path: path.stem)
def test_files_with_findings_are_written_again(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    """What contradicts the specification or the rows is not copied."""
    for copy in "ab":
        (tmp_path / f"{copy}.orc").write_bytes(path.read_bytes())
    before = orcish.read_table(tmp_path)
    if path.stem.startswith("zone-"):
        with pytest.raises(UnsupportedError, match=r"/a\.orc: writer time zone .* is not known"):
            orcish.compact(tmp_path)
        assert files(tmp_path) == ["a.orc", "b.orc"]
        return
    (file,) = orcish.compact(tmp_path)
    assert file.action == "rewrite"
    assert orcish.ORCFile(tmp_path / file.file).check() == []
    assert orcish.read_table(tmp_path).equals(before)


# Deletion.


PREDICATES: list[tuple[Any, Any]] = [
    ("id < 10", lambda t: pc.less(t["id"], 10)),
    ("id >= 0", lambda t: pc.greater_equal(t["id"], 0)),
    ("id > 1000", lambda t: pc.greater(t["id"], 1000)),
    ("text = 'text 1'", lambda t: pc.equal(t["text"], "text 1")),
    ("text is null", lambda t: pc.is_null(t["text"])),
    ("not text = 'text 1'", lambda t: pc.not_equal(t["text"], "text 1")),
    ("k = 1", lambda t: pc.equal(t["k"], 1)),
    (
        "k = 1 and id < 20 or amount > 8",
        lambda t: pc.or_kleene(pc.and_kleene(pc.equal(t["k"], 1), pc.less(t["id"], 20)), pc.greater(t["amount"], 8)),
    ),
    (col("day") == dt.date(2026, 1, 2), lambda t: pc.equal(t["day"], dt.date(2026, 1, 2))),
    ([("id", "in", [1, 5, 39])], lambda t: pc.is_in(t["id"], pa.array([1, 5, 39]))),
    (pc.field("id") == 7, lambda t: pc.equal(t["id"], 7)),
]


@each_case("by", [[], ["k"]])
@each_case("case", range(len(PREDICATES)))
def test_deletion(tmp_path: pathlib.Path, by: list[str], case: int) -> None:
    """Rows for which the filter is true are gone; the others stay, with their types and their order."""
    filters, is_deleted = PREDICATES[case]
    table = in_parts(tmp_path / "t", partition_by=by, compression="zlib")
    before = {name: (table / name).read_bytes() for name in files(table)}
    full = read(table)
    mask = pc.fill_null(is_deleted(full), False)
    done = orcish.delete(table, filters)
    assert done.rows == pc.sum(mask).as_py() or done.rows == 0 == (pc.sum(mask).as_py() or 0)
    kept = full.filter(pc.invert(mask))
    names = files(table)
    if kept.num_rows:
        found = read(table)
        assert found.equals(kept)
        assert found.schema.equals(full.schema)
    else:
        assert names == []
    unchanged = [name for name in names if name in before]
    assert all((table / name).read_bytes() == before[name] for name in unchanged)
    assert len(before) - len(unchanged) == done.files_removed + done.files_rewritten
    assert len(names) - len(unchanged) == done.files_rewritten
    for name in set(names) - set(before):
        file = orcish.ORCFile(table / name)
        assert (file.check(), file.compression) == ([], "zlib")
    assert left_over(table) == []
    if names:
        assert orcish.delete(table, filters) == (0, 0, 0)


def test_deletion_within_a_partition(tmp_path: pathlib.Path) -> None:
    table = in_parts(tmp_path / "t", partition_by=["k"])
    full = read(table)
    done = orcish.delete(table / "k=1", col("id") < 20)
    mask = pc.and_(pc.equal(full["k"], 1), pc.less(full["id"], 20))
    assert done.rows == pc.sum(mask).as_py()
    assert read(table).equals(full.filter(pc.invert(mask)))


def test_random_deletions(tmp_path: pathlib.Path) -> None:
    """Files of several stripes and row groups: rows are those that the reversed filter finds."""
    for number, chance in random_cases("deletions", 8):
        count = chance.randrange(1, 30_000)
        data = pa.table(
            {"id": range(count), "v": [chance.randrange(100) if chance.random() < 0.9 else None for _ in range(count)]}
        )
        table = tmp_path / f"{number}"
        rows = chance.randrange(1_000, 20_000)
        orcish.write_dataset(
            data,
            table,
            max_rows_per_file=rows,
            stripe_size=chance.choice([None, 10_000]),
            row_index_stride=chance.choice([None, 1_000]),
        )
        low, high = sorted(chance.randrange(100) for _ in range(2))
        start = chance.randrange(count)
        filters = chance.choice(
            [
                f"v between {low} and {high}",
                f"id >= {start}",
                f"id < {start} and v > {low}",
                f"v is null or id = {start}",
            ]
        )
        kept = orcish.read_table(table, filters=f"not ({filters})")
        unknown = count - kept.num_rows - orcish.scan(table, filters=filters).count()
        deleted = orcish.delete(table, filters)
        assert deleted.rows == count - kept.num_rows - unknown, filters
        left = orcish.read_table(table) if files(table) else data.slice(0, 0)
        assert left.num_rows == kept.num_rows + unknown
        assert set(kept["id"].to_pylist()) <= set(left["id"].to_pylist())


def test_filters_of_deletions(tmp_path: pathlib.Path) -> None:
    table = in_parts(tmp_path / "t")
    before = read(table)
    with pytest.raises(TypeError, match="filters=None"):
        orcish.delete(table, None)
    with pytest.raises(orcish.UnknownColumnError, match="absent"):
        orcish.delete(table, "absent = 5")
    with pytest.raises(ValueError, match="filters: "):
        orcish.delete(table, "id ==== 5")
    assert read(table).equals(before)
    assert left_over(table) == []


def test_what_others_do_meanwhile(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are added during a deletion stay. Files that are replaced meanwhile make it fail."""
    table = in_parts(tmp_path / "t")
    delete_rows = deleting.delete_rows
    more = TYPES.slice(0, 5)

    def meanwhile(change: Any) -> None:
        def first(task: Any) -> Any:
            monkeypatch.setattr(deleting, "delete_rows", delete_rows)
            change()
            return delete_rows(task)

        monkeypatch.setattr(deleting, "delete_rows", first)

    meanwhile(lambda: orcish.write_dataset(more, table, existing_data="append"))
    assert orcish.delete(table, "id < 10").rows == 10
    assert sorted(read(table)["id"].to_pylist()) == [*range(5), *range(10, 40)]
    before = read(table)
    meanwhile(lambda: orcish.compact(table))
    with pytest.raises(CommitError, match="removed the file meanwhile"):
        orcish.delete(table, "id < 20")
    assert read(table).equals(before)
    assert left_over(table) == []


def test_links_are_not_followed(tmp_path: pathlib.Path) -> None:
    elsewhere = in_parts(tmp_path / "elsewhere")
    table = in_parts(tmp_path / "t", partition_by=["k"])
    (table / "k=9").symlink_to(elsewhere)
    before = {name: (elsewhere / name).read_bytes() for name in files(elsewhere)}
    assert {file.folder for file in orcish.compact(table)} == {"k=0", "k=1", "k=2"}
    with pytest.raises(CommitError, match=r"k=9/.* behind a link"):
        orcish.delete(table, "id < 20")
    with pytest.raises(ValueError, match=r"k=9/.* is behind a link"):
        orcish.write_dataset(TYPES, table, partition_by=["k"], existing_data="overwrite")
    assert {name: (elsewhere / name).read_bytes() for name in files(elsewhere)} == before
    assert len(read(table)) == 80


# Partitions that are overwritten.


def test_partitions_are_overwritten(tmp_path: pathlib.Path) -> None:
    table = in_parts(tmp_path / "t", partition_by=["k", "day"])
    full = read(table)
    new = TYPES.slice(0, 2).set_column(0, "id", pa.array([100, 101]))
    orcish.write_dataset(new, table, partition_by=["k", "day"], existing_data="overwrite_partitions")
    replaced = [(0, dt.date(2026, 1, 1)), (1, dt.date(2026, 1, 2))]
    kept = [row for row in full.to_pylist() if (row["k"], row["day"]) not in replaced]
    assert read(table)["id"].to_pylist() == [*(row["id"] for row in kept), 100, 101]
    with pytest.raises(ValueError, match=r"overwrite_partitions.*partition_by"):
        orcish.write_dataset(new, tmp_path / "u", existing_data="overwrite_partitions")
    with pytest.raises(ValueError, match="partition columns are: k, day; partition_by is: k"):
        orcish.write_dataset(new, table, partition_by=["k"], existing_data="overwrite_partitions")
    # No rows are in no partition.
    orcish.write_dataset(new.slice(0, 0), table, partition_by=["k", "day"], existing_data="overwrite_partitions")
    assert len(read(table)) == len(kept) + 2
    done = orcish.convert(table, tmp_path / "v", filters="id >= 100", existing_data="overwrite_partitions")
    assert len(done) == 2
    orcish.convert(table, tmp_path / "v", existing_data="overwrite_partitions", filters="id < 100")
    assert read(tmp_path / "v")["id"].to_pylist() == [*(row["id"] for row in kept), 100, 101]


def test_a_partition_is_overwritten_by_its_path(tmp_path: pathlib.Path) -> None:
    table = in_parts(tmp_path / "t", partition_by=["k"])
    full = read(table)
    rows = TYPES.drop_columns(["k"]).slice(0, 1).set_column(0, "id", pa.array([100]))
    orcish.write_dataset(rows, table / "k=1", existing_data="overwrite")
    assert read(table)["id"].to_pylist() == [*full.filter(pc.not_equal(full["k"], 1))["id"].to_pylist(), 100]
    assert not (table / "k=1" / "_orcish").exists()
    with pytest.raises(FileExistsError):
        orcish.write_dataset(rows, table / "k=1")
    orcish.write_dataset(rows, table / "k=7")
    assert read(table, filters="k = 7")["id"].to_pylist() == [100]
    with pytest.raises(ValueError, match="column id"):
        orcish.write_dataset(pa.table({"id": ["x"]}), table / "k=1", existing_data="overwrite")


# Rows that are added.


FITTING: list[tuple[pa.DataType, pa.Array]] = [
    (pa.int64(), pa.array([1, None], pa.int32())),
    (pa.int32(), pa.array([1, None], pa.uint8())),
    (pa.float64(), pa.array([1.5, None], pa.float32())),
    (pa.string(), pa.array(["a", None]).dictionary_encode()),
    (pa.large_string(), pa.array(["a", None])),
    (pa.dictionary(pa.int32(), pa.string()), pa.array(["a", None])),
    (pa.decimal128(12, 2), pa.array([Decimal("1.5"), None], pa.decimal128(5, 1))),
    (pa.timestamp("us"), pa.array([dt.datetime(2026, 1, 1), None], pa.timestamp("ns"))),
    (pa.timestamp("ns"), pa.array([dt.datetime(2026, 1, 1), None], pa.timestamp("ms"))),
    (pa.timestamp("us", "UTC"), pa.array([0, None], pa.timestamp("us", "Asia/Tokyo"))),
    (pa.list_(pa.int64()), pa.array([[1], None], pa.list_(pa.int8()))),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]), pa.array([{"a": 1}, None], pa.struct([("a", pa.int64())]))),
    (pa.binary(), pa.array(["a", None])),
    (pa.string(), pa.nulls(2)),
]


@each_case("arrow_schema", [True, False])
@each_case(("kind", "values"), FITTING, ids=[f"{values.type} on {kind}" for kind, values in FITTING])
def test_narrower_types_become_those_of_the_table(
    tmp_path: pathlib.Path, kind: pa.DataType, values: pa.Array, arrow_schema: bool
) -> None:
    """The table can be read whichever of its files comes first."""
    for first in ("a{i}.orc", "z{i}.orc"):
        table = tmp_path / first
        old = pa.table({"id": [0], "x": pa.nulls(1, kind)})
        orcish.write_dataset(old, table, basename_template="m{i}.orc", arrow_schema=arrow_schema)
        rows = pa.table({"id": [1, 2], "x": values})
        orcish.write_dataset(rows, table, existing_data="append", basename_template=first, arrow_schema=arrow_schema)
        found = read(table)["x"].to_pylist()[1:]
        assert [
            value.encode() if isinstance(value, str) and kind == pa.binary() else value for value in values.to_pylist()
        ] == [{"a": value["a"]} if isinstance(value, dict) else value for value in found]


REFUSED: list[tuple[pa.Schema, pa.Schema, str]] = [
    (
        pa.schema([("id", pa.int64())]),
        pa.schema([("id", pa.string())]),
        "column id of the rows is string, and int64 in the table.*: cast the rows to the type of the table",
    ),
    (pa.schema([("id", pa.string())]), pa.schema([("id", pa.int64())]), "column id of the rows is int64, and string"),
    (pa.schema([("id", pa.int32())]), pa.schema([("id", pa.int64())]), "column id of the rows is int64, and int32"),
    (pa.schema([("id", pa.int64())]), pa.schema([("ID", pa.int64())]), "differ only by case"),
    (
        pa.schema([("s", pa.struct([("a", pa.int8())]))]),
        pa.schema([("s", pa.struct([("A", pa.int8())]))]),
        "column s.A .* only by case",
    ),
    (pa.schema([("t", pa.timestamp("us"))]), pa.schema([("t", pa.timestamp("us", "UTC"))]), "column t"),
    (pa.schema([("t", pa.timestamp("us", "UTC"))]), pa.schema([("t", pa.timestamp("us"))]), "column t"),
]


NAMED_TYPES = [
    pa.list_(pa.null()),
    pa.bool_(),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()),
    *(pa.binary(4), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.month_day_nano_interval()),
    *(pa.timestamp("ms"), pa.timestamp("ns", "Europe/Rome"), pa.duration("us")),
    *(pa.decimal32(5, 2), pa.decimal64(12, 3), pa.decimal128(20, 4), pa.decimal256(50, 5)),
    pa.list_(pa.field("item", pa.int8(), nullable=False)),
    *(pa.large_list(pa.string()), pa.list_view(pa.int8()), pa.large_list_view(pa.int8()), pa.list_(pa.int8(), 3)),
    pa.struct([("a", pa.int8()), pa.field("b", pa.list_(pa.string()), nullable=False)]),
    pa.struct([]),
    pa.map_(pa.string(), pa.int64()),
    pa.dictionary(pa.int8(), pa.string()),
    pa.run_end_encoded(pa.int32(), pa.string()),
    pa.sparse_union([pa.field("a", pa.int8()), pa.field("b", pa.string())]),
    pa.dense_union([pa.field("a", pa.int8()), pa.field("b", pa.string())], [5, 7]),
]


@each_case("kind", NAMED_TYPES, ids=str)
def test_names_of_types_are_those_of_pyarrow(tmp_path: pathlib.Path, kind: pa.DataType) -> None:
    rows = pa.schema([("x", kind)])
    interval = pa.month_day_nano_interval()
    other = pa.schema([("x", interval if kind != interval else pa.bool_())])
    expected = f"column x of the rows is {rows.field('x').type}, and {other.field('x').type} in the table"
    write = _native.RowWrite(Job(str(tmp_path / "t")), "error", [], arrow_schema=True)
    _, _, _, (file, by), _ = write.plan(other.__arrow_c_schema__())
    columns = _native.TableColumns.of("t", [], [], (file, by, "t", None))
    assert columns is not None
    with pytest.raises(ValueError, match=re.escape(expected)):
        columns.appended_schema(rows.__arrow_c_schema__(), [])


@each_case("existing_data", ["append", "overwrite_partitions"])
@each_case("case", range(len(REFUSED)))
def test_rows_that_do_not_fit(tmp_path: pathlib.Path, case: int, existing_data: Any) -> None:
    """Nothing is written of rows that readers could not read beside the files of the table."""
    table_schema, schema, text = REFUSED[case]
    by = ["p"] if existing_data == "overwrite_partitions" else []
    table = tmp_path / "t"
    old = pa.table([pa.nulls(2, field.type) for field in table_schema], schema=table_schema).append_column(
        "p", pa.array([1, 2])
    )
    new = pa.table([pa.nulls(2, field.type) for field in schema], schema=schema).append_column("p", pa.array([1, 2]))
    orcish.write_dataset(old, table, partition_by=by)
    before = sorted(table.rglob("*"))
    with pytest.raises(ValueError, match=text):
        orcish.write_dataset(new, table, partition_by=by, existing_data=existing_data)
    with pytest.raises(ValueError, match="partition columns are"):
        orcish.write_dataset(old, table, partition_by=[] if by else ["p"], existing_data="append")
    assert sorted(table.rglob("*")) == before
    assert orcish.read_table(table).num_rows == 2
    orcish.write_dataset(new, table, partition_by=by, existing_data="overwrite")
    assert orcish.read_table(table).num_rows == 2


def test_names_that_differ_only_by_case(tmp_path: pathlib.Path) -> None:
    """A table is not made with such names, and they are not added to one."""
    rows = pa.table({"K": [1, 2], "k": [3, 4]})
    table = tmp_path / "t"
    with pytest.raises(ValueError, match="column 'K' and partition column 'k' differ only by case"):
        orcish.write_dataset(rows, table, partition_by=["k"])
    with pytest.raises(ValueError, match="column 'K' and partition column 'k' differ only by case"):
        orcish.write_dataset(pa.table({"x": [1], "K": [1], "k": [2]}), table, partition_by=["K", "k"])
    assert not table.exists()
    with pytest.raises(ValueError, match="columns 'K' and 'k' differ only by case: rename"):
        orcish.write_dataset(rows, table)
    # Other writers make such files, of which the first of the columns is seen once the folder has a log.
    table.mkdir()
    orcish.write_table(rows, table / "f.orc")
    with pytest.raises(ValueError, match="several columns of the rows have the name k"):
        orcish.write_dataset(rows, table, existing_data="append")
    orcish.write_dataset(pa.table({"K": [5]}), table, existing_data="append")
    assert orcish.read_table(table).sort_by("K").to_pydict() == {"K": [1, 2, 5]}
    for names in (["k", "K", "x", "X"], ["K", "k", "k"]):
        with pytest.raises(ValueError, match="several columns of the rows have the name"):
            orcish.write_dataset(pa.table([[1]] * len(names), names=names), table, existing_data="append")


def test_a_value_that_the_unit_of_the_table_does_not_hold(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"t": pa.array([0], pa.timestamp("us"))}), table)
    with pytest.raises(ValueError, match=r"column t: .* is not a value of timestamp\[us\]"):
        orcish.write_dataset(pa.table({"t": pa.array([1], pa.timestamp("ns"))}), table, existing_data="append")
    assert orcish.read_table(table).num_rows == 1
    assert left_over(table) == []


@each_case(
    "column",
    [
        pa.array(["a", None, "c", "d"], pa.string_view()),
        pa.array([b"a", None, b"c", b"d"], pa.binary_view()),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4], pa.int32()), ["x", None, "z"]),
        pa.array([["a"], None, [], ["d", "e"]], pa.list_(pa.string_view())),
        pa.array(["a", "b", "a", None]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type)[:12],
)
@each_case("removed", [[0], [3], [1, 2], [0, 2], [1, 3]])
def test_rows_of_any_type_are_deleted(tmp_path: pathlib.Path, column: Any, removed: list[int]) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [0, 1, 2, 3], "x": column}), table)
    assert orcish.delete(table, col("id").is_in(removed)).rows == len(removed)
    values = column.to_pylist()
    wanted = [{"id": at, "x": values[at]} for at in range(4) if at not in removed]
    assert orcish.read_table(table).to_pylist() == wanted


def test_new_columns_can_be_added(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1], "a": ["x"]}), table, basename_template="a{i}.orc")
    orcish.write_dataset(pa.table({"id": [2], "b": [2.5]}), table, existing_data="append", basename_template="b{i}.orc")
    assert orcish.read_table(table).to_pylist() == [{"id": 1, "a": "x", "b": None}, {"id": 2, "a": None, "b": 2.5}]


def test_the_table_appears_while_rows_are_written(tmp_path: pathlib.Path) -> None:
    """Of two first appends of other types at a time, one is refused, and the table can be read."""
    for attempt in range(6):
        table = tmp_path / f"{attempt}"
        barrier = threading.Barrier(2)
        errors: list[Exception] = []

        def write(
            values: Any, table: pathlib.Path = table, barrier: Any = barrier, errors: list[Exception] = errors
        ) -> None:
            def batches() -> Any:
                barrier.wait()
                yield pa.record_batch({"id": values})

            reader = pa.RecordBatchReader.from_batches(pa.schema([("id", values.type)]), batches())
            try:
                orcish.write_dataset(reader, table, existing_data="append")
            except CommitError as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=(values,)) for values in (pa.array([1]), pa.array(["x"]))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(errors) == 1
        assert "column id of the rows" in str(errors[0])
        assert orcish.read_table(table).num_rows == 1
        assert left_over(table) == []


def test_concurrent_appends_with_one_template(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"

    def write(start: int) -> None:
        rows = pa.table({"id": range(start, start + 1_000)})
        orcish.write_dataset(rows, table, existing_data="append", basename_template="part-{i}.orc")

    threads = [threading.Thread(target=write, args=(at * 1_000,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read(table)["id"].to_pylist() == list(range(4_000))


def test_an_unfinished_commit_is_said(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error of this kind staged files stay, because the commit may be decided."""
    table = in_parts(tmp_path / "t")

    def unfinished(*_: Any, **__: Any) -> None:
        raise UnfinishedCommitError("not known")

    for owner in (DatasetTarget, CompactionPlan, DeletionPlan):
        monkeypatch.setattr(owner, "commit", unfinished)
    calls: list[Any] = [
        lambda: orcish.write_dataset(TYPES, table, existing_data="append"),
        lambda: orcish.compact(table),
        lambda: orcish.delete(table, "id < 15"),
    ]
    for at, call in enumerate(calls):
        with pytest.raises(UnfinishedCommitError):
            call()
        assert len(left_over(table)) >= at + 1
    monkeypatch.undo()
    assert len(read(table)) == len(TYPES)
    assert staged(Job(str(table)), [1]).rows == 1


# Tables within tables, and columns of paths.


def test_tables_below_a_folder_are_not_changed(tmp_path: pathlib.Path) -> None:
    """A job of a folder above tables would not go by their logs."""
    for name in "ab":
        in_parts(tmp_path / "above" / name)
    before = sorted((tmp_path / "above").rglob("*"))
    for call in (orcish.compact, lambda path: orcish.delete(path, "id < 5")):
        with pytest.raises(ValueError, match=r"has another table below it, .*/above/[ab], whose rows"):
            call(tmp_path / "above")
    with pytest.raises(ValueError, match="has another table below it"):
        orcish.write_dataset(TYPES, tmp_path / "above", existing_data="overwrite")
    with pytest.raises(
        ValueError, match=r"run=5: a folder with '=' .* is a folder of tables, .*: choose a name without '='"
    ):
        orcish.write_dataset(TYPES, tmp_path / "above" / "run=5")
    assert [path for path in sorted((tmp_path / "above").rglob("*")) if "above/_orcish" not in str(path)] == before
    assert orcish.scan(tmp_path / "above").count() == 80


def test_columns_of_the_path(tmp_path: pathlib.Path) -> None:
    """The folder of a partition would replace the values of a column of the rows."""
    table = in_parts(tmp_path / "t", partition_by=["k"])
    for target in (table / "k=1", tmp_path / "new" / "k=1"):
        with pytest.raises(ValueError, match="column 'k' of the rows is a partition column of the path"):
            orcish.write_dataset(TYPES, target, existing_data="append")
    assert orcish.scan(table).count() == 40


def test_rows_are_not_added_to_other_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "part-0.parquet").write_bytes(b"PAR1 and more")
    with pytest.raises(ValueError, match=r"part-0\.parquet is no ORC file"):
        orcish.write_dataset(TYPES, tmp_path, existing_data="append")
    empty = tmp_path / "hive" / "k=1"
    empty.mkdir(parents=True)
    (empty / "empty.orc").write_bytes(b"")
    with pytest.raises(ValueError, match="partition columns are: k; partition_by is: none"):
        orcish.write_dataset(TYPES.drop_columns(["k"]), tmp_path / "hive", existing_data="append")


def test_names_that_are_there_twice(tmp_path: pathlib.Path) -> None:
    orcish.write_dataset(pa.table({"id": [1]}), tmp_path)
    for names in (["id", "id"], ["x", "X"]):
        rows = pa.Table.from_arrays([pa.array([2]), pa.array([3])], names=names)
        with pytest.raises(ValueError, match="several columns of the rows have the name"):
            orcish.write_dataset(rows, tmp_path, existing_data="append")
    assert orcish.read_table(tmp_path).num_rows == 1


def test_folders_that_are_no_partitions_stay(tmp_path: pathlib.Path) -> None:
    """Other readers may take them for tables of their own."""
    table = in_parts(tmp_path / "t")
    for at in range(2):
        orcish.write_table(TYPES, table / f"s{at}.orc")
    (table / "2026").mkdir()
    for at in range(2):
        orcish.write_table(TYPES, table / "2026" / f"{at}.orc")
    orcish.compact(table)
    assert sorted(path.name for path in (table / "2026").iterdir()) == ["0.orc", "1.orc"]
    with pytest.raises(ValueError, match=r"2026/0\.orc: the file is in a folder that is no partition"):
        orcish.delete(table, "id = 1")
    assert orcish.scan(table).count() == 5 * len(TYPES)


def test_a_job_stays_with_its_table(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link, or the working directory, that changes while rows are written."""
    for name in ("one", "two"):
        orcish.write_dataset(TYPES, tmp_path / name / "t")
    (tmp_path / "current").symlink_to(tmp_path / "one")

    def batches() -> Any:
        monkeypatch.chdir(tmp_path / "two")
        (tmp_path / "current").unlink()
        (tmp_path / "current").symlink_to(tmp_path / "two")
        yield from TYPES.slice(0, 3).to_batches()

    for target in ("t", tmp_path / "current" / "t"):
        monkeypatch.chdir(tmp_path / "one")
        (tmp_path / "current").unlink()
        (tmp_path / "current").symlink_to(tmp_path / "one")
        reader = pa.RecordBatchReader.from_batches(TYPES.schema, batches())
        orcish.write_dataset(reader, target, existing_data="overwrite")
        assert [orcish.scan(tmp_path / name / "t").count() for name in ("one", "two")] == [3, 40]
        orcish.write_dataset(TYPES, tmp_path / "one" / "t", existing_data="overwrite")


@each_case("error", [OptionError("partition_by", "is odd", 3), CommitError("c"), KeyError("k"), KeyboardInterrupt("i")])
def test_errors_of_the_types_of_rows_are_raised_again(tmp_path: pathlib.Path, error: BaseException) -> None:
    """Spark decides on the types of its rows by a function."""

    def types(_: Any) -> Any:
        raise error

    write = _native.RowWrite(Job(str(in_parts(tmp_path / "t"))), "append", [], arrow_schema=True)
    with pytest.raises(type(error)) as raised:
        write.plan(types)
    assert raised.value is error
