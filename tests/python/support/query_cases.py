"""One question, every verb: random tables, filters, projections and limits, and what each verb has to answer."""

import dataclasses
import datetime as dt
import decimal
import math
import uuid
from decimal import Decimal
from typing import Any

import duckdb
import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import Expression, Scan
from orcish.reading.scan import reader_of

from support import buffer_sizes, predicate_oracle

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)
WORDS = ["", "a", "ab", "b", "é", "zebra", "x" * 50]
ROW = "row_number"


def _group(row):
    return row // 40


def _double(rng, row):
    special = [math.inf, -math.inf, math.nan] if _group(row) % 4 == 1 else [math.inf]
    return rng.choice([row / 8, 0.0, -0.0, *special, _group(row) * 10.0])


# A value of each column by the row, which may be far from others, or like all of a row group.
MAKERS = {
    "id": (pa.int64(), lambda rng, row: row),
    "i8": (pa.int8(), lambda rng, row: rng.randint(-128, 127)),
    "far": (pa.int64(), lambda rng, row: rng.choice([2**63 - 1, -(2**63), _group(row), rng.randint(-9, 9)])),
    "u64": (pa.uint64(), lambda rng, row: rng.choice([2**64 - 1, row])),
    "o": (pa.bool_(), lambda rng, row: _group(row) % 3 == 0 or rng.random() < 0.5),
    "f16": (pa.float16(), lambda rng, row: float(row % 50)),
    "f32": (pa.float32(), lambda rng, row: float(row // 4)),
    "f64": (pa.float64(), lambda rng, row: _double(rng, row)),
    "d9": (pa.decimal128(9, 2), lambda rng, row: Decimal(row // 5 - 30).scaleb(-2)),
    "d38": (pa.decimal128(38, 10), lambda rng, row: Decimal(rng.randint(-(10**37), 10**37)).scaleb(-10)),
    "d32": (pa.decimal32(7, 1), lambda rng, row: Decimal(row).scaleb(-1)),
    "d256": (pa.decimal256(38, 4), lambda rng, row: Decimal(rng.choice([10**37, -row, _group(row)])).scaleb(-4)),
    "uuid": (pa.uuid(), lambda rng, row: uuid.UUID(int=row // 3)),
    "s": (pa.string(), lambda rng, row: f"k{row // 4:04}"),
    "w": (pa.string(), lambda rng, row: rng.choice(WORDS[_group(row) % 4 :])),
    "view": (pa.string_view(), lambda rng, row: rng.choice(WORDS)),
    "coded": (pa.dictionary(pa.int32(), pa.string()), lambda rng, row: rng.choice(WORDS)),
    "b": (pa.binary(), lambda rng, row: rng.choice([b"", b"\xff\xff", bytes([row % 5])])),
    "day": (pa.date32(), lambda rng, row: dt.date(2000, 1, 1) + dt.timedelta(days=row // 3)),
    "t": (pa.timestamp("us"), lambda rng, row: EPOCH + dt.timedelta(minutes=row // 2 * 7)),
    "tz": (pa.timestamp("ms", "UTC"), lambda rng, row: (EPOCH + dt.timedelta(hours=row)).replace(tzinfo=UTC)),
    "span": (pa.duration("ms"), lambda rng, row: dt.timedelta(seconds=rng.randint(-99, 99))),
    "clock": (pa.time64("us"), lambda rng, row: dt.time(row % 24, rng.randint(0, 59))),
    "n": (
        pa.struct([("x", pa.int64()), ("y", pa.struct([("z", pa.string())]))]),
        lambda rng, row: {"x": rng.choice([None, row]), "y": rng.choice([None, {"z": rng.choice([None, *WORDS])}])},
    ),
    "l": (pa.list_(pa.int32()), lambda rng, row: [rng.choice([None, row]) for _ in range(rng.randint(0, 3))]),
    "m": (pa.map_(pa.string(), pa.int64()), lambda rng, row: [(f"k{at}", row) for at in range(rng.randint(0, 2))]),
}
NESTED = {"n.x": pa.int64(), "n.y.z": pa.string()}
ASKED = [
    name
    for name, (kind, _) in MAKERS.items()
    if not (
        pa.types.is_time(kind) or pa.types.is_duration(kind) or pa.types.is_float16(kind) or name in ("d32", "uuid")
    )
]


def column(rng, name, start, rows):
    kind, make = MAKERS[name]
    shift, nulls = rng.randrange(5), [1, 0, 0, 0.2, 0.02]
    values = [
        None if name != "id" and rng.random() < nulls[(_group(row) + shift) % 5] else make(rng, row)
        for row in range(start, start + rows)
    ]
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, kind)


@dataclasses.dataclass
class Made:
    """A table on disk, and its rows."""

    where: Any
    rows: pa.Table
    """All of them, with the columns that are names of folders."""
    numbers: list[int]
    """Of each row in its file."""
    files: list[str]
    stored: list[str]
    """Columns that are in all files."""
    missing: list[str]
    """Columns that some file does not have."""
    folders: list[str]
    alike: bool
    """Whether the files can be merged."""
    numbered: bool = True
    """Whether a scan can number the rows."""


def make(rng, folder, sizes):
    """A table of one file or of several, which may lack a column, in folders that may be columns."""
    names = ["id", *rng.sample([name for name in MAKERS if name != "id"], rng.randint(1, 5))]
    count = rng.choice([1, 1, 2, 4])
    by = [] if count == 1 or rng.random() < 0.3 else ["part"] if rng.random() < 0.6 else ["part", "of"]
    lacked = set(rng.sample(names[1:], min(len(names) - 1, rng.choice([0, 1])))) if count > 1 else set()
    parts, numbers, files, start, missing = [], [], [], 0, set()
    alike, options = rng.random() < 0.5, layout(rng, sizes)
    for at in range(count):
        rows = rng.choice([0, 1, 7, 150, 400, 1200]) if at else rng.choice([7, 150, 1200])
        table = pa.table({name: column(rng, name, start, rows) for name in names})
        values = {"part": at // 2, "of": ["x", "y", None][at % 3]}
        way = "/".join(
            f"{name}={'__HIVE_DEFAULT_PARTITION__' if values[name] is None else values[name]}" for name in by
        )
        path = folder / way / f"{at}.orc"
        path.parent.mkdir(parents=True, exist_ok=True)
        # The first file says what columns there are.
        gone = lacked if at and rng.random() < 0.6 else set()
        missing |= gone
        write(rng, table.drop_columns(list(gone)), path, options if alike else layout(rng, sizes))
        for name in gone:
            place = table.schema.get_field_index(name)
            table = table.set_column(place, table.schema.field(name), pa.nulls(rows, table.schema.field(name).type))
        for name in by:
            kind = pa.int64() if name == "part" else pa.string()
            table = table.append_column(name, pa.array([values[name]] * rows, kind))
        parts.append(table)
        numbers += range(rows)
        files.append(str(path))
        start += rows
    where = files[0] if count == 1 else str(folder) if by or rng.random() < 0.5 else list(files)
    whole = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    stored = [name for name in names if name not in missing]
    return Made(where, whole, numbers, files, stored, sorted(missing), by, alike or count == 1)


def layout(rng, sizes):
    """How a file is written, in ways that merged files have in common."""
    return {
        "row_index_stride": rng.choice([0, 20, 40, 100, 333, 1000] if "MIN_STRIDE" in sizes else [0, 1000, 10_000]),
        "stripe_size": rng.choice([1, 3000, 20_000, 1 << 20]),
        "compression": rng.choice(["uncompressed", "zlib", "zstd", "snappy", "lz4"]),
        "compression_block_size": rng.choice([None, 1024, 5000]),
    }


def write(rng, table, path, options):
    options = {**options, "dictionary": rng.choice([None, True, False])}
    if options["row_index_stride"]:
        hashed = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
        hashed = [name for name in hashed if name not in ("span", "o")]
        options["bloom_filter_columns"] = rng.sample(hashed, min(len(hashed), rng.choice([0, 1, 3])))
    with orcish.ORCWriter(str(path), table.schema, **options) as writer:
        at = 0
        while at < len(table):
            rows = rng.choice([1, 50, 777, 2000])
            writer.write_table(table.slice(at, rows))
            at += rows
            if rng.random() < 0.1:
                writer.end_stripe()


# What is asked.


def literal_kind(made, name):
    return NESTED[name] if name in NESTED else made.rows.schema.field(name).type


def leaf(rng, made):
    names = [name for name in [*made.stored, *made.missing] if name in ASKED] + made.folders
    name = rng.choice(names)
    if name == "n":
        name = rng.choice(["n", *NESTED])
    kind = literal_kind(made, name)
    if pa.types.is_nested(kind) or rng.random() < 0.15:
        return ("is_null", name)
    values, kind = predicate_oracle._column(made.rows, name)
    values = [value for value in values if value is not None and value == value]
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not values:
        return ("is_null", name)

    def literal():
        value = rng.choice(values)
        if pa.types.is_boolean(kind):
            return ("bool", value)
        if pa.types.is_integer(kind):
            return ("int", value + rng.choice([0, 0, 0, 1, -1]))
        if pa.types.is_floating(kind):
            return ("float", value)
        if pa.types.is_decimal(kind):
            return ("decimal", format(value, "f"))
        if pa.types.is_date(kind):
            return ("date", value // predicate_oracle.DAY)
        if pa.types.is_timestamp(kind):
            return ("timestamp", value, kind.tz is not None)
        return ("binary", value) if isinstance(value, bytes) else ("string", value)

    shape = rng.random()
    if shape < 0.25:
        return ("in", name, [literal() for _ in range(rng.choice([1, 2, 5, 30]))])
    if shape < 0.35 and literal()[0] == "string":
        return ("starts_with", name, ("string", literal()[1][:1]))
    return ("compare", rng.choice(["=", "!=", "<", "<=", ">", ">=", ">", "<="]), name, literal())


def tree(rng, made, depth=2):
    shape = rng.random()
    if depth == 0 or shape < 0.5:
        return leaf(rng, made)
    if shape < 0.6:
        return ("not", tree(rng, made, depth - 1))
    return (rng.choice(["and", "or"]), [tree(rng, made, depth - 1) for _ in range(2)])


def projection(rng, made):
    names = [*made.stored, *made.missing, *made.folders]
    shape = rng.random()
    if shape < 0.2:
        return None
    if shape < 0.35:
        return []
    if shape < 0.5 and made.folders:
        return list(made.folders)
    if shape < 0.6 and made.missing:
        return list(made.missing)
    if shape < 0.7 and "n" in names:
        return rng.choice([["n.x"], ["n.y.z"], ["n.y.z", "n.x"]])
    return rng.sample(names, k=min(rng.choice([1, 1, 2, 4]), len(names)))


def plain(table):
    """The table with text in place of views, of which pyarrow picks no rows."""
    return table.cast(
        pa.schema(
            [field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field for field in table.schema]
        )
    )


def answered(made, filters, columns, limit):
    """The rows that are right, and their numbers in their files."""
    rows = plain(made.rows).append_column(ROW, pa.array(made.numbers, pa.int64()))
    if filters is not None:
        rows = rows.filter(predicate_oracle.keep(filters, made.rows))
    rows = rows.slice(0, limit)
    numbers = rows[ROW].to_pylist()
    rows = rows.drop_columns([ROW])
    if columns is not None:
        rows = rows.select(list(dict.fromkeys(columns))) if not any("." in name for name in columns) else None
    return rows, numbers


def values(table):
    """The values, in a form in which NaN is itself."""
    return [repr(column.to_pylist()) for column in table.columns]


def read_split(split, sizes):
    """How many rows a split has, and what they are, in another process."""
    with buffer_sizes.of(sizes):
        found = split.scan()
        table = found.to_table()
        # A table without columns has no rows any more when it comes out of a pickle.
        return found.count(), len(table), table


class Asked:
    """A question, and what is right."""

    def __init__(self, rng, made, sizes):
        self.made, self.sizes = made, sizes
        self.filters = Expression(tree(rng, made)) if rng.random() < 0.75 else None
        self.columns, self.limit = projection(rng, made), rng.choice([None, None, 0, 1, 30, 500, 10**6])
        self.options = {"threads": rng.choice([1, 1, 2, 4]), "batch_size": rng.choice([1, 13, 100, 1000, 65_536])}
        if self.filters is not None:
            self.options["filters"] = self.filters
        if self.columns is not None:
            self.options["columns"] = self.columns
        if self.limit is not None:
            self.options["limit"] = self.limit
        self.rows, self.numbers = answered(made, self.filters, self.columns, self.limit)
        self.count = len(self.numbers)
        self.told = f"{self.options} of {made}\nwindows {sizes}"

    def scan(self, **more):
        return orcish.scan(self.made.where, **{**self.options, **more})

    def check_batches(self, batches, verb):
        """None is empty, and none is longer than asked for; of batches without columns only the number of rows counts."""
        lengths = [len(batch) for batch in batches]
        assert self.columns == [] or all(0 < each <= self.options["batch_size"] for each in lengths), (verb, self.told)

    def check_rows(self, table, verb):
        assert table.num_rows == self.count, (verb, table.num_rows, self.count, self.told)
        if self.rows is not None:
            assert table.column_names == self.rows.column_names, (verb, self.told)
            assert values(table) == values(self.rows), (verb, self.told)


def ask_arrow(asked, rng, another_process):
    scan = asked.scan()
    table = scan.to_table()
    table.validate(full=True)
    asked.check_rows(table, "to_table")
    assert table.schema == scan.schema, asked.told
    batches = list(scan)
    asked.check_batches(batches, "iteration")
    asked.check_rows(pa.Table.from_batches(batches, scan.schema), "iteration")
    assert sum(len(batch) for batch in batches) == asked.count, asked.told
    assert scan.count() == asked.count, ("count", scan.count(), asked.count, asked.told)
    asked.check_rows(orcish.read_table(asked.made.where, **asked.options), "read_table")
    first = rng.choice([0, 1, 10, 200])
    head = scan.head(first)
    assert head.num_rows == min(first, asked.count), ("head", asked.told)
    assert values(head) == values(table.slice(0, first)), ("head", asked.told)
    if not asked.made.numbered:
        return
    numbered = asked.scan(row_number=True).to_table()
    assert numbered[ROW].to_pylist() == asked.numbers, ("row_number", asked.told)
    assert values(numbered.drop_columns([ROW])) == values(table), ("row_number", asked.told)


def ask_files(asked, rng, another_process):
    if len(asked.made.files) > 1:
        return
    file = orcish.ORCFile(asked.made.files[0])
    for options in (asked.options, {**asked.options, "row_number": True}):
        table = file.read(**options)
        if "row_number" in options:
            assert table[ROW].to_pylist() == asked.numbers, asked.told
            table = table.drop_columns([ROW])
        assert table.num_rows == asked.count, ("ORCFile", table.num_rows, asked.count, asked.told)
        if asked.rows is not None and len(set(asked.columns or [])) == len(asked.columns or []):
            asked.check_rows(table, "ORCFile")
    for verb in ("iter_batches", "reader"):
        found = getattr(file, verb)(**asked.options)
        batches = list(found if verb == "iter_batches" else pa.RecordBatchReader.from_stream(found))
        asked.check_batches(batches, verb)
        assert sum(map(len, batches)) == asked.count, (verb, asked.told)
        assert values(pa.Table.from_batches(batches, table.schema)) == values(table), (verb, asked.told)
    stripes = [file.read_stripe(at, **{**asked.options, "limit": None}) for at in range(file.num_stripes)]
    together = pa.concat_tables([table.schema.empty_table(), *stripes]).slice(0, asked.limit)
    assert sum(map(len, stripes)) == len(answered(asked.made, asked.filters, None, None)[1]), ("stripes", asked.told)
    assert values(together) == values(table), ("read_stripe", asked.told)


def ask_frames(asked, rng, another_process):
    lazy = orcish.scan_polars(asked.made.where, **asked.options)
    engine = rng.choice(["in-memory", "streaming"])
    assert lazy.select(pl.len()).collect(engine=engine).item() == asked.count, ("len", asked.told)
    frame = lazy.collect(engine=engine)
    assert frame.height == asked.count, ("polars", frame.height, asked.count, asked.told)
    scan = asked.scan()
    unknown = any(pa.types.is_float16(field.type) or pa.types.is_decimal256(field.type) for field in scan.schema)
    if scan.schema.names and not unknown:
        reader = pa.RecordBatchReader.from_stream(scan)
        (found,) = duckdb.from_arrow(reader).aggregate("count(*)").fetchall()
        assert found == (asked.count,), ("duckdb", found, asked.count, asked.told)


def ask_splits(asked, rng, another_process):
    size = rng.choice([1, 2000, 1 << 30])
    scan = asked.scan(limit=None)
    parts = scan.splits(size)
    found = list(another_process.map(read_split, parts, [asked.sizes] * len(parts)))
    rows, numbers = answered(asked.made, asked.filters, asked.columns, None)
    count = scan.count()
    counted, read = ([each[at] for each in found] for at in (0, 1))
    assert counted == read, ("splits", counted, read, asked.told)
    assert sum(read) == count == len(numbers), ("splits", read, count, asked.told)
    if rows is not None:
        together = pa.concat_tables([scan.schema.empty_table(), *(table for _, _, table in found)])
        assert values(together) == values(rows), ("splits", asked.told)
    if asked.limit is not None:
        assert all(len(split.scan().to_table()) <= asked.limit for split in asked.scan().splits(size)[:3])


def ask_answers(asked, rng, another_process):
    """Least and greatest values and sums, against those of Python or pyarrow."""
    scan = asked.scan(columns=None)
    rows, numbers = answered(asked.made, asked.filters, None, asked.limit)
    # Of extension types pyarrow has no least and greatest values to compare with.
    names = [field.name for field in rows.schema if not isinstance(field.type, pa.BaseExtensionType)]
    names += NESTED if "n" in names else ()
    for name in rng.sample(names, min(len(names), 4)):
        kind = literal_kind(asked.made, name)
        if pa.types.is_nested(kind):
            with pytest.raises(TypeError, match="no least or greatest value"):
                scan.min(name)
            continue
        top, *fields = name.split(".")
        array = rows[top].combine_chunks()
        for field in fields:
            array = pc.struct_field(array, field)
        found = [value for value in array.to_pylist() if value is not None]
        firm = [value for value in found if value == value]
        for question, of in (("min", min), ("max", max)):
            want = of(firm) if firm else None
            assert getattr(scan, question)(name) == want, (question, name, asked.told)
        if pa.types.is_floating(kind):
            total = math.fsum(found) if all(map(math.isfinite, found)) else sum(found)
            want = pytest.approx(total, nan_ok=True) if found else None
            assert scan.sum(name) == want, ("sum", name, scan.sum(name), total, asked.told)
        elif pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
            with decimal.localcontext(decimal.Context(prec=100)):
                assert scan.sum(name) == (sum(found[1:], found[0]) if found else None), ("sum", name, asked.told)
        else:
            with pytest.raises(TypeError, match="no sum"):
                scan.sum(name)
    if asked.made.numbered and asked.numbers is not None:
        found = Scan(reader_of(scan).with_options(row_number=True)).sum(ROW)
        assert found == (sum(numbers) if numbers else None), ("row_number", found, asked.told)


def ask_plans(asked, rng, another_process):
    plan = asked.scan(limit=None).explain()
    _, numbers = answered(asked.made, asked.filters, None, None)
    assert plan.rows_read >= len(numbers) or asked.columns == [], ("explain", plan.rows_read, asked.told)
    assert str(plan)
