"""Commands that print what files say of themselves: schema, json-schema, version, key, sizes, stats, explain."""

from __future__ import annotations

import contextlib
import datetime
import json
import pathlib
import random
import re
import subprocess
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.parquet as pq
import pyorc
import pytest
from orcish_cli import main
from orcish_cli.commands import COMMANDS
from orcish_cli.formats.schemas import parse_schema
from orcish_cli.merged_statistics import merged_statistics
from support.carbon import CarbonTableWriter
from support.conformance.pack import PACK
from support.orc_tools import needs_orc_tools, run_orc_tools
from support.processes import ORCISH, Run
from support.s3_store import BUCKET
from support.terminals import on_terminal

DATA = pathlib.Path(__file__).parents[2] / "data"
ENCRYPTED = PACK.parent / "encryption"


@pytest.fixture
def run(run: Run) -> Run:
    """Runs the command, whose output must be printable."""

    def checked(*arguments: Any) -> tuple[int, list[str], str]:
        code, lines, err = run(*arguments)
        assert all(line.isprintable() for line in lines)
        return code, lines, err

    return checked


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    rows = pa.table({"id": range(20), "day": [datetime.date(2026, 1, 1 + i % 2) for i in range(20)]})
    orcish.write_dataset(rows, tmp_path / "t", partition_by=["day"])
    return tmp_path / "t"


@pytest.fixture
def carbon(tmp_path: pathlib.Path) -> pathlib.Path:
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "name": pa.array(["a", None])})
    written = CarbonTableWriter(tmp_path / "carbon", rows.schema)
    written.load(rows)
    return pathlib.Path(written.path)


def broken(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "broken.orc"
    path.write_bytes((DATA / "spark.zstd.orc").read_bytes()[:-20])
    return path


@pytest.mark.parametrize("command", ["schema", "key", "sizes", "stats", "explain", "compat"])
def test_a_file_that_fails_does_not_end_the_others(command: str, run: Run, tmp_path: pathlib.Path) -> None:
    good = DATA / "spark.zstd.orc"
    code, lines, err = run(command, "--json", good, broken(tmp_path), tmp_path / "missing.orc", good)
    assert code == 1
    assert len(err.splitlines()) == 2
    assert all(line.startswith("orcish: ") for line in err.splitlines())
    alone = run(command, "--json", good)[1]
    if command in ("sizes", "stats"):
        assert len(lines) == len(alone), "of both files together"
    else:
        assert lines == alone * 2


@pytest.mark.parametrize("command", ["key", "sizes", "stats", "compat"])
def test_carbondata_is_refused_where_a_command_is_of_orc_files(command: str, run: Run, carbon: pathlib.Path) -> None:
    code, lines, err = run(command, carbon)
    assert (code, lines) == (1, [])
    assert f"{command} is of ORC files" in err


class TestSchema:
    def test_of_files(self, run: Run) -> None:
        path = DATA / "spark.zstd.orc"
        file = orcish.ORCFile(path)
        assert run("schema", path) == (0, [file.type_string], "")
        assert run("schema", path, "--arrow")[1] == [f"{field.name}: {field.type}" for field in file.schema]
        (line,) = run("schema", path, "--json", "--spark")[1]
        assert json.loads(line)["type"] == file.type_string
        assert run("schema", path, path)[1] == [str(path), f"  {file.type_string}"] * 2
        assert run("schema", DATA / "masked.zstd.orc", "--arrow")[1] == ["id: int32", "name: string", "code: string"]

    def test_ddl(self, run: Run, tmp_path: pathlib.Path) -> None:
        path = tmp_path / "odd.orc"
        schema = "struct<`a b`:char(3),`c``d`:array<struct<`1`:timestamp>>,v:varchar(7),m:map<string,decimal(5,2)>>"
        with path.open("wb") as file, pyorc.Writer(file, schema):
            pass
        assert run("schema", "--spark", path)[1] == [
            "`a b` CHAR(3),",
            "`c``d` ARRAY<STRUCT<`1`: TIMESTAMP>>,",
            "v VARCHAR(7),",
            "m MAP<STRING, DECIMAL(5,2)>",
        ]
        for name, found in {"shapes.zlib.orc": "geometry", "root.zlib.orc": "root type"}.items():
            code, lines, err = run("schema", "--ddl", DATA / name)
            assert (code, lines) == (1, [])
            assert found in err

    def test_ddl_ignores_attributes_that_are_no_types(self, run: Run, tmp_path: pathlib.Path) -> None:
        key = "spark.sql.catalyst.type"
        for stated, found in {"int) ; DROP TABLE t": "STRING", "string": "STRING", "char(4)": "CHAR(4)"}.items():
            with (
                (tmp_path / "a.orc").open("wb") as file,
                pyorc.Writer(file, pyorc.Struct(c=_with_attribute(pyorc.String(), key, stated))),
            ):
                pass
            assert run("schema", "--spark", tmp_path / "a.orc")[1] == [f"c {found}"]

    def test_of_tables(self, run: Run, table: pathlib.Path, carbon: pathlib.Path) -> None:
        assert run("schema", table)[1] == ["struct<id:bigint>"]
        assert run("schema", table, "--arrow")[1] == ["id: int64", "day: date32[day]"]
        assert run("schema", table, "--ddl")[1] == ["id BIGINT,", "day DATE"]
        assert json.loads(run("schema", table, "--json")[1][0])["partition_columns"] == ["day"]
        assert run("schema", carbon)[1] == ["struct<id:int,name:string>"]
        orcish.delete(table, filters="id >= 0")
        assert run("schema", table, "--ddl")[1] == ["id BIGINT,", "day DATE"]


def _with_attribute(kind: Any, key: str, value: str) -> Any:
    kind.set_attributes({key: value})
    return kind


DOCUMENTS: dict[str, tuple[str, str]] = {
    "integers": ('{"a":-128}{"a":127}', "struct<a:tinyint>"),
    "wider integers": ('{"a":-129}\n{"a":1}', "struct<a:smallint>"),
    "32 bits": ('{"a":2147483647}', "struct<a:int>"),
    "64 bits": ('{"a":-9223372036854775808}', "struct<a:bigint>"),
    "more": ('{"a":9223372036854775808}', "struct<a:decimal(19,0)>"),
    "digits beyond decimals": ('{"a":%s}' % ("9" * 39), "struct<a:double>"),
    "a long number": ('{"a":%s}' % ("9" * 9999), "struct<a:double>"),
    "decimals": ('{"a":1.25}{"a":100}', "struct<a:decimal(5,2)>"),
    "exponents": ('{"a":1e3}{"a":2}', "struct<a:double>"),
    "booleans": ('{"a":true}{"a":null}', "struct<a:boolean>"),
    "nulls": ('{"a":null}', "struct<a:string>"),
    "text": ('{"a":"2026-01-01 00:00:00"}{"a":""}', "struct<a:string>"),
    "timestamps": ('{"a":"2026-01-01T00:00:00"}{"a":"2026-01-01 00:00:00.25"}', "struct<a:timestamp>"),
    "instants": ('{"a":"2026-01-01T00:00:00Z"}', "struct<a:timestamp with local time zone>"),
    "nanoseconds": ('{"a":"2026-01-01 00:00:00.123456789"}', "struct<a:timestamp>"),
    "month 13": ('{"a":"2026-13-01 00:00:00"}', "struct<a:string>"),
    "day 30 of February": ('{"a":"2024-02-30T00:00:00Z"}', "struct<a:string>"),
    "day 29 of February": ('{"a":"2024-02-29T00:00:00Z"}', "struct<a:timestamp with local time zone>"),
    "hour 24": ('{"a":"2026-01-01 24:00:00"}', "struct<a:string>"),
    "slashes": ('{"a":"2026/01/01 00:00:00"}', "struct<a:string>"),
    "a blank before the zone": ('{"a":"2026-01-01 00:00:00 +01:00"}', "struct<a:string>"),
    "dates": ('{"a":"2026-01-01"}', "struct<a:string>"),
    "hexadecimal digits": ('{"a":"00ff"}', "struct<a:string>"),
    "unions": (
        '{"a":[1,"x",[],{"b":1}]}',
        "struct<a:array<uniontype<tinyint,string,array<string>,struct<b:tinyint>>>>",
    ),
    "more columns": ('{"a":1}{"b":{"`":1}}', "struct<a:tinyint,b:struct<````:tinyint>>"),
    "numbers": ("1 2 300", "smallint"),
    "an array": ("[{}]", "array<struct<>>"),
    "a mark of byte order": ('\ufeff{"a":1}', "struct<a:tinyint>"),
}


UNREAD = (
    "digits beyond decimals",
    "a long number",
    "unions",
    "numbers",
    "an array",
    "more columns",
)
"""Documents that convert refuses, or whose type it does not have."""


class TestJsonSchema:
    @pytest.mark.parametrize("name", DOCUMENTS)
    def test_documents(self, name: str, run: Run, tmp_path: pathlib.Path) -> None:
        text, kind = DOCUMENTS[name]
        (tmp_path / "a.json").write_text(text)
        assert run("json-schema", tmp_path / "a.json") == (0, [kind], "")
        if kind.startswith("struct") and "struct<>" not in kind:
            # ORC has the type.
            assert str(pyorc.TypeDescription.from_string(kind)) == kind or "`" in kind or "zone" in kind

    @pytest.mark.parametrize("name", [name for name in DOCUMENTS if name not in UNREAD])
    def test_the_type_reads_back(self, name: str, run: Run, tmp_path: pathlib.Path) -> None:
        text, kind = DOCUMENTS[name]
        (tmp_path / "a.json").write_text(text.replace("}{", "}\n{"))
        code, _, err = run("convert", tmp_path / "a.json", tmp_path / "a.orc", "--schema", kind)
        assert code == 0, err

    def test_options(self, run: Run, tmp_path: pathlib.Path) -> None:
        path = tmp_path / "a.json"
        path.write_text('{"a": {"b": "2026-01-31"}, "c": ["00ff"]}{"d": 1}')
        assert run("json-schema", path, "--dates", "--hex", "-f")[1] == [
            "root.a.b: date",
            "root.c.element: binary",
            "root.d: tinyint",
        ]
        assert run("json-schema", path, "--limit", 1, "-t")[1] == [
            "create table tbl (",
            "  a struct<b:string>,",
            "  c array<string>",
            ") stored as orc",
        ]
        assert "".join(run("json-schema", path, "-p")[1]).replace(" ", "") == run("json-schema", path)[1][0]

    def test_chunks(self, run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Documents, and numbers in them, are cut anywhere by the parts that are read at a time."""
        path = tmp_path / "a.json"
        path.write_text('{"a": "x y"} {"a":"z"}\n\n123456 78.5{"b": [1, 2]}')
        expected = "uniontype<struct<a:string,b:array<tinyint>>,decimal(7,1)>"
        for size in (14, 15, 16, 17, 1000):
            monkeypatch.setattr("orcish_cli.formats.text_values.BLOCK", size)
            assert run("json-schema", path)[1] == [expected]

    def test_other_formats(self, run: Run, tmp_path: pathlib.Path) -> None:
        rows = pa.table({"a": pa.array([1], pa.int32()), "b": ["x"], "t": pa.array([0], pa.timestamp("us", "UTC"))})
        kind = "struct<a:int,b:string,t:timestamp with local time zone>"
        pq.write_table(rows, tmp_path / "a.parquet")
        orcish.write_table(rows, tmp_path / "a.orc")
        with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows)
        with pa.OSFile(str(tmp_path / "a.arrows"), "wb") as file, pa.ipc.new_stream(file, rows.schema) as writer:
            writer.write_table(rows)
        for suffix in ("parquet", "orc", "arrow", "arrows"):
            assert run("json-schema", tmp_path / f"a.{suffix}") == (0, [kind], "")
        wider = rows.set_column(0, "a", pa.array([1], pa.int64()))
        pq.write_table(wider, tmp_path / "b.parquet")
        assert run("json-schema", tmp_path / "a.parquet", tmp_path / "b.parquet")[1] == [
            kind.replace("int,", "bigint,")
        ]
        (tmp_path / "a.csv").write_text("n,d\n1,2026-01-01\n")
        (tmp_path / "a.tsv").write_text("n\td\n1\t2026-01-01\n")
        with pa.CompressedOutputStream(str(tmp_path / "a.csv.gz"), "gzip") as file:
            file.write((tmp_path / "a.csv").read_bytes())
        for name in ("a.csv", "a.tsv", "a.csv.gz"):
            assert run("json-schema", tmp_path / name)[1] == ["struct<n:bigint,d:date>"]

    @pytest.mark.parametrize("rows", [["007", "1.5"], ["", "true,x"], ["1", "1.50"], ["0x1F"], ["12345678901234567.5"]])
    def test_types_of_csv_are_those_of_convert(self, rows: list[str], run: Run, tmp_path: pathlib.Path) -> None:
        for at, row in enumerate(rows):
            (tmp_path / f"{at}.csv").write_text(f"id,a,b\n{at},{row}{'' if ',' in row else ','}\n")
        kind = run("json-schema", tmp_path)[1][0]
        assert [kind] == run("json-schema", f"{tmp_path}/*.csv")[1]
        assert [kind] == run("json-schema", *sorted(tmp_path.glob("*.csv")))[1]
        sources = sorted(tmp_path.glob("*.csv"))
        assert run("convert", *sources, tmp_path / "a.orc", "--schema", kind)[0] == 0
        if run("convert", *sources, tmp_path / "b.orc")[0] == 0:
            assert orcish.read_schema(tmp_path / "a.orc").equals(orcish.read_schema(tmp_path / "b.orc"))
            assert run("json-schema", tmp_path / "b.orc")[1] == [kind]

    def test_folders(self, run: Run, tmp_path: pathlib.Path) -> None:
        rows = pa.table({"id": [1, 2], "k": [1, 2]})
        orcish.write_dataset(rows, tmp_path / "orders", partition_by=["k"])
        assert run("json-schema", tmp_path / "orders") == (0, ["struct<id:bigint>"], "")
        (tmp_path / "rows").mkdir()
        for at in range(2):
            (tmp_path / "rows" / f"{at}.jsonl").write_text(f'{{"a":{at * 1000}}}\n')
        assert run("json-schema", tmp_path / "rows") == (0, ["struct<a:smallint>"], "")
        (tmp_path / "none").mkdir()
        code, _, err = run("json-schema", tmp_path / "none")
        assert code == 1
        assert "no files" in err

    def test_errors(self, run: Run, tmp_path: pathlib.Path) -> None:
        (tmp_path / "a.json").write_text('{"a":1}\n{"a":')
        code, lines, err = run("json-schema", tmp_path / "a.json")
        assert (code, lines) == (1, [])
        assert f"{tmp_path / 'a.json'}: row 2: Truncated record whilst reading value" in err
        (tmp_path / "deep.json").write_text("[" * 100_000)
        assert "nests more than 128 levels deep" in run("json-schema", tmp_path / "deep.json")[2]
        (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
        assert run("json-schema", tmp_path / "binary.json")[0] == 1
        (tmp_path / "b.csv").write_text("a\n1\n")
        (tmp_path / "c.json").write_text("{}")
        assert "several formats" in run("json-schema", tmp_path / "c.json", tmp_path / "b.csv")[2]
        assert run("json-schema", tmp_path / "missing.json")[0] == 1
        (tmp_path / "n.json").write_text("1")
        assert "objects" in run("json-schema", "-t", tmp_path / "n.json")[2]

    @needs_orc_tools
    def test_of_orc_tools(self, run: Run, tmp_path: pathlib.Path) -> None:
        """The same types where orc-tools has no words for hexadecimal digits, exponents and nulls."""
        path = tmp_path / "a.json"
        path.write_text('{"a":1,"b":"xy","c":{"d":[1,2000,70000]},"e":1.25}\n{"b":"","a":300,"f":true,"e":12}\n')
        assert run("json-schema", path)[1] == [_ordered(run_orc_tools("json-schema", path))]


def _ordered(text: str) -> str:
    # Both have the columns of this document in the same order: orc-tools sorts them by name.
    return text.strip()


def test_version(run: Run) -> None:
    assert run("version") == (0, [f"orcish {orcish.__version__}"], "")
    assert json.loads(run("version", "--json")[1][0])["pyarrow"] == pa.__version__
    assert run("version", "--all")[1][0].split() == ["orcish", orcish.__version__]


class TestKey:
    def test_plain_and_masked(self, run: Run) -> None:
        code, lines, _ = run("key", "--json", DATA / "masked.zstd.orc", DATA / "spark.zstd.orc")
        found, none = (json.loads(line)["encryption"] for line in lines)
        assert (code, none) == (0, None)
        assert found["keys"] == [{"name": "secret", "version": 0, "algorithm": "AES_CTR_128"}]
        assert [(variant["column"], variant["mask"]) for variant in found["variants"]] == [
            ("name", "nullify"),
            ("code", "sha256"),
        ]
        text = "\n".join(run("key", DATA / "masked.zstd.orc", DATA / "spark.zstd.orc")[1])
        assert "AES_CTR_128" in text
        assert "No column is encrypted" in text

    @pytest.mark.skipif(not ENCRYPTED.exists(), reason="the pack of encrypted files is not here")
    def test_as_java_says(self) -> None:
        for line in (ENCRYPTED / "cases.jsonl").read_text().splitlines():
            case = json.loads(line)
            path = ENCRYPTED / "files" / f"{case.get('case') or case.get('name')}.orc"
            info = case.get("info")
            if not info or not path.exists():
                continue
            file = orcish.ORCFile(path)
            found = file.encryption
            assert found is not None
            keys = [(key["name"], key["version"], key["algorithm"]) for key in info["keys"]]
            assert [(key.name, key.version, key.algorithm) for key in found.keys] == keys
            variants = [(file.column_paths[each["root"]], each["key"]) for each in info["variants"]]
            assert [(each.column, each.key) for each in found.variants] == variants

    @pytest.mark.parametrize("seed", range(20))
    def test_damaged_footers(self, seed: int) -> None:
        """Whatever the bytes are, there is a result or an error of orcish."""
        path = DATA / "masked.zstd.orc"
        tail = orcish.ORCFile(path).tail_bytes()
        chance = random.Random(seed)
        for _ in range(300):
            data = bytearray(tail[: chance.randrange(len(tail)) or None])
            for _ in range(chance.randrange(4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            # A tail has the version of its file, too.
            with contextlib.suppress(orcish.OrcishError, OSError):
                _ = orcish.ORCFile(path, tail=bytes(data)).encryption


class TestSizes:
    def test_all_bytes_are_counted(self, run: Run) -> None:
        for path in sorted(DATA.glob("*.orc")):
            (line,) = run("sizes", "--json", path)[1]
            found = json.loads(line)
            columns = sum(column["bytes"] for column in found["columns"])
            assert columns + sum(found["overhead"].values()) == found["bytes"] == path.stat().st_size
            for column in found["columns"]:
                assert sum(column["streams"].values()) == column["bytes"]

    def test_of_several_files(self, run: Run, tmp_path: pathlib.Path) -> None:
        for name in ("a", "b"):
            orcish.write_table(pa.table({name: range(1000), "x": range(1000)}), tmp_path / f"{name}.orc")
        code, lines, _ = run("sizes", tmp_path)
        assert (code, lines[0].split(", ")[:2]) == (0, ["2 files", "2,000 rows"])
        sizes = [int(line.split()[2].replace(",", "")) for line in lines[3:]]
        assert sizes == sorted(sizes, reverse=True)
        names = [line.split()[-1] for line in lines[3:]]
        assert {"a", "b", "x", "_file_footer", "_stripe_footer"} <= set(names)
        assert len(run("sizes", tmp_path, "-n", 2)[1]) == 5
        assert "ROW_INDEX" in "\n".join(run("sizes", tmp_path, "--streams")[1])

    @needs_orc_tools
    def test_as_orc_tools_has_it(self, run: Run) -> None:
        path = DATA / "spark.zstd.orc"
        found = json.loads(run("sizes", "--json", path)[1][0])
        lines = [line.split() for line in run_orc_tools("sizes", path).splitlines()[1:]]
        theirs = {
            name.replace("_elem", "element").replace("_key", "key").replace("_value", "value"): float(size)
            for _, size, name in lines
        }
        rows = found["rows"]
        ours = {column["name"]: column["data_bytes"] / rows for column in found["columns"] if column["data_bytes"]}
        ours["_index"] = sum(column["index_bytes"] for column in found["columns"]) / rows
        ours |= {name: size / rows for name, size in found["overhead"].items() if size}
        assert ours == pytest.approx(theirs, abs=0.01)


class TestStats:
    def test_merged_over_files(self, run: Run, tmp_path: pathlib.Path) -> None:
        chance = random.Random(1)
        parts = []
        for at in range(3):
            values = [chance.choice([None, chance.randrange(-1000, 1000)]) for _ in range(500)]
            rows = pa.table(
                {
                    "i": values,
                    "s": [None if v is None else f"v{v}" for v in values],
                    "d": [None if v is None else {"x": v / 4} for v in values],
                }
            )
            orcish.write_table(rows, tmp_path / f"{at}.orc")
            parts.append(rows)
        rows = pa.concat_tables(parts)
        found = {each["column"]: each for each in map(json.loads, run("stats", "--json", tmp_path)[1])}
        values = [value for value in rows["i"].to_pylist() if value is not None]
        i = found["i"]["statistics"]
        assert (i["min"], i["max"], i["sum"], i["values"]) == (min(values), max(values), sum(values), len(values))
        assert found["i"]["nulls"] == found["s"]["nulls"] == found["d"]["nulls"] == 1500 - len(values)
        assert found["d.x"]["nulls"] == 0
        assert found["s"]["statistics"]["max"] == max(f"v{value}" for value in values)
        assert run("stats", tmp_path)[1][2].split()[:4] == ["(root)", "struct", "1,500", "0"]

    def test_by_file_and_stripe(self, run: Run, tmp_path: pathlib.Path) -> None:
        path = tmp_path / "a.orc"
        with orcish.ORCWriter(path, pa.schema({"i": pa.int64()})) as writer:
            for at in range(3):
                writer.write(pa.table({"i": [at, None]}))
                writer.end_stripe()
        lines = [json.loads(line) for line in run("stats", "--json", "--by-stripe", "-c", "i", path, path)[1]]
        assert [(line["stripe"], line["statistics"]["min"], line["nulls"]) for line in lines] == [
            (0, 0, 1),
            (1, 1, 1),
            (2, 2, 1),
        ] * 2
        assert [
            json.loads(line)["nulls"] for line in run("stats", "--json", "--by-file", "-c", "i", path, path)[1]
        ] == [3, 3]
        assert run("stats", "--by-stripe", path)[1][0].split()[:3] == ["file", "stripe", "column"]
        code, _, err = run("stats", "-c", "j", path)
        assert code == 1
        assert "j" in err

    def test_what_one_part_does_not_know_is_not_known(self) -> None:
        S = orcish.types.ColumnStatistics  # noqa: N806
        one = S("integer", values=2, has_null=False, min=1, max=5, min_is_exact=True, max_is_exact=True, sum=6)
        assert merged_statistics([]) is None
        assert merged_statistics([None, None]) is None
        assert merged_statistics([one]) == one
        both = merged_statistics([one, None])
        assert both is not None
        assert (both.min, both.sum, both.values, both.has_null) == (None, None, None, None)
        empty = S("none", values=0, has_null=True)
        both = merged_statistics([one, empty])
        assert both is not None
        assert (both.min, both.max, both.sum, both.values, both.has_null, both.kind) == (1, 5, 6, 2, True, "integer")
        other = merged_statistics([one, S("string", values=1, has_null=False, min="a", max="b")])
        assert other is not None
        assert (other.kind, other.min, other.values) == ("mixed", None, 3)
        unbounded = merged_statistics([one, S("integer", values=1, has_null=None)])
        assert unbounded is not None
        assert (unbounded.min, unbounded.sum, unbounded.has_null) == (None, None, None)


class TestExplain:
    def test_what_proves_it(self, run: Run, tmp_path: pathlib.Path) -> None:
        path = tmp_path / "a.orc"
        orcish.write_table(pa.table({"id": range(0, 100_000, 2)}), path, bloom_filter_columns=["id"])
        scan = orcish.scan(path, filters="id = 20001")
        code, lines, _ = run("explain", path, "--where", "id = 20001")
        assert (code, lines) == (
            0,
            ["50,000 of 50,000 rows skipped, 0 of 1 stripes", *str(scan.explain()).splitlines()],
        )
        (line,) = run("explain", path, "--where", "id = 20001", "--json")[1]
        found = json.loads(line)
        assert (found["bytes"], found["requests"]) == (scan.explain().bytes, scan.explain().requests)
        (part,) = found["files"][0]["parts"]
        assert {reason["proof"] for group in (part, *part["groups"]) for reason in group["reasons"]} >= {"bloom filter"}
        all_rows = json.loads(run("explain", path, "--json", "-c", "id", "-n", 5)[1][0])
        assert all_rows["files"][0]["parts"][0]["outcome"] == "all"

    def test_tables(self, run: Run, table: pathlib.Path, carbon: pathlib.Path) -> None:
        code, lines, _ = run("explain", table, carbon, "--where", "id = 2")
        assert code == 0
        assert any("of 1 blocklets" in line for line in lines)
        code, lines, _ = run("explain", table, "--where", "day = date '2026-01-01'")
        assert lines[0] == "1 of 2 files skipped; of the others, 0 of 10 rows skipped, 0 of 1 stripes"
        code, lines, err = run("explain", table, "--where", "idd = 2")
        assert (code, lines) == (1, [])
        assert "id" in err


def test_the_installed_script(tmp_path: pathlib.Path) -> None:
    """A URL of a store is in the tests of stores; here the commands run as processes, whose pipes close early."""
    for command in ("schema", "sizes", "stats", "explain", "key", "version", "json-schema"):
        files = [] if command == "version" else [DATA / "spark.zstd.orc"]
        done = subprocess.run([*ORCISH, command, *map(str, files)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert re.search(r"\w", done.stdout)


def test_help_has_every_command_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--help"])
    assert raised.value.code == 0
    out = capsys.readouterr().out
    for command in COMMANDS:
        assert len(re.findall(rf"^  {command.name} ", out, flags=re.MULTILINE)) == 1
    for command in COMMANDS:
        with pytest.raises(SystemExit) as raised:
            main([command.name, "--help"])
        assert raised.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: orcish {command.name} ")


def test_urls_of_a_store(run: Run, store: Any, tmp_path: pathlib.Path) -> None:
    rows = pa.table({"id": range(100), "day": [f"d{at % 2}" for at in range(100)]})
    url = f"s3://{BUCKET}/t"
    orcish.write_dataset(rows, url, partition_by=["day"], storage_options=store.options)
    orcish.write_table(rows, tmp_path / "a.orc")
    options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
    assert run("schema", url, "--ddl", *options)[1] == ["id BIGINT,", "day STRING"]
    assert run("sizes", url, *options)[1][0].startswith("2 files, 100 rows")
    assert json.loads(run("stats", url, "-c", "id", "--json", *options)[1][0])["statistics"]["max"] == 99
    assert run("explain", url, "--where", "day = 'd0' and id > 500", *options)[1][0].startswith(
        "1 of 2 files skipped; of the others, 50 of 50 rows skipped"
    )
    assert len(run("key", url, *options)[1]) == 5
    assert run("diff", url, tmp_path / "a.orc", "--key", "id", "--values-only", *options) == (0, [], "")
    (tmp_path / "b.json").write_text('{"a": 1}')
    store.client.put_object(Bucket=BUCKET, Key="b.json", Body=b'{"a": 1}')
    assert run("json-schema", f"s3://{BUCKET}/b.json", *options)[1] == ["struct<a:tinyint>"]
    for command in ("schema", "sizes", "stats", "explain", "key", "compat"):
        code, _, err = run(command, f"s3://{BUCKET}/missing.orc", *options)
        assert code == 1
        assert "missing.orc" in err


@pytest.mark.parametrize("arguments", [["stats"], ["sizes"], ["compat"], ["diff", DATA / "spark.zlib.orc"]], ids=str)
def test_tables_on_a_terminal(arguments: list[Any]) -> None:
    """With rich the header is bold; the names of a file are text and no markup."""
    code, shown = on_terminal(ORCISH, *arguments, DATA / "spark.none.orc")
    assert code in (0, 1)
    assert "\x1b[1m" in shown or arguments[0] == "diff"
    assert "Traceback" not in shown


@needs_orc_tools
@pytest.mark.skipif(not (PACK / "files").exists(), reason="the pack of files of other writers is not here")
def test_schemas_and_statistics_as_orc_tools_has_them(run: Run) -> None:
    """Of files of Apache ORC that are read by orc-tools 1.9, in one JVM."""
    files = sorted((PACK / "files" / "apache+orc").glob("TestOrcFile.*.orc"))
    assert len(files) > 10
    compared = 0
    for theirs, path in zip(json.loads(run_orc_tools("meta", "-j", *files)), files, strict=True):
        assert theirs["fileName"].endswith(path.name)
        assert run("schema", path) == (0, [theirs["schemaString"]], "")
        lines = [json.loads(line) for line in run("stats", "--json", path)[1]]
        assert len(lines) == len(theirs["fileStatistics"])
        for ours, other in zip(lines, theirs["fileStatistics"], strict=True):
            known = ours["statistics"]
            if known is None or other.get("count") is None:
                continue
            assert known["values"] == other["count"], (path.name, ours["column"])
            for name, key in {"min": "min", "max": "max", "sum": "sum"}.items():
                if ours["type"] in ("tinyint", "smallint", "int", "bigint") and key in other and name in known:
                    assert known[name] == other[key], (path.name, ours["column"], name)
                    compared += 1
    assert compared > 20


@pytest.mark.parametrize("name", ["c,d", "a:b", "a b", " a", "a ", "a`b", "a<b>", "x[1]", "ä", "not null", ""])
def test_names_of_arrow_types_are_read_back(name: str, tmp_path: pathlib.Path, run: Run) -> None:
    """``convert --schema`` takes what ``schema --arrow`` prints, whatever the names are."""
    inner = pa.struct([pa.field(name, pa.int32()), pa.field("n", pa.list_(pa.struct([pa.field(name, pa.string())])))])
    schema = pa.schema([pa.field(name, inner), pa.field("m", pa.map_(pa.string(), inner))])
    path = tmp_path / "a.orc"
    orcish.write_table(pa.Table.from_pylist([], schema), path)
    found = parse_schema("\n".join(run("schema", path, "--arrow")[1]))
    assert found.names == schema.names
    assert [[field.name for field in each.type] for each in (found.field(0), schema.field(0))] == [[name, "n"]] * 2
    item = found.field(1).type.item_type
    assert [item.field(0).name, item.field(1).type.value_type.field(0).name] == [name, name]
