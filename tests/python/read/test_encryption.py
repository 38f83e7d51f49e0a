"""Encrypted columns, read with keys. ORC Java has written the file with an encrypted name, masked by nulls, and an encrypted
code, masked by its digest.
"""

from __future__ import annotations

import io
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import textwrap
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.encryption import EnvironmentKeys, KeyFile
from support.case_loops import each_case

FILE = pathlib.Path(__file__).parents[2] / "data" / "masked.zstd.orc"
KEY = bytes(range(16))
KEYS = {("secret", 0): KEY}
NAMES, CODES = [f"name {at}" for at in range(10)], [f"code {at}" for at in range(10)]


def test_values_are_read_with_keys() -> None:
    table = orcish.read_table(FILE, keys=KEYS)
    assert table.to_pydict() == {"id": list(range(10)), "name": NAMES, "code": CODES}


def test_the_key_that_is_missing_is_named() -> None:
    with pytest.raises(orcish.UnsupportedError, match=r"columns name, code are encrypted with key secret@0"):
        orcish.read_table(FILE)
    with pytest.raises(orcish.UnsupportedError, match=r"column code is encrypted with key secret@0"):
        orcish.read_table(FILE, columns=["code"], keys={("secret", 1): KEY})
    assert orcish.read_table(FILE, columns=["id"]).num_rows == 10


def test_masks_are_read_without_keys_on_request() -> None:
    table = orcish.read_table(FILE, masked="allow", keys={("other", 0): KEY})
    assert table["name"].null_count == 10
    assert len(table["code"][0].as_py()) == 64


def unwrapped(name: str, version: int) -> bytes | None:
    return KEYS.get((name, version))


class Service:
    """Unwraps as ORC Java does, without the library."""

    def unwrap_local_key(self, name: str, version: int, algorithm: str, wrapped: bytes) -> bytes | None:
        if (name, version) != ("secret", 0):
            return None
        assert algorithm == "AES_CTR_128"
        code = f"openssl enc -aes-128-ctr -K {KEY.hex()} -iv {wrapped[:16].hex()} -nopad".split()
        return subprocess.run(code, input=wrapped, capture_output=True, check=True).stdout


def provider_of(kind: str, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    text = json.dumps({"secret@0": KEY.hex(), "other@3": "00" * 32})
    match kind:
        case "file":
            (folder / "keys.json").write_text(text)
            return KeyFile(folder / "keys.json")
        case "environment":
            monkeypatch.setenv("TEST_KEYS", text)
            return EnvironmentKeys("TEST_KEYS")
        case "function":
            return unwrapped
        case "service":
            if shutil.which("openssl") is None:
                pytest.skip("needs openssl")
            return Service()
        case _:
            return KEYS


PROVIDERS = ["mapping", "function", "file", "environment", "service"]


@each_case("kind", PROVIDERS)
def test_keys_come_from_any_provider(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    keys = provider_of(kind, tmp_path, monkeypatch)
    assert orcish.ORCFile(FILE, keys=keys).read(threads=4)["name"].to_pylist() == NAMES


READS: dict[str, Any] = {
    "file": lambda path: orcish.ORCFile(path, keys=KEYS).read(),
    "file object": lambda path: orcish.ORCFile(io.BytesIO(path.read_bytes()), keys=KEYS).read(),
    "bytes": lambda path: orcish.read_table(path.read_bytes(), keys=KEYS),
    "scan": lambda path: orcish.scan([path], keys=KEYS).to_table(),
    "splits": lambda path: pa.concat_tables(
        split.scan().to_table() for split in orcish.scan(path, keys=KEYS).splits(split_size=1)
    ),
    "filter": lambda path: orcish.read_table(path, filters="code >= 'code 0'", keys=KEYS),
    "tail": lambda path: orcish.ORCFile(path, tail=orcish.ORCFile(path).tail_bytes(), keys=KEYS).read(),
    "head": lambda path: orcish.head(path, 10, keys=KEYS),
    "sample": lambda path: orcish.sample(path, 10, keys=KEYS),
}


@each_case("read", READS.values(), ids=READS)
def test_every_reader_takes_keys(read: Any) -> None:
    table = read(FILE)
    rows = dict(zip(table["id"].to_pylist(), table["code"].to_pylist(), strict=True))
    assert rows == dict(enumerate(CODES))


def test_statistics_are_those_of_the_values() -> None:
    file = orcish.ORCFile(FILE, keys=KEYS)
    name, code = file.statistics("name"), file.statistics("code")
    assert (name.values, name.min, name.max) == (10, "name 0", "name 9")
    assert (code.min, code.max) == ("code 0", "code 9")
    [stripe] = file.stripe_statistics("name")
    assert (stripe.values, stripe.min) == (10, "name 0")
    assert orcish.ORCFile(FILE).statistics("name").values == 0


def test_statistics_of_values_decide_what_is_skipped() -> None:
    scan = orcish.scan(FILE, keys=KEYS)
    assert scan.where("code = 'code 3'").to_table()["id"].to_pylist() == [3]
    assert scan.where("code > 'd'").explain().bytes == 0
    assert scan.where("name is null").explain().bytes == 0
    assert scan.where("name = 'name 4'").count() == 1


def test_another_key_is_told() -> None:
    with pytest.raises(orcish.CorruptFileError, match=r"the given key secret@0 is not that of the writer"):
        orcish.read_table(FILE, keys={("secret", 0): bytes(16)})


WRONG: list[tuple[Any, type[Exception], str]] = [
    ({("secret", 0): b"short"}, ValueError, r"keys: secret@0: a key has 16 or 32 bytes, and not 5"),
    ({("secret", 0): bytes(32)}, ValueError, r"key secret@0 is of AES_CTR_128, and the given one of AES_CTR_256"),
    ({"secret": KEY}, TypeError, r"a key is named by a pair"),
    ({("secret", 0): "00" * 16}, TypeError, r"a key has to be bytes, and is a str"),
    ({("secret", 0): None}, TypeError, r"bytes"),
    ("00" * 16, TypeError, r"keys must be a mapping"),
    (lambda _name, _version: "text", TypeError, r"a key has to be bytes, and is a str"),
    (lambda _name, _version: b"short", ValueError, r"a key has 16 or 32 bytes"),
    (lambda _name, _version: 1 / 0, ZeroDivisionError, r"division"),
]


@each_case("keys, error, message", WRONG)
def test_wrong_keys_are_told(keys: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        orcish.read_table(FILE, keys=keys)


def shows_key(text: str) -> bool:
    """Whether a text has a key, in any form that Python prints bytes in."""
    forms = (KEY.hex(), repr(KEY)[2:-1], str(list(KEY))[1:-1], KEY.decode("latin-1"))
    return any(form in text for form in forms)


def test_keys_are_in_no_text(tmp_path: pathlib.Path) -> None:
    file, scan = orcish.ORCFile(FILE, keys=KEYS), orcish.scan(FILE, keys=KEYS)
    texts = [repr(file), file._repr_html_(), repr(scan), str(scan.where("code = 'x'").explain()), str(vars(file))]
    texts += [str(file.encryption), repr(file.tail_bytes()), str(scan.schema), repr(scan.splits())]
    for keys in ({("secret", 0): KEY + KEY}, {("secret", 0): KEY[:5]}, {"secret": KEY}, KEY):
        with pytest.raises((TypeError, ValueError)) as error:
            orcish.read_table(FILE, keys=keys)
        texts.append(str(error.value))
    (tmp_path / "keys.json").write_text(json.dumps({"secret": KEY.hex()}))
    with pytest.raises(ValueError, match="has no version") as error:
        orcish.read_table(FILE, keys=KeyFile(tmp_path / "keys.json"))
    texts += [str(error.value), repr(KeyFile(tmp_path / "keys.json"))]
    assert not [text for text in texts if shows_key(text)]


@pytest.mark.parametrize("opened", [orcish.ORCFile, orcish.scan], ids=["file", "scan"])
def test_keys_of_a_mapping_are_not_pickled(opened: Any) -> None:
    with pytest.raises(TypeError, match="keys of a mapping are not pickled"):
        pickle.dumps(opened(FILE, keys=KEYS))


@pytest.mark.parametrize("opened", [orcish.ORCFile, orcish.scan], ids=["file", "scan"])
@pytest.mark.parametrize("kind", ["file", "environment"])
def test_other_processes_get_keys_themselves(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, opened: Any, kind: str
) -> None:
    keys = provider_of(kind, tmp_path, monkeypatch)
    pickled = pickle.dumps(opened(FILE, keys=keys))
    assert not shows_key(pickled.decode("latin-1"))
    assert KEY not in pickled
    code = """
    import pickle, sys
    print(pickle.load(sys.stdin.buffer).to_pandas()["name"].tolist())
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], input=pickled, capture_output=True, check=True
    ).stdout
    assert found.decode().strip() == str(NAMES)
