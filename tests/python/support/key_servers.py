"""A key management server with the REST interface of Hadoop's, on this machine."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

KEY = bytes(range(16))


def unwrapped(master: bytes, wrapped: bytes) -> bytes:
    """The local key that a master key has wrapped."""
    return Cipher(algorithms.AES(master), modes.CTR(wrapped[:16])).decryptor().update(wrapped)


class KeyServer(http.server.ThreadingHTTPServer):
    """Has keys by name and version, and writes down its requests."""

    daemon_threads = True

    def __init__(self, keys: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.keys = keys
        self.paths: list[str] = []
        self.cookies: list[str | None] = []
        self.faults: list[Callable[[_Requests], bool]] = []
        """Each is called for one request, and returns whether it has replied."""

    @property
    def url(self) -> str:
        return f"kms://http@127.0.0.1:{self.server_port}/kms"


class _Requests(http.server.BaseHTTPRequestHandler):
    server: KeyServer

    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, status: int, content: Any) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", 'hadoop.auth="u=etl&t=simple"; Path=/; HttpOnly')
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status: int, message: str) -> None:
        self.reply(status, {"RemoteException": {"message": message, "exception": "IOException"}})

    def do_GET(self) -> None:
        parts = urllib.parse.urlsplit(self.path)
        name = urllib.parse.unquote(parts.path.split("/")[-2])
        versions = {
            int(each.rpartition("@")[2]): key for each, key in self.server.keys.items() if each.startswith(name)
        }
        if not versions or not parts.path.endswith("/_metadata"):
            self.refuse(404, "no key")
            return
        bits = 8 * len(versions[max(versions)])
        self.reply(200, {"name": name, "cipher": "AES/CTR/NoPadding", "length": bits, "versions": max(versions) + 1})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.paths.append(self.path)
        self.server.cookies.append(self.headers["Cookie"])
        if self.server.faults and self.server.faults.pop(0)(self):
            return
        parts = urllib.parse.urlsplit(self.path)
        name = urllib.parse.unquote(parts.path.split("/")[-2])
        given = json.loads(body)
        if not parts.path.endswith("/_eek") or "eek_op=decrypt" not in parts.query:
            self.refuse(404, "no such request")
        elif (key := self.server.keys.get(name)) is None:
            self.refuse(403, "the user may not use the key")
        else:
            vector = bytes(byte ^ 0xFF for byte in base64.b64decode(given["iv"]))
            wrapped = base64.b64decode(given["material"])
            assert wrapped.startswith(vector)
            local = base64.urlsafe_b64encode(unwrapped(key, wrapped)).decode().rstrip("=")
            self.reply(200, {"name": "EK", "versionName": "EK", "material": local})


def hangs(_: _Requests) -> bool:
    """Replies nothing for some time."""
    time.sleep(2)
    return True


def status(code: int, message: str = "out of order") -> Callable[[_Requests], bool]:
    """Refuses with a status."""

    def refused(requests: _Requests) -> bool:
        requests.refuse(code, message)
        return True

    return refused


def replies(content: Any) -> Callable[[_Requests], bool]:
    """Gives any reply in place of a key."""

    def replied(requests: _Requests) -> bool:
        requests.reply(200, content)
        return True

    return replied


@contextlib.contextmanager
def key_server(keys: dict[str, bytes] | None = None) -> Iterator[KeyServer]:
    """A server with the key ``secret@0``, or with others."""
    with KeyServer({"secret@0": KEY} if keys is None else keys) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
