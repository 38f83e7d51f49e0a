"""Filters that are evaluated on values of the table: a column of another type than in the file, joined with any other column."""

import io

import orcish
import pyarrow as pa
from support.case_loops import each_case

NUMBERS = [0, 1, None, 5]
TEXTS = ["a", "b", None, "f"]
ENDS = pa.array([1, 2, 3, 4], pa.int32())


def cast(kind: pa.DataType, *steps: pa.DataType) -> pa.Array:
    array = pa.array(NUMBERS, pa.int32())
    for step in (*steps, kind):
        array = array.cast(step)
    return array


ARRAYS = [
    *(cast(kind) for kind in (pa.int8(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    *(cast(kind) for kind in (pa.float32(), pa.float64(), pa.decimal128(12, 2), pa.decimal256(12, 2))),
    cast(pa.float16(), pa.float32()),
    *(cast(kind, pa.decimal128(12, 2)) for kind in (pa.decimal32(5, 2), pa.decimal64(12, 2))),
    *(pa.array(NUMBERS, kind) for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))),
    *(pa.array(NUMBERS, pa.duration(unit)) for unit in ("s", "ms", "ns")),
    cast(pa.int32()).dictionary_encode(),
    pa.RunEndEncodedArray.from_arrays(ENDS, cast(pa.int32())),
]
CASES = [
    *((array, "c > 1") for array in ARRAYS),
    *(
        (pa.array(TEXTS).cast(kind), "c > 'b'")
        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
    ),
    (pa.array(TEXTS).dictionary_encode(), "c > 'b'"),
    (pa.RunEndEncodedArray.from_arrays(ENDS, pa.array(TEXTS)), "c > 'b'"),
    (pa.array([b"a", b"b", None, b"f"], pa.binary(1)), "c > x'62'"),
    (cast(pa.date32()), "c > date '1970-01-02'"),
    (cast(pa.date64(), pa.date32()), "c > date '1970-01-02'"),
    (pa.array([0, 86_400, None, 5 * 86_400], pa.timestamp("s")), "c > timestamp '1970-01-02'"),
    (pa.array([0, 86_400, None, 5 * 86_400], pa.timestamp("s", "UTC")), "c > timestamp '1970-01-02 00:00Z'"),
    (pa.array([False, False, None, True]), "c"),
]


@each_case(("array", "condition"), CASES, ids=[f"{array.type}" for array, _ in CASES])
def test_columns_of_any_type(array: pa.Array, condition: str) -> None:
    out = io.BytesIO()
    orcish.write_table(pa.table({"x": pa.array([9, 0, 0, 0], pa.int32()), "c": array, "row": range(4)}), out)
    for kind, late in ((pa.decimal128(30, 4), "x > 1.5e0"), (pa.string(), "x = '9'"), (pa.float64(), "x > 8")):
        schema = pa.schema({"x": kind, "c": array.type, "row": pa.int64()})
        scan = orcish.scan(out.getvalue(), schema=schema)
        for filters, rows in (
            (f"{late} or {condition}", [0, 3]),
            (f"not ({late}) and ({condition})", [3]),
            (f"not ({late} or ({condition}))", [1]),
            (f"{late} or c is null", [0, 2]),
            (f"{late} and c is not null", [0]),
        ):
            found = scan.where(filters)
            assert found.to_table()["row"].to_pylist() == rows, filters
            assert found.count() == len(rows), filters
