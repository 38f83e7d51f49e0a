"""Random files with encrypted columns, and the keys of them."""

from __future__ import annotations

import pathlib
import random
from typing import Any

import orcish
import pyarrow as pa

KEYS = {("pii", 0): b"old key of pii  ", ("pii", 3): bytes(range(16)), ("top", 0): bytes(range(32))}


def values(rng: random.Random, kind: pa.DataType, rows: int) -> pa.Array:
    makers: dict[Any, Any] = {
        pa.int64(): lambda: rng.randrange(-(10**9), 10**9),
        pa.string(): lambda: "".join(rng.choices("abcé€", k=rng.randrange(9))),
        pa.binary(): lambda: rng.randbytes(rng.randrange(9)),
        pa.float64(): lambda: rng.randrange(999) / 8,
        pa.bool_(): lambda: rng.random() < 0.5,
        pa.list_(pa.string()): lambda: rng.choices("abc", k=rng.randrange(4)),
        pa.struct([("x", pa.int32()), ("y", pa.string())]): lambda: {"x": rng.randrange(9), "y": rng.choice("pq")},
        pa.map_(pa.string(), pa.int64()): lambda: [
            (key, rng.randrange(9)) for key in rng.sample("abc", rng.randrange(3))
        ],
    }
    return pa.array([None if rng.random() < 0.2 else makers[kind]() for _ in range(rows)], kind)


KINDS: list[tuple[pa.DataType, list[str]]] = [
    *((kind, [""]) for kind in (pa.int64(), pa.string(), pa.binary(), pa.float64(), pa.bool_())),
    (pa.list_(pa.string()), ["", ".element"]),
    (pa.struct([("x", pa.int32()), ("y", pa.string())]), ["", ".x", ".y"]),
    (pa.map_(pa.string(), pa.int64()), ["", ".key", ".value"]),
]


def random_file(rng: random.Random, path: pathlib.Path) -> pa.Table:
    """Writes random columns, of which some are encrypted."""
    rows = rng.choice([0, 1, 50, 2500])
    chosen = [rng.choice(KINDS) for _ in range(rng.randrange(1, 5))]
    table = pa.table({"id": pa.array(range(rows), pa.int64()),
                      **{f"c{at}": values(rng, kind, rows) for at, (kind, _) in enumerate(chosen)}})  # fmt: skip
    encrypt: dict[str, list[str]] = {}
    for at, (_, steps) in enumerate(chosen):
        encrypt.setdefault(rng.choice(["pii", "top"]), []).append(f"c{at}{rng.choice(steps)}")
    columns = [column for columns in encrypt.values() for column in columns]
    orcish.write_table(
        table,
        path,
        encrypt=encrypt,
        keys=KEYS,
        mask={column: rng.choice(["nullify", "sha256"]) for column in columns},
        compression=rng.choice(["zstd", "zlib", "snappy", "none"]),
        stripe_size=rng.choice([5000, 1 << 20]),
        row_index_stride=rng.choice([0, 1000, 1500]),
        version=rng.choice(["0.11", "0.12"]),
    )
    return table
