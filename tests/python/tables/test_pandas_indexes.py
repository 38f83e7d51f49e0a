"""Indexes of data frames of pandas in tables and in single files."""

import datetime
import functools

import orcish
import pandas as pd
import pyarrow as pa
import pytest
from support.case_loops import each_case

DAYS = pd.date_range("2024-05-01", periods=4)
VALUES = {"a": [1, 2, 3, 4], "b": ["w", "x", "y", "z"]}
FRAME = pd.DataFrame(VALUES)
INDEXES = {
    "default": FRAME,
    "filtered": FRAME[FRAME.a.isin([1, 3, 4])],
    "sliced": FRAME[1:],
    "reversed": FRAME[::-1],
    "shuffled": FRAME.sample(frac=1, random_state=1),
    "joined": pd.concat([FRAME[:2], FRAME[2:].reset_index(drop=True)]),
    "unsigned": FRAME.set_index(pd.Index([9, 7, 5, 3], dtype="uint16")),
    "named": FRAME.set_index(pd.Index([9, 7, 5, 3], name="key")),
    "named days": FRAME.set_index(DAYS.rename("day")),
    "named range": FRAME.set_index(pd.RangeIndex(10, 18, 2, name="key")),
    "two names": FRAME.set_index(pd.MultiIndex.from_arrays([[1, 1, 2, 2], DAYS], names=["one", "day"])),
    "one name": FRAME.set_index(pd.MultiIndex.from_arrays([[1, 1, 2, 2], DAYS], names=[None, "day"])),
    "no names": FRAME.set_index(pd.MultiIndex.from_arrays([[1, 1, 2, 2], [1, 2, 1, 2]])),
}
UNNAMED = {
    "texts": FRAME.set_index(pd.Index(["p", "q", "r", "s"])),
    "days": FRAME.set_index(DAYS),
    "numbers": FRAME.set_index(pd.Index([0.5, 1.5, 2.5, 3.5])),
    "booleans": FRAME.set_index(pd.Index([True, False, True, False])),
    "categories": FRAME.set_index(pd.CategoricalIndex(["p", "q", "r", "s"])),
    "objects": FRAME.set_index(pd.Index([1, "q", None, 2.5])),
    "one of two": FRAME.set_index(pd.MultiIndex.from_arrays([[1, 1, 2, 2], DAYS], names=["one", None])),
}
"""Indexes without name whose values are more than numbers of rows."""
CASES = pytest.mark.parametrize("frame", INDEXES.values(), ids=INDEXES)


def named_levels(frame):
    return [name for name in frame.index.names if name is not None]


def plain(frame):
    """The rows of a frame by their values: with named levels of the index as columns, and without the others."""
    unnamed = [level for level, name in enumerate(frame.index.names) if name is None]
    frame = frame.reset_index(level=unnamed, drop=True) if len(unnamed) < frame.index.nlevels else frame
    frame = frame.reset_index(drop=not named_levels(frame))
    return frame.astype({name: "datetime64[us]" for name in frame if name == "day"})[sorted(frame)]


def same(found, frame):
    """Whether frames have the same rows in any order, and the index is one of columns, or the default one."""
    assert named_levels(found) or (found.index == pd.RangeIndex(len(found))).all()
    both = [plain(each).sort_values("a").reset_index(drop=True) for each in (found, frame)]
    pd.testing.assert_frame_equal(*both, check_dtype=False)


@CASES
def test_tables_have_named_indexes_only(frame, tmp_path):
    """A table has a column for each named level, whatever is appended, and no other column beside those of the frame."""
    orcish.write_dataset(frame, tmp_path / "t")
    orcish.write_dataset(FRAME.assign(a=FRAME.a + 10), tmp_path / "t", existing_data="append")
    found = orcish.read_table(tmp_path / "t")
    assert set(found.column_names) == {"a", "b", *named_levels(frame)}
    added = pd.concat([plain(frame), FRAME.assign(a=FRAME.a + 10)])
    pd.testing.assert_frame_equal(
        found.to_pandas(ignore_metadata=True)[sorted(added)].sort_values("a").reset_index(drop=True),
        added[sorted(added)].reset_index(drop=True).sort_values("a").reset_index(drop=True),
        check_dtype=False,
    )


@CASES
def test_appended_frames_add_no_columns(frame, tmp_path):
    """A frame with an index without name fits every table."""
    orcish.write_dataset(FRAME.assign(a=FRAME.a + 10), tmp_path / "t")
    orcish.write_dataset(frame, tmp_path / "t", existing_data="append")
    found = orcish.read_table(tmp_path / "t")
    assert set(found.column_names) == {"a", "b", *named_levels(frame)}
    assert (found.to_pandas().index == pd.RangeIndex(len(found))).all()


@CASES
def test_rows_keep_their_index_in_tables(frame, tmp_path):
    """No read gives a row the number of another: whole, in part, or after a change of the table."""
    orcish.write_dataset(frame, tmp_path / "t")
    same(orcish.read_table(tmp_path / "t").to_pandas(), frame)
    orcish.write_dataset(frame.assign(a=frame.a + 10), tmp_path / "t", existing_data="append")
    both = pd.concat([frame, frame.assign(a=frame.a + 10)])
    same(orcish.read_table(tmp_path / "t").to_pandas(), both)
    # As many rows as the first frame has.
    half = both[both.b.isin(["y", "z"])]
    filtered = orcish.scan(tmp_path / "t", filters="b in ('y', 'z')")
    same(filtered.to_pandas(), half)
    projected = filtered.select("a", "b").to_pandas()
    assert (projected.index == pd.RangeIndex(len(half))).all()
    for change in (
        lambda: orcish.compact(tmp_path / "t"),
        lambda: orcish.delete(tmp_path / "t", filters="b not in ('y', 'z')"),
    ):
        change()
        same(orcish.scan(tmp_path / "t", filters="b in ('y', 'z')").to_pandas(), half)
    same(orcish.read_table(tmp_path / "t").to_pandas(), half)


@each_case("frame", UNNAMED.values(), ids=UNNAMED)
def test_values_without_name_are_refused(frame, tmp_path):
    """A table has no column for them. A name, or an index of numbers, gives one, or none."""
    with pytest.raises(
        ValueError, match=r"the index of the data frame, of type .*, has no name.*rename_axis\('time'\)"
    ):
        orcish.write_dataset(frame, tmp_path / "t")
    assert not (tmp_path / "t").exists()
    orcish.write_dataset(frame[:0], tmp_path / "empty")
    orcish.write_dataset(frame.reset_index(drop=True), tmp_path / "dropped")
    if not isinstance(frame.index, pd.MultiIndex) and frame.index.dtype != object:
        orcish.write_dataset(frame.rename_axis("time"), tmp_path / "named")
        assert orcish.read_table(tmp_path / "named").to_pandas().index.tolist() == frame.index.tolist()


def single_files():
    found = {name: frame for name, frame in (INDEXES | UNNAMED).items() if name != "objects"}
    return pytest.mark.parametrize("frame", found.values(), ids=found)


@single_files()
def test_single_files_keep_any_index(frame, tmp_path):
    """Files of `write_table` have what pyarrow stores for pandas."""
    orcish.write_table(frame, tmp_path / "f.orc")
    expected = pa.Table.from_pandas(frame).to_pandas()
    pd.testing.assert_frame_equal(orcish.read_table(tmp_path / "f.orc").to_pandas(), expected)
    pd.testing.assert_frame_equal(orcish.scan(tmp_path / "f.orc").to_pandas(), expected)


def test_ranges_of_one_file_number_no_other_rows(tmp_path):
    """A range is of the rows of its frame, and a selection of as many rows of several files has others."""
    for name in ("x", "y"):
        orcish.write_table(FRAME[2:], tmp_path / f"{name}.orc")
    found = orcish.scan(tmp_path, filters="a = 3").to_pandas()
    assert list(found.index) == [0, 1]
    orcish.write_dataset(pa.Table.from_pandas(FRAME[2:]), tmp_path / "t")
    orcish.write_dataset(FRAME[2:], tmp_path / "t", existing_data="append")
    for _ in range(2):
        assert list(orcish.scan(tmp_path / "t", filters="a = 3").to_pandas().index) == [0, 1]
        orcish.compact(tmp_path / "t")


@each_case(
    "value",
    [
        float("inf"),
        62.572030410805404,
        2**64,
        "\ud800",
        '\x000"{,\\',
        functools.reduce(lambda x, _: [x], range(150), 1),
    ],
)
def test_attributes_of_frames_stay(tmp_path, value):
    """pyarrow writes attributes as JSON with values that other parsers refuse or change."""
    frame = pd.DataFrame({"id": [0, 1]}, index=pd.RangeIndex(100, 102))
    frame.attrs = {"value": value}
    orcish.write_table(pa.Table.from_pandas(frame), tmp_path / "a.orc")
    read = orcish.scan([tmp_path / "a.orc"] * 2).to_table().slice(1, 2).to_pandas()
    assert read.attrs == frame.attrs
    assert list(read.index) == [0, 1]


def test_indexes_are_partition_columns(tmp_path):
    """A named level of an index is a column to partition by."""
    orcish.write_dataset(INDEXES["named range"], tmp_path / "t", partition_by=["key"])
    assert sorted(orcish.read_table(tmp_path / "t")["key"].to_pylist()) == [10, 12, 14, 16]


def test_indexes_with_names_of_columns_are_refused(tmp_path):
    """Both would be the same column."""
    with pytest.raises(ValueError, match="'a' is a column and an index of the data frame"):
        orcish.write_dataset(FRAME.set_index("a", drop=False), tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_frames_are_not_changed(tmp_path):
    """The frame of the caller keeps its index."""
    frame = FRAME[FRAME.a > 2].copy()
    before = frame.copy()
    orcish.write_dataset(frame, tmp_path / "t")
    pd.testing.assert_frame_equal(frame, before)


LABELS = {
    "integers": pd.Index([0, 1]),
    "days": pd.date_range("2024-05-01", periods=2),
    "instants": pd.date_range("2024-05-01", periods=2, tz="Europe/Paris"),
    "numbers": pd.Index([0.5, 1.5]),
    "pairs": pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]),
    "texts": pd.Index(["p", "q"]),
    "named texts": pd.Index(["p", "q"], name="columns"),
}
UNKNOWN_LABELS = {
    "booleans": pd.Index([True, False]),
    "categories": pd.CategoricalIndex(["p", "q"]),
    "months": pd.period_range("2024-01", periods=2, freq="M"),
    "dates": pd.Index([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]),
    "intervals": pd.interval_range(0, 2),
    "durations": pd.to_timedelta([1, 2], "s"),
    "pairs": pd.MultiIndex.from_arrays([pd.Categorical(["a", "b"]), [1, 2]]),
}
"""Labels of columns that pyarrow does not restore."""
READS = {
    "table": orcish.read_table,
    "scan": lambda source, **options: orcish.scan(source, **options).to_table(),
    "batches": lambda source, **options: pa.Table.from_batches(orcish.scan(source, **options)),
    "stream": lambda source, **options: pa.table(orcish.scan(source, **options)),
    "schema": lambda source, **options: orcish.scan(source, **options).schema.empty_table(),
}


@each_case("read", READS.values(), ids=READS)
@each_case("labels", LABELS.values(), ids=LABELS)
def test_labels_of_columns_are_those_of_all_columns(labels, read, tmp_path):
    """Columns that no data frame has described get the names that they have in Arrow, and so do those beside them."""
    frame = pd.DataFrame({0: pd.array([1, None], "Int64"), 1: pd.Categorical(["x", "y"])}, pd.Index([7, 8], name="key"))
    frame.columns = labels
    names = pa.Table.from_pandas(frame).column_names
    orcish.write_table(frame, tmp_path / "f.orc")
    orcish.write_dataset(frame, tmp_path / "t")
    for source in ("f.orc", "t"):
        found = read(tmp_path / source).to_pandas()
        assert found.columns.equals(pa.Table.from_pandas(frame).to_pandas().columns)
        found = read(tmp_path / source, row_number="n").to_pandas()
        assert list(map(str, found.columns)) == [*names[:2], "n"]
        found = read(tmp_path / source, columns=names[1:2], row_number=True).to_pandas()
        assert list(map(str, found.columns)) == [names[1], "row_number"]
        assert found.dtypes.astype(str).iloc[0] == "category"
    orcish.write_dataset(pa.table({"new": [5]}), tmp_path / "t", existing_data="append")
    orcish.write_dataset(pa.table({"new": [6], "key": [9]}), tmp_path / "t", existing_data="append")
    orcish.compact(tmp_path / "t")
    found = read(tmp_path / "t").to_pandas()
    assert list(map(str, found.columns)) == [*names[:2], "new"]
    assert (found.index.name, found.columns.name) == ("key", labels.name)
    assert found.dtypes.astype(str).tolist()[:2] == ["Int64", "category"]
    projected = read(tmp_path / "t", columns=[names[0], "new"]).to_pandas()
    assert list(map(str, projected.columns)) == [names[0], "new"]


@each_case("labels", UNKNOWN_LABELS.values(), ids=UNKNOWN_LABELS)
def test_labels_that_pyarrow_does_not_restore(labels, tmp_path):
    """They are the names of the columns."""
    frame = pd.DataFrame([[1, 2]], columns=labels)
    names = pa.Table.from_pandas(frame).column_names
    orcish.write_table(frame, tmp_path / "f.orc")
    orcish.write_dataset(frame, tmp_path / "t")
    for source in ("f.orc", "t"):
        for read in READS.values():
            assert list(read(tmp_path / source).to_pandas().columns) == names


@each_case("labels", LABELS.values(), ids=LABELS)
def test_labels_of_partition_columns(labels, tmp_path):
    """A partition column is described if it was one of the data frame."""
    frame = pd.DataFrame([[1, 2], [3, 4]])
    frame.columns = labels
    names = pa.Table.from_pandas(frame).column_names
    orcish.write_dataset(frame, tmp_path / "t", partition_by=names[:1])
    assert list(map(str, orcish.read_table(tmp_path / "t").to_pandas().columns)) == [
        str(label) for label in labels[::-1]
    ]
    (tmp_path / "plain" / "k=1").mkdir(parents=True)
    orcish.write_table(frame, tmp_path / "plain" / "k=1" / "a.orc")
    assert list(map(str, orcish.read_table(tmp_path / "plain").to_pandas().columns)) == [*names, "k"]
