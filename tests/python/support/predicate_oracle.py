"""Evaluates predicates of orcish on tables in memory, value by value, for the tests to compare with."""

import math
import operator
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9


def keep(expression, table) -> pa.BooleanArray:
    """Whether each row is kept, never null: unknown is not true."""
    return pc.fill_null(truth(expression, table), False)


def truth(expression, table) -> pa.BooleanArray:
    """True, false or, where unknown, null for each row."""
    return _truth(expression._tree(), table)


def _truth(tree, table):
    match tree:
        case ("and", parts):
            assert parts
            return _reduce(pc.and_kleene, parts, table)
        case ("or", parts):
            assert parts
            return _reduce(pc.or_kleene, parts, table)
        case ("not", part):
            return pc.invert(_truth(part, table))
        case ("constant", value):
            return pa.array([value] * table.num_rows, pa.bool_())
        case ("compare", symbol, name, literal):
            return _each(table, name, lambda value, kind: _compare(symbol, value, kind, literal))
        case ("in", name, literals):
            assert literals
            return _each(table, name, lambda value, kind: _among(value, kind, literals))
        case ("is_null", name):
            return pa.array([value is None for value in _column(table, name)[0]], pa.bool_())
        case ("is_nan", name):
            return _each(table, name, lambda value, kind: math.isnan(value))
        case ("starts_with", name, (tag, prefix)):
            want = prefix.encode() if tag == "string" else prefix
            return _each(table, name, lambda value, kind: _bytes(value).startswith(want))
    raise AssertionError(f"not a tree: {tree!r}")


def _reduce(join, parts, table):
    done = _truth(parts[0], table)
    for part in parts[1:]:
        done = join(done, _truth(part, table))
    return done


def _each(table, name, ask):
    values, kind = _column(table, name)
    answers = {None: None}
    for value in values:
        if value not in answers:
            answers[value] = ask(value, kind)
    return pa.array([answers[value] for value in values], pa.bool_())


def _column(table, name):
    """Values and type of a column; times as nanoseconds since 1970."""
    rest, column = name if isinstance(name, str) else ".".join(name), None
    while rest is not None:
        names = table.column_names if column is None else [field.name for field in column.type]
        step = max((each for each in names if rest == each or rest.startswith(f"{each}.")), key=len)
        if column is None:
            column = table.column(step).combine_chunks()
            column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        else:
            column = pc.struct_field(column, step)
        rest = rest[len(step) + 1 :] or None
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if pa.types.is_timestamp(kind):
        unit = UNITS[kind.unit]
        return [None if tick is None else tick * unit for tick in column.cast(pa.int64()).to_pylist()], kind
    if pa.types.is_date32(kind):
        return [None if day is None else day * DAY for day in column.cast(pa.int32()).to_pylist()], kind
    return column.to_pylist(), kind


def _compare(symbol, value, kind, literal):
    tag = literal[0]
    if tag == "null":
        return None
    if tag in ("int", "float", "decimal"):
        assert isinstance(value, int | float | Decimal), (kind, literal)
        assert not isinstance(value, bool), (kind, literal)
        other = Decimal(literal[1]) if tag == "decimal" else literal[1]
        # A floating point number beside a decimal is the shortest that it is written as, if that is no whole number, or
        # the nearest to it.
        if isinstance(value, Decimal) and tag == "float" and math.isfinite(other) and not other.is_integer():
            other = Decimal(repr(other))
        if isinstance(value, float) and tag == "decimal":
            other = float(other)
        # Python compares numbers of different types by their exact values, but raises for a NaN beside a decimal.
        if any(isinstance(number, float) and math.isnan(number) for number in (value, other)):
            return symbol == "!="
        return OPERATORS[symbol](value, other)
    if tag == "bool":
        assert isinstance(value, bool), (kind, literal)
        return OPERATORS[symbol](value, literal[1])
    if tag in ("string", "binary"):
        assert isinstance(value, str if tag == "string" else bytes), (kind, literal)
        return OPERATORS[symbol](_bytes(value), _bytes(literal[1]))
    assert pa.types.is_date32(kind) or pa.types.is_timestamp(kind), (kind, literal)
    instant = tag == "timestamp" and literal[2]
    assert instant == (pa.types.is_timestamp(kind) and kind.tz is not None), (kind, literal)
    return OPERATORS[symbol](value, literal[1] * DAY if tag == "date" else literal[1])


def _among(value, kind, literals):
    answers = [_compare("=", value, kind, literal) for literal in literals]
    if True in answers:
        return True
    return None if None in answers else False


def _bytes(value):
    return value.encode() if isinstance(value, str) else value
