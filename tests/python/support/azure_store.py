"""Azure for the tests: Azurite, Microsoft's emulator, from the registry of npm."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import urllib.parse
import xml.etree.ElementTree
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

from support.servers import installed, run_installer, running

VERSION = "3.35.0"
CONTAINER = "shelf"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key that every emulator has."""


def install(folder: Path) -> None:
    package = f"azurite@{VERSION}"
    run_installer(
        ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", package], timeout=240
    )


class Azurite:
    """A container of the emulator."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.options: dict[str, str | int | bool] = {
            "azure_storage_account_name": ACCOUNT,
            "azure_storage_account_key": KEY,
            "azure_endpoint": f"http://127.0.0.1:{port}/{ACCOUNT}",
            "azure_allow_http": True,
            "orcish.max_retries": 0,
        }

    def request(self, method: str, path: str, query: dict[str, str] | None = None, body: bytes = b"") -> bytes:
        """Sends a signed request."""
        query = query or {}
        path = f"/{ACCOUNT}/{CONTAINER}/{urllib.parse.quote(path)}".rstrip("/")
        sent = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
        named = [f"{name}:{value}" for name, value in sorted(sent.items()) if name.startswith("x-ms-")]
        resource = [f"/{ACCOUNT}{path}", *(f"{name}:{value}" for name, value in sorted(query.items()))]
        text = "\n".join([method, "", "", str(len(body) or ""), *[""] * 8, *named, *resource])
        signature = hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)
        sent["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(signature).decode()}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, f"{path}?{urllib.parse.urlencode(query)}", body, sent)
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        assert response.status < 300, (method, path, response.status, body)
        return body

    def listed(self, *include: str) -> list[str]:
        found: list[str] = []
        query = {"restype": "container", "comp": "list", **({"include": ",".join(include)} if include else {})}
        listing = xml.etree.ElementTree.fromstring(self.request("GET", "", query).decode("utf-8-sig"))
        found = [str(name.text) for name in listing.iterfind("Blobs/Blob/Name")]
        assert not listing.findtext("NextMarker")
        return found

    def objects(self) -> list[str]:
        """All blobs."""
        return self.listed()

    def uploads(self) -> list[str]:
        """Names of blobs that have only blocks that are not committed."""
        return sorted({*self.listed("uncommittedblobs")} - {*self.listed()})

    def lose(self, name: str) -> None:
        """Removes the blocks of a blob that are not committed, as Azure does after a week."""
        # A list of blocks removes those that are not in it.
        self.request("PUT", name, {"comp": "blocklist"}, b"<BlockList></BlockList>")
        self.request("DELETE", name)

    def clear(self) -> None:
        for name in self.objects():
            self.request("DELETE", name)
        for name in self.uploads():
            self.lose(name)


@contextlib.contextmanager
def run_azurite() -> Iterator[Azurite]:
    """An empty container, as long as the block.

    Raises:
        UnavailableError: Azurite cannot be installed.
    """
    main = installed(f"azurite-{VERSION}", install) / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"

    def command(port: int) -> list[str]:
        options = ["--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck"]
        return ["node", str(main), "--blobHost", "127.0.0.1", "--blobPort", str(port), *options]

    with running(command) as port:
        store = Azurite(port)
        store.request("PUT", "", {"restype": "container"})
        yield store
