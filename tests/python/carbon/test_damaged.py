"""Damaged files of CarbonData: rows or errors of orcish, and where they are."""

import itertools
import re

import orcish
import pyarrow as pa
import pytest
from support import carbon_rows as cases
from support.carbon import CarbonTableWriter, thrift, write_folder
from support.carbon.thrift import Reader
from support.case_loops import each_case
from support.random_cases import FACTOR, seeded

ERRORS = (orcish.OrcishError, OSError)
NAMES = ["f64", "dec38", "s", "long", "day", "texts"]
FEW = ["s", "i64"]
SORTED = ("s", "day", "at")
ROWS = 12


def plain(path, names=NAMES, **options):
    table = cases.table(names, ROWS)
    write_folder(path, table, page_rows=5, blocklet_rows=10, **options)


def transactional(path, **options):
    writer = CarbonTableWriter(path, cases.table(NAMES).schema, page_rows=5, **options)
    writer.load(cases.table(NAMES, ROWS))
    return writer


def deleted(path):
    transactional(path).delete("0", [1, 7])


def streamed(path):
    writer = CarbonTableWriter(path, cases.table(NAMES).schema)
    writer.stream(cases.table(NAMES, ROWS), block_rows=5)


# Tables, each with the file in it that is damaged.
KINDS = {
    "data": (plain, "*.carbondata"),
    "data, zstd": (lambda path: plain(path, FEW, compressor="zstd"), "*.carbondata"),
    "data, gzip": (lambda path: plain(path, FEW, compressor="gzip"), "*.carbondata"),
    "data, sorted": (
        lambda path: plain(path, SORTED, sort_columns=SORTED, inverted_index=True, local_dictionary=False),
        "*.carbondata",
    ),
    "schema": (transactional, "Metadata/schema"),
    "status": (transactional, "Metadata/tablestatus"),
    "segment": (transactional, "*.segment"),
    "index": (lambda path: transactional(path, merge_index=False), "*.carbonindex"),
    "merged index": (transactional, "*.carbonindexmerge"),
    "update status": (deleted, "Metadata/tableupdatestatus-*"),
    "delete delta": (deleted, "*.deletedelta"),
    "stream": (streamed, "*.carbondata"),
    "stream index": (streamed, "*.carbonindex"),
}


@pytest.fixture(params=KINDS)
def damaged(request, tmp_path):
    """A table, the file to be damaged, and its bytes."""
    make, pattern = KINDS[request.param]
    make(tmp_path / "t")
    (path,) = (tmp_path / "t").rglob(pattern)
    assert orcish.read_table(str(tmp_path / "t")).num_rows in (ROWS, ROWS - 2)
    return str(tmp_path / "t"), path, path.read_bytes()


def attempt(table):
    """Whether a read is refused, as it may be, or gives rows that Arrow can look at."""
    try:
        found = orcish.read_table(table)
        found.validate(full=True)
        orcish.CarbonTable(table).scan(filters=orcish.col("id") >= 5).count()
    except ERRORS:
        return True
    return False


def positions(data, title):
    """Positions in the bytes of a file: all of them, or a random share of ORCISH_TEST_FACTOR."""
    if FACTOR >= 1:
        return range(len(data))
    return sorted(seeded(title).sample(range(len(data)), max(40, round(len(data) * FACTOR))))


def test_truncation_at_every_length(damaged):
    table, path, data = damaged
    accepted = []
    for length in positions(data, "truncation"):
        path.write_bytes(data[:length])
        if not attempt(table):
            accepted.append(length)
    # An index whose last entries are missing is one of fewer blocklets.
    assert not accepted or (path.suffix == ".carbonindex" and len(accepted) < 3)


def test_flipped_bytes(damaged):
    table, path, data = damaged
    spoiled = bytearray(data)
    flips = (0x01, 0x80, 0xFF) if len(data) < 1000 else (0xFF,)
    refused, tried = 0, positions(data, "flipped bytes")
    for at in tried:
        for flip in flips:
            spoiled[at] ^= flip
            path.write_bytes(spoiled)
            refused += attempt(table)
            spoiled[at] ^= flip
    assert refused > len(tried) // 10


def test_files_of_another_kind(tmp_path):
    plain(tmp_path / "t")
    (path,) = (tmp_path / "t").glob("*.carbondata")
    for data in (b"", b"ORC", b"PAR1" * 100, bytes(1000), b"\xff" * 1000):
        path.write_bytes(data)
        with pytest.raises(ERRORS, match=re.escape(path.name)):
            orcish.read_table(str(tmp_path / "t"))


def test_the_place_is_in_the_message(tmp_path):
    """The message has the file, blocklet, column and page of the wrong bytes."""
    plain(tmp_path / "t", local_dictionary=False)
    (path,) = (tmp_path / "t").glob("*.carbondata")
    data = bytearray(path.read_bytes())
    header = Reader(bytes(data)).struct()
    blocklets = Reader(bytes(data), int.from_bytes(data[-8:], "big")).struct()[4]
    names = [column[2].decode() for column in header[2]]
    at = blocklets[0][2][names.index("s")]
    reader = Reader(bytes(data), at)
    chunk = reader.struct()
    start = reader.at + chunk[2][1]
    data[start : start + chunk[3][1]] = b"\xff" * chunk[3][1]
    path.write_bytes(data)
    with pytest.raises(orcish.CorruptFileError) as raised:
        orcish.read_table(str(tmp_path / "t"))
    message = str(raised.value)
    assert path.name in message
    assert re.search(r"blocklet 0\b", message)
    assert re.search(r"column `?'?s\b", message)
    assert re.search(r"page 1\b", message)
    # Other columns are as good as before.
    assert orcish.read_table(str(tmp_path / "t"), columns=["id", "day"]).num_rows == ROWS


@each_case("count", [(1 << 31) - 1, -1, 0])
def test_counts_that_are_not_true(tmp_path, count):
    """The index and the footer state more rows of a blocklet than it has."""
    table = cases.table(["s"], ROWS)
    (file,) = write_folder(tmp_path / "t", table)
    path = tmp_path / "t" / file.name
    data = path.read_bytes()
    wrong = data[file.footer_at : -8].replace(
        thrift.struct({1: thrift.i32(ROWS)})[:-1], thrift.struct({1: thrift.i32(count)})[:-1]
    )
    path.write_bytes(data[: file.footer_at] + wrong + data[-8:])
    assert attempt(str(tmp_path / "t"))


@each_case(("name", "message"), [(b"day", 'two columns of the table are named "day"'), (b"d\0y", "NUL")])
def test_names_that_are_none(tmp_path, name, message):
    """Duplicate column names, and names that Arrow cannot have, are errors when the table is opened."""
    path = tmp_path / "t"
    transactional(path)
    schema = path / "Metadata" / "schema"
    schema.write_bytes(schema.read_bytes().replace(b"f64", name))
    for use in (orcish.CarbonTable, orcish.read_table, orcish.scan):
        with pytest.raises(orcish.OrcishError, match=message) as raised:
            use(str(path))
        assert str(path) in str(raised.value)


def test_a_file_with_a_name_that_arrow_has_not(tmp_path):
    (file,) = write_folder(tmp_path / "t", pa.table({"d\0y": [1]}))
    path = str(tmp_path / "t" / file.name)
    with pytest.raises(orcish.UnsupportedError, match="NUL") as raised:
        orcish.CarbonFile(path)
    assert path in str(raised.value)


def test_an_index_that_contradicts_its_data_file(tmp_path):
    """Entries of an index are those of the blocklets by position: one that is missing, twice there, elsewhere or of other
    rows is an error, and no other number of rows."""
    table = cases.table(FEW, 26)
    write_folder(tmp_path / "t", table, page_rows=5, blocklet_rows=10)
    (path,) = (tmp_path / "t").glob("*.carbonindex")
    data = path.read_bytes()
    reader, ends = Reader(data), [0]
    while reader.at < len(data):
        reader.struct()
        ends.append(reader.at)
    header, *entries = [data[start:end] for start, end in itertools.pairwise(ends)]
    assert len(entries) == 3
    rows = orcish.read_table(str(tmp_path / "t"))
    cases.equal(rows, table)
    orders = [list(order) for count in range(1, 5) for order in itertools.product(range(3), repeat=count)]
    accepted = []
    for order in orders:
        path.write_bytes(header + b"".join(entries[at] for at in order))
        try:
            found = orcish.read_table(str(tmp_path / "t"))
        except orcish.CorruptFileError as error:
            if path.stem not in str(error):
                accepted.append((order, str(error)))
        else:
            if order != [0, 1, 2] or not found.equals(rows):
                accepted.append((order, found.num_rows))
    assert not accepted
    # Other rows of the second blocklet, or of its pages.
    rows_field = b"\x15" + thrift.i32(10)[1]
    pages_field = thrift.i32s([5, 5])[1]
    for before, after in [
        (rows_field, b"\x15" + thrift.i32(9)[1]),
        (pages_field, thrift.i32s([4, 6])[1]),
    ]:
        assert before in entries[1]
        path.write_bytes(header + entries[0] + entries[1].replace(before, after) + entries[2])
        with pytest.raises(orcish.CorruptFileError, match="blocklet"):
            orcish.read_table(str(tmp_path / "t"))
