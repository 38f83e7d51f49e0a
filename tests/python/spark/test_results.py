"""What functions of users give: their columns are matched with the schema by name."""

from __future__ import annotations

import datetime
import decimal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish.spark.results import ResultSchema
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import types as T  # noqa: N812 - as everybody calls it
from support.case_loops import each_case

Spark = Any

# Workers do not have this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def two(tmp_path: Path) -> str:
    orcish.write_table(pa.table({"id": [0, 1, 2], "k": [0, 10, 20]}), tmp_path / "two.orc")
    return str(tmp_path / "two.orc")


def same(parts: Iterator[Any]) -> Iterator[Any]:
    return parts


@each_case("way", [osp.map_batches, osp.map_pandas], ids=lambda way: way.__name__)
def test_columns_are_matched_by_name(spark: Spark, two: str, way: Any) -> None:
    rows = way(spark, two, same, "k bigint, id bigint").collect()
    assert sorted(map(tuple, rows)) == [(0, 0), (10, 1), (20, 2)]
    with pytest.raises(PySparkException, match=r"(?i)(column x|missing: x)"):
        way(spark, two, same, "id bigint, k bigint, x bigint").collect()


def test_columns_that_the_schema_does_not_have(spark: Spark, two: str) -> None:
    with pytest.raises(PySparkException, match="column k is given by the function and not in the schema"):
        osp.map_batches(spark, two, same, "id bigint").collect()
    # As in Spark's own function.
    assert osp.map_pandas(spark, two, same, "id bigint").count() == 3


def test_types_are_cast_where_values_are_kept(spark: Spark, two: str) -> None:
    assert sorted(map(tuple, osp.map_batches(spark, two, same, "k int, id double").collect())) == [
        (0, 0.0),
        (10, 1.0),
        (20, 2.0),
    ]
    with pytest.raises(PySparkException, match="column id: the function gives int64, the schema says string"):
        osp.map_batches(spark, two, same, "id string, k int").collect()


PAIR = T.StructType().add("a", T.LongType()).add("b", T.LongType())
PAIRS = pa.array([{"b": 2, "a": 1}, None], pa.struct([("b", pa.int64()), ("a", pa.int32())]))
DAY = datetime.date(2026, 11, 21)


@each_case(
    ("array", "kind", "wanted"),
    [
        (pa.array([1, None], pa.int32()), T.LongType(), [1, None]),
        (pa.array([1], pa.uint64()), T.ByteType(), [1]),
        (pa.array([1]), T.DecimalType(30, 2), [decimal.Decimal("1.00")]),
        (pa.array([0.5], pa.float32()), T.DoubleType(), [0.5]),
        (pa.array([decimal.Decimal("1.5")]), T.DecimalType(10, 2), [decimal.Decimal("1.50")]),
        (pa.array(["a"], pa.large_string()), T.StringType(), ["a"]),
        (pa.array(["a"], pa.string_view()), T.StringType(), ["a"]),
        (pa.array(["a", None]).dictionary_encode(), T.StringType(), ["a", None]),
        (pa.array([b"ab"], pa.binary(2)), T.BinaryType(), [b"ab"]),
        (pa.array([DAY], pa.date64()), T.DateType(), [DAY]),
        (pa.array([None], pa.null()), PAIR, [None]),
        (pa.array([1], pa.timestamp("ms", "Asia/Tokyo")), T.TimestampType(), [1_000]),
        (pa.array([1_000], pa.timestamp("ns")), T.TimestampNTZType(), [1]),
        (PAIRS, PAIR, [{"a": 1, "b": 2}, None]),
        (PAIRS[1:], PAIR, [None]),
        (pa.array([[PAIRS[0]], None, []], pa.list_(PAIRS.type)), T.ArrayType(PAIR), [[{"a": 1, "b": 2}], None, []]),
        (pa.array([[7], [1, 2]], pa.large_list(pa.int8()))[1:], T.ArrayType(T.LongType()), [[1, 2]]),
        (pa.array([[1, 2]], pa.list_(pa.int8(), 2)), T.ArrayType(T.LongType()), [[1, 2]]),
        (
            pa.array([[("x", PAIRS[0])], None, [("y", PAIRS[0])]], pa.map_(pa.string(), PAIRS.type))[1:],
            T.MapType(T.StringType(), PAIR),
            [None, [("y", {"a": 1, "b": 2})]],
        ),
    ],
)
def test_casts(array: pa.Array, kind: T.DataType, wanted: list[Any]) -> None:
    batch = pa.record_batch({"x": array, "n": pa.nulls(len(array), pa.int32())})
    schema = T.StructType().add("n", T.LongType()).add("x", kind)
    made = ResultSchema(schema).of(batch)
    made.validate(full=True)
    assert made.schema.names == ["n", "x"]
    found = made["x"].cast(pa.int64()) if pa.types.is_timestamp(made["x"].type) else made["x"]
    assert found.to_pylist() == wanted


@each_case(
    ("array", "kind", "message"),
    [
        (
            pa.array([2**40]),
            T.IntegerType(),
            "column x: the function gives int64, the schema says int32: 1099511627776 ",
        ),
        (pa.array([2**53 + 1]), T.DoubleType(), "column x: .*: 9007199254740993 of int64 is not a value of double"),
        (pa.array([0.1]), T.FloatType(), "column x: the function gives double, the schema says float: cast"),
        (pa.array([1.0]), T.LongType(), "column x: .* cast the column in the function"),
        (pa.array(["1"]), T.LongType(), "column x: .* cast the column in the function"),
        (pa.array([1]), T.StringType(), "column x: .* cast the column in the function"),
        (pa.array([1_001], pa.timestamp("ns")), T.TimestampNTZType(), "column x: .*001001 of"),
        (pa.array([1], pa.timestamp("us")), T.TimestampType(), "column x: .* give the timestamps a time zone"),
        (pa.array([[1]]), PAIR, "column x: .* cast the column in the function"),
        (pa.array([{"a": 1, "c": 1}]), PAIR, "column x: field b of the schema is missing"),
        (pa.array([[{"a": 1, "b": 1, "c": 1}]]), T.ArrayType(PAIR), "column x.element: field c is given"),
        (pa.array([{"a": 1, "b": "1"}]), PAIR, "column x.b: .* cast the column in the function"),
    ],
)
def test_what_does_not_fit_names_the_column(array: pa.Array, kind: T.DataType, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        ResultSchema(T.StructType().add("x", kind)).of(pa.record_batch({"x": array}))


def test_names_that_repeat() -> None:
    schema = T.StructType().add("x", T.LongType()).add("x", T.LongType()).add("y", T.LongType())
    one = pa.array([1])
    made = ResultSchema(schema).of(pa.RecordBatch.from_arrays([one, one, one], names=["x", "x", "y"]))
    assert made.schema.names == ["x", "x", "y"]
    with pytest.raises(ValueError, match="column x is there more than once"):
        ResultSchema(schema).of(pa.RecordBatch.from_arrays([one, one, one], names=["x", "y", "x"]))
    with pytest.raises(TypeError, match=r"yields pyarrow.RecordBatch; it has yielded a Table"):
        ResultSchema(schema).of(pa.table({"x": one}))
