"""Listing of folders and patterns, and of one file over HTTP; ``test_s3.py`` lists a bucket."""

import pytest
from orcish import _native
from servers import serve

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
