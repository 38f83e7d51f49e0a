"""CarbonData to ORC: the same rows, in the folders of their partitions."""

import orcish
import pyarrow as pa
import pytest
from support import carbon_rows as cases
from support.carbon import CarbonTableWriter, as_read, write_folder
from support.case_loops import each_case


def written(tmp_path, names=tuple(cases.COLUMNS), **options):
    writer = CarbonTableWriter(tmp_path / "t", cases.table(names).schema, page_rows=16, blocklet_rows=48, **options)
    writer.load(cases.table(names))
    return writer


def check(folder, wanted):
    """The ORC files hold the rows of a table, in its types."""
    found = orcish.read_table(str(folder)).select(wanted.column_names)
    cases.equal(found.cast(wanted.schema), wanted, ordered=False)


def test_all_types(tmp_path):
    writer = written(tmp_path)
    orcish.convert(str(writer.path), str(tmp_path / "orc"))
    check(tmp_path / "orc", writer.rows())


@each_case("name", cases.COLUMNS)
def test_types_are_kept(tmp_path, name):
    """A column has the type in the ORC file that it has in the table."""
    writer = written(tmp_path, [name])
    orcish.convert(str(writer.path), str(tmp_path / "orc"))
    found = orcish.read_table(str(tmp_path / "orc"))
    assert found.schema.field(name).type == writer.schema.field(name).type


def test_live_rows_only(tmp_path):
    writer = written(tmp_path)
    writer.load(cases.table(start=100))
    writer.load(cases.table(start=200), state="Failure")
    writer.delete("0", range(0, 100, 2))
    writer.stream(cases.table(start=300).slice(0, 0))
    writer.alter_drop("i16")
    writer.alter_rename("s", "renamed")
    writer.alter_add("new", pa.int64(), 5)
    orcish.convert(str(writer.path), str(tmp_path / "orc"))
    check(tmp_path / "orc", writer.rows())


def test_partitions_are_kept(tmp_path):
    writer = written(tmp_path, ["s", "flag", "f64"], partition_by=("s",))
    orcish.convert(str(writer.path), str(tmp_path / "orc"))
    folders = {path.parent.name for path in (tmp_path / "orc").rglob("*.orc")}
    assert "s=__HIVE_DEFAULT_PARTITION__" in folders
    assert len(folders) == 8
    check(tmp_path / "orc", writer.rows())


def test_folders_and_files(tmp_path):
    table = cases.table()
    (file,) = write_folder(tmp_path / "t", table)
    for number, source in enumerate((tmp_path / "t", tmp_path / "t" / file.name)):
        orcish.convert(str(source), str(tmp_path / f"orc{number}"))
        check(tmp_path / f"orc{number}", as_read(table))


def test_data_that_is_there(tmp_path):
    writer = written(tmp_path, ["s"])
    orcish.convert(str(writer.path), str(tmp_path / "orc"))
    with pytest.raises(FileExistsError):
        orcish.convert(str(writer.path), str(tmp_path / "orc"))
    check(tmp_path / "orc", writer.rows())
    orcish.convert(str(writer.path), str(tmp_path / "orc"), existing_data="append")
    check(tmp_path / "orc", pa.concat_tables([writer.rows()] * 2))


def test_a_table_that_fails_leaves_nothing(tmp_path):
    writer = written(tmp_path, ["s"])
    (path,) = writer.path.rglob("*.carbondata")
    data = bytearray(path.read_bytes())
    data[len(data) // 4 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 4)
    path.write_bytes(data)
    with pytest.raises(orcish.OrcishError):
        orcish.convert(str(writer.path), str(tmp_path / "orc"))
    assert not list((tmp_path / "orc").rglob("*.orc"))


def test_tables_without_rows(tmp_path):
    schema = cases.table(["s"]).schema
    writer = CarbonTableWriter(tmp_path / "t", schema)
    orcish.convert(str(writer.path), str(tmp_path / "orc"))
    files = list((tmp_path / "orc").rglob("*.orc"))
    assert sum(orcish.ORCFile(str(file)).num_rows for file in files) == 0


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@each_case("existing", ["error", "append", "overwrite"])
def test_nothing_is_written_into_tables_of_carbondata(tmp_path, existing):
    tables, source = tmp_path / "tables", tmp_path / "a.orc"
    table = written(tables, ["s"])
    write_folder(tables / "files" / "deep", cases.table(["s"]))
    orcish.write_table(cases.table(["s"]), source)
    before = contents(tmp_path)
    # The table, the folder of several, data files without metadata, and a folder above these.
    for target in (table.path, tables, tables / "files", tables / "files" / "deep"):
        for write, given in ((orcish.write_dataset, orcish.scan(source)), (orcish.convert, source)):
            with pytest.raises(orcish.UnsupportedError, match="CarbonData, which is only read"):
                write(given, target, existing_data=existing)
    assert contents(tmp_path) == before
