"""Listing of folders and patterns, and of one file over HTTP; ``remote/test_s3.py`` lists a bucket."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import orcish
import pyarrow as pa
import pytest
from orcish import _native
from support.case_loops import each_case
from support.http_server import serve
from support.small_tables import put, rows

DATA = b"some bytes"


def test_one_file_over_http():
    with serve({"/t/small ü.orc": DATA}) as server:
        url = f"{server.url}/t/small%20%C3%BC.orc"
        assert _native.list_files(url) == [(url, len(DATA))]


def test_local_folders(tmp_path, monkeypatch):
    for name in ("dt=1/a.orc", "dt=1/_SUCCESS", "dt=2/b.orc", "_temporary/c.orc", ".c.orc.crc"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(DATA)
    want = [(f"{tmp_path}/{name}", len(DATA)) for name in ("dt=1/a.orc", "dt=2/b.orc")]
    for location in (tmp_path, f"{tmp_path}/", tmp_path.as_uri(), f"{tmp_path}/dt=*/*.orc", f"{tmp_path}/**/*.orc"):
        assert _native.list_files(str(location)) == want
    assert _native.list_files(f"{tmp_path}/dt=[2-9]") == want[1:]
    assert _native.list_files(f"{tmp_path}/*.none") == []
    monkeypatch.chdir(tmp_path)
    assert _native.list_files("dt=1/*") == [("dt=1/a.orc", len(DATA))]
    with pytest.raises(FileNotFoundError, match="none"):
        _native.list_files(f"{tmp_path}/none")
    with pytest.raises(ValueError, match=r"a\[b"):
        _native.list_files(f"{tmp_path}/a[b/x")


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_links_that_go_in_circles(tmp_path, monkeypatch):
    put(tmp_path, {"a/f.orc": rows(0, 1), "b/c/g.orc": rows(0, 1)})
    for name, target in (("self", "."), ("a/up", ".."), ("a/other", "../b"), ("b/c/again", "../../a"), ("gone", "no")):
        (tmp_path / name).symlink_to(target)
    for i in range(8):
        (tmp_path / f"l{i}").symlink_to(".")
    want = ["a/f.orc", "a/other/c/g.orc", "b/c/again/f.orc", "b/c/g.orc"]
    for location in (tmp_path, f"{tmp_path}/**"):
        assert [name[len(str(tmp_path)) + 1 :] for name, _ in _native.list_files(str(location))] == want
    assert orcish.scan(tmp_path).count() == 4
    monkeypatch.chdir(tmp_path)
    assert [name for name, _ in _native.list_files(".")] == [f"./{name}" for name in want]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_what_is_no_file_is_not_listed(tmp_path):
    put(tmp_path, {"f.orc": rows(0, 1)})
    os.mkfifo(tmp_path / "pipe.orc")
    (tmp_path / "null.orc").symlink_to("/dev/null")
    (tmp_path / "link.orc").symlink_to("f.orc")
    for location in (tmp_path, f"{tmp_path}/*.orc"):
        assert [os.path.basename(name) for name, _ in _native.list_files(str(location))] == ["f.orc", "link.orc"]


def test_deep_folders(tmp_path):
    deep = "/".join("d" for _ in range(100))
    put(tmp_path, {f"{deep}/f.orc": rows(0, 1)})
    assert orcish.scan(tmp_path).files == [f"{tmp_path}/{deep}/f.orc"]


@pytest.mark.skipif(os.name != "posix", reason="names cannot have all signs")
def test_names_that_look_like_patterns(tmp_path):
    files = ("f[2].orc", "f2.orc", "b[1]/g.orc", "b1/g.orc", "q?/h*.orc", "qq/hh.orc")
    put(tmp_path, {name: rows(i, 1) for i, name in enumerate(files)})
    for asked, want in (
        ("f[2].orc", [0]),
        ("f[[]2].orc", [0]),
        ("f[12].orc", [1]),
        ("b[1]", [2]),
        ("b[1]/", [2]),
        ("b[1]/*.orc", [3]),
        ("q?/h*.orc", [4]),
        ("q?", [4]),
        ("q[q]", [5]),
        ("?[?]", [4]),
    ):
        found = _native.list_files(f"{tmp_path}/{asked}")
        assert found == [(f"{tmp_path}/{files[i]}", (tmp_path / files[i]).stat().st_size) for i in want], asked
    assert orcish.scan(tmp_path / "f[2].orc").to_table()["id"].to_pylist() == [0]
    assert orcish.scan(tmp_path / "b[1]").to_table()["id"].to_pylist() == [2]


def test_folders_below_however_they_are_spelled():
    below = _native.partitions_below
    assert below("file:///t/a=1", "/t/a=1/b=2/f.orc") == [("b", "2")]
    assert below("S3://x/a=1/b=*", "s3://x/a=1/b=2/f.orc") == [("b", "2")]
    assert below("/t/a=[1]", "/t/a=[1]/b=2/f.orc") == [("b", "2")]
    assert below("/t", "/u/a=1/f.orc") == [("a", "1")]


AS_NOBODY = """
import os, sys
import orcish
import pyarrow as pa
# The modules of these names are loaded with them, by a user who may read them.
read_table, scan = orcish.read_table, orcish.scan
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for source in sys.argv[1:]:
    for call in (read_table, lambda path: scan(path).count()):
        try:
            print(call(source))
        except PermissionError as error:
            assert "k=0/part" in str(error), error
            print("refused")
"""
"""Reads tables without the rights of the owner."""


@pytest.fixture
def public_path():
    """A folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.skipif(os.name != "posix", reason="folders have other rights elsewhere")
def test_files_that_cannot_be_seen_are_errors(public_path):
    """A folder that can be listed, and whose files cannot be looked at."""
    table = public_path / "t"
    orcish.write_dataset(pa.table({"id": range(6), "k": [0, 1] * 3}), table, partition_by=["k"])
    (table / "k=0").chmod(0o644)
    sources = [table, f"{table}/k=*", table / "k=0"]
    try:
        result = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, *map(str, sources)], capture_output=True, text=True, check=True
        )
    finally:
        (table / "k=0").chmod(0o755)
    assert result.stdout.split() == ["refused"] * 6


def test_links_that_multiply_paths(tmp_path):
    """Each of some folders has links to all others."""
    for at in range(8):
        put(tmp_path / f"{at}", {"a.orc": pa.table({"id": [at]})})
    assert orcish.scan(tmp_path).count() == 8
    for at in range(8):
        for other in range(8):
            if other != at:
                (tmp_path / f"{at}" / f"to-{other}").symlink_to(tmp_path / f"{other}")
    with pytest.raises(orcish.LimitExceededError, match=r"links lead to this folder by more than 1000 paths"):
        orcish.scan(tmp_path)


@each_case("url", ["file://tmp/x", "file://host/tmp/x", "FILE://a"])
def test_urls_of_files_have_no_host(url):
    calls = [
        orcish.scan,
        orcish.read_table,
        orcish.ORCFile,
        lambda url: orcish.write_dataset(pa.table({"a": [1]}), url),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="has no host: file:///"):
            call(url)


@each_case("url", ["s3://", "gs:///", "hdfs://", "az://"])
def test_urls_without_a_bucket(url):
    for call in (lambda url: orcish.write_dataset(pa.table({"a": [1]}), url), orcish.compact, orcish.recover):
        with pytest.raises(ValueError, match="names no bucket or server"):
            call(url)
