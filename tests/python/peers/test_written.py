"""Random tables that pyarrow, pyorc and Spark write under random options: orcish reads them whole, and any part of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyorc
from support.cpp_writers import write_arrow, write_rows
from support.filter_cases import Subject, check, check_scan, leaf, predicate
from support.orc_cpp import as_pyorc, check_column, rows_of, same_form
from support.peer_cases import ROWS, told
from support.random_cases import random_cases
from support.random_tables import ROW, Kind, Table, kinds_of, table_of

Spark = Any
FILTERS = 8
PEER_FAULTS = [
    # (peer, what, where it comes from)
    ("pyarrow", "writes no char and no varchar", "Arrow has no such types"),
    ("pyarrow, pyorc", "unions", "pyorc finds the variant by the value; Arrow's tags are not what it is given"),
    (
        "pyarrow",
        "nulls of nested types in nested types are elsewhere, and positions of row groups do not fit",
        "an offset of the array is left out of account; pyorc reads what orcish reads, and after seeks too",
    ),
    (
        "Spark",
        "loses entries of maps whose keys are dates: one is left, of the first key and the last value",
        "Spark itself and pyorc read the same from its files, while the data frame has all of them",
    ),
]


def random_table(rng: random.Random, **options: Any) -> Table:
    kinds = kinds_of(rng, rng.choice([1, 2, 3, 6]), unions=False, **options)
    return table_of(rng, kinds, rng.choice(ROWS))


def loses_nulls(kind: Kind) -> bool:
    """Whether pyarrow may write other nulls than there are, and another index: see PEER_FAULTS."""
    return any(pa.types.is_nested(each.arrow) or loses_nulls(each) for each in kind.inner)


def has_date_keys(kind: pa.DataType) -> bool:
    """Whether Spark may write fewer entries of a map than there are: see PEER_FAULTS."""
    is_map = pa.types.is_map(kind)
    return (is_map and pa.types.is_date(kind.key_type)) or any(
        has_date_keys(kind.field(at).type) for at in range(kind.num_fields)
    )


def check_file(rng: random.Random, table: Table, file: bytes, path: Path, *, by_pyarrow: bool = False) -> None:
    """All that is in memory, then what filters, projections, limits, stripes and splits choose of it."""
    subject = Subject(file)
    whole = subject.whole()
    whole.validate(full=True)
    order = whole[ROW].to_pylist()
    assert sorted(order) == list(range(table.rows))
    for name in table.kinds:
        want = [same_form(value) for value in table.column(name)]
        if by_pyarrow and loses_nulls(table.kinds[name]):
            want = [same_form(row[name]) for row in rows_of(file, column_names=[name])]
            order = range(table.rows)
        check_column(name, whole[name].to_pylist(), [want[row] for row in order])
    if by_pyarrow and any(map(loses_nulls, table.kinds.values())):
        return
    titles = list(subject.kinds)
    path.write_bytes(file)
    for at in range(FILTERS):
        picked = rng.choices(titles, k=rng.choice([1, 2, 4]))
        tree = predicate(rng, [leaf(rng, subject, title) for title in picked])
        check(rng, subject, tree, with_values=at % 2 == 0)
        check_scan(rng, subject, tree, path)


def test_what_pyarrow_writes(tmp_path: Path) -> None:
    for _, rng in random_cases("pyarrow writes", 20):
        table = random_table(rng)
        options = {
            "compression": rng.choice(["uncompressed", "zlib", "snappy", "lz4", "zstd"]),
            "file_version": rng.choice(["0.11", "0.12"]),
            "dictionary_key_size_threshold": rng.choice([0.0, 0.5, 1.0]),
            "batch_size": rng.choice([7, 300, 1024]),
            "stripe_size": rng.choice([1024, 30_000, 64 << 20]),
            "row_index_stride": rng.choice([100, 1000, 10_000]),
            "compression_block_size": rng.choice([65_536, 131_072]),
        }
        if rng.random() < 0.5:
            options |= {"bloom_filter_columns": list(range(1, len(table.kinds) + 1)), "bloom_filter_fpp": 0.01}
        try:
            data = table.arrow().replace_schema_metadata()
            check_file(rng, table, write_arrow(data, **options), tmp_path / "a.orc", by_pyarrow=True)
        except Exception as error:
            raise AssertionError(told(schema=table.orc, rows=table.rows, options=options)) from error


def test_what_pyorc_writes(tmp_path: Path) -> None:
    for _, rng in random_cases("pyorc writes", 15):
        table = random_table(rng)
        block = rng.choice([64, 1024, 65_536])
        options = {
            "compression": rng.choice([kind for kind in pyorc.CompressionKind if kind.name != "LZO"]),
            "compression_block_size": block,
            "memory_block_size": min(block, 1024),
            "dict_key_size_threshold": rng.choice([0.0, 0.5, 1.0]),
            "batch_size": rng.choice([7, 300, 1024]),
            "stripe_size": rng.choice([1024, 30_000, 64 << 20]),
            "row_index_stride": rng.choice([0, 100, 1000]),
        }
        if options["row_index_stride"] and rng.random() < 0.5:
            options |= {"bloom_filter_columns": list(range(1, len(table.kinds) + 1)), "bloom_filter_fpp": 0.01}
        try:
            columns = {name: [as_pyorc(value) for value in table.column(name)] for name in table.kinds}
            rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            file = write_rows(table.orc, rows, struct_repr=pyorc.StructRepr.DICT, **options)
            check_file(rng, table, file, tmp_path / "a.orc")
        except Exception as error:
            raise AssertionError(told(schema=table.orc, rows=table.rows, options=options)) from error


def test_what_spark_writes(spark: Spark, tmp_path: Path) -> None:
    """Spark writes a data frame as several files with the same options."""
    for case, rng in random_cases("spark writes", 1):
        kinds = kinds_of(rng, 15, unions=False)
        table = table_of(rng, {name: kind for name, kind in kinds.items() if not has_date_keys(kind.arrow)}, 6100)
        frame = spark.createDataFrame(table.arrow().replace_schema_metadata()).cache()
        simple = [name for name, kind in table.kinds.items() if not kind.inner and not pa.types.is_boolean(kind.arrow)]
        for at in range(4):
            options = {
                "orc.compress": rng.choice(["none", "zlib", "snappy", "lz4", "zstd"]),
                "orc.row.index.stride": rng.choice([1000, 1003, 10_000]),
                "orc.create.index": str(rng.random() < 0.8).lower(),
                "orc.stripe.row.count": rng.choice([1000, 2048, 10**6]),
                "orc.dictionary.key.threshold": rng.choice([0, 0.5, 1]),
                "orc.compress.size": rng.choice([1024, 262_144]),
                "orc.bloom.filter.columns": ",".join(rng.sample(simple, rng.randint(0, len(simple)))),
                "orc.bloom.filter.fpp": rng.choice([0.5, 0.01]),
                "orc.write.format": rng.choice(["0.11", "0.12"]),
            }
            folder = tmp_path / f"{case}_{at}"
            frame.coalesce(1).write.options(**{key: str(value) for key, value in options.items()}).orc(str(folder))
            (part,) = folder.glob("part-*.orc")
            try:
                check_file(rng, table, part.read_bytes(), tmp_path / "a.orc")
            except Exception as error:
                raise AssertionError(told(at=at, schema=table.orc, options=options)) from error
        frame.unpersist()
