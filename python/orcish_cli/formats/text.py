"""Rows of CSV. Types that are not given are inferred of the first block. Errors about values name the row, below the
header, and the column.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from orcish.arrow.exact_casts import cast_exactly
from orcish.arrow.nested import is_binary, is_text, map_fields, repeated_name
from orcish.errors import CorruptFileError, UnsupportedError, unknown_column

from orcish_cli.formats.encodings import INVALID, as_utf8, column_names, invalid_text
from orcish_cli.formats.errors import DELIMITED, INFERRED, first_error
from orcish_cli.formats.open_quotes import CheckedCsv
from orcish_cli.formats.schemas import has_open_units, with_units
from orcish_cli.formats.text_options import TextOptions

__all__ = ["BLOCK", "csv_rows", "csv_schema", "fine_units", "given_fields", "typed_values", "with_text"]

BLOCK = 16 << 20
"""Bytes of text that are parsed at a time."""
OTHER_TEXT = r"^\s|\s$|^\+|^-?0[0-9xX]|^-?[0-9]{19,}$"
"""Texts that are other texts as numbers: with blanks around them, a plus, leading zeros, hexadecimal, or integers that
floating point numbers write with an exponent.
"""
FINE = re.compile(r":[0-9]{2}[.,][0-9]{6}[0-9]*[1-9]")
"""Seconds with digits beyond microseconds."""
WRONG_VALUE = re.compile(
    r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (.+?): invalid value (.*)", re.DOTALL
)
WRONG_ROW = re.compile(r"CSV parse error: Row #(\d+): (.*)", re.DOTALL)
"""Messages of pyarrow, which counts the header as a row."""
SAME_TEXT = {"integer": r"^(0|-?[1-9][0-9]*)$", "boolean": r"^(true|false)$"}
"""Texts that are the same texts as integers and booleans."""


def given_fields(options: TextOptions) -> dict[str, pa.Field]:
    """The columns whose types are given."""
    return {} if options.schema is None else {field.name: field for field in options.schema}


def with_text(schema: pa.Schema) -> pa.Schema:
    """A schema in which columns without values are texts, and the units of timestamps are those that they have."""

    def changed(field: pa.Field) -> pa.Field:
        kind = map_fields(field.type, lambda child, _: changed(child))
        return with_units(field.with_type(pa.string() if pa.types.is_null(kind) else kind))

    return pa.schema([changed(field) for field in schema], schema.metadata)


def _opened(
    open_file: Callable[[], Any], options: TextOptions, types: dict[str, Any], *, is_single: bool, threads: bool = True
) -> Any:
    """A reader of CSV.

    Args:
        open_file: Opens the file.
        options: How it is read.
        types: Types of columns; others are inferred.
        is_single: Whether there is one column, in which a line without text is a null.
        threads: Whether columns are parsed in parallel. Errors name rows only where they are not.
    """
    from pyarrow import csv

    read = csv.ReadOptions(block_size=BLOCK, use_threads=threads)
    if not options.header and options.schema is not None:
        read.column_names = options.schema.names
    elif not options.header:
        read.autogenerate_column_names = True
    parse = csv.ParseOptions(
        delimiter=options.delimiter or ",", newlines_in_values=True, ignore_empty_lines=not is_single
    )
    convert = csv.ConvertOptions(
        null_values=[options.null or ""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        column_types=types,
    )
    file = CheckedCsv(as_utf8(open_file, options.encoding), parse.delimiter)
    return csv.open_csv(file, read_options=read, parse_options=parse, convert_options=convert)


def _batches(
    open_file: Callable[[], Any], options: TextOptions, types: dict[str, Any], *, is_single: bool
) -> Iterator[pa.RecordBatch]:
    """The rows of CSV; arguments as those of :func:`_opened`.

    Raises:
        CorruptFileError: Text is not UTF-8, a row has another number of columns, or a value is not one of its type.
    """
    with _placed(open_file, options, types, is_single=is_single):
        yield from _opened(open_file, options, types, is_single=is_single)


@contextlib.contextmanager
def _placed(
    open_file: Callable[[], Any], options: TextOptions, types: dict[str, Any], *, is_single: bool
) -> Iterator[None]:
    """Within the block, errors about rows and values of CSV say where they are; arguments as those of :func:`_opened`.

    Raises:
        CorruptFileError: Text is not UTF-8, a row has another number of columns, or a value is not one of its type.
    """
    try:
        yield
    except pa.ArrowInvalid as error:
        if INVALID in str(error):
            raise _invalid(open_file, options) from error
        names: list[str] = []
        try:
            reader = _opened(open_file, options, types, is_single=is_single, threads=False)
            names += column_names(reader.schema)
            for _ in reader:
                pass
        except pa.ArrowInvalid as own:
            raise _with_row(own, names, 1 if options.header else 0) from error
        raise


def _with_row(error: Exception, names: list[str], header: int) -> Exception:
    """An error of pyarrow as one that names the row and the column.

    Args:
        error: The error of a reader without threads.
        names: The columns.
        header: Rows of the header.
    """
    if found := WRONG_VALUE.fullmatch(str(error)):
        at, row, kind, text = found.groups()
        name = repr(names[int(at)]) if names else f"{int(at) + 1}"
        return CorruptFileError(f"row {int(row) - header}: column {name}: {text} is not one of {kind}: {INFERRED}")
    if "straddl" in str(error):
        return CorruptFileError("a row is larger than 16 MB, or the quote of a cell is not closed")
    if found := WRONG_ROW.fullmatch(str(error)):
        row, text = found.groups()
        return CorruptFileError(f"row {int(row) - header}: {text}: {DELIMITED}")
    return error


def _invalid(open_file: Callable[[], Any], options: TextOptions) -> CorruptFileError:
    names = column_names(_opened(open_file, options, {}, is_single=False).schema)
    return invalid_text(_opened(open_file, options, dict.fromkeys(names, pa.binary()), is_single=len(names) == 1))


def csv_schema(open_file: Callable[[], Any], options: TextOptions) -> pa.Schema:
    """The columns of CSV, with given and inferred types. Columns with a text in the first block that a number or
    boolean would change are texts. Those without values in the first block have the type null.

    Raises:
        CorruptFileError: Text is not UTF-8.
        UnknownColumnError: The schema has a column that the file has not.
        ValueError: Two columns have one name.
    """
    given = given_fields(options)
    # Types of given columns that the reader cannot parse are no error here.
    types = dict.fromkeys(given, pa.string())
    with _placed(open_file, options, types, is_single=False):
        found = _opened(open_file, options, types, is_single=False).schema
    names = set(column_names(found))
    if any(is_binary(field.type) for field in found):
        # pyarrow infers binaries of text that is not UTF-8.
        raise _invalid(open_file, options)
    for name in given:
        if name not in names:
            raise unknown_column(name, found.names)
    repeated = repeated_name(found.names)
    if repeated is not None:
        raise ValueError(f"two columns have the name {repeated!r}: --no-header with --schema gives other names")
    return _exact(open_file, options, pa.schema([given.get(field.name, field) for field in found]), given)


def _exact(open_file: Callable[[], Any], options: TextOptions, schema: pa.Schema, given: Collection[str]) -> pa.Schema:
    """The columns with types that keep all texts of the first block: texts in place of inferred numbers, and units for
    given timestamps without one.
    """
    if not any(_is_number(field.type) or has_open_units(field) for field in schema):
        return schema
    types = dict.fromkeys(schema.names, pa.string())
    first = next(_batches(open_file, options, types, is_single=len(schema) == 1), None)
    fields = []
    for at, field in enumerate(schema):
        kept = field
        if first is not None and field.name in given:
            kept = fine_units(field, map(str, first.column(at)))
        elif first is not None and _is_number(field.type):
            try:
                _inferred(first.column(at), field)
            except CorruptFileError:
                kept = field.with_type(pa.string())
        fields.append(kept)
    return pa.schema(fields)


def fine_units(field: pa.Field, texts: Iterable[str]) -> pa.Field:
    """A given column, whose timestamps without a unit have nanoseconds if a text has more than six digits of a second.
    Their units stay open, as other sources may have more digits.
    """
    if not has_open_units(field) or not any(map(FINE.search, texts)):
        return field
    return with_units(field, "ns", is_open=True)


def csv_rows(open_file: Callable[[], Any], options: TextOptions, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of CSV, with the types of a schema of the columns.

    Raises:
        CorruptFileError: A value is not one of its type.
    """
    before, given = 0, given_fields(options)
    inferred = {field.name: field for field in schema if field.name not in given}
    as_text = {name for name, field in inferred.items() if _is_number(field.type)} | set(given)
    types = {name: pa.string() if name in as_text else field.type for name, field in inferred.items()}
    types |= dict.fromkeys(given, pa.string())
    for batch in _batches(open_file, options, types, is_single=len(schema) == 1):
        fields = [schema.field(name) for name in batch.schema.names]
        columns = [
            _typed(column, field, _given if field.name in given else _inferred, before)
            for column, field in zip(batch.columns, fields, strict=True)
        ]
        before += len(batch)
        yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _typed(texts: pa.Array, field: pa.Field, typed: Callable[[pa.Array, pa.Field], pa.Array], before: int) -> pa.Array:
    """Values of texts, with the type of a column.

    Raises:
        CorruptFileError: A value is not one of the type; it names the row, after those of batches before.
    """
    try:
        return typed(texts, field)
    except CorruptFileError as error:
        at, own = first_error(lambda start, end: typed(texts[start:end], field), len(texts), error)
        raise CorruptFileError(f"row {before + at + 1}: {own.args[0]}") from error


def _is_number(kind: pa.DataType) -> bool:
    """Whether texts of a type may be others, once parsed."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _given(texts: pa.Array, field: pa.Field) -> pa.Array:
    """Values of texts, with the type of a given column."""
    kind = field.type
    if not is_text(kind) and not is_binary(kind):
        texts = pc.utf8_trim_whitespace(texts)
    try:
        return typed_values(texts, kind, field.name)
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedError(f"column {field.name!r}: {kind} is not read from CSV") from error


def typed_values(array: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    """Values of text, which are texts or have been parsed, with the type of a given column. Binaries are hexadecimal
    digits.

    Raises:
        CorruptFileError: A value is not one of the type.
    """
    if not is_binary(kind):
        try:
            return cast_exactly(array, kind)
        except pa.ArrowInvalid as error:
            raise CorruptFileError(f"column {name!r}: {error}") from error
    try:
        return pa.array([None if text is None else bytes.fromhex(text) for text in array.to_pylist()], kind)
    except ValueError as error:
        raise CorruptFileError(f"column {name!r}: binaries are hexadecimal digits: {error}") from error


def _inferred(array: pa.Array, field: pa.Field) -> pa.Array:
    """Values of texts, with an inferred type.

    Raises:
        CorruptFileError: A text would be another one.
    """
    kind = field.type
    if array.type == kind:
        return array
    name = "boolean" if pa.types.is_boolean(kind) else "number"
    advice = f"give the type with --schema '{field.name} string', or another type"
    at = pc.index(pc.fill_null(_is_other_text(array, kind), False), True).as_py()
    if at >= 0:
        raise CorruptFileError(
            f"column {field.name!r}: {array[at].as_py()[:40]!r} would not be the same text as a {name}: {advice}"
        )
    try:
        return cast_exactly(array, kind)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(
            f"column {field.name!r}: {error}: types are inferred of the first rows: {advice}"
        ) from error


def _is_other_text(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Whether texts are others once they are parsed, and so identifiers rather than numbers: ``007``, ``+49…``."""
    if pa.types.is_floating(kind):
        return pc.match_substring_regex(texts, OTHER_TEXT)
    same = SAME_TEXT["boolean" if pa.types.is_boolean(kind) else "integer"]
    return pc.invert(pc.match_substring_regex(texts, same))
