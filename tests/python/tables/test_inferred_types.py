"""Files without an Arrow schema, written anew: new files have one where readers would not infer the types."""

from datetime import UTC, datetime
from pathlib import Path

import orcish
import pyarrow as pa
import pyorc
from orcish.reading.file import has_arrow_schema
from orcish_cli import main
from support.case_loops import each_case

CASTS = {
    "uint8": pa.uint8(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "time32[s]": pa.time32("s"),
    "time64[us]": pa.time64("us"),
    "duration[s]": pa.duration("s"),
    "large_string": pa.large_string(),
    "decimal256(50,0)": pa.decimal256(50, 0),
    # Types that readers infer.
    "tinyint": pa.int8(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "decimal(12,2)": pa.decimal128(12, 2),
}
INFERRED = ("tinyint", "bigint", "double", "string", "decimal(12,2)")
LATER = pa.table(
    {
        "a": pa.array([7], pa.int32()),
        "unsigned": pa.array([2**64 - 1], pa.uint64()),
        "time": pa.array([1], pa.time64("us")),
        "lasting": pa.array([1], pa.duration("s")),
        "seconds": pa.array([1], pa.timestamp("s")),
        "nested": pa.array([[{"f": 1.5}]], pa.list_(pa.struct({"f": pa.float16()}))),
    }
)


def foreign(path: Path, **columns: tuple[str, object]) -> Path:
    """A file of one row without an Arrow schema."""
    kinds = ",".join(f"{name}:{kind}" for name, (kind, _) in columns.items())
    with path.open("wb") as file, pyorc.Writer(file, f"struct<{kinds}>") as writer:
        writer.write(tuple(value for _, value in columns.values()))
    return path


def files_of(target: Path) -> list[orcish.ORCFile]:
    found = [target] if target.is_file() else sorted(target.rglob("*.orc"))
    return [orcish.ORCFile(path) for path in found]


@each_case("place", ["file", "folder", "in place", "table in place"])
@each_case("kind", CASTS)
def test_a_cast_is_what_is_read(tmp_path, kind, place):
    folder = tmp_path / "t"
    folder.mkdir()
    width = "bigint" if kind in ("time64[us]", "duration[s]") else "int"
    source = foreign(folder / "p.orc", a=(width, 1), b=("int", 2))
    arguments, target = {
        "file": ([source, "-o", tmp_path / "x.orc"], tmp_path / "x.orc"),
        "folder": ([source, "-o", tmp_path / "x", "--partition-by", "b"], tmp_path / "x"),
        "in place": ([source, "--in-place"], source),
        "table in place": ([folder, "--in-place"], folder),
    }[place]
    assert main(["rewrite", *map(str, arguments), "--cast", f"a={kind}"]) == 0
    assert orcish.scan(target).schema.field("a").type == CASTS[kind]
    assert [has_arrow_schema(file) for file in files_of(target)] == [kind not in INFERRED]


def test_a_cast_of_a_partition_column_is_what_is_read(tmp_path):
    source = foreign(tmp_path / "p.orc", a=("int", 1), b=("int", 2))
    arguments = ["rewrite", str(source), "-o", str(tmp_path / "x"), "--partition-by", "a", "--cast", "a=time32[s]"]
    assert main(arguments) == 0
    assert orcish.scan(tmp_path / "x").schema.field("a").type == pa.time32("s")


@each_case("digits", [0, 1], ids=["seconds", "microseconds"])
def test_units_of_timestamps_are_inferred(tmp_path, digits):
    """Units that hold all digits are no types that were asked for; a unit that is given is one."""
    source = foreign(tmp_path / "p.orc", t=("timestamp", datetime(2026, 1, 1, 0, 0, 0, digits, UTC)))
    assert main(["rewrite", str(source), "-o", str(tmp_path / "x.orc")]) == 0
    assert not has_arrow_schema(orcish.ORCFile(tmp_path / "x.orc"))
    assert orcish.read_table(tmp_path / "x.orc") == orcish.read_table(source)
    assert main(["rewrite", str(source), "-o", str(tmp_path / "y.orc"), "--timestamp-unit", "ns"]) == 0
    assert orcish.scan(tmp_path / "y.orc").schema.types == [pa.timestamp("ns")]
    assert main(["rewrite", str(source), "-o", str(tmp_path / "z.orc"), "--cast", "t=timestamp[ns]"]) == 0
    assert orcish.scan(tmp_path / "z.orc").schema.types == [pa.timestamp("ns")]


def _converted(folder: Path, files: list[str], target: Path) -> Path:
    orcish.convert(files, target)
    return target


def _compacted(folder: Path, files: list[str], target: Path) -> Path:
    orcish.compact(folder, rewrite=True)
    return folder


def _command(name: str, *options: str, ending: str):
    def run(folder: Path, files: list[str], target: Path) -> Path:
        target = target.with_name(f"{target.name}{ending}")
        assert main([name, *files, *options, str(target)]) == 0
        return target

    return run


VERBS = {
    "orcish.convert": _converted,
    "orcish.compact": _compacted,
    "convert to a folder": _command("convert", ending=""),
    "convert to a file": _command("convert", ending=".orc"),
    "rewrite to a folder": _command("rewrite", "-o", ending=""),
    "rewrite to a file": _command("rewrite", "-o", ending=".orc"),
}


@each_case("order", ["foreign first", "foreign last"])
@each_case("verb", VERBS)
def test_columns_of_one_file_keep_their_types(tmp_path, verb, order):
    folder = tmp_path / "t"
    folder.mkdir()
    names = ["0.orc", "1.orc"] if order == "foreign first" else ["1.orc", "0.orc"]
    foreign(folder / names[0], a=("int", 1))
    orcish.write_table(LATER, folder / names[1])
    target = VERBS[verb](folder, sorted(map(str, folder.iterdir())), tmp_path / "x")
    found = orcish.read_table(target)
    assert dict(zip(found.schema.names, found.schema.types, strict=True)) == dict(
        zip(LATER.schema.names, LATER.schema.types, strict=True)
    )
    assert found.filter(found["unsigned"].is_valid()).select(LATER.schema.names) == LATER


def test_columns_of_one_name(tmp_path):
    when = pa.array([1], pa.timestamp("ns"))
    table = pa.Table.from_arrays([when, pa.array([1]), when], names=["x", "y", "x"])
    orcish.write_table(table, tmp_path / "a.orc", arrow_schema=False)
    for command in (["convert"], ["rewrite", "-o"]):
        target = tmp_path / f"{command[0]}.orc"
        assert main([command[0], str(tmp_path / "a.orc"), *command[1:], str(target)]) == 0
        assert not has_arrow_schema(orcish.ORCFile(target))
        assert orcish.read_table(target, timestamp_unit="ns") == table
