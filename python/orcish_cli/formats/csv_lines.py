"""Rows of CSV, which pyarrow splits into texts. Types that are not given are inferred of the first block. Errors about
values name the row, below the header, and the column.
"""

from __future__ import annotations

import contextlib
import functools
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from orcish.arrow.casting import cast_array
from orcish.arrow.nested import is_binary, is_text, repeated_name
from orcish.errors import CastError, CorruptFileError, UnsupportedError
from orcish.hints import unknown_column

from orcish_cli.formats import text_values
from orcish_cli.formats.checked_csv import CheckedCsv
from orcish_cli.formats.errors import DELIMITED, ENCODED
from orcish_cli.formats.schemas import has_open_units
from orcish_cli.formats.text_options import TextOptions
from orcish_cli.formats.text_values import given_fields, of_texts, placed, with_fine_unit
from orcish_cli.type_tree import quoted

__all__ = ["csv_rows", "csv_schema"]

OTHER_TEXT = r"^\s|\s$|^\+|^-?0[0-9xX]|^-?[0-9]{19,}$"
"""Texts that are other texts as numbers: with blanks around them, a plus, leading zeros, hexadecimal, or integers that
floating point numbers write with an exponent.
"""
SAME_TEXT = {"integer": r"^(0|-?[1-9][0-9]*)$", "boolean": r"^(true|false)$"}
"""Texts that are the same texts as integers and booleans."""
FRACTION = re.compile(r"(?=.*[.eE])-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""Texts that are floating point numbers, and no integers."""
FINE = r":[0-9]{2}[.,][0-9]{6}[0-9]*[1-9]"
"""Seconds with digits beyond microseconds."""
WRONG_ROW = re.compile(r"CSV parse error: Row #(\d+): (.*)", re.DOTALL)
"""The message of pyarrow, which counts the header as a row."""
SHOWN = 20


def csv_schema(open_file: Callable[[], Any], options: TextOptions) -> pa.Schema:
    """The columns of CSV, with given and inferred types. Columns with a text in the first block that a number or
    boolean would change are texts. Those without values in the first block have the type null.

    Raises:
        CorruptFileError: Text is not UTF-8, or a row has another number of columns.
        UnknownColumnError: The schema has a column that the file has not.
        ValueError: Two columns have one name.
    """
    given = given_fields(options)
    with _placed_rows(open_file, options):
        found = _opened(open_file, options, (), threads=True).schema
    try:
        names = list(found.names)
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"the names of the columns, in the first row, are not UTF-8: {ENCODED}") from error
    for name in given:
        if name not in names:
            raise unknown_column(name, names)
    repeated = repeated_name(names)
    if repeated is not None:
        raise ValueError(f"two columns have the name {repeated!r}: --no-header with --schema gives other names")
    first = next(_texts(open_file, options, names), None)
    if first is None:
        return pa.schema([given.get(field.name, field) for field in found])
    return pa.schema([_exact(given.get(field.name), field, first.column(field.name)) for field in found])


def _exact(given: pa.Field | None, inferred: pa.Field, texts: pa.Array) -> pa.Field:
    """The column, whose type keeps the texts of the first block."""
    if given is not None:
        is_fine = has_open_units(given) and pc.any(pc.match_substring_regex(texts, FINE)).as_py()
        return with_fine_unit(given) if is_fine else given
    return inferred if _fits(texts, inferred) else inferred.with_type(pa.string())


def csv_rows(open_file: Callable[[], Any], options: TextOptions, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of CSV, with the columns of a schema, which may have another order than those of the file.

    Raises:
        CorruptFileError: A value is not one of its type.
    """
    before, given = 0, given_fields(options)
    for batch in _texts(open_file, options, schema.names):
        columns = []
        for field in schema:
            is_given, texts = field.name in given, batch.column(field.name)
            typed = functools.partial(_given if is_given else _inferred, field=field)
            try:
                columns.append(placed(typed, texts, field.name, before))
            except CorruptFileError as error:
                if is_given:
                    raise
                raise CorruptFileError(f"{error}: {_advice(texts, field, options)}") from error
        before += len(batch)
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _texts(open_file: Callable[[], Any], options: TextOptions, names: list[str]) -> Iterator[pa.RecordBatch]:
    """The cells of all rows, in the order of the columns of the file.

    Args:
        open_file: Opens the file.
        options: How it is read.
        names: Its columns, in any order.

    Raises:
        CorruptFileError: Text is not UTF-8, or a row has another number of columns.
    """
    before = 0
    with _placed_rows(open_file, options):
        for batch in _opened(open_file, options, names, threads=True):
            own = batch.schema.names
            columns = [placed(_utf8, column, name, before) for column, name in zip(batch.columns, own, strict=True)]
            before += len(batch)
            yield pa.RecordBatch.from_arrays(columns, own)


def _opened(open_file: Callable[[], Any], options: TextOptions, names: Iterable[str], *, threads: bool) -> Any:
    """A reader of CSV.

    Args:
        open_file: Opens the file.
        options: How it is read.
        names: The columns, whose cells are read as bytes; by default, their types are inferred.
        threads: Whether columns are parsed in parallel. Errors name rows only where they are not.
    """
    from pyarrow import csv

    types = dict.fromkeys(names, pa.binary())
    read = csv.ReadOptions(block_size=text_values.BLOCK, use_threads=threads)
    if not options.header and options.schema is not None:
        read.column_names = options.schema.names
    elif not options.header:
        read.autogenerate_column_names = True
    parse = csv.ParseOptions(
        # A line without text is a null of a column alone.
        delimiter=options.delimiter or ",",
        newlines_in_values=True,
        ignore_empty_lines=len(types) != 1,
    )
    convert = csv.ConvertOptions(
        null_values=[options.null or ""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        column_types=types,
    )
    file = CheckedCsv(open_file, parse.delimiter, options.encoding)
    return csv.open_csv(file, read_options=read, parse_options=parse, convert_options=convert)


@contextlib.contextmanager
def _placed_rows(open_file: Callable[[], Any], options: TextOptions) -> Iterator[None]:
    """Within the block, errors about rows of CSV say which one it is.

    Raises:
        CorruptFileError: A row has another number of columns, or is larger than a block.
    """
    try:
        yield
    except pa.ArrowInvalid as error:
        text = str(error)
        with contextlib.suppress(StopIteration):
            try:
                reader = _opened(open_file, options, (), threads=False)
                while reader.read_next_batch() is not None:
                    pass
            except pa.ArrowInvalid as own:
                text = str(own)
        if "straddl" in text:
            raise CorruptFileError("a row is larger than 16 MB, or the quote of a cell is not closed") from error
        if found := WRONG_ROW.fullmatch(text):
            row = int(found[1]) - (1 if options.header else 0)
            raise CorruptFileError(f"row {row}: {found[2]}: {DELIMITED}") from error
        raise


def _utf8(cells: pa.Array) -> pa.Array:
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid as error:
        text = cells[0].as_py() or b""
        shown = text[:SHOWN].decode("ascii", "backslashreplace") + ("…" if len(text) > SHOWN else "")
        raise ValueError(f"{shown} is not UTF-8: {ENCODED}") from error


def _given(texts: pa.Array, field: pa.Field) -> pa.Array:
    """Values of texts, with the type of a given column."""
    kind = field.type
    if not is_text(kind) and not is_binary(kind):
        texts = pc.utf8_trim_whitespace(texts)
    try:
        return of_texts(texts, kind)
    except UnsupportedError as error:
        raise UnsupportedError(f"{kind} is not read from CSV") from error


def _inferred(texts: pa.Array, field: pa.Field) -> pa.Array:
    """Values of texts, with an inferred type.

    Raises:
        ValueError: A text would be another one.
    """
    kind = field.type
    if kind == texts.type or is_binary(kind) or pa.types.is_null(kind):
        return texts
    at = pc.index(pc.fill_null(_is_other_text(texts, kind), False), True).as_py()
    if at >= 0:
        text = texts[at].as_py()
        if pa.types.is_integer(kind) and FRACTION.fullmatch(text):
            raise ValueError(f"{text[:40]!r} is no integer, as the first rows have")
        name = "boolean" if pa.types.is_boolean(kind) else "number"
        raise ValueError(f"{text[:40]!r} would not be the same text as a {name}")
    try:
        return cast_array(texts, kind)
    except CastError as error:
        raise ValueError(f"{error}: types are inferred of the first rows") from error


def _fits(texts: pa.Array, field: pa.Field) -> bool:
    """Whether a type keeps all texts."""
    try:
        _inferred(texts, field)
    except ValueError:
        return False
    return True


def _has_fractions(texts: pa.Array, field: pa.Field) -> bool:
    """Whether the texts of a column that was inferred as one of integers are floating point numbers and integers."""
    if not pa.types.is_integer(field.type):
        return False
    others = texts.filter(pc.fill_null(_is_other_text(texts, field.type), False)).to_pylist()
    return all(map(FRACTION.fullmatch, others)) and _fits(texts, field.with_type(pa.float64()))


def _advice(texts: pa.Array, field: pa.Field, options: TextOptions) -> str:
    """What to do about a column that has other values than its first rows. A string holds all of them. A number is
    advised for integers beside fractions, unless these rows have others.
    """
    is_number = _has_fractions(texts, field)
    if not options.header:
        # The schema names all columns then.
        kind = "the type double if it holds all values, and else string" if is_number else "string"
        return f"give the types of all columns with --schema, to {field.name!r} {kind}"
    number, text = (shlex.quote(f"{quoted(field.name)} {kind}") for kind in ("double", "string"))
    advised = f"{number} if a double holds all values, and else {text}" if is_number else text
    return f"give the type with --schema {advised}"


def _is_other_text(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Whether texts are others once they are parsed, and so identifiers rather than numbers: ``007``, ``+49…``."""
    if pa.types.is_floating(kind):
        return pc.match_substring_regex(texts, OTHER_TEXT)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        same = SAME_TEXT["boolean" if pa.types.is_boolean(kind) else "integer"]
        return pc.invert(pc.match_substring_regex(texts, same))
    return pa.array([], pa.bool_())
