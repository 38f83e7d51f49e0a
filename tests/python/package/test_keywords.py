"""Keywords of public functions: they are in the signatures, and a wrong one is an error that names the right one."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import types
from orcish.hints import SYNONYMS
from orcish.keywords import CHECKS, checked_keywords
from orcish.spark.options import READING, WRITING
from support.case_loops import each_case
from support.public_functions import CALLABLES, annotations, callables, keywords, signature

FORWARDED = dict.fromkeys(
    ("ORCFile.to_pandas", "Scan.to_pandas"),
    "the keywords are those of pyarrow, which checks them, and differ by its version",
)


def test_all_are_walked() -> None:
    assert {"orcish.scan", "ORCFile", "ORCFile.read", "Scan.limit", "Column.is_in", "CarbonTable.scan"} <= set(
        CALLABLES
    )


@each_case("name", CALLABLES)
def test_keywords_are_in_the_signature(name: str) -> None:
    kinds = {each.kind for each in signature(CALLABLES[name]).parameters.values()}
    assert (inspect.Parameter.VAR_KEYWORD in kinds) == (name in FORWARDED)


@each_case("name", sorted(CALLABLES.keys() - {"Scan"}))
def test_types_of_arguments_can_be_imported(name: str) -> None:
    """Users annotate their own functions with them. Objects of ``Scan`` are made by orcish."""
    function: Any = inspect.unwrap(CALLABLES[name])
    module = ast.parse(Path(function.__code__.co_filename).read_text())
    imports = [node for node in module.body if isinstance(node, ast.ImportFrom)]
    own = {alias.name for node in imports if str(node.module).split(".")[0] == "orcish" for alias in node.names}
    texts = [text for argument, text in function.__annotations__.items() if argument != "return"]
    used = {node.id for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    assert used & own <= {*types.__all__, *orcish.__all__}


def test_all_exceptions_are_there() -> None:
    assert FORWARDED.keys() <= CALLABLES.keys()


@each_case("name", [name for name, found in CALLABLES.items() if keywords(found)])
def test_a_misspelt_keyword_names_the_right_one(name: str) -> None:
    for keyword in keywords(CALLABLES[name]):
        with pytest.raises(TypeError) as raised:
            CALLABLES[name](**{f"{keyword}_": None})
        assert f"{keyword}_'; did you mean {keyword!r}?" in str(raised.value)


def test_what_is_near_to_nothing() -> None:
    with pytest.raises(TypeError, match=r"scan\(\) has no keyword argument 'qqqqqqqqq'$"):
        orcish.scan("a.orc", qqqqqqqqq=1)  # type: ignore[call-arg]


PLACES = {"path", "source", "sources", "target"}
"""Arguments that are paths or URLs, or lists of these."""
OF_WORKERS = "processes of Spark open the files, by their URLs"
OF_CARBON = "the native core reads tables of CarbonData, by paths and URLs"
WITHOUT_FILE_SYSTEM = {
    "CarbonFile": OF_CARBON,
    "CarbonTable": OF_CARBON,
    "orcish.convert": "source and target may be of two file systems: write_dataset writes a scan",
    **{f"orcish.spark.{name}": OF_WORKERS for name in ("compact", "convert", "delete", "map_batches", "map_pandas")},
    **{f"orcish.spark.{name}": OF_WORKERS for name in ("profile", "read", "verify", "write")},
}
"""Functions that take paths, and no file system, and why."""


def test_all_that_takes_paths_takes_file_systems() -> None:
    places = {name for name, function in CALLABLES.items() if not PLACES.isdisjoint(keywords(function))}
    without = {name for name in places if "filesystem" not in keywords(CALLABLES[name])}
    assert without == WITHOUT_FILE_SYSTEM.keys() & CALLABLES.keys()
    assert {"orcish.open_async", "orcish.dask.read", "orcish.merge", "orcish.vacuum", "ORCWriter"} <= places - without


READ = [
    "ORCFile.read",
    "ORCFile.iter_batches",
    "ORCFile.iter_batches_async",
    "ORCFile.reader",
    "ORCFile.explain",
    "ORCFile.arrow_schema",
]
READ += ["CarbonTable.scan", "CarbonTable.read", "CarbonTable.to_batches", "CarbonFile.read"]
SCAN = ["orcish.scan", "orcish.read_table", "orcish.scan_polars", "orcish.dataset", "orcish.dask.read"]
SCAN += ["orcish.ray.read"]
WRITE = ["ORCWriter", "orcish.write_table", "orcish.write_dataset", "orcish.convert", "orcish.ray.write"]
WRITE += [name for name in ("orcish.spark.compact", "orcish.spark.convert") if name in CALLABLES]
OPTIONS = [(name, types.ReadOptions) for name in READ] + [(name, types.ScanOptions) for name in SCAN]
OPTIONS += [(name, types.WriteOptions) for name in WRITE]


@each_case(("name", "options"), OPTIONS, ids=[name for name, _ in OPTIONS])
def test_options_are_those_of_the_documented_dicts(name: str, options: Any) -> None:
    parameters = signature(CALLABLES[name]).parameters
    expected = annotations(options.__name__)
    assert expected.keys() == options.__optional_keys__ <= parameters.keys()
    for key, annotation in expected.items():
        optional = f"{annotation.removesuffix(' | None')} | None"
        assert parameters[key].annotation.replace('"', "'") == optional, key
        assert parameters[key].default is None


OF_FILES = PLACES | {"a", "b", "like", "staging"}
"""Arguments of which the checks know faults of paths only."""
CHECKED = [
    (name, keyword)
    for name in CALLABLES
    for keyword in keywords(CALLABLES[name])
    if keyword in CHECKS.keys() - OF_FILES
]


@each_case(("name", "keyword"), CHECKED)
def test_an_argument_of_a_wrong_type_is_named(name: str, keyword: str) -> None:
    with pytest.raises(TypeError, match=f"^{keyword}(=<object object at .*>)?: must be "):
        CALLABLES[name](**{keyword: object()})


LISTS = {"columns", "partition_by", "sort_within", "bloom_filter_columns", "lookup", "key"}
"""Arguments that are lists of names."""
LISTED = [(name, keyword) for name in CALLABLES for keyword in keywords(CALLABLES[name]) if keyword in LISTS]


@each_case(("name", "keyword"), LISTED)
def test_one_string_is_a_list_of_it(name: str, keyword: str) -> None:
    """And never a list of its letters."""
    given: list[Any] = []

    def call(self: Any = None, **options: Any) -> None:
        given.append(options[keyword])

    call.__signature__ = signature(CALLABLES[name])  # type: ignore[attr-defined]
    checked: Any = checked_keywords(call)
    checked(**{keyword: "day"})
    checked(**{keyword: ["day"]})
    assert given == [["day"], ["day"]]
    if signature(call).parameters[keyword].default is None:
        checked(**{keyword: None})
        assert given[-1] is None
    with pytest.raises(TypeError, match=f"^{keyword}=b'day': must be a list of "):
        CALLABLES[name](**{keyword: b"day"})


def test_lists_of_names_in_calls(tmp_path: Path) -> None:
    rows = pa.table({"day": [1, 2], "id": [5, 6]})
    table, copy = tmp_path / "t", tmp_path / "copy"
    orcish.write_dataset(rows, table, partition_by="day", bloom_filter_columns="id")
    orcish.write_dataset(rows, tmp_path / "flat", partition_by=None)
    assert {file.partition.keys() == {"day"} for file in orcish.convert(tmp_path / "flat", copy, partition_by="day")}
    assert orcish.convert(table, tmp_path / "ids", columns="id", partition_by=())[0].partition == {}
    for source in (table, copy, tmp_path / "flat"):
        assert orcish.read_table(source, columns="day").schema.names == ["day"]
        assert orcish.scan(source, columns="day").schema.names == ["day"]
        assert orcish.scan_polars(source, columns="day").collect().columns == ["day"]
    assert orcish.ORCFile(next(table.rglob("*.orc"))).read(columns="id").schema.names == ["id"]


MINIMA = {
    "limit": 0,
    "rows": 0,
    "split_size": 0,
    "max_rows_per_file": 1,
    "max_open_files": 1,
    "max_partitions": 1,
    "max_memory": 0,
}


@each_case(("name", "keyword"), [(name, keyword) for name, keyword in CHECKED if keyword in MINIMA])
def test_numbers_below_the_minimum_are_named(name: str, keyword: str) -> None:
    with pytest.raises(ValueError, match=f"^{keyword}={MINIMA[keyword] - 1}: must be at least {MINIMA[keyword]}$"):
        CALLABLES[name](**{keyword: MINIMA[keyword] - 1})


def test_arguments_without_keywords_are_checked(tmp_path: Path) -> None:
    orcish.write_table(pa.table({"n": [1, 2, 3]}), tmp_path / "a.orc")
    scan = orcish.scan(tmp_path / "a.orc")
    assert scan.head(2).num_rows == scan.limit(2).count() == 2
    with pytest.raises(TypeError, match=r"^rows='2': must be an integer, not str$"):
        scan.head("2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^rows=-1: must be at least 0$"):
        scan.limit(-1)


def test_limits_and_schemas_are_named(tmp_path: Path) -> None:
    orcish.write_table(pa.table({"n": [1]}), tmp_path / "a.orc")
    with pytest.raises(ValueError, match='there is no limit "mem"; nearest: memory'):
        orcish.read_table(tmp_path / "a.orc", limits={"mem": 1})  # type: ignore[typeddict-unknown-key]
    with pytest.raises(TypeError, match=r"^schema='n int': must be an Arrow schema, not str$"):
        orcish.scan(tmp_path / "a.orc", schema="n int")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError) as raised:
        orcish.read_table(tmp_path / "none.orc")
    assert str(raised.value).count("2") - str(tmp_path).count("2") == 1


@each_case(
    ("call", "given", "meant"),
    [
        (orcish.write_dataset, "mode", "existing_data"),
        (orcish.write_dataset, "existingData", "existing_data"),
        (orcish.write_dataset, "existing_data_behavior", "existing_data"),
        (orcish.write_dataset, "partition_cols", "partition_by"),
        (orcish.write_dataset, "partitionBy", "partition_by"),
        (orcish.read_table, "where", "filters"),
        (orcish.read_table, "filter", "filters"),
        (orcish.scan, "usecols", "columns"),
        (orcish.convert, "where", "filters"),
        (orcish.delete, "predicate", "filters"),
        (orcish.vacuum, "retention_hours", "older_than"),
        (orcish.scan, "batch", "batch_size"),
        (orcish.read_table, "unit", "timestamp_unit"),
        (orcish.write_table, "if_exists", "existing_data"),
    ],
)
def test_words_of_other_libraries(call: Callable[..., Any], given: str, meant: str) -> None:
    """The error has the word for the same here."""
    with pytest.raises(TypeError, match=f"has no keyword argument '{given}'; did you mean '{meant}'"):
        call(pa.table({"id": [1]}), "t", **{given: None})


@each_case(
    ("call", "given", "said"),
    [
        (orcish.count_rows, "limit", r"scan\(source, limit=n\)"),
        (orcish.write_table, "partition_by", "write_dataset writes tables"),
        (orcish.write_table, "partition_cols", "write_dataset writes tables"),
        (orcish.read_table, "format", "files are ORC"),
    ],
)
def test_keywords_of_other_functions(call: Callable[..., Any], given: str, said: str) -> None:
    """The error has what to do instead, and no word that is only near."""
    with pytest.raises(TypeError, match=f"has no keyword argument '{given}': {said}"):
        call(pa.table({"id": [1]}), "t", **{given: None})


def test_words_of_other_libraries_are_no_keywords() -> None:
    """What they stand for is one, of some function."""
    known = {name for _, function in callables() for name in signature(function).parameters}
    known |= READING.keys() | WRITING.keys()
    assert {name for names in SYNONYMS.values() for name in names} <= known
