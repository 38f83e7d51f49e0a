"""HTTPS with the certificate of an authority that the system does not know."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pytest
from orcish import _native
from orcish.tables.commit import Job
from support.certificates import Authority, encrypted
from support.cpp_writers import write_arrow
from support.http_server import FileServer, serve
from support.processes import run_python
from support.s3_store import BUCKET, Between, Store
from support.staged_commits import staged

TABLE = pa.table({"a": range(300_000), "noise": np.random.default_rng(1).integers(0, 2**63, 300_000)})
FILES = {"/t/a.orc": write_arrow(TABLE)}
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def trust(authority: Authority) -> dict[str, str]:
    return {"orcish.ca_certificate": str(authority.path)}


@pytest.fixture
def server(authority: Authority) -> Iterator[FileServer]:
    server = FileServer(FILES)
    with encrypted(server, authority.context(HOST, "localhost")) as clients:
        server.clients = clients
        yield server


def url_of(server: FileServer, host: str = HOST) -> str:
    return f"https://{host}:{server.server_port}/t/a.orc"


def refused(url: str, **options: Any) -> str:
    """The error of a server whose certificate is not accepted, which comes at once."""
    start = time.monotonic()
    with pytest.raises(OSError, match=r"the certificate of the server .* is not accepted") as raised:
        orcish.read_table(url, storage_options=options)
    # Ten repetitions would take seconds.
    assert time.monotonic() - start < 1
    assert str(raised.value).startswith(f"{url}: cannot be read: ")
    return str(raised.value)


def test_trust(server: FileServer, trust: dict[str, str]) -> None:
    file = orcish.ORCFile(url_of(server), storage_options=trust)
    assert file.read(columns=["a"]).equals(TABLE.select(["a"]))
    log, sent = server.take()
    assert all(asked is not None for _, asked in log), "only ranges were asked for"
    assert sent < len(FILES["/t/a.orc"]) / 2
    assert orcish.scan(url_of(server, "localhost"), storage_options=trust).to_table().equals(TABLE)
    assert orcish.read_table(url_of(server), storage_options={**trust, "disable_system_certificates": True}) == TABLE


def test_a_file_of_several_authorities(server: FileServer, authority: Authority, tmp_path: Path) -> None:
    other, bundle = Authority(tmp_path, "other"), tmp_path / "bundle.pem"
    bundle.write_bytes(b"# comment\n" + other.path.read_bytes() + authority.path.read_bytes())
    for path, is_trusted in ((bundle, True), (other.path, False)):
        options = {"orcish.ca_certificate": str(path)}
        if is_trusted:
            assert orcish.ORCFile(url_of(server), storage_options=options).num_rows == len(TABLE)
        else:
            refused(url_of(server), **options)


def test_no_trust(server: FileServer) -> None:
    """Nothing is repeated, and the message has the host, the reason and the remedy."""
    text = refused(url_of(server))
    assert "the certificate of the server 127.0.0.1 is not accepted: invalid peer certificate: UnknownIssuer" in text
    assert text.endswith("; the storage option orcish.ca_certificate names a file of authorities to trust")
    assert (len(server.clients), server.log) == (1, [])
    with pytest.raises(OSError, match="is not accepted"):
        orcish.scan(url_of(server)).to_table()
    options = {"allow_invalid_certificates": True}
    assert orcish.ORCFile(url_of(server), storage_options=options).num_rows == len(TABLE)


def test_certificates_that_are_not_valid(authority: Authority, trust: dict[str, str]) -> None:
    cases: list[tuple[list[str], dt.timedelta, str]] = [
        (["example.org"], dt.timedelta(days=1), "not valid for name"),
        ([HOST], dt.timedelta(days=-1), "expired"),
    ]
    for hosts, valid, reason in cases:
        server = FileServer(FILES)
        with encrypted(server, authority.context(*hosts, valid=valid)):
            text = refused(url_of(server), **trust)
            assert reason in text
            assert "ca_certificate" not in text


def test_a_server_without_encryption(trust: dict[str, str]) -> None:
    with serve(FILES) as server, pytest.raises(OSError, match="cannot be read"):
        orcish.read_table(url_of(server), storage_options={**trust, "orcish.max_retries": 1})
    assert server.log == []


def test_redirects(server: FileServer, authority: Authority, trust: dict[str, str], tmp_path: Path) -> None:
    """Another server has to be trusted, too, and is not told the headers. Encryption is not given up."""
    options = {**trust, "header.x-secret": "hush"}
    first = FileServer({})
    target = url_of(server, "localhost")
    first.rules.append(lambda handler, _: handler.redirect(307, target))
    with encrypted(first, authority.context(HOST)):
        assert orcish.read_table(url_of(first), storage_options=options).equals(TABLE)
        assert all("x-secret" in headers for headers in first.headers)
        assert not any("x-secret" in headers for headers in server.headers)
        unknown = FileServer(FILES)
        with encrypted(unknown, Authority(tmp_path).context("localhost")):
            target = url_of(unknown, "localhost")
            assert "the certificate of the server localhost is not accepted" in refused(url_of(first), **options)
        with serve(FILES) as plain:
            target = f"{plain.url}/t/a.orc"
            with pytest.raises(ValueError, match="`allow_http`"):
                orcish.read_table(url_of(first), storage_options={**options, "orcish.max_retries": 0})
            assert plain.log == []


def test_certificates_of_the_environment(server: FileServer, authority: Authority) -> None:
    """The files of the system can be other ones, as with other software."""
    code = """
        import sys, orcish
        for options in ({}, {"disable_system_certificates": "true"}):
            try:
                print(orcish.ORCFile(sys.argv[1], storage_options=options).num_rows)
            except OSError as error:
                print("not accepted" in str(error))
    """
    before = os.environ.get("SSL_CERT_FILE")
    os.environ["SSL_CERT_FILE"] = str(authority.path)
    try:
        assert run_python(code, url_of(server)).split() == [str(len(TABLE)), "True"]
    finally:
        del os.environ["SSL_CERT_FILE"]
        if before is not None:
            os.environ["SSL_CERT_FILE"] = before


def test_files_that_are_no_certificates(server: FileServer, tmp_path: Path) -> None:
    def read(path: Path) -> None:
        orcish.ORCFile(url_of(server), storage_options={"orcish.ca_certificate": str(path)})

    with pytest.raises(FileNotFoundError, match=r"none\.pem: the file of orcish\.ca_certificate cannot be read"):
        read(tmp_path / "none.pem")
    path = tmp_path / "x.pem"
    for data, message in (
        (b"", "has no certificate in the PEM format"),
        (b"\xff\x00", "has no certificate in the PEM format"),
        (b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "has a certificate that is none"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "has a certificate that is none"),
    ):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=rf"x\.pem: the file of orcish\.ca_certificate {message}"):
            read(path)
    with pytest.raises(ValueError, match=r'orcish\.ca_certificat"; nearest: orcish\.ca_certificate'):
        orcish.ORCFile(url_of(server), storage_options={"orcish.ca_certificat": "x"})


def test_s3(store: Store, authority: Authority, trust: dict[str, str]) -> None:
    """Stores have the same certificates: reads, listings, writes, staged files and commits."""
    between = Between(store.between.host, store.between.port)
    with encrypted(between, authority.context(HOST)) as clients:
        options = {**store.options, "aws_endpoint": f"https://{HOST}:{between.server_port}", "aws_allow_http": False}
        url = f"s3://{BUCKET}/t"
        default = {name: value for name, value in options.items() if name != "orcish.max_retries"}
        start = time.monotonic()
        for call in (
            lambda: orcish.write_table(TABLE, f"{url}/a.orc", storage_options=default),
            lambda: orcish.read_table(f"{url}/a.orc", storage_options=default),
            lambda: _native.list_files(url, default),
            lambda: orcish.recover(url, storage_options=default),
        ):
            with pytest.raises(OSError, match=r"the certificate of the server 127\.0\.0\.1 is not accepted"):
                call()
        assert time.monotonic() - start < 4
        assert (store.objects(), store.uploads(), between.log) == ([], [], [])
        assert len(clients) <= 8
        trusted = {**options, **trust}
        orcish.write_table(TABLE, f"{url}/a.orc", storage_options=trusted)
        job = Job(url, trusted)
        job.commit([staged(job, [1, 2])], "overwrite", everything=True)
        assert orcish.read_table(url, storage_options=trusted)["id"].to_pylist() == [1, 2]
        assert store.uploads() == []
