"""The command rewrite, and the sort of rows in bounded memory."""

from __future__ import annotations

import functools
import itertools
import json
import pathlib
import random
from collections.abc import Iterator
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish.reading.reader import rows_of
from orcish.tables.rewrite import rewrite_table
from orcish.writing import sorting
from orcish.writing.sorting import SortedRows, SortKey
from orcish_cli import main
from support.carbon import CarbonTableWriter
from support.case_loops import each_case
from support.processes import ORCISH
from support.random_cases import pairs
from support.terminals import on_terminal

COUNT = 3000


def rows(count: int = COUNT, seed: int = 1) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "id": [draw.randrange(10**6) for _ in range(count)],
            "text": pa.array([draw.choice([None, "a", "b", "ü"]) for _ in range(count)]),
            "k": [at % 3 for at in range(count)],
        }
    )


@pytest.fixture
def run(run):
    """Runs ``orcish rewrite``."""
    return functools.partial(run, "rewrite")


@pytest.fixture
def file(tmp_path):
    orcish.write_table(rows(), tmp_path / "a.orc", compression="zlib", row_index_stride=1000, metadata={"own": "x"})
    return tmp_path / "a.orc"


@pytest.fixture
def table(tmp_path):
    orcish.write_dataset(rows(), tmp_path / "t", partition_by=["k"])
    return tmp_path / "t"


def names(folder: pathlib.Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


class TestFiles:
    def test_options(self, file, tmp_path, run):
        target = tmp_path / "b.orc"
        code, lines, err = run(file, "-o", target)
        assert (code, err) == (0, "")
        assert lines == [f"3,000 rows in 1 files, {target.stat().st_size:,} bytes"]
        found = orcish.ORCFile(target)
        assert (found.compression, found.row_index_stride, found.metadata["own"]) == ("zlib", 1000, b"x")
        assert found.read().equals(rows())
        code, lines, _ = run(
            file,
            "-o",
            target,
            "--existing-data=overwrite",
            "--compression",
            "lz4",
            "--bloom-filter-columns",
            "id",
            "--row-index-stride",
            2000,
            "--json",
        )
        assert (code, json.loads(lines[0])) == (0, {"file": str(target), "rows": COUNT, "bytes": target.stat().st_size})
        found = orcish.ORCFile(target)
        assert (found.compression, found.row_index_stride) == ("lz4", 2000)
        middle = rows()["id"][0].as_py() + 1
        assert "bloom" in str(found.explain(filters=f"id = {middle}"))

    def test_columns_and_rows(self, file, tmp_path, run):
        target = tmp_path / "b.orc"
        options = ["--where", "k = 1", "--drop", "k", "--rename", "text=name", "--cast", "id=string", "--sort-by=-id"]
        assert run(file, "-o", target, *options)[0] == 0
        found = orcish.read_table(target)
        assert found.schema.names == ["id", "name"]
        assert found.schema.types == [pa.string(), pa.string()]
        kept = rows().filter(pc.field("k") == 1)
        assert found["id"].to_pylist() == sorted(map(str, kept["id"].to_pylist()), reverse=True)
        assert run(file, "-o", target, "--existing-data=overwrite", "-c", "k,id", "--cast", "k=varchar(5)")[0] == 0
        assert orcish.ORCFile(target).type_string == "struct<k:varchar(5),id:bigint>"

    def test_limit(self, file, table, tmp_path, run):
        """The first rows that pass the filter are sorted."""
        target = tmp_path / "b.orc"
        assert run(file, "-o", target, "-n", 10, "--where", "k = 1", "--sort-by", "-id")[0] == 0
        kept = rows().filter(pc.field("k") == 1).slice(0, 10)
        assert orcish.read_table(target)["id"].to_pylist() == sorted(kept["id"].to_pylist(), reverse=True)
        first = orcish.read_table(table).slice(0, 7)
        assert run(table, "--in-place", "--limit", 7)[0] == 0
        assert orcish.read_table(table).equals(first)

    def test_values_stay_as_they_are(self, tmp_path, run):
        for at, source in enumerate(sorted((pathlib.Path(__file__).parents[2] / "data").glob("*.orc"))):
            target = tmp_path / f"{at}.orc"
            code, _, err = run(source, "-o", target)
            if source.name.startswith("masked"):
                assert code == 1
                continue
            assert (code, err) == (0, ""), source
            old, new = orcish.ORCFile(source), orcish.ORCFile(target)
            # The root of a file that is written is a struct.
            assert new.type_string in (old.type_string, f"struct<value:{old.type_string}>")
            for options in ({}, {"timestamps": "instant"}):
                # NaN is not equal to itself.
                assert str(new.read(**options).to_pydict()) == str(old.read(**options).to_pydict()), source
                assert new.read(**options).schema == old.read(**options).schema

    def test_in_place(self, file, run):
        other = file.with_name("b.orc")
        orcish.write_table(rows(seed=2), other)
        code, lines, err = run(file, file.with_name("missing.orc"), other, "--in-place", "--sort-by", "id")
        assert code == 1
        assert [line.partition(":")[0] for line in lines] == [str(file), str(other)]
        assert "missing.orc" in err
        assert orcish.read_table(file).equals(rows().sort_by("id"))
        assert orcish.read_table(other)["id"].to_pylist() == sorted(rows(seed=2)["id"].to_pylist())
        assert names(file.parent) == {"a.orc", "b.orc"}

    def test_several_sources(self, file, table, tmp_path, run):
        code, _, err = run(file, file, "-o", tmp_path / "b.orc", "--sort-by", "id")
        assert (code, err) == (0, "")
        assert orcish.ORCFile(tmp_path / "b.orc").num_rows == 2 * COUNT
        assert run(table, "-o", tmp_path / "c.orc", "--sort-by", "k,id")[0] == 0
        assert (
            orcish.read_table(tmp_path / "c.orc").select(["id", "text", "k"])["id"].to_pylist()
            == rows().sort_by([("k", "ascending"), ("id", "ascending")])["id"].to_pylist()
        )

    def test_nothing_changes_after_a_failure(self, file, tmp_path, run, monkeypatch):
        monkeypatch.chdir(tmp_path)
        before = file.read_bytes()
        for options, text in (
            (["--cast", "text=int"], "column 'text'"),
            (["--cast", "id=tinyint"], "column 'id'"),
            (["--cast", "idd=int"], "nearest: id"),
            (["--cast", "id=foo"], "is wanted at 'foo'"),
            (["--rename", "id=k"], "two columns would have the name 'k'"),
            (["--drop", "id,text,k"], "no column is left"),
            (["--sort-by", "idd"], "nearest: id"),
            (["--partition-by", "k"], "is of tables"),
            (["--where", "idd = 1"], "idd"),
            (["--temporary-folder", "/does/not/exist", "--sort-by", "id", "--memory", "10KB"], "/does/not/exist"),
        ):
            for where in (["--in-place"], ["-o", "new.orc"]):
                code, lines, err = run(file, *where, *options)
                of_arguments = text in ("is wanted at 'foo'", "is of tables")
                assert (code, lines) == (2 if of_arguments else 1, []), options
                assert text in err
                assert names(tmp_path) == {"a.orc"}
                assert file.read_bytes() == before
        stripe = orcish.ORCFile(file).stripes[0]
        damaged = bytearray(before)
        damaged[stripe.offset + stripe.index_length : stripe.offset + stripe.index_length + 50] = b"\xff" * 50
        file.write_bytes(damaged)
        assert run(file, "--in-place")[0] == 1
        assert file.read_bytes() == damaged

    def test_what_is_refused(self, file, table, tmp_path, run):
        for arguments, text in (
            ([file, "-o", file, "--existing-data=overwrite"], "one of the sources"),
            ([file, "-o", tmp_path / "x.parquet"], "convert writes other formats"),
            ([next(table.rglob("*.orc")), "--in-place"], "is a file of the table"),
            ([f"{table}/*/*.orc", "--in-place"], "a pattern is not rewritten"),
            ([table / "k=1", "--in-place"], "k"),
            ([file, "--in-place", "--existing-data=overwrite"], "--existing-data is of --output"),
            ([table, "-o", table.with_name("a.orc")], "--existing-data overwrite replaces it"),
        ):
            code, lines, err = run(*arguments)
            assert (code, lines) == (2 if "--existing-data is" in text else 1, []), arguments
            assert text in err
        for arguments in ([file], [file, "--in-place", "-o", "x.orc"], [file, "-o", "x", "--memory", "much"]):
            with pytest.raises(SystemExit):
                main(["rewrite", *map(str, arguments)])

    def test_carbon_a_store_and_a_terminal(self, file, tmp_path, store, run):
        written = CarbonTableWriter(tmp_path / "carbon", pa.schema([("id", pa.int32())]))
        written.load(pa.table({"id": pa.array(range(10), pa.int32())}))
        assert run(written.path, "-o", tmp_path / "c.orc", "--sort-by=-id")[0] == 0
        assert orcish.read_table(tmp_path / "c.orc")["id"].to_pylist() == list(range(9, -1, -1))
        assert run(written.path, "--in-place")[0] == 1
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        assert run(file, "-o", "s3://shelf/a.orc", *options)[0] == 0
        assert run("s3://shelf/a.orc", "--in-place", "--sort-by", "id", *options)[0] == 0
        assert orcish.read_table("s3://shelf/a.orc", storage_options=store.options).equals(rows().sort_by("id"))
        code, shown = on_terminal(ORCISH, "rewrite", file, "--in-place")
        assert code == 0
        assert "3,000 rows in 1 files" in shown
        assert "\x1b[K" in shown or "\x1b[2K" in shown


class TestTables:
    def test_in_place(self, table, run):
        code, lines, err = run(
            table, "--in-place", "--sort-by", "id", "--rename", "text=name", "--compression", "snappy"
        )
        assert (code, err) == (0, "")
        assert lines[0].startswith("3,000 rows in 3 files, ")
        found = orcish.scan(table)
        assert found.schema.names == ["id", "name", "k"]
        assert len(found.files) == 3
        for path in found.files:
            assert orcish.ORCFile(path).compression == "snappy"
            own = orcish.read_table(path)["id"].to_pylist()
            assert own == sorted(own)
        assert sorted(found.to_table()["id"].to_pylist()) == sorted(rows()["id"].to_pylist())
        assert [commit.operation for commit in orcish.history(table)] == ["overwrite", "append"]
        assert run(table, "--in-place", "--partition-by", "", "--where", "k = 1")[0] == 0
        assert orcish.scan(table).count() == 1000
        assert not list(table.glob("k=*/*.orc"))

    def test_to_another_folder(self, table, tmp_path, run):
        assert run(table, "-o", tmp_path / "u", "--rename", "k=part")[0] == 0
        assert len(list((tmp_path / "u").glob("part=*/*.orc"))) == 3
        assert run(table, "-o", tmp_path / "u")[0] == 1
        assert run(table, "-o", tmp_path / "u", "--existing-data=overwrite", "--max-rows-per-file", 100)[0] == 0
        assert len(orcish.scan(tmp_path / "u").files) == 30

    def test_in_a_store(self, store, run):
        where = "s3://shelf/t"
        orcish.write_dataset(rows(), where, partition_by=["k"], storage_options=store.options)
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        assert run(where, "--in-place", "--sort-by", "id", "--where", "k > 0", *options)[0] == 0
        found = orcish.scan(f"{where}/", storage_options=store.options)
        assert (found.count(), len(found.files)) == (2000, 2)

    def test_a_folder_without_a_log(self, tmp_path, run):
        folder = tmp_path / "plain"
        folder.mkdir()
        for at in range(3):
            orcish.write_table(pa.table({"id": [at]}), folder / f"{at}.orc")
        assert run(folder, "--in-place", "--sort-by=-id")[0] == 0
        assert orcish.read_table(folder)["id"].to_pylist() == [2, 1, 0]
        assert len(list(folder.glob("*.orc"))) == 1

    @pytest.mark.parametrize("has_log", [True, False])
    def test_rows_that_come_meanwhile_are_not_lost(self, has_log, table, tmp_path):
        if not has_log:
            table = tmp_path / "plain"
            table.mkdir()
            orcish.write_table(rows().select(["id", "text"]), table / "a.orc")
        calls = itertools.count()

        def changed(scan: Any) -> Any:
            if next(calls) == 1:
                more = rows(10).select(orcish.scan(table).schema.names)
                orcish.write_dataset(more, table, partition_by=["k"] if has_log else None, existing_data="append")
            return scan

        with pytest.raises(orcish.errors.CommitError, match="was changed meanwhile"):
            rewrite_table(
                str(table), orcish.scan(table), orcish.scan, changed, partition_by=["k"] if has_log else [], options={}
            )
        assert orcish.scan(table).count() == COUNT + 10


KEYS: list[list[SortKey]] = [
    [SortKey("key")],
    [SortKey("key", is_descending=True), SortKey("number")],
    [SortKey("struct.x"), SortKey("word", is_descending=True), SortKey("number", is_descending=True)],
    [SortKey("price"), SortKey("at"), SortKey("flag"), SortKey("view")],
]


class TestSort:
    @pytest.fixture(autouse=True)
    def few_runs(self, monkeypatch):
        monkeypatch.setattr(sorting, "MAX_RUNS", 4)
        monkeypatch.setattr(sorting, "MIN_STRIPE", 1 << 14)

    @pytest.fixture
    def source(self, tmp_path):
        draw, count = random.Random(3), 20_000
        some = lambda *values: [draw.choice([None, *values]) for _ in range(count)]  # noqa: E731
        table = pa.table(
            {
                "row": range(count),
                "key": some(*range(20)),
                "number": some(float("nan"), 0.5, -0.5, float("inf")),
                "struct": [{"x": draw.randrange(5)} for _ in range(count)],
                "word": pa.array(some("a", "b")).dictionary_encode(),
                "price": pa.array(some(1, 2)).cast(pa.decimal128(22, 2)),
                "at": pa.array(some(1, 10**15), pa.timestamp("us", "UTC")),
                "flag": some(True, False),
                "view": pa.array(some("x", "y"), pa.string_view()),
                "list": [[at] for at in range(count)],
                "map": pa.array([[("k", at)] for at in range(count)], pa.map_(pa.string(), pa.int64())),
            }
        )
        orcish.write_table(table, tmp_path / "s.orc")
        return tmp_path / "s.orc"

    @pytest.mark.parametrize("keys", KEYS, ids=str)
    @pytest.mark.parametrize("memory", [1 << 30, 1 << 20, 1 << 18])
    def test_order(self, keys, memory, source, tmp_path):
        scan = orcish.scan(source).batch_size(1000)
        table = orcish.read_table(source)
        plain = pa.table(
            {
                "struct.x": pc.struct_field(table["struct"], "x"),
                **{name: table[name] for name in ("key", "number", "price", "at", "flag")},
                "word": table["word"].cast(pa.string()),
                "view": table["view"].cast(pa.string()),
            }
        )
        wanted = pc.sort_indices(
            plain, sort_keys=[(key.name, "descending" if key.is_descending else "ascending") for key in keys]
        )
        schema, batches = rows_of(SortedRows(scan, keys, memory, str(tmp_path)))
        found = pa.Table.from_batches(list(batches), schema)
        assert found["row"].to_pylist() == wanted.to_pylist()
        assert found.schema == scan.schema
        assert found.select(["list", "map"]).equals(table.select(["list", "map"]).take(wanted))
        assert names(tmp_path) == {"s.orc"}

    def test_temporary_files_are_removed_after_a_failure(self, source, tmp_path):
        def batches() -> Iterator[pa.RecordBatch]:
            yield from orcish.scan(source).batch_size(1000).to_batches()

        _, sorted_rows = rows_of(
            SortedRows(orcish.scan(source).batch_size(1000), [SortKey("key")], 1 << 18, str(tmp_path))
        )
        next(sorted_rows)
        assert len(names(tmp_path)) == 2
        sorted_rows.close()
        assert names(tmp_path) == {"s.orc"}

    @pytest.mark.parametrize(
        ("name", "error"),
        [
            ("list", TypeError),
            ("map", TypeError),
            ("struct", TypeError),
            ("keyy", orcish.UnknownColumnError),
            ("struct.y", orcish.UnknownColumnError),
        ],
    )
    def test_columns_without_an_order(self, name, error, source):
        with pytest.raises(error, match=name.partition(".")[0]):
            rows_of(SortedRows(orcish.scan(source), [SortKey(name)]))

    @pytest.mark.parametrize("count", [0, 1])
    def test_few_rows(self, count, tmp_path):
        orcish.write_table(pa.table({"a": range(count)}), tmp_path / "f.orc")
        schema, batches = rows_of(SortedRows(orcish.scan(tmp_path / "f.orc"), [SortKey("a")]))
        assert pa.Table.from_batches(list(batches), schema).num_rows == count


class TestColumns:
    @pytest.fixture
    def nested(self, tmp_path):
        table = pa.table({"i": [3, 1, 2], "s": ["c", "a", "b"], "n": [{"a": 1, "b": "x"}, None, {"a": 0, "b": "y"}]})
        orcish.write_table(table, tmp_path / "n.orc")
        return tmp_path / "n.orc"

    @pytest.mark.parametrize(
        ("options", "wanted"),
        [
            (["--sort-by", "i", "-c", "s"], {"s": ["a", "b", "c"]}),
            (["--sort-by", "-i", "-c", "s,i"], {"s": ["c", "b", "a"], "i": [3, 2, 1]}),
            (["--sort-by", "i", "--drop", "i,n"], {"s": ["a", "b", "c"]}),
            (["--sort-by", "i", "--drop", "i,n", "--rename", "s=i"], {"i": ["a", "b", "c"]}),
            (["--sort-by", "n.a", "-c", "n.b"], {"n": [{"b": "y"}, {"b": "x"}, None]}),
            (["--sort-by", "n.a", "-c", "s", "--cast", "s=varchar(3)"], {"s": ["b", "c", "a"]}),
            (["--sort-by", "n.a", "--drop", "n,i"], {"s": ["b", "c", "a"]}),
        ],
        ids=str,
    )
    def test_sorted_by_columns_that_are_left_out(self, options, wanted, nested, tmp_path, run):
        assert run(nested, "-o", tmp_path / "o.orc", *options)[0] == 0
        assert orcish.read_table(tmp_path / "o.orc").to_pydict() == wanted
        assert run(nested, "--in-place", *options)[0] == 0
        assert orcish.read_table(nested).to_pydict() == wanted

    @pytest.mark.parametrize(
        ("options", "names", "types"),
        [
            (["--rename", "i=x,s=y", "--drop", "n"], ["x", "y"], "struct<x:bigint,y:string>"),
            (["--rename", "i=x", "--rename", "s=y,z", "--drop", "n"], ["x", "y,z"], None),
            (
                ["--cast", "i=decimal(30,2),s=varchar(5)", "-c", "i,s"],
                ["i", "s"],
                "struct<i:decimal(30,2),s:varchar(5)>",
            ),
            (
                ["--cast", "n=struct<a:int,b:string>,i=int", "--drop", "s"],
                ["i", "n"],
                "struct<i:int,n:struct<a:int,b:string>>",
            ),
            (["--cast", "i=timestamp[us, tz=UTC],s=string", "-c", "i,s"], ["i", "s"], None),
        ],
        ids=str,
    )
    def test_lists_of_names_and_types(self, options, names, types, nested, tmp_path, run):
        code, _, err = run(nested, "-o", tmp_path / "o.orc", *options)
        assert (code, err) == (0, "")
        found = orcish.ORCFile(tmp_path / "o.orc")
        assert found.schema.names == names
        assert types is None or found.type_string == types


def unions(rows: int, kind: str) -> pa.Array:
    """Unions, also inside of other types."""
    codes = pa.array([at % 2 for at in range(rows)], pa.int8())
    if kind.endswith("sparse"):
        array = pa.UnionArray.from_sparse(
            codes, [pa.array(range(rows), pa.int64()), pa.array(map(str, range(rows)), pa.string())]
        )
    else:
        half = range((rows + 1) // 2)
        offsets = pa.array([at // 2 for at in range(rows)], pa.int32())
        array = pa.UnionArray.from_dense(
            codes, offsets, [pa.array(half, pa.int64()), pa.array(map(str, half), pa.string())]
        )
    if kind.startswith("struct"):
        return pa.StructArray.from_arrays([array], ["u"])
    return pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), array) if kind.startswith("list") else array


@pytest.mark.parametrize("memory", ["512MiB", "64KiB"])
@pytest.mark.parametrize("rows", [0, 3000])
@pytest.mark.parametrize("kind", ["dense", "sparse", "struct of dense", "list of sparse"])
def test_unions_are_sorted(kind, rows, memory, tmp_path, run, capsys):
    table = pa.table({"a": pa.array([at * 7 % 3001 for at in range(rows)], pa.int64()), "u": unions(rows, kind)})
    orcish.write_table(table, tmp_path / "a.orc")
    code, _, err = run(tmp_path / "a.orc", "--output", tmp_path / "b.orc", "--sort-by", "a", "--memory", memory)
    assert (code, err) == (0, "")
    assert orcish.read_table(tmp_path / "b.orc").to_pylist() == sorted(table.to_pylist(), key=lambda row: row["a"])
    # The type of the columns is an empty table, too.
    assert main(["json-schema", str(tmp_path / "a.orc"), str(tmp_path / "b.orc")]) == 0
    assert "uniontype<bigint,string>" in capsys.readouterr().out


CHANGES = {
    "cast": (["--cast", "id=tinyint"], "column 'id': row 2: 300 of int32 is not a value of int8"),
    "cast of a column that is missing": (["--cast", "nix=int"], 'no column is named "nix"'),
    "sort": (["--sort-by", "nix"], 'no column is named "nix"'),
    "rename": (["--rename", "nix=a"], 'no column is named "nix"'),
    "drop": (["--drop", "nix"], 'no column is named "nix"'),
    "drop of all": (["--drop", "id"], "no column is left"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_in_place", [True, False])
def test_errors_name_the_file(change: str, is_in_place: bool, tmp_path: pathlib.Path, run: Any) -> None:
    given, text = CHANGES[change]
    path, target = tmp_path / "bad.orc", tmp_path / "new.orc"
    orcish.write_table(pa.table({"id": pa.array([1, 300], pa.int32())}), path)
    where = ["--in-place"] if is_in_place else ["-o", target]
    code, lines, err = run(path, *where, *given)
    assert (code, lines, err.startswith(f"orcish: {path}: {text}")) == (1, [], True), err
    assert names(tmp_path) == {"bad.orc"}


@each_case("unit", ["s", "ms", "us", "ns"])
@each_case("zone", [None, "Europe/Berlin"])
@each_case(("has_log", "schemas"), pairs([True, False], [[True, False], [False, True], [True, True], [False, False]]))
def test_timestamps_keep_their_units(
    unit: Any, zone: str | None, has_log: bool, schemas: list[bool], tmp_path: pathlib.Path, run: Any
) -> None:
    """Whichever files of a table have an Arrow schema, and whichever of them is the first."""
    table = tmp_path / "t"
    for at, has_schema in enumerate(schemas):
        rows = pa.table({"id": [at], "t": pa.array([at], pa.timestamp(unit, zone))})
        if has_log:
            orcish.write_dataset(rows, table, existing_data="append", arrow_schema=has_schema)
        else:
            table.mkdir(exist_ok=True)
            orcish.write_table(rows, table / f"{at}.orc", arrow_schema=has_schema)
    before = orcish.read_table(table).sort_by("id")
    for where in (["-o", tmp_path / "new.orc"], ["--in-place"]):
        code, _, err = run(table, *where)
        assert code == 0, err
        after = orcish.read_table(where[-1] if len(where) > 1 else table).sort_by("id")
        assert (after.schema, after.to_pylist()) == (before.schema, before.to_pylist()), where


@each_case(
    "encoded",
    [
        lambda values: values.dictionary_encode(),
        lambda values: pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), values),
        lambda values: pa.ListArray.from_arrays([0, 1], values.dictionary_encode()),
    ],
    ids=["dictionary", "runs", "list of dictionaries"],
)
def test_digits_of_encoded_timestamps_are_not_lost(encoded: Any, tmp_path: pathlib.Path, run: Any) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"x": encoded(pa.array([0], pa.timestamp("us")))}), table)
    (path,) = table.glob("*.orc")
    fine = pa.array([1], pa.timestamp("ns"))
    column = pa.ListArray.from_arrays([0, 1], fine) if "array" in orcish.ORCFile(path).type_string else fine
    orcish.write_table(pa.table({"x": column}), path, existing_data="overwrite", arrow_schema=False)
    code, _, err = run(table, "-o", tmp_path / "o.orc", "--timestamps", "wall")
    assert (code, "digits beyond" in err) == (1, True), err
