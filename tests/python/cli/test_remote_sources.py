"""Sources of other formats than ORC on servers of HTTP, which may answer wrongly."""

from __future__ import annotations

import functools
import threading

import orcish
import pyarrow as pa
import pytest
from support.http_server import FileServer

pytest.importorskip("aiohttp")
ENDINGS = ["parquet", "csv", "csv.gz", "jsonl", "arrow"]
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


@pytest.mark.parametrize("ranges", [True, False])
def test_whole_answers(ranges, name, server, tmp_path, run):
    server.ranges = ranges
    assert run(f"{server.url}/{name}", tmp_path / "a.orc")[0] == 0
    assert orcish.read_table(tmp_path / "a.orc").equals(ROWS)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (short, "the server sent"),
        (broken, "not completed"),
        (functools.partial(status, 500), "HTTP 500"),
        (functools.partial(status, 429), "HTTP 429"),
        (functools.partial(status, 302), "redirects without an end"),
    ],
    ids=["short", "broken", "500", "429", "redirects"],
)
def test_wrong_answers(rule, text, name, server, tmp_path, run):
    server.rules.append(rule)
    code, lines, err = run(f"{server.url}/{name}", tmp_path / "a.orc")
    assert (code, lines) == (1, [])
    assert err.startswith(f"orcish: {server.url}/{name}: ")
    assert text in err
    assert err.count("\n") == 1
    assert not (tmp_path / "a.orc").exists()
