"""Folders whose files have other types of a column: no verb changes a value without an error, in any order of files."""

import datetime as dt
import itertools
import pathlib
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish.errors import OrcishError
from support.random_cases import cases, seeded

REFUSED = (OrcishError, ValueError)
TICKS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
ROWS = 4
MORNING = 3_723  # seconds of 01:02:03
MOMENT = 1_780_308_000  # seconds of 2026-06-01 10:00:00


class Kind(NamedTuple):
    """A type, and up to four values that few other types have."""

    type: pa.DataType
    values: list[Any]

    @property
    def array(self) -> pa.Array:
        kind = self.type
        values = list(itertools.islice(itertools.cycle(self.values), ROWS))
        if pa.types.is_time(kind) or pa.types.is_duration(kind) or pa.types.is_timestamp(kind):
            width = pa.int32() if pa.types.is_time32(kind) else pa.int64()
            return pa.array(values, width).cast(kind)
        if pa.types.is_float16(kind):
            return pa.array(values, pa.float32()).cast(kind)
        return pa.array(values, kind)


def _integers(kind: pa.DataType, bits: int, signed: bool) -> Kind:
    greatest = 2 ** (bits - signed) - 1
    return Kind(kind, [greatest, -greatest - 1 if signed else 0, min(greatest, 2**24 + 1), min(greatest, 2**53 + 1)])


def _clock(make: Callable[[str], pa.DataType], seconds: int) -> list[Kind]:
    """Values of one second in all units, and one with digits that coarser units do not have."""
    return [
        Kind(make(unit), [seconds * (10**9 // ticks), seconds * (10**9 // ticks) + (ticks != 10**9)])
        for unit, ticks in TICKS.items()
    ]


def _leaves() -> list[Kind]:
    return [
        Kind(pa.bool_(), [True, False]),
        *(_integers(getattr(pa, f"int{bits}")(), bits, True) for bits in (8, 16, 32, 64)),
        *(_integers(getattr(pa, f"uint{bits}")(), bits, False) for bits in (8, 16, 32, 64)),
        Kind(pa.float16(), [1.5, 2048.0, -0.5]),
        Kind(pa.float32(), [float(2**24), 1.5, struct.unpack("f", struct.pack("f", 0.1))[0]]),
        Kind(pa.float64(), [float(2**53), 0.1, 1e300, -2.5]),
        *(Kind(kind, [Decimal("1.25"), Decimal("-999.99")]) for kind in (pa.decimal32(5, 2), pa.decimal128(20, 2))),
        Kind(pa.decimal64(15, 0), [Decimal(10**15 - 1), Decimal(3)]),
        Kind(pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(2**53 + 1)]),
        Kind(pa.decimal128(38, 10), [Decimal("0.0000000001")]),
        *(Kind(kind, ["ab", "1", "3723"]) for kind in (pa.string(), pa.large_string(), pa.string_view())),
        *(Kind(kind, [b"ab", b"\xff\x00"]) for kind in (pa.binary(), pa.large_binary(), pa.binary(2))),
        Kind(pa.date32(), [dt.date(2026, 6, 1), dt.date(1, 1, 1)]),
        Kind(pa.date64(), [dt.date(2026, 6, 1), dt.date(1900, 1, 1)]),
        *_clock(lambda unit: (pa.time32 if unit in ("s", "ms") else pa.time64)(unit), MORNING),
        *_clock(pa.duration, MORNING),
        *_clock(pa.timestamp, MOMENT),
        *_clock(lambda unit: pa.timestamp(unit, "UTC"), MOMENT),
        Kind(pa.timestamp("s"), [253_402_214_400]),
    ]


LEAVES = _leaves()
NESTS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "plain": lambda values: values,
    "list": lambda values: pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), values),
    "struct": lambda values: pa.StructArray.from_arrays([values, pa.array(range(len(values)))], ["v", "n"]),
    "map": lambda values: pa.MapArray.from_arrays(
        pa.array(range(len(values) + 1), pa.int32()), pa.array([f"k{at}" for at in range(len(values))]), values
    ),
}


def meaning(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """What values mean, whatever type has them: two values are the same if their meanings are equal."""
    if isinstance(values, pa.ChunkedArray):
        return [each for chunk in values.chunks for each in meaning(chunk)]
    kind, types = values.type, pa.types
    if types.is_dictionary(kind):
        return meaning(values.dictionary_decode())
    if types.is_map(kind):
        items = meaning(values.items)
        return [("map", tuple(items[start:end])) for start, end in itertools.pairwise(values.offsets.to_pylist())]
    if types.is_list(kind):
        items = meaning(values.values)
        return [("list", tuple(items[start:end])) for start, end in itertools.pairwise(values.offsets.to_pylist())]
    if types.is_struct(kind):
        return [("struct", each) for each in meaning(values.field("v"))]
    for name, is_kind in (("time", types.is_time), ("duration", types.is_duration), ("timestamp", types.is_timestamp)):
        if is_kind(kind):
            # A table with wall clocks and instants has instants.
            width = pa.int32() if types.is_time32(kind) else pa.int64()
            return [(name, value * TICKS[kind.unit]) for value in values.cast(width).to_pylist()]
    if types.is_boolean(kind):
        return [("boolean", value) for value in values.to_pylist()]
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return [
            ("number", Fraction(float(value) if types.is_floating(kind) else value)) for value in values.to_pylist()
        ]
    if types.is_date(kind):
        return [("date", value) for value in values.to_pylist()]
    return [("bytes", value.encode() if isinstance(value, str) else value) for value in values.to_pylist()]


class Pair(NamedTuple):
    """A column of two files."""

    name: str
    first: pa.Array
    second: pa.Array

    @property
    def meaning(self) -> list[Any]:
        return meaning(self.first) + meaning(self.second)


def _file(pairs: list[Pair], at: int, *, arrow_schema: bool = True) -> bytes:
    """A file of the arrays at a place in the pairs."""
    sink = pa.BufferOutputStream()
    orcish.write_table(pa.table({pair.name: pair[at] for pair in pairs}), sink, arrow_schema=arrow_schema)
    return sink.getvalue().to_pybytes()


def _files(pairs: list[Pair], order: int, *, of_others: bool = False) -> list[bytes]:
    """Two files, the first of which has the first arrays, or the second ones; the latter as other writers have them."""
    files = [_file(pairs, 1), _file(pairs, 2, arrow_schema=not of_others)]
    return files if order == 0 else files[::-1]


def _of_others(pair: Pair) -> Pair:
    """The pair with the values that other writers have stored for the second array."""
    file = _file([pair], 2, arrow_schema=False)
    return pair._replace(second=orcish.read_table(file)[pair.name].combine_chunks())


def _folder(path: pathlib.Path, files: list[bytes]) -> pathlib.Path:
    path.mkdir()
    for name, file in zip(("a", "b"), files, strict=True):
        (path / f"{name}.orc").write_bytes(file)
    return path


def _seen(source: Any, name: str) -> list[Any] | None:
    """The meanings of a column, in order; ``None`` where it is refused."""
    try:
        return meaning(orcish.read_table(source, columns=[name])[name].combine_chunks())
    except REFUSED:
        return None


def _all_pairs(nest: str) -> list[Pair]:
    wrap = NESTS[nest]
    arrays = [wrap(kind.array) for kind in LEAVES]
    chosen = list(itertools.combinations(range(len(arrays)), 2))
    if nest != "plain":
        chosen = seeded(f"pairs in {nest}").sample(chosen, cases(len(chosen)))
    return [Pair(f"c{a}_{b}", arrays[a], arrays[b]) for a, b in chosen]


def _in_any_order(values: list[Any]) -> list[str]:
    return sorted(map(repr, values))


def _described(pair: Pair) -> str:
    return f"{pair.first.type} and {pair.second.type}"


@pytest.mark.parametrize("of_others", [False, True], ids=["of orcish", "of others"])
@pytest.mark.parametrize("nest", NESTS)
def test_no_value_changes_in_any_order_of_files(tmp_path: pathlib.Path, nest: str, of_others: bool) -> None:
    pairs = _all_pairs(nest)
    if of_others:
        # Other writers store no Arrow schema. Its types are no part of what a file says alone.
        ordered = [pair for each in pairs for pair in (each, Pair(f"{each.name}_", each.second, each.first))]
        pairs = [
            _of_others(pair)
            for pair in seeded("files of others").sample(ordered, min(len(ordered), cases(2 * len(ordered))))
        ]
    wrong, held, refused = [], [], []
    for pair in pairs:
        files = _files([pair], 0, of_others=of_others)
        forward, backward = (_seen(sources, pair.name) for sources in (files, files[::-1]))
        expected = (meaning(pair.first), meaning(pair.second))
        if (forward is None) != (backward is None):
            wrong.append(f"{_described(pair)}: the order of the files decides, {forward}, {backward}")
        elif forward is not None and (forward, backward) != (expected[0] + expected[1], expected[1] + expected[0]):
            wrong.append(f"{_described(pair)}: {expected} became {forward}, or {backward}")
        (refused if forward is None else held).append(pair)
        types = [plain_type(orcish.scan(sources).schema.field(0).type) for sources in (files, files[::-1])]
        if forward is not None and nest == "plain" and types[0] != types[1]:
            wrong.append(f"{_described(pair)}: {types[0]}, or {types[1]}")
        if forward is not None and has_too_many_digits(types[0]):
            held.remove(pair)
    assert not wrong, "\n".join(wrong)
    assert len(held) > len(pairs) // 10
    assert len(refused) > len(pairs) // 3
    # What writes the rows of the files again.
    for order in (0, 1):
        folder = _folder(tmp_path / f"held {order}", _files(held, order, of_others=of_others))
        for name, verb in REWRITES.items():
            written = verb(folder, tmp_path / f"{name} {order}")
            for pair in held:
                found = _seen(written, pair.name)
                if found is None or _in_any_order(found) != _in_any_order(pair.meaning):
                    wrong.append(f"{name} {_described(pair)}: {pair.meaning} became {found}")
    assert not wrong, "\n".join(wrong)
    for pair in seeded("refused pairs").sample(refused, min(len(refused), cases(60))):
        folder = _folder(tmp_path / pair.name, _files([pair], 0, of_others=of_others))
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        for name, verb in REWRITES.items():
            try:
                verb(folder, tmp_path / f"{pair.name} {name}")
            except REFUSED:
                assert {file.name: file.read_bytes() for file in folder.iterdir()} == before, (name, _described(pair))
                continue
            wrong.append(f"{name} {_described(pair)} is not refused")
    assert not wrong, "\n".join(wrong)


def has_too_many_digits(kind: pa.DataType) -> bool:
    """Whether ORC does not have all values of a type: decimals of more than 38 digits are an error of the writer."""
    if pa.types.is_nested(kind):
        return any(has_too_many_digits(kind.field(at).type) for at in range(kind.num_fields))
    return pa.types.is_decimal(kind) and kind.precision > 38


def plain_type(kind: pa.DataType) -> pa.DataType:
    """A type without the representation of its values in Arrow."""
    types = pa.types
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.binary()
    if types.is_decimal(kind):
        return pa.decimal256(kind.precision, kind.scale)
    return pa.timestamp(kind.unit, "UTC") if types.is_timestamp(kind) and kind.tz else kind


def _convert(folder: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    orcish.convert(folder, target)
    return target


def _copy(folder: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    target.mkdir()
    for file in folder.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


def _compact(**options: Any) -> Callable[[pathlib.Path, pathlib.Path], pathlib.Path]:
    def compact(folder: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
        orcish.compact(_copy(folder, target), **options)
        assert len(list(target.glob("*.orc"))) == 1
        return target

    return compact


def _rewrite(folder: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    from orcish_cli import main

    try:
        code = main(["rewrite", str(folder), "-o", f"{target}.orc"])
    except SystemExit as ended:
        code = ended.code
    if code:
        raise ValueError(f"exit code {code}")
    return pathlib.Path(f"{target}.orc")


REWRITES: dict[str, Callable[[pathlib.Path, pathlib.Path], pathlib.Path]] = {
    "convert": _convert,
    "compact": _compact(),
    "compact with rewrite": _compact(rewrite=True),
    "rewrite": _rewrite,
}


def test_appended_values_are_kept(tmp_path: pathlib.Path) -> None:
    """Rows of any type are appended with their values, or refused. The types of the table stay."""
    wrong, appended = [], 0
    pairs = list(itertools.product(LEAVES, repeat=2))
    chosen = seeded("appended types").sample(pairs, cases(400))
    for at, (kind, other) in enumerate(chosen):
        folder = tmp_path / str(at)
        orcish.write_dataset(pa.table({"x": kind.array}), folder)
        try:
            orcish.write_dataset(pa.table({"x": other.array}), folder, existing_data="append")
        except REFUSED:
            continue
        appended += 1
        expected, found = meaning(kind.array) + meaning(other.array), _seen(folder, "x")
        if found is None or _in_any_order(found) != _in_any_order(expected):
            wrong.append(f"{other.type} on {kind.type}: {expected} became {found}")
        if orcish.read_table(folder).schema.field("x").type != kind.type:
            wrong.append(f"{other.type} on {kind.type} changed the type")
    assert not wrong, "\n".join(wrong)
    assert appended > len(chosen) // 60


def test_filters_and_extremes_of_mixed_folders() -> None:
    """Rows are selected, counted and aggregated as those of the table in memory."""
    pairs, wrong = _all_pairs("plain"), []
    for pair in seeded("pairs").sample(pairs, cases(len(pairs))):
        files = _files([pair], len(pairs) % 2)
        if _seen(files, pair.name) is None:
            continue
        scan = orcish.scan(files)
        column = scan.select(pair.name).to_table()[pair.name]
        if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
            continue
        own = pa.table({pair.name: column})
        for value in column:
            for condition in (pc.field(pair.name) == value, pc.field(pair.name) >= value, pc.field(pair.name) < value):
                try:
                    expected = own.filter(condition).num_rows
                except pa.ArrowNotImplementedError:
                    continue
                found = scan.where(condition).select(pair.name)
                if (found.count(), found.to_table().num_rows) != (expected, expected):
                    wrong.append(f"{_described(pair)}: {condition} has {found.count()} rows, not {expected}")
        if not pa.types.is_boolean(column.type):
            for name, aggregate in (("min", scan.min), ("max", scan.max)):
                try:
                    expected = getattr(pc, name)(column)
                except pa.ArrowNotImplementedError:
                    continue
                try:
                    found = aggregate(pair.name)
                except OverflowError:
                    # Python's times have no digits below microseconds.
                    if not pa.types.is_time64(column.type) or expected.cast(pa.int64()).as_py() % 1000 == 0:
                        raise
                    continue
                if found != expected.as_py():
                    wrong.append(f"{name} of {_described(pair)} is {found}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_rows_that_differ_are_different(tmp_path: pathlib.Path) -> None:
    """Two values of any types are equal for diff if they mean the same; types that are not compared are said to be."""
    wrong, compared = [], 0
    files = [_files([Pair("x", kind.array, kind.array)], 0)[0] for kind in LEAVES]
    pairs = list(itertools.combinations(range(len(LEAVES)), 2))
    for one, other in seeded("compared types").sample(pairs, cases(len(pairs))):
        found = orcish.diff(files[one], files[other], values_only=True)
        if any(not change.is_compared for change in found.schema):
            continue
        compared += 1
        means = (meaning(LEAVES[at].array) for at in (one, other))
        expected = sum(x != y for x, y in zip(*means, strict=True))
        if found.changed != expected:
            types = f"{LEAVES[one].type} and {LEAVES[other].type}"
            wrong.append(f"{types}: {found.changed} rows differ, not {expected}")
    assert not wrong, "\n".join(wrong)
    assert compared > len(LEAVES) * cases(len(pairs)) // len(pairs)


@pytest.mark.parametrize(
    "types",
    list(itertools.permutations([pa.float64(), pa.int32(), pa.uint32()])),
    ids=lambda types: "-".join(map(str, types)),
)
def test_three_types_have_one_union_in_any_order(types: tuple[pa.DataType, ...]) -> None:
    sources = []
    for kind in types:
        sink = pa.BufferOutputStream()
        orcish.write_table(pa.table({"x": pa.array([1], kind)}), sink)
        sources.append(sink.getvalue().to_pybytes())
    assert orcish.scan(sources).schema.field("x").type == pa.float64()
    assert orcish.read_table(sources)["x"].to_pylist() == [1, 1, 1]


def test_a_schema_that_is_given_converts_values_or_refuses_them() -> None:
    """A value is the same in the type that is asked for, or an error."""
    wrong, kept = [], 0
    files = {id(kind): _files([Pair("x", kind.array, kind.array)], 0)[0] for kind in LEAVES}
    for kind, wanted in itertools.permutations(LEAVES, 2):
        try:
            found = orcish.read_table(files[id(kind)], schema=pa.schema({"x": wanted.type}))["x"]
        except REFUSED:
            continue
        kept += 1
        if isinstance(found[0].as_py(), str) and not isinstance(kind.values[0], str):
            same = [_number(text, kind) for text in found.to_pylist()] == [_number(text, kind) for text in _texts(kind)]
        elif pa.types.is_boolean(kind.type) and pa.types.is_integer(wanted.type):
            same = found.to_pylist() == [int(value) for value in kind.array.to_pylist()]
        elif pa.types.is_decimal(kind.type) and pa.types.is_floating(wanted.type):
            # A floating point number has the shortest digits of the decimal.
            same = [Decimal(repr(value)) for value in found.to_pylist()] == kind.array.to_pylist()
        elif pa.types.is_date(kind.type) and pa.types.is_timestamp(wanted.type):
            same = found.cast(pa.date32()).to_pylist() == kind.array.to_pylist()
        else:
            same = meaning(found) == meaning(kind.array)
        if not same:
            wrong.append(f"{kind.type} as {wanted.type}: {kind.array.to_pylist()} became {found.to_pylist()}")
    assert not wrong, "\n".join(wrong)
    assert kept > 5 * len(LEAVES)


def _texts(kind: Kind) -> list[str]:
    """Texts of values, as pyarrow makes them."""
    array = kind.array
    if pa.types.is_float16(kind.type):
        array = array.cast(pa.float32())
    return array.cast(pa.string()).to_pylist()


def _number(text: str, kind: Kind) -> Any:
    """What a text means."""
    if pa.types.is_floating(kind.type):
        return struct.unpack("f", struct.pack("f", float(text)))[0] if kind.type.bit_width < 64 else float(text)
    if pa.types.is_integer(kind.type) or pa.types.is_decimal(kind.type):
        return Decimal(text)
    text = text.replace("T", " ").removesuffix("Z").removesuffix("+00:00")
    return text.rstrip("0").rstrip(".") if "." in text else text


def test_errors_name_both_files_the_column_the_types_and_the_option(tmp_path: pathlib.Path) -> None:
    tmp_path.joinpath("t").mkdir()
    for name, values in (("a", [1, 2**53 + 1]), ("b", [3]), ("c", [0.5])):
        orcish.write_table(pa.table({"x": values}), tmp_path / "t" / f"{name}.orc")
    with pytest.raises(orcish.UnsupportedError) as raised:
        orcish.read_table(tmp_path / "t")
    text = str(raised.value)
    for part in ("c.orc", "a.orc", "column x", "int64", "double", "schema"):
        assert part in text, text
    with pytest.raises(orcish.LimitExceededError, match="9007199254740993"):
        orcish.read_table(tmp_path / "t", schema=pa.schema({"x": pa.float64()}))
    orcish.write_table(pa.table({"x": [1, 2]}), tmp_path / "t" / "a.orc", existing_data="overwrite")
    found = orcish.read_table(tmp_path / "t", schema=pa.schema({"x": pa.float64()}))
    assert found["x"].to_pylist() == [1.0, 2.0, 3.0, 0.5]


@pytest.mark.parametrize("verb", ["compact", "convert"])
def test_decimals_beyond_those_of_orc_are_refused_with_the_names_of_the_files(
    tmp_path: pathlib.Path, verb: str
) -> None:
    """The new file, which nobody sees, is not named."""
    wide = pa.array([Decimal(10**37)], pa.decimal128(38, 0))
    narrow = pa.array([Decimal("1.25")], pa.decimal128(5, 2))
    folder = tmp_path / "t"
    folder.mkdir()
    for at, values in enumerate((narrow, wide)):
        orcish.write_table(pa.table({"c": values}), folder / f"{at}.orc")
    before = orcish.read_table(folder)
    run = {
        "compact": lambda: orcish.compact(folder, rewrite=True),
        "convert": lambda: orcish.convert(folder, tmp_path / "new"),
    }
    with pytest.raises(ValueError, match=r"column c: row 1: .*ORC has 38 at most") as caught:
        run[verb]()
    assert str(caught.value).startswith(f"{folder / '0.orc'} and 1 more: column c: ")
    assert orcish.read_table(folder) == before
    assert not (tmp_path / "new").exists()
