"""Facts about readers of ORC files, with their sources.

A fact is in the table only if it was seen in a run, in the source of the reader, or in its documentation. What is not
in the table is unknown. Runs of 2026-11: the libraries of ORC Java that a release contains, read the same files that
``tests/python/support/reader_files.py`` writes; so did pyarrow, ClickHouse and Spark themselves.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["FACTS", "READERS", "REQUIRED", "SOURCES", "Fact", "Reader", "Verdict"]

Verdict = Literal["yes", "no", "differs", "unknown"]
"""``differs``: the file is read, and values or columns are not those that were written."""


class Reader(NamedTuple):
    """A reader of ORC files."""

    id: str
    name: str
    """Its name and the version that the facts are about."""
    basis: str
    """How its facts were found, unless a fact has another source."""


class Fact(NamedTuple):
    """What a reader does with a feature."""

    verdict: Verdict
    note: str = ""
    source: str | None = None
    """A key of :data:`SOURCES`; that of the reader by default."""


SOURCES = {
    "hive-1": "run: the reader in hive-exec 1.2.2, on Java 17",
    "orc-1.3": "run: ORC Java 1.3.3 on Java 17; Hive 2.3.9 contains 1.3.4",
    "orc-1.5.8": "run: ORC Java 1.5.8 on Java 17, which Hive 3.1.3 contains",
    "orc-1.5.5": "run: ORC Java 1.5.5 on Java 17, which Spark 2.4.8 contains",
    "orc-1.9": "run: ORC Java 1.9.4 on Java 17; Spark 3.5.5 contains 1.9.5",
    "spark-4": "run: Spark 4.3.0",
    "pyarrow": "run: pyarrow 26.0.1",
    "clickhouse": "run: ClickHouse 26.9 (chdb 4.4.0)",
    "duckdb": "https://duckdb.org/community_extensions/extensions/orc",
    "orc-rust": "https://github.com/datafusion-contrib/orc-rust/issues/16",
    "trino-metadata": "https://github.com/trinodb/trino/blob/38691b69871e738eeae1a1b70acf3278ff24464d/lib/trino-orc/src/"
    "main/java/io/trino/orc/metadata/OrcMetadataReader.java",
    "trino-codec": "https://github.com/trinodb/trino/blob/03d8e5abc686c5c4a9f96ca14db07e2aed880174/lib/trino-orc/src/main/"
    "java/io/trino/orc/OrcDecompressor.java",
    "trino-union": "https://github.com/trinodb/trino/pull/3483",
    "trino-lzo": "https://github.com/trinodb/trino/issues/10027",
    "trino-acid": "https://github.com/trinodb/trino/pull/2068",
    "trino-zones": "https://github.com/trinodb/trino/blob/0a40d1ced65198ffb9033607acb4cc43a0dbf4f2/docs/src/main/sphinx/"
    "object-storage/file-formats.md",
    "presto": "https://github.com/prestodb/presto/blob/0047349dba987de0d8859d661f24652e99d3be7b/presto-orc/src/main/java/"
    "com/facebook/presto/orc/metadata/OrcMetadataReader.java",
    "impala": "https://github.com/apache/impala/blob/0677b8a0bab5288713d2e1a00ff5ec3123ab284c/be/src/exec/orc/"
    "hdfs-orc-scanner.cc",
    "hive-3-docs": "https://docs.cloudera.com/HDPDocuments/HDP3/HDP-3.1.5/performance-tuning/content/"
    "hive_advanced_orc_properties.html",
    "hive-zstd": "https://github.com/trinodb/trino/issues/12358",
    "spark-codecs": "https://github.com/apache/spark/pull/31002",
}
"""Sources by their keys: a link, or what was run."""

READERS = (
    Reader("hive1", "Hive 1 (1.2.2)", "hive-1"),
    Reader("hive2", "Hive 2 (2.3.9)", "orc-1.3"),
    Reader("hive3", "Hive 3 (3.1.3)", "orc-1.5.8"),
    Reader("spark2", "Spark 2 (2.4.8)", "orc-1.5.5"),
    Reader("spark3", "Spark 3 (3.5.5)", "orc-1.9"),
    Reader("spark4", "Spark 4 (4.3.0)", "spark-4"),
    Reader("trino", "Trino", "trino-metadata"),
    Reader("presto", "Presto", "presto"),
    Reader("impala", "Impala", "impala"),
    Reader("pyarrow", "pyarrow (26.0.1)", "pyarrow"),
    Reader("duckdb", "DuckDB's extension orc", "duckdb"),
    Reader("clickhouse", "ClickHouse (26.9)", "clickhouse"),
)

REQUIRED = ("codec ", "format ", "root", "union", "timestamp instant", "geometry", "encryption")
"""Beginnings of the ids of features that a reader has to know, so that what is unknown of them counts. Of other
features, what is unknown does not."""

_YES = Fact("yes")


def _all(names: str, fact: Fact = _YES) -> dict[str, Fact]:
    return dict.fromkeys(names.split(), fact)


_MASKS = Fact("differs", "encrypted columns are read as their masks, without a word")
_MASKS_OR_VALUES = Fact("differs", "encrypted columns are read as their masks, unless the keys are given")
_AS_NUMBERS = Fact("differs", "they are read as integers")
_OTHER_CALENDAR = Fact("differs", "dates before 1582-10-15 are read as others")
_RAW_ACID = Fact("differs", "rows are read as they are stored, deleted and replaced ones included")
_UNREADABLE = Fact("no", "the footer cannot be read")

FACTS: dict[str, dict[str, Fact]] = {
    "codec none": _all("hive1 hive2 hive3 spark2 spark3 spark4 trino presto impala pyarrow clickhouse"),
    "codec zlib": _all("hive1 hive2 hive3 spark2 spark3 spark4 trino presto impala pyarrow duckdb clickhouse"),
    "codec snappy": {
        **_all("hive1 hive2 spark3 spark4 trino presto impala pyarrow duckdb clickhouse"),
        "hive3": Fact("yes", source="hive-3-docs"),
        "spark2": Fact("yes", source="spark-codecs"),
    },
    "codec lz4": {
        **_all("hive2 spark3 spark4 trino presto impala pyarrow duckdb clickhouse"),
        "hive1": _UNREADABLE,
    },
    "codec zstd": {
        **_all("spark3 spark4 trino presto impala pyarrow duckdb clickhouse"),
        "hive1": _UNREADABLE,
        "hive2": _UNREADABLE,
        "hive3": Fact("no", "unknown compression", "hive-zstd"),
        "spark2": Fact("no", "unknown compression"),
    },
    "codec lzo": {
        **_all("hive2 spark3 spark4 impala pyarrow duckdb clickhouse"),
        "hive1": Fact("no", "LZO is not available"),
        "spark2": Fact("yes", source="spark-codecs"),
        "trino": Fact("no", "compression not implemented yet", "trino-lzo"),
        "presto": Fact("no", "compression not implemented yet"),
    },
    "codec brotli": {
        **_all("hive1 hive2 hive3 spark2 spark3", _UNREADABLE),
        "spark4": Fact("no", "it needs the jars of brotli4j, which Spark does not contain"),
        "trino": Fact("no", "there is no such codec", "trino-codec"),
        **_all("presto impala", Fact("no", "there is no such codec")),
        **_all("pyarrow clickhouse", Fact("no", "unknown compression codec 6")),
    },
    "format 0.11": _all("hive1 hive2 hive3 spark2 spark3 spark4 pyarrow clickhouse"),
    "root": {
        "spark4": Fact("no", "the root has to be a struct"),
        "pyarrow": Fact("no", "only files with a struct at the top can be handled"),
        "impala": Fact("no", "the root has to be a struct"),
        "clickhouse": Fact("no", "the columns cannot be found; a list at the root ends the process"),
    },
    "union": {
        **_all("hive1 hive2 hive3 pyarrow clickhouse"),
        "spark4": Fact("no", "the schema cannot be parsed"),
        "trino": Fact("yes", "as a struct of tag and fields", "trino-union"),
    },
    "timestamp instant": {
        "hive1": Fact("no", "the type is unknown"),
        "hive2": Fact("no", "the type is unknown"),
        "hive3": Fact("no", "the type is unknown"),
        "spark2": Fact("no", "the type is unknown"),
        **_all("spark3 spark4 trino pyarrow clickhouse"),
        "presto": Fact("no", "stream type not implemented yet"),
    },
    "geometry": {
        **_all("hive1 hive2 hive3 spark2 spark3", Fact("no", "the type is unknown")),
        "spark4": Fact("no", "the schema cannot be parsed"),
        "trino": Fact("no", "the type is unknown"),
        "presto": Fact("no", "the type is unknown"),
        "pyarrow": Fact("no", "the type is unknown"),
        "clickhouse": Fact("no", "the type is not supported"),
    },
    "encryption": {
        "hive1": Fact("no", "the stripe cannot be read"),
        **_all("hive2 hive3 spark2 pyarrow clickhouse", _MASKS),
        **_all("spark3 spark4", _MASKS_OR_VALUES),
        "trino": Fact("no", "streams of encrypted columns are not implemented"),
        "presto": Fact("no", "streams of encrypted columns are not implemented"),
        "duckdb": Fact("unknown", "the library it is made of has no decryption", "orc-rust"),
    },
    "char": _all("hive1 hive2 hive3 spark4 trino presto pyarrow clickhouse"),
    "varchar": _all("hive1 hive2 hive3 spark4 trino presto pyarrow clickhouse"),
    "decimal wide": _all("hive1 hive2 hive3 spark2 spark3 spark4 pyarrow clickhouse"),
    "attribute types": {
        **_all("hive1 hive2 hive3 trino presto pyarrow clickhouse", _AS_NUMBERS),
        "spark4": _YES,
    },
    "acid": {
        **_all("spark4 pyarrow clickhouse", _RAW_ACID),
        "trino": Fact("yes", "as tables", "trino-acid"),
        "impala": Fact("yes", "as tables"),
    },
    "names empty": {
        "spark4": Fact("no", "names must not be empty"),
        "clickhouse": Fact("no", "names must not be empty"),
        "pyarrow": _YES,
    },
    "names odd": _all("spark4 pyarrow clickhouse"),
    "names twice": {
        "spark4": Fact("no", "the column already exists"),
        "clickhouse": Fact("no", "the column already exists"),
        "pyarrow": _YES,
    },
    "names case": {
        "spark4": Fact("no", "the column already exists, unless spark.sql.caseSensitive is true"),
        **_all("pyarrow clickhouse"),
    },
    "dates proleptic": {
        **_all("hive1 hive2 hive3 spark2", _OTHER_CALENDAR),
        **_all("spark3 spark4 pyarrow clickhouse"),
    },
    "dates julian": {
        "spark4": _YES,
        **_all("pyarrow clickhouse", _OTHER_CALENDAR),
    },
    "timestamps beyond": {
        **_all("hive2 hive3 spark2 spark3 spark4"),
        "pyarrow": Fact("no", "a timestamp is out of range for nanoseconds"),
        "clickhouse": Fact("no", "a timestamp is out of range for DateTime64(9)"),
    },
    "null lists": {
        "clickhouse": Fact("differs", "lists and maps that are null are read as empty ones"),
        **_all("spark4 pyarrow"),
    },
    "null structs": {
        "spark4": Fact("differs", "rows are missing where a filter asks for nulls of a field; rewrite the file"),
        "pyarrow": _YES,
    },
    "chunks large": {
        **_all("hive1 hive2 hive3 spark2 spark3 spark4 pyarrow clickhouse"),
        "trino": Fact("no", "chunks of more than 4 MiB are refused", "trino-codec"),
    },
    "stripes large": {
        "trino": Fact("unknown", "a stream of more than 2 GiB is refused"),
    },
    "bloom utf8": {
        "hive1": Fact("no", "the stripe cannot be read"),
        **_all("hive2 hive3 spark2 spark3 spark4 trino presto impala pyarrow clickhouse"),
    },
    "bloom old": _all("trino presto impala"),
    "dictionary": _all("hive1 hive2 hive3 spark3 spark4 trino presto impala pyarrow clickhouse"),
    "zone offset": {
        **_all("hive1 hive2 hive3 spark2 spark3 spark4"),
        "pyarrow": Fact("no", "there is no file of this time zone"),
        "clickhouse": Fact("no", "there is no file of this time zone"),
    },
    "zone short": {
        "pyarrow": Fact("no", "there is no file of this time zone"),
        "trino": Fact("no", "unless hive.orc.read-legacy-short-zone-id is true", "trino-zones"),
    },
}
"""Facts by feature and reader."""
