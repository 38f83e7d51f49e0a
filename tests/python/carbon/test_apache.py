"""Tables that Apache CarbonData wrote itself: all of their rows, filters on each column, and conversion to ORC."""

import orcish
import pyarrow as pa
import pytest
from support import carbon_apache as apache
from support import carbon_filters as filters
from support import carbon_rows as cases
from support.case_loops import each_case
from support.random_cases import part

TABLES = apache.tables()
FOLDERS = [name for name in TABLES if name != "empty"]
pytestmark = pytest.mark.skipif(
    not TABLES, reason=f"there are no tables of Apache CarbonData in {apache.FOLDER}: set ORCISH_CARBONDATA to a folder"
)


@pytest.fixture(scope="module")
def read():
    """A function that reads a table once, sorted by its ids."""
    found = {}

    def rows(name):
        if name not in found:
            table = orcish.read_table(apache.table_path(name))
            found[name] = cases.by_id(table) if table.num_rows else table
        return found[name]

    return rows


@each_case("name", FOLDERS)
def test_rows(name, read):
    found = read(name)
    if name == "spark_many_rows":
        assert found.column("id").to_pylist() == list(range(120_000))
        return
    cases.equal(found, apache.expected(name, found.schema))


@pytest.mark.skipif("empty" not in TABLES, reason="that table is not there")
def test_a_folder_without_files_is_no_table():
    with pytest.raises((FileNotFoundError, orcish.OrcishError)):
        orcish.read_table(apache.table_path("empty"))


@each_case("name", FOLDERS)
def test_a_table_tells_of_itself(name, read):
    table, rows = orcish.CarbonTable(apache.table_path(name)), read(name)
    assert table.schema.names == rows.schema.names
    assert table.schema.types == rows.schema.types
    assert table.num_rows == table.count() == rows.num_rows
    if rows.num_rows:
        cases.equal(cases.by_id(pa.Table.from_batches(table.scan().to_batches())), rows)


@each_case("name", FOLDERS)
def test_columns(name, read):
    rows = read(name)
    for column in rows.column_names if rows.num_rows < 50_000 else ["id"]:
        found = orcish.read_table(apache.table_path(name), columns=[column, "id"] if column != "id" else ["id"])
        cases.equal(cases.by_id(found) if found.num_rows else found, rows.select(found.column_names))


@each_case("name", FOLDERS)
def test_filters(name, read):
    """A filter on each column selects the rows that a filter in memory selects; columns take turns at operators."""
    rows = read(name)
    path = apache.table_path(name)
    many = rows.num_rows > 10_000
    for at, column in enumerate(rows.column_names):
        # Filtering in memory takes long.
        conditions = filters.conditions(rows.slice(0, 10_000), column, few=True)[: 2 if many else None]
        for condition in part(conditions, at):
            wanted = filters.kept(rows, condition)
            found = orcish.scan(path, filters=condition).select("id").to_table()
            assert sorted(found.column("id").to_pylist()) == sorted(wanted.column("id").to_pylist()), condition
            assert orcish.scan(path, filters=condition).count() == wanted.num_rows, condition


@each_case("name", [name for name in FOLDERS if name not in apache.NO_ROWS])
def test_conversion(name, read, tmp_path):
    orcish.convert(apache.table_path(name), str(tmp_path / "orc"))
    found = orcish.read_table(str(tmp_path / "orc"))
    rows = read(name)
    cases.equal(cases.by_id(found.select(rows.column_names).cast(rows.schema)), rows)
