"""Errors of damaged files name the file, whatever is asked of it."""

from __future__ import annotations

import contextlib
import datetime as dt
import inspect
import io
import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import ORCFile
from orcish.errors import CorruptFileError, UnsupportedError
from orcish_cli import main
from support.case_loops import each_case
from support.random_cases import cases, seeded

ROWS = pa.table(
    {
        "id": range(4),
        "s": ["a", "b", None, "d"],
        "t": pa.array([dt.datetime(2026, 1, 1)] * 4, pa.timestamp("us")),
        "l": [[1], [], None, [2, 3]],
    }
)
IDS = range(len(ROWS.schema) + 2)
PROPERTIES = [name for name, value in inspect.getmembers(ORCFile) if isinstance(value, property)]

METHODS: dict[str, Callable[[ORCFile], object]] = {
    "properties": lambda file: [getattr(file, name) for name in PROPERTIES],
    "check": ORCFile.check,
    "statistics": lambda file: [file.statistics(id) for id in IDS],
    "stripe_statistics": lambda file: [file.stripe_statistics(id) for id in IDS],
    "attributes": lambda file: [file.attributes(id) for id in IDS],
    "arrow_schema": ORCFile.arrow_schema,
    "read": ORCFile.read,
    "read_stripe": lambda file: file.read_stripe(0),
    "iter_batches": lambda file: list(file.iter_batches()),
    "explain": lambda file: file.explain(filters="id = 2"),
    "filter": lambda file: file.read(filters="id = 2 and s = 'd'"),
    "stream": lambda file: pa.table(file),
    "no such column": lambda file: file.attributes(99),
    "no such id": lambda file: file.statistics(99),
    "no such stripe": lambda file: file.read_stripe(99),
}


@each_case("compression", ["none", "zstd"])
@each_case("method", METHODS)
def test_damaged_bytes(tmp_path: pathlib.Path, method: str, compression: Any) -> None:
    path = tmp_path / "file.orc"
    orcish.write_table(ROWS, path, compression=compression, bloom_filter_columns=["id"])
    data = path.read_bytes()
    chance = seeded(f"damaged bytes of {method}")
    without_name = []
    for at in chance.sample(range(len(data)), cases(150)):
        for mask in (0xFF, 0x01):
            damaged = bytearray(data)
            damaged[at] ^= mask
            path.write_bytes(damaged)
            try:
                METHODS[method](ORCFile(path))
            except (orcish.OrcishError, ValueError, OSError) as error:
                if str(path) not in str(error):
                    without_name.append((at, mask, str(error)))
    assert without_name == []


def with_damaged_statistics(path: pathlib.Path, column: str) -> None:
    """Writes a file of which the statistics of a column cannot be decoded."""
    orcish.write_table(ROWS, path, compression="none", existing_data="overwrite")
    data = path.read_bytes()
    for at in range(len(data) - 1, 0, -1):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        with contextlib.suppress(orcish.OrcishError):
            file = ORCFile(path)
            file.read()
            try:
                file.statistics(column)
            except CorruptFileError:
                return
    raise AssertionError("no byte damages the statistics")


def shell(*arguments: str) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as shown, contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    if code:
        raise CorruptFileError(shown.getvalue())


CALLS: dict[str, Callable[[pathlib.Path], object]] = {
    "statistics": lambda path: ORCFile(path).statistics("s"),
    "check": lambda path: ORCFile(path).check(),
    "compact": lambda path: orcish.compact(path.parent),
    "the shell": lambda path: shell("meta", "--statistics", str(path)),
    "filter": lambda path: orcish.read_table(path, filters="s = 'x'"),
    "maximum": lambda path: orcish.scan(path).max("s"),
}


@each_case("call", CALLS)
def test_damaged_statistics(tmp_path: pathlib.Path, call: str) -> None:
    """The error names the file and the column. Calls that do not need the statistics succeed."""
    for name in ("a.orc", "b.orc"):
        orcish.write_table(ROWS, tmp_path / name, compression="none")
    path = tmp_path / "b.orc"
    with_damaged_statistics(path, "s")
    with pytest.raises(CorruptFileError, match=r"/b\.orc: column s: the column statistics cannot be decoded"):
        CALLS[call](path)


@each_case(
    "call",
    [
        lambda path: orcish.read_table(path),
        lambda path: orcish.delete(path.parent, "id = 1"),
        lambda path: orcish.compact(path.parent, rewrite=True),
        lambda path: orcish.write_dataset(ROWS, path.parent, existing_data="append"),
        lambda path: orcish.convert(path.parent, path.parent.parent / "to"),
    ],
    ids=["read", "delete", "compact", "append", "convert"],
)
def test_unknown_time_zones(tmp_path: pathlib.Path, call: Callable[[pathlib.Path], object]) -> None:
    """The file that has the zone is named, not the one that is written."""
    path = tmp_path / "t" / "f.orc"
    path.parent.mkdir()
    orcish.write_table(ROWS, path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"UTC", b"UUC"))
    with pytest.raises(UnsupportedError, match=r"/f\.orc: .*writer time zone .UUC. is not known"):
        call(path)
    assert orcish.scan(tmp_path / "t").count() == len(ROWS)


HEAVY = sorted((pathlib.Path(__file__).parents[2] / "data" / "heavy").glob("*.orc"))


def _dask(path: str) -> object:
    import orcish.dask

    # Conversions to objects of pandas may need memory without end.
    return orcish.dask.read(path)


GIVEN: dict[str, Callable[[str], object]] = {
    "polars": lambda path: orcish.scan_polars(path).head(10).collect(),
    "schema of polars": lambda path: orcish.scan_polars(path).collect_schema(),
    "dask": _dask,
    "splits": lambda path: orcish.scan(path).splits(),
    "dataset": lambda path: orcish.dataset(path).head(10),
}


@each_case("call", GIVEN)
@each_case("path", HEAVY, ids=lambda path: path.stem)
def test_errors_of_other_libraries_name_the_file(path: pathlib.Path, call: str) -> None:
    """Types and rows that the library does not take are an error of the library, with its type."""
    texts = []
    try:
        GIVEN[call](str(path))
    except Exception as error:
        texts = [str(error), *getattr(error, "__notes__", [])]
    assert not texts or path.name in " ".join(texts)
