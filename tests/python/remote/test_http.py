"""Files of HTTP servers: how many requests they take, and how they fail."""

import gzip
import json
import time
import urllib.request

import fsspec
import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.cpp_writers import write_arrow
from support.http_server import Crowd, serve
from support.orc_layout import layout

SMALL = pa.table({"a": [(i * 2654435761) % 2**40 for i in range(20_000)], "s": [f"text {i}" for i in range(20_000)]})
SMALL_DATA = write_arrow(SMALL)
ROWS = 400_000
WIDE = pa.table({f"c{c}": pa.array([(i * 2654435761 + c * 97) % 2**40 for i in range(ROWS)]) for c in range(6)})
WIDE_DATA = write_arrow(WIDE, stripe_size=8 << 20, compression="uncompressed")
FEW = {"orcish.max_retries": 0}


@pytest.fixture
def server():
    with serve({"/t/small ü.orc": SMALL_DATA, "/t/wide.orc": WIDE_DATA}) as server:
        yield server


def test_a_small_file_takes_two_requests(server):
    """A request reads the tail, and another one all data."""
    file = orcish.ORCFile(f"{server.url}/t/small%20%C3%BC.orc")
    assert server.take() == ([("GET", "bytes=-65536")], 65536)
    assert file.file_length == len(SMALL_DATA) > 65536
    assert file.read(columns=["s"]).equals(SMALL.select(["s"]))
    assert file.read().equals(SMALL)
    assert file.stripe_statistics("s")[0].max == "text 9999"
    assert server.take() == ([("GET", f"bytes=0-{len(SMALL_DATA) - 65536 - 1}")], len(SMALL_DATA) - 65536)


def test_the_tail_takes_one_request(server):
    file = orcish.ORCFile(f"{server.url}/t/wide.orc")
    assert server.take() == ([("GET", "bytes=-65536")], 65536)
    assert file.num_rows == ROWS
    assert orcish.ORCFile(f"{server.url}/t/wide.orc", tail=file.tail_bytes()).num_rows == ROWS
    assert server.take() == ([], 0)


def test_a_tail_that_is_longer_than_the_first_read(server):
    file = orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options={"orcish.first_read": 100})
    log, sent = server.take()
    tail = file._file.properties["tail_length"]
    assert log == [("GET", "bytes=-100"), ("GET", f"bytes={len(WIDE_DATA) - tail}-{len(WIDE_DATA) - 1}")]
    assert sent == 100 + tail


@pytest.mark.parametrize("threads", [1, 4])
def test_two_columns(server, threads):
    """Each stripe takes a request for its footer, and one for each column: the columns are farther apart than the gap."""
    file = orcish.ORCFile(f"{server.url}/t/wide.orc")
    server.take()
    assert file.read(columns=["c1", "c4"], threads=threads).equals(WIDE.select(["c1", "c4"]))
    log, sent = server.take()
    found = layout(WIDE_DATA)
    wanted = found.data_ranges({2, 5}) + found.stripe_footers
    needed = sum(map(len, wanted))
    assert file.num_stripes > 1
    assert len(log) <= 3 * file.num_stripes
    assert needed - 65536 <= sent <= needed
    spans = {tuple(map(int, asked.removeprefix("bytes=").split("-"))) for _, asked in log}
    for first, last in spans:
        assert any(r.start <= first for r in wanted)
        assert last < len(WIDE_DATA) - 65536 or any(r.start <= first <= r.stop for r in wanted)


def test_gaps_are_read_where_that_is_wanted(server):
    """With a larger gap, one request for each stripe fetches both columns."""
    read = {}
    for gap in (0, 6 << 20):
        options = {"orcish.coalesce_gap": gap, "orcish.part_size": 64 << 20, "orcish.first_read": 2000}
        file = orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options=options)
        server.take()
        assert file.read(columns=["c0", "c5"]).equals(WIDE.select(["c0", "c5"]))
        read[gap] = server.take()
    # The footer of the last stripe came with the tail.
    assert len(read[0][0]) == 3 * file.num_stripes - 1
    assert len(read[6 << 20][0]) == 2 * file.num_stripes - 1
    assert read[0][1] < read[6 << 20][1] <= len(WIDE_DATA)


def test_long_ranges_are_read_in_parts_side_by_side(server):
    options = {"orcish.part_size": 500_000, "orcish.concurrency": 4, "orcish.coalesce_gap": 0}
    crowd = Crowd()
    server.rules.append(crowd)
    file = orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options=options)
    server.take()
    assert file.read(threads=1).equals(WIDE)
    log, sent = server.take()
    assert len(log) >= len(WIDE_DATA) // 500_000
    assert all(end - start < 500_000 for start, end in (map(int, a[6:].split("-")) for _, a in log))
    assert sent <= len(WIDE_DATA)
    assert 1 < crowd.most <= 4


def test_servers_without_suffixes():
    with serve({"/t.orc": WIDE_DATA}, suffixes=False) as server:
        file = orcish.ORCFile(f"{server.url}/t.orc")
        assert [asked for asked, _ in server.log] == ["GET", "HEAD", "GET"]
        assert file.read(columns=["c1"]).equals(WIDE.select(["c1"]))


@pytest.mark.parametrize("suffixes", [True, False])
def test_servers_that_refuse_what_they_do_not_know(suffixes):
    def rule(handler, asked):
        if asked and asked.startswith("bytes=-") and not suffixes:
            handler.send_error(416)
            return True
        return False

    with serve({"/t.orc": SMALL_DATA, "/empty.orc": b""}) as server:
        server.rules.append(rule)
        assert orcish.read_table(f"{server.url}/t.orc").equals(SMALL)
        with pytest.raises(orcish.CorruptFileError, match=r"empty\.orc.*0 bytes"):
            orcish.ORCFile(f"{server.url}/empty.orc")


def test_servers_without_ranges():
    with serve({"/t.orc": SMALL_DATA}, ranges=False) as server:
        with pytest.raises(OSError, match=r"t\.orc: .*whole files only"):
            orcish.ORCFile(f"{server.url}/t.orc")
        # What the message says.
        with urllib.request.urlopen(f"{server.url}/t.orc") as response:
            assert orcish.read_table(response.read()).equals(SMALL)


def test_missing_files(server):
    for path in ("none.orc", "t/none.orc"):
        with pytest.raises(FileNotFoundError, match=rf"{server.url}/{path}"):
            orcish.read_table(f"{server.url}/{path}")


@pytest.mark.parametrize(("status", "error"), [(403, PermissionError), (401, PermissionError), (500, OSError)])
def test_statuses(server, status, error):
    server.rules.append(lambda handler, asked: handler.send_error(status) or True)
    with pytest.raises(error, match=r"wide\.orc"):
        orcish.read_table(f"{server.url}/t/wide.orc", storage_options=FEW)


def test_passing_faults_are_tried_again(server):
    def rule(handler, asked):
        failed = len(server.log) <= 2
        if failed:
            handler.send_error(503)
        return failed

    server.rules.append(rule)
    assert orcish.ORCFile(f"{server.url}/t/wide.orc").num_rows == ROWS
    assert len(server.log) == 3


def test_servers_that_are_not_there():
    with serve({}) as server:
        url = server.url
    with pytest.raises(OSError, match=rf"{url}/t\.orc: .*(refused|connect)"):
        orcish.read_table(f"{url}/t.orc", storage_options=FEW)


def test_servers_that_do_not_answer(server):
    server.rules.append(lambda handler, asked: time.sleep(2))
    with pytest.raises(TimeoutError, match=r"wide\.orc"):
        orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options={**FEW, "timeout": "200ms"})


@pytest.mark.parametrize("threads", [1, 2])
def test_a_line_that_breaks_in_the_middle(server, threads):
    file = orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options=FEW)

    def rule(handler, asked):
        handler.send_response(206)
        first, last = map(int, asked[6:].split("-"))
        handler.send_header("Content-Range", f"bytes {first}-{last}/{len(WIDE_DATA)}")
        handler.send_header("Content-Length", str(last + 1 - first))
        handler.end_headers()
        handler.wfile.write(WIDE_DATA[first : (first + last) // 2])
        handler.wfile.flush()
        handler.close_connection = True
        return True

    server.rules.append(rule)
    with pytest.raises(OSError, match=rf"{server.url}/t/wide\.orc: stripe 0: cannot be read"):
        file.read(threads=threads)
    server.rules.clear()
    assert file.read(threads=threads).equals(WIDE)


def test_a_file_that_changes_is_not_mixed_with_the_new_one():
    with serve({"/t.orc": WIDE_DATA}, etags=True) as server:
        file = orcish.ORCFile(f"{server.url}/t.orc")
        server.rules.append(
            lambda handler, asked: handler.headers.get("If-Match") and (handler.send_error(412) or True)
        )
        with pytest.raises(OSError, match="another one than when it was opened"):
            file.read()
        assert orcish.ORCFile(f"{server.url}/t.orc").num_rows == ROWS


def test_secrets_are_not_shown(server):
    """Credentials and queries of URLs are sent, and are not part of messages."""
    host = server.url.removeprefix("http://")
    url = f"http://me:pass%20word@{host}/t/wide.orc?token=hidden&x=1"
    file = orcish.ORCFile(url)
    assert repr(file) == f"<orcish.ORCFile {server.url}/t/wide.orc: {ROWS} rows, {file.num_stripes} stripes>"
    assert server.headers[-1]["Authorization"] == "Basic bWU6cGFzcyB3b3Jk"
    paths = []
    server.rules.append(lambda handler, asked: paths.append(handler.path) or handler.send_error(500) or True)
    with pytest.raises(OSError, match=r"wide\.orc") as error:
        orcish.ORCFile(url, storage_options=FEW)
    assert paths == ["/t/wide.orc?token=hidden&x=1"]
    assert "hidden" not in str(error.value)
    assert "pass" not in str(error.value)
    with pytest.raises(ValueError, match="credentials") as error:
        orcish.ORCFile("s3://key:secret@bucket/t.orc")
    assert "secret" not in str(error.value)


def test_headers(server):
    options = {"header.authorization": "Bearer abc", "user_agent": "tests"}
    orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options=options)
    assert server.headers[-1]["Authorization"] == "Bearer abc"
    assert server.headers[-1]["User-Agent"] == "tests"


SECRETS = {
    "header.authorization": "Bearer hidden",
    "header.cookie": "session=hidden",
    "header.private-token": "hidden",
    "header.x-amz-security-token": "hidden",
    "header.x-api-key": "hidden",
}


def headers_of(server):
    return [{name.lower(): value for name, value in headers.items()} for headers in server.headers]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("first", [1, 2])
def test_redirects_to_another_origin_take_no_secrets(status, first):
    """Redirects at the first request, and during a read, take no secrets along."""
    with serve({"/t.orc": SMALL_DATA}, etags=True) as origin, serve({"/u.orc": SMALL_DATA}, etags=True) as other:
        target = f"{other.url}/u.orc?signature=theirs"
        origin.rules.append(lambda handler, _: len(origin.log) >= first and handler.redirect(status, target))
        url = f"{origin.url}/t.orc?signature=hidden"
        assert orcish.read_table(url, storage_options=SECRETS).equals(SMALL)
    assert len(origin.log) == 2
    for headers in headers_of(origin):
        assert {name.removeprefix("header."): value for name, value in SECRETS.items()}.items() <= headers.items()
    found = headers_of(other)
    assert len(found) == 3 - first
    for headers in found:
        assert headers.keys() <= {"accept", "host", "if-match", "range", "user-agent"}
        assert headers["range"].startswith("bytes=")
        assert "hidden" not in str(headers)
    # It is the same file all the time.
    assert found[-1]["if-match"] == f'"{hash(SMALL_DATA)}"'


def test_redirects_within_an_origin_take_all_headers():
    with serve({"/t.orc": SMALL_DATA}) as server:
        server.rules.append(lambda handler, _: handler.path != "/t.orc" and handler.redirect(302, "/t.orc"))
        assert orcish.read_table(f"{server.url}/s.orc?signature=hidden", storage_options=SECRETS).equals(SMALL)
        assert len(server.headers) == 4
        for headers in headers_of(server):
            assert headers["x-api-key"] == "hidden"
            assert "referer" not in headers


def test_secrets_do_not_come_back():
    """Requests that return from another origin take no secrets: the other origin has chosen the path."""
    with serve({"/t.orc": SMALL_DATA}) as origin, serve({}) as other:
        origin.rules.append(lambda handler, _: handler.path == "/s.orc" and handler.redirect(302, f"{other.url}/x"))
        other.rules.append(lambda handler, _: handler.redirect(302, f"{origin.url}/t.orc"))
        assert orcish.read_table(f"{origin.url}/s.orc", storage_options=SECRETS).equals(SMALL)
        assert ["x-api-key" in headers for headers in headers_of(origin)] == [True, False, True, False]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/t.orc", "more than 10 redirects"),
        ("file:///etc/passwd", "no URL of HTTP"),
        ("ftp://me:hidden@host/t.orc", "no URL of HTTP"),
        ("http://[", "no URL of HTTP"),
    ],
)
def test_redirects_that_lead_nowhere(target, message):
    with serve({}) as server:
        server.rules.append(lambda handler, _: handler.redirect(302, target))
        with pytest.raises(OSError, match=message) as error:
            orcish.ORCFile(f"{server.url}/t.orc", storage_options=FEW)
    assert "hidden" not in str(error.value)


def cloud(server):
    return {
        "aws_endpoint": server.url,
        "aws_allow_http": "true",
        "aws_region": "eu-central-1",
        "aws_access_key_id": "hidden",
        "aws_secret_access_key": "hidden",
        "aws_session_token": "hidden",
        **FEW,
    }


def test_redirects_of_stores_take_no_secrets():
    """A redirect of a store to a public address, as to another region, takes no secrets along."""
    with serve({}) as origin, serve({"/bucket/t.orc": SMALL_DATA}) as other:
        origin.rules.append(lambda handler, _: handler.redirect(307, other.url + handler.path))
        assert orcish.read_table("s3://bucket/t.orc", storage_options=cloud(origin)).equals(SMALL)
    assert {"authorization", "x-amz-security-token"} <= headers_of(origin)[0].keys()
    found = headers_of(other)
    assert found
    for headers in found:
        assert headers.keys() <= {"accept", "host", "range", "user-agent"}


def test_data_is_not_sent_to_another_origin():
    with serve({}) as origin, serve({}) as other:
        origin.rules.append(lambda handler, _: handler.redirect(307, other.url + handler.path))
        with pytest.raises(OSError, match=r"another origin, at 127\.0\.0\.1: only reads are sent there"):
            orcish.write_table(SMALL, "s3://bucket/new.orc", storage_options=cloud(origin))
    # Whether a target is there is a read.
    assert {method for method, _ in other.log} <= {"HEAD"}


def test_errors_without_end(server):
    """A bounded part of the body of an error is read."""
    chunk = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
    sent = []

    def say_much(handler, _):
        handler.send_response(500)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.close_connection = True
        for _ in range(300):
            handler.wfile.write(chunk)
            sent.append(len(chunk))

    server.rules.append(say_much)
    with pytest.raises(OSError, match=r"500.*x{100,}…") as error:
        orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options=FEW)
    assert len(str(error.value)) < 2000
    assert sum(sent) < 64 << 20


def is_list(handler):
    return handler.command == "PROPFIND" or "list-type=2" in handler.path


def flood(server, start, part, length=None, of=lambda _: True):
    """Has the server answer without an end, in ``sent`` parts; with no ``length`` in chunks. It has no other files."""
    sent = []

    def rule(handler, asked):
        if not of(handler):
            handler.send_error(404)
            return True
        handler.close_connection = True
        start(handler, asked)
        if length is None:
            handler.send_header("Transfer-Encoding", "chunked")
        else:
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        chunk = part if length is not None else b"%x\r\n%b\r\n" % (len(part), part)
        # The client goes away.
        for _ in range((2 << 30) // len(part)):
            handler.wfile.write(chunk)
            sent.append(len(part))
        return True

    server.rules.append(rule)
    return sent


def test_a_tail_without_end(server):
    """The response claims the requested length, and continues beyond it."""

    def start(handler, asked):
        assert asked == "bytes=-65536"
        size = len(WIDE_DATA)
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {size - 65536}-{size - 1}/{size}")

    sent = flood(server, start, bytes(1 << 20), 1 << 40)
    with pytest.raises(OSError, match=r"wide\.orc: cannot be read: .*another number of bytes than it was asked for"):
        orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options=FEW)
    assert sum(sent) < 64 << 20


ENTRY = b"<D:response><D:href>/d/x.orc</D:href></D:response>" * 20_000


@pytest.mark.parametrize("length", [1 << 40, 1 << 63, None])
@pytest.mark.parametrize("store", ["http", "s3", "upload"])
def test_answers_without_end(server, store, length):
    """Responses to listings and uploads are bounded. The claimed length is not allocated."""
    of = is_list if store != "upload" else lambda handler: handler.command == "POST"
    status = 207 if store == "http" else 200
    sent = flood(server, lambda handler, _: handler.send_response(status), ENTRY, length, of)
    rows = pa.table({"a": pa.array([bytes(1000)] * 20_000)})
    plain = {"compression": "none", "stripe_size": 1 << 20, "dictionary": False}
    calls = {
        "http": lambda: orcish.scan(f"{server.url}/d/", storage_options=FEW),
        "s3": lambda: orcish.scan("s3://bucket/d/", storage_options=cloud(server)),
        "upload": lambda: orcish.write_table(rows, "s3://bucket/x.orc", storage_options=cloud(server), **plain),
    }
    with pytest.raises(OSError, match=r"cannot be (listed|written): .*the answer of the server is longer than"):
        calls[store]()
    # What is known to be too long is not waited for, but of GET, which may be for a file.
    assert sum(sent) < (64 << 20 if length and store != "s3" else 512 << 20)


@pytest.mark.parametrize("delimiter", [False, True])
@pytest.mark.parametrize("progress", ["files", "nothing"])
def test_lists_that_go_round(server, progress, delimiter):
    """A listing whose pages form a cycle is an error."""
    pages = []

    def rule(handler, _):
        if not is_list(handler):
            handler.send_error(404)
            return True
        pages.append(handler.path)
        key = f"d/{len(pages)}.orc" if progress == "files" else "d/1.orc"
        token = "same" if progress == "files" else len(pages)
        body = f"""<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>
            <NextContinuationToken>{token}</NextContinuationToken><Contents><Key>{key}</Key>
            <LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"1"</ETag><Size>10</Size></Contents>
            </ListBucketResult>""".encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        return True

    server.rules.append(rule)
    with pytest.raises(OSError, match=r"cannot be listed: .*(was there before|the files of the page before)"):
        orcish.scan("s3://bucket/d/*.orc" if delimiter else "s3://bucket/d/", storage_options=cloud(server))
    assert len(pages) == 2
    assert all(("delimiter" in path) == delimiter for path in pages)


@pytest.mark.parametrize("suffixes", [True, False])
def test_encodings_are_named(suffixes):
    """An unsupported content encoding is an error with its name. A file that is not encoded in spite of the header is
    read.
    """
    files = {"/t.orc": SMALL_DATA, "/t.gz": gzip.compress(SMALL_DATA), "/other": bytes(1000)}
    with serve(files, suffixes=suffixes) as server:
        server.rules.append(lambda handler, _: setattr(handler, "encoding", "gzip"))
        assert orcish.read_table(f"{server.url}/t.orc").equals(SMALL)
        for name in ("t.gz", "other"):
            with pytest.raises(
                orcish.CorruptFileError, match=rf"{name}: .* \(the server gives it in .* encoding gzip, "
            ):
                orcish.ORCFile(f"{server.url}/{name}")
        server.rules[:] = [lambda handler, _: setattr(handler, "encoding", None)]
        with pytest.raises(orcish.CorruptFileError) as error:
            orcish.ORCFile(f"{server.url}/t.gz")
        assert "encoding" not in str(error.value)


@pytest.mark.parametrize("length", [1 << 40, 5])
def test_a_status_counts_without_its_body(server, length):
    """The status is reported if the body is truncated or not UTF-8."""

    def say_little(handler, _):
        handler.send_response(404)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(b"caf\xe9\xff")
        handler.close_connection = True
        return True

    server.rules.append(say_little)
    with pytest.raises(FileNotFoundError):
        orcish.ORCFile(f"{server.url}/t/wide.orc", storage_options=FEW)


def test_options_of_the_client(server):
    url = f"{server.url}/t/wide.orc"
    options = {
        "timeout": "1m",
        "connect_timeout": "5 seconds",
        "read_timeout": "20s",
        "pool_idle_timeout": "10s",
        "pool_max_idle_per_host": "3",
        "http2_keep_alive_interval": "10s",
        "http2_keep_alive_timeout": "10s",
        "http2_keep_alive_while_idle": "yes",
        "http2_max_frame_size": "65536",
        "http1_only": "on",
        "http2_only": "0",
        "randomize_addresses": "true",
        "allow_invalid_certificates": "n",
        "proxy_url": "http://127.0.0.1:9",
        "proxy_excludes": "127.0.0.1",
    }
    assert orcish.ORCFile(url, storage_options=options).num_rows == ROWS
    for name in options.keys() - {"proxy_url", "proxy_excludes"}:
        with pytest.raises(OSError, match="failed to parse"):
            orcish.ORCFile(url, storage_options={**options, name: "much"})
    with pytest.raises(OSError, match=r"wide\.orc"):
        orcish.ORCFile(url, storage_options={**FEW, "proxy_url": "http://127.0.0.1:9"})


def test_hosts_by_name(server):
    """Names of hosts are resolved."""
    url = server.url.replace("127.0.0.1", "localhost")
    assert orcish.ORCFile(f"{url}/t/wide.orc", storage_options=FEW).num_rows == ROWS
    with pytest.raises(OSError, match=r"t\.orc"):
        orcish.ORCFile("http://none.invalid/t.orc", storage_options=FEW)


def test_wrong_storage_options(server):
    url = f"{server.url}/t/wide.orc"
    for options in ({"speed": "1"}, {"orcish.speed": 1}, {"orcish.part_size": "many"}, {"header.": "x"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            orcish.ORCFile(url, storage_options=options)
    with pytest.raises(TypeError, match="timeout"):
        orcish.ORCFile(url, storage_options={"timeout": None})
    # Paths have no use for them.
    with pytest.raises(FileNotFoundError):
        orcish.ORCFile("none.orc", storage_options={"speed": "1"})


def test_local_urls(tmp_path):
    path = tmp_path / "a b.orc"
    path.write_bytes(SMALL_DATA)
    assert orcish.read_table(path.as_uri()).equals(SMALL)
    assert orcish.read_table(f"file:{tmp_path}/a%20b.orc").equals(SMALL)
    with pytest.raises(FileNotFoundError, match=r"none\.orc"):
        orcish.read_table("file:///nowhere/none.orc")


def test_other_schemes_are_for_fsspec():
    with pytest.raises(orcish.UnsupportedError, match="hftp is known to neither orcish nor fsspec"):
        orcish.ORCFile("hftp://host/t.orc")


@pytest.mark.filterwarnings("ignore")
def test_fsspec_over_http(server):
    with fsspec.open(f"{server.url}/t/wide.orc", "rb", block_size=1 << 20) as file:
        assert orcish.read_table(file, columns=["c2"]).equals(WIDE.select(["c2"]))


def test_the_command_line(server, capsys):
    assert main(["meta", "--json", f"{server.url}/t/wide.orc"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == ROWS
    assert main(["meta", "hftp://a/b", f"{server.url}/none.orc"]) == 1
    out, err = capsys.readouterr()
    assert not out
    assert "fsspec" in err
    assert "none.orc" in err


def test_connections_are_used_again(server):
    ports = set()
    server.rules.append(lambda handler, asked: ports.add(handler.client_address))
    for _ in range(20):
        orcish.ORCFile(f"{server.url}/t/wide.orc")
    assert len(ports) <= 2
