"""Checks of min, max and sum of a scan against its rows."""

import decimal
import pathlib

import pyarrow as pa
import pyarrow.compute as pc
import pytest

DATA = pathlib.Path(__file__).parents[2] / "data"
# Encrypted, and with names that occur twice.
FILES = sorted(
    path
    for path in DATA.rglob("*.orc")
    if not {"corrupt", "heavy", "odd"} & set(path.parts) and not path.name.startswith("masked")
)


def leaves(schema):
    """Dotted names and types of the columns that have an order."""
    pending = [(field.name, field.type) for field in reversed(schema)]
    while pending:
        name, kind = pending.pop()
        if pa.types.is_struct(kind):
            pending += [(f"{name}.{field.name}", field.type) for field in kind]
        elif not pa.types.is_nested(kind):
            yield name, kind


def values(table, name):
    """What is in a column of a table, without nulls."""
    top, *fields = name.split(".")
    found = table[top]
    for field in fields:
        found = pc.struct_field(found, field)
    return [value for value in found.to_pylist() if value is not None]


def is_number(kind):
    return pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind)


def expected(found, question):
    if question != "sum":
        found = [value for value in found if value == value]
    if not found:
        return None
    if question != "sum":
        return {"min": min, "max": max}[question](found)
    with decimal.localcontext(decimal.Context(prec=100)):
        return sum(found[1:], found[0])


def check(scan, name, kind):
    """Three answers of a scan are those of its rows."""
    found = values(scan.to_table(), name)
    for question in ("min", "max", "sum"):
        if question == "sum" and pa.types.is_floating(kind):
            assert scan.sum(name) == (pytest.approx(sum(found), nan_ok=True) if found else None)
        elif question == "sum" and not is_number(kind):
            with pytest.raises(TypeError, match=f"column {name} of type .* has no sum"):
                scan.sum(name)
        else:
            assert getattr(scan, question)(name) == expected(found, question), (scan, name, question)
