"""Errors of names that are not there: words of other libraries, and what is there in their place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from orcish.errors import UnknownColumnError, closest_match

__all__ = [
    "COLUMN",
    "FILE",
    "MODULE",
    "SCAN",
    "SPARK_OPTION",
    "hint",
    "missing_attribute",
    "plain_name",
    "unknown_column",
    "unknown_keyword",
]

_ONE_FILE = "write_table(data, path) for a file, or write_dataset(data, folder) for a table"
MODULE = {
    "open": "ORCFile(path)",
    "aopen": "open_async(path)",
    "open_file": "ORCFile(path)",
    "reader": "ORCFile(path)",
    "read": "read_table(path)",
    "read_orc": "read_table(path)",
    "read_file": "read_table(path)",
    "load": "read_table(path)",
    "read_pandas": "read_table(path).to_pandas()",
    "read_polars": "scan_polars(path)",
    "read_dataset": "dataset(path)",
    "scan_orc": "scan(path)",
    "write": _ONE_FILE,
    "write_orc": _ONE_FILE,
    "to_orc": _ONE_FILE,
    "save": _ONE_FILE,
    "writer": "ORCWriter(path, schema)",
    "append": "write_dataset(data, folder, existing_data='append')",
    "overwrite": "write_dataset(data, folder, existing_data='overwrite')",
    "optimize": "compact(folder)",
    "compare": "diff(a, b)",
    "field": "col(name)",
    "column": "col(name)",
    "lit": "col(name) == value",
    "spark": "`import orcish.spark`",
    "dask": "`import orcish.dask`",
    "ray": "`import orcish.ray`",
}
"""Of the module ``orcish``."""
SCAN = {
    "filter": "where(filters)",
    "select_columns": "select(names)",
    "collect": "to_table()",
    "read": "to_table()",
    "read_all": "to_table()",
    "to_arrow": "to_table()",
    "pl": "to_polars()",
    **dict.fromkeys(("sort", "sort_by", "sort_values", "order_by", "orderby"), "to_table().sort_by(...)"),
    **dict.fromkeys(("join", "group_by", "groupby", "agg", "with_columns", "unique", "describe"), "to_polars()"),
    **dict.fromkeys(("num_rows", "count_rows", "shape", "nrows", "length", "size"), "count()"),
    "slice": "to_table().slice(start, rows)",
    "drop": "select(names)",
    "rename": "to_table().rename_columns(names)",
    "to_numpy": "to_pandas().to_numpy()",
    "to_dict": "to_table().to_pydict()",
    "iter_rows": "to_batches()",
    "write": "orcish.write_table(scan, path)",
    "df": "to_pandas()",
    "to_pylist": "to_table().to_pylist()",
    "to_pydict": "to_table().to_pydict()",
    "iter_batches": "to_batches()",
    "to_reader": "reader()",
    "scanner": "reader()",
    **dict.fromkeys(("collect_async", "read_async"), "to_table_async()"),
    **dict.fromkeys(("aiter_batches", "iter_batches_async"), "to_batches_async()"),
    "columns": "schema.names",
    "column_names": "schema.names",
    "names": "schema.names",
    "dtypes": "schema",
    "show": "head()",
    "take": "head(rows)",
}
"""Of scans."""
FILE = {
    "to_table": "read()",
    "read_all": "read()",
    "read_table": "read()",
    "collect": "read()",
    "to_arrow": "read()",
    "filter": "read(filters=...)",
    "where": "read(filters=...)",
    "select": "read(columns=[...])",
    "limit": "read(limit=...)",
    "to_batches": "iter_batches()",
    "to_reader": "reader()",
    **dict.fromkeys(("aiter_batches", "to_batches_async", "read_async"), "iter_batches_async()"),
    **dict.fromkeys(("sort", "sort_by", "sort_values", "order_by"), "read().sort_by(...)"),
    **dict.fromkeys(("nrows", "length", "size"), "num_rows"),
    "read_row_group": "read_stripe(index)",
    "count": "num_rows",
    "nstripes": "num_stripes",
    **dict.fromkeys(("num_columns", "ncols", "ncolumns"), "schema.names"),
    "columns": "schema.names",
    "column_names": "schema.names",
    "names": "schema.names",
}
"""Of files."""
COLUMN = {
    "isin": "is_in(values)",
    "in_": "is_in(values)",
    "is_not_in": "not_in(values)",
    "notin": "not_in(values)",
    "isnull": "is_null()",
    "isna": "is_null()",
    "is_none": "is_null()",
    "notnull": "is_not_null()",
    "notna": "is_not_null()",
    "is_valid": "is_not_null()",
    "isnan": "is_nan()",
    "startswith": "starts_with(prefix)",
    "endswith": "ends_with(suffix)",
    "is_between": "between(low, high)",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
"""Of columns in filters."""


def missing_attribute(owner: str, name: str, words: Mapping[str, str], own: Iterable[str]) -> AttributeError:
    """The error of an attribute that is not there.

    Args:
        owner: What lacks the attribute, for the message.
        name: The name.
        words: Words of other libraries, and what is there in their place.
        own: The names that are there.
    """
    text = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):
        # Python itself, and other packages, ask for such names.
        return AttributeError(text)
    meant = words.get(name.lower()) or closest_match(name, [each for each in own if not each.startswith("_")])
    return AttributeError(f"{text}; did you mean {meant}?" if meant else text)


SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "where": ("filters",),
    "filter": ("filters",),
    "predicate": ("filters",),
    "mode": ("existing_data",),
    "existingdata": ("existing_data",),
    "existingdatabehavior": ("existing_data",),
    "partitioncols": ("partition_by",),
    "partitioning": ("partition_by",),
    "partitionby": ("partition_by",),
    "hivepartitioning": ("partitions",),
    "select": ("columns",),
    "usecols": ("columns",),
    "nrows": ("limit",),
    "numrows": ("limit",),
    "codec": ("compression",),
    "level": ("compression_level",),
    "compresslevel": ("compression_level",),
    "complevel": ("compression_level",),
    "usedictionary": ("dictionary",),
    "bloomfilters": ("bloom_filter_columns",),
    "rowgroupsize": ("row_index_stride",),
    "filesystem": ("filesystem", "storage_options"),
    "fs": ("filesystem", "storage_options"),
    "retentionhours": ("older_than",),
    "targetsize": ("target_file_size",),
    "options": ("read_options", "storage_options"),
    "sortby": ("sort_within",),
    "orderby": ("sort_within",),
    "overwrite": ("existing_data",),
    "maxrecordsperfile": ("max_rows_per_file",),
    "session": ("spark",),
    "sparksession": ("spark",),
    "path": ("target", "source"),
    "output": ("target",),
    "input": ("source",),
    "numpartitions": ("min_splits", "split_size"),
    "npartitions": ("min_splits", "split_size"),
    "blocksize": ("split_size",),
    "header": ("read_options",),
    "n": ("rows", "limit"),
    "maxpartitionbytes": ("split_size",),
    "partitionoverwrite": ("partition_overwrite_mode",),
    "maxbytespertrigger": ("max_files_per_trigger",),
    "rowindex": ("row_number",),
    "append": ("existing_data",),
    "batch": ("batch_size",),
    "chunksize": ("batch_size",),
    "dtype": ("schema",),
    "dtypes": ("schema",),
    "force": ("existing_data",),
    "ifexists": ("existing_data",),
    "rows": ("limit",),
    "unit": ("timestamp_unit",),
}
"""Keywords of other libraries, in lower case without underscores, and what a function here may have in their place."""

_PARTITIONS = "load the folder of the table; with the option partitions, all its folders name=value are columns"
KEYWORD: Mapping[str, str] = {
    "basepath": _PARTITIONS,
    "format": "files are ORC, and tables of CarbonData are recognized",
    "limit": "scan(source, limit=n) has the first rows",
    "partitioncols": "write_dataset writes tables with partitions, and scan reads them",
    "partitionby": "write_dataset writes tables with partitions, and scan reads them",
    "stripes": "stripes are those of one file: read it with ORCFile, or take splits of the scan",
}
"""What to say of keywords of other libraries that a function does not have, likewise."""
_FILES = "load(path) takes a pattern, such as orders/*.orc, or a list of paths"
_TEXT_FILES = 'format("orcish") reads ORC: read other files with spark.read.csv, json or parquet'
_STREAM = "the files of a stream are read in the order in which they are found"
_MODE = 'the save mode is .mode("append") or .mode("overwrite") of the writer'
SPARK_OPTION: Mapping[str, str] = {
    "basepath": _PARTITIONS,
    **dict.fromkeys(("pathglobfilter", "modifiedbefore", "modifiedafter"), _FILES),
    "ignorecorruptfiles": "orcish.spark.verify names files that cannot be read",
    "ignoremissingfiles": "files that are removed after they were listed are an error; read again",
    **dict.fromkeys(("latestfirst", "maxfileage"), _STREAM),
    "filenameonly": "files are known by their paths in the table",
    "cleansource": "files that are read stay; orcish.delete removes rows",
    **dict.fromkeys(("header", "inferschema", "sep", "delimiter", "multiline"), _TEXT_FILES),
    "format": 'format("orcish") has no other format',
    **dict.fromkeys(("mode", "existingdata"), _MODE),
    "schema": "the schema is .schema(...) of the reader",
}
"""What to say of options of Spark that the data source does not have, likewise."""


def hint(name: str, known: Mapping[str, str], words: Mapping[str, str]) -> str:
    """The end of a message about a keyword or an option that is not there: what is meant, or what to do in its place.

    Args:
        name: The name.
        known: The names that are there, as they are shown.
        words: What to say of names that are not there and for which none that is there stands.
    """
    plain = plain_name(name)
    names = {plain_name(each): each for each in known}
    meant = names.get(plain) or next((own for own in SYNONYMS.get(plain, ()) if own in known), None)
    if meant is None and plain in words:
        return f": {words[plain]}"
    # Of one letter, none is nearer than others.
    if meant is None and len(plain) > 1 and (near := closest_match(plain, names)) is not None:
        meant = names[near]
    return "" if meant is None else f"; did you mean {known[meant]}?"


def plain_name(name: str) -> str:
    """The name of a keyword or an option without what spellings differ in."""
    return name.replace("_", "").replace("-", "").replace(".", "").lower()


def unknown_keyword(function: str, name: str, known: Collection[str]) -> TypeError:
    """The error of a keyword that a function does not have, with the keyword that may be meant."""
    shown = {each: repr(each) for each in sorted(known)}
    return TypeError(f"{function}() has no keyword argument {name!r}{hint(name, shown, KEYWORD)}")


def unknown_column(name: str, names: Iterable[str], place: str | None = None) -> UnknownColumnError:
    """The error of a column that is not there.

    Args:
        name: The column.
        names: The names that are there; the message has the nearest ones.
        place: What the message begins with, such as the argument that names the column.
    """
    from orcish import _native

    error = _native.unknown_column(name, list(names))
    return error if place is None else UnknownColumnError(f"{place}: {error}")
