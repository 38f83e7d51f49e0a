"""Names that servers list: a scan has those files that its folder or pattern covers, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.sax.saxutils import escape

import orcish
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from support.cpp_writers import write_arrow
from support.http_server import FileServer, serve

DATA = write_arrow(pa.table({"id": [1, 2, 3]}))
STORE = {
    "aws_allow_http": "true",
    "aws_region": "eu-central-1",
    "aws_access_key_id": "tester",
    "aws_secret_access_key": "hush-hush",
}
FILES = ["/t/a.orc", "/t/sub/b.orc", "/t2/c.orc", "/other/d.orc"]
OUTSIDE = {
    "another folder": "/other/d.orc",
    "a folder whose name begins in the same way": "/t2/c.orc",
    "another host": "http://elsewhere.example/other/d.orc",
    "a folder above": "/t/../other/d.orc",
    "encoded dots": "/t/%2e%2e/other/d.orc",
    "an encoded slash": "/t/..%2fother/d.orc",
    "the root": "/d.orc",
}


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serve(dict.fromkeys(FILES, DATA)) as found:
        yield found


def entry(href: str) -> str:
    is_folder = href.endswith("/")
    kind = "<D:collection/>" if is_folder else ""
    return (
        f"<D:response><D:href>{escape(href)}</D:href><D:propstat><D:prop>"
        "<D:getlastmodified>Thu, 26 Nov 2026 10:00:00 GMT</D:getlastmodified>"
        f"<D:getcontentlength>{len(DATA)}</D:getcontentlength><D:resourcetype>{kind}</D:resourcetype>"
        "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    )


def answer(handler: Any, status: int, body: str) -> bool:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body.encode())))
    handler.end_headers()
    handler.wfile.write(body.encode())
    return True


def webdav(hrefs: list[str]) -> Callable[[Any, Any], bool]:
    """A server whose listing of a folder has these names."""
    body = f'<D:multistatus xmlns:D="DAV:">{"".join(map(entry, hrefs))}</D:multistatus>'

    def rule(handler: Any, _: Any) -> bool:
        if handler.command != "PROPFIND":
            return False
        is_there = handler.path.rstrip("/") == "/t"
        return answer(handler, 207 if is_there else 404, body if is_there else "no")

    return rule


def s3(keys: list[str]) -> Callable[[Any, Any], bool]:
    """As :func:`webdav`, with keys of S3."""
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-26T10:00:00.000Z</LastModified><ETag>1</ETag>"
        f"<Size>{len(DATA)}</Size></Contents>"
        for key in keys
    )
    body = f"<ListBucketResult><Name>t</Name><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
    empty = "<ListBucketResult><Name>t</Name><IsTruncated>false</IsTruncated></ListBucketResult>"

    def rule(handler: Any, _: Any) -> bool:
        if "list-type=2" not in handler.path:
            return False
        return answer(handler, 200, body if "prefix=t%2F&" in f"{handler.path}&" else empty)

    return rule


@pytest.mark.parametrize("path", ["t/", "t/*.orc", "t/**/*.orc", "t/*"])
@pytest.mark.parametrize("href", OUTSIDE)
def test_names_outside_of_the_folder(server: FileServer, href: str, path: str) -> None:
    server.rules.append(webdav(["/t/", "/t/a.orc", OUTSIDE[href]]))
    with pytest.raises(OSError, match=r"cannot be listed: .*(is not in the folder|invalid path)"):
        orcish.scan(f"{server.url}/{path}")


@pytest.mark.parametrize("path", ["t/", "t/*.orc", "t/**/*.orc"])
def test_hosts_of_names(server: FileServer, path: str) -> None:
    """Servers behind others give the names of their own hosts. The files are those of the server that was asked."""
    server.rules.append(webdav(["http://inside.example/t/", "http://inside.example:8080/t/a.orc"]))
    assert orcish.scan(f"{server.url}/{path}").files == [f"{server.url}/t/a.orc"]
    assert orcish.scan(f"{server.url}/{path}").count() == 3


def test_names_below_a_folder(server: FileServer) -> None:
    """Some servers list all that is below a folder, whatever depth they are asked for."""
    server.rules.append(webdav(["/t/", "/t/a.orc", "/t/sub/", "/t/sub/b.orc"]))
    scan = orcish.scan(f"{server.url}/t/*.orc")
    assert scan.files == [f"{server.url}/t/a.orc"]
    assert len(orcish.scan(f"{server.url}/t/").files) == 2


@pytest.mark.parametrize("path", ["t/", "t/*.orc", "t/**/*.orc"])
@pytest.mark.parametrize("key", ["other/d.orc", "t2/c.orc", "d.orc"])
def test_keys_outside_of_the_prefix(server: FileServer, key: str, path: str) -> None:
    server.rules.append(s3(["t/a.orc", key]))
    with pytest.raises(OSError, match="is not in the folder"):
        orcish.scan(f"s3://bucket/{path}", storage_options={**STORE, "aws_endpoint": server.url})


@pytest.mark.parametrize("path", ["/t", "/t/*.orc", "/t/**/*.orc"])
@pytest.mark.parametrize("name", ["/other/d.orc", "/t2/c.orc", "/d.orc", "/t/../other/d.orc"])
def test_names_of_file_systems(name: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system = MemoryFileSystem()
    system.store.clear()
    for file in FILES:
        system.pipe_file(file, DATA)
    found = {each: {"name": each, "size": len(DATA), "type": "file"} for each in ("/t/a.orc", name)}
    monkeypatch.setattr(MemoryFileSystem, "find", lambda *_, **__: found)
    with pytest.raises(OSError, match="is not in the folder"):
        orcish.scan(path, filesystem=system)
