"""Filters for tests of CarbonData, and the rows that are right."""

import datetime as dt

import orcish
import pyarrow as pa

from support import predicate_oracle


def kept(rows, condition):
    """The rows of a table that a condition keeps, found in memory."""
    return rows.filter(predicate_oracle.keep(condition, rows))


def some_values(column, *, few=False):
    """Values of a column that are not null: the least, the greatest, and some between them."""
    values = sorted({value for value in column.to_pylist() if value is not None})
    if not values:
        return []
    places = [len(values) // 2] if few else [0, len(values) // 3, len(values) // 2, len(values) - 1]
    return [values[at] for at in dict.fromkeys(places)]


def beside(value):
    """A value just past another one, which hardly any column has."""
    if isinstance(value, bool):
        return []
    if isinstance(value, str):
        return [value + "\0", ""]
    if isinstance(value, bytes):
        return [value + b"\0", b""]
    if isinstance(value, dt.datetime):
        return [value + dt.timedelta(microseconds=1)]
    if isinstance(value, dt.date):
        return [value + dt.timedelta(days=1)] if value < dt.date(9999, 12, 31) else []
    return [value + 1] if value < 1 << 62 else []


def literal(value, of):
    return value.replace(tzinfo=dt.timezone.utc) if pa.types.is_timestamp(of) and value.tzinfo is None else value


def conditions(rows, name, *, few=False):
    """Conditions on a column, with each operator."""
    column, of = orcish.col(name), rows.schema.field(name).type
    found = [column.is_null(), column.is_not_null()]
    if pa.types.is_nested(of):
        return found
    values = [literal(value, of) for value in some_values(rows.column(name), few=few)]
    others = [other for each in values[:2] for other in beside(each)]
    for value in values if few else [*values, *others]:
        found += [column == value, column != value, ~(column == value)]
        if not pa.types.is_boolean(of):
            found += [column < value, column <= value, column > value, column >= value]
    if values:
        found += [column.is_in(values), ~column.is_in(values[:2])]
        found.append((column == values[0]) | column.is_null())
        found.append(column.is_null() & (orcish.col("id") >= 0))
    if values and pa.types.is_string(of):
        found.append(column.starts_with(values[-1][:3]))
    return found
