"""``orcish sql``: queries of files and tables by duckdb, whose columns and filters are pushed down."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from orcish import Scan, UnsupportedError
from orcish._native import Location
from orcish.arrow.casting import cast_array
from orcish.arrow.nested import is_read_union, map_columns, map_fields
from orcish.io.names import display_name
from orcish.process import stopped_by_signals
from orcish.types import ReadOptions

from orcish_cli.arguments import VALUES, add_external, add_limit, add_options, add_storage, pair
from orcish_cli.batch_slices import has_union, limited
from orcish_cli.formats.names import ORC, named
from orcish_cli.json_values import WideInteger
from orcish_cli.messages import set_stream
from orcish_cli.parser import WrongArgumentsError
from orcish_cli.reading import open_rows
from orcish_cli.rows import JSON_VALUES, add_showing, print_rows
from orcish_cli.sql_tables import Table, add_table, lower, message_of
from orcish_cli.standard_input import STREAM, stream_file

__all__ = ["add_arguments"]

BATCH_SIZE = 8192
UNQUOTED = re.compile(r"\b(?:from|join)\s+([\w.*?:-]*/[\w.*?:/=-]+|[\w-]+\.orc)\b", re.IGNORECASE)
"""A path without quotes in the place of a table."""
QUOTED = re.compile(r"'((?:[^']|'')+)'")
"""A text of SQL, which may be the name of a file."""
DESCRIPTION = re.compile(r"\b(?:describe|desc|show)\b", re.IGNORECASE)
MAX_VARIANTS = 128
"""Variants of a union of Arrow. Unions of more are read as structs."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Run a query of duckdb over ORC files, folders, patterns, URLs, and tables of CarbonData. They are named in "
        "quotes, as in: select city, sum(total) from 'orders/*.orc' group by city. Only the columns that the query "
        "needs are read, and stripes in which no row can pass its filters are skipped. It needs duckdb: pip install "
        "duckdb."
    )
    command.epilog = JSON_VALUES
    command.add_argument("query", metavar="QUERY", help="a query: select, from, with, describe, summarize")
    command.add_argument(
        "--table",
        dest="tables",
        type=pair,
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a name for a file, a folder, a pattern or a URL; can be repeated",
    )
    add_limit(command, "print no more rows than this")
    command.add_argument("--threads", type=threads, metavar="N", help="threads of duckdb (the number of cores)")
    command.add_argument("--memory", metavar="SIZE", help="memory limit of duckdb, such as 4GB")
    add_showing(command)
    add_options(command, ReadOptions, *VALUES)
    add_storage(command)
    add_external(command)
    command.set_defaults(run=_run)


def threads(text: str) -> int:
    """Parses a positive number."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def _run(options: argparse.Namespace) -> int:
    try:
        import duckdb
    except ImportError as error:
        raise UnsupportedError("queries are run by duckdb, which is not installed: pip install duckdb") from error
    given = {"threads": options.threads, "memory_limit": options.memory}
    # Names are files, and never variables of this program; nothing is downloaded.
    settings: dict[str, Any] = {"python_enable_replacements": False, "autoinstall_known_extensions": False}
    settings |= {name: value for name, value in given.items() if value is not None}
    try:
        connected = duckdb.connect(config=settings)
    except duckdb.Error as error:
        raise WrongArgumentsError(f"--memory {options.memory}: {message_of(error, ())}") from error
    added: list[Table] = []
    try:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(connected)
            stack.enter_context(stopped_by_signals(connection.interrupt))
            has_unions = False
            for name, source in _tables(_names(connection, options.query), dict(options.tables)).items():
                path = source
                if source == STREAM:
                    path = stack.enter_context(stream_file())
                    set_stream(path)
                rows = _rows(path, options, "sparse")
                if any(map(has_union, rows.schema.types)):
                    # duckdb takes unions with a null for nulls without a tag.
                    rows, has_unions = _rows(path, options, "struct"), True
                added.append(add_table(connection, name, rows, source))
                if DESCRIPTION.search(options.query):
                    added[-1].check_names()
            schema, batches = _result(connection.sql(options.query), has_unions=has_unions)
            return print_rows(schema, limited(batches, options.limit), options)
    except duckdb.Error as error:
        for table in added:
            if "duplicate name" in str(error):
                # Types are bound before rows are asked for.
                table.check_fields()
            if table.refusal is not None:
                raise table.refusal from None
        text = f"duckdb: {message_of(error, [table.name for table in added])}"
        # Files that duckdb itself reads may be damaged.
        others = [name for name in QUOTED.findall(options.query) if named(name).format not in (None, ORC)]
        of_query = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException)
        if others and not isinstance(error, of_query) and not any(name in text for name in others):
            text = f"{', '.join(map(display_name, others))}: {text}"
        raise ValueError(text) from error


def _names(connection: Any, query: str) -> list[str]:
    """The names in quotes, or without a schema, that stand for tables in a query.

    Raises:
        WrongArgumentsError: The text is no query, or several, or a file is named without quotes.
    """
    ((text,),) = connection.execute("select json_serialize_sql(?)", [query]).fetchall()
    nodes: list[dict[str, Any]] = []

    def seen(node: dict[str, Any]) -> dict[str, Any]:
        nodes.append(node)
        return node

    parsed = json.loads(text, object_hook=seen)
    if parsed["error"]:
        message = str(parsed["error_message"])
        if parsed.get("error_type") == "not implemented":
            message = "only queries are run, which change nothing: select, from, with, describe, summarize"
        elif (path := UNQUOTED.search(query)) is not None:
            message += f": names of files and folders are in quotes: from '{path[1]}'"
        raise WrongArgumentsError(f"the query: {message}")
    if not parsed["statements"]:
        raise WrongArgumentsError("the query: it is empty: give one, such as select count(*) from 'orders.orc'")
    if len(parsed["statements"]) > 1:
        raise WrongArgumentsError("the query: one is run at a time")
    found: dict[str, None] = {}
    own: set[str] = set()
    for node in nodes:
        if "cte_map" in node:
            own.update(lower(each["key"]) for each in node["cte_map"]["map"])
        if node.get("type") == "BASE_TABLE":
            parts = [node[part] for part in ("catalog_name", "schema_name", "table_name") if node.get(part)]
            name = ".".join(parts)
            if len(parts) == 1:
                found[name] = None
            elif os.path.exists(Location(name).path):
                raise WrongArgumentsError(f"the query: {name} is a file, whose name is in quotes: from '{name}'")
    # A common table expression hides a table of its name from all but itself.
    return [name for name in found if lower(name) not in own or os.path.exists(Location(name).path)]


def _tables(names: list[str], given: dict[str, str]) -> dict[str, str]:
    """The paths of the tables that orcish reads, by their names in the query.

    Raises:
        ValueError: Two names differ only by case, which duckdb does not distinguish.
    """
    own = set(map(lower, given))
    found = {**given, **{name: name for name in names if lower(name) not in own and _is_source(name)}}
    firsts: dict[str, str] = {}
    for name in found:
        other = firsts.setdefault(lower(name), name)
        if other != name and found[other] != found[name]:
            raise ValueError(
                f"{display_name(other)} and {display_name(name)} are one name to duckdb, which ignores case: give "
                "one of them another name by --table NAME=PATH"
            )
    return found


def _is_source(name: str) -> bool:
    """Whether orcish reads a table. Files of other formats are left to duckdb."""
    form = named(name).format
    if form is not None or name == STREAM:
        return form in (None, ORC)
    location = Location(name)
    path = location.path
    # Words that are no paths are tables and views of duckdb.
    return "://" in path or "/" in path or location.is_pattern or os.path.exists(path)


def _rows(path: str, options: argparse.Namespace, unions: str) -> Scan:
    """The rows of a source, with all digits of their timestamps."""
    return open_rows([path], options, keeps_units=True, more_of_orc={"unions": unions, "null_map_keys": "error"})


def _result(relation: Any, *, has_unions: bool) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns and rows of a query, in batches. Structs as which unions are read are unions again, and integers of
    128 bits are told from decimals.
    """
    reader = relation.to_arrow_reader(BATCH_SIZE)
    types = list(relation.types)
    for field, kind in zip(reader.schema, types, strict=True):
        if (lost := _lost_type(kind)) is not None:
            raise ValueError(f"column {field.name}: Arrow has no {lost}: cast it, as in {field.name}::varchar")
    pairs = zip(reader.schema, types, strict=True)
    schema = pa.schema([field.with_type(_with_integers(field.type, kind)) for field, kind in pairs])
    schema = map_columns(schema, _with_union) if has_unions else schema
    return schema, iter(reader) if schema.equals(reader.schema) else (_cast(batch, schema) for batch in reader)


def _lost_type(own: Any) -> str | None:
    """The type of duckdb, itself or nested, whose values duckdb changes as it passes them on: times lose their offset,
    and others are their bytes in memory.
    """
    if own.id in ("time with time zone", "bit", "bignum", "varint"):
        return str(own)
    nested = own.children if own.id in ("list", "array", "struct", "map", "union") else []
    found = (_lost_type(child) for _, child in nested if hasattr(child, "id"))
    return next((each for each in found if each is not None), None)


def _with_integers(kind: Any, own: Any) -> Any:
    """The type of Arrow of a type of duckdb, with those of 128-bit integers, which are decimals otherwise. There is no
    cast within unions.
    """
    if own.id in ("hugeint", "uhugeint"):
        return WideInteger(is_signed=own.id == "hugeint")
    if not kind.num_fields or pa.types.is_union(kind):
        return kind
    children = iter(own.children)
    return map_fields(kind, lambda field, _: field.with_type(_with_integers(field.type, next(children)[1])))


def _with_union(field: pa.Field, _: str) -> pa.Field:
    kind = field.type
    if not is_read_union(kind) or kind.num_fields - 1 > MAX_VARIANTS:
        return field
    return field.with_type(pa.sparse_union([kind.field(at) for at in range(1, kind.num_fields)]))


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [cast_array(column, kind) for column, kind in zip(batch.columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
