"""Translation of predicates on the types of Spark to predicates on the types of the scan.

Names may differ by case. Literals without a time zone that are compared with instants are wall clock times of the time
zone of the session.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import cast

import pyarrow as pa

from orcish.filters import literals
from orcish.filters.expression import Expression, Tree, tree_of
from orcish.filters.literals import Literal
from orcish.filters.pushdown import Filters, own_expression, split_filters
from orcish.filters.text import parse
from orcish.reading.scan import Scan
from orcish.spark.columns import find_column
from orcish.spark.options import TableOptions
from orcish.spark.partitions import clock_instants

__all__ = ["filtered"]

_DAY = 86_400 * 10**9
_MOST = 1 << 62
"""Microseconds beyond which zones are not applied."""


def filtered(
    scan: Scan, table_schema: pa.Schema, scan_schema: pa.Schema, options: TableOptions, more: Filters | None
) -> Scan:
    """The rows of a scan for which the option ``filters`` and another predicate are true.

    Args:
        scan: The scan.
        table_schema: The columns of the table, in Spark's types.
        scan_schema: The same columns, in the types of the scan.
        options: The options.
        more: The other predicate.

    Raises:
        ValueError: A name is ambiguous, a literal does not fit the type of its column, or pyarrow or polars would have
            to evaluate a column whose type in the scan differs.
    """
    zone = options.session_timezone if options.is_session_zone_known else None
    translator = _Translator(table_schema, scan_schema, zone, options.case_sensitive)
    for filters in (options.filters, more):
        if filters is not None:
            scan = scan.where(translator.translate(filters))
    return scan


@dataclasses.dataclass(frozen=True)
class _Translator:
    table_schema: pa.Schema
    scan_schema: pa.Schema
    zone: str | None
    """Time zone of timestamps without zone. Without it, these are errors."""
    case_sensitive: bool

    def translate(self, filters: Filters) -> Filters | None:
        if (own := own_expression(filters)) is not None:
            return Expression(self._tree(tree_of(own)))
        expression, residual = split_filters(filters, self.table_schema)
        if residual is None:
            return None if expression is None else Expression(self._tree(tree_of(expression)))
        for name in self.table_schema.names if residual.columns is None else residual.columns:
            at = self.table_schema.get_field_index(name)
            kind = self.table_schema.field(at).type if at >= 0 else None
            if kind is not None and not kind.equals(self.scan_schema.field(at).type):
                raise ValueError(
                    f"the filter {residual} asks about column {name}, which is {kind} in Spark alone, and not in"
                    " files: say it with orcish.col, or as text"
                )
        return filters

    def _tree(self, node: Tree) -> Tree:
        kind = node[0]
        if kind in ("and", "or"):
            return (kind, list(map(self._tree, node[1])))
        if kind == "not":
            return ("not", self._tree(node[1]))
        if kind == "constant":
            return node
        at = 2 if kind == "compare" else 1
        found = find_column(node[at], self.table_schema, self.case_sensitive)
        if found is None:
            # The error of the scan has the nearest names.
            return node
        is_instant = pa.types.is_timestamp(found.type) and found.type.tz is not None
        if kind == "compare":
            return (kind, node[1], found.name, self._as_instant(node[3]) if is_instant else node[3])
        if kind == "in":
            return (kind, found.name, [self._as_instant(value) if is_instant else value for value in node[2]])
        return (*node[:at], found.name, *node[at + 1 :])

    def _as_instant(self, value: Literal) -> Literal:
        """A timestamp or date, which is midnight, as an instant; any other literal unchanged."""
        if value[0] == "string":
            with contextlib.suppress(ValueError):
                value = cast("Literal", tree_of(parse(f"t = timestamp {literals.to_sql(value)}"))[3])
        if value[0] not in ("timestamp", "date") or (value[0] == "timestamp" and value[2]):
            return value
        clock = value[1] * _DAY if value[0] == "date" else value[1]
        if self.zone is None:
            raise ValueError(
                f"{literals.to_sql(value)} has no time zone, and a data source cannot see that of the session: give "
                "option sessionTimezone, such as Europe/Berlin, or write a timestamp with Z or an offset"
            )
        if abs(clock // 1_000) > _MOST:
            return ("timestamp", int(clock), True)
        instant = clock_instants(pa.array([clock // 1_000], pa.timestamp("us")), self.zone)[0]
        return ("timestamp", int(instant.value) * 1_000 + int(clock % 1_000), True)
