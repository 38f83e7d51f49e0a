"""Translation of predicates on the types of Spark to predicates on the types of the scan.

In the scan, partition columns may be strings. Literals without zone that are compared with instants are wall clock
times of the session's time zone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import decimal
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish.errors import OrcishError
from orcish.filters import literals
from orcish.filters.expression import Expression, Tree, tree_of
from orcish.filters.literals import Literal
from orcish.filters.pushdown import Filters, own_expression, split_filters
from orcish.filters.steps import check_steps
from orcish.filters.text import parse
from orcish.filters.translation import false_or_null
from orcish.spark.options import TableOptions
from orcish.spark.table.columns import ColumnMatch, find_column
from orcish.spark.table.partitions import parse_partition_values
from orcish.spark.types.timezones import spark_instants

__all__ = ["FilterTranslator"]

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DAY = 86_400 * 10**9
_MOST = 1 << 62
"""Microseconds beyond which zones are not applied."""


@dataclasses.dataclass(frozen=True)
class FilterTranslator:
    """Translates predicates on a table."""

    table_schema: pa.Schema
    """Schema in Spark."""
    scan_schema: pa.Schema
    """Schema of the scan."""
    folders: Mapping[str, Collection[str]]
    """Distinct values of partition columns, as strings."""
    session_zone: str | None
    """Time zone of timestamps without zone. Without it, these are errors."""
    folder_zone: str
    """Time zone of timestamps in names of folders."""
    case_sensitive: bool

    @classmethod
    def of(
        cls,
        table_schema: pa.Schema,
        scan_schema: pa.Schema,
        folders: Mapping[str, Collection[str]],
        options: TableOptions,
    ) -> FilterTranslator:
        """Translates predicates with the time zones of options."""
        zone = options.session_timezone
        known = zone if options.is_session_zone_known else None
        return cls(table_schema, scan_schema, folders, known, zone, options.case_sensitive)

    def translate(self, filters: Filters | None) -> Filters | None:
        """A predicate on the scan that is true for the same rows.

        Raises:
            ValueError: A name is ambiguous, a literal does not fit the type of its column, or a residual of pyarrow or
                polars is about a column whose type in the scan differs.
        """
        if filters is None:
            return None
        if (own := own_expression(filters)) is not None:
            check_steps(own.columns, self.table_schema)
            return Expression(self._tree(tree_of(own)))
        expression, residual = split_filters(filters, self.table_schema)
        if residual is not None:
            asked = self.table_schema.names if residual.columns is None else residual.columns
            for name in asked:
                at = self.table_schema.get_field_index(name)
                kind = self.table_schema.field(at).type if at >= 0 else None
                if kind is not None and not kind.equals(self.scan_schema.field(at).type):
                    raise ValueError(
                        f"the filter {residual} asks about column {name}, which is {kind} in Spark alone, and not in"
                        " files: say it with orcish.col, or as text"
                    )
            return filters
        return None if expression is None else Expression(self._tree(tree_of(expression)))

    def _tree(self, node: Tree) -> Tree:
        kind = node[0]
        if kind in ("and", "or"):
            return (kind, list(map(self._tree, node[1])))
        if kind == "not":
            return ("not", self._tree(node[1]))
        if kind == "constant":
            return node
        at = 2 if kind == "compare" else 1
        found = find_column(node[at], self.table_schema, self.scan_schema, self.case_sensitive)
        if found is None:
            # The error of the scan has the nearest names.
            return node
        named = (*node[:at], found.name, *node[at + 1 :])
        if kind == "is_null":
            return named
        if found.is_top and found.name in self.folders and _is_text_only_in_files(found):
            return self._of_folders(named, found)
        is_instant = pa.types.is_timestamp(found.table_type) and found.table_type.tz is not None
        if is_instant and kind in ("compare", "in"):
            return self._of_instants(named, found.name)
        return named

    # Instants.

    def _of_instants(self, node: Tree, name: str) -> Tree:
        if node[0] == "compare":
            return ("compare", node[1], name, self._as_instant(node[3]))
        return ("in", name, [self._as_instant(value) for value in node[2]])

    def _as_instant(self, value: Literal) -> Literal:
        value = _clock_or_instant(value)
        return ("timestamp", self._instant(value), True) if value[0] in ("timestamp", "date") else value

    def _instant(self, value: Literal) -> int:
        """Nanoseconds since 1970 of an instant, or of a wall clock time in the zone of the session."""
        if value[0] == "timestamp" and value[2]:
            return int(value[1])
        clock = value[1] * _DAY if value[0] == "date" else value[1]
        if self.session_zone is None:
            shown = literals.to_sql(value)
            raise ValueError(
                f"{shown} has no time zone, and a data source cannot see that of the session: give option"
                f" sessionTimezone, such as Europe/Berlin, or write a timestamp with Z or an offset"
            )
        if abs(clock // 1_000) > _MOST:
            return int(clock)
        instant = spark_instants(pa.array([clock // 1_000], pa.timestamp("us")), self.session_zone)
        return int(instant[0].value) * 1_000 + int(clock % 1_000)

    # Partition columns.

    def _of_folders(self, node: Tree, found: ColumnMatch) -> Tree:
        texts = sorted(self.folders[found.name])
        values = self._values(texts, found.table_type)
        if node[0] == "is_nan" and pa.types.is_floating(found.table_type):
            matching = [value != value for value in values]
        elif node[0] == "compare":
            if node[3] == ("null",):
                return ("constant", None)
            test, other = _OPERATORS[node[1]], self._other(node[3], found)
            matching = [_is_true(test, value, other) for value in values]
        elif node[0] == "in":
            others = [self._other(value, found) for value in node[2] if value != ("null",)]
            matching = [any(_is_true(operator.eq, value, other) for other in others) for value in values]
        else:
            raise ValueError(
                f"column {found.name} of type {found.table_type} is no text, nor a number that could be NaN"
            )
        kept = [text for text, is_kept in zip(texts, matching, strict=True) if is_kept]
        # The result is unknown for null in either case.
        tree: Tree = ("in", found.name, [("string", text) for text in kept]) if kept else false_or_null(found.name)
        is_unknown = node[0] == "in" and ("null",) in node[2]
        return ("or", [tree, ("constant", None)]) if is_unknown else tree

    def _values(self, texts: Sequence[str], kind: pa.DataType) -> list[Any]:
        """Values in comparable form: timestamps are nanoseconds since 1970."""
        try:
            values = parse_partition_values(pa.array(texts, pa.string()), kind, self.folder_zone)
        except pa.ArrowException as error:
            raise OrcishError(f"the values of a partition column are no {kind}: {error}") from error
        if pa.types.is_timestamp(kind):
            return [value * 1_000 for value in values.cast(pa.int64()).to_pylist()]
        if pa.types.is_time64(kind) or pa.types.is_duration(kind):
            return values.view(pa.int64()).to_pylist()  # type: ignore[no-any-return]
        if pa.types.is_float32(kind):
            return values.cast(pa.float64()).to_pylist()  # type: ignore[no-any-return]
        return values.to_pylist()  # type: ignore[no-any-return]

    def _other(self, value: Literal, found: ColumnMatch) -> Any:
        kind = found.table_type
        if value[0] == "string":
            # Strings are cast to the type of the column, as in Spark.
            try:
                return self._values([value[1]], kind)[0]
            except OrcishError:
                pass
        elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            if value[0] in ("int", "float"):
                return value[1]
            if value[0] == "decimal":
                # Floating point columns are compared as doubles.
                return float(value[1]) if pa.types.is_floating(kind) else decimal.Decimal(value[1])
        elif pa.types.is_binary(kind) and value[0] == "binary":
            return value[1]
        elif pa.types.is_timestamp(kind):
            if kind.tz is not None and value[0] in ("timestamp", "date"):
                return self._instant(value)
            if value[0] == "date":
                return value[1] * _DAY
            if value[0] == "timestamp" and not value[2]:
                return value[1]
        raise ValueError(f"column {found.name} of type {kind} cannot be compared with {literals.to_sql(value)}")


def _clock_or_instant(value: Literal) -> Literal:
    """The timestamp that a string stands for, which is midnight for a date; any other value unchanged."""
    if value[0] == "string":
        with contextlib.suppress(ValueError):
            return cast("Literal", tree_of(parse(f"t = timestamp {literals.to_sql(value)}"))[3])
    return value


def _is_text_only_in_files(found: ColumnMatch) -> bool:
    return pa.types.is_string(found.scan_type) and not pa.types.is_string(found.table_type)


def _is_true(test: Callable[[Any, Any], bool], value: Any, other: Any) -> bool:
    if value != value or other != other:
        # Python cannot compare NaN with decimals.
        return test is operator.ne
    return test(value, other)
