"""Random tables that orcish writes are what Spark reads, with filters pushed down to statistics and bloom filters."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from support.orc_cpp import check_column, same_form
from support.peer_cases import right_rows, told, writing
from support.peer_predicates import Leaf, asked, conditions, finite, for_spark, leaves, name_of
from support.random_cases import random_cases
from support.random_tables import ROW, Table, far_moments, kinds_of, moments, table_of
from support.writer_tables import written

Spark = Any
VECTORIZED = "spark.sql.orc.enableVectorizedReader"
FILES, QUERIES = 6, 8

PEER_FAULTS = [
    # (peer, what, where it comes from)
    (
        "Java",
        "files without compression where a row group that is read has no values",
        "'Seek in column … is outside of the data', in files of Java's own too",
    ),
    ("Spark", "uniontype", "Spark has no such type"),
    ("Spark", "whether a field of a struct is null", "see peer_filters.condition"),
]
"""What peers are known to do wrong, or not to do."""


class Files:
    """Files of one schema, each written under options of its own, in folders that Spark takes for a column."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.folder = folder
        zones = rng.choice([["UTC"], ["UTC", "America/New_York", "Asia/Kolkata"]])
        moment = moments if zones == ["UTC"] else far_moments
        kinds = kinds_of(rng, 18, unions=False, moment=moment)
        self.tables: list[Table] = []
        self.options: list[dict[str, Any]] = []
        for case in range(FILES):
            table = table_of(rng, kinds, rng.choice([1, 999, 1001, 2500, 3100]))
            options = writing(rng, list(leaves(table)), zone=rng.choice(zones))
            if options["compression"] == "none" and options["row_index_stride"]:
                options["compression"] = "zlib"
            path = folder / f"case={case}" / "part.orc"
            path.parent.mkdir(parents=True)
            path.write_bytes(written(table.arrow(), **options))
            self.tables.append(table)
            self.options.append(options)
        self.judged = [without_nan(table.arrow()) for table in self.tables]
        self.columns = [
            {name: [same_form(value) for value in table.column(name)] for name in kinds} for table in self.tables
        ]
        self.schema = self.tables[0].orc

    def leaves(self, rng: random.Random) -> dict[str, Leaf]:
        """Columns to ask about, with the values of one of the files."""
        return {leaf.name: leaf for leaf in leaves(rng.choice(self.tables))}


def without_nan(table: pa.Table) -> pa.Table:
    """The table as Spark compares: NaN is more than all numbers."""
    arrays = [unbounded(column.combine_chunks()) for column in table.columns]
    return pa.table(arrays, names=table.column_names)


def unbounded(array: pa.Array) -> pa.Array:
    if pa.types.is_floating(array.type):
        return pc.if_else(pc.is_nan(array), pa.scalar(math.inf, array.type), array)
    if pa.types.is_struct(array.type):
        parts = [unbounded(array.field(at)) for at in range(array.type.num_fields)]
        names = [field.name for field in array.type]
        return pa.StructArray.from_arrays(parts, names=names, mask=array.is_null())
    return array


@contextlib.contextmanager
def reading(spark: Spark, *, vectorized: bool) -> Iterator[None]:
    """Spark reads by one of its two readers."""
    spark.conf.set(VECTORIZED, str(vectorized).lower())
    try:
        yield
    finally:
        spark.conf.unset(VECTORIZED)


def by_case(found: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    cases = found["case"].combine_chunks()
    for case in range(FILES):
        yield case, found.filter(pc.equal(cases, case))


def test_spark_reads_what_orcish_writes(spark: Spark, tmp_path: Path) -> None:
    """Both readers of Spark read the files whole and with predicates."""
    for case, rng in random_cases("spark reads", 1):
        files = Files(rng, tmp_path / str(case))
        frame = spark.read.orc(str(files.folder))
        for vectorized in (True, False):
            says = told(schema=files.schema, options=files.options, vectorized=vectorized)
            with reading(spark, vectorized=vectorized):
                try:
                    check_whole(files, frame.toArrow())
                except Exception as error:
                    raise AssertionError(says) from error
        for at in range(QUERIES):
            check_query(spark, rng, files, frame, vectorized=at % 3 != 0)


def check_whole(files: Files, found: pa.Table) -> None:
    for case, part in by_case(found):
        for name, want in files.columns[case].items():
            check_column(f"{name} of {case}", part[name].to_pylist(), want)


def check_query(spark: Spark, rng: random.Random, files: Files, frame: Any, *, vectorized: bool) -> None:
    by_name = files.leaves(rng)
    tree = conditions(rng, list(by_name.values()))
    while not finite(tree):
        tree = conditions(rng, list(by_name.values()))
    where = for_spark(tree, by_name)
    beside = rng.sample(list(files.columns[0]), 3)
    names = [*dict.fromkeys([ROW, *(name_of(each).partition(".")[0] for each in asked(tree)), *beside])]
    with reading(spark, vectorized=vectorized):
        case = -1
        try:
            for case, part in by_case(frame.where(where).select("case", *names).toArrow()):
                want = right_rows(tree, files.judged[case])
                got = part[ROW].to_pylist()
                assert got == want, f"missing {sorted({*want} - {*got})[:5]}, extra {sorted({*got} - {*want})[:5]}"
                for name in names:
                    values = files.columns[case][name]
                    check_column(name, part[name].to_pylist(), [values[row] for row in want])
        except Exception as error:
            options = files.options[case] if case >= 0 else files.options
            says = told(schema=files.schema, case=case, options=options, where=where, vectorized=vectorized)
            raise AssertionError(says) from error
