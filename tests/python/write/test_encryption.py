"""Encrypted columns, written and read back with keys and without."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish.encryption import KeyFile
from support.case_loops import each_case
from support.encrypted_files import KEYS, random_file
from support.nested_arrays import drawn
from support.protobuf import message
from support.random_cases import random_cases

ROWS = pa.table(
    {
        "id": pa.array(range(5000)),
        "ssn": [f"{at * 7919 % 1000:03d}-{at:04d}" for at in range(5000)],
        "contact": pa.array(
            [None if at % 7 == 3 else {"email": f"a{at}@b", "age": at % 90} for at in range(5000)],
            pa.struct([("email", pa.string()), ("age", pa.int32())]),
        ),
        "tags": pa.array([[f"t{at % 5}"] * (at % 3) for at in range(5000)]),
        "marks": pa.array([[("k", at)] for at in range(5000)], pa.map_(pa.string(), pa.int64())),
        "pay": pa.array([at / 8 for at in range(5000)]),
    }
)
ENCRYPT: dict[str, Any] = {"pii": ["ssn", "contact.email"], "top": ["tags", "marks.value"]}


def write(path: pathlib.Path, table: pa.Table = ROWS, **options: Any) -> orcish.types.Written:
    options = {"encrypt": ENCRYPT, "keys": KEYS, "stripe_size": 20_000, "row_index_stride": 1000, **options}
    return orcish.write_table(table, path, **options)


@each_case("codec", ["zstd", "zlib", "snappy", "lz4", "none"])
def test_rows_are_those_that_were_written(tmp_path: pathlib.Path, codec: str) -> None:
    path = tmp_path / "t.orc"
    assert write(path, compression=codec, verify=True).stripes > 1
    assert orcish.read_table(path, keys=KEYS).equals(ROWS)
    assert orcish.ORCFile(path, keys=KEYS).check() == []


def test_readers_without_keys_see_masks(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.orc"
    write(path, mask={"contact.email": "sha256"})
    with pytest.raises(orcish.UnsupportedError, match="encrypted with keys pii@3, top@0, which are missing"):
        orcish.read_table(path)
    masked = orcish.read_table(path, masked="allow")
    assert masked.select(["id", "pay"]).equals(ROWS.select(["id", "pay"]))
    assert masked["ssn"].null_count == masked["tags"].null_count == 5000
    digests = [row and hashlib.sha256(row["email"].encode()).hexdigest().upper() for row in ROWS["contact"].to_pylist()]
    assert [row and row["email"] for row in masked["contact"].to_pylist()] == digests
    assert [row and row["age"] for row in masked["contact"].to_pylist()] == [
        row and row["age"] for row in ROWS["contact"].to_pylist()
    ]
    assert masked["marks"].to_pylist() == [[("k", None)]] * 5000
    some = orcish.read_table(path, columns=["ssn", "tags"], masked="allow", keys={("pii", 3): KEYS["pii", 3]})
    assert some["ssn"].equals(ROWS["ssn"])
    assert some["tags"].null_count == 5000


def test_statistics_of_values_and_masks_are_kept_apart(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.orc"
    write(path)
    real, masked = orcish.ORCFile(path, keys=KEYS), orcish.ORCFile(path)
    assert (real.statistics("ssn").values, masked.statistics("ssn").values) == (5000, 0)
    assert real.statistics("ssn").max == pc.max(ROWS["ssn"]).as_py()
    assert masked.statistics("ssn").max is None
    for stripe in range(real.num_stripes):
        of_stripe = real.read(stripes=[stripe])["ssn"]
        assert real.stripe_statistics("ssn")[stripe].min == pc.min(of_stripe).as_py()
    groups = real.row_groups("ssn")
    assert len(groups) == 5
    assert all(group.statistics.values == 1000 for group in groups)
    assert all(group.statistics.values == 0 for group in masked.row_groups("ssn"))


def test_bloom_filters_are_encrypted(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.orc"
    write(path, bloom_filter_columns=["ssn", "id"])
    real, masked = orcish.ORCFile(path, keys=KEYS), orcish.ORCFile(path)
    assert all(group.bloom_filter is not None for group in real.row_groups("ssn"))
    assert all(group.bloom_filter is None for group in masked.row_groups("ssn"))
    assert all(group.bloom_filter is not None for group in masked.row_groups("id"))
    scan = orcish.scan(path, keys=KEYS, filters=orcish.col("ssn") == "500-0000x")
    assert scan.count() == 0


def test_filters_are_of_values(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.orc"
    write(path)
    wanted = ROWS["ssn"][4321].as_py()
    found = orcish.read_table(path, filters=orcish.col("ssn") == wanted, keys=KEYS)
    assert found["id"].to_pylist() == [4321]
    assert orcish.read_table(path, filters=orcish.col("ssn").is_null(), keys=KEYS).num_rows == 0
    assert orcish.read_table(path, columns=["id"], filters=orcish.col("pay") < 1).num_rows == 8


def test_no_key_and_vector_is_used_twice(tmp_path: pathlib.Path) -> None:
    """Of a file, and of two files with the same rows: local keys are fresh."""
    used: set[tuple[bytes, int, int, int]] = set()
    for name in ("a.orc", "b.orc"):
        write(tmp_path / name, compression="none", bloom_filter_columns=["ssn"])
        for vector in vectors((tmp_path / name).read_bytes()):
            assert vector not in used, vector
            used.add(vector)
    assert len(used) > 50


def vectors(file: bytes) -> list[tuple[bytes, int, int, int]]:
    """The wrapped key, column, kind and stripe of everything that is encrypted in a file without compression."""
    postscript = message(file[-1 - file[-1] : -1])
    end = len(file) - 1 - file[-1]
    footer = message(file[end - postscript[1][0] : end])
    variants = [message(each) for each in message(footer[10][0])[3]]
    found, keys, id = [], [], 0
    for stripe in map(message, footer[3]):
        id, keys = stripe.get(6, [id + 1])[0], stripe.get(7) or keys
        start = stripe[1][0] + stripe[2][0] + stripe[3][0]
        for key, variant in zip(keys, message(file[start : start + stripe[4][0]])[4], strict=True):
            for stream in map(message, message(variant).get(1, [])):
                if stream[3][0]:
                    found.append((key, stream[2][0], stream.get(1, [0])[0], id))
    for variant in variants:
        found.append((variant[3][0], variant[1][0], 101, id + 1))
        found += [(variant[3][0], stream[2][0], 100, id + 1) for stream in map(message, variant[4])]
    return found


def test_nothing_of_the_values_is_in_clear(tmp_path: pathlib.Path) -> None:
    secret = [f"secret {at:06d}" for at in range(3000)]
    table = pa.table({"id": range(3000), "s": secret})
    options = {"compression": "none", "dictionary": False, "bloom_filter_columns": ["s"]}
    write(tmp_path / "t.orc", table, encrypt={"pii": "s"}, **options)
    data = (tmp_path / "t.orc").read_bytes()
    assert b"secret 00" not in data
    assert not [key for key in KEYS.values() if key in data]
    assert orcish.read_table(tmp_path / "t.orc", keys=KEYS).equals(table)


JAVA_TEXTS: list[tuple[str, Any]] = [
    ("pii:ssn,contact.email;top:tags", {"pii": ["ssn", "contact.email"], "top": ["tags"]}),
    ("pii:`ssn`", {"pii": ["ssn"]}),
    ("top:tags._elem;pii:marks._value", {"top": [("tags", "element")], "pii": [("marks", "value")]}),
]


@each_case("text, mapping", JAVA_TEXTS)
def test_texts_of_java_are_understood(tmp_path: pathlib.Path, text: str, mapping: Any) -> None:
    names = []
    for name, encrypt in (("text", text), ("mapping", mapping)):
        write(tmp_path / name, encrypt=encrypt)
        found = orcish.ORCFile(tmp_path / name).encryption
        assert found is not None
        names.append([(variant.column, variant.key) for variant in found.variants])
    assert names[0] == names[1]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"encrypt": {"pii": ["no"]}}, r"no"),
    ({"encrypt": {"pii": ["ssn"], "top": ["ssn"]}}, r"encrypt: column ssn has two keys, pii and top"),
    ({"encrypt": {"pii": ["contact", "contact.email"]}}, r"contact.email is within contact, which is encrypted"),
    ({"encrypt": {"other": ["ssn"]}}, r"there is no key other"),
    ({"encrypt": {"pii": ["ssn"]}, "keys": None}, r"encrypted with keys"),
    ({"encrypt": None}, r"encrypt says which"),
    ({"encrypt": None, "keys": None, "mask": {"ssn": "sha256"}}, r"no column is encrypted"),
    ({"mask": {"pay": "sha256"}}, r"mask: column pay is not encrypted"),
    ({"mask": {"ssn": "blur"}}, r"there is no mask blur"),
    ({"encrypt": "pii"}, r"a rule is name:column,column"),
    ({"encrypt": "pii:`ssn"}, r"a backtick is not closed"),
    ({"encrypt": "pii:a..b"}, r"a name is missing"),
]


@each_case("options, text", WRONG)
def test_wrong_options_are_told(tmp_path: pathlib.Path, options: dict[str, Any], text: str) -> None:
    with pytest.raises((ValueError, orcish.UnknownColumnError), match=text):
        write(tmp_path / "t.orc", **options)
    assert not (tmp_path / "t.orc").exists()


def test_new_files_have_the_newest_version(tmp_path: pathlib.Path) -> None:
    (tmp_path / "keys.json").write_text('{"pii@1": "' + "11" * 16 + '", "pii@12": "' + "22" * 32 + '"}')
    keys = KeyFile(tmp_path / "keys.json")
    write(tmp_path / "t.orc", encrypt={"pii": ["ssn"]}, keys=keys)
    found = orcish.ORCFile(tmp_path / "t.orc").encryption
    assert found is not None
    assert [(key.name, key.version, key.algorithm) for key in found.keys] == [("pii", 12, "AES_CTR_256")]
    assert orcish.read_table(tmp_path / "t.orc", keys=keys)["ssn"].equals(ROWS["ssn"])


def test_tables_are_written_with_keys(tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"encrypt": {"pii": ["ssn"]}, "keys": KEYS}
    orcish.write_dataset(ROWS.append_column("k", pa.array([at % 3 for at in range(5000)])), tmp_path / "t",
                         partition_by=["k"], **options)  # fmt: skip
    found = orcish.read_table(tmp_path / "t", keys=KEYS).sort_by("id")
    assert found["ssn"].combine_chunks().equals(ROWS["ssn"].combine_chunks())
    with pytest.raises(orcish.UnsupportedError, match="pii@3, which is missing"):
        orcish.read_table(tmp_path / "t")


def test_rows_of_an_empty_file(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "t.orc", ROWS.slice(0, 0))
    assert orcish.read_table(tmp_path / "t.orc", keys=KEYS).equals(ROWS.slice(0, 0))


@each_case("verb", ["merge", "compact", "delete"])
def test_verbs_that_do_not_carry_encryption_refuse(tmp_path: pathlib.Path, verb: str) -> None:
    table = tmp_path / "t"
    for _ in range(2):
        orcish.write_dataset(ROWS, table, existing_data="append", encrypt={"pii": ["ssn"]}, keys=KEYS)
    before = {path.name: path.read_bytes() for path in table.glob("*.orc")}
    verbs: dict[str, Any] = {
        "merge": lambda: orcish.merge(sorted(table.glob("*.orc")), tmp_path / "merged.orc"),
        "compact": lambda: orcish.compact(table),
        "delete": lambda: orcish.delete(table, orcish.col("id") == 1),
    }
    with pytest.raises(orcish.UnsupportedError, match="encrypted"):
        verbs[verb]()
    assert {path.name: path.read_bytes() for path in table.glob("*.orc")} == before
    assert not (tmp_path / "merged.orc").exists()


@each_case("mask", ["nullify", "sha256"])
def test_nested_types_are_encrypted(tmp_path: pathlib.Path, mask: str) -> None:
    for case, rng in random_cases(f"encrypted nesting, {mask}", 200):
        rows = rng.randrange(3, 9)
        table = pa.table({"id": range(rows), "c": drawn(rng, rows, rng.randrange(4))})
        plain, path = tmp_path / f"{case}-plain.orc", tmp_path / f"{case}.orc"
        orcish.write_table(table, plain)
        threads = rng.choice([1, 3])
        write(path, table, encrypt={"pii": ["c"]}, mask={"c": mask}, verify=rng.random() < 0.5, threads=threads)
        found, expected = orcish.read_table(path, keys=KEYS), orcish.read_table(plain)
        assert found.schema == expected.schema
        assert found.to_pylist() == expected.to_pylist()
        masked = orcish.read_table(path, masked="allow")
        masked.validate(full=True)
        assert masked["id"].equals(table["id"])
        assert mask != "nullify" or masked["c"].to_pylist() == [None] * rows


def test_random_columns_are_read_back(tmp_path: pathlib.Path) -> None:
    for case, rng in random_cases("encrypted columns", 150):
        path = tmp_path / f"{case}.orc"
        table = random_file(rng, path)
        assert orcish.read_table(path, keys=KEYS).equals(table)
        assert orcish.ORCFile(path, keys=KEYS).check() == []
        masked = orcish.read_table(path, masked="allow")
        assert masked["id"].equals(table["id"])
        assert masked.num_rows == table.num_rows
