"""Object stores for the tests: S3, as moto's server has it, behind a server that may fail."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import boto3  # type: ignore[import-untyped]
from moto import server as moto_server

BUCKET = "shelf"

Rule = Callable[[str, str], bool]
"""Whether a request of a method and a path fails."""


class Proxy(http.server.BaseHTTPRequestHandler):
    """Hands requests on to the server of moto, and writes them down; some fail."""

    protocol_version = "HTTP/1.1"
    # An answer that is sent in pieces waits for the client to confirm the first one.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Between

    def _hand_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.log.append((self.command, self.path, len(body)))
        self.server.keys.append(self.headers.get("Authorization", "").partition("Credential=")[2].partition("/")[0])
        if self.server.fails(self.command, self.path):
            self._answer(self.server.status, [], b"<Error><Code>InternalError</Code></Error>")
            return
        headers = {key: value for key, value in self.headers.items() if key.lower() != "host"}
        left_out = ("content-length", "transfer-encoding", "connection", "date", "server")
        # Parts that are on their way while their upload is given up are more than moto bears.
        with self.server.lock:
            connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=30)
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            data = response.read()
            connection.close()
        if self.server.loses(self.command, self.path):
            self._answer(500, [], b"<Error><Code>InternalError</Code></Error>")
            return
        if self.command == "POST" and "uploadId=" in self.path and response.status == 500:
            # Moto has no answer where S3 has this one.
            self._answer(404, [], b"<Error><Code>NoSuchUpload</Code></Error>")
            return
        sent = [h for h in response.getheaders() if h[0].lower() not in left_out]
        self._answer(response.status, sent, data, response.getheader("Content-Length"))

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _hand_on  # noqa: N815

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes, length: str | None = None) -> None:
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        # Answers to HEAD have the length of what they do not have.
        self.send_header("Content-Length", (self.command == "HEAD" and length) or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


class Between(http.server.ThreadingHTTPServer):
    """A server between orcish and moto."""

    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        super().__init__(("127.0.0.1", 0), Proxy)
        self.host, self.port, self.lock = host, port, threading.Lock()
        self.log: list[tuple[str, str, int]] = []
        self.keys: list[str] = []
        """Access keys of the requests."""
        self.fails: Rule = lambda method, path: False
        self.status = 500
        """Requests that are not handed on."""
        self.loses: Rule = lambda method, path: False
        """Requests that are, and whose answers are lost."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go away."""


class Store:
    """A bucket, reached through a server that may fail."""

    def __init__(self, between: Between, client: Any) -> None:
        self.between, self.client = between, client
        self.options: dict[str, str | int | bool] = {
            "aws_endpoint": f"http://127.0.0.1:{between.server_port}",
            "aws_access_key_id": "tester",
            "aws_secret_access_key": "hush-hush",
            "aws_region": "us-east-1",
            "aws_allow_http": True,
            "orcish.max_retries": 0,
        }

    def objects(self) -> list[str]:
        """All objects."""
        return [found["Key"] for found in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def clear(self) -> None:
        """Empties the bucket, and lets nothing fail."""
        self.between.fails = self.between.loses = lambda method, path: False
        self.between.status = 500
        for key in self.objects():
            self.client.delete_object(Bucket=BUCKET, Key=key)
        for key, upload in self.uploads():
            self.client.abort_multipart_upload(Bucket=BUCKET, Key=key, UploadId=upload)
        self.between.log.clear()
        self.between.keys.clear()

    def uploads(self) -> list[tuple[str, str]]:
        """What is on its way, in parts: keys and ids."""
        return [
            (found["Key"], found["UploadId"])
            for found in self.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
        ]

    def asked(self) -> list[str]:
        """Methods of the requests that write, and what they do to an upload."""
        found = []
        for method, path, _ in self.between.log:
            if method != "GET":
                what = [word for word in ("uploads", "partNumber", "uploadId") if word in path.partition("?")[2]]
                found.append(" ".join([method, *what[:1]]))
        self.between.log.clear()
        return found


@contextlib.contextmanager
def run_store() -> Iterator[Store]:
    """A bucket that is there as long as the block."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{host}:{port}",
        region_name="us-east-1",
        aws_access_key_id="tester",
        aws_secret_access_key="hush-hush",
    )
    client.create_bucket(Bucket=BUCKET)
    with Between(host, port) as between:
        thread = threading.Thread(target=between.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        store = Store(between, client)
        try:
            yield store
        finally:
            # All servers of moto in a process have the same buckets.
            store.clear()
            between.shutdown()
            thread.join()
            client.close()
            server.stop()
