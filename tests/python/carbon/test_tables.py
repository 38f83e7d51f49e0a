"""CarbonData tables: which segments, files and rows are live, and where they are."""

import json
import shutil

import orcish
import pytest
from pyarrow import orc
from support import carbon_rows as cases
from support.carbon import as_read, write_folder
from support.carbon_tables import check, some, writer
from support.case_loops import each_case

# Where the files are.

LAYOUTS = {
    "plain": {},
    "flat": {"flat": True},
    "loose indexes": {"merge_index": False},
    "flat, loose indexes": {"flat": True, "merge_index": False},
    "status with a version": {"versioned": True},
    "sorted": {"sort_columns": ("s", "day"), "inverted_index": True},
    "zstd": {"compressor": "zstd"},
}


@each_case("layout", LAYOUTS)
def test_layouts(tmp_path, layout):
    written = writer(tmp_path, **LAYOUTS[layout])
    written.load(some())
    written.load(some(100), files=3)
    table = check(written)
    assert len(table.files) == 4


@each_case("merge_index", [True, False])
def test_old_tables_without_segment_files(tmp_path, merge_index):
    """Tables without segment files are read by listing the folders of segments."""
    written = writer(tmp_path, segment_files=False, merge_index=merge_index)
    written.load(some())
    written.load(some(100), files=2)
    check(written)


@each_case("flat", [True, False])
def test_files_that_no_segment_owns(tmp_path, flat):
    """Files of a failed load are not read."""
    written = writer(tmp_path, flat=flat)
    written.load(some())
    (path,) = (written.path if flat else written.path / "Fact").rglob("*.carbondata")
    shutil.copy(path, path.with_name(path.name.replace("part-0-0", "part-0-9")))
    check(written)


def test_tables_without_rows(tmp_path):
    written = writer(tmp_path)
    table = check(written)
    assert (table.num_rows, table.files, list(table.segments)) == (0, [], [])
    written.load(some(rows=0))
    assert check(written).num_rows == 0


def test_segments_tell_of_themselves(tmp_path):
    written = writer(tmp_path)
    written.load(some())
    written.load(some(100, 10), state="Failure")
    first, second = orcish.CarbonTable(str(written.path)).segments
    assert (first.id, first.state, first.is_readable) == ("0", "Success", True)
    assert (second.id, second.state, second.is_readable) == ("1", "Failure", False)
    status = written.segments["0"].status
    assert (str(first.data_bytes), str(first.index_bytes)) == (status["dataSize"], status["indexSize"])
    assert first.rows in (100, None)
    assert first.started is not None
    assert first.ended is not None


# States of segments.

LIVE = ["Success", "Partial Success", "Marked for Update", "SUCCESS", "success"]
DEAD = ["Failure", "Marked for Delete", "Compacted", "In Progress", "Overwrite In Progress", "Update"]


@each_case("state", [*LIVE, *DEAD])
def test_states(tmp_path, state):
    written = writer(tmp_path, ["s"])
    written.load(some(names=["s"]))
    written.load(some(100, names=["s"]), state=state)
    found = orcish.CarbonTable(str(written.path))
    assert [segment.is_readable for segment in found.segments] == [True, state in LIVE]
    assert found.count() == (200 if state in LIVE else 100)
    cases.equal(found.read(), written.rows())


def test_dead_segments_may_have_no_files(tmp_path):
    written = writer(tmp_path)
    written.load(some())
    written.load(some(100))
    written.mark("0", "Marked for Delete")
    shutil.rmtree(written.path / "Fact/Part0/Segment_0")
    check(written)


def test_overwritten(tmp_path):
    written = writer(tmp_path)
    written.load(some())
    written.overwrite(some(500, 30))
    assert check(written).count() == 30


def test_compacted(tmp_path):
    written = writer(tmp_path)
    for start in (0, 100, 200):
        written.load(some(start))
    written.delete("1", range(20))
    assert written.compact(["0", "1"]) == "0.1"
    table = check(written)
    assert [segment.id for segment in table.segments if segment.is_readable] == ["2", "0.1"]
    assert written.compact(["0.1", "2"]) == "0.2"
    assert check(written).count() == 280


# Deleted rows.

DELETED = {
    "some": [0, 5, 15, 16, 17, 47, 48, 99],
    "a page": range(16, 32),
    "a blocklet": range(48, 96),
    "all but one": [row for row in range(100) if row != 50],
    "all": range(100),
}


@each_case("which", DELETED)
@each_case("sort", [(), ("s", "id")])
def test_deleted_rows(tmp_path, which, sort):
    written = writer(tmp_path, sort_columns=sort)
    written.load(some())
    written.load(some(100), files=2)
    written.delete("0", DELETED[which])
    check(written)
    written.delete("1", [1, 60, 99])
    table = check(written)
    assert table.scan(filters=orcish.col("id") < 50).count() == sum(id < 50 for id in written.rows()["id"].to_pylist())


@each_case("listed", [True, False])
def test_several_deletes_of_one_file(tmp_path, listed):
    """All delete deltas of a file apply, matched by name or by timestamp."""
    written = writer(tmp_path)
    written.load(some())
    for rows in ([1, 2, 3], [3, 50], [99, 0]):
        written.delete("0", rows, listed=listed)
    assert check(written).count() == 94


def test_deletes_that_do_not_count(tmp_path):
    """Delete deltas of failed deletes and of removed entries do not apply."""
    written = writer(tmp_path)
    written.load(some())
    written.delete("0", [1, 2])
    (delta,) = written.path.rglob("*.deletedelta")
    stamp = delta.name.rsplit("-", 1)[1].split(".")[0]
    for other in (int(stamp) - 1, int(stamp) + 1):
        rows = delta.read_text().replace("[1,2]", "[7,8,9]")
        delta.with_name(delta.name.replace(stamp, str(other))).write_text(rows)
    status = written.path / "Metadata" / written.deletes.status
    entries = json.loads(status.read_text())
    dead = {"deleteDeltaStartTimestamp": str(int(stamp) - 1), "deleteDeltaEndTimestamp": str(int(stamp) - 1)}
    # The last entry of a file says whether the file itself is dead.
    for state in ("Compacted", "Marked for Delete"):
        entries.insert(0, {**entries[-1], **dead, "segmentStatus": state})
    status.write_text(json.dumps(entries))
    assert check(written).count() == 98


def test_updates(tmp_path):
    written = writer(tmp_path)
    written.load(some())
    written.load(some(100))
    written.update("0", [3, 4, 50], some(1000, 3))
    written.update("1", [0], some(2000, 1))
    table = check(written)
    assert table.count() == 200
    assert table.read(columns=["id"]).column("id").to_pylist()[-4:] == [1000, 1001, 1002, 2000]


# Partitions.

PARTITIONS = {
    "text": ("s",),
    "several": ("s", "flag"),
    "day": ("day",),
    "number": ("i16",),
}


@each_case("merge_index", [True, False])
@each_case("case", PARTITIONS)
def test_partitions(tmp_path, case, merge_index):
    """Partition columns are also stored in the files. One partition is null."""
    names = [*PARTITIONS[case], "f64"]
    written = writer(tmp_path, names, partition_by=PARTITIONS[case], merge_index=merge_index)
    written.load(some(rows=20, names=names))
    written.load(some(20, 20, names))
    check(written, ordered=False)


def test_deleted_rows_of_partitions(tmp_path):
    written = writer(tmp_path, ["s"], partition_by=("s",))
    written.load(some(names=["s"]))
    written.delete("0", range(0, 100, 7))
    check(written, ordered=False)


# Segments of other formats.


def test_segments_of_orc(tmp_path):
    written = writer(tmp_path, ["s", "f64"])
    written.load(some(names=["s", "f64"]))
    other = tmp_path / "other"
    other.mkdir()
    rows = some(100, 50, ["s", "f64"])
    orc.write_table(rows.slice(0, 20), str(other / "a.orc"))
    orc.write_table(rows.slice(20), str(other / "b.orc"))
    written.add_segment(other, rows)
    table = check(written, external_locations=[other])
    assert [segment.format for segment in table.segments][1].lower() == "orc"
    assert table.scan(filters=orcish.col("id") >= 140).count() == 10


def test_segments_of_unknown_formats_are_refused(tmp_path):
    written = writer(tmp_path, ["s"])
    written.load(some(names=["s"]))
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.parquet").write_bytes(b"PAR1")
    written.add_segment(other, some(rows=0, names=["s"]), kind="parquet")
    table = orcish.CarbonTable(str(written.path), external_locations=[other])
    with pytest.raises(orcish.UnsupportedError, match="parquet"):
        table.read()


# Folders without Metadata.


@each_case("index", [True, False])
def test_folders_without_metadata(tmp_path, index):
    table = some()
    write_folder(tmp_path / "t", table, files=3, index=index, page_rows=16)
    found = orcish.CarbonTable(str(tmp_path / "t"))
    cases.equal(found.read(), as_read(table))
    assert found.count() == 100
    assert len(found.files) == 3


def test_one_file(tmp_path):
    table = some()
    (file,) = write_folder(tmp_path / "t", table, page_rows=16, blocklet_rows=48)
    path = str(tmp_path / "t" / file.name)
    cases.equal(orcish.CarbonFile(path).read(), as_read(table))
    cases.equal(orcish.read_table(path), as_read(table))


def test_scans_find_out_what_a_path_is(tmp_path):
    written = writer(tmp_path)
    written.load(some())
    scan = orcish.scan(str(written.path), filters=orcish.col("id") < 7)
    assert scan.count() == 7
    cases.equal(scan.to_table(), written.rows().slice(0, 7))


# What is no table.


def test_what_is_missing_is_said(tmp_path):
    written = writer(tmp_path, ["s"])
    written.load(some(names=["s"]))
    (data,) = written.path.rglob("*.carbondata")
    data.unlink()
    with pytest.raises(OSError, match=data.name):
        orcish.read_table(str(written.path))
    (merged,) = written.path.rglob("*.carbonindexmerge")
    merged.unlink()
    with pytest.raises(OSError, match=merged.name):
        orcish.CarbonTable(str(written.path)).read()
    with pytest.raises(FileNotFoundError):
        orcish.CarbonTable(str(tmp_path / "nothing"))


BROKEN = ["", "{", "[", "null", "7", '{"locationMap":7}', '[{"loadStatus":"Success"}]', "\xff"]


@each_case(
    ("name", "text"),
    [(name, text) for name in ("tablestatus", "segments/0_1700000001000.segment") for text in BROKEN],
)
def test_metadata_that_is_none(tmp_path, name, text):
    written = writer(tmp_path, ["s"])
    written.load(some(names=["s"]))
    path = written.path / "Metadata" / name
    assert path.exists()
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(orcish.OrcishError, match=path.name):
        orcish.CarbonTable(str(written.path)).read()


def test_plug_in_compressors_are_refused(tmp_path):
    write_folder(tmp_path / "t", some(names=["s"]))
    (path,) = (tmp_path / "t").glob("*.carbondata")
    path.write_bytes(path.read_bytes().replace(b"snappy", b"xsnapp"))
    with pytest.raises(orcish.UnsupportedError, match="xsnapp"):
        orcish.read_table(str(tmp_path / "t"))


@each_case("layout", LAYOUTS)
def test_the_folder_above_a_table_is_none(tmp_path, layout):
    """A folder above a table is not a table: metadata is looked for at the given path only."""
    written = writer(tmp_path / "db", **LAYOUTS[layout])
    written.load(some())
    written.load(some(100), state="Compacted")
    assert orcish.scan(written.path).count() == some().num_rows
    for folder in (tmp_path, tmp_path / "db"):
        for ask in (orcish.CarbonTable, orcish.read_table, orcish.scan):
            with pytest.raises(orcish.UnsupportedError, match="a table of CarbonData is in the folder"):
                ask(str(folder))
