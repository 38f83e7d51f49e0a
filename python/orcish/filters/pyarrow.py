"""Predicates of pyarrow (``pyarrow.compute.Expression``).

The structure of an expression is only accessible by pickling: a record batch of one row holds the literals and options,
and the metadata of its schema is the expression in prefix notation. Keys of the metadata repeat, which dicts of pyarrow
cannot represent, so the metadata is read over the C data interface. Where the pickle is not as expected, the whole
expression is residual.
"""

from __future__ import annotations

import ctypes
import dataclasses
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from orcish.filters import literals
from orcish.filters.expression import pattern_within
from orcish.filters.levels import SAFE_DEPTH, TooManyLevelsError, balanced, check_levels, on_deep_stack
from orcish.filters.literals import Literal
from orcish.filters.names import ColumnName
from orcish.filters.translation import (
    FLIPPED,
    Translation,
    all_of,
    any_of,
    false_or_null,
    literal_kind,
    midnight,
    negation,
    pushed_field,
    round_to_single,
    set_member,
    whole_days,
)

__all__ = ["DecodedExpression", "Node", "translate"]

_Token: TypeAlias = "tuple[str, str]"

_COMPARISONS = {
    "equal": "=",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_CHAINS = ("and_kleene", "or_kleene")
"""Functions that expressions of pyarrow have in chains."""
# Null handling of `is_in`: nulls are values, or never match.
_MATCH, _SKIP = 0, 1


@dataclasses.dataclass
class Node:
    """A part of an expression: a call, a ``literal``, or a ``field``, whose value is its path."""

    kind: str
    begin: int
    end: int = 0
    name: str = ""
    value: Any = None
    children: list[Node] = dataclasses.field(default_factory=list)
    options: Any = None


class DecodedExpression:
    """An expression with its structure.

    Raises:
        TooManyLevelsError: The expression has more levels than a filter, or than pyarrow can evaluate.
        Exception: Of any type, where the pickle is not as expected.
    """

    def __init__(self, expression: pc.Expression) -> None:
        self._rebuild: Callable[[pa.Buffer], pc.Expression]
        self._rebuild, (buffer,) = on_deep_stack(expression.__reduce__)
        with pa.ipc.open_file(buffer) as reader:
            self._batch = reader.get_batch(0)
        self._tokens = _metadata(self._batch.schema)
        self._is_deep = _levels_of(self._tokens) > SAFE_DEPTH
        try:
            self.root = self._parse()
        except Exception as error:
            if self._is_deep:
                raise TooManyLevelsError(f"an expression of more than {SAFE_DEPTH} levels") from error
            raise
        # A chain is one level.
        check_levels(self.root, _operands)

    def paths(self) -> list[tuple[str, ...]]:
        """Names of the columns and of the fields within them, without duplicates."""
        found: dict[tuple[str, ...], None] = {}
        pending = [self.root]
        while pending:
            node = pending.pop()
            if node.kind == "field":
                found[tuple(node.value)] = None
            pending.extend(reversed(node.children))
        return list(found)

    def columns(self) -> list[str]:
        """Names of the top-level columns, without duplicates."""
        return list(dict.fromkeys(path[0] for path in self.paths()))

    def conjuncts(self) -> list[Node]:
        """The operands of a conjunction."""
        return _flat(self.root, ("and_kleene", "and"))

    def expression(self, nodes: list[Node]) -> pc.Expression:
        """The conjunction of some parts, as an expression of pyarrow, which pyarrow can evaluate."""
        tokens = _joined("and_kleene", [self._balanced(node) for node in nodes])
        if _levels_of(tokens) > SAFE_DEPTH:
            raise TooManyLevelsError(f"an expression of more than {SAFE_DEPTH} levels, which pyarrow has to evaluate")
        metadata = pa.KeyValueMetadata(tokens)
        # Unlike a new batch, this one keeps its one row where it has no columns.
        batch = self._batch.replace_schema_metadata(metadata)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return self._rebuild(sink.getvalue())

    def _balanced(self, node: Node) -> list[_Token]:
        """A part in prefix notation, without chains that are deep."""
        if self._is_deep and node.name in _CHAINS and node.options is None:
            return _joined(node.name, [self._balanced(part) for part in _operands(node)])
        return self._tokens[node.begin : node.end]

    def _parse(self) -> Node:
        # The root of the stack ends with one child, the expression.
        stack = [Node("root", 0)]
        fields_left: list[int] = []
        for at, (key, value) in enumerate(self._tokens):
            if key == "call":
                stack.append(Node("call", at, name=value))
                continue
            if key == "nested_field_ref":
                stack.append(Node("field", at, value=[]))
                fields_left.append(int(value))
                continue
            if key == "options":
                stack[-1].options = self._batch.column(int(value))[0]
                continue
            if key == "end":
                node = stack.pop()
                if node.kind != "call" or node.name != value:
                    raise ValueError(f"call of {node.name} ends as {value}")
            elif key == "literal":
                node = Node("literal", at, value=self._batch.column(int(value))[0])
            elif key == "field_ref":
                node = Node("field", at, value=[value])
            else:
                raise ValueError(f"unknown key {key}")
            node.end = at + 1
            while stack[-1].kind == "field":
                stack[-1].value += node.value
                fields_left[-1] -= 1
                if fields_left[-1]:
                    break
                fields_left.pop()
                node = stack.pop()
                node.end = at + 1
            else:
                stack[-1].children.append(node)
        (root,) = stack
        (child,) = root.children
        return child


def _metadata(schema: pa.Schema) -> list[_Token]:
    capsule = schema.__arrow_c_schema__()
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = pointer_of(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, b"arrow_schema")
    # The struct begins with three pointers: format, name and metadata.
    at = (ctypes.c_void_p * 3).from_address(pointer)[2] or 0

    def number() -> int:
        nonlocal at
        found = ctypes.c_int32.from_address(at).value
        at += 4
        return found

    def text() -> str:
        nonlocal at
        length = number()
        found = ctypes.string_at(at, length)
        at += length
        return found.decode()

    return [(text(), text()) for _ in range(number())] if at else []


def _joined(name: str, parts: list[list[_Token]]) -> list[_Token]:
    """The call of a function of two operands for some parts."""
    return balanced(lambda left, right: [("call", name), *left, *right, ("end", name)], parts)


def _levels_of(tokens: list[_Token]) -> int:
    """The number of levels of an expression in prefix notation."""
    level = most = 1
    for key, _ in tokens:
        level += (key == "call") - (key == "end")
        most = max(most, level)
    return most


def _operands(node: Node) -> list[Node]:
    """The operands of a function, or of a chain of functions."""
    return _flat(node, (node.name,)) if node.name in _CHAINS and node.options is None else node.children


def _flat(node: Node, names: tuple[str, ...]) -> list[Node]:
    found: list[Node] = []
    pending = [node]
    while pending:
        node = pending.pop()
        if node.kind == "call" and node.name in names and node.options is None:
            pending.extend(reversed(node.children))
        else:
            found.append(node)
    return found


def translate(node: Node, schema: pa.Schema) -> Translation | None:
    """Translates a part of an expression for tables of a schema; ``None`` where there is no translation."""
    if node.kind == "literal":
        constant = pa.types.is_boolean(node.value.type)
        return Translation(("constant", node.value.as_py())) if constant else None
    if node.kind == "field":
        found = pushed_field(schema, node.value)
        if found is None or not pa.types.is_boolean(found[1]):
            return None
        return Translation(("compare", "=", found[0], ("bool", True)))
    if node.name == "and_kleene":
        return all_of([translate(part, schema) for part in _operands(node)])
    if node.name == "or_kleene":
        return any_of([translate(part, schema) for part in _operands(node)])
    if node.name == "and_not_kleene":
        kept, dropped = node.children
        return all_of([translate(kept, schema), negation(translate(dropped, schema))])
    if node.name == "invert":
        return negation(translate(node.children[0], schema))
    if node.name in _COMPARISONS:
        return _comparison(node, schema)
    if node.name == "if_else":
        return _unknown_for_null(node, schema)
    if len(node.children) != 1 or (column := _column(node.children[0], schema)) is None:
        return None
    return _call_on_column(node, *column)


def _unknown_for_null(node: Node, schema: pa.Schema) -> Translation | None:
    """Translates ``if_else(is_valid(column), condition, null)``, by which duckdb makes `in` unknown for null."""
    test, condition, other = node.children
    is_null = other.kind == "literal" and not other.value.is_valid
    if not is_null or test.name != "is_valid" or (column := _column(test.children[0], schema)) is None:
        return None
    valid, unknown = translate(test, schema), Translation(false_or_null(column[0]))
    if valid is None or (found := translate(condition, schema)) is None:
        return None
    return any_of([all_of([found, valid]), unknown])


def _column(node: Node, schema: pa.Schema) -> tuple[ColumnName, pa.DataType] | None:
    if node.kind != "field" or (found := pushed_field(schema, node.value)) is None:
        return None
    name, kind = found
    # Comparisons of dictionary columns are comparisons of their values.
    return name, kind.value_type if pa.types.is_dictionary(kind) else kind


def _constant(node: Node) -> pa.Scalar | None:
    if node.kind == "literal":
        return node.value
    if node.kind == "call" and node.name == "cast" and (inner := _constant(node.children[0])) is not None:
        flags = {bool(node.options[key].as_py()) for key in node.options if key.startswith("allow_")}
        if len(flags) == 1:
            try:
                return inner.cast(node.options["to_type"].type, safe=not flags.pop())
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                return None
    return None


def _comparison(node: Node, schema: pa.Schema) -> Translation | None:
    left, right = node.children
    symbol = _COMPARISONS[node.name]
    if (column := _column(left, schema)) is None:
        column, right, symbol = _column(right, schema), left, FLIPPED[symbol]
    if column is None or (scalar := _constant(right)) is None:
        return None
    name, kind = column
    value = _comparable_literal(literal_kind(kind), scalar)
    return None if value is None else Translation(("compare", symbol, name, value))


def _comparable_literal(kind: str | None, scalar: pa.Scalar) -> Literal | None:
    """The literal whose comparison has the semantics of pyarrow, wherever pyarrow does not refuse the comparison."""
    if kind is None or (value := _literal(scalar)) is None:
        return None
    given = value[0]
    if given == "null":
        return value
    # pyarrow casts both sides to a common type, and refuses where the cast is not exact.
    if kind in ("int", "decimal"):
        exact = ("int", "decimal", "float") if kind == "int" else ("int", "decimal")
        return value if given in exact else None
    if kind == "float":
        return _float(value)
    if kind in ("string", "binary"):
        return _bytes(kind, value)
    if given == "date":
        return {"date": value, "timestamp": midnight(value)}.get(kind)
    if given == "timestamp":
        if kind == "date":
            return whole_days(value)
        return value if kind == ("instant" if value[2] else "timestamp") else None
    return value if given == kind == "bool" else None


def _literal(scalar: pa.Scalar) -> Literal | None:
    try:
        return literals.literal(scalar)
    except (TypeError, ValueError):
        return None


def _float(value: Literal) -> Literal | None:
    if value[0] == "int":
        try:
            return ("float", float(value[1])) if int(float(value[1])) == value[1] else None
        except OverflowError:
            return None
    return value if value[0] == "float" else None


def _bytes(kind: str, value: Literal) -> Literal | None:
    if value[0] == kind:
        return value
    try:
        if value[0] == "binary":
            return ("string", value[1].decode())
        return ("binary", value[1].encode()) if value[0] == "string" else None
    except UnicodeDecodeError:
        return None


def _call_on_column(node: Node, name: ColumnName, kind: pa.DataType) -> Translation | None:
    """Translates a call with one column."""
    function, options = node.name, node.options
    if function in ("is_null", "is_valid"):
        # Unions have no validity bitmap.
        if pa.types.is_union(kind) or pa.types.is_null(kind):
            return None
        missing = Translation(("is_null", name))
        if function == "is_valid":
            return negation(missing)
        if options is not None and options["nan_is_null"].as_py() and literal_kind(kind) == "float":
            return Translation(set_member(name, [], null=True, nan=True))
        return missing
    if function == "is_nan":
        return Translation(("is_nan", name)) if literal_kind(kind) == "float" else None
    if function == "starts_with" and literal_kind(kind) in ("string", "binary") and not options["ignore_case"].as_py():
        pattern = _bytes(str(literal_kind(kind)), ("binary", options["pattern"].as_buffer().to_pybytes()))
        return None if pattern is None else Translation(("starts_with", name, pattern))
    is_part = function in ("ends_with", "match_substring") and not options["ignore_case"].as_py()
    if is_part and literal_kind(kind) == "string":
        text = _bytes("string", ("binary", options["pattern"].as_buffer().to_pybytes()))
        at_end = function == "ends_with"
        return None if text is None else Translation(("like", name, pattern_within(text[1], at_end=at_end)))
    if function == "is_in" and options["null_matching_behavior"].as_py() in (_MATCH, _SKIP):
        skip = options["null_matching_behavior"].as_py() == _SKIP
        return _is_in(name, kind, options["value_set"].values, skip_nulls=skip)
    return None


def _is_in(name: ColumnName, kind: pa.DataType, values: pa.Array, *, skip_nulls: bool) -> Translation | None:
    if literal_kind(kind) is None:
        return None
    null = bool(values.null_count) and not skip_nulls
    try:
        given = literals.literals(values.drop_null())
    except (TypeError, ValueError):
        return None
    known = [found for value in given if (found := _member(kind, value)) is not None]
    if len(known) < len(given):
        return None
    numbers = [value for value in known if value[0] != "float" or value[1] == value[1]]
    # pyarrow looks floats up by hash, which finds NaN, but distinguishes 0.0 and -0.0.
    zeros = {struct.pack("d", value[1]) for value in numbers if value[0] == "float" and value[1] == 0}
    tree = set_member(name, numbers, null=null, nan=len(numbers) < len(known))
    return Translation(tree, exact=len(zeros) != 1)


def _member(kind: pa.DataType, value: Literal) -> Literal | None:
    """A literal of the set that a column is looked up in. pyarrow casts the set to the type of the column."""
    column_kind = literal_kind(kind)
    if column_kind == "float":
        found = _float(value)
        if found is None or not pa.types.is_float32(kind):
            return found
        return (
            None
            if abs(round_to_single(found[1])) == float("inf") != abs(found[1])
            else ("float", round_to_single(found[1]))
        )
    if column_kind in ("timestamp", "instant"):
        return value if value[0] == "timestamp" and value[2] == (column_kind == "instant") else None
    return value if value[0] == column_kind else None
