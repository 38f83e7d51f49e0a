"""Random predicates and options for files, and the rows that are right: those that the judge keeps of all rows."""

import functools
import math
import random
from decimal import Decimal

import orcish
import pyarrow as pa
import pyarrow.compute as pc
from orcish import Expression

from support import predicate_oracle

ROW = "number of the row"
NESTED = ["n.y.z", "n.x", "n.y", "ls.a", "m.value", "li", "u"]
LEAST, MOST = -(2**63), 2**63 - 1
# Options that change values, and with them what a predicate is true for.
MEANING = ("timestamp_unit", "timestamp_out_of_range", "trim_char", "null_map_keys", "masked")


def leaves_of(schema):
    """Ways to all columns that a filter can ask about, and their types, by dotted name."""
    found = {}
    pending = [((field.name,), field.type) for field in schema]
    while pending:
        way, kind = pending.pop(0)
        if pa.types.is_union(kind):
            continue
        found[".".join(way)] = way, kind
        if pa.types.is_struct(kind):
            pending.extend(((*way, field.name), field.type) for field in kind)
    return found


def column_of(table, way):
    """A column of a table, nested ones with nulls where what is around them is null."""
    column = table[way[0]].combine_chunks()
    for inner in way[1:]:
        column = pc.struct_field(column, [column.type.get_field_index(inner)])
    return column


class Subject:
    """A file with what is known of it, each thing found out once."""

    def __init__(self, data, **options):
        self.file = orcish.ORCFile(data)
        self.options = options
        self.tables = {}
        self.truths = {}
        leaves = leaves_of(self.file.arrow_schema(**options))
        self.ways = {title: way for title, (way, _) in leaves.items()}
        self.kinds = {title: kind for title, (_, kind) in leaves.items()}
        self.pools = {}

    def whole(self, **options):
        """All rows, under options that do not choose among them."""
        key = repr(sorted(options.items()))
        if key not in self.tables:
            table = self.file.read(**{**self.options, **options})
            if len(self.tables) > 200:
                self.tables.clear()
            self.tables[key] = table.combine_chunks()
        return self.tables[key]

    def column(self, title, options):
        meaning = {name: value for name, value in options.items() if name in MEANING}
        return column_of(self.whole(**meaning), self.ways[title])

    def values(self, title):
        """Some values of a column, those at the edges among them, as the judge has them."""
        if title not in self.pools:
            column = self.column(title, {})
            if pa.types.is_nested(column.type):
                self.pools[title] = []
            else:
                table = pa.table({title: column})
                found = [value for value in predicate_oracle._column(table, title)[0] if value is not None]
                firm = sorted({value for value in found if value == value})
                picked = random.Random(title).sample(firm, min(25, len(firm)))
                self.pools[title] = picked and [*picked, firm[0], firm[-1]]
        return self.pools[title]

    def truth(self, tree, options):
        """True, false or null for each row; leaves are judged once, and for each value once."""
        match tree:
            case ("and", parts):
                return functools.reduce(pc.and_kleene, [self.truth(part, options) for part in parts])
            case ("or", parts):
                return functools.reduce(pc.or_kleene, [self.truth(part, options) for part in parts])
            case ("not", part):
                return pc.invert(self.truth(part, options))
            case ("constant", value):
                return pa.array([value] * self.file.num_rows, pa.bool_())
        title = tree[2] if tree[0] == "compare" else tree[1]
        key = (repr(tree), *sorted((name, options[name]) for name in MEANING if name in options))
        if key not in self.truths:
            self.truths[key] = judge_column(tree, title, self.column(title, options))
        return self.truths[key]

    def rows(self, tree, options):
        """Numbers of the rows that are right, in the order in which they are read."""
        kept = pc.fill_null(self.truth(tree, options), False)
        stripes = options.get("stripes")
        if stripes is None:
            found = pc.indices_nonzero(kept)
        else:
            parts = [self._in_stripe(kept, self.file.stripes[index]) for index in stripes]
            found = pa.concat_arrays([pa.array([], pa.uint64()), *parts])
        return found.slice(0, options.get("limit")).cast(pa.int64())

    @staticmethod
    def _in_stripe(kept, stripe):
        found = pc.indices_nonzero(kept.slice(stripe.first_row, stripe.num_rows))
        return pc.add(found, pa.scalar(stripe.first_row, pa.uint64()))


def judge_column(tree, title, column):
    ask = lambda array: predicate_oracle.truth(Expression(tree), pa.table({title: array}))  # noqa: E731
    if pa.types.is_nested(column.type):
        # Null or not is all that can be asked.
        return ask(pc.if_else(column.is_valid(), True, None))
    coded = column.dictionary_encode()
    # The last is what nulls are.
    distinct = pa.concat_arrays([coded.dictionary, pa.nulls(1, column.type)])
    return ask(distinct).take(pc.fill_null(coded.indices, len(distinct) - 1))


# Predicates.


def literal(rng, kind, value):
    """A literal that is a value, or near to it, or of another type that compares with it."""
    types = pa.types
    if rng.random() < 0.03:
        return ("null",)
    if types.is_boolean(kind):
        return ("bool", value if rng.random() < 0.5 else not value)
    if types.is_integer(kind):
        return rng.choice(
            [("int", value)] * 4
            + [("int", value + rng.choice([-1, 1])), ("int", rng.choice([LEAST, MOST, 2**63, -(2**70), 2**140]))]
            + [("float", value + rng.choice([0.0, 0.5, -0.5])), ("float", rng.choice([math.nan, math.inf, 1e300]))]
            + [("decimal", f"{value}.0"), ("decimal", f"{value}.25"), ("decimal", "0." + "0" * 45 + "1")]
        )
    if types.is_floating(kind):
        edges = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324]
        near = rng.choice([math.nextafter(value, -math.inf), math.nextafter(value, math.inf)])
        whole = int(value) if math.isfinite(value) else 0
        digits = format(Decimal(repr(value)), "f") if math.isfinite(value) else "1.5"
        return rng.choice(
            [("float", value)] * 4 + [("float", near), ("float", rng.choice(edges)), ("int", whole)]
            + [("int", rng.choice([2**80, -(2**140)])), ("decimal", digits)]
        )  # fmt: skip
    if types.is_decimal(kind):
        shown = format(value, "f")
        return rng.choice(
            [("decimal", shown)] * 4
            + [("decimal", shown + ("5" if "." in shown else ".5")), ("float", float(value)), ("int", int(value))]
            + [("float", rng.choice([math.nan, math.inf, 1e60, 0.1, -1e-50])), ("decimal", "9" * 45)]
        )
    if types.is_string(kind):
        more = [value, value, value, value + "\0", value + " ", value[:-1], value.strip(), value + "\U0010ffff", ""]
        return ("string", rng.choice(more))
    if types.is_binary(kind):
        return ("binary", rng.choice([value, value, value + b"\0", value[:-1], b"\xff" * 3, b""]))
    if types.is_date(kind):
        days = value // predicate_oracle.DAY
        near = days + rng.choice([-1, 1, 10, -10])
        return rng.choice(
            [("date", days)] * 3
            + [("date", near), ("timestamp", value, False), ("timestamp", value + rng.choice([-1, 1]), False)]
        )
    assert types.is_timestamp(kind), kind
    off = rng.choice([0, 0, 0, 0, 1, -1, 999, 1000, -1000, 10**6, -(10**9)])
    if kind.tz is None and rng.random() < 0.2:
        return ("date", value // predicate_oracle.DAY)
    return ("timestamp", value + off, kind.tz is not None)


def leaf(rng, subject, title):
    kind, pool = subject.kinds[title], subject.values(title)
    if not pool or rng.random() < 0.12:
        return ("is_null", title)
    draw = lambda: literal(rng, kind, rng.choice(pool))  # noqa: E731
    shape = rng.random()
    if pa.types.is_floating(kind) and shape < 0.1:
        return ("is_nan", title)
    if (pa.types.is_string(kind) or pa.types.is_binary(kind)) and shape < 0.2:
        tag = "string" if pa.types.is_string(kind) else "binary"
        return ("starts_with", title, (tag, rng.choice(pool)[: rng.choice([0, 1, 2, 5, 1100])]))
    if shape < 0.4:
        return ("in", title, [draw() for _ in range(rng.choice([1, 1, 2, 3, 8]))])
    return ("compare", rng.choice(["=", "=", "!=", "<", "<=", ">", ">="]), title, draw())


def predicate(rng, leaves, depth=3):
    """A predicate of these leaves, often a plain one."""
    shape = rng.random()
    if depth == 0 or shape < 0.35:
        return rng.choice(leaves)
    if shape < 0.45:
        return ("not", predicate(rng, leaves, depth - 1))
    if shape < 0.47:
        return ("constant", rng.choice([True, False, None]))
    parts = [predicate(rng, leaves, depth - 1) for _ in range(rng.choice([2, 2, 3]))]
    return (rng.choice(["and", "and", "or"]), parts)


# Options.


def projection(rng, subject):
    names = list(subject.kinds)
    shape = rng.random()
    if shape < 0.25:
        return None
    if shape < 0.35:
        return []
    if shape < 0.45:
        nested = [each for each in NESTED if each in subject.file.column_paths]
        return rng.sample(nested, min(len(nested), rng.choice([1, 2]))) or None
    picked = rng.sample(names, min(len(names), rng.choice([1, 1, 2, 5])))
    # Not both a struct and what is in it.
    return [each for each in picked if not any(each.startswith(f"{other}.") for other in picked)]


def reading(rng, subject):
    """Options of a read; those that do not choose rows first."""
    shaping, choosing = {}, {}
    columns = projection(rng, subject)
    if columns is not None:
        shaping["columns"] = columns
    if rng.random() < 0.3:
        shaping["strings"] = rng.choice(["large", "view", "dictionary", "binary"])
    if rng.random() < 0.4:
        shaping["timestamp_unit"] = rng.choice(["s", "ms", "ns", "auto"])
        shaping["timestamp_out_of_range"] = "null"
    if rng.random() < 0.3:
        shaping["trim_char"] = True
    if rng.random() < 0.7:
        choosing["batch_size"] = rng.choice([13, 100, 1000, 1024, 100_000])
    choosing["threads"] = rng.choice([1, 1, 2])
    if rng.random() < 0.25:
        choosing["limit"] = rng.choice([0, 1, 2, 50, 700, 10**6])
    if rng.random() < 0.2:
        indexes = range(subject.file.num_stripes)
        choosing["stripes"] = rng.sample(indexes, rng.randint(0, len(indexes)))
    return shaping, choosing


# What comes out.


def read(rng, file, options):
    way = rng.choice(["read", "read", "iter_batches", "reader"])
    if way == "read":
        return file.read(**options)
    if way == "reader":
        return pa.RecordBatchReader.from_stream(file.reader(**options)).read_all()
    batches = list(file.iter_batches(**options))
    most = options.get("batch_size", 65_536)
    assert all(0 < batch.num_rows <= most for batch in batches)
    return pa.Table.from_batches(batches, file.arrow_schema(**options))


def same(got, whole, rows):
    """Whether a table is these rows of another, NaN being equal to itself, and whatever the dictionaries."""
    if got.schema != whole.schema or got.num_rows != len(rows):
        return False
    return all(same_values(*pair, rows) for pair in zip(got.columns, whole.columns, strict=True))


def same_values(got, whole, rows):
    if pa.types.is_dictionary(got.type):
        got, whole = (each.cast(got.type.value_type) for each in (got, whole))
    try:
        want = whole.take(rows)
        if got.equals(want):
            return True
    except pa.ArrowNotImplementedError:
        # pyarrow does not take of views.
        every = whole.to_pylist()
        return repr(got.to_pylist()) == repr([every[row] for row in rows.to_pylist()])
    # What differs may be NaN only.
    try:
        return repr(got.to_pylist()) == repr(want.to_pylist())
    except OverflowError:
        # Python has no dates of these years.
        return repr([*map(with_days, got)]) == repr([*map(with_days, want)])


def with_days(scalar):
    """The value of a scalar of Arrow, with the numbers of days in place of dates."""
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.DictionaryScalar):
        return with_days(scalar.value)
    if isinstance(scalar, pa.StructScalar):
        return [with_days(each) for each in scalar.values()]
    if pa.types.is_nested(scalar.type):
        return [with_days(each) for each in scalar.values]
    return scalar.value if isinstance(scalar, pa.Date32Scalar) else scalar.as_py()


def check(rng, subject, tree, *, with_values):
    """Reads with a filter, under random options, and compares with what is right."""
    shaping, choosing = reading(rng, subject)
    want = subject.rows(tree, {**shaping, **choosing})
    options = {**subject.options, **shaping, **choosing, "filters": Expression(tree)}
    if len(want) < 300 and rng.random() < 0.1:
        options["batch_size"] = 1
    told = f"filters={options['filters']}, options={shaping | choosing}"
    try:
        table = read(rng, subject.file, {**options, "row_number": ROW})
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n{told}") from error
    numbers = table[ROW].combine_chunks()
    if numbers.to_numpy().tobytes() != want.to_numpy().tobytes():
        got, wanted = numbers.to_pylist(), want.to_pylist()
        missing, extra = sorted({*wanted} - {*got}), sorted({*got} - {*wanted})
        raise AssertionError(f"{len(got)} rows for {len(wanted)}, missing {missing[:5]}, extra {extra[:5]}\n{told}")
    if with_values:
        table = table.drop_columns([ROW])
        table.validate(full=True)
        assert same(table, subject.whole(**shaping), want), f"other values\n{told}"


def check_scan(rng, subject, tree, path):
    """The rows of a scan are those of its splits together, and no more than its plan says; `path` is the file's."""
    want = subject.rows(tree, {}).to_pylist()
    options = {**subject.options, "filters": Expression(tree)}
    plan = subject.file.explain(**options)
    assert sum(stripe.rows_read for file in plan.files for stripe in file.stripes) >= len(want), tree
    scan = orcish.scan(path, columns=[], row_number=ROW, **options)
    assert scan.count() == len(want), tree
    splits = scan.splits(rng.choice([1, 10_000, 64 << 20]))
    read = rng.sample(splits, 40) if len(splits) > 40 else splits
    parts = [split.scan().to_table()[ROW].to_pylist() for split in read]
    assert all(len(part) <= split.rows for part, split in zip(parts, read, strict=True)), tree
    found = [row for part in parts for row in part]
    if read is splits:
        assert found == want, tree
    else:
        assert {*found} <= {*want}, tree
