"""Tables of CarbonData for tests, and what a reader must find in them."""

import orcish

from support import carbon_rows as cases
from support.carbon import CarbonTableWriter
from support.carbon.tables import READABLE

NAMES = ["i64", "f64", "dec18", "s", "long", "day", "at", "flag", "texts"]


def writer(tmp_path, names=NAMES, **options):
    """A table without rows, whose segments have several pages and blocklets."""
    return CarbonTableWriter(tmp_path / "t", cases.table(names).schema, page_rows=16, blocklet_rows=48, **options)


def some(start=0, rows=100, names=NAMES):
    return cases.table(names, rows, start=start)


def check(written, *, ordered=True, **options):
    """What a reader finds is what the writer says there is."""
    path = str(written.path)
    table, wanted = orcish.CarbonTable(path, **options), written.rows()
    assert table.schema.names == wanted.schema.names
    cases.equal(orcish.read_table(path, **options), wanted, ordered=ordered)
    assert table.num_rows == table.count() == wanted.num_rows
    live = [id for id, segment in written.segments.items() if segment.status["loadStatus"].lower() in READABLE]
    assert [segment.id for segment in table.segments if segment.is_readable] == live
    return table
