"""Recovery of torn and damaged files: what is whole is kept, and what is lost is said."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc as po
import pyorc
import pytest
from support import orc_builder
from support.case_loops import each_case
from support.counting_file import Counting
from support.orc_builder import DATA as VALUES
from support.orc_builder import LONG, PRESENT, STRUCT, column_type, integer, nested, orc
from support.orc_layout import layout
from support.protobuf import message, varint
from support.small_tables import in_stripes

ROWS = 6000
DATA = sorted((Path(__file__).parents[2] / "data").glob("*.orc"))
CODECS = ["none", "zlib", "snappy", "zstd", "lz4", "brotli"]


def table(rows: int = ROWS) -> pa.Table:
    chosen = random.Random(1)
    return pa.table(
        {
            "id": range(rows),
            "text": [None if number % 7 == 0 else f"{chosen.getrandbits(512):x}" for number in range(rows)],
            "few": [f"f{number % 5}" for number in range(rows)],
            "nest": [{"a": [number] * (number % 3), "b": number / 2} for number in range(rows)],
        }
    )


def by_orcish(codec: str, rows: pa.Table, stride: int = 1000) -> bytes:
    options = {"compression": codec, "row_index_stride": stride, "arrow_schema": False}
    return in_stripes(io.BytesIO(), rows, 1000, **options).getvalue()


def by_pyarrow(codec: str, rows: pa.Table, stride: int = 1000) -> bytes:
    out = io.BytesIO()
    name = "uncompressed" if codec == "none" else codec
    with po.ORCWriter(out, compression=name, stripe_size=64 << 10, batch_size=512, row_index_stride=stride) as writer:
        for start in range(0, len(rows), 500):
            writer.write(rows.slice(start, 500))
    return out.getvalue()


def by_pyorc(codec: str, rows: pa.Table, stride: int = 1000) -> bytes:
    kinds = {"none": pyorc.CompressionKind.NONE, "zlib": pyorc.CompressionKind.ZLIB, "zstd": pyorc.CompressionKind.ZSTD}
    out = io.BytesIO()
    schema = "struct<id:bigint,text:string,few:string,nest:struct<a:array<bigint>,b:double>>"
    with pyorc.Writer(
        out, schema, compression=kinds[codec], stripe_size=64 << 10, batch_size=500, row_index_stride=stride
    ) as writer:
        for row in rows.to_pylist():
            nest = row["nest"]
            writer.write((row["id"], row["text"], row["few"], (nest["a"], nest["b"])))
    return out.getvalue()


WRITERS = [
    *((by_orcish, codec, 1000) for codec in CODECS),
    *((by_pyarrow, codec, 1000) for codec in ("none", "zlib", "snappy", "zstd", "lz4")),
    *((by_pyorc, codec, 1000) for codec in ("none", "zlib", "zstd")),
    # Without a row index, which pyarrow always writes.
    *((writer, codec, 0) for writer in (by_orcish, by_pyorc) for codec in ("none", "zstd")),
]


@pytest.fixture(scope="module", params=WRITERS, ids=lambda param: f"{param[0].__name__}, {param[1]}, {param[2]}")
def file(request: pytest.FixtureRequest) -> bytes:
    writer, codec, stride = request.param
    data: bytes = writer(codec, table(), stride)
    return data


def recovered(data: bytes, like: bytes | None = None) -> tuple[orcish.types.Recovered, pa.Table]:
    found, new = recovered_file(data, like)
    assert [str(finding) for finding in new.check() if finding.contradicts_rows] == []
    return found, new.read()


def recovered_in_doubt(data: bytes) -> tuple[orcish.types.Recovered, pa.Table]:
    found, new = recovered_file(data)
    return found, new.read()


def recovered_file(data: bytes, like: bytes | None = None) -> tuple[orcish.types.Recovered, orcish.ORCFile]:
    out = io.BytesIO()
    found = orcish.recover_file(data, out, like=like)
    assert found.written is not None
    new = orcish.ORCFile(out.getvalue())
    assert new.num_rows == found.rows == found.written.rows
    return found, new


def expected(data: bytes, cut: int) -> int:
    """The rows of the stripes that end before a place."""
    return sum(
        stripe.num_rows
        for stripe in orcish.ORCFile(data).stripes
        if stripe.offset + stripe.index_length + stripe.data_length + stripe.footer_length <= cut
    )


@each_case("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_cut_file_with_another_one(file: bytes, share: float) -> None:
    """The rows of all complete stripes come back."""
    cut = max(3, int(len(file) * share))
    whole = orcish.ORCFile(file)
    assert whole.num_stripes > 2
    if cut > 3 and not expected(file, cut):
        with pytest.raises(orcish.CorruptFileError, match="no stripe can be read: no complete stripe is there"):
            recovered(file[:cut], like=file)
        return
    found, rows = recovered(file[:cut], like=file)
    assert rows.num_rows == expected(file, cut)
    assert rows.equals(whole.read().slice(0, rows.num_rows))
    assert (found.tail_end, found.unlisted) == (None, found.stripes)
    assert not found.is_whole
    if cut > 3:
        (lost,) = found.lost
        assert (lost.end, lost.rows) == (cut, None)
    with pytest.raises(orcish.CorruptFileError, match="no valid tail"):
        orcish.recover_file(file[:cut])


def test_stripes_that_end_at_the_cut(file: bytes) -> None:
    """At each end of a stripe nothing is lost but the tail."""
    for stripe in orcish.ORCFile(file).stripes:
        cut = stripe.offset + stripe.index_length + stripe.data_length + stripe.footer_length
        found, rows = recovered(file[:cut], like=file)
        assert rows.num_rows == stripe.first_row + stripe.num_rows
        assert found.lost == []


def with_inner_tail(file: bytes, more: bytes, behind: int) -> bytes:
    """A file that goes on behind its tail with stripes of another one, as one of a writer that has flushed."""
    stripes = orcish.ORCFile(more).stripes[:behind]
    return file + b"".join(
        more[stripe.offset : stripe.offset + stripe.index_length + stripe.data_length + stripe.footer_length]
        for stripe in stripes
    )


@pytest.mark.parametrize("torn", [0, 1, 1000])
def test_tails_within_the_file(file: bytes, torn: int) -> None:
    """The tail of the last flush lists the first stripes, and complete stripes behind it are found."""
    data = with_inner_tail(file, file, 2)
    rest = file[3 : 3 + torn]
    found, rows = recovered(data + rest)
    first = orcish.ORCFile(file)
    more = sum(stripe.num_rows for stripe in first.stripes[:2])
    assert found.tail_end == len(file)
    assert (found.unlisted, found.stripes) == (2, first.num_stripes + 2)
    assert rows.equals(pa.concat_tables([first.read(), first.read().slice(0, more)]).combine_chunks())
    assert [(lost.start, lost.end) for lost in found.lost] == ([(len(data), len(data) + torn)] if torn else [])


def test_a_whole_file(file: bytes) -> None:
    found, rows = recovered(file)
    assert found.is_whole
    assert found.lost == []
    assert rows.equals(orcish.ORCFile(file).read())


def test_a_damaged_stripe_is_left_out(file: bytes) -> None:
    whole = orcish.ORCFile(file)
    stripe = whole.stripes[1]
    at = stripe.offset + stripe.index_length
    data = file[:at] + b"\xff" * stripe.data_length + file[at + stripe.data_length :]
    found, rows = recovered(data)
    (lost,) = found.lost
    assert (lost.start, lost.rows) == (stripe.offset, stripe.num_rows)
    assert "stripe 1" in lost.reason
    left = [*range(stripe.first_row), *range(stripe.first_row + stripe.num_rows, whole.num_rows)]
    assert rows.equals(whole.read().take(left))


def encoded(fields: dict[int, list[Any]]) -> bytes:
    """A message of protobuf."""
    values = ((field, value) for field, found in fields.items() for value in found)
    return b"".join(integer(*each) if isinstance(each[1], int) else nested(*each) for each in values)


def with_footer(file: bytes, change: Callable[[dict[int, list[Any]]], None]) -> bytes:
    """An uncompressed file with another footer."""
    at = len(file) - 1 - file[-1]
    postscript = message(file[at:-1])
    start = at - postscript[1][0]
    footer = message(file[start:at])
    change(footer)
    new = encoded(footer)
    postscript[1] = [len(new)]
    end = encoded(postscript)
    return file[:start] + new + end + bytes([len(end)])


STRIPES, TYPES, STRIPE_ROWS = 3, 4, 5
PLAIN = [by_orcish, by_pyarrow, by_pyorc]


@pytest.mark.parametrize("writer", PLAIN)
@each_case("left_out", [[0], [1], [-1], [0, 1], [1, 2, -1]], ids=str)
def test_stripes_that_the_tail_does_not_list(writer: Callable[..., bytes], left_out: list[int]) -> None:
    """They come back at their place."""
    file = writer("none", table())
    whole = orcish.ORCFile(file)
    gone = {number % whole.num_stripes for number in left_out}

    def change(footer: dict[int, list[Any]]) -> None:
        footer[STRIPES] = [each for number, each in enumerate(footer[STRIPES]) if number not in gone]

    found, rows = recovered(with_footer(file, change))
    assert rows.equals(whole.read())
    assert (found.unlisted, found.lost, found.doubts, found.is_whole) == (len(gone), [], [], False)


@pytest.mark.parametrize("writer", PLAIN)
@pytest.mark.parametrize("stride", [0, 1000])
@each_case("stated", [0, 1, -1, 10**6])
def test_numbers_of_rows_that_a_tail_does_not_have_right(
    writer: Callable[..., bytes], stride: int, stated: int
) -> None:
    if writer is by_pyarrow and not stride:
        pytest.skip("pyarrow always writes a row index")
    file = writer("none", table(), stride)
    whole = orcish.ORCFile(file)
    right = whole.stripes[1].num_rows

    def change(footer: dict[int, list[Any]]) -> None:
        stripe = message(footer[STRIPES][1])
        footer[STRIPES][1] = encoded({**stripe, STRIPE_ROWS: [stated if stated >= 0 else right + 1]})

    found, rows = recovered(with_footer(file, change))
    assert rows.equals(whole.read())
    assert found.lost == []
    (doubt,) = found.doubts
    assert doubt.startswith(f"stripe 1: its tail states {stated if stated >= 0 else right + 1} rows, and ")
    assert doubt.endswith(f" {right}")


@pytest.mark.parametrize("writer", PLAIN)
def test_a_footer_with_another_number_of_rows(writer: Callable[..., bytes]) -> None:
    found, rows = recovered(with_footer(writer("none", table()), lambda footer: footer.update({6: [ROWS + 5]})))
    assert rows.num_rows == ROWS
    assert found.doubts == [f"the footer states {ROWS + 5} rows, and the stripes up to it have {ROWS}"]


@pytest.mark.parametrize("writer", PLAIN)
@pytest.mark.parametrize("part", ["data", "index"])
def test_damage_that_can_be_read_is_in_doubt(writer: Callable[..., bytes], part: str) -> None:
    """The rows are kept, and where their values may be wrong, it is said."""
    file = writer("none", table())
    whole = orcish.ORCFile(file)
    stripe = whole.stripes[1]
    streams = [each for each in layout(file).streams if each.stripe == 1]
    # The sum of floating point values tells each of them.
    (chosen,) = [each for each in streams if (each.column, each.kind) == (7, "DATA" if part == "data" else "ROW_INDEX")]
    changed = bytearray(file)
    middle = (chosen.start + chosen.end) // 2
    length = min(30, chosen.end - middle)
    changed[middle : middle + length] = bytes(length) if part == "data" else b"\xff" * length
    found, rows = recovered_in_doubt(bytes(changed))
    assert rows.num_rows == whole.num_rows
    assert found.lost == []
    assert found.doubts
    assert all(doubt.startswith("stripe 1") for doubt in found.doubts)
    others = [*range(stripe.first_row), *range(stripe.first_row + stripe.num_rows, ROWS)]
    assert rows.take(others).equals(whole.read().take(others))
    assert rows.equals(whole.read()) == (part == "index")


@pytest.mark.parametrize("writer", PLAIN)
def test_damaged_types_are_those_of_another_file(writer: Callable[..., bytes]) -> None:
    file = writer("none", table())
    whole = orcish.ORCFile(file)

    def change(footer: dict[int, list[Any]]) -> None:
        footer[TYPES][1] = encoded({**message(footer[TYPES][1]), 1: [76]})

    damaged = with_footer(file, change)
    found, rows = recovered(damaged, like=file)
    assert rows.equals(whole.read())
    assert found.tail_end is None
    assert orcish.recover_file(damaged).doubts == ["a type is damaged: column id: unknown type kind 76"]


def test_another_file_with_another_codec() -> None:
    out = io.BytesIO()
    with pytest.raises(orcish.CorruptFileError, match="no stripe can be read: no complete stripe is there"):
        orcish.recover_file(by_orcish("zlib", table())[:50_000], out, like=by_orcish("zstd", table()))
    assert not out.getvalue()


COLUMNS = {
    "tinyint": pa.array([number % 100 for number in range(ROWS)], pa.int8()),
    "smallint": pa.array(range(ROWS), pa.int16()),
    "bigint": pa.array([number**3 for number in range(ROWS)]),
    "float": pa.array([number / 3 for number in range(ROWS)], pa.float32()),
    "double": pa.array([number / 3 for number in range(ROWS)]),
    "dictionary": pa.array([f"f{number % 5}" for number in range(ROWS)]),
    "string": pa.array([f"{number}" * 3 for number in range(ROWS)]),
    "binary": pa.array([b"x" * (number % 9) for number in range(ROWS)]),
    "date": pa.array(range(ROWS), pa.int32()).cast(pa.date32()),
    "timestamp": pa.array(range(ROWS), pa.timestamp("us")),
    "decimal": pa.array(range(ROWS), pa.decimal128(20, 3)),
    "list": pa.array([[None, 1][: number % 3] for number in range(ROWS)], pa.list_(pa.int32())),
    "map": pa.array([[("k", None)][: number % 2] for number in range(ROWS)], pa.map_(pa.string(), pa.int32())),
    "union": pa.UnionArray.from_sparse(
        pa.array([number % 2 for number in range(ROWS)], pa.int8()), [pa.array(range(ROWS)), pa.array([True] * ROWS)]
    ),
    "struct": pa.array([{"a": None, "b": {"c": number}} for number in range(ROWS)]),
}
HOLES = pa.array([None if number % 3 else True for number in range(ROWS)])


@pytest.mark.parametrize("version", ["0.11", "0.12"])
@pytest.mark.parametrize("codec", ["none", "zlib"])
@each_case("name", COLUMNS)
def test_a_column_without_nulls_tells_the_number_of_rows(name: str, codec: str, version: str) -> None:
    rows = pa.table({"flag": HOLES, "column": COLUMNS[name], "more": HOLES})
    options = {"compression": codec, "row_index_stride": 0, "version": version}
    file = in_stripes(io.BytesIO(), rows, 1000, **options).getvalue()
    stripes = orcish.ORCFile(file).stripes
    found, back = recovered(file[: stripes[3].offset + 20], like=file)
    assert back.equals(rows.slice(0, stripes[3].first_row))
    assert [lost.start for lost in found.lost] == [stripes[3].offset]


def test_without_such_a_column_stripes_are_lost() -> None:
    """Streams of bits have padding."""
    whole = pa.array([True, False] * (ROWS // 2))
    rows = pa.table({"nulls": HOLES, "bits": whole, "struct": pa.StructArray.from_arrays([whole, HOLES], ["a", "b"])})
    file = in_stripes(io.BytesIO(), rows, 1000, row_index_stride=0).getvalue()
    found = orcish.recover_file(file[: orcish.ORCFile(file).stripes[2].offset], like=file)
    assert (found.rows, found.stripes) == (0, 0)
    (lost,) = found.lost
    assert (lost.start, lost.rows) == (3, None)
    assert "no row index" in lost.reason
    assert "no column without nulls" in lost.reason


def ends(file: bytes) -> list[int]:
    """Where stripes end."""
    return [
        stripe.offset + stripe.index_length + stripe.data_length + stripe.footer_length
        for stripe in orcish.ORCFile(file).stripes
    ]


@pytest.mark.parametrize("more", [0, 1, 0xFF])
def test_plain_stripes_that_begin_with_any_byte(more: int) -> None:
    """Zeros may be padding, and 0x1A the tag of a field of the footer before."""
    for first in range(256):
        (number,) = struct.unpack("<d", bytes([first, more, 0, 0, 0, 0, 0xF0, 0x3F]))
        for values in ([number] * 40, [0.0, number] * 20):
            rows = pa.table({"a": values * 3})
            file = in_stripes(io.BytesIO(), rows, 40, compression="none", row_index_stride=0).getvalue()
            found, back = recovered(file[: ends(file)[-1]], like=file)
            assert (back.equals(rows), found.lost) == (True, []), (first, values[:2])


def test_plain_stripes_that_begin_like_the_time_zone_of_the_footer_before() -> None:
    for first in (b"\x1a\x03abc\0\xf0?", b"\x1a\x05GMT+x?", b"\x1a\x00\0\0\0\0\xf0?", b"\x1a\x7fUTC\0\xf0?"):
        (number,) = struct.unpack("<d", first)
        rows = pa.table({"a": [number, 0.5] * 60})
        file = in_stripes(io.BytesIO(), rows, 40, compression="none", row_index_stride=0).getvalue()
        found, back = recovered(file[: ends(file)[-1]], like=file)
        assert (back.equals(rows), found.lost) == (True, []), first


@pytest.mark.parametrize(("sizes", "zeros"), [(range(100, 140), 1), (range(32_540, 32_570), 2)])
def test_compressed_stripes_that_begin_with_zeros(sizes: range, zeros: int) -> None:
    """The header of a chunk of 128 bytes begins with a byte that padding has, too; that of 32 KiB with two."""
    chosen, found = random.Random(7), 0
    noise = chosen.randbytes(sizes.stop)
    for size in sizes:
        rows = pa.table({"a": [noise[:size] + b"a" * size, b"abc"] * 3})
        file = in_stripes(io.BytesIO(), rows, 2, compression="zlib", row_index_stride=0).getvalue()
        if file[3 : 3 + zeros] == bytes(zeros):
            found += 1
            _, back = recovered(file[: ends(file)[-1]], like=file)
            assert back.equals(rows), size
    assert found


def test_streams_that_end_with_an_empty_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hive and Spark leave them in streams without values."""
    deflated, streams = orc_builder.deflated, [orc_builder.integers([1, 2, 3]), b""]
    monkeypatch.setattr(orc_builder, "deflated", lambda data: deflated(data) + (b"\1\0\0" if data in streams else b""))
    types = [column_type(STRUCT, [1, 2], ["a", "b"]), column_type(LONG), column_type(LONG)]
    # Column b has nulls only: a run of a byte without a bit.
    parts = [(1, VALUES, streams[0]), (2, PRESENT, b"\xff\x00"), (2, VALUES, b"")]
    file = orc(types, [(3, parts)] * 3)
    found, back = recovered(file[: ends(file)[-1]], like=file)
    assert (back.to_pylist(), found.lost) == ([{"a": number, "b": None} for number in (1, 2, 3)] * 3, [])


@pytest.mark.parametrize("inner", ["other", "same", "empty"])
def test_files_that_are_values(inner: str) -> None:
    """Their tails are not those of the file."""
    values = {"other": pa.table({"z": ["a"]}), "same": None, "empty": None}[inner]
    like = pa.table({"id": range(60), "blob": [b"x"] * 60})
    if values is None:
        values = like.slice(0, 60 if inner == "same" else 0)
    value = io.BytesIO()
    orcish.write_table(values, value, compression="none")
    blobs = [value.getvalue() if at in (5, 25, 39) else b"x" for at in range(60)]
    rows = pa.table({"id": range(60), "blob": blobs})
    file = in_stripes(io.BytesIO(), rows, 20, compression="none").getvalue()
    behind = [at + len(value.getvalue()) for at in range(len(file)) if file.startswith(value.getvalue(), at)]
    assert len(behind) == 3
    for cut in [*ends(file), *behind, *(at + 1 for at in behind), behind[-1] + 10]:
        if expected(file, cut):
            _, back = recovered(file[:cut], like=file)
            assert back.equals(rows.slice(0, expected(file, cut))), cut
        else:
            found = orcish.recover_file(file[:cut], like=file)
            assert (found.rows, found.tail_end) == (0, None)
    # At its end, the file has a tail of its own.
    assert orcish.recover_file(file).is_whole


@each_case("seed", range(40))
def test_noise(seed: int) -> None:
    """Any bytes give an error, or rows that were written."""
    chosen = random.Random(seed)
    data = bytearray(by_orcish(chosen.choice(CODECS), table(3000), chosen.choice([0, 1000])))
    for _ in range(chosen.randint(1, 20)):
        data[chosen.randrange(len(data))] = chosen.randrange(256)
    cut = chosen.randrange(len(data))
    out = io.BytesIO()
    try:
        orcish.recover_file(bytes(data[:cut]), out, like=by_orcish("zlib", table(10)) if seed % 2 else None)
    except (orcish.OrcishError, ValueError):
        assert not out.getvalue()
        return
    orcish.ORCFile(out.getvalue()).read()


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_files_of_all_writers(path: Path) -> None:
    file = orcish.ORCFile(path)
    if file.encrypted_columns:
        with pytest.raises(orcish.UnsupportedError, match="encrypted"):
            orcish.recover_file(path)
        return
    found = orcish.recover_file(path)
    assert found.rows == file.num_rows
    assert (found.lost, found.doubts, found.unlisted) == ([], [], 0)


def test_nothing_appears_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "torn.orc").write_bytes(by_orcish("zstd", table())[:5000])
    with pytest.raises(orcish.CorruptFileError, match=r"torn\.orc: it has no valid tail"):
        orcish.recover_file(tmp_path / "torn.orc", tmp_path / "new.orc")
    (tmp_path / "other").write_bytes(b"no ORC file at all")
    like: Any = by_orcish("zstd", table(10))
    with pytest.raises(orcish.CorruptFileError, match="does not begin with ORC"):
        orcish.recover_file(tmp_path / "other", tmp_path / "new.orc", like=like)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "torn.orc"]


def test_many_places_that_look_like_tails() -> None:
    data = b"ORC" + bytes([0x82, 0xF4, 0x03, 0x03]) * 20_000 + b"ORC\x05" * 20_000
    with pytest.raises(orcish.CorruptFileError):
        orcish.recover_file(data + bytes([0x82, 0xF4, 0x03, 0x03]) + b"ORC\x05")
    many = (bytes([0x82, 0xF4, 0x03, 0x03]) + b"ORC\x05") * 20_000
    with pytest.raises(orcish.LimitExceededError, match="look like the end of a tail"):
        orcish.recover_file(b"ORC" + many)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Europe/Berlix", "Mars"])
def test_time_zones_that_are_not_known(zone: str) -> None:
    """Stripes that have them are found, whether their values can be read or not."""
    rows = pa.table({"id": range(3000), "t": pa.array(range(3000), pa.timestamp("us"))})
    known = {13: "Europe/Berlin", 4: "Cuba"}[len(zone)]
    file = in_stripes(io.BytesIO(), rows, 1000, compression="none", timezone=known).getvalue()
    assert file.count(known.encode()) == 3
    file = file.replace(known.encode(), zone.encode())
    found = orcish.recover_file(file[: ends(file)[-1]], like=file)
    if zone == "Europe/Berlin":
        assert (found.rows, found.lost) == (3000, [])
        return
    assert [(lost.end, lost.rows) for lost in found.lost] == [(end, 1000) for end in ends(file)]
    assert all(f'writer time zone "{zone}" is not known' in lost.reason for lost in found.lost)


def test_many_tails_that_are_values() -> None:
    """Each place is read a few times as the end of a tail, not once for each of the tails."""
    value = io.BytesIO()
    orcish.write_table(pa.table({"id": range(3)}), value, compression="none")
    rows = pa.table({"blob": [value.getvalue()] * 2000})
    whole = in_stripes(io.BytesIO(), rows, 500, compression="none", dictionary=False).getvalue()
    assert whole.count(value.getvalue()) == 2000
    for cut in (ends(whole)[-1], len(whole) - 1):
        torn = Counting(whole[:cut])
        found = orcish.recover_file(torn, like=whole)
        assert found.rows == 2000
        assert sum(map(len, torn.ranges)) < 4 * (len(whole) + 2000 * (16 << 10))


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_small_stripes_are_read_twice_at_most(codec: str) -> None:
    """A walk over stripes reads each of their bytes once, and their values are read once more."""
    rows = pa.table({"noise": [random.Random(number).randbytes(1000) for number in range(24_000)]})
    whole = in_stripes(io.BytesIO(), rows, 200, compression=codec, arrow_schema=False).getvalue()
    torn = Counting(whole[: int(len(whole) * 0.9)])
    found = orcish.recover_file(torn, like=whole)
    assert found.stripes > 100
    assert sum(map(len, torn.ranges)) < 3 * len(whole)


def test_stripes_that_overlap_are_written_once(tmp_path: Path) -> None:
    """A small file that lists a stripe many times makes no file of many times its size."""
    values = struct.pack("<d", 0.5) * 1000
    types = [integer(1, 12) + nested(2, varint(1)) + nested(3, b"a"), integer(1, 6)]
    source = orc(types, [(1000, [(1, VALUES, values)])], repeat=50)
    assert orcish.ORCFile(source).num_rows == 50_000
    found = orcish.recover_file(source, tmp_path / "new.orc")
    assert (found.rows, found.stripes, found.is_whole) == (1000, 1, False)
    assert {lost.reason for lost in found.lost} == {f"stripe {at} has bytes of stripe 0" for at in range(1, 50)}
    assert orcish.read_table(tmp_path / "new.orc").to_pydict() == {"a": [0.5] * 1000}
