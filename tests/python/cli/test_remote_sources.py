"""Sources of other formats than ORC on servers of HTTP, which may answer wrongly."""

from __future__ import annotations

import contextlib
import functools
import gzip
import subprocess
import threading

import fsspec
import orcish
import pyarrow as pa
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from orcish_cli.formats import places
from support.case_loops import each_case
from support.http_server import FileServer, serve
from support.processes import LIMITED_ORCISH

pytest.importorskip("aiohttp")
ENDINGS = ["parquet", "csv.gz", "jsonl"]
ONCE = "--storage-option=orcish.max_retries=0"
ROWS = pa.table({"id": range(1000), "text": [f"row {at}" for at in range(1000)]})


@pytest.fixture
def run(run):
    """Runs ``orcish convert``."""
    return functools.partial(run, "convert")


@pytest.fixture(params=ENDINGS)
def name(request):
    """The name of a file of a format."""
    return f"rows.{request.param}"


@pytest.fixture
def server(name, tmp_path, run):
    """A server with a file."""
    orcish.write_table(ROWS, tmp_path / "rows.orc")
    assert run(tmp_path / "rows.orc", tmp_path / name)[0] == 0
    with FileServer({f"/{name}": (tmp_path / name).read_bytes()}) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def short(handler, _asked):
    """Fewer bytes than were asked for, as if these were all."""
    if handler.command == "HEAD":
        return False
    data = next(iter(handler.server.files.values()))[:-3]
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes 0-{len(data) + 2}/{len(data) + 3}")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
    return True


def broken(handler, _asked):
    """A body that breaks off."""
    if handler.command == "HEAD":
        return False
    data = next(iter(handler.server.files.values()))
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes 0-{len(data) - 1}/{len(data)}")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[:-3])
    handler.close_connection = True
    return True


def status(code, handler, _asked):
    """An error."""
    handler.send_response(code)
    handler.send_header("Location", handler.path)
    handler.send_header("Content-Length", "0")
    handler.end_headers()
    return True


def shifted(header, handler, asked):
    """The range that was asked for, with a header that says another one."""
    if handler.command == "HEAD":
        return False
    data = next(iter(handler.server.files.values()))
    first, end = handler._span(asked, len(data))
    handler.send_response(206)
    if header is not None:
        handler.send_header("Content-Range", header.format(first=first, last=end - 1, size=len(data), more=end))
    handler.send_header("Content-Length", str(end - first))
    handler.end_headers()
    handler.wfile.write(data[first:end])
    return True


def endless(code, handler, _asked):
    """A body without an end."""
    if handler.command == "HEAD":
        return False
    data = next(iter(handler.server.files.values()))
    handler.send_response(code)
    handler.send_header("Content-Range", f"bytes 0-{len(data) - 1}/{len(data)}")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    with contextlib.suppress(OSError):
        for _ in range(1 << 14):
            handler.wfile.write(bytes(1 << 16))
    return True


WRONG_RANGES = {
    "start": "bytes 1-{last}/{size}",
    "end": "bytes {first}-{more}/{size}",
    "total": "bytes {first}-{last}/{size}0",
    "unit": "rows {first}-{last}/{size}",
    "nothing": None,
}


@each_case("header", [*WRONG_RANGES.values(), "bytes {first}-{last}/*"])
def test_answers_of_another_range(header, name, server, tmp_path, run):
    server.rules[:] = [functools.partial(shifted, header)]
    code, lines, err = run(f"{server.url}/{name}", tmp_path / "a.orc", ONCE)
    assert (code, lines) == (1, [])
    assert err.startswith(f"orcish: {server.url}/{name}: cannot be read: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "a.orc").exists()


@pytest.mark.parametrize("header", WRONG_RANGES)
@pytest.mark.parametrize("is_folder", [True, False], ids=["folder", "whole"])
def test_file_systems_of_fsspec_check_ranges(header, is_folder, tmp_path):
    orcish.write_table(ROWS, tmp_path / "a.orc")
    with serve({"/t/a.orc": (tmp_path / "a.orc").read_bytes()}) as server:
        http = fsspec.filesystem("http")
        system = DirFileSystem(f"{server.url}/t", http) if is_folder else http
        path = "a.orc" if is_folder else f"{server.url}/t/a.orc"
        for server.ranges in (True, False):
            assert orcish.read_table(path, filesystem=system).equals(ROWS)
        server.rules.append(functools.partial(shifted, WRONG_RANGES[header]))
        server.ranges = True
        with pytest.raises(OSError, match="the server answered with"):
            orcish.read_table(path, filesystem=system)


@pytest.mark.parametrize("command", ["convert", "json-schema"])
@pytest.mark.parametrize("ending", ["parquet", "jsonl", "arrow", "arrows", "arrow.gz"])
def test_a_page_in_place_of_a_file(ending, command, tmp_path):
    page = b"<html>login</html>"
    with serve({f"/a.{ending}": gzip.compress(page, mtime=0) if ending.endswith("gz") else page}) as server:
        name = f"{server.url}/a.{ending}"
        if ending == "arrow.gz":
            name = str(tmp_path / "a.arrow.gz")
            (tmp_path / "a.arrow.gz").write_bytes(server.files["/a.arrow.gz"])
        more = [str(tmp_path / "a.orc"), "--from", "arrow"] if command == "convert" else []
        if command == "convert" and ending != "arrow.gz":
            more = more[:1]
        given = [*LIMITED_ORCISH, command, name, *more]
        done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"orcish: {name}: ")
    assert done.stderr.count("\n") == 1
    assert "malloc" not in done.stderr
    assert "--delimiter" not in done.stderr


def test_servers_without_ranges(name, server, tmp_path, run):
    server.ranges = False
    code, lines, err = run(f"{server.url}/{name}", tmp_path / "a.orc")
    assert (code, lines) == (1, [])
    assert err.startswith(f"orcish: {server.url}/{name}: cannot be read: the server gives whole files only")
    server.ranges = True
    assert run(f"{server.url}/{name}", tmp_path / "a.orc")[0] == 0
    assert orcish.read_table(tmp_path / "a.orc").equals(ROWS)


@each_case(
    ("rule", "text"),
    [
        (short, "the server gave another number of bytes than it was asked for"),
        (broken, "end of file before message length reached"),
        (functools.partial(endless, 206), "Content-Length Header missing from response"),
        (functools.partial(endless, 200), "the server gives whole files only"),
        (functools.partial(status, 500), "500 Internal Server Error"),
        (functools.partial(status, 503), "503 Service Unavailable"),
        (functools.partial(status, 429), "429 Too Many Requests"),
        (functools.partial(status, 302), "more than 10 redirects"),
    ],
    ids=["short", "broken", "endless range", "endless file", "500", "503", "429", "redirects"],
)
def test_wrong_answers(rule, text, name, server, tmp_path, run):
    server.rules[:] = [rule]
    code, lines, err = run(f"{server.url}/{name}", tmp_path / "a.orc", ONCE)
    assert (code, lines) == (1, [])
    assert err.startswith(f"orcish: {server.url}/{name}: ")
    assert text in err
    assert err.count("\n") == 1
    assert not (tmp_path / "a.orc").exists()


VERSIONS = ("old", "new")


def versioned(datas, states, at, handler, asked):
    """A file that is replaced after some requests, and what the server says of the version of an answer."""
    number = len([None for command, _ in handler.server.log if command == "GET"])
    version = int(number > at)
    data = datas[version]
    first, end = handler._span(asked, len(data)) or (0, len(data))
    handler.send_response(206 if asked else 200)
    if asked:
        handler.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(data)}")
    handler.send_header("Accept-Ranges", "bytes")
    handler.send_header("Content-Length", str(end - first))
    handler.send_header("ETag", f'"{version}"')
    handler.send_header("Last-Modified", f"Thu, 26 Nov 2026 10:00:0{version} GMT")
    handler.end_headers()
    if handler.command != "HEAD":
        states.append(version)
        handler.wfile.write(data[first:end])
    return True


@pytest.mark.parametrize("scheme", ["http", "s3"])
@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "jsonl", "arrow", "arrows"])
def test_files_that_are_replaced_while_they_are_read(ending, scheme, tmp_path, run, monkeypatch):
    """There are the rows of one version, or an error."""
    monkeypatch.setattr(places, "READ_AHEAD", 4096)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "a")
    datas = []
    for version in VERSIONS:
        rows = pa.table({"id": [f"{at * 7919 % 10007:05}" for at in range(3000)], "version": [version] * 3000})
        orcish.write_table(rows, tmp_path / f"{version}.orc")
        plain = [] if ending.endswith("gz") else ["--compression", "none"]
        assert run(tmp_path / f"{version}.orc", tmp_path / f"{version}.{ending}", *plain)[0] == 0
        datas.append((tmp_path / f"{version}.{ending}").read_bytes())
    size = min(map(len, datas))
    if ending.endswith("gz"):
        # Zeros behind a file of gzip are none of it.
        datas = [data + bytes(max(map(len, datas)) - len(data)) for data in datas]
    assert len(datas[0]) == len(datas[1]) >= size
    path = f"/shelf/a.{ending}"
    mixed = 0
    for at in (1, 2, 3, 5, 8):
        states = []
        with serve(dict.fromkeys([path], datas[0])) as server:
            server.rules.append(functools.partial(versioned, datas, states, at))
            store = [f"--storage-option=endpoint={server.url}", "--storage-option=allow_http=true"]
            given = [f"s3:/{path}", *store] if scheme == "s3" else [f"{server.url}{path}"]
            code, _, err = run(*given, tmp_path / "a.orc")
        if code:
            mixed += 1
            assert "the file was replaced: it is another one than when it was opened" in err
            assert not (tmp_path / "a.orc").exists()
        else:
            assert len(set(orcish.read_table(tmp_path / "a.orc")["version"].to_pylist())) == 1
            (tmp_path / "a.orc").unlink()
    assert mixed, states


def odd(headers, handler, asked):
    """A file whose answers have different headers, which do not say that it is another one."""
    data = next(iter(handler.server.files.values()))
    first, end = handler._span(asked, len(data)) or (0, len(data))
    handler.send_response(206 if asked else 200)
    if asked:
        handler.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(data)}")
    handler.send_header("Content-Length", str(end - first))
    for name, value in headers(handler.command, len(handler.server.log)).items():
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(data[first:end])
    return True


ODD = {
    "weak and strong tags": lambda command, _: {"ETag": 'W/"1"' if command == "HEAD" else '"1"'},
    "weak tags": lambda _, number: {"ETag": f'W/"{number}"'},
    "a tag of HEAD": lambda command, _: {"ETag": '"1"'} if command == "HEAD" else {},
    "a tag of GET": lambda command, _: {"ETag": '"1"'} if command == "GET" else {},
    "sums of parts": lambda _, number: {"Content-MD5": f"{number}", "Digest": f"md5={number}"},
}


@each_case("says", ODD)
def test_headers_that_do_not_say_that_a_file_is_another_one(says, name, server, tmp_path, run, monkeypatch):
    monkeypatch.setattr(places, "READ_AHEAD", 1000)
    server.rules[:] = [functools.partial(odd, ODD[says])]
    assert run(f"{server.url}/{name}", tmp_path / "a.orc")[0] == 0
    assert orcish.read_table(tmp_path / "a.orc").equals(ROWS)
