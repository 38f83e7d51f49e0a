"""The list of commands."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Command"]


class Command(NamedTuple):
    """A command, and where its arguments are added to its parser."""

    name: str
    module: str
    """The module in this package."""
    help: str
    function: str = "add_arguments"
    """The function of the module that takes the parser of the command."""


COMMANDS = (
    Command("meta", "meta", "print metadata of files and tables: rows, sizes, stripes or segments, types, writer"),
    Command("data", "data", "print rows of files and tables, the first ones by default"),
    Command("head", "data", "print the first rows of files and tables, as data does"),
    Command("tail", "tail", "print the last rows of files and tables", "add_tail"),
    Command("sample", "tail", "print rows of files and tables at random", "add_sample"),
    Command("count", "scan", "print the numbers of rows of files and tables", "add_count"),
    Command("scan", "scan", "read all rows of files and tables, and print their numbers and the time", "add_scan"),
    Command("sql", "sql", "run a query over files and tables, by duckdb"),
    Command("check", "check", "compare the rows of files with what is recorded of them"),
    Command("merge", "merge", "write the stripes of several files as one file"),
    Command("layout", "layout", "write a page that shows how files are laid out: stripes, columns, order of values"),
    Command("advise", "advise", "measure what other options of writing would give, on a sample of rows"),
    Command("schema", "schema", "print the columns of files and tables, as types of ORC, Arrow or Spark"),
    Command(
        "json-schema", "json_schema", "print the ORC type that holds JSON documents, or CSV, Parquet or Arrow files"
    ),
    Command("sizes", "sizes", "print bytes of columns and of overhead, over all files"),
    Command("stats", "stats", "print recorded statistics of columns, merged over files or by file or stripe"),
    Command("explain", "explain", "print what a read with a filter would skip, and why"),
    Command("diff", "diff", "print the differences of two files or tables: columns, metadata, rows"),
    Command("compat", "compat", "print which other readers can read files, and why not"),
    Command("key", "key", "print keys, encrypted columns and masks that files name"),
    Command("version", "version", "print the version"),
    Command(
        "convert",
        "convert",
        "write ORC, CarbonData, Parquet, CSV, JSON lines or Arrow files as files of another format",
    ),
    Command("rewrite", "rewrite", "write files and tables anew: with other options, sorted, or with other columns"),
    Command("compact", "table", "put small files of a table together", "add_compact"),
    Command("delete", "table", "delete rows of a table", "add_delete"),
    Command("history", "table", "show the last commits of a table", "add_history"),
    Command("recover", "recover", "finish the last commit of a table, or save what of a torn file can be read"),
    Command("vacuum", "table", "remove files that dead jobs have written and never published", "add_vacuum"),
    Command("spark", "spark", "run jobs over whole tables, by Spark: compact, convert, delete, profile, verify"),
    Command("completion", "completion", "print what a shell needs to complete the arguments of this command"),
)
