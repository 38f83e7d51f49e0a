"""Options that are wrong are errors before a task runs, which name the option, and what is meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import pyarrow as pa
import pytest
from orcish.spark import changing, conversion
from orcish.spark.options import TableOptions, WriterOptions
from orcish.spark.writers import OrcishStreamWriter, OrcishWriter
from pyspark.errors import AnalysisException
from pyspark.sql.types import LongType, StructType
from support.case_loops import each_case

Spark = Any

SCHEMA = StructType().add("id", LongType()).add("k", LongType())

WRONG: list[tuple[str, Any, str]] = [
    ("compression", "gzip", "='gzip': must be one of none, uncompressed, zlib"),
    ("compression", "lzo", ": lzo is read, and not written"),
    ("compression_level", 99, ": compression level 99 of zstd"),
    ("compression_block_size", 1, "=1: it lies between"),
    ("stripe_size", 0, "=0: a stripe has a size"),
    ("row_index_stride", -5, "=-5: must not be negative"),
    ("bloom_filter_columns", ["idd"], ': no column is named "idd"; nearest: id'),
    ("bloom_filter_columns", ["k"], ': no column is named "k"'),
    ("bloom_filter_fpp", 2.0, "=2: it lies between 0 and 1"),
    ("dictionary", {"idd": True}, ': no column is named "idd"; nearest: id'),
]


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def text_of(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value).replace("'", '"').lower()


@each_case(
    "writer",
    [
        lambda options: OrcishWriter(options, SCHEMA, False),
        lambda options: OrcishWriter(options, SCHEMA, True),
        lambda options: OrcishStreamWriter(options, SCHEMA),
    ],
    ids=["append", "overwrite", "stream"],
)
@each_case(("name", "value", "said"), WRONG, ids=[f"{name} {value}" for name, value, _ in WRONG])
def test_the_data_source(tmp_path: Path, writer: Callable[..., Any], name: str, value: Any, said: str) -> None:
    """The driver makes the writer."""
    given = {"path": str(tmp_path / "t"), "partitionBy": "k", "dictionary": "false", camel_case(name): text_of(value)}
    with pytest.raises((ValueError, orcish.errors.OrcishError)) as raised:
        writer(WriterOptions.of(given))
    assert str(raised.value).startswith(f"option {camel_case(name)}{said}")
    assert not (tmp_path / "t").exists()


@each_case("verb", ["convert", "compact", "delete"])
@each_case(("name", "value", "said"), WRONG, ids=[f"{name} {value}" for name, value, _ in WRONG])
def test_the_jobs(
    tmp_path: Path, spark: Spark, monkeypatch: pytest.MonkeyPatch, verb: str, name: str, value: Any, said: str
) -> None:
    """No task runs, of Spark or of this process, and messages have the keywords."""
    source = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1, 2], "k": [1, 1]}), source, partition_by=["k"])
    for module in (changing, conversion):
        monkeypatch.setattr(module, "run_in_workers", None)
    runs: dict[str, list[Callable[[], Any]]] = {
        "convert": [lambda: osp.convert(source, tmp_path / "new", spark=spark, **{name: value})],
        "compact": [
            lambda: osp.compact(source, rewrite=True, spark=spark, **{name: value}),
            lambda: orcish.compact(source, rewrite=True, **{name: value}),
        ],
        "delete": [
            lambda: osp.delete(source, "id = 1", spark=spark, **{name: value}),
            lambda: orcish.delete(source, "id = 1", **{name: value}),
        ],
    }
    for run in runs[verb]:
        with pytest.raises((ValueError, orcish.errors.OrcishError)) as raised:
            run()
        assert str(raised.value).startswith(f"{name}{said}")
    assert orcish.scan(source).count() == 2


def test_a_write_of_spark(tmp_path: Path, spark: Spark) -> None:
    with pytest.raises(AnalysisException, match=r"option compression=.gzip.: must be one of none"):
        spark.range(3).write.format("orcish").mode("append").option("compression", "gzip").save(str(tmp_path / "t"))


@each_case(
    ("value", "wanted"), [("true", "row_number"), ("True", "row_number"), ("false", None), ("", None), ("at", "at")]
)
def test_row_numbers_are_a_name_or_a_flag(value: str, wanted: str | None) -> None:
    assert TableOptions.of({"path": "t", "rowNumber": value}).row_number == wanted


READING = [
    ("basePath", "/t", "load the folder of the table; with the option partitions"),
    ("pathGlobFilter", "*.orc", "takes a pattern"),
    ("header", "true", "spark.read.csv"),
    ("compression", "zstd", "it is an option for writing"),
    ("bloom_filter_columns", "id", "it is an option for writing"),
    ("partitionBy", "k", "it is an option for writing"),
    ("where", "id > 1", "did you mean filters?"),
    ("row_number", "n", "did you mean rowNumber?"),
    ("mode", "append", '.mode("append")'),
    ("qqqqqqqq", "1", "docs/spark-reading.md"),
]
WRITING = [
    ("mergeSchema", "true", "it is an option for reading"),
    ("partition_by", "k", "did you mean partitionBy?"),
    ("codec", "zstd", "did you mean compression?"),
    ("existing_data", "append", '.mode("append")'),
]


@each_case(
    ("options", "name", "value", "said"),
    [*((TableOptions, *case) for case in READING), *((WriterOptions, *case) for case in WRITING)],
)
def test_unknown_options(options: Any, name: str, value: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^there is no option {name.lower()!r} for ") as raised:
        options.of({"path": "t", name: value})
    assert said in str(raised.value)


@each_case(
    ("call", "keyword", "said"),
    [
        (osp.read, "format", ": files are ORC, and tables of CarbonData are recognized"),
        (osp.read, "basePath", ": load the folder of the table; with the option partitions"),
        (osp.read, "where", "; did you mean 'filters'"),
        (osp.map_batches, "select", "; did you mean 'columns'"),
        (osp.convert, "mode", "; did you mean 'existing_data'"),
        (osp.convert, "partitionBy", "; did you mean 'partition_by'"),
        (osp.convert, "options", "; did you mean 'read_options'"),
        (osp.convert, "path", "; did you mean 'target'"),
        (osp.compact, "path", "; did you mean 'target'"),
        (osp.delete, "where", "; did you mean 'filters'"),
        (osp.compact, "session", "; did you mean 'spark'"),
    ],
)
def test_words_of_spark(call: Callable[..., Any], keyword: str, said: str) -> None:
    with pytest.raises(TypeError, match="has no keyword argument") as raised:
        call(**{keyword: "x"})
    assert said in str(raised.value)
