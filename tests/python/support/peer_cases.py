"""Cases of random tests with peers: what a seed stands for, and options under which orcish writes."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from orcish import Expression

from support import predicate_oracle
from support.peer_predicates import Leaf, Tree
from support.random_tables import Draw, Table, kinds_of, moments, table_of

CODECS = ["none", "zlib", "snappy", "lz4", "zstd"]
"""Codecs that each peer has."""
ZONES = ["UTC", "UTC", "America/New_York", "Asia/Kolkata"]
ROWS = [0, 1, 1000, 1001, 2500, 4100, 4100, 5200, 7003]


def random_table(rng: random.Random, *, unions: bool = True, moment: Draw = moments) -> Table:
    kinds = kinds_of(rng, rng.choice([1, 2, 3, 6]), unions=unions, moment=moment)
    return table_of(rng, kinds, rng.choice(ROWS))


def writing(rng: random.Random, found: list[Leaf], *, zone: str) -> dict[str, Any]:
    """Options for orcish, those that cannot be together left out."""
    options: dict[str, Any] = {
        "compression": rng.choice(CODECS),
        "version": rng.choice(["0.11", "0.12", "0.12"]),
        "row_index_stride": rng.choice([0, 1000, 1001, 1003, 1006, 2047]),
        "stripe_size": rng.choice([1, 30_000, 64 << 20, 64 << 20]),
        "compression_block_size": rng.choice([1024, 4096, None]),
        "dictionary": rng.choice([True, False, None]),
        "arrow_schema": rng.random() < 0.5,
        "threads": rng.choice([1, 2]),
        "timezone": zone,
    }
    if options["version"] == "0.12" and options["row_index_stride"] and rng.random() < 0.6:
        able = [leaf.name for leaf in found if not pa.types.is_boolean(leaf.kind.arrow)]
        options["bloom_filter_columns"] = rng.sample(able, rng.randint(1, len(able)))
        options["bloom_filter_fpp"] = rng.choice([0.5, 0.01, 0.0001])
    return options


def right_rows(tree: Tree, table: pa.Table) -> list[int]:
    """Rows for which a condition is true."""
    found: list[int] = pc.indices_nonzero(predicate_oracle.keep(Expression(tree), table)).to_pylist()
    return found


def told(**more: Any) -> str:
    """What a failure says beside the seed: what it stood for."""
    return ", ".join(f"{name}={value!r}"[:2000] for name, value in more.items())
