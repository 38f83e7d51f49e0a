"""Tables that name files outside of their folder: nothing of them is read, unless somebody says that it is to be."""

import json
import os
import shutil

import orcish
import pytest
from orcish_cli import main
from pyarrow import orc
from support import carbon_rows as cases
from support.carbon import metadata
from support.carbon_tables import some, writer
from support.case_loops import each_case
from support.http_server import serve

NAMES = ["s"]


def move(written, place, *, relative=False, path=None):
    """Has the table name another folder for its first segment."""
    status = json.loads((written.path / "Metadata/tablestatus").read_text())
    if path is not None:
        status[0]["path"] = path
    segment = written.path / "Metadata/segments" / status[0]["segmentFile"]
    described = json.loads(segment.read_text())["locationMap"]
    (folder,) = described.values()
    segment.write_text(metadata.segment_file({place: {**folder, "isRelative": relative}}))
    (written.path / "Metadata/tablestatus").write_text(json.dumps(status))


@pytest.fixture
def elsewhere(tmp_path):
    """A table whose segment is in a folder beside it."""
    written = writer(tmp_path, NAMES)
    written.load(some(names=NAMES))
    shutil.move(written.path / "Fact/Part0/Segment_0", tmp_path / "elsewhere")
    return written, tmp_path / "elsewhere"


def refused(path, **options):
    with pytest.raises(orcish.UnsupportedError, match="outside of its folder"):
        orcish.CarbonTable(path, **options)
    with pytest.raises(orcish.UnsupportedError, match="outside of its folder"):
        orcish.scan(path, **options)


@each_case("spelling", ["{}", "file://{}", "file:{}", "{}/", "{}/../elsewhere", "file://{}/%2e%2e/elsewhere"])
def test_folders_elsewhere(elsewhere, spelling):
    written, folder = elsewhere
    move(written, spelling.format(folder))
    refused(str(written.path))
    refused(str(written.path), external_locations=[folder.parent / "else", f"s3://{folder}", "/nowhere"])
    if ".." in spelling or "%2e" in spelling:
        refused(str(written.path), external_locations=[folder])
        return
    for allowed in (folder, folder.parent, f"file://{folder}", f"{folder}/"):
        table = orcish.read_table(str(written.path), external_locations=[allowed])
        cases.equal(table, written.rows())
        assert orcish.CarbonTable(str(written.path), external_locations=[allowed]).num_rows == 100
    (part,) = orcish.scan(str(written.path), external_locations=[folder]).splits(1 << 40)
    assert part.scan().to_table().num_rows == 100


def test_a_folder_of_the_table_may_be_named_whole(elsewhere):
    written, folder = elsewhere
    shutil.move(folder, written.path / "Fact/Part0/Segment_0")
    for place in (written.path / "Fact/Part0/Segment_0", f"file:{written.path}/Fact/Part0/Segment_0"):
        move(written, str(place))
        cases.equal(orcish.read_table(str(written.path)), written.rows())


@each_case("place", ["/../elsewhere", "/x/%2e%2e/../../elsewhere", "/%2e%2e/elsewhere", "/..%2felsewhere"])
def test_steps_upward(elsewhere, place):
    written, _ = elsewhere
    move(written, place, relative=True)
    with pytest.raises((orcish.CorruptFileError, orcish.UnsupportedError)):
        orcish.CarbonTable(str(written.path))


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("whole", [True, False])
def test_links(elsewhere, whole):
    written, folder = elsewhere
    place = written.path / "Fact/Part0/Segment_0"
    if whole:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(folder)
    else:
        place.mkdir(parents=True)
        for file in folder.iterdir():
            (place / file.name).symlink_to(file)
    refused(str(written.path))
    cases.equal(orcish.read_table(str(written.path), external_locations=[folder]), written.rows())
    # The table itself may be reached by a link.
    place.unlink() if whole else shutil.rmtree(place)
    shutil.move(folder, place)
    (folder.parent / "link").symlink_to(written.path)
    cases.equal(orcish.read_table(str(folder.parent / "link")), written.rows())


@each_case("place", ["s3://other-bucket/x", "gs://b/x", "abfss://c@a.dfs.core.windows.net/x", "ftp://h/x"])
def test_stores_are_not_asked(elsewhere, place, monkeypatch):
    """The address has no server: a request would time out."""
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:1")
    written, _ = elsewhere
    for path in (None, place):
        move(written, place, path=path)
        refused(str(written.path))


def test_added_segments(tmp_path):
    written = writer(tmp_path, NAMES)
    written.load(some(names=NAMES))
    other = tmp_path / "other"
    other.mkdir()
    orc.write_table(some(100, 50, NAMES), str(other / "a.orc"))
    written.add_segment(other, some(100, 50, NAMES))
    refused(str(written.path))
    cases.equal(orcish.read_table(str(written.path), external_locations=[other]), written.rows())
    target = tmp_path / "out"
    with pytest.raises(orcish.UnsupportedError):
        orcish.convert(str(written.path), str(target))
    orcish.convert(str(written.path), str(target), external_locations=[other])
    assert orcish.scan(str(target)).count() == 150


@each_case("name", ["Segment_*", "Segment_?", "Segment_[0-9]", "**"])
def test_added_segments_are_no_patterns(tmp_path, name):
    """A missing folder is an error. A name with wildcards does not match other folders."""
    written = writer(tmp_path, NAMES)
    written.load(some(names=NAMES))
    for at in (1, 2):
        folder = written.path / f"added/Segment_{at}"
        folder.mkdir(parents=True)
        orc.write_table(some(100 * at, 50, NAMES), str(folder / "a.orc"))
        written.add_segment(folder, some(100 * at, 50, NAMES))
    cases.equal(orcish.read_table(str(written.path)), written.rows())
    status = written.path / "Metadata/tablestatus"
    loads = json.loads(status.read_text())
    # Without its file, a segment is what is in its folder.
    del loads[1]["segmentFile"]
    loads[1]["path"] = str(written.path / "added" / name)
    status.write_text(json.dumps(loads))
    with pytest.raises(FileNotFoundError, match="added"):
        orcish.read_table(str(written.path))
    # One of that very name is read.
    shutil.move(written.path / "added/Segment_1", written.path / "added" / name)
    cases.equal(orcish.read_table(str(written.path)), written.rows())


@each_case("pattern", ["t/*", "?", "[t]/", "t/*.carbondata"])
def test_tables_are_no_patterns(tmp_path, pattern):
    written = writer(tmp_path, NAMES)
    written.load(some(names=NAMES))
    with pytest.raises(FileNotFoundError):
        orcish.CarbonTable(f"{tmp_path}/{pattern}")


def files_of(folder, base):
    return {f"{base}/{file.relative_to(folder)}": file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_other_hosts_get_no_request_and_no_headers(elsewhere):
    written, folder = elsewhere
    with serve(files_of(folder, "/elsewhere")) as other:
        move(written, f"{other.url}/elsewhere")
        with serve(files_of(written.path, "/t")) as own:
            options = {"storage_options": {"header.x-token": "secret", "header.authorization": "Bearer secret"}}
            refused(str(written.path), **options)
            with pytest.raises(orcish.UnsupportedError, match="outside of its folder"):
                orcish.CarbonTable(f"{own.url}/t", **options)
            assert not other.headers
            assert all(headers["x-token"] == "secret" for headers in own.headers)
            allowed = orcish.CarbonTable(f"{own.url}/t", external_locations=[f"{other.url}/elsewhere"], **options)
            cases.equal(allowed.read(), written.rows())
            scan = allowed.scan()
            assert scan.explain()
            assert scan.count() == 100
            for part in scan.splits(1 << 40):
                assert part.scan().to_table().num_rows == 100
            assert other.headers
            assert not any("secret" in str(headers) for headers in other.headers)


def test_one_text_is_no_list_and_tables_of_orc_have_no_places(elsewhere, capsys):
    written, folder = elsewhere
    with pytest.raises(TypeError, match="external_locations"):
        orcish.scan(str(written.path), external_locations=str(folder))
    rows = folder.parent / "rows.orc"
    orc.write_table(some(names=NAMES), str(rows))
    for read in (orcish.scan, orcish.read_table):
        for places in ([folder], []):
            with pytest.raises(ValueError, match="external_locations"):
                read(str(rows), external_locations=places)
    for command in ("data", "meta"):
        assert main([command, str(rows), "--external-location", str(folder)]) == 1
        assert "--external-location" in capsys.readouterr().err


def test_tables_of_orc_have_no_places_elsewhere_in_spark(tmp_path):
    options = pytest.importorskip("orcish.spark.options")
    tables = pytest.importorskip("orcish.spark.table")
    path = tmp_path / "rows.orc"
    orcish.write_table(some(names=NAMES), path)
    with pytest.raises(ValueError, match="externalLocations"):
        tables.SparkTable.open(options.TableOptions.of({"path": str(path), "externalLocations": "/elsewhere"}))
