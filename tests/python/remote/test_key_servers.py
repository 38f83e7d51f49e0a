"""Keys of Hadoop's key management server."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.encryption import HadoopKMS, KMSError
from support.case_loops import each_case
from support.certificates import Authority, encrypted
from support.key_servers import KEY, KeyServer, hangs, key_server, replies, status

FILE = pathlib.Path(__file__).parents[2] / "data" / "masked.zstd.orc"
NAMES = [f"name {at}" for at in range(10)]


def test_local_keys_are_unwrapped_once() -> None:
    with key_server() as server:
        kms = HadoopKMS(server.url, user="etl")
        for _ in range(2):
            assert orcish.read_table(FILE, keys=kms)["name"].to_pylist() == NAMES
        assert len(server.paths) == 2, "one for each encrypted column"
        assert all("/kms/v1/keyversion/secret%400/_eek?eek_op=decrypt&user.name=etl" in path for path in server.paths)
        assert server.cookies == [None, 'hadoop.auth="u=etl&t=simple"']


def test_files_are_written_with_keys_of_a_server(tmp_path: pathlib.Path) -> None:
    table = pa.table({"id": range(10), "s": NAMES})
    with key_server({"pii@0": bytes(16), "pii@4": bytes(range(32))}) as server:
        kms = HadoopKMS(server.url)
        orcish.write_table(table, tmp_path / "t.orc", encrypt={"pii": ["s"]}, keys=kms)
        found = orcish.ORCFile(tmp_path / "t.orc").encryption
        assert found is not None
        assert [(key.name, key.version, key.algorithm) for key in found.keys] == [("pii", 4, "AES_CTR_256")]
        assert orcish.read_table(tmp_path / "t.orc", keys=HadoopKMS(server.url)).equals(table)
        with pytest.raises(KMSError, match="404 no key"):
            orcish.write_table(table, tmp_path / "u.orc", encrypt={"other": ["s"]}, keys=kms)


def test_a_denied_key_is_a_missing_one() -> None:
    with key_server({}) as server:
        kms = HadoopKMS(server.url)
        with pytest.raises(orcish.UnsupportedError, match="encrypted with key secret@0, which is missing"):
            orcish.read_table(FILE, keys=kms)
        assert orcish.read_table(FILE, keys=kms, masked="allow")["name"].null_count == 10


@each_case("fault", [status(500), status(503), hangs, replies(b"{}x"), replies(b"x" * (2 << 20))])
def test_a_server_that_fails_is_asked_again(fault: Any) -> None:
    with key_server() as server:
        server.faults = [fault]
        kms = HadoopKMS(server.url, timeout=0.5)
        assert orcish.read_table(FILE, columns=["name"], keys=kms)["name"].to_pylist() == NAMES


FAULTS: list[tuple[Any, str]] = [
    (status(401, "who are you"), r"401 who are you"),
    (status(500, "out of order"), r"500 out of order"),
    (hangs, r"timed out"),
    (replies({"material": "!!"}), r"its reply for key secret@0 has no key"),
    (replies({}), r"has no key"),
    (replies([]), r"has no key"),
]


@each_case("fault, message", FAULTS)
def test_what_a_server_fails_with_is_told(fault: Any, message: str) -> None:
    with key_server() as server:
        server.faults = [fault] * 3
        with pytest.raises(KMSError, match=message):
            orcish.read_table(FILE, keys=HadoopKMS(server.url, timeout=0.3))


def test_a_wrong_local_key_is_told() -> None:
    with key_server({"secret@0": bytes(16)}) as server:
        with pytest.raises(orcish.CorruptFileError, match="the given key secret@0 is not that of the writer"):
            orcish.read_table(FILE, keys=HadoopKMS(server.url))
        server.faults = [replies({"material": "AAAA"})]
        with pytest.raises(ValueError, match="a key has 16 or 32 bytes, and not 3"):
            orcish.read_table(FILE, keys=HadoopKMS(server.url))


def test_another_host_is_asked_where_one_cannot_be_reached() -> None:
    with key_server() as server, key_server() as stopped:
        stopped.server_close()
        kms = HadoopKMS(f"kms://http@localhost;127.0.0.1:{server.server_port}/kms")
        assert orcish.read_table(FILE, keys=kms).num_rows == 10
        with pytest.raises(KMSError, match="refused"):
            orcish.read_table(FILE, keys=HadoopKMS(stopped.url, tries=2))


def test_certificates_are_checked(tmp_path: pathlib.Path) -> None:
    authority, server = Authority(tmp_path), KeyServer({"secret@0": KEY})
    with encrypted(server, authority.context("localhost")):
        url = f"kms://https@localhost:{server.server_port}/kms"
        kms = HadoopKMS(url, ca_file=str(authority.path))
        assert orcish.read_table(FILE, keys=kms)["name"].to_pylist() == NAMES
        with pytest.raises(KMSError, match="CERTIFICATE_VERIFY_FAILED"):
            orcish.read_table(FILE, keys=HadoopKMS(url, tries=1))


def test_a_pickle_has_no_key() -> None:
    with key_server() as server:
        kms = HadoopKMS(server.url, user="etl")
        orcish.read_table(FILE, keys=kms)
        local = {bytes(key) for key in vars(kms)["_local_keys"].values()}
        pickled = pickle.dumps(orcish.ORCFile(FILE, keys=kms))
        assert len(local) == 2
        assert not [key for key in (*local, KEY) if key in pickled]
        assert pickle.loads(pickled).read()["name"].to_pylist() == NAMES


@each_case("url", ["kms", "kms://host/kms", "ftp://host", "https://", "https://user:pw@host/kms", "kms://https@"])
def test_wrong_urls_are_told(url: str) -> None:
    with pytest.raises(ValueError, match="is no key management server"):
        HadoopKMS(url)
