"""Row groups of columns: statistics, positions and bloom filters of row indexes."""

from __future__ import annotations

from pathlib import Path

import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case

DATA = sorted((Path(__file__).parents[2] / "data").glob("*.orc"))


def test_row_groups_are_those_of_the_rows(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "id": range(25_000),
            "text": [f"t{number % 50}" if number % 3 else None for number in range(25_000)],
            "nest": [{"a": number // 7} for number in range(25_000)],
        }
    )
    path = tmp_path / "a.orc"
    options = {"row_index_stride": 1000, "bloom_filter_columns": ["id"], "bloom_filter_fpp": 0.01}
    with orcish.ORCWriter(path, rows.schema, **options) as writer:
        for start, length in ((0, 10_500), (10_500, 14_500)):
            writer.write(rows.slice(start, length))
            writer.end_stripe()
    file = orcish.ORCFile(path)
    groups = file.row_groups("id")
    assert [(group.stripe, group.num_rows) for group in groups] == (
        [(0, 1000)] * 10 + [(0, 500)] + [(1, 1000)] * 14 + [(1, 500)]
    )
    first = 0
    for group in groups:
        assert group.statistics is not None
        assert (group.statistics.min, group.statistics.max) == (first, first + group.num_rows - 1)
        assert group.first_row == first - (10_500 if group.stripe else 0)
        assert group.bloom_filter is not None
        assert group.bloom_filter.kind == "BLOOM_FILTER_UTF8"
        assert 0 < group.bloom_filter.bits_set < group.bloom_filter.bits
        assert 0 < group.bloom_filter.false_positives < 0.02
        first += group.num_rows
    assert file.row_groups("id", stripes=[1]) == groups[11:]
    assert [group.statistics.has_null for group in file.row_groups("text") if group.statistics] == [True] * len(groups)
    assert all(group.bloom_filter is None for group in file.row_groups("text"))
    assert [group.statistics.min for group in file.row_groups("nest.a", stripes=[0]) if group.statistics] == (
        [number // 7 for number in range(0, 10_500, 1000)]
    )
    assert [len(group.positions) > 0 for group in groups] == [True] * len(groups)
    with pytest.raises(ValueError, match="no stripe 7, of 2"):
        file.row_groups("id", stripes=[7])
    with pytest.raises(orcish.UnknownColumnError):
        file.row_groups("none")
    with pytest.raises(orcish.UnknownColumnError, match="no column has id 99"):
        file.row_groups(99)


def test_without_an_index(tmp_path: Path) -> None:
    orcish.write_table(pa.table({"a": range(10)}), tmp_path / "a.orc", row_index_stride=0)
    assert orcish.ORCFile(tmp_path / "a.orc").row_groups("a") == []


@each_case("path", DATA, ids=lambda path: path.name)
def test_files_of_all_writers(path: Path) -> None:
    """Row groups have all rows of their stripes, and their values those of the stripes."""
    file = orcish.ORCFile(path)
    for id in range(len(file.column_paths)):
        groups = file.row_groups(id)
        for number, stripe in enumerate(file.stripes):
            of_stripe = [group for group in groups if group.stripe == number]
            if of_stripe:
                assert sum(group.num_rows for group in of_stripe) == stripe.num_rows
                assert of_stripe[-1].first_row + of_stripe[-1].num_rows == stripe.num_rows


@each_case("path", sorted((DATA[0].parent).glob("[cho]*/*.orc")), ids=lambda path: path.name)
def test_damaged_files(path: Path) -> None:
    """A damaged index is an error that names the file, or has no row groups."""
    limits: orcish.types.Limits = {"memory": 64 << 20}
    errors = []
    try:
        file = orcish.ORCFile(path, limits=limits)
    except (orcish.OrcishError, ValueError):
        return
    for id in range(min(len(file.column_paths), 20)):
        try:
            file.row_groups(id)
        except (orcish.OrcishError, ValueError) as error:
            errors.append(str(error))
    assert all(path.name in error for error in errors)
