"""Columns of a CarbonData table and the Thrift structs that describe them."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from support.carbon import thrift

STRING, SHORT, INT, LONG, DOUBLE, DECIMAL, TIMESTAMP, DATE, BOOLEAN = range(9)
ARRAY, STRUCT, VARCHAR, MAP, FLOAT, BYTE, BINARY = range(20, 27)
KINDS = {
    pa.bool_(): BOOLEAN,
    pa.int8(): BYTE,
    pa.int16(): SHORT,
    pa.int32(): INT,
    pa.int64(): LONG,
    pa.float32(): FLOAT,
    pa.float64(): DOUBLE,
    pa.string(): STRING,
    pa.large_string(): VARCHAR,
    pa.binary(): BINARY,
    pa.date32(): DATE,
}
TEXTS = (STRING, VARCHAR)
COMPLEX = (ARRAY, STRUCT, MAP)
DICTIONARY, RLE, INVERTED_INDEX, DIRECT_DICTIONARY = 0, 2, 3, 5


def literal_kind(of: pa.DataType) -> int:
    """The type as Thrift schemas number it."""
    if pa.types.is_timestamp(of):
        return TIMESTAMP
    if pa.types.is_decimal128(of):
        return DECIMAL
    if pa.types.is_map(of):
        return MAP
    if pa.types.is_list(of):
        return ARRAY
    if pa.types.is_struct(of):
        return STRUCT
    return KINDS[of]


@dataclass
class Column:
    """A column, or a child of a complex one; ``default`` is ``fallback`` as schemas have it."""

    name: str
    type: pa.DataType
    id: str
    ordinal: int = -1
    sort: bool = False
    inverted: bool = False
    child: bool = False
    invisible: bool = False
    default: bytes | None = None
    fallback: object = None
    children: list["Column"] = field(default_factory=list)

    @property
    def kind(self) -> int:
        return literal_kind(self.type)

    @property
    def dimension(self) -> bool:
        """Whether it is no measure: text, time, complex, or sorted by."""
        measure = self.kind in (SHORT, INT, LONG, DOUBLE, DECIMAL, BOOLEAN, FLOAT, BYTE)
        return self.child or self.sort or not measure

    @property
    def decimal(self) -> tuple[int, int]:
        """Precision and scale, -1 where there are none."""
        return (self.type.precision, self.type.scale) if self.kind == DECIMAL else (-1, -1)

    def flat(self) -> Iterator["Column"]:
        """Itself and its descendants, depth first, as schemas and blocklets have them."""
        yield self
        for child in self.children:
            yield from child.flat()

    def thrift(self) -> bytes:
        encoders = [INVERTED_INDEX] if self.inverted else []
        if self.kind == DATE and not self.child:
            encoders = [DICTIONARY, DIRECT_DICTIONARY, *encoders]
        precision, scale = self.decimal
        fields = {
            1: thrift.i32(self.kind),
            2: thrift.binary(self.name),
            3: thrift.binary(self.id),
            4: thrift.flag(True),
            5: thrift.i32s(encoders),
            6: thrift.flag(self.dimension),
            7: thrift.i32(-1),
            8: thrift.i32(scale),
            9: thrift.i32(precision),
            10: thrift.i32(len(self.children)),
            11: thrift.binary(""),
            12: thrift.binary(self.default) if self.default is not None else None,
            13: thrift.texts({"sort_columns": "true"}) if self.sort else None,
            14: thrift.flag(self.invisible),
            15: thrift.binary(self.id),
            16: thrift.i32(self.ordinal),
        }
        return thrift.struct(fields)


def column_id(*parts) -> str:
    """An id that looks like Java's random ones, and is the same in each run."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, parts))))


def column(name: str, of: pa.DataType, id: str, **more) -> Column:
    """A column with its children, which Spark names ``parent.val`` or ``parent.field``."""
    made = Column(name, of, id, **more)
    if made.kind == ARRAY:
        fields = [("val", of.value_type)]
    elif made.kind == MAP:
        fields = [("val", pa.struct([("key", of.key_type), ("value", of.item_type)]))]
    elif made.kind == STRUCT:
        fields = [(part.name, part.type) for part in of]
    else:
        fields = []
    made.children = [column(f"{name}.{part}", kind, column_id(id, part), child=True) for part, kind in fields]
    return made


def columns_of(schema: pa.Schema, *, sort_columns=(), inverted_index=(), salt: object = None) -> list[Column]:
    """The columns in the user's order; with no ``salt`` the ids are the names, as in tables of the SDK."""
    return [
        column(
            field.name,
            field.type,
            field.name if salt is None else column_id(salt, field.name),
            ordinal=number,
            sort=field.name in sort_columns,
            inverted=field.name in inverted_index,
        )
        for number, field in enumerate(schema)
    ]


def stored_order(columns: list[Column], sort_columns=()) -> list[Column]:
    """Sort columns, other dimensions (long texts last), complex ones, measures."""

    def rank(column: Column):
        if column.sort:
            return 0, list(sort_columns).index(column.name)
        if not column.dimension:
            return 4, 0
        return (3 if column.kind in COMPLEX else 2 if column.kind == VARCHAR else 1), 0

    return sorted(columns, key=rank)


def schema_list(columns: list[Column]) -> thrift.Value:
    """Columns with their children as a list of ``ColumnSchema``."""
    return thrift.structs([part.thrift() for column in columns for part in column.flat()])
