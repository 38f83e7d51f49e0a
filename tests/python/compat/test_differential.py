"""Random tables are the same for ``pyarrow.orc`` and its replacement, whoever writes them and whoever reads them."""

from __future__ import annotations

import io
import random
import warnings
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
from orcish.compat import pyarrow_orc
from support.peer_cases import random_table, told
from support.random_cases import random_cases
from support.table_differences import different_columns

ORCS = [pyarrow.orc, pyarrow_orc]


def options(rng: random.Random, columns: int) -> dict[str, Any]:
    """Options for writing."""
    return {
        "file_version": rng.choice(["0.11", "0.12", "0.12"]),
        "batch_size": rng.choice([1, 100, 1024]),
        "stripe_size": rng.choice([1, 30_000, 64 << 20]),
        "compression": rng.choice(["uncompressed", "zlib", "snappy", "lz4", "zstd"]),
        "compression_block_size": rng.choice([1 << 16, 1 << 17]),
        "compression_strategy": rng.choice(["speed", "compression"]),
        "row_index_stride": rng.choice([1000, 1001, 10_000]),
        "dictionary_key_size_threshold": rng.choice([0, 0.5, 1]),
        "bloom_filter_columns": rng.choice([None, rng.sample(range(columns), rng.randint(1, columns))]),
    }


def written(orc: Any, table: pa.Table, **chosen: Any) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pyarrow_orc.IgnoredOptionWarning)
        orc.write_table(table, file, **chosen)
    return file.getvalue()


def selection(rng: random.Random, file: Any) -> list[Any]:
    """Names of some columns, fields of structs included, or their indexes."""
    tops = file.schema.names
    if rng.random() < 0.4:
        return rng.sample(range(len(tops)), rng.randint(1, len(tops)))
    # pyarrow ends the process for parts of maps.
    fields = [
        f"{field.name}.{child.name}" for field in file.schema if pa.types.is_struct(field.type) for child in field.type
    ]
    return rng.sample([*tops, *fields], rng.randint(1, len(tops)))


def test_both_read_the_same() -> None:
    for _, rng in random_cases("replacement of pyarrow.orc", 60):
        writer = rng.choice(ORCS)
        # pyarrow ends the process for some unions.
        table = random_table(rng, unions=writer is pyarrow_orc).arrow()
        chosen = options(rng, len(orcish.ORCFile(written(pyarrow_orc, table)).column_paths))
        columns: Any = None
        try:
            data = written(writer, table, **chosen)
            theirs, ours = (orc.ORCFile(pa.BufferReader(data)) for orc in ORCS)
            assert ours.schema.equals(theirs.schema)
            assert not different_columns(theirs.read(), ours.read())
            for _ in range(4):
                columns = selection(rng, ours)
                assert not different_columns(theirs.read(columns), ours.read(columns))
            for stripe in range(min(ours.nstripes, 3)):
                one, other = theirs.read_stripe(stripe, columns), ours.read_stripe(stripe, columns)
                assert not different_columns(one, other)
                other.validate(full=True)
        except Exception as error:
            raise AssertionError(
                told(schema=table.schema, writer=writer.__name__, columns=columns, **chosen)
            ) from error
