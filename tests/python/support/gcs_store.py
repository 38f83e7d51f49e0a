"""Google Cloud Storage for the tests: fake-gcs-server, from the proxy of Go's modules, behind an XML API.

orcish writes through the XML API. fake-gcs-server has of that API what reads, lists and deletes. It refuses PUT, and it
knows neither ``x-goog-if-generation-match`` nor multipart uploads. The server in this file stands before it: a PUT becomes
an upload of the JSON API, which has the condition. Multipart uploads are kept here, by the documentation of Google, and
become one upload of the JSON API when they are completed.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import threading
import urllib.parse
import uuid
import xml.etree.ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.servers import installed, run_installer, running

VERSION = "v1.56.1"
BUCKET = "shelf"
META = "x-goog-meta-"
NOT_SENT_ON = ("content-length", "transfer-encoding", "connection", "date", "server")


def install(folder: Path) -> None:
    # A newer toolchain of Go is not fetched.
    environment = {"GOBIN": str(folder), "GOTOOLCHAIN": "local"}
    package = f"github.com/fsouza/fake-gcs-server@{VERSION}"
    run_installer(["go", "install", package], timeout=600, environment=environment)


class Upload:
    """A multipart upload."""

    def __init__(self, key: str, headers: dict[str, str]) -> None:
        self.key, self.headers = key, headers
        self.parts: dict[int, tuple[str, bytes]] = {}


class XmlApi(http.server.BaseHTTPRequestHandler):
    """Writes of the XML API."""

    protocol_version = "HTTP/1.1"
    # An answer that is sent in pieces waits for the client to confirm the first one.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Gcs

    def do_GET(self) -> None:
        self._hand_on(self.path)

    do_HEAD = do_GET  # noqa: N815

    def do_DELETE(self) -> None:
        _, _, query = self._asked()
        if "uploadId" not in query:
            self._hand_on(self.path)
        elif self.server.pending.pop(query["uploadId"], None) is None:
            self._no_upload()
        else:
            self._answer(204)

    def do_PUT(self) -> None:
        body = self._body()
        bucket, key, query = self._asked()
        if "uploadId" not in query:
            self._put(bucket, key, body, self._kept_headers())
            return
        upload = self.server.pending.get(query["uploadId"])
        if upload is None or upload.key != key:
            self._no_upload()
            return
        tag = f'"{uuid.uuid4().hex}"'
        upload.parts[int(query["partNumber"])] = (tag, body)
        self._answer(200, headers={"ETag": tag})

    def do_POST(self) -> None:
        body = self._body().decode()
        bucket, key, query = self._asked()
        if "uploads" in query:
            id = uuid.uuid4().hex
            self.server.pending[id] = Upload(key, self._kept_headers())
            self._answer(200, self._xml("InitiateMultipartUploadResult", Bucket=bucket, Key=key, UploadId=id))
            return
        upload = self.server.pending.get(query["uploadId"])
        if upload is None or upload.key != key:
            self._no_upload()
            return
        named = [
            (int(part.findtext("{*}PartNumber") or 0), part.findtext("{*}ETag"))
            for part in xml.etree.ElementTree.fromstring(body).iterfind("{*}Part")
        ]
        parts = [upload.parts.get(number) for number, _ in named]
        if not parts or any(part is None or part[0] != tag for part, (_, tag) in zip(parts, named, strict=True)):
            self._answer(400, self._xml("Error", Code="InvalidPart", Message="A part is missing."))
            return
        # Of two requests one completes the upload.
        if self.server.pending.pop(query["uploadId"], None) is None:
            self._no_upload()
            return
        content = b"".join(part[1] for part in parts if part is not None)
        answer = self._xml("CompleteMultipartUploadResult", Bucket=bucket, Key=key, ETag='"1"')
        self._put(bucket, key, content, upload.headers, answer)

    def _put(self, bucket: str, key: str, body: bytes, headers: dict[str, str], answer: bytes = b"") -> None:
        query = {"uploadType": "media", "name": key}
        if "x-goog-if-generation-match" in headers:
            query["ifGenerationMatch"] = headers["x-goog-if-generation-match"]
        path = f"/upload/storage/v1/b/{bucket}/o?{urllib.parse.urlencode(query)}"
        status, _, data = self.server.ask("POST", path, headers, body)
        if status >= 300:
            self._answer(status, data)
            return
        found = json.loads(data)
        etag, generation = json.dumps(found["etag"]), str(found["generation"])
        self._answer(200, answer, {"ETag": etag, "x-goog-generation": generation})

    def _asked(self) -> tuple[str, str, dict[str, str]]:
        parts = urllib.parse.urlsplit(self.path)
        bucket, _, key = parts.path[1:].partition("/")
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        return bucket, urllib.parse.unquote(key), query

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _kept_headers(self) -> dict[str, str]:
        kept = ("content-type", "x-goog-if-generation-match")
        sent = {name.lower(): value for name, value in self.headers.items()}
        return {name: value for name, value in sent.items() if name in kept or name.startswith(META)}

    def _hand_on(self, path: str) -> None:
        sent = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        status, headers, data = self.server.ask(self.command, path, sent, b"")
        length = headers.get("Content-Length")
        headers = {name: value for name, value in headers.items() if name.lower() not in NOT_SENT_ON}
        self._answer(status, data, headers, length)

    def _no_upload(self) -> None:
        self._answer(404, self._xml("Error", Code="NoSuchUpload", Message="The requested upload was not found."))

    def _xml(self, name: str, **fields: str) -> bytes:
        inside = "".join(f"<{field}>{value.replace('&', '&amp;')}</{field}>" for field, value in fields.items())
        return f"<?xml version='1.0' encoding='UTF-8'?><{name}>{inside}</{name}>".encode()

    def _answer(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None, length: str | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        # The answer to HEAD has the length of the object.
        self.send_header("Content-Length", (self.command == "HEAD" and length) or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


class Gcs(http.server.ThreadingHTTPServer):
    """A bucket, with the XML API."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), XmlApi)
        self.behind = port
        self.pending: dict[str, Upload] = {}
        # The account of a service names the server, and whether tokens are asked for.
        url = f"http://127.0.0.1:{self.server_port}"
        account = {"gcs_base_url": url, "disable_oauth": True, "client_email": "", "private_key": ""}
        self.options: dict[str, str | int | bool] = {
            "google_service_account_key": json.dumps({**account, "private_key_id": ""}),
            "orcish.max_retries": 0,
        }

    def ask(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer of fake-gcs-server."""
        connection = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=30)
        try:
            # Other hosts are buckets to it.
            connection.request(method, path, body, {"Host": "storage.googleapis.com", **(headers or {})})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def objects(self) -> list[str]:
        """All objects."""
        _, _, data = self.ask("GET", f"/storage/v1/b/{BUCKET}/o?maxResults=10000")
        found = json.loads(data)
        assert "nextPageToken" not in found
        return [item["name"] for item in found.get("items", [])]

    def uploads(self) -> list[str]:
        """Names of multipart uploads that are not completed."""
        return sorted(upload.key for upload in self.pending.values())

    def lose(self, name: str) -> None:
        """Removes the multipart uploads of a name, as a rule of the bucket does."""
        for id in [id for id, upload in self.pending.items() if upload.key == name]:
            del self.pending[id]

    def clear(self) -> None:
        for name in self.objects():
            self.ask("DELETE", f"/storage/v1/b/{BUCKET}/o/{urllib.parse.quote(name, safe='')}")
        self.pending.clear()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go away."""


@contextlib.contextmanager
def run_gcs() -> Iterator[Gcs]:
    """An empty bucket, as long as the block.

    Raises:
        UnavailableError: fake-gcs-server cannot be installed.
    """
    binary = installed(f"fake-gcs-server-{VERSION}", install) / "fake-gcs-server"

    def command(port: int) -> list[str]:
        options = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
        return [str(binary), *options, "-backend", "memory", "-log-level", "error"]

    with running(command) as port, Gcs(port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            status, _, data = server.ask(
                "POST", "/storage/v1/b?project=tests", {"content-type": "application/json"}, b'{"name": "shelf"}'
            )
            assert status == 200, data
            yield server
        finally:
            server.shutdown()
            thread.join()
