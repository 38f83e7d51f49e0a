"""The types of options name what the native core takes, with the same kinds of values and the same words."""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import orcish
import pyarrow as pa
import pytest
from orcish import _native
from orcish.types import (
    DatasetOptions,
    Limits,
    ReadOptions,
    ScanOptions,
    SparkReadOptions,
    SparkWriteOptions,
    WriteOptions,
    arguments,
)
from orcish.types.table import options_of as options_of_class
from support.case_loops import each_case
from support.public_functions import signature

INNER = {
    "read": {"hide_row_number"},
    "write": {"column_dictionary", "recorded_schema"},
    "limits": set[str](),
}
"""Options that the package sets itself, or that are keywords of some functions only."""

TYPES = {"read": ReadOptions, "write": WriteOptions, "limits": Limits}

OF_KIND: dict[str, type] = {
    "boolean": bool,
    "integer": int,
    "number": float,
    "text": str,
    "words": str,
    "list": collections.abc.Sequence,
    "pairs": collections.abc.Mapping,
}
"""The type of values of a kind, but for an object."""


def options_of(what: str) -> dict[str, tuple[str, list[str]]]:
    """Kind and words of the options of the native core, by their names in Python."""
    table = {name: (kind, words) for name, kind, _, words, _ in _native.options_of(what)}  # type: ignore[arg-type]
    if "filter" in table:
        table["filters"] = table.pop("filter")
    return table


def alternatives(hint: Any) -> Iterator[Any]:
    """The types of a union, and of unions within it."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        for each in typing.get_args(hint):
            yield from alternatives(each)
    else:
        yield hint


OF_ENCRYPTION = {"encrypt", "mask", "keys"}
"""Options of writing that are one in the native core, which is no value of one kind."""
FOR_CHECKERS = {"columns", "filters"}
"""Options whose types are for type checkers only."""

CASES = [(what, name) for what in TYPES for name in options_of(what) if name not in INNER[what] | FOR_CHECKERS]


@each_case("what", TYPES)
def test_names(what: str) -> None:
    own = TYPES[what].__optional_keys__
    assert options_of(what).keys() - INNER[what] == (own - OF_ENCRYPTION if what == "write" else own)


@each_case(("what", "name"), CASES)
def test_values(what: str, name: str) -> None:
    kind, words = options_of(what)[name]
    hint = TYPES[what].__annotations__[name].__forward_arg__
    hints = list(alternatives(eval(hint, vars(arguments))))
    literals = {word for hint in hints if typing.get_origin(hint) is Literal for word in typing.get_args(hint)}
    # LZO is read, and not written.
    assert literals == set(words) - {"lzo"}
    classes = {type(word) for word in literals} | {typing.get_origin(hint) or hint for hint in hints}
    assert kind == "object" or OF_KIND[kind] in classes


CLASSES = (ReadOptions, ScanOptions, WriteOptions, DatasetOptions, Limits, SparkReadOptions, SparkWriteOptions)


@each_case("kind", CLASSES, ids=[kind.__name__ for kind in CLASSES])
def test_the_table_of_options(kind: type) -> None:
    """It has what the classes have, in words that flags and pages take as they are."""
    found = options_of_class(kind)
    names: frozenset[str] = kind.__optional_keys__  # type: ignore[attr-defined]
    # Those of Spark that other classes describe are not described again.
    assert found.keys() <= names if kind.__name__.startswith("Spark") else found.keys() == names
    for name, option in found.items():
        if option.words:
            hints = list(alternatives(eval(kind.__annotations__[name].__forward_arg__, vars(arguments))))
            literals = [word for hint in hints if typing.get_origin(hint) is Literal for word in typing.get_args(hint)]
            assert list(option.words) == literals, name
        assert option.meaning, name
        assert "default" not in option.meaning + option.default, (name, option.text)


def test_a_written_table_takes_the_options_of_a_dataset() -> None:
    names = signature(orcish.write_dataset).parameters.keys()
    # The name of files is a template of pyarrow, for which other formats have a word, too.
    others = {"file_name": "basename_template"}
    assert {others.get(name, name) for name in options_of("dataset")} <= names
    assert DatasetOptions.__optional_keys__ <= names


def test_requests_are_described() -> None:
    assert all(doc.strip() for *_, doc in _native.options_of("requests"))


def test_unknown_options() -> None:
    with pytest.raises(ValueError, match='"none" has no options'):
        _native.options_of("none")  # type: ignore[arg-type]


@each_case("name", [name for name, _, is_optional, *_ in _native.options_of("dataset") if not is_optional])
def test_options_of_datasets_that_have_a_value_are_not_none(name: str, tmp_path: Path) -> None:
    schema = pa.schema({"a": pa.int64()}).__arrow_c_schema__()
    with pytest.raises(TypeError, match=f"{name}=None"):
        _native.DatasetWriter(str(tmp_path / "table"), schema, **{name: None})
