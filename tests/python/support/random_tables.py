"""Random tables for peers: every type that they have, nested, whose values and nulls come as encoders and indexes find
them easy and hard.
"""

from __future__ import annotations

import datetime as dt
import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)
# What 64 bits of nanoseconds hold, which is what pyarrow has.
FIRST, LAST = dt.datetime(1680, 1, 1), dt.datetime(2260, 1, 1)
MICROSECOND = dt.timedelta(microseconds=1)
WORDS = ["", "a", "ab", "abc", "b", "é", "zebra", "Ärger", "日本", "\U0001f600", " a", "a ", "A", "~"]
STRUCT, UNION = "struct", "union"

Draw = Callable[[random.Random], Any]


@dataclass(frozen=True)
class Kind:
    """A type, with how a value of it is drawn, and what is in it."""

    arrow: pa.DataType
    orc: str
    draw: Draw
    inner: tuple[Kind, ...] = ()

    def field(self, name: str) -> pa.Field:
        """A field of this type, that says what Arrow's types do not."""
        padded = self.orc.startswith(("char", "varchar"))
        return pa.field(name, self.arrow, metadata={"orc.type": self.orc} if padded else None)


def pick(*ways: Draw) -> Draw:
    """A value that is drawn in one of some ways."""
    return lambda rng: rng.choice(ways)(rng)


def of(*values: Any) -> Draw:
    """One of these values."""
    return lambda rng: rng.choice(values)


# Values of each type, extreme ones among them.


def integers(bits: int) -> Draw:
    most = (1 << (bits - 1)) - 1
    return pick(
        lambda rng: rng.randint(-5, 5),
        lambda rng: rng.randint(-most - 1, most),
        lambda rng: rng.choice([1, -1]) * (most >> rng.randrange(bits - 1)),
        of(most, -most - 1, most - 1, 0),
    )


def single(value: float) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def floats(make: Callable[[float], float], *more: float) -> Draw:
    edges = of(0.0, -0.0, math.inf, -math.inf, make(1e30), make(-1e-30), 0.5, *more)
    return pick(lambda rng: make(rng.gauss(0, 10)), lambda rng: float(rng.randint(-9, 9)), edges)


def texts(rng: random.Random) -> str:
    shape = rng.random()
    if shape < 0.5:
        return rng.choice(WORDS)
    if shape < 0.9:
        return f"{rng.choice(WORDS)}{rng.randint(0, 9999)}"
    return rng.choice("xé") * rng.choice([30, 255, 256, 700, 1030]) + str(rng.randint(0, 9))


def limited(length: int) -> Draw:
    """Texts of so many characters at most, which do not end in blanks."""
    return lambda rng: texts(rng)[:length].rstrip(" ")


def filled(length: int) -> Draw:
    """Texts of so many characters."""
    return lambda rng: texts(rng)[:length].ljust(length)


def blobs(rng: random.Random) -> bytes:
    return rng.choice([b"", b"\x00", b"\xff\xff", rng.randbytes(rng.randrange(20)), rng.randbytes(300)])


def days(first: dt.date, last: dt.date) -> Draw:
    span = (last - first).days
    edges = of(first, last, EPOCH.date(), EPOCH.date() - dt.timedelta(days=1))
    return pick(lambda rng: first + dt.timedelta(days=rng.randint(0, span)), edges)


def moments(rng: random.Random) -> dt.datetime:
    digits = rng.choice([1, 10, 1000, 10**5, 10**6])
    if rng.random() < 0.5:
        near = rng.randint(-(10**7), 10**7) // digits * digits
    else:
        near = rng.randint((FIRST - EPOCH) // MICROSECOND, (LAST - EPOCH) // MICROSECOND) // digits * digits
    # The second before 1970 cannot be stored with a fraction.
    return EPOCH + (near // 10**6 * 10**6 if -(10**6) < near < 0 else near) * MICROSECOND


def far_moments(rng: random.Random) -> dt.datetime:
    """Those that all libraries find alike in any zone: at noon of years whose clocks they agree about, and, as C++ in
    pyarrow 26 takes the reader's clock for the instant there, without a fraction of a second within a day of 1970.
    """
    moment = moments(rng)
    moment = moment.replace(year=1910 + moment.year % 120, day=min(moment.day, 28), hour=12)
    return moment.replace(microsecond=0) if abs(moment - EPOCH) < dt.timedelta(days=1) else moment


def decimals(precision: int, scale: int) -> Draw:
    most = 10**precision - 1

    def make(digits: int) -> Decimal:
        # pyarrow makes no zero of a decimal that has all its digits behind the point.
        digits = digits or int(precision == scale)
        return Decimal((digits < 0, tuple(map(int, str(abs(digits)))), -scale))

    return pick(
        lambda rng: make(rng.randint(-most, most)),
        lambda rng: make(rng.randint(-min(most, 99), min(most, 99))),
        lambda rng: make(rng.choice([1, -1]) * 10 ** rng.randrange(precision)),
        of(make(most), make(-most), make(0)),
    )


def simple(rng: random.Random, moment: Draw = moments) -> Kind:
    """A type that has no other within; `moment` draws its timestamps."""
    precision = rng.choice([1, 5, 9, 10, 17, 18, 19, 27, 28, 37, 38])
    scale = min(precision, rng.choice([0, 0, 2, precision // 2, precision]))
    length = rng.choice([1, 3, 10])
    return rng.choice(
        [
            Kind(pa.bool_(), "boolean", of(True, False)),
            Kind(pa.int8(), "tinyint", integers(8)),
            Kind(pa.int16(), "smallint", integers(16)),
            Kind(pa.int32(), "int", integers(32)),
            Kind(pa.int64(), "bigint", integers(64)),
            Kind(pa.float32(), "float", floats(single, single(1e-44), single(3.4e38))),
            Kind(pa.float64(), "double", floats(float, 5e-324, 1.7e308)),
            Kind(pa.float64(), "double", floats(float, math.nan)),
            Kind(pa.string(), "string", texts),
            Kind(pa.string(), "string", texts),
            Kind(pa.string(), f"varchar({length})", limited(length)),
            Kind(pa.string(), f"char({length})", filled(length)),
            Kind(pa.binary(), "binary", blobs),
            Kind(pa.date32(), "date", days(dt.date(1582, 10, 15), dt.date(9999, 12, 31))),
            Kind(pa.timestamp("us"), "timestamp", moment),
            Kind(
                pa.timestamp("us", "UTC"),
                "timestamp with local time zone",
                lambda rng: moments(rng).replace(tzinfo=UTC),
            ),
            Kind(pa.decimal128(precision, scale), f"decimal({precision},{scale})", decimals(precision, scale)),
        ]
    )


def nested(rng: random.Random, depth: int, *, unions: bool, moment: Draw) -> Kind:
    """A type, and others within, to some depth."""
    if depth == 0 or rng.random() < 0.3:
        return simple(rng, moment)
    shape = rng.choice(["list", "map", STRUCT, STRUCT, *([UNION] if unions else [])])
    count = {"list": 1, "map": 1, STRUCT: rng.randint(1, 3), UNION: rng.randint(1, 3)}[shape]
    inner = tuple(nested(rng, depth - 1, unions=unions, moment=moment) for _ in range(count))
    if shape == "list":
        return Kind(pa.list_(inner[0].field("item")), f"array<{inner[0].orc}>", several(inner[0]), inner)
    if shape == "map":
        return mapping(rng, inner[0])
    if shape == UNION:
        arrow = pa.dense_union([each.field(str(at)) for at, each in enumerate(inner)])
        return Kind(arrow, f"uniontype<{','.join(each.orc for each in inner)}>", one_of(inner), inner)
    # Names that are nowhere else, as ORC C++ finds a column by the first that has its name, however deep.
    names = [f"f{rng.randrange(10**9)}" for _ in inner]
    arrow = pa.struct([each.field(name) for name, each in zip(names, inner, strict=True)])
    fields = ",".join(f"{name}:{each.orc}" for name, each in zip(names, inner, strict=True))
    return Kind(arrow, f"struct<{fields}>", together(names, inner), inner)


def maybe(rng: random.Random, kind: Kind) -> Any:
    """A value or, at times, none; a union has none of its own, only its variants have."""
    return None if rng.random() < 0.15 and not pa.types.is_union(kind.arrow) else kind.draw(rng)


def several(kind: Kind) -> Draw:
    return lambda rng: [maybe(rng, kind) for _ in range(rng.choice([0, 0, 1, 2, 3, 9]))]


def together(names: list[str], inner: tuple[Kind, ...]) -> Draw:
    return lambda rng: {name: maybe(rng, each) for name, each in zip(names, inner, strict=True)}


def one_of(inner: tuple[Kind, ...]) -> Draw:
    def draw(rng: random.Random) -> Any:
        tag = rng.randrange(len(inner))
        return tag, maybe(rng, inner[tag])

    return draw


def mapping(rng: random.Random, inner: Kind) -> Kind:
    key = rng.choice(
        [
            Kind(pa.string(), "string", texts),
            Kind(pa.int64(), "bigint", integers(64)),
            Kind(pa.date32(), "date", days(dt.date(1900, 1, 1), dt.date(2100, 1, 1))),
        ]
    )

    def draw(rng: random.Random) -> Any:
        keys = {key.draw(rng) for _ in range(rng.choice([0, 0, 1, 2, 5]))}
        return [(each, maybe(rng, inner)) for each in sorted(keys)]

    arrow = pa.map_(key.arrow, pa.field("value", inner.arrow, metadata=inner.field("value").metadata))
    return Kind(arrow, f"map<{key.orc},{inner.orc}>", draw, (key, inner))


# Columns.


def sortable(kind: Kind) -> bool:
    return not pa.types.is_nested(kind.arrow) and kind.arrow != pa.float64() and kind.arrow != pa.float32()


def sequence(rng: random.Random, kind: Kind, rows: int) -> list[Any]:
    """Values in pieces: runs, cycles, few different ones, many, those of a row group near to each other."""
    wealth = 400 if kind.inner else rng.choice([1, 2, 30, 2000])
    pool = [kind.draw(rng) for _ in range(min(wealth, max(1, rows)))]
    if sortable(kind) and rng.random() < 0.5:
        # In order, so that statistics tell row groups apart.
        pool.sort()
        width = rng.choice([1, 1, len(pool) // 5 + 1])
        return [pool[min(len(pool) - 1, row * len(pool) // rows + rng.randrange(width))] for row in range(rows)]
    values: list[Any] = []
    while len(values) < rows:
        count = rng.choice([1, 2, 3, 5, 17, 130, 512, 700, 3000])
        shape = rng.random()
        if shape < 0.3:
            values += [rng.choice(pool)] * count
        elif shape < 0.5:
            some = rng.sample(pool, min(len(pool), rng.choice([2, 3, 10])))
            values += [some[at % len(some)] for at in range(count)]
        else:
            values += rng.choices(pool, k=count)
    return values[:rows]


def with_nulls(rng: random.Random, values: list[Any]) -> list[Any]:
    """The values with nulls: none, all, some, in runs, of whole row groups."""
    shape = rng.random()
    if shape < 0.3:
        return values
    if shape < 0.35:
        return [None] * len(values)
    if shape < 0.6:
        part = rng.choice([0.001, 0.1, 0.5, 0.99])
        return [None if rng.random() < part else value for value in values]
    length = rng.choice([1, 8, 37, 1000])
    gaps = [rng.random() < 0.5 for _ in range(len(values) // length + 1)]
    return [None if gaps[at // length] else value for at, value in enumerate(values)]


def array_of(kind: Kind, values: list[Any]) -> pa.Array:
    """Values as an array; pyarrow makes none of unions."""
    if not has_union(kind):
        return pa.array(values, kind.arrow)
    mask = pa.array([value is None for value in values], pa.bool_())
    if pa.types.is_union(kind.arrow):
        # What is null is so in the first variant.
        tagged = [(0, None) if value is None else value for value in values]
        children, offsets = [[] for _ in kind.inner], []
        for tag, value in tagged:
            offsets.append(len(children[tag]))
            children[tag].append(value)
        made = [array_of(each, inside) for each, inside in zip(kind.inner, children, strict=True)]
        names = [field.name for field in kind.arrow]
        tags = pa.array([tag for tag, _ in tagged], pa.int8())
        return pa.UnionArray.from_dense(tags, pa.array(offsets, pa.int32()), made, names)
    if pa.types.is_struct(kind.arrow):
        made = [
            array_of(each, [None if value is None else value[field.name] for value in values])
            for field, each in zip(kind.arrow, kind.inner, strict=True)
        ]
        return pa.StructArray.from_arrays(made, fields=list(kind.arrow), mask=mask)
    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + len(value or ()))
    places = pa.array(
        [*(None if value is None else at for at, value in zip(offsets, values, strict=False)), offsets[-1]], pa.int32()
    )
    inside = [item for value in values for item in value or ()]
    if pa.types.is_map(kind.arrow):
        keys, items = (array_of(each, [pair[at] for pair in inside]) for at, each in enumerate(kind.inner))
        return pa.MapArray.from_arrays(places, keys, items, type=kind.arrow)
    return pa.ListArray.from_arrays(places, array_of(kind.inner[0], inside), type=kind.arrow)


def has_union(kind: Kind) -> bool:
    return pa.types.is_union(kind.arrow) or any(map(has_union, kind.inner))


def untagged(kind: Kind, value: Any) -> Any:
    """A value without the tags of unions, as people have it; maps are lists of pairs."""
    if value is None:
        return None
    if pa.types.is_union(kind.arrow):
        return untagged(kind.inner[value[0]], value[1])
    if pa.types.is_struct(kind.arrow):
        return {
            field.name: untagged(each, value[field.name]) for field, each in zip(kind.arrow, kind.inner, strict=True)
        }
    if pa.types.is_map(kind.arrow):
        return [(key, untagged(kind.inner[1], item)) for key, item in value]
    if kind.inner:
        return [untagged(kind.inner[0], item) for item in value]
    return value


# Tables.

ROW = "row"


@dataclass
class Table:
    """Random columns, and the number of each row."""

    kinds: dict[str, Kind]
    values: dict[str, list[Any]]

    @property
    def rows(self) -> int:
        return len(self.values[ROW])

    def arrow(self) -> pa.Table:
        fields = [kind.field(name) for name, kind in self.kinds.items()]
        arrays = [array_of(kind, self.values[name]) for name, kind in self.kinds.items()]
        return pa.table(arrays, schema=pa.schema(fields))

    def column(self, name: str) -> list[Any]:
        """Values of a column as people have them."""
        return [untagged(self.kinds[name], value) for value in self.values[name]]

    @property
    def orc(self) -> str:
        return f"struct<{','.join(f'{name}:{kind.orc}' for name, kind in self.kinds.items())}>"


def kinds_of(
    rng: random.Random, columns: int, *, unions: bool = True, depth: int = 3, moment: Draw = moments
) -> dict[str, Kind]:
    """Types of columns, a third of them nested."""
    found = {ROW: Kind(pa.int64(), "bigint", integers(64))}
    for at in range(columns):
        found[f"c{at}"] = nested(rng, depth, unions=unions, moment=moment) if at % 3 == 2 else simple(rng, moment)
    return found


def table_of(rng: random.Random, kinds: dict[str, Kind], rows: int) -> Table:
    """Rows of such columns."""
    values: dict[str, list[Any]] = {ROW: list(range(rows))}
    for name, kind in kinds.items():
        if name != ROW:
            made = sequence(rng, kind, rows)
            values[name] = made if pa.types.is_union(kind.arrow) else with_nulls(rng, made)
    return Table(kinds, values)
