"""Values that Apache's writer does not store as they were given: what is read of them, and filters on them."""

import datetime as dt
import itertools
import json

import numpy as np
import orcish
import pyarrow as pa
import pytest
from support import carbon_apache as apache
from support import carbon_filters as filters
from support.carbon import CarbonTableWriter, as_read, write_folder
from support.case_loops import each_case

MORE = apache.FOLDER.parent / "more"
DAYS = [None, dt.date(1970, 1, 1), None, dt.date(2020, 5, 17), dt.date(1, 1, 1), dt.date(9999, 12, 31)]
NESTED = {
    "l": pa.list_(pa.date32()),
    "s": pa.struct([("d", pa.date32()), ("i", pa.int32())]),
    "m": pa.map_(pa.int32(), pa.date32()),
    "deep": pa.list_(pa.struct([("d", pa.date32()), ("l", pa.list_(pa.date32()))])),
}


@each_case("as_apache", [True, False])
def test_null_dates_within_columns(tmp_path, as_apache):
    columns = {
        "l": [[day, None] for day in DAYS],
        "s": [{"d": day, "i": 1} for day in DAYS],
        "m": [[(1, day), (2, None)] for day in DAYS],
        "deep": [[{"d": day, "l": [None, day]}, {"d": None, "l": [day, day]}] for day in DAYS],
    }
    table = pa.table({name: pa.array(columns[name], of) for name, of in NESTED.items()})
    write_folder(tmp_path / "t", table, as_apache=as_apache, page_rows=4)
    assert orcish.read_table(str(tmp_path / "t")).to_pylist() == as_read(table).to_pylist()


def test_null_dates_that_are_keys(tmp_path):
    of = pa.map_(pa.date32(), pa.int32())
    table = pa.table({"m": pa.array([[(dt.date(2020, 1, 1), 1)], None, []], of)})
    write_folder(tmp_path / "t", table, as_apache=True)
    assert orcish.read_table(str(tmp_path / "t")).to_pylist() == table.to_pylist()


def numbers(of, seed):
    """Pages whose numbers lose digits, or are put beyond the others."""
    if of == pa.float32():
        pages = [[2.09] * 8, [300.7, 300.8, 299.1], [-2.09, -2.11], [16777.5, 16777.75], [0.5, 1.78]]
    else:
        pages = [[1.38, 0.1], [2.09] * 8, [327.68, 0.0, 655.36], [-1.28, -2.56, -1.29], [1e9 + 0.25, 1e9]]
    random = np.random.default_rng(seed)
    for _ in range(20):
        low, power = int(random.integers(-40_000, 40_000)), 10 ** int(random.integers(1, 4))
        pages.append([(low + int(random.integers(0, 300))) / power for _ in range(8)])
    return [page * 8 if len(page) == 1 else (page * 8)[:8] for page in pages]


@each_case("of", [pa.float32(), pa.float64()], ids=str)
def test_filters_keep_all_rows_that_match_as_they_are_read(tmp_path, of):
    values = list(itertools.chain(*numbers(of, 3)))
    table = pa.table({"id": pa.array(range(len(values)), pa.int32()), "x": pa.array(values, of)})
    written = CarbonTableWriter(tmp_path / "t", table.schema, as_apache=True, page_rows=8, blocklet_rows=24)
    written.load(table)
    path = str(written.path)
    rows = orcish.read_table(path)
    # What was written is not what is read, or there would be nothing to see.
    changed = [at for at, (found, was) in enumerate(zip(rows["x"], table["x"], strict=True)) if found != was]
    assert changed
    stored = sorted({rows["x"][at].as_py() for at in changed} | set(rows["x"].to_pylist()[::11]))
    x = orcish.col("x")
    for value in stored:
        for condition in (x == value, x >= value, x <= value, x > value, x < value, x.is_in([value])):
            wanted = filters.kept(rows, condition)["id"].to_pylist()
            scan = orcish.scan(path, filters=condition)
            assert scan.select("id").to_table()["id"].to_pylist() == wanted, condition
            assert scan.count() == len(wanted), condition
    assert (orcish.scan(path).min("x"), orcish.scan(path).max("x")) == (
        min(rows["x"].to_pylist()),
        max(rows["x"].to_pylist()),
    )


def test_pages_of_numbers_are_skipped_still(tmp_path):
    table = pa.table({"x": pa.array([page * 100 + at / 4 for page in range(50) for at in range(32)])})
    write_folder(tmp_path / "t", table, as_apache=True, page_rows=32, blocklet_rows=64)
    table = str(tmp_path / "t")
    # Bounds of pages are widened, so that the page that begins at 1000 is read as well.
    for condition, rows, most in [(orcish.col("x") < 1000, 320, 352), (orcish.col("x") >= 4900, 32, 64)]:
        scan = orcish.scan(table, filters=condition)
        assert scan.count() == rows
        assert rows <= scan.explain().rows_read <= most
    assert orcish.scan(table, filters=orcish.col("x") < 1e9).explain().rows_read == 1600


def test_floats_within_columns_are_divided_as_doubles(tmp_path):
    values = np.float32(2000) + np.arange(500, dtype=np.float32) * np.float32(0.00017)
    table = pa.table({"s": pa.array([{"f": value} for value in values], pa.struct([("f", pa.float32())]))})
    write_folder(tmp_path / "t", table, as_apache=True)
    found = np.asarray(pa.array([row["f"] for row in orcish.read_table(str(tmp_path / "t"))["s"].to_pylist()]), "f4")
    texts = [np.format_float_positional(value, trim="-") for value in values]
    decimals = max(len(text.partition(".")[2]) for text in texts)
    factor, top = 10.0**decimals, int(np.float32(10**decimals) * values.max())
    wanted = [np.float32((top - int(top - float(value) * factor)) / factor) for value in values]
    assert found.tolist() == np.asarray(wanted, "f4").tolist()


@each_case("lengths", [[40_000], [5, 33_000, 7], [70_000, 3, 200_000, 65_536, 65_535, 1], [65_536] * 3])
def test_long_texts_of_a_dictionary_within_columns(tmp_path, lengths):
    texts = [
        f"{at}" + "abcdefghij klmnopqrs" * (length // 20) + "x" * (length % 20 - 1) for at, length in enumerate(lengths)
    ]
    of = pa.list_(pa.large_string())
    rows = [["short", text, None, "other"] for text in texts] * 3
    table = pa.table({"l": pa.array(rows, of)})
    write_folder(tmp_path / "t", table, page_rows=4)
    assert orcish.read_table(str(tmp_path / "t"))["l"].to_pylist() == rows


# Tables of Apache's own writers, with the rows that Apache's own reader gives.

WITHOUT_MORE = pytest.mark.skipif(not MORE.is_dir(), reason=f"there are no more tables of Apache CarbonData in {MORE}")


def plain(value):
    """A value as the rows of Apache's reader have it."""
    if isinstance(value, dict):
        return [plain(part) for part in value.values()]
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.isoformat() if isinstance(value, dt.date) else value


def shortest(value):
    """A float as the shortest text that is read as it, which JSON has."""
    if isinstance(value, list):
        return [shortest(part) for part in value]
    return float(str(np.float32(value))) if isinstance(value, float) else value


@WITHOUT_MORE
@each_case("name", ["d_dates0", "d_f2000s", "d_f209"])
def test_more_tables_of_apache(name):
    names = [column for column, _ in json.loads((MORE / name / "case.json").read_text())["columns"]]
    rows = orcish.read_table(str(MORE / name / "table")).select(names).to_pylist()
    found = sorted([shortest([plain(row[column]) for column in names]) for row in rows], key=lambda row: row[0])
    assert found == [json.loads(line) for line in (MORE / name / "apache.jsonl").read_text().splitlines()]


@WITHOUT_MORE
def test_filters_on_floats_of_apache():
    path = str(MORE / "d_f209" / "table")
    assert orcish.scan(path, filters=orcish.col("f") < 2.085).count() == 100
    assert orcish.scan(path, filters=orcish.col("f") >= 2.085).count() == 0


@WITHOUT_MORE
def test_null_dates_of_spark():
    rows = orcish.read_table(str(MORE / "mini" / "table")).to_pylist()
    assert [row["id"] for row in rows] == [1, 2]
    assert rows[0]["st"] == {"a": 1, **{name: None for name in rows[0]["st"] if name != "a"}}
    assert rows[0]["l"] == [None, dt.date(2020, 1, 1)]
    assert [(str(key), value) for key, value in rows[0]["m"]] == [("1", None)]
    assert all(value is None for name, value in rows[1].items() if name != "id")
