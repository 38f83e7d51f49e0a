"""Datasets of Ray Data over tables: rows, types, and what is pushed down; and tables that Ray Data writes."""

import io
import logging
import os
import re
import sys
from pathlib import Path

import fsspec
import orcish
import orcish.ray
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as fs
import pytest
from orcish import col
from support.counting_file import Counting
from support.query_dataset import ROWS, TABLE, share, written
from support.s3_store import BUCKET
from support.sample_files import write_sample

ray = pytest.importorskip("ray", reason="Ray is not installed")
# Ray warns of its own options, and of large tasks.
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:ray", "ignore:The serialized size")

from orcish.ray.datasource import OrcDatasource  # noqa: E402
from ray.data.expressions import col as ray_col  # noqa: E402
from support.case_loops import each_case  # noqa: E402

NARROW = TABLE.select(["id", "name", "day", "none", "x", "n"])
SCHEMA = NARROW.schema.append(pa.field("k", pa.int64()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("ray") / "t"
    part = pa.array([i // 10_000 for i in range(ROWS)])
    orcish.write_dataset(NARROW.append_column("k", part), path, partition_by=["k"])
    return path


@pytest.fixture(scope="module")
def cluster():
    """A small cluster of Ray on this machine, which no other machine reaches."""
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    with pytest.MonkeyPatch.context() as patch:
        # Workers import the functions of this module, and what it imports.
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        ray.init("local", num_cpus=2, object_store_memory=100 << 20, _node_ip_address="127.0.0.1", **quiet)
    ray.data.DataContext.get_current().enable_progress_bars = False
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel("CRITICAL")
    yield
    logger.setLevel(level)
    ray.shutdown()


def rows_of(source, parallelism=4, limit=None):
    """The rows of the tasks of a data source, which run here."""
    tasks = source.get_read_tasks(parallelism, per_task_row_limit=limit)
    blocks = [block for task in tasks for block in task()]
    return pa.concat_tables(blocks) if blocks else tasks[0].schema.empty_table()


def source_of(folder, **options):
    return OrcDatasource(orcish.scan(folder, **options))


def sorted_table(dataset):
    return pa.concat_tables(ray.get(dataset.to_arrow_refs())).sort_by("id")


def test_tasks_are_groups_of_splits(folder):
    source, splits = source_of(folder), orcish.scan(folder).splits()
    memory = orcish.scan(folder).to_table()
    for parallelism, count in [(1, 1), (2, 2), (3, 3), (4, 4), (200, len(orcish.scan(folder).splits(1)))]:
        tasks = source.get_read_tasks(parallelism)
        assert len(tasks) == count
        assert {len(task.metadata.input_files) for task in tasks} == {-(-4 // count), max(4 // count, 1)}
        assert sum(task.metadata.num_rows for task in tasks) == ROWS
        assert sum(task.metadata.size_bytes for task in tasks) == source.estimate_inmemory_data_size()
        assert {task.schema for task in tasks} == {memory.schema}
        assert rows_of(source, parallelism).sort_by("id").equals(memory)
        for task in tasks:
            assert sum(map(len, task())) == task.metadata.num_rows
    files = [name for task in source.get_read_tasks(4) for name in task.metadata.input_files]
    assert sorted(files) == sorted(split.location for split in splits)


def test_rows_with_a_filter_are_not_known(folder):
    source = source_of(folder, filters="id < 25000")
    assert {task.metadata.num_rows for task in source.get_read_tasks(4)} == {None}
    # Files of which the statistics prove that they have no row are not read.
    assert len(source.get_read_tasks(4)) == 3
    assert rows_of(source)["id"].to_pylist() == list(range(25_000))
    nothing = source_of(folder, filters="id < 0")
    assert [task.metadata.num_rows for task in nothing.get_read_tasks(4)] == [0]
    assert rows_of(nothing).schema == source.get_read_tasks(1)[0].schema


def test_columns_and_filters_are_pushed_down():
    data = written()
    file = Counting(data)
    source = OrcDatasource(orcish.scan(file))
    for pushed in (
        source.apply_projection({"id": "id"}).apply_predicate(ray_col("id") < 1000),
        source.apply_predicate(ray_col("id") < 1000).apply_projection({"id": "id"}),
    ):
        file.ranges.clear()
        assert rows_of(pushed).to_pydict() == {"id": list(range(1000))}
        assert share(file, data, of_payload=True) == 0
        assert share(file, data, of_payload=False) < 0.01
        assert pushed.get_projection_map() == {"id": "id"}
    assert source.get_projection_map() is None
    assert rows_of(source.apply_projection({"id": "id"})).num_rows == ROWS


def test_limits_are_pushed_down():
    out = io.BytesIO()
    orcish.write_table(TABLE, out, compression="none", stripe_size=64 << 10, row_index_stride=1000)
    data = out.getvalue()
    file = Counting(data)
    source = OrcDatasource(orcish.scan(file))
    assert len(source.get_read_tasks(10)) == 10
    file.ranges.clear()
    assert rows_of(source, 1, limit=5)["id"].to_pylist() == [0, 1, 2, 3, 4]
    assert file.taken([range(len(data))]) < len(data) / 3


@each_case(
    ("of_ray", "of_pyarrow"),
    [
        (ray_col("x") > 9000.0, pc.field("x") > 9000.0),
        (ray_col("x") != 1.0, pc.field("x") != 1.0),
        (~(ray_col("none") < 30_010), ~(pc.field("none") < 30_010)),
        (ray_col("none").is_null() & (ray_col("k") == 3), pc.field("none").is_null() & (pc.field("k") == 3)),
        (ray_col("name").is_in(["n000001", "n039999", "z"]), pc.field("name").isin(["n000001", "n039999", "z"])),
        ((ray_col("id") < 5) | (ray_col("k") == 2), (pc.field("id") < 5) | (pc.field("k") == 2)),
    ],
)
def test_filters_have_the_rows_of_pyarrow(folder, of_ray, of_pyarrow):
    source = source_of(folder)
    pushed = source.apply_predicate(of_ray)
    assert pushed is not source
    want = orcish.scan(folder).to_table().filter(of_pyarrow)
    assert rows_of(pushed).sort_by("id").equals(want)


def test_filters_that_orcish_refuses_are_those_of_ray(folder):
    source = source_of(folder)
    for expression in (ray_col("name") < 5, ray_col("zzz") < 5):
        assert source.apply_predicate(expression) is source


def test_projections_of_unknown_columns(folder):
    source = source_of(folder).apply_projection({"name": "name", "id": "id"})
    assert rows_of(source).schema.names == ["name", "id"]
    for name in ("zzz", "n.a", "day"):
        with pytest.raises(orcish.UnknownColumnError, match=f'no column is named "{name}"; nearest: '):
            source.apply_projection({name: name})


@each_case(
    ("options", "count"),
    [
        ({"filters": col("id") < 10}, 10),
        ({"filters": pc.field("k") == 3, "columns": ["n.a", "id"]}, 10_000),
        ({"filters": "id < 0"}, 0),
        ({"columns": ["k"], "row_number": True}, ROWS),
        ({"strings": "large", "partitions": False}, ROWS),
    ],
)
def test_options_of_the_scan(folder, options, count):
    source, scan = source_of(folder, **options), orcish.scan(folder, **options)
    found, want = rows_of(source, 8), scan.to_table()
    assert len(found) == count
    order = [(name, "ascending") for name in want.schema.names if name in ("id", "k", "row_number")]
    assert found.sort_by(order).equals(want.sort_by(order))
    name = want.schema.names[-1]
    assert rows_of(source.apply_projection({name: name}), 8).schema == want.select([name]).schema


def test_queries(cluster, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    dataset = orcish.ray.read("t")
    assert isinstance(dataset, ray.data.Dataset)
    assert dataset.schema().base_schema == SCHEMA
    assert dataset.count() == ROWS
    assert sorted(dataset.input_files()) == sorted(orcish.scan(folder).files)
    assert sorted_table(dataset).equals(orcish.scan(folder).to_table())
    assert dataset.select_columns([]).count() == ROWS
    few = dataset.filter(expr=(ray_col("id") < 20_003) & (ray_col("k") == 2))
    assert few.count() == 3
    assert few.select_columns(["name"]).take_all() == [{"name": f"n{i:06}"} for i in (20_000, 20_001, 20_002)]
    renamed = dataset.rename_columns({"id": "number"}).filter(expr=ray_col("number") < 2)
    assert renamed.select_columns(["number"]).take_all() == [{"number": 0}, {"number": 1}]
    assert dataset.filter(expr=ray_col("k") == 1).limit(5).count() == 5
    mapped = dataset.map_batches(lambda batch: batch.slice(0, 0), batch_format="pyarrow")
    assert mapped.count() == 0


def test_documented_code_runs(cluster, tmp_path, monkeypatch):
    page = (Path(__file__).parents[3] / "docs/tables.md").read_text(encoding="utf-8")
    code = re.findall(r"^<!-- not run: starts Ray; .* -->\n```python\n((?:.*\n)*?)```$", page, flags=re.MULTILINE)
    assert len(code) == 2
    write_sample(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"col": col}
    for block in code:
        exec(block, names)
    assert orcish.scan("by_ray").count() == names["dataset"].count() == 10


def test_arguments_of_ray(cluster, folder):
    dataset = orcish.ray.read(
        folder,
        override_num_blocks=2,
        concurrency=1,
        ray_options={"num_cpus": 0.5},
        columns=["id"],
        filters="id >= 9990",
    )
    found = dataset.materialize()
    assert found.num_blocks() == 2
    assert found.count() == ROWS - 9990
    assert orcish.ray.read(folder, columns=[], filters="id < 7").count() == 7
    for name in ("num_cpu", "datasource"):
        with pytest.raises(TypeError, match=f"^ray_options: ray.data.read_datasource has no option '{name}'"):
            orcish.ray.read(folder, ray_options={name: 1})


@each_case("kind", ["pyarrow", "fsspec", "bytes"])
def test_sources_reach_the_workers(cluster, folder, kind):
    file = next(folder.rglob("*.orc"))
    sources = {
        "pyarrow": lambda: (file.name, {"filesystem": fs.SubTreeFileSystem(str(file.parent), fs.LocalFileSystem())}),
        "fsspec": lambda: (file.name, {"filesystem": fsspec.filesystem("dir", path=str(file.parent), fo="file")}),
        # A task of more than a megabyte.
        "bytes": lambda: (written(), {}),
    }
    source, options = sources[kind]()
    assert orcish.ray.read(source, **options).select_columns(["id"]).count() in (10_000, ROWS)
    assert len(orcish.ray.read(source, **options).limit(3).take_all()) == 3


def test_credentials_reach_the_workers(cluster, folder, store):
    """They are those of `storage_options` alone, which the environment does not have."""
    url = f"s3://{BUCKET}/ray/t"
    few = orcish.ray.read(folder, filters="id < 10000", columns=["id", "k"])
    orcish.ray.write(few, url, partition_by=["k"], storage_options=store.options)
    again = orcish.ray.read(url, storage_options=store.options)
    assert sorted_table(again)["id"].to_pylist() == list(range(10_000))
    assert again.filter(expr=ray_col("id") < 7).count() == 7
    with pytest.raises(FileExistsError):
        orcish.ray.write(few, url, partition_by=["k"], storage_options=store.options)


def test_errors(cluster, folder, tmp_path):
    with pytest.raises(ValueError, match="limit=5: tasks read independently"):
        orcish.ray.read(folder, limit=5)
    with pytest.raises(orcish.UnknownColumnError, match="zzz"):
        orcish.ray.read(folder, columns=["zzz"])
    with pytest.raises(TypeError, match="concurrenc"):
        orcish.ray.read(folder, concurrenci=5)
    with pytest.raises(FileNotFoundError):
        orcish.ray.read(tmp_path / "none.orc")
    damaged = tmp_path / "damaged.orc"
    orcish.write_table(NARROW, damaged, compression="none", row_index_stride=0)
    with damaged.open("rb") as file, pytest.raises(TypeError, match=r"cannot be sent to the workers of Ray: .*: give"):
        orcish.ray.read(file)
    with damaged.open("r+b") as file:
        file.seek(3)
        file.write(b"\xff" * 200_000)
    with pytest.raises(orcish.CorruptFileError, match=r"damaged\.orc: stripe 0, column id, DATA stream"):
        orcish.ray.read(damaged).take_all()


def numbered(count, blocks=3):
    """A dataset of some blocks."""
    return ray.data.range(count, override_num_blocks=blocks)


def files_of(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_writes(cluster, folder, tmp_path):
    want = orcish.scan(folder).to_table()
    copy = tmp_path / "copy"
    orcish.ray.write(orcish.ray.read(folder), copy, partition_by=["k"], compression="zlib", max_rows_per_file=7000)
    assert orcish.read_table(copy).sort_by("id").equals(want)
    assert [len(list((copy / f"k={k}").glob("*.orc"))) for k in range(4)] == [2, 2, 2, 2]
    assert {orcish.ORCFile(path).compression for path in copy.rglob("*.orc")} == {"zlib"}
    assert [commit.operation for commit in orcish.history(copy)] == ["append"]
    assert not list((copy / "_orcish").rglob("*jobs/*"))
    with pytest.raises(FileExistsError):
        orcish.ray.write(orcish.ray.read(folder), copy, partition_by=["k"])
    few = orcish.ray.read(folder, filters="id < 3")
    orcish.ray.write(few, copy, partition_by=["k"], existing_data="overwrite_partitions")
    assert orcish.scan(copy).count() == ROWS - 10_000 + 3
    orcish.ray.write(few, copy, partition_by=["k"], existing_data="append")
    assert orcish.scan(copy).count() == ROWS - 10_000 + 6


def test_writes_without_rows(cluster, folder, tmp_path):
    """The table has its columns."""
    orcish.ray.write(orcish.ray.read(folder, filters="id < 0"), tmp_path / "t")
    assert orcish.scan(tmp_path / "t").schema == SCHEMA
    assert orcish.scan(tmp_path / "t").count() == 0
    nothing = numbered(10).map_batches(lambda batch: batch.slice(0, 0), batch_format="pyarrow")
    orcish.ray.write(nothing, tmp_path / "v")
    assert orcish.scan(tmp_path / "v").schema.names == ["id"]
    nothing = ray.data.from_items([])
    with pytest.raises(ValueError, match="the dataset has no rows and thus no schema: give the argument schema"):
        orcish.ray.write(nothing, tmp_path / "u")
    orcish.ray.write(nothing, tmp_path / "u", schema=pa.schema([("id", pa.int64())]))
    assert orcish.scan(tmp_path / "u").schema.names == ["id"]


def test_blocks_have_the_types_of_the_table(cluster, tmp_path):
    path = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": pa.array([0], pa.int64())}), path)
    narrow = numbered(30).map_batches(lambda rows: rows.cast(pa.schema([("id", pa.int16())])), batch_format="pyarrow")
    orcish.ray.write(narrow, path, existing_data="append")
    assert orcish.scan(path).schema.field("id").type == pa.int64()
    assert orcish.scan(path).sum("id") == sum(range(30))
    frames = numbered(30).map_batches(lambda frame: frame.assign(x=frame["id"] / 2), batch_format="pandas")
    orcish.ray.write(frames, tmp_path / "u")
    assert orcish.read_table(tmp_path / "u").sort_by("id")["x"].to_pylist() == [i / 2 for i in range(30)]


def columns_differ(rows):
    return rows if rows["id"][0].as_py() < 20 else rows.rename_columns(["other"])


def types_differ(rows):
    return rows if rows["id"][0].as_py() < 20 else rows.set_column(0, "id", pa.array(["x"] * len(rows)))


def fails(rows):
    if rows["id"][0].as_py() >= 20:
        raise RuntimeError("a fault of the function")
    return rows


@each_case(
    ("change", "options", "error", "message"),
    [
        (columns_differ, {}, ValueError, "a block has the columns other, and the dataset id"),
        (types_differ, {}, ValueError, "column id: "),
        (fails, {}, ray.exceptions.RayTaskError, "a fault of the function"),
        (
            None,
            {"schema": pa.schema([("id", pa.int8())])},
            ValueError,
            "column id: 128 of int64 is not a value of int8",
        ),
        (None, {"schema": pa.schema([("zzz", pa.int8())])}, ValueError, "a block has the columns id, and .* zzz"),
    ],
)
@each_case("exists", [True, False])
def test_an_error_of_a_task_changes_nothing(cluster, tmp_path, change, options, error, message, exists):
    path = tmp_path / "t"
    if exists:
        orcish.write_dataset(pa.table({"id": pa.array([7], pa.int8())}), path)
    before = files_of(tmp_path)
    dataset = numbered(301) if change is None else numbered(30).map_batches(change, batch_format="pyarrow")
    with pytest.raises(error, match=message):
        orcish.ray.write(dataset, path, existing_data="overwrite" if exists else "error", **options)
    assert files_of(tmp_path) == before
    assert path.exists() == exists


def test_a_task_that_is_repeated_adds_no_row_twice(cluster, tmp_path):
    """Its worker dies behind the last row."""
    mark = tmp_path / "mark"

    def dies_once(rows):
        if rows["id"][-1].as_py() == 29 and not mark.exists():
            mark.touch()
            os._exit(1)
        return rows

    dataset = numbered(30, 1).map_batches(dies_once, batch_format="pyarrow", batch_size=10)
    orcish.ray.write(dataset, tmp_path / "t", schema=pa.schema([("id", pa.int64())]), max_rows_per_file=10)
    assert mark.exists()
    assert sorted(orcish.read_table(tmp_path / "t")["id"].to_pylist()) == list(range(30))
    assert len(list((tmp_path / "t").glob("*.orc"))) == 3


def test_a_commit_that_comes_between(cluster, tmp_path):
    path = tmp_path / "t"

    def commits(rows):
        orcish.write_dataset(pa.table({"id": [1]}), path)
        return rows

    with pytest.raises(FileExistsError):
        orcish.ray.write(
            numbered(5, 1).map_batches(commits, batch_format="pyarrow"), path, schema=numbered(1).schema().base_schema
        )
    assert orcish.read_table(path)["id"].to_pylist() == [1]


@each_case(
    ("arguments", "error", "message"),
    [
        ({"dataset": pa.table({"id": [1]})}, TypeError, "dataset: must be a dataset of Ray Data, not"),
        ({"schema": {"id": "int64"}}, TypeError, "schema=.*: must be a schema of pyarrow, not dict"),
        ({"partition_by": ["zzz"]}, orcish.UnknownColumnError, 'partition_by: no column is named "zzz"'),
        ({"compression": "gzip"}, ValueError, "did you mean 'zlib'"),
        ({"filesystem": fsspec.filesystem("memory")}, (TypeError, ValueError, orcish.OrcishError), "filesystem"),
    ],
)
def test_arguments_of_writes(cluster, tmp_path, arguments, error, message):
    with pytest.raises(error, match=message):
        orcish.ray.write(**{"dataset": numbered(3), "target": tmp_path / "t", **arguments})
    assert files_of(tmp_path) == []
